/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/wire/pcapng.h"

#define FILE_MAX 200000u

struct file {
    uint8_t bytes[FILE_MAX];
    size_t n;
};

static void put(void *ctx, const void *bytes, size_t n)
{
    struct file *f = ctx;

    assert_true(n <= FILE_MAX - f->n);
    memcpy(f->bytes + f->n, bytes, n);
    f->n += n;
}

static int file_new(void **state)
{
    *state = calloc(1, sizeof(struct file));
    return *state ? 0 : -1;
}

static int file_free(void **state)
{
    free(*state);
    return 0;
}

/* The whole of a small file, written out by hand from the format's description. */
/* clang-format off */
static const uint8_t small_file[] = {
    /* Section header: type, 64 bytes, byte order, version 1.0, length unknown */
    0x0a, 0x0d, 0x0d, 0x0a, 64, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    1, 0, 6, 0, 's', 'e', 'e', 'd', '=', '7', 0, 0,                           /* comment */
    1, 0, 1, 0, 'x', 0, 0, 0,                                                 /* comment */
    4, 0, 7, 0, 'r', 'd', 'm', 'a', 'l', 'a', 'b', 0,                         /* application */
    0, 0, 0, 0, 64, 0, 0, 0,
    /* Interface: 52 bytes, Ethernet, no snap length */
    1, 0, 0, 0, 52, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
    2, 0, 4, 0, 'h', '1', '.', '0',                                           /* name */
    3, 0, 5, 0, 'a', ' ', 'N', 'I', 'C', 0, 0, 0,                             /* description */
    9, 0, 1, 0, 9, 0, 0, 0,                                                   /* nanoseconds */
    0, 0, 0, 0, 52, 0, 0, 0,
    /* Names: 52 bytes, one IPv4, one IPv6 */
    4, 0, 0, 0, 52, 0, 0, 0,
    1, 0, 7, 0, 10, 0, 0, 1, 'h', '1', 0, 0,
    2, 0, 19, 0, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 'h', '2', 0, 0,
    0, 0, 0, 0, 52, 0, 0, 0,
    /* Packet: 68 bytes, interface 0, time 2^32 + 5 ns, 5 bytes, outbound, two comments */
    6, 0, 0, 0, 68, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0,
    1, 2, 3, 4, 5, 0, 0, 0,
    2, 0, 4, 0, 2, 0, 0, 0,                                                   /* flags */
    1, 0, 2, 0, 'w', 'r', 0, 0,                                               /* comment */
    1, 0, 3, 0, 'f', 'l', 't', 0,                                             /* comment */
    0, 0, 0, 0, 68, 0, 0, 0,
};
/* clang-format on */

static void a_small_file_has_these_bytes(void **state)
{
    static const char *const file_comments[] = {"seed=7", "x"};
    static const char *const packet_comments[] = {"wr", "flt"};
    static const struct pcapng_host hosts[] = {
        {{[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1}, "h1"},
        {{0xfe, 0x80, [15] = 1}, "h2"},
    };
    static const uint8_t frame[] = {1, 2, 3, 4, 5};
    struct file *f = *state;
    struct pcapng w;

    pcapng_begin(&w, put, f, file_comments, ARRAY_LEN(file_comments));
    assert_int_equal(pcapng_interface(&w, "h1.0", "a NIC"), 0);
    pcapng_hosts(&w, hosts, ARRAY_LEN(hosts));
    pcapng_packet(&w, &(struct pcapng_packet){.interface = 0,
                                              .at_ns = 0x100000005,
                                              .frame = frame,
                                              .frame_bytes = sizeof(frame),
                                              .direction = PCAPNG_OUTBOUND,
                                              .comments = packet_comments,
                                              .n_comments = ARRAY_LEN(packet_comments)});
    assert_int_equal(f->n, sizeof(small_file));
    assert_memory_equal(f->bytes, small_file, sizeof(small_file));
}

/* Steps through the blocks by their lengths; returns how many there are. */
static unsigned count_blocks(const struct file *f)
{
    unsigned blocks = 0;

    for (size_t at = 0; at < f->n; blocks++) {
        const uint32_t bytes = ld_le32(f->bytes + at + 4);

        assert_true(bytes % 4 == 0 && bytes >= 12 && bytes <= f->n - at);
        assert_int_equal(ld_le32(f->bytes + at + bytes - 4), bytes);
        at += bytes;
    }
    return blocks;
}

static void block_lengths_agree_for_every_alignment(void **state)
{
    static const char *const texts[] = {"", "a", "ab", "abc", "abcd", "abcde"};
    static const uint8_t frame[16];
    struct file *f = *state;
    struct pcapng w;
    unsigned blocks = 1;

    pcapng_begin(&w, put, f, texts, 0);
    for (uint32_t i = 0; i < ARRAY_LEN(texts); i++) {
        assert_int_equal(pcapng_interface(&w, texts[i], texts[ARRAY_LEN(texts) - 1 - i]), i);
        pcapng_hosts(&w, &(struct pcapng_host){.name = texts[i]}, i % 2);
        pcapng_packet(&w, &(struct pcapng_packet){.interface = i,
                                                  .frame = frame,
                                                  .frame_bytes = i,
                                                  .comments = texts,
                                                  .n_comments = i});
        blocks += 3;
    }
    assert_int_equal(count_blocks(f), blocks);
}

static void a_comment_longer_than_its_length_field_is_cut(void **state)
{
    struct file *f = *state;
    char *text = malloc(70001);
    const char *const comments[] = {text};
    struct pcapng w;

    assert_non_null(text);
    memset(text, 'x', 70000);
    text[70000] = '\0';
    pcapng_begin(&w, put, f, comments, 1);
    free(text);
    assert_int_equal(count_blocks(f), 1);
    assert_int_equal(ld_le16(f->bytes + 26), 65535);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_small_file_has_these_bytes, file_new, file_free),
        cmocka_unit_test_setup_teardown(block_lengths_agree_for_every_alignment, file_new,
                                        file_free),
        cmocka_unit_test_setup_teardown(a_comment_longer_than_its_length_field_is_cut, file_new,
                                        file_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
