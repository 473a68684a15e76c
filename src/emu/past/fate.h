/* SPDX-License-Identifier: MIT */
/* What became of a frame: lost, dropped, delivered, and whether an answer came back. */
#ifndef EMU_PAST_FATE_H
#define EMU_PAST_FATE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/past/past_index.h"

enum frame_fate {
    FATE_UNKNOWN, /* no end of it is known: it is under way, or nobody recorded it */
    FATE_ARRIVED,
    FATE_DROPPED, /* by the host it arrived at, or by one that could not pass it on */
    FATE_STRAYED, /* to the network function of a host, as what it was changed into */
    FATE_LOST     /* on the way */
};

/* The frame whose end @e is: *@ret is what it says of it, 0 if it is from outside.  Only RoCEv2
 * frames have ends here, and a frame that a switch flooded has none where it was not meant.
 */
bool fate_is_end(const struct ev *e, ev_id *ret);

struct fate {
    enum frame_fate kind;
    const struct ev *end;    /* the lost, drop, eth_rx or rx event; NULL: none is recorded */
    const struct ev *fault;  /* what a fault did to it on the way; NULL: nothing */
    const struct ev *answer; /* the receiver's answer; NULL: none */
};

/* The fate of the tx event @tx within the lab; of several copies, of the first that arrived. */
struct fate fate_of(const struct past_index *x, const struct ev *tx);

/* What a fault of @kind (enum fault_kind) has done to a frame: "delayed", "marked CE". */
const char *fate_fault_done(uint32_t kind);

/* Has it changed the bytes of the frame?  They are recorded under the event that says so. */
bool fate_fault_changes(uint32_t kind);

#endif
