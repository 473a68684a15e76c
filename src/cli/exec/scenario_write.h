/* SPDX-License-Identifier: MIT */
/* Writes files about a session when its scenario has ended: a ladder, the frames, the events,
 * a timeline.
 */
#ifndef CLI_EXEC_SCENARIO_WRITE_H
#define CLI_EXEC_SCENARIO_WRITE_H

#include "cli/session/session.h"

enum scenario_output { OUTPUT_LADDER, OUTPUT_PCAPNG, OUTPUT_EVENTS, OUTPUT_TIMELINE, N_OUTPUTS };

/* Writes @what, as the command `export` does, to the file @name, also for a session that was
 * interrupted.  "-" is the standard output, where a ladder is text.  Returns false, with a message
 * on @err, if the file cannot be written.
 */
bool scenario_write(struct session *s, enum scenario_output what, const char *name, FILE *err);

#endif
