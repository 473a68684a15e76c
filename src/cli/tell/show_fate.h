/* SPDX-License-Identifier: MIT */
/* What became of a transmission: lost, dropped, delivered, and whether an answer came back. */
#ifndef CLI_TELL_SHOW_FATE_H
#define CLI_TELL_SHOW_FATE_H

#include "emu/past/past.h"

enum fate_kind { FATE_UNKNOWN, FATE_LOST, FATE_DROPPED, FATE_ARRIVED };

struct fate {
    enum fate_kind kind;
    const struct ev *end;    /* the lost, drop or rx event; NULL: none is recorded */
    const struct ev *fault;  /* what a fault did to it on the way; NULL: nothing */
    const struct ev *answer; /* the receiver's answer; NULL: none */
};

/* The fate of the tx event @tx; of several copies, of the first that arrived. */
struct fate fate_of(const struct past *p, const struct ev *tx);

/* Appends it as a clause: "was lost in #35.1, by f1"; a delivered one goes on with the fate of its
 * answer.
 */
void fate_add(struct text *t, const struct past *p, const struct ev *tx);

/* The number of a transmission, from 1. */
uint32_t tx_attempt(const struct ev *tx);

/* Appends "1st", "2nd", "3rd", "4th", ... */
void ordinal_add(struct text *t, uint32_t n);

#endif
