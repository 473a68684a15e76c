/* SPDX-License-Identifier: MIT */
/* Tests of the history of a capture: its packets have the bytes that the file has. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "capture/check.h"
#include "capture/drawn.h"
#include "emu/trace/event.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"

/* A capture of rping, packed by gzip. */
struct rping {
    FILE *f;
    struct check c;
    struct drawn d;
};

static void open_rping(struct rping *r)
{
    const struct check_known known = {
        .limits = {EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN}};
    char name[512];
    struct text t = text_on(name, sizeof(name));

    text_addf(&t, "%s/../../book/rping.pcap.gz", getenv("UNIT_TESTS"));
    r->f = fopen(name, "rb");
    assert_non_null(r->f);
    assert_true(check_file(&r->c, r->f, &known));
    drawn_init(&r->d, &r->c.record, NULL);
}

static void close_rping(struct rping *r)
{
    drawn_done(&r->d);
    check_done(&r->c);
    fclose(r->f);
}

/* Returns the number of sent packets with bytes, which must be those of the packet. */
static size_t count_kept(const struct rping *r, ev_id *ret_first, ev_id *ret_last)
{
    const struct past p = drawn_past(&r->d);
    size_t n_kept = 0;

    *ret_first = *ret_last = 0;
    for (size_t i = 0; i < p.n; i++) {
        const struct ev *e = past_at(&p, i);
        size_t n = 0;
        const uint8_t *bytes = past_frame(&p, e->id, &n);
        struct packet packet;

        assert_true(!bytes || e->kind == EV_tx);
        if (!bytes)
            continue;
        assert_int_equal(packet_parse(&packet, bytes, n), DROP_NONE);
        assert_int_equal(packet.bth.opcode, e->u.tx.opcode);
        assert_int_equal(packet.bth.psn.v, e->u.tx.psn);
        assert_int_equal(packet.bth.dest_qpn, e->u.tx.dest_qpn);
        *ret_first = *ret_first ? *ret_first : e->id;
        *ret_last = e->id;
        n_kept++;
    }
    return n_kept;
}

static void each_packet_has_its_bytes(void **state)
{
    struct rping r;
    ev_id first, last;

    (void)state;
    open_rping(&r);
    assert_int_equal(count_kept(&r, &first, &last), 0);
    assert_true(drawn_past(&r.d).without_frames);
    drawn_keep(&r.d, r.f, 0, 0, SIZE_MAX);
    assert_int_equal(count_kept(&r, &first, &last), r.c.record.n_roce);
    assert_false(drawn_past(&r.d).without_frames);
    close_rping(&r);
}

static void only_the_asked_ones_are_kept(void **state)
{
    struct rping r;
    ev_id first, last, from, to;

    (void)state;
    open_rping(&r);
    drawn_keep(&r.d, r.f, 0, 0, 10);
    assert_int_equal(count_kept(&r, &first, &from), 10);
    close_rping(&r);
    open_rping(&r);
    drawn_keep(&r.d, r.f, 0, 0, 20);
    assert_int_equal(count_kept(&r, &first, &to), 20);
    close_rping(&r);
    open_rping(&r);
    drawn_keep(&r.d, r.f, from, to, SIZE_MAX);
    assert_int_equal(count_kept(&r, &first, &last), 11);
    assert_true(first == from && last == to);
    close_rping(&r);
}

static void what_cannot_be_read_again_has_none(void **state)
{
    struct rping r;
    ev_id first, last;
    FILE *pipe = popen("true", "r"), *empty = tmpfile();

    (void)state;
    assert_non_null(pipe);
    assert_non_null(empty);
    open_rping(&r);
    drawn_keep(&r.d, pipe, 0, 0, SIZE_MAX);
    drawn_keep(&r.d, empty, 0, 0, SIZE_MAX);
    assert_int_equal(count_kept(&r, &first, &last), 0);
    close_rping(&r);
    fclose(empty);
    pclose(pipe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_packet_has_its_bytes),
        cmocka_unit_test(only_the_asked_ones_are_kept),
        cmocka_unit_test(what_cannot_be_read_again_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
