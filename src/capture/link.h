/* SPDX-License-Identifier: MIT */
/* Finds the IP packet in a captured frame: behind the header of the link, VLAN tags and tunnels
 * (VXLAN, Geneve), and without IPv4 options and IPv6 extension headers.
 *
 * A frame without an IP packet may still tell something about RoCE: RoCE v1 has an Ethertype of its
 * own, and PFC frames stop a priority of a link.
 */
#ifndef CAPTURE_LINK_H
#define CAPTURE_LINK_H

#include "capture/capture.h"
#include "emu/wire/ip.h"

enum link_result {
    LINK_IP,      /* an IP packet */
    LINK_ROCE_V1, /* a packet of RoCE v1 */
    LINK_PAUSE,   /* a PFC frame, or a PAUSE frame for all priorities */
    LINK_OTHER,   /* anything else */
    LINK_UNREAD   /* frames of this link type are not read */
};

/* The IP packet of a frame.  The bytes are valid as long as those of the frame. */
struct link_ip {
    uint8_t head[IPV6_BYTES]; /* the header, without options; head_bytes: its length */
    uint32_t head_bytes;
    const uint8_t
        *rest; /* the payload; n_rest: captured bytes, n_cut: bytes that were not captured */
    uint32_t n_rest, n_cut;
    uint16_t ethertype;
    uint16_t vlan;           /* in the last tag before the header; 0: none */
    bool was_longer;         /* the packet has options or extension headers */
    uint8_t goal[GID_BYTES]; /* if has_goal: the last destination in a segment routing header */
    bool has_goal;
    enum capture_direction direction;
    /* The same for all frames that were captured at one place: interface, tunnel, hops so far. */
    uint32_t place;
};

/* The priorities that a PFC frame stops and those that it starts again, one bit each. */
struct link_pause {
    uint8_t stops, starts;
};

/* Examines frame @f.  Sets @ret if the result is LINK_IP, and @ret_pause if it is LINK_PAUSE. */
enum link_result link_find(const struct capture_frame *f, struct link_ip *ret,
                           struct link_pause *ret_pause);

/* Returns the name of a link type that is not read; NULL: it has no name here. */
const char *link_name(uint32_t link);

#endif
