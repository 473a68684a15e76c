/* SPDX-License-Identifier: MIT */
/* Scenarios as JSON: {"title": ..., "steps": [{"do": VERB, KEY: VALUE, ...}, ...]}.
 *
 * The other members of the outer object are the parameters of the `scenario` command.  In a step, a
 * set or list is an array.  The flags are in the array "flags", the name after `as` is "as", and a
 * block is "steps".  Integers up to 2^53 are JSON numbers, larger ones are strings.  Values with a
 * unit are strings, as in a line.
 */
#ifndef CLI_LANG_JSON_H
#define CLI_LANG_JSON_H

#include "cli/lang/script.h"

/* Makes cJSON allocate with must_malloc(), so that a lack of memory ends the program as elsewhere
 * in the parsers.  Otherwise it would be reported as a syntax error.  Call once.
 */
void json_use_memory(void);

/* Parses all of @s->src as a scenario.  Returns false, with a message in @d, on failure. */
bool json_read_script(struct script *s, struct diag *d);

/* Returns true if @text is a JSON Schema: it has "$id" or "$defs", but no "steps". */
bool json_is_schema(const char *text);

/* Writes @s as a scenario. */
void json_write_script(FILE *out, const struct script *s);

/* The same with the "$schema" @schema, unless the script gives one itself. */
void json_write_script_for(FILE *out, const struct script *s, const char *schema);

/* Writes the JSON Schema (draft 2020-12) of scenarios, generated from the command table. */
void json_write_schema(FILE *out);

/* Returns the JSON key of @p without the name of the object around it: "ticks" for "limits.ticks".
 * *@ret_outer is the length of that name ("limits"), 0 if there is none.
 */
const char *json_key(const struct param *p, size_t *ret_outer);

#endif
