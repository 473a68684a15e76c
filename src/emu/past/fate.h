/* SPDX-License-Identifier: MIT */
/* The fate of a frame: lost, dropped or delivered, and the receiver's answer. */
#ifndef EMU_PAST_FATE_H
#define EMU_PAST_FATE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/past/past_index.h"

enum frame_fate {
    FATE_UNKNOWN, /* no end in the lab is recorded: under way, recording off, or left the lab */
    FATE_ARRIVED,
    FATE_DROPPED, /* dropped by the receiving host, or by a node that could not forward it */
    FATE_STRAYED, /* a fault changed it, and a host's network function received it */
    FATE_LOST     /* lost on a link */
};

/* Returns true if event @e is the end of a RoCEv2 frame, in the lab or at an external port.  *@ret
 * is then the frame's id, 0 if the frame is from outside.  A flooded copy at a host that it is not
 * meant for is no end.
 */
bool fate_is_end(const struct ev *e, ev_id *ret);

struct fate {
    enum frame_fate kind;
    const struct ev *end;    /* the lost, drop, eth_rx or rx event; NULL: none recorded */
    const struct ev *fault;  /* the last fault event about the frame; NULL: none */
    const struct ev *answer; /* the receiver's answer; NULL: none recorded */
};

/* Returns the fate within the lab of the frame that tx event @tx sent.  If there are several
 * copies, it is the fate of the first copy that arrived.  If no copy arrived, it is the fate of any
 * of them.
 */
struct fate fate_of(const struct past_index *x, const struct ev *tx);

/* Returns a verb for a fault of @kind (enum fault_kind) and a frame: "delays", "marks with CE".
 * Returns NULL if no command makes such a fault.
 */
const char *fate_fault_does(uint32_t kind);

/* Returns the participle for a fault of @kind (enum fault_kind) and a frame: "delayed", "marked
 * CE".  It is never NULL.
 */
const char *fate_fault_done(uint32_t kind);

/* Returns true if a fault of @kind changes the frame's bytes.  The changed bytes are recorded under
 * the id of the fault event.
 */
bool fate_fault_changes(uint32_t kind);

#endif
