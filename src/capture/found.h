/* SPDX-License-Identifier: MIT */
/* The findings in a capture: one for each frame and broken rule.  found_sort() orders them by
 * frame.
 */
#ifndef CAPTURE_FOUND_H
#define CAPTURE_FOUND_H

#include <stdint.h>

#include "emu/base/text.h"
#include "emu/facts/findings.h"

#define FOUND_NOWHERE UINT32_MAX

/* One finding.  The members after @frame are the values for the words in braces in its text, which
 * is in findings.def.  Those that the text does not have are 0.
 */
struct found {
    enum finding finding;
    uint32_t flow;      /* index into the record's flows; FOUND_NOWHERE: no flow */
    uint64_t frame;     /* number of the frame, from 1 */
    uint64_t earlier;   /* {frame}: number of another frame; 0: none */
    uint64_t time_ns;   /* {time} */
    uint64_t value;     /* {value}; {hex}: as "0x2a" */
    const char *why;    /* {why}: a constant string */
    uint32_t psn, n;    /* {psn}, {n} */
    uint32_t handshake; /* 1 + index of the handshake that it is about; 0: none */
    uint8_t opcode;     /* {op}; {message}: an enum cm_message; {lnet}: an enum lnet_msg_type */
};

struct found_list {
    struct found *v; /* owned */
    uint32_t n, cap;
    uint64_t count[FIND_COUNT]; /* number of findings of each kind */
};

/* found_add() appends a copy of @f.  found_done() frees the list. */
void found_add(struct found_list *l, const struct found *f);
void found_done(struct found_list *l);

/* Sorts the findings by frame, and by rule within a frame. */
void found_sort(struct found_list *l);

/* Returns the number of findings with this severity. */
uint64_t found_count(const struct found_list *l, enum finding_severity severity);

/* Appends to @t the text of @f in findings.def, with the words in braces replaced by values of @f.
 */
void found_says(struct text *t, const struct found *f);

/* Returns the name of a severity: "error", "loss" or "note". */
const char *found_severity(enum finding_severity s);

#endif
