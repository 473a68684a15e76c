/* SPDX-License-Identifier: MIT */
/* `export` of a saved trace: what a trace without a lab can draw. */
#ifndef CLI_APP_TRACE_EXPORT_H
#define CLI_APP_TRACE_EXPORT_H

#include "cli/lang/script.h"
#include "emu/past/past.h"

/* Returns true if the form of the `export` command @st needs only the past.  Otherwise sets @d to
 * the error, with the option that has the form if there is one.
 */
bool trace_export_can(const struct step *st, struct diag *d);

/* Writes the causes of event @id to the file that @st names; - is the standard output.  Returns
 * false with the error in @d.
 */
bool trace_export_why(const struct past *p, const struct step *st, ev_id id, struct diag *d);

#endif
