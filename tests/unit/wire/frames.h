/* SPDX-License-Identifier: MIT */
/* Packets for several tests of this directory. */
#ifndef TESTS_UNIT_WIRE_FRAMES_H
#define TESTS_UNIT_WIRE_FRAMES_H

#include <string.h>

#include "emu/wire/packet.h"

#define FRAME_MAX 8192u

/* A packet with distinct values in every field that @opcode has, 64 hops, to QPN 18. */
static inline struct packet sample(unsigned version, uint8_t opcode, uint32_t payload_bytes)
{
    static const uint8_t one[4] = {10, 0, 0, 1}, two[4] = {10, 0, 0, 2};
    struct packet p = {
        .eth = {.dst = {2, 0, 0, 0, 0, 2}, .src = {2, 0, 0, 0, 0, 1}},
        .ip = {.version = (uint8_t)version, .tclass = 0x12, .ttl = 64},
        .udp_src_port = 0xc123,
        .bth = {.opcode = opcode,
                .solicited = true,
                .pkey = 0xffff,
                .dest_qpn = 18,
                .ack_req = true,
                .psn = {0x123456}},
        .deth = {.qkey = 0x80010000, .src_qpn = 0xabcdef},
        .feth = {.placement = FETH_PERSISTENT, .level = FETH_REGION},
        .reth = {.va = 0x1122334455667788, .rkey = 0x99aabbcc, .dma_bytes = 0xddeeff00},
        .atomic = {.va = 0x0102030405060708, .rkey = 0x11, .swap_add = 0x22, .compare = 0x33},
        .aeth = {.syndrome = 0x1f, .msn = 0xfedcba},
        .atomic_ack = 0x8877665544332211,
        .imm_data = {0xca, 0xfe, 0xba, 0xbe},
        .ieth_rkey = 0x77665544,
        .payload_bytes = payload_bytes,
    };

    if (version == 6) {
        p.ip.flow_label = 0xabcde;
        memcpy(p.ip.src, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01", GID_BYTES);
        memcpy(p.ip.dst, "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02", GID_BYTES);
    } else {
        p.ip.id = 0x1234;
        gid_from_ipv4(p.ip.src, one);
        gid_from_ipv4(p.ip.dst, two);
    }
    return p;
}

/* Builds @p with the payload 0, 1, 2, ... into @frame.  Returns the length of the frame. */
static inline size_t build(const struct packet *p, uint8_t frame[FRAME_MAX])
{
    const size_t n = packet_frame_bytes(p);
    uint8_t *payload = packet_build(p, frame);

    for (uint32_t i = 0; i < p->payload_bytes; i++)
        payload[i] = (uint8_t)i;
    packet_finish(frame, n);
    return n;
}

#endif
