/* SPDX-License-Identifier: MIT */
#include "emu/facts/struct_rows.h"

const struct row_struct *row_struct_find(const struct row_struct *structs, size_t n,
                                         const char *name)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(structs[i].name, name) == 0)
            return &structs[i];
    }
    return NULL;
}

const struct row_field *row_field_find(const struct row_struct *s, const char *name)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        if (strcmp(s->fields[i].name, name) == 0)
            return &s->fields[i];
    }
    return NULL;
}
