/* SPDX-License-Identifier: MIT */
#include "emu/base/name.h"

#include <stddef.h>

#include "rdmalab/lab.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool name_is_valid(const char *s)
{
    size_t n = 0;

    for (; n < RDL_NAME_BYTES && s[n]; n++) {
        const bool later = (s[n] >= '0' && s[n] <= '9') || s[n] == '_' || s[n] == '-';

        if (!is_letter(s[n]) && !(n > 0 && later))
            return false;
    }
    return n > 0 && n < RDL_NAME_BYTES;
}
