/* SPDX-License-Identifier: MIT */
/* What a frame is, at a glance: for whoever sorts frames, and for traces.
 *
 * Nothing is verified: no checksum, no length, no version.  What sorts frames must not refuse them;
 * whoever gets a frame parses it, and drops it under a name.
 */
#ifndef EMU_WIRE_GLANCE_H
#define EMU_WIRE_GLANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/enums.h"
#include "emu/facts/psn.h"
#include "emu/wire/addr.h"

/* Is it UDP to RoCEv2's port?  Then @ret_dst is the IP address that it goes to. */
bool glance_is_roce(const uint8_t *frame, size_t len, uint8_t ret_dst[GID_BYTES]);

struct glance {
    uint32_t opcode; /* enum opcode, or enum frame_kind of a frame without a BTH */
    /* The address that the frame goes to; that an ARP or neighbour discovery message is about. */
    bool has_addr;
    uint8_t addr[GID_BYTES];
    /* Of a RoCEv2 packet, otherwise 0. */
    struct psn psn;
    uint32_t dest_qpn;
    bool ack_req;
    enum syndrome syndrome;
    uint32_t msn;
    uint32_t payload_bytes;
};

/* Any bytes will do. */
struct glance glance(const uint8_t *frame, size_t len);

#endif
