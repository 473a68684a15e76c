/* SPDX-License-Identifier: MIT */
#include "program/library.h"

struct program_library program_library(size_t i)
{
    (void)i;
    return (struct program_library){.name = ""};
}
