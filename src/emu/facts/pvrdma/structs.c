/* SPDX-License-Identifier: MIT */
#include "emu/facts/pvrdma/structs.h"

#include "emu/base/assert.h"

#define ROWS(name, list)                                                                           \
    static const struct row_field f_##name[] = {list(ROW_INFO_FIELD, pv_raw_##name)};

PV_STRUCTS(ROWS)

const struct row_struct *pv_struct_find(const char *name)
{
    static const struct row_struct structs[] = {
#define S(nm, list) {"pv_" #nm, sizeof(struct pv_raw_##nm), f_##nm, ARRAY_LEN(f_##nm)},
        PV_STRUCTS(S)
#undef S
    };

    return row_struct_find(structs, ARRAY_LEN(structs), name);
}
