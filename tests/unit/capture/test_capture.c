/* SPDX-License-Identifier: MIT */
/* Tests of reading captures of both formats and byte orders, and of files that are no captures. */
#include "testing.h"

#include <string.h>

#include "capture/capture.h"
#include "emu/base/assert.h"

#define FILE_MAX 1024u

/* A file that a test writes byte by byte, in either byte order. */
struct file {
    uint8_t v[FILE_MAX];
    size_t n;
    bool big;
};

static void put(struct file *f, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        f->v[f->n++] = (uint8_t)(v >> 8 * (f->big ? bytes - 1 - i : i));
}

static void pcap_head(struct file *f, uint32_t magic, uint32_t link)
{
    put(f, magic, 4);
    put(f, 2, 2);
    put(f, 4, 2);
    put(f, 0, 8);
    put(f, 262144, 4);
    put(f, link, 4);
}

static void pcap_frame(struct file *f, uint32_t seconds, uint32_t rest, uint32_t n, uint32_t wire)
{
    put(f, seconds, 4);
    put(f, rest, 4);
    put(f, n, 4);
    put(f, wire, 4);
    for (uint32_t i = 0; i < n; i++)
        put(f, i, 1);
}

static void ng_section(struct file *f)
{
    put(f, 0x0a0d0d0a, 4);
    put(f, 28, 4);
    put(f, 0x1a2b3c4d, 4);
    put(f, 1, 2);
    put(f, 0, 2);
    put(f, UINT64_MAX, 8);
    put(f, 28, 4);
}

/* Writes an interface with the time resolution @resolution; 0: without that option. */
static void ng_interface(struct file *f, uint32_t link, uint32_t resolution)
{
    const uint32_t bytes = resolution ? 32 : 20;

    put(f, 1, 4);
    put(f, bytes, 4);
    put(f, link, 2);
    put(f, 0, 2);
    put(f, 0, 4);
    if (resolution) {
        put(f, 9, 2);
        put(f, 1, 2);
        put(f, resolution, 1);
        put(f, 0, 3);
        put(f, 0, 4);
    }
    put(f, bytes, 4);
}

/* Writes a frame of four bytes; @flags 0: without flags. */
static void ng_frame(struct file *f, uint32_t interface, uint64_t ticks, uint32_t flags)
{
    const uint32_t bytes = flags ? 48 : 36;

    put(f, 6, 4);
    put(f, bytes, 4);
    put(f, interface, 4);
    put(f, ticks >> 32, 4);
    put(f, ticks & UINT32_MAX, 4);
    put(f, 4, 4);
    put(f, 60, 4);
    put(f, 0xabcdef01, 4);
    if (flags) {
        put(f, 2, 2);
        put(f, 4, 2);
        put(f, flags, 4);
        put(f, 0, 4);
    }
    put(f, bytes, 4);
}

static FILE *opened(const struct file *f)
{
    FILE *out = tmpfile();

    assert_non_null(out);
    assert_int_equal(fwrite(f->v, 1, f->n, out), f->n);
    rewind(out);
    return out;
}

static void pcap_of_either_order_and_resolution_is_read(void **state)
{
    static const struct {
        uint32_t magic;
        bool big;
        uint64_t at_ns;
    } rows[] = {
        {0xa1b2c3d4, false, 5000000777000},
        {0xa1b2c3d4, true, 5000000777000},
        {0xa1b23c4d, false, 5000000000777},
        {0xa1b23c4d, true, 5000000000777},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct file f = {.big = rows[i].big};
        struct capture_frame frame;
        struct capture c;
        FILE *in;

        pcap_head(&f, rows[i].magic, CAPTURE_ETHERNET);
        pcap_frame(&f, 5000, 777, 3, 60);
        pcap_frame(&f, 5000, 778, 0, 0);
        in = opened(&f);
        assert_true(capture_begin(&c, in));
        assert_int_equal(capture_next(&c, &frame), CAPTURE_FRAME);
        assert_int_equal(frame.number, 1);
        assert_int_equal(frame.at_ns, rows[i].at_ns);
        assert_int_equal(frame.link, CAPTURE_ETHERNET);
        assert_int_equal(frame.n_bytes, 3);
        assert_int_equal(frame.n_on_wire, 60);
        assert_int_equal(frame.bytes[2], 2);
        assert_int_equal(capture_next(&c, &frame), CAPTURE_FRAME);
        assert_int_equal(capture_next(&c, &frame), CAPTURE_END);
        assert_false(c.was_cut);
        capture_done(&c);
        fclose(in);
    }
}

static void pcapng_of_either_order_is_read(void **state)
{
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        struct file f = {.big = big};
        struct capture_frame frame;
        struct capture c;
        FILE *in;

        ng_section(&f);
        ng_interface(&f, CAPTURE_ETHERNET, 0);
        ng_interface(&f, CAPTURE_LINUX_SLL, 9);
        ng_interface(&f, CAPTURE_RAW, 0x80 | 10); /* 1024 ticks per second */
        ng_frame(&f, 0, 3000001, 1);
        ng_frame(&f, 1, 3000001, 0);
        ng_frame(&f, 2, 2560, 2);
        in = opened(&f);
        assert_true(capture_begin(&c, in));
        assert_int_equal(capture_next(&c, &frame), CAPTURE_FRAME);
        assert_int_equal(frame.at_ns, 3000001000);
        assert_int_equal(frame.direction, CAPTURE_INBOUND);
        assert_int_equal(frame.n_bytes, 4);
        assert_int_equal(frame.n_on_wire, 60);
        assert_int_equal(capture_next(&c, &frame), CAPTURE_FRAME);
        assert_int_equal(frame.at_ns, 3000001);
        assert_int_equal(frame.link, CAPTURE_LINUX_SLL);
        assert_int_equal(frame.direction, CAPTURE_UNKNOWN);
        assert_int_equal(capture_next(&c, &frame), CAPTURE_FRAME);
        assert_int_equal(frame.at_ns, 2500000000);
        assert_int_equal(frame.direction, CAPTURE_OUTBOUND);
        assert_int_equal(capture_next(&c, &frame), CAPTURE_END);
        capture_done(&c);
        fclose(in);
    }
}

/* A truncated file is read up to its end or refused.  Reads never go beyond the end. */
static void a_file_may_end_anywhere(void **state)
{
    struct file f = {.big = false};
    size_t whole;

    (void)state;
    ng_section(&f);
    ng_interface(&f, CAPTURE_ETHERNET, 9);
    ng_frame(&f, 0, 1, 0);
    ng_frame(&f, 0, 2, 1);
    whole = f.n;
    for (f.n = 0; f.n < whole; f.n++) {
        struct capture_frame frame;
        enum capture_result result = CAPTURE_END;
        struct capture c;
        FILE *in = opened(&f);

        if (capture_begin(&c, in)) {
            while ((result = capture_next(&c, &frame)) == CAPTURE_FRAME)
                ;
            assert_int_equal(result, CAPTURE_END);
            assert_true(c.was_cut || f.n == 28 || f.n == 60 || f.n == 96);
        } else {
            assert_true(f.n < 28);
            assert_true(c.wrong[0] != '\0');
        }
        capture_done(&c);
        fclose(in);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        size_t at; /* offset of the byte that is changed */
        uint8_t to;
    } rows[] = {
        {4, 29},       /* the length of the section is not a multiple of four */
        {8, 0},        /* its byte order is unknown */
        {28 + 4, 8},   /* a block that is shorter than its header */
        {28 + 7, 1},   /* a block that is too long */
        {28 + 28, 36}, /* the two lengths of a block differ */
        {60 + 8, 1},   /* the interface of a frame does not exist */
        {60 + 20, 99}, /* a frame that is longer than its block */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct file f = {.big = false};
        struct capture_frame frame;
        struct capture c;
        FILE *in;

        ng_section(&f);
        ng_interface(&f, CAPTURE_ETHERNET, 9);
        ng_frame(&f, 0, 1, 0);
        f.v[rows[i].at] = rows[i].to;
        in = opened(&f);
        if (capture_begin(&c, in))
            assert_int_equal(capture_next(&c, &frame), CAPTURE_BAD);
        assert_true(strstr(c.wrong, "at byte") != NULL);
        capture_done(&c);
        fclose(in);
    }
}

static void the_capture_program_says_what_it_lost(void **state)
{
    struct file f = {.big = false};
    struct capture_frame frame;
    struct capture c;
    FILE *in;

    (void)state;
    ng_section(&f);
    ng_interface(&f, CAPTURE_ETHERNET, 9);
    put(&f, 5, 4);
    put(&f, 40, 4);
    put(&f, 0, 4);
    put(&f, 0, 8);
    put(&f, 5, 2);
    put(&f, 8, 2);
    put(&f, 7, 8);
    put(&f, 0, 4);
    put(&f, 40, 4);
    in = opened(&f);
    assert_true(capture_begin(&c, in));
    assert_int_equal(capture_next(&c, &frame), CAPTURE_END);
    assert_true(c.tells_dropped);
    assert_int_equal(c.dropped, 7);
    capture_done(&c);
    fclose(in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcap_of_either_order_and_resolution_is_read),
        cmocka_unit_test(pcapng_of_either_order_is_read),
        cmocka_unit_test(a_file_may_end_anywhere),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(the_capture_program_says_what_it_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
