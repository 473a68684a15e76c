/* SPDX-License-Identifier: MIT */
/* Scripts in memory: read from text, and written as text. */
#ifndef TESTS_FUZZ_SCRIPT_TEXT_H
#define TESTS_FUZZ_SCRIPT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#include "cli/lang/script.h"

/* The input as a text that ends with a NUL; to be freed. */
char *text_of(const uint8_t *data, size_t n);

/* What @write writes of @s; to be freed. */
char *script_written(void (*write)(FILE *, const struct script *), const struct script *s);

/* Do both say the same, header and all? */
bool script_equal(const struct script *a, const struct script *b);

#endif
