/* SPDX-License-Identifier: MIT */
#include "emu/facts/rfc.h"

#include "emu/base/assert.h"
#include "emu/facts/virtio/feature.h"

/* The name of the type begins with 'l' for an integer (leN), or 'b' for bytes(N). */
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

enum {
#define S(nm, list) STRUCT_##nm,
    RFC_STRUCTS(S)
#undef S
};

#define S(name) &structs[STRUCT_##name]
static const struct rfc_ctrl controls[] = {
#define CONTROL(nm, name, number, feature, in, out, text) [number] = {in, out},
#include "emu/facts/controls.def"
#undef CONTROL
};
#undef S

const struct rfc_ctrl *rfc_ctrl(uint32_t command)
{
    /* Row 0 is empty: there is no command 0. */
    return &controls[command < ARRAY_LEN(controls) ? command : 0];
}

const struct rfc_struct *rfc_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(structs); i++) {
        if (strcmp(structs[i].name, name) == 0)
            return &structs[i];
    }
    return NULL;
}

const struct rfc_field *rfc_field_find(const struct rfc_struct *s, const char *name)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        if (strcmp(s->fields[i].name, name) == 0)
            return &s->fields[i];
    }
    return NULL;
}
