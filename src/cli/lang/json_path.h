/* SPDX-License-Identifier: MIT */
/* The path of a place in a JSON text: "steps[3].flags[0]". */
#ifndef CLI_LANG_JSON_PATH_H
#define CLI_LANG_JSON_PATH_H

#include "cli/lang/source.h"
#include "emu/base/text.h"

/* Appends the path of the value at offset @at of @src, which must be JSON up to there; of a key the
 * path of its object, and of the name of a command that of its step.  Appends nothing for the root.
 */
void json_add_path(struct text *t, const struct source *src, size_t at);

#endif
