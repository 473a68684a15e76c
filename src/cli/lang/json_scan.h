/* SPDX-License-Identifier: MIT */
/* Where the values of a JSON text are.
 *
 * cJSON parses, but remembers no positions and turns every number into a double.  This walks the
 * same text beside cJSON's tree: text that cJSON has accepted needs no checks here.
 */
#ifndef CLI_LANG_JSON_SCAN_H
#define CLI_LANG_JSON_SCAN_H

#include <stdbool.h>

#include <cjson/cJSON.h>

#include "cli/lang/source.h"

/* A value and where it is. */
struct json_value {
    const cJSON *item;
    struct span at;
};

/* The root of a parsed text. */
struct json_value json_root(const struct source *src, const cJSON *root);

/* Walks the members of an object or the elements of an array. */
struct json_walk {
    const struct source *src;
    const cJSON *next;
    size_t at;
};

struct json_member {
    const char *key; /* NULL in an array */
    struct span key_at;
    struct json_value value;
};

struct json_walk json_walk(const struct source *src, struct json_value v);
bool json_next(struct json_walk *w, struct json_member *ret);

/* Does the string at @at hold a NUL, which cJSON has cut it at? */
bool json_has_nul(const struct source *src, struct span at);

#endif
