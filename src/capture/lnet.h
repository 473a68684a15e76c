/* SPDX-License-Identifier: MIT */
/* The messages of o2iblnd in a capture: SENDs of RC that begin like one.
 *
 * A message of several packets is put together as they come: each has the PSN behind that of the
 * one before it, the same addresses and destination queue pair, and was captured at the same place.
 */
#ifndef CAPTURE_LNET_H
#define CAPTURE_LNET_H

#include "capture/found.h"
#include "capture/seen.h"
#include "emu/facts/enum/lnet_bad.h"
#include "emu/wire/lnet_gist.h"

#define LNET_OPEN_MAX 64u /* messages whose last packet has not come; more end the oldest */

/* A message. */
struct lnet_seen {
    uint32_t seen;     /* index of its first packet in capture_record.v */
    uint32_t bytes;    /* of its packets that were put together */
    bool is_whole;     /* its last packet is among them, and all were captured whole, undamaged */
    enum lnet_bad bad; /* whole: the verdict of lnet_parse() */
    uint32_t cksum;    /* LNET_BAD_CKSUM: the checksum of its bytes */
    uint32_t flow;     /* index of its flow; SEEN_NONE: none */
    uint32_t next;     /* index of the next message of the flow; SEEN_NONE: none */
    struct lnet_gist gist;
};

/* A message whose last packet has not come. */
struct lnet_open {
    uint32_t message; /* index in lnet_messages.v */
    uint32_t psn;     /* of the latest packet */
    uint32_t n;       /* bytes so far */
    uint8_t *bytes;   /* owned: LNET_MSG_BYTES_MAX */
};

/* All messages of a capture, by their first packets.  lnet_messages_done() frees the arrays. */
struct lnet_messages {
    struct lnet_seen *v;
    size_t n, cap;
    struct lnet_open open[LNET_OPEN_MAX]; /* the oldest first */
    uint32_t n_open;
};

struct capture_record;

/* Takes @send, the payload of the latest packet of @r, if it is part of a message. */
void lnet_messages_take(struct capture_record *r, const struct seen_send *send);
void lnet_messages_done(struct lnet_messages *l);

/* Sets @flow and @next of each message, and the first message of each flow.  Call when all packets
 * are in their flows. */
void lnet_messages_place(struct capture_record *r);

/* Sets *@ret to the message in the private data of @m.  Returns false if there is none. */
bool lnet_messages_in_mad(const struct mad *m, struct lnet_gist *ret);

/* Returns the message whose first packet is at index @seen of capture_record.v, or NULL. */
const struct lnet_seen *lnet_messages_find(const struct lnet_messages *l, uint32_t seen);

/* Counts the messages of flow @flow, each once, by the rows of enum_lnet_msg.  Returns their
 * number.
 */
#define LNET_TYPES_MAX 16u
uint32_t lnet_messages_count(const struct capture_record *r, uint32_t flow,
                             uint32_t ret[LNET_TYPES_MAX]);

/* Adds findings about single messages, and about those of connections whose messages of the
 * connection manager were captured.
 */
void lnet_messages_judge(const struct capture_record *r, struct found_list *found);

#endif
