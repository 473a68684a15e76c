/* SPDX-License-Identifier: MIT */
/* What was typed at the prompt, in this session and in those before it, to be recalled: a block is
 * one text of several lines.
 */
#ifndef CLI_LANG_RECALL_H
#define CLI_LANG_RECALL_H

#include <stdbool.h>
#include <stddef.h>

#define RECALL_MAX 2000u /* texts; older ones are forgotten */

struct recalled {
    char *text; /* without the last line end */
    bool failed;
};

struct recall {
    struct recalled *v;
    size_t n, room;
};

/* Adds a copy of the @len bytes at @text.  The same as the last one is not added again, but its
 * mark is set anew: false.
 */
bool recall_add(struct recall *r, const char *text, size_t len, bool failed);
void recall_free(struct recall *r);

#endif
