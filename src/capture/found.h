/* SPDX-License-Identifier: MIT */
/* What was found in a capture: one entry for each frame and rule, in the order of the frames once
 * all is judged.
 */
#ifndef CAPTURE_FOUND_H
#define CAPTURE_FOUND_H

#include <stdint.h>

#include "emu/base/text.h"
#include "emu/facts/findings.h"

#define FOUND_NOWHERE UINT32_MAX

/* What is 0 is not told of in what the row says. */
struct found {
    enum finding finding;
    uint32_t flow; /* of the record; FOUND_NOWHERE: it is about a frame, or a host, alone */
    uint64_t frame;
    uint64_t earlier; /* another frame that it is about */
    uint64_t time_ns;
    uint64_t value;
    const char *why; /* constant */
    uint32_t psn, n;
    uint8_t opcode;
};

struct found_list {
    struct found *v; /* owned */
    uint32_t n, cap;
    uint64_t count[FIND_COUNT]; /* how many of each */
};

void found_add(struct found_list *l, const struct found *f);
void found_done(struct found_list *l);

/* By frame, and by rule where a frame breaks several. */
void found_sort(struct found_list *l);

/* How many there are of a severity. */
uint64_t found_count(const struct found_list *l, enum finding_severity severity);

/* Appends what @f says, with the words in braces filled in. */
void found_says(struct text *t, const struct found *f);

/* "error", "loss", "note" */
const char *found_severity(enum finding_severity s);

#endif
