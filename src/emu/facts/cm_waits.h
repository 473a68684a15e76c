/* SPDX-License-Identifier: MIT */
/* States of a connection in which a message waits for its answer. */
#ifndef EMU_FACTS_CM_WAITS_H
#define EMU_FACTS_CM_WAITS_H

#include <stdint.h>

struct cm_wait {
    uint32_t state;      /* enum cm_state */
    uint32_t sent;       /* enum cm_message */
    const char *answer;  /* "a REP, a REJ or a MRA" */
    uint32_t else_event; /* enum rdma_cm_event; after the last retry */
};

/* Returns the wait of a connection in @state; NULL: no message waits. */
const struct cm_wait *cm_wait(uint32_t state);

#endif
