/* SPDX-License-Identifier: MIT */
/* What can be found in the frames of RoCEv2; findings.def has the rows. */
#ifndef EMU_FACTS_FINDINGS_H
#define EMU_FACTS_FINDINGS_H

enum finding {
#define FINDING(name, severity, holds, says) FIND_##name,
#include "emu/facts/findings.def"
#undef FINDING
    FIND_COUNT
};

enum finding_severity { FINDING_ERROR, FINDING_LOSS, FINDING_NOTE };

struct finding_row {
    const char *name;
    enum finding_severity severity;
    const char *holds; /* what must hold */
    const char *says;  /* what is said if it does not; with words in braces */
};

extern const struct finding_row finding_rows[FIND_COUNT];

#endif
