/* SPDX-License-Identifier: MIT */
/* The texts typed at the prompt in this and in earlier sessions.  A block is one text of several
 * lines.
 */
#ifndef CLI_LANG_RECALL_H
#define CLI_LANG_RECALL_H

#include <stdbool.h>
#include <stddef.h>

#define RECALL_MAX 2000u /* most texts kept; the oldest is dropped */

struct recalled {
    char *text;  /* without the last line end */
    bool failed; /* it was executed and failed */
};

struct recall {
    struct recalled *v;
    size_t n, room;
};

/* Appends a copy of the @len bytes at @text.  If the last text is the same, only its @failed is
 * updated, and the function returns false.  Otherwise it returns true.
 */
bool recall_add(struct recall *r, const char *text, size_t len, bool failed);
void recall_free(struct recall *r);

#endif
