/* SPDX-License-Identifier: MIT */
/* Reads scripts from memory and writes them to memory. */
#ifndef TESTS_FUZZ_SCRIPT_TEXT_H
#define TESTS_FUZZ_SCRIPT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "cli/lang/script.h"

/* The input as a NUL-terminated text; the caller frees it. */
char *text_of(const uint8_t *data, size_t n);

/* The output of @write for @s; the caller frees it. */
char *script_written(void (*write)(FILE *, const struct script *), const struct script *s);

/* Returns true if both have the same header and the same steps. */
bool script_equal(const struct script *a, const struct script *b);

#endif
