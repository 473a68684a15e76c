/* SPDX-License-Identifier: MIT */
#include "emu/facts/rfc.h"

#include "emu/base/assert.h"

/* The stringised type begins with 'l' (leN) or 'b' (bytesN). */
#define ROW(S, f, type, text)                                                                      \
    {#f, (uint16_t)offsetof(struct raw_##S, f), (uint16_t)sizeof(((struct raw_##S *)0)->f),        \
     #type[0] == 'l' ? 'i' : 'b', text},
#define ROWS(name, list) static const struct rfc_field f_##name[] = {list(ROW, name)};

RFC_STRUCTS(ROWS)

static const struct rfc_struct structs[] = {
#define S(nm, list) {#nm, sizeof(struct raw_##nm), f_##nm, ARRAY_LEN(f_##nm)},
    RFC_STRUCTS(S)
#undef S
};

const struct rfc_struct *rfc_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(structs); i++) {
        if (strcmp(structs[i].name, name) == 0)
            return &structs[i];
    }
    return NULL;
}
