/* SPDX-License-Identifier: MIT */
/* Findings: irregularities that an analysis of RoCEv2 frames can report.  findings.def has the
 * rows.
 */
#ifndef EMU_FACTS_FINDINGS_H
#define EMU_FACTS_FINDINGS_H

enum finding {
#define FINDING(name, severity, holds, says, cause, effect, next) FIND_##name,
#include "emu/facts/findings.def"
#undef FINDING
    FIND_COUNT
};

enum finding_severity { FINDING_ERROR, FINDING_LOSS, FINDING_NOTE };

struct finding_row {
    const char *name;
    enum finding_severity severity;
    const char *holds; /* condition that sound traffic meets */
    const char *says;  /* message if it is not met, with placeholders in braces: "{psn}" */
    /* Explanation: probable causes, what follows for the traffic, what to look at next. */
    const char *cause, *effect, *next;
};

extern const struct finding_row finding_rows[FIND_COUNT];

#endif
