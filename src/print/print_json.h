/* SPDX-License-Identifier: MIT */
/* Values of JSON on a stream, as emu/base/json.h writes them. */
#ifndef PRINT_PRINT_JSON_H
#define PRINT_PRINT_JSON_H

#include <stdint.h>
#include <stdio.h>

/* @s in quotes. */
void print_json_string(FILE *out, const char *s);

/* @v, in quotes if a double would round it. */
void print_json_number(FILE *out, uint64_t v);

#endif
