/* SPDX-License-Identifier: MIT */
/* Frames that Linux rxe sent, compared with tshark's decoding.  Neither the bytes nor the numbers
 * were made by this project.
 */
#include "testing.h"

#include <stdio.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/opcode.h"
#include "emu/wire/icrc.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"

#define FRAME_MAX 512u

struct vector {
    const char *name;
    unsigned version; /* of IP */
    uint8_t opcode, pad_bytes;
    uint32_t dest_qpn;
    bool ack_req;
    uint32_t psn;
    uint8_t syndrome;
    uint32_t msn, icrc;
    const char *digits;
};

static const struct vector vectors[] = {
#define FRAME(kind, version, opcode, pad, qpn, ack_req, psn, syndrome, msn, icrc, digits)          \
    {#kind, version, opcode, pad, qpn, ack_req, psn, syndrome, msn, icrc, digits},
#include "../../oracle/vectors/rxe.def"
#undef FRAME
};

/* Decodes the digits of @v into @frame; returns the bytes of the frame. */
static size_t frame_of(const struct vector *v, uint8_t frame[FRAME_MAX])
{
    const size_t n = strlen(v->digits) / 2;

    assert_true(n <= FRAME_MAX);
    for (size_t i = 0; i < n; i++) {
        unsigned byte;

        assert_int_equal(sscanf(v->digits + 2 * i, "%2x", &byte), 1);
        frame[i] = (uint8_t)byte;
    }
    return n;
}

static void every_field_is_what_tshark_reads(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        const struct vector *v = &vectors[i];
        uint8_t frame[FRAME_MAX];
        const size_t n = frame_of(v, frame);
        struct packet p;

        assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
        assert_int_equal(p.ip.version, v->version);
        assert_int_equal(p.bth.opcode, v->opcode);
        assert_int_equal(p.bth.pad_bytes, v->pad_bytes);
        assert_int_equal(p.bth.dest_qpn, v->dest_qpn);
        assert_int_equal(p.bth.ack_req, v->ack_req);
        assert_false(p.bth.migrated); /* TRAIT_MIGREQ_SET is not rxe's */
        assert_int_equal(p.bth.psn.v, v->psn);
        assert_int_equal(p.aeth.syndrome, v->syndrome);
        assert_int_equal(p.aeth.msn, v->msn);
    }
}

static void the_icrc_is_what_rxe_computed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        uint8_t frame[FRAME_MAX];
        const size_t end = frame_of(&vectors[i], frame) - ICRC_BYTES;
        struct rd_cur tail = rd_cur(frame + end, ICRC_BYTES);

        assert_int_equal(rd_be(&tail, ICRC_BYTES), vectors[i].icrc);
        assert_int_equal(icrc_compute(frame + ETH_BYTES, end - ETH_BYTES), ld_le32(frame + end));
    }
}

/* Nothing is lost by decoding: the same frame comes out of the builder. */
static void what_was_parsed_builds_the_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        uint8_t frame[FRAME_MAX], again[FRAME_MAX];
        const size_t n = frame_of(&vectors[i], frame);
        struct packet p;

        assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
        assert_int_equal(packet_frame_bytes(&p), n);
        memcpy(packet_build(&p, again), p.payload, p.payload_bytes);
        packet_finish(again, n);
        assert_memory_equal(again, frame, n);
    }
}

/* What ibv_rc_pingpong sends: 601 bytes 0x7b at a path MTU of 256. */
static void a_message_is_cut_at_the_path_mtu(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
        uint8_t frame[FRAME_MAX];
        const size_t n = frame_of(&vectors[i], frame);
        struct packet p;

        assert_int_equal(packet_parse(&p, frame, n), DROP_NONE);
        if (p.bth.opcode == OP_RC_SEND_FIRST || p.bth.opcode == OP_RC_SEND_MIDDLE)
            assert_int_equal(p.payload_bytes, 256);
        else if (p.bth.opcode == OP_RC_SEND_LAST)
            assert_int_equal(p.payload_bytes, 601 - 2 * 256);
        else
            continue;
        for (uint32_t k = 0; k < p.payload_bytes; k++)
            assert_int_equal(p.payload[k], 0x7b);
    }
}

/* TRAIT_RNR_SILENCES is not rxe's: what followed the refused packet drew a NAK of its own. */
static void an_rnr_nak_is_followed_by_a_sequence_nak(void **state)
{
    unsigned n_pairs = 0;

    (void)state;
    for (size_t i = 0; i + 1 < ARRAY_LEN(vectors); i++) {
        const struct vector *nak = &vectors[i], *rnr = &vectors[i + 1];

        if (strcmp(nak->name, "RC_NAK") != 0 || strcmp(rnr->name, "RC_RNR_NAK") != 0)
            continue;
        assert_int_equal(nak->dest_qpn, rnr->dest_qpn);
        assert_int_equal(nak->psn, rnr->psn);
        n_pairs++;
    }
    assert_int_equal(n_pairs, 2); /* over IPv4 and IPv6 */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_is_what_tshark_reads),
        cmocka_unit_test(the_icrc_is_what_rxe_computed),
        cmocka_unit_test(an_rnr_nak_is_followed_by_a_sequence_nak),
        cmocka_unit_test(what_was_parsed_builds_the_same_bytes),
        cmocka_unit_test(a_message_is_cut_at_the_path_mtu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
