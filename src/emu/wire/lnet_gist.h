/* SPDX-License-Identifier: MIT */
/* Finds messages of o2iblnd in packets, and names them in a few words. */
#ifndef EMU_WIRE_LNET_GIST_H
#define EMU_WIRE_LNET_GIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"

struct packet;

/* A message in a packet: the payload of the first packet of a SEND of RC, or private data of a REQ,
 * REP or REJ of the connection manager.
 */
struct lnet_found {
    const uint8_t *bytes; /* of the message, as far as they are in this packet */
    size_t n;
    bool is_reject; /* the private data of a reject, and no message */
};

/* Find the message in a packet, or in the MAD of @n bytes at @mad.  Return false if there is none,
 * see lnet_is_message() and lnet_is_reject().  lnet_in_packet() uses bth, op, whole, payload and
 * payload_bytes only.
 */
bool lnet_in_packet(const struct packet *p, struct lnet_found *ret);
bool lnet_in_mad(const uint8_t *mad, size_t n, struct lnet_found *ret);

/* The same for the frame of @len bytes at @frame.  Returns false for a frame that packet_parse()
 * refuses.
 */
bool lnet_in_frame(const uint8_t *frame, size_t len, struct lnet_found *ret);

/* The members of a message that people look at first.  Those that it has not are 0. */
struct lnet_gist {
    bool is_reject;
    uint32_t why;  /* of a reject: enum lnet_why */
    uint32_t type; /* of a message: enum lnet_msg_type */
    uint32_t credits, nob;
    unsigned parts;        /* set of 1u << enum lnet_part: those that are complete */
    uint32_t op, op_bytes; /* of the LNet header: enum lnet_op, and the bytes that it is about */
    uint64_t cookie;       /* of a PUT_ACK, that of the source; @dst_cookie is that of the sink */
    uint64_t dst_cookie;
    int32_t status;
    uint32_t n_frags;
    uint32_t queue_depth, max_frags;
};

/* Returns the gist of a message, as far as its bytes are there. */
struct lnet_gist lnet_gist_of(const struct lnet_found *f);

/* Appends the gist: "PUT_REQ credits=1 cookie=0x2a; PUT bytes=65536", "reject CONN_RACE".  Numbers
 * of o2iblnd itself are before the semicolon.
 */
void lnet_gist_add(struct text *t, const struct lnet_gist *g);

#endif
