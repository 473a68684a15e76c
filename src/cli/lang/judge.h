/* SPDX-License-Identifier: MIT */
/* Judges a script that can be read, without running it: names of hosts and objects that no command
 * makes, also in paths, and comparisons that can never hold.  Nothing is claimed that only a run
 * can show: a command may still refuse its objects.
 */
#ifndef CLI_LANG_JUDGE_H
#define CLI_LANG_JUDGE_H

#include "cli/lang/script.h"

#define JUDGE_ERRORS_MAX 20u /* errors that are reported; others are counted */

/* Receives an error; @d is valid during the call. */
typedef void judge_found(void *ctx, const struct diag *d);

/* Calls @found for each error of @s, in their order.  Returns the number of errors.  Statements
 * that could not be read (@s->errors) may have made any name that stands in them.
 */
size_t judge_script(const struct script *s, judge_found *found, void *ctx);

#endif
