/* SPDX-License-Identifier: MIT */
/* Finds the positions of the values in a JSON text.
 *
 * cJSON parses the text, but keeps no positions and converts every number to a double.  These
 * functions walk the text and cJSON's tree in parallel.  The text must be one that cJSON has
 * accepted, so nothing is checked here.
 */
#ifndef CLI_LANG_JSON_SCAN_H
#define CLI_LANG_JSON_SCAN_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "cli/lang/source.h"

/* A value and its position in the text. */
struct json_value {
    const cJSON *item;
    struct span at;
};

/* Returns the root value of a parsed text. */
struct json_value json_root(const struct source *src, const cJSON *root);

/* Iterator over the members of an object or the elements of an array. */
struct json_walk {
    const struct source *src;
    const cJSON *next; /* the next value; NULL: none */
    size_t at;         /* offset in the text, after the last value */
};

struct json_member {
    const char *key; /* NULL in an array */
    struct span key_at;
    struct json_value value;
};

/* json_walk() begins to iterate over @v.  json_next() returns false if there is no further member.
 */
struct json_walk json_walk(const struct source *src, struct json_value v);
bool json_next(struct json_walk *w, struct json_member *ret);

/* Maximum depth of nested objects and arrays, which the parser has. */
#define JSON_DEPTH_MAX CJSON_NESTING_LIMIT

/* Returns true if the character at offset @at opens an object or array that is nested too deeply.
 * The text before it must be JSON.
 */
bool json_is_too_deep(const struct source *src, size_t at);

/* Returns true if the string at @at contains \u0000, where cJSON has truncated its copy. */
bool json_has_nul(const struct source *src, struct span at);

#endif
