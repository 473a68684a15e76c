/* SPDX-License-Identifier: MIT */
/* Frames with messages of o2iblnd, for tests of several layers. */
#ifndef TESTS_UNIT_LNET_FRAMES_H
#define TESTS_UNIT_LNET_FRAMES_H

#include <string.h>

#include "emu/facts/enum/lnet_op.h"
#include "emu/facts/roce.h"
#include "emu/wire/lnet.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"

#define LNET_FRAME_MAX 8192u

#define LNET_SAMPLE_FRAGS 3u

static inline void lnet_sample_rd(struct lnet_rd *rd)
{
    rd->key = 0x1234;
    rd->n = LNET_SAMPLE_FRAGS;
    for (uint32_t i = 0; i < rd->n; i++)
        rd->frags[i] = (struct lnet_frag){4096 - i, 0x7f0000001000 + 0x1000 * (uint64_t)i};
}

/* Returns a message of @type: one credit, cookies 0x2a and 0x2b, three fragments, a PUT of 65,536
 * bytes or a GET of 8192.
 */
static inline struct lnet_msg lnet_sample(enum lnet_msg_type type, bool big_endian)
{
    struct lnet_msg m = {.big_endian = big_endian,
                         .version = LNET_VERSION_2,
                         .type = type,
                         .credits = 1,
                         .src_nid = lnet_nid(0, 0x0a000001),
                         .src_stamp = 0x61234,
                         .dst_nid = lnet_nid(0, 0x0a000002),
                         .dst_stamp = 0x65678};
    struct lnet_hdr put = {.dest_nid = m.dst_nid,
                           .src_nid = m.src_nid,
                           .dest_pid = LNET_PID_LUSTRE,
                           .src_pid = LNET_PID_LUSTRE,
                           .type = LNET_OP_PUT,
                           .payload_bytes = 65536,
                           .u.put = {.match_bits = 0x77, .portal = 7}};

    switch (type) {
    case LNET_MSG_CONNREQ:
    case LNET_MSG_CONNACK:
        m.u.conn = (struct lnet_connparams){8, 256, LNET_MSG_BYTES_MAX};
        break;
    case LNET_MSG_NOOP:
        break;
    case LNET_MSG_IMMEDIATE:
        put.payload_bytes = 0;
        m.u.hdr = put;
        break;
    case LNET_MSG_PUT_REQ:
        m.u.put_req = (struct lnet_req){put, 0x2a};
        break;
    case LNET_MSG_PUT_ACK:
        m.u.put_ack.src_cookie = 0x2a;
        m.u.put_ack.dst_cookie = 0x2b;
        lnet_sample_rd(&m.u.put_ack.rd);
        break;
    case LNET_MSG_GET_REQ:
        put.type = LNET_OP_GET;
        put.payload_bytes = 0;
        put.u.get.sink_bytes = 8192;
        m.u.get_req.hdr = put;
        m.u.get_req.cookie = 0x2a;
        lnet_sample_rd(&m.u.get_req.rd);
        break;
    default:
        m.u.done = (struct lnet_done){0x2b, -61};
        break;
    }
    m.nob = lnet_body_bytes(&m);
    return m;
}

/* Builds a frame from 10.0.0.1 to @qpn of 10.0.0.2, with a BTH of @opcode.  Returns its length. */
static inline size_t lnet_frame_of(uint8_t opcode, uint32_t qpn, const uint8_t *payload,
                                   uint32_t bytes, uint8_t frame[LNET_FRAME_MAX])
{
    static const uint8_t one[4] = {10, 0, 0, 1}, two[4] = {10, 0, 0, 2};
    struct packet p = {.eth = {.dst = {2, 0, 0, 0, 0, 2}, .src = {2, 0, 0, 0, 0, 1}},
                       .ip = {.version = 4, .ttl = 64},
                       .udp_src_port = 0xc000,
                       .bth = {.opcode = opcode, .pkey = 0xffff, .dest_qpn = qpn, .psn = {100}},
                       .deth = {.qkey = 0x80010000, .src_qpn = QPN_GSI},
                       .payload_bytes = bytes};
    const size_t n = packet_frame_bytes(&p);

    gid_from_ipv4(p.ip.src, one);
    gid_from_ipv4(p.ip.dst, two);
    memcpy(packet_build(&p, frame), payload, bytes);
    packet_finish(frame, n);
    return n;
}

/* The same with the first @most bytes of message @m, to queue pair 17. */
static inline size_t lnet_frame(const struct lnet_msg *m, uint8_t opcode, uint32_t most,
                                uint8_t frame[LNET_FRAME_MAX])
{
    uint8_t bytes[LNET_MSG_BYTES_MAX];
    const uint32_t n = (uint32_t)lnet_build(m, bytes);

    return lnet_frame_of(opcode, 17, bytes, n < most ? n : most, frame);
}

/* The same with a datagram to queue pair 1: message @message of the connection manager, whose
 * private data begins with the @n bytes at @data.  A REQ is for @service_id.
 */
static inline size_t lnet_frame_cm(uint32_t message, uint64_t service_id, const uint8_t *data,
                                   size_t n, uint8_t frame[LNET_FRAME_MAX])
{
    struct mad m = {.head = {.base_version = MAD_BASE_VERSION,
                             .mgmt_class = MAD_CLASS_CM,
                             .class_version = MAD_CM_CLASS_VERSION,
                             .method = MAD_METHOD_SEND,
                             .attr_id = message}};
    const struct mad_layout *body = mad_body(message);
    const struct mad_field *private_data = &body->fields[body->n_fields - 1];
    const bool has_header = message == 0x10 && rdma_cm_has_header(service_id);
    uint8_t bytes[MAD_BYTES];

    if (message == 0x10)
        m.u.req.service_id = service_id;
    mad_build(&m, bytes);
    memcpy(bytes + MAD_HEADER_BYTES + private_data->at + (has_header ? RDMA_CM_BYTES : 0), data, n);
    return lnet_frame_of(0x64, QPN_GSI, bytes, MAD_BYTES, frame);
}

#endif
