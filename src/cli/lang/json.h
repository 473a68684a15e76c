/* SPDX-License-Identifier: MIT */
/* Scenarios as JSON: {"title": ..., "steps": [{"do": VERB, KEY: VALUE, ...}, ...]}.
 *
 * The scenario line is the object around the steps; a set or list is an array; flags are in the
 * array "flags", the new name is "as", a block is "steps".  Integers up to 2^53 are numbers, larger
 * ones strings; values with a unit are strings as in a line.
 */
#ifndef CLI_LANG_JSON_H
#define CLI_LANG_JSON_H

#include "cli/lang/script.h"

/* To be called once: from then on a lack of memory in the JSON library ends the program, as it does
 * elsewhere in the parsers; otherwise it would look like an error in the text.
 */
void json_use_memory(void);

/* Reads all of @s->src.  On failure @d says what is wrong where. */
bool json_read_script(struct script *s, struct diag *d);

void json_write_script(FILE *out, const struct script *s);

/* The JSON Schema (draft 2020-12) of scenarios, made from the command table. */
void json_write_schema(FILE *out);

/* The part of a JSON key behind the name of the object it is in ("ticks" of "limits.ticks"); the
 * length of that name is *@ret_outer, 0 if the key is no such thing.
 */
const char *json_key(const struct param *p, size_t *ret_outer);

#endif
