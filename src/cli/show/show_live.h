/* SPDX-License-Identifier: MIT */
/* `show live`: prints the clock of a lab that follows real time, and its live ports, programs and
 * virtual machines.
 */
#ifndef CLI_SHOW_SHOW_LIVE_H
#define CLI_SHOW_SHOW_LIVE_H

#include "cli/lang/words.h"
#include "cli/live/live.h"

/* Prints it in the form @form.  @ops and @live are as in struct show_request. */
void show_live(FILE *out, const struct rdl_lab *lab, const struct live_ops *ops,
               const struct live *live, enum show_form form);

/* Prints a row for each program of the machine that was started: its end, its objects, what it did.
 * @live may be NULL: there is none.
 */
void show_programs(FILE *out, const struct live_ops *ops, const struct live *live,
                   enum show_form form);

#endif
