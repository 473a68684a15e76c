/* SPDX-License-Identifier: MIT */
/* Prints JSON values to a stream, in the format of emu/base/json.h. */
#ifndef PRINT_PRINT_JSON_H
#define PRINT_PRINT_JSON_H

#include <stdint.h>
#include <stdio.h>

/* Prints @s as a JSON string.  Control characters, also those that JSON allows, are escaped. */
void print_json_string(FILE *out, const char *s);

/* Prints @json, a JSON text of another writer, and escapes such characters in its strings. */
void print_json_text(FILE *out, const char *json);

/* Prints @v as a JSON number, or as a string if a double cannot represent it exactly. */
void print_json_number(FILE *out, uint64_t v);

#endif
