/* SPDX-License-Identifier: MIT */
/* The fate of a frame: lost, dropped or delivered, and whether an answer came back. */
#ifndef EMU_PAST_FATE_H
#define EMU_PAST_FATE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/past/past_index.h"

enum frame_fate {
    FATE_UNKNOWN, /* no end is recorded: still under way, or recording was off */
    FATE_ARRIVED,
    FATE_DROPPED, /* by the receiving host or by a node that could not forward it */
    FATE_STRAYED, /* a fault changed it, and a host's network function received it */
    FATE_LOST     /* lost on a link */
};

/* Returns true if @e is the end of a frame; *@ret is then the frame's id, 0 if it is from outside.
 * Only RoCEv2 frames count.  A flooded copy at a host that it is not meant for is no end.
 */
bool fate_is_end(const struct ev *e, ev_id *ret);

struct fate {
    enum frame_fate kind;
    const struct ev *end;    /* the lost, drop, eth_rx or rx event; NULL: none recorded */
    const struct ev *fault;  /* the last fault event about the frame; NULL: none */
    const struct ev *answer; /* the receiver's answer; NULL: none */
};

/* The fate of tx event @tx within the lab.  Of several copies, that of the first one that arrived.
 */
struct fate fate_of(const struct past_index *x, const struct ev *tx);

/* What a fault of @kind (enum fault_kind) does to a frame: "delays", "marks with CE".  NULL if no
 * command makes such a fault.
 */
const char *fate_fault_does(uint32_t kind);

/* What it has done to a frame: "delayed", "marked CE". */
const char *fate_fault_done(uint32_t kind);

/* Returns true if a fault of @kind changes the frame's bytes.  The changed bytes are recorded under
 * the id of the fault event.
 */
bool fate_fault_changes(uint32_t kind);

#endif
