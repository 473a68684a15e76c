/* SPDX-License-Identifier: MIT */
#include "program/library.h"

const unsigned char *program_library(void)
{
    return NULL;
}

size_t program_library_bytes(void)
{
    return 0;
}
