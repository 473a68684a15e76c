/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/opcode.h"
#include "emu/wire/checksum.h"
#include "emu/wire/icrc.h"
#include "emu/wire/parse.h"
#include "frames.h"
#include "vectors.h"

static const uint8_t ethernet[ETH_BYTES] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x08, 0x00};

/* @bytes behind an Ethernet header; the returned length includes it. */
static size_t frame_of(uint8_t frame[FRAME_MAX], const uint8_t *bytes, size_t n)
{
    memcpy(frame, ethernet, ETH_BYTES);
    memcpy(frame + ETH_BYTES, bytes, n);
    if (bytes[0] >> 4 == 6) {
        frame[12] = 0x86;
        frame[13] = 0xdd;
    }
    return ETH_BYTES + n;
}

/* Makes the ICRC of a changed frame right again. */
static void fix_icrc(uint8_t *frame, size_t n)
{
    st_le32(frame + n - ICRC_BYTES, icrc_compute(frame + ETH_BYTES, n - ETH_BYTES - ICRC_BYTES));
}

static void packets_from_elsewhere_are_accepted(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        uint8_t frame[FRAME_MAX];
        const size_t n = frame_of(frame, vectors[i].bytes, vectors[i].n);
        struct packet p;

        assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
    }
}

static void a_send_is_decoded(void **state)
{
    uint8_t frame[FRAME_MAX];
    const size_t n = frame_of(frame, vector_rc_send, sizeof(vector_rc_send));
    struct packet p;

    (void)state;
    assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
    assert_int_equal(p.eth.dst[5], 2);
    assert_int_equal(p.eth.src[5], 1);
    assert_int_equal(p.ip.src[15], 1);
    assert_int_equal(p.ip.dst[15], 2);
    assert_int_equal(p.ip.id, 0x1234);
    assert_int_equal(p.udp_src_port, 0xc123);
    assert_int_equal(p.bth.dest_qpn, 17);
    assert_int_equal(p.bth.psn.v, 0x123456);
    assert_true(p.bth.ack_req);
    assert_string_equal(p.op->name, "RC_SEND_ONLY");
    assert_int_equal(p.payload_bytes, 12);
    assert_memory_equal(p.payload, "hello rdma\0\0", 12);
    assert_ptr_equal(p.payload, frame + ETH_BYTES + IPV4_BYTES + UDP_BYTES + BTH_BYTES);
}

static void an_ack_is_decoded(void **state)
{
    uint8_t frame[FRAME_MAX];
    const size_t n = frame_of(frame, vector_rc_ack, sizeof(vector_rc_ack));
    struct packet p;

    (void)state;
    assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
    assert_string_equal(p.op->name, "RC_ACKNOWLEDGE");
    assert_int_equal(p.aeth.syndrome, 0x1f);
    assert_int_equal(p.aeth.msn, 1);
    assert_int_equal(p.payload_bytes, 0);
}

/* Shows B76. */
static void the_pad_is_not_payload(void **state)
{
    uint8_t frame[FRAME_MAX];
    const size_t n = frame_of(frame, vector_uc_send, sizeof(vector_uc_send));
    struct packet p;

    (void)state;
    assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
    assert_int_equal(p.bth.pad_bytes, 2);
    assert_int_equal(p.payload_bytes, 18);
}

static void assert_same_headers(const struct packet *a, const struct packet *b)
{
    const unsigned headers = a->op->headers;

    assert_ptr_equal(a->op, b->op);
    assert_memory_equal(a->eth.dst, b->eth.dst, MAC_BYTES);
    assert_memory_equal(a->eth.src, b->eth.src, MAC_BYTES);
    assert_memory_equal(a->ip.src, b->ip.src, GID_BYTES);
    assert_memory_equal(a->ip.dst, b->ip.dst, GID_BYTES);
    assert_int_equal(a->ip.tclass, b->ip.tclass);
    assert_int_equal(a->ip.ttl, b->ip.ttl);
    assert_int_equal(a->ip.id, b->ip.id);
    assert_int_equal(a->ip.flow_label, b->ip.flow_label);
    assert_int_equal(a->udp_src_port, b->udp_src_port);
    assert_int_equal(a->bth.psn.v, b->bth.psn.v);
    if (headers & H_DETH)
        assert_memory_equal(&a->deth, &b->deth, sizeof(a->deth));
    if (headers & H_FETH)
        assert_memory_equal(&a->feth, &b->feth, sizeof(a->feth));
    if (headers & H_RETH)
        assert_memory_equal(&a->reth, &b->reth, sizeof(a->reth));
    if (headers & H_ATOMIC) {
        assert_int_equal(a->atomic.va, b->atomic.va);
        assert_int_equal(a->atomic.rkey, b->atomic.rkey);
        assert_int_equal(a->atomic.swap_add, b->atomic.swap_add);
        assert_int_equal(a->atomic.compare, b->atomic.compare);
    }
    if (headers & H_AETH) {
        assert_int_equal(a->aeth.syndrome, b->aeth.syndrome);
        assert_int_equal(a->aeth.msn, b->aeth.msn);
    }
    if (headers & H_ATOMIC_ACK)
        assert_int_equal(a->atomic_ack, b->atomic_ack);
    if (headers & H_IMM)
        assert_memory_equal(a->imm_data, b->imm_data, IMM_BYTES);
    if (headers & H_IETH)
        assert_int_equal(a->ieth_rkey, b->ieth_rkey);
}

static void check_round_trip(unsigned version, uint8_t opcode, uint32_t payload_bytes)
{
    const struct packet p = sample(version, opcode, payload_bytes);
    const struct op_info *op = op_info(opcode);
    uint8_t frame[FRAME_MAX];
    const size_t n = build(&p, frame);
    struct packet back;

    assert_int_equal(packet_parse(&back, frame, n), DROP_NONE);
    assert_ptr_equal(back.op, op);
    assert_same_headers(&back, &(struct packet){.op = op,
                                                .eth = p.eth,
                                                .ip = p.ip,
                                                .udp_src_port = p.udp_src_port,
                                                .bth = p.bth,
                                                .deth = p.deth,
                                                .feth = p.feth,
                                                .reth = p.reth,
                                                .atomic = p.atomic,
                                                .aeth = p.aeth,
                                                .atomic_ack = p.atomic_ack,
                                                .ieth_rkey = p.ieth_rkey,
                                                .imm_data = {0xca, 0xfe, 0xba, 0xbe}});
    assert_int_equal(back.payload_bytes, payload_bytes);
    for (uint32_t i = 0; i < payload_bytes; i++)
        assert_int_equal(back.payload[i], (uint8_t)i);
    assert_int_equal(n, 14u + (version == 6 ? 40u : 20u) + 8u + 12u +
                            op_headers_bytes(op->headers) + (payload_bytes + 3) / 4 * 4 + 4);
}

static void every_opcode_is_built_and_parsed_back(void **state)
{
    static const uint32_t payloads[] = {0, 1, 2, 3, 4, 1023, 1024, 4096};

    (void)state;
    for (unsigned code = 0; code < 256; code++) {
        if (!op_info((uint8_t)code)->name)
            continue;
        for (size_t i = 0; i < ARRAY_LEN(payloads); i++) {
            check_round_trip(4, (uint8_t)code, payloads[i]);
            check_round_trip(6, (uint8_t)code, payloads[i]);
        }
    }
}

static void a_packet_from_elsewhere_is_built_byte_by_byte(void **state)
{
    uint8_t frame[FRAME_MAX], again[FRAME_MAX];
    struct packet p;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        const size_t n = frame_of(frame, vectors[i].bytes, vectors[i].n);

        if (vectors[i].bytes == vector_uc_send)
            continue; /* it has a UDP checksum */
        assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
        assert_int_equal(packet_frame_bytes(&p), n);
        memset(again, 0xa5, sizeof(again));
        memcpy(packet_build(&p, again), p.payload, p.payload_bytes);
        packet_finish(again, n);
        assert_memory_equal(again, frame, n);
    }
}

static void the_flush_of_rxe_has_an_icrc_of_its_own(void **state)
{
    uint8_t frame[FRAME_MAX];
    const size_t n = frame_of(frame, vector_flush, sizeof(vector_flush));
    struct packet p;

    (void)state;
    assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
    assert_true(p.icrc_of_rxe);
    assert_int_equal(p.bth.opcode, OP_RC_FLUSH);
    assert_int_equal(p.feth.placement, FETH_GLOBAL);
    assert_int_equal(p.feth.level, FETH_RANGE);
    assert_true(p.reth.va == 0x7f0000000000);
    assert_int_equal(p.reth.rkey, 0x14a);
    assert_int_equal(p.reth.dma_bytes, 64);
    frame[n - ICRC_BYTES - 1] ^= 1;
    assert_int_equal(packet_parse(&p, frame, n), DROP_BAD_ICRC);
    packet_finish(frame, n);
    assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
    assert_false(p.icrc_of_rxe);
    st_le32(frame + n - ICRC_BYTES, packet_icrc_of_rxe(frame, n - ICRC_BYTES));
    frame[ETH_BYTES + IPV4_BYTES + UDP_BYTES] = OP_RC_RDMA_READ_REQUEST; /* of a FLUSH alone */
    assert_int_equal(packet_parse(&p, frame, n), DROP_BAD_ICRC);
}

/* A path serves packets of any opcode and length; each is what packet_build() makes of it alone. */
static void a_path_is_prepared_once_for_all_its_packets(void **state)
{
    static const uint8_t opcodes[] = {OP_RC_SEND_MIDDLE, OP_RC_ACKNOWLEDGE, OP_RC_COMPARE_SWAP};
    static const uint32_t payloads[] = {0, 1, 2, 3, 4096, 7};

    (void)state;
    for (unsigned version = 4; version <= 6; version += 2) {
        const struct packet any = sample(version, OP_RC_SEND_ONLY, 99);
        const struct packet_path path = packet_path_of(&any);

        for (size_t i = 0; i < ARRAY_LEN(opcodes) * ARRAY_LEN(payloads); i++) {
            const struct packet p =
                sample(version, opcodes[i % ARRAY_LEN(opcodes)], payloads[i / ARRAY_LEN(opcodes)]);
            uint8_t alone[FRAME_MAX], along[FRAME_MAX];
            const size_t n = build(&p, alone);
            struct packet_room room;

            memset(along, 0xa5, sizeof(along));
            room = packet_build_along(&path, &p, along);
            assert_int_equal(room.frame_bytes, n);
            memcpy(room.payload, alone + (room.payload - along), p.payload_bytes);
            packet_finish(along, n);
            assert_memory_equal(along, alone, n);
            assert_int_equal(along[n], 0xa5);
        }
    }
}

static void ethernet_padding_is_ignored(void **state)
{
    const struct packet p = sample(4, OP_RC_ACKNOWLEDGE, 0);
    uint8_t frame[FRAME_MAX];
    const size_t n = build(&p, frame);
    struct packet back;

    (void)state;
    memset(frame + n, 0x5a, 16);
    assert_int_equal(packet_parse(&back, frame, n + 16), DROP_NONE);
    assert_int_equal(back.payload_bytes, 0);
}

/* One byte of a good RC SEND_ONLY with 5 bytes of payload is replaced.  Offsets over IPv4. */
static void each_fault_has_its_name(void **state)
{
    static const struct {
        size_t at;
        uint8_t value;
        bool fix; /* the ICRC is right for the change */
        enum drop_reason want;
    } rows[] = {
        {12, 0x81, true, DROP_BAD_ETHERTYPE},  /* 0x8100: VLAN tag */
        {13, 0x06, true, DROP_BAD_ETHERTYPE},  /* 0x0806: ARP */
        {14, 0x46, true, DROP_BAD_IP_HEADER},  /* options */
        {22, 63, true, DROP_BAD_IP_CHECKSUM},  /* TTL */
        {36, 0x12, true, DROP_NONE},           /* low bytes of 4791 = 0x12b7 */
        {37, 0xb8, true, DROP_NOT_ROCE},       /* port 4792 */
        {39, 0x01, true, DROP_BAD_UDP_LENGTH}, /* shorter */
        {39, 0xff, true, DROP_BAD_UDP_LENGTH}, /* longer */
        {41, 0x99, true, DROP_NONE},           /* UDP checksum: not verified */
        {43, 0x31, true, DROP_BAD_VERSION},    /* TVer 1 */
        {42, 0x1f, true, DROP_BAD_OPCODE},
        {42, 0x1f, false, DROP_BAD_ICRC}, /* a damaged opcode is never answered */
        {43, 0x31, false, DROP_BAD_ICRC},
        {42, 0x13, true, DROP_SHORT}, /* COMPARE_SWAP has 28 bytes more, there are 8 */
        {42, 0x03, true, DROP_NONE},  /* WITH_IMM: 4 bytes of header, 1 of payload */
        {54, 0x99, false, DROP_BAD_ICRC},
        {62, 0x99, false, DROP_BAD_ICRC},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct packet p = sample(4, OP_RC_SEND_ONLY, 5);
        uint8_t frame[FRAME_MAX];
        const size_t n = build(&p, frame);
        struct packet back;

        assert_int_not_equal(rows[i].at, 0);
        frame[rows[i].at] = rows[i].value;
        if (rows[i].fix)
            fix_icrc(frame, n);
        assert_int_equal(packet_parse(&back, frame, n), rows[i].want);
    }
}

static void a_pad_larger_than_the_rest_is_refused(void **state)
{
    const struct packet p = sample(4, OP_RC_ACKNOWLEDGE, 0);
    uint8_t frame[FRAME_MAX];
    const size_t n = build(&p, frame);
    struct packet back;

    (void)state;
    frame[43] |= 0x10; /* PadCnt 1 where nothing is left */
    fix_icrc(frame, n);
    assert_int_equal(packet_parse(&back, frame, n), DROP_BAD_PAD);
    assert_int_equal(back.refused.most, 0);
    assert_int_equal(back.refused.found, 1);
}

/* What was refused says what is right, and what was there instead. */
static void a_udp_length_that_is_not_the_ip_payload_s_is_refused(void **state)
{
    const struct packet p = sample(4, OP_RC_SEND_ONLY, 5);
    const uint16_t right = UDP_BYTES + BTH_BYTES + 8 + ICRC_BYTES;
    uint8_t frame[FRAME_MAX];
    const size_t n = build(&p, frame);

    (void)state;
    for (uint16_t udp = UDP_BYTES; udp < right + 8; udp += 4) {
        struct packet back;

        udp_set_bytes(frame + ETH_BYTES + IPV4_BYTES, udp);
        fix_icrc(frame, n);
        if (udp == right) {
            assert_int_equal(packet_parse(&back, frame, n), DROP_NONE);
            continue;
        }
        assert_int_equal(packet_parse(&back, frame, n), DROP_BAD_UDP_LENGTH);
        assert_int_equal(back.refused.least, right);
        assert_int_equal(back.refused.most, right);
        assert_int_equal(back.refused.found, udp);
    }
}

static void an_unknown_opcode_leaves_enough_to_answer(void **state)
{
    const struct packet p = sample(4, OP_RC_SEND_ONLY, 5);
    uint8_t frame[FRAME_MAX];
    const size_t n = build(&p, frame);
    struct packet back;

    (void)state;
    frame[42] = 0x1f;
    fix_icrc(frame, n);
    assert_int_equal(packet_parse(&back, frame, n), DROP_BAD_OPCODE);
    assert_int_equal(back.bth.opcode, 0x1f);
    assert_int_equal(back.bth.dest_qpn, 18);
    assert_int_equal(back.bth.psn.v, 0x123456);
    assert_int_equal(back.ip.src[15], 1);
    assert_non_null(back.op);
    assert_null(back.op->name);
}

/* UDP and IP agree that there is less than a BTH and an ICRC, whatever pads the frame. */
static void a_datagram_without_room_for_the_headers_is_short(void **state)
{
    const struct packet p = sample(4, OP_RC_SEND_ONLY, 5);
    uint8_t frame[FRAME_MAX];
    const size_t n = build(&p, frame);

    (void)state;
    for (uint16_t udp = UDP_BYTES; udp < UDP_BYTES + BTH_BYTES + ICRC_BYTES; udp++) {
        struct packet back;

        ipv4_set_payload(frame + ETH_BYTES, udp);
        udp_set_bytes(frame + ETH_BYTES + IPV4_BYTES, udp);
        st_be16(frame + ETH_BYTES + 10, 0);
        st_be16(frame + ETH_BYTES + 10,
                checksum_fold(checksum_add(0, frame + ETH_BYTES, IPV4_BYTES)));
        assert_int_equal(packet_parse(&back, frame, n), DROP_SHORT);
        assert_int_equal(packet_icrc_at(frame, n), 0);
    }
}

static void a_version_other_than_the_ethertypes_is_refused(void **state)
{
    const struct packet p = sample(6, OP_RC_SEND_ONLY, 5);
    uint8_t frame[FRAME_MAX];
    const size_t n = build(&p, frame);
    struct packet back;

    (void)state;
    frame[12] = 0x08;
    frame[13] = 0x00;
    assert_int_equal(packet_parse(&back, frame, n), DROP_BAD_IP_HEADER);
}

static void other_protocols_are_not_roce(void **state)
{
    struct packet p = sample(6, OP_RC_SEND_ONLY, 5);
    uint8_t frame[FRAME_MAX];
    const size_t n = build(&p, frame);
    struct packet back;

    (void)state;
    frame[20] = 58; /* ICMPv6 */
    assert_int_equal(packet_parse(&back, frame, n), DROP_NOT_ROCE);
}

/* A hardware sender sets MigReq and FECN; neither is our business. */
static void marks_of_hardware_are_accepted(void **state)
{
    const struct packet p = sample(4, OP_RC_SEND_ONLY, 5);
    uint8_t frame[FRAME_MAX];
    const size_t n = build(&p, frame);
    struct packet back;

    (void)state;
    frame[43] |= 0x40;
    fix_icrc(frame, n);
    frame[46] |= 0x80; /* after the ICRC was made: a switch does that */
    assert_int_equal(packet_parse(&back, frame, n), DROP_NONE);
    assert_true(back.bth.migrated);
    assert_true(back.bth.fecn);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_from_elsewhere_are_accepted),
        cmocka_unit_test(a_send_is_decoded),
        cmocka_unit_test(an_ack_is_decoded),
        cmocka_unit_test(the_pad_is_not_payload),
        cmocka_unit_test(every_opcode_is_built_and_parsed_back),
        cmocka_unit_test(a_packet_from_elsewhere_is_built_byte_by_byte),
        cmocka_unit_test(the_flush_of_rxe_has_an_icrc_of_its_own),
        cmocka_unit_test(a_path_is_prepared_once_for_all_its_packets),
        cmocka_unit_test(ethernet_padding_is_ignored),
        cmocka_unit_test(each_fault_has_its_name),
        cmocka_unit_test(a_pad_larger_than_the_rest_is_refused),
        cmocka_unit_test(a_udp_length_that_is_not_the_ip_payload_s_is_refused),
        cmocka_unit_test(an_unknown_opcode_leaves_enough_to_answer),
        cmocka_unit_test(a_datagram_without_room_for_the_headers_is_short),
        cmocka_unit_test(a_version_other_than_the_ethertypes_is_refused),
        cmocka_unit_test(other_protocols_are_not_roce),
        cmocka_unit_test(marks_of_hardware_are_accepted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
