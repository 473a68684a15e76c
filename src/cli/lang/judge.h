/* SPDX-License-Identifier: MIT */
/* Judges a script that can be read, without running it: names of hosts that no command makes, and
 * comparisons that can never hold.  Nothing is claimed that only a run can show.
 */
#ifndef CLI_LANG_JUDGE_H
#define CLI_LANG_JUDGE_H

#include "cli/lang/script.h"

/* Returns true if nothing is wrong with @s.  Otherwise returns false, with the first error in @d.
 */
bool judge_script(const struct script *s, struct diag *d);

#endif
