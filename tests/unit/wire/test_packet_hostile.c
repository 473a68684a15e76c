/* SPDX-License-Identifier: MIT */
/* packet_parse() stays inside the frame for any bytes.  Each frame is an allocation of exactly its
 * length, so that the address sanitizer detects reads beyond it.  Where such a read would have no
 * other effect, the frame ends at the end of mapped memory.
 */
#include "testing.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/base/cursor.h"
#include "emu/base/prng.h"
#include "emu/facts/enum/opcode.h"
#include "emu/wire/icrc.h"
#include "emu/wire/parse.h"
#include "frames.h"

#define MUTATIONS 200000u
#define FLIPS_MAX 8u

/* Parses a copy of exactly @n bytes; an accepted payload must lie in it. */
static enum drop_reason parse_exact(const uint8_t *frame, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1);
    struct packet p;
    enum drop_reason why;

    assert_non_null(copy);
    memcpy(copy, frame, n);
    why = packet_parse(&p, n ? copy : copy + 1, n);
    assert_true(why < DROP_COUNT);
    if (why == DROP_NONE) {
        assert_true(p.payload >= copy);
        assert_true(p.payload + p.payload_bytes + p.bth.pad_bytes + ICRC_BYTES <= copy + n);
        assert_non_null(p.op->name);
    }
    free(copy);
    return why;
}

static void every_truncation_of_every_opcode_is_refused(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 256; code++) {
        for (unsigned version = 4; version <= 6; version += 2) {
            struct packet p = sample(version, (uint8_t)code, 5);
            uint8_t frame[FRAME_MAX];
            size_t n;

            if (!op_info((uint8_t)code)->name)
                continue;
            n = build(&p, frame);
            for (size_t cut = 0; cut < n; cut++)
                assert_int_not_equal(parse_exact(frame, cut), DROP_NONE);
            assert_int_equal(parse_exact(frame, n), DROP_NONE);
        }
    }
}

/* Lengths and checksums are made to fit, so that the truncation reaches the innermost headers. */
static void headers_that_end_inside_a_consistent_packet_are_short(void **state)
{
    (void)state;
    for (unsigned code = 0; code < 256; code++) {
        const struct op_info *op = op_info((uint8_t)code);
        struct packet p = sample(6, OP_RC_SEND_ONLY, 0);

        if (!op->name)
            continue;
        for (p.payload_bytes = 0; p.payload_bytes < op_headers_bytes(op->headers) + 8;
             p.payload_bytes += 4) {
            uint8_t frame[FRAME_MAX];
            const size_t n = build(&p, frame);
            const bool fits = p.payload_bytes >= op_headers_bytes(op->headers);

            frame[ETH_BYTES + IPV6_BYTES + UDP_BYTES] = (uint8_t)code;
            st_le32(frame + n - ICRC_BYTES,
                    icrc_compute(frame + ETH_BYTES, n - ETH_BYTES - ICRC_BYTES));
            assert_int_equal(parse_exact(frame, n), fits ? DROP_NONE : DROP_SHORT);
        }
    }
}

/* With the ICRC made right again for most of them, or nothing behind it would ever be reached. */
static void random_damage_never_reads_outside_the_frame(void **state)
{
    struct prng r = prng_stream(1, 0);
    unsigned seen[DROP_COUNT] = {0};

    (void)state;
    for (uint32_t i = 0; i < MUTATIONS; i++) {
        const unsigned version = prng_below(&r, 2) ? 4 : 6;
        uint8_t code = (uint8_t)prng_below(&r, 0x82);
        uint8_t frame[FRAME_MAX];
        struct packet p;
        size_t n;

        while (!op_info(code)->name)
            code = (uint8_t)prng_below(&r, 0x82);
        p = sample(version, code, (uint32_t)prng_below(&r, 40));
        n = build(&p, frame);
        for (uint64_t flips = prng_below(&r, FLIPS_MAX) + 1; flips > 0; flips--) {
            /* Mostly behind the IP header: its checksum would stop the rest. */
            const size_t from = prng_below(&r, 8) ? ETH_BYTES + ip_header_bytes(version) : 0;
            const size_t at = from + prng_below(&r, n - from);

            frame[at] ^= (uint8_t)(1u << prng_below(&r, 8));
        }
        if (prng_below(&r, 4) && frame[ETH_BYTES] >> 4 == version)
            st_le32(frame + n - ICRC_BYTES,
                    icrc_compute(frame + ETH_BYTES, n - ETH_BYTES - ICRC_BYTES));
        seen[parse_exact(frame, n)]++;
    }
    assert_true(seen[DROP_NONE] > 0);
    assert_true(seen[DROP_BAD_OPCODE] > 0);
    assert_true(seen[DROP_BAD_PAD] > 0);
    assert_true(seen[DROP_BAD_VERSION] > 0);
    assert_true(seen[DROP_SHORT] > 0);
    assert_true(seen[DROP_BAD_ICRC] > 0);
}

static void random_bytes_are_refused(void **state)
{
    struct prng r = prng_stream(1, 1);

    (void)state;
    for (uint32_t i = 0; i < MUTATIONS / 4; i++) {
        uint8_t frame[128];
        const size_t n = prng_below(&r, sizeof(frame) + 1);

        for (size_t k = 0; k < n; k++)
            frame[k] = (uint8_t)prng_next(&r);
        if (n > ETH_BYTES) { /* an IP packet, at least at first sight */
            frame[12] = 0x86;
            frame[13] = 0xdd;
            frame[14] = 0x60;
        }
        assert_int_not_equal(parse_exact(frame, n), DROP_NONE);
    }
}

/* Parses a copy of the @n bytes at @frame behind which is no memory. */
static enum drop_reason parse_at_the_edge(const uint8_t *frame, size_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages =
        mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct packet ignored;
    enum drop_reason why;

    assert_true(pages != MAP_FAILED && n <= page);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    memcpy(pages + page - n, frame, n);
    why = packet_parse(&ignored, pages + page - n, n);
    assert_int_equal(munmap(pages, 2 * page), 0);
    return why;
}

/* An IPv4 header that is right in itself, for @payload_bytes of UDP, of which @there are there. */
static enum drop_reason parse_announced(uint16_t payload_bytes, size_t there, uint16_t id)
{
    struct packet p = sample(4, OP_RC_SEND_ONLY, 0);
    uint8_t frame[FRAME_MAX];
    struct wr_cur ip = wr_cur(frame + ETH_BYTES, IPV4_BYTES);

    build(&p, frame);
    p.ip.id = id;
    p.ip.protocol = IP_PROTOCOL_UDP;
    p.ip.payload_bytes = payload_bytes;
    ip_build(&p.ip, &ip);
    udp_set_bytes(frame + ETH_BYTES + IPV4_BYTES, payload_bytes);
    return parse_at_the_edge(frame, ETH_BYTES + IPV4_BYTES + there);
}

static void an_ip_packet_too_short_for_what_follows_is_short(void **state)
{
    (void)state;
    for (uint16_t n = 0; n < UDP_BYTES + BTH_BYTES + ICRC_BYTES; n++)
        assert_int_equal(parse_announced(n, n, 0), DROP_SHORT);
}

/* Whatever stands behind the length, which is the identification. */
static void an_ip_packet_that_ends_before_it_says_so_is_refused(void **state)
{
    const size_t there = UDP_BYTES + BTH_BYTES + ICRC_BYTES;

    (void)state;
    for (uint32_t id = 0; id <= UINT16_MAX; id += 0x100) {
        assert_int_equal(parse_announced(0x100 - IPV4_BYTES, there, (uint16_t)id),
                         DROP_BAD_IP_HEADER);
        assert_int_equal(parse_announced((uint16_t)(there + 1), there, (uint16_t)id),
                         DROP_BAD_IP_HEADER);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_of_every_opcode_is_refused),
        cmocka_unit_test(headers_that_end_inside_a_consistent_packet_are_short),
        cmocka_unit_test(random_damage_never_reads_outside_the_frame),
        cmocka_unit_test(random_bytes_are_refused),
        cmocka_unit_test(an_ip_packet_too_short_for_what_follows_is_short),
        cmocka_unit_test(an_ip_packet_that_ends_before_it_says_so_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
