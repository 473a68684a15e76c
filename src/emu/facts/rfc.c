/* SPDX-License-Identifier: MIT */
#include "emu/facts/rfc.h"

#include "emu/base/assert.h"
#include "emu/facts/virtio/feature.h"

#define ROWS(name, list)                                                                           \
    static const struct row_field f_##name[] = {list(ROW_INFO_FIELD, raw_##name)};

RFC_STRUCTS(ROWS)

static const struct row_struct structs[] = {
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

const struct row_struct *rfc_find(const char *name)
{
    return row_struct_find(structs, ARRAY_LEN(structs), name);
}
