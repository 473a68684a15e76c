/* SPDX-License-Identifier: MIT */
/* A work request, as the event of its posting says it, and which later events say that it is over:
 * the device gives its descriptors back, and directly behind that writes its completion, if it has
 * one.
 */
#ifndef EMU_PAST_POSTED_H
#define EMU_PAST_POSTED_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/trace/event.h"

struct posted {
    const struct ev *e; /* of its posting; as long as that is kept */
    ev_id id;           /* of that */
    uint32_t host, queue, desc;
    uint32_t qpn; /* 0: of a shared receive queue, and any may take it */
    uint64_t wr_id;
    bool is_send;
};

/* False: @e is no posting, and *@ret stays. */
bool posted_read(const struct ev *e, struct posted *ret);

/* Does the device give descriptors of its queue back in @e: any, or those of the request? */
bool posted_frees_any(const struct posted *p, const struct ev *e);
bool posted_frees(const struct posted *p, const struct ev *e);

/* Is @e a completion like that of the request?  Others may have its number. */
bool posted_completes(const struct posted *p, const struct ev *e);

/* Is a completion with this opcode (enum wc_opcode) one of a receive? */
bool posted_is_recv(uint32_t wc_opcode);

#endif
