/* SPDX-License-Identifier: MIT */
/* The fragments of two descriptors.  [O2iblnd to userland, 2.6] */
#include "testing.h"

#include <errno.h>
#include <string.h>

#include "emu/base/prng.h"
#include "lnet/frags.h"
#include "rounds.h"

#define FRAGS_MAX 8u

struct list {
    uint32_t n;
    uint32_t nob[FRAGS_MAX];
};

/* Fragments at 0x10000, 0x20000, ... plus @base. */
static struct frag_list place(const struct list *l, uint64_t base, struct lnet_frag *frags)
{
    for (uint32_t i = 0; i < l->n; i++)
        frags[i] = (struct lnet_frag){l->nob[i], base + (i + 1) * UINT64_C(0x10000)};
    return (struct frag_list){frags, l->n};
}

struct row {
    const char *name;
    struct list src, dst;
    uint32_t bytes, max;
    int status;
    uint32_t n;
    uint32_t pieces[FRAGS_MAX]; /* their lengths */
};

static const struct row rows[] = {
    {.name = "1 x 16K and 4 x 4K, as in the document",
     .src = {1, {16384}},
     .dst = {4, {4096, 4096, 4096, 4096}},
     .bytes = 16384,
     .max = 4,
     .n = 4,
     .pieces = {4096, 4096, 4096, 4096}},
    {.name = "n + m - 1 pieces",
     .src = {3, {100, 100, 100}},
     .dst = {3, {50, 110, 140}},
     .bytes = 300,
     .max = 5,
     .n = 5,
     .pieces = {50, 50, 60, 40, 100}},
    {.name = "one piece too many",
     .src = {3, {100, 100, 100}},
     .dst = {3, {50, 110, 140}},
     .bytes = 300,
     .max = 4,
     .status = -EMSGSIZE},
    {.name = "equal boundaries",
     .src = {2, {7, 9}},
     .dst = {2, {7, 9}},
     .bytes = 16,
     .max = 2,
     .n = 2,
     .pieces = {7, 9}},
    {.name = "less than both have",
     .src = {2, {7, 9}},
     .dst = {1, {100}},
     .bytes = 8,
     .max = 2,
     .n = 2,
     .pieces = {7, 1}},
    {.name = "no byte", .src = {1, {7}}, .dst = {1, {7}}, .bytes = 0, .max = 1},
    {.name = "no byte, no fragment", .bytes = 0, .max = 0},
    {.name = "the source is short",
     .src = {2, {7, 8}},
     .dst = {1, {16}},
     .bytes = 16,
     .max = 8,
     .status = -EPROTO},
    {.name = "the sink is short",
     .src = {1, {16}},
     .dst = {2, {7, 8}},
     .bytes = 16,
     .max = 8,
     .status = -EPROTO},
    {.name = "no source", .dst = {1, {1}}, .bytes = 1, .max = 8, .status = -EPROTO},
    {.name = "empty fragments",
     .src = {5, {0, 4, 0, 0, 4}},
     .dst = {4, {0, 0, 8, 0}},
     .bytes = 8,
     .max = 2,
     .n = 2,
     .pieces = {4, 4}},
    {.name = "only empty fragments",
     .src = {2, {0, 0}},
     .dst = {1, {8}},
     .bytes = 8,
     .max = 2,
     .status = -EPROTO},
};

static void fragments_are_matched(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct row *r = &rows[i];
        struct lnet_frag s[FRAGS_MAX], d[FRAGS_MAX];
        const struct frag_list src = place(&r->src, 0, s), dst = place(&r->dst, 1u << 30, d);
        struct frag_piece pieces[FRAGS_MAX] = {{0}};
        uint32_t n = 77;
        const int st = frags_match(&src, &dst, r->bytes, r->max, pieces, &n);

        if (st != r->status || (st == 0 && n != r->n))
            fail_msg("%s: status %d, %u pieces", r->name, st, n);
        assert_true(st == 0 || n == 77);
        for (uint32_t k = 0; st == 0 && k < n; k++)
            assert_int_equal(pieces[k].bytes, r->pieces[k]);
    }
}

static void the_addresses_of_pieces_go_on_in_their_fragments(void **state)
{
    const struct list a = {2, {100, 100}}, b = {2, {150, 50}};
    struct lnet_frag s[FRAGS_MAX], d[FRAGS_MAX];
    const struct frag_list src = place(&a, 5, s), dst = place(&b, 0, d);
    struct frag_piece p[4];
    uint32_t n;

    (void)state;
    assert_int_equal(frags_match(&src, &dst, 200, 4, p, &n), 0);
    assert_int_equal(n, 3);
    assert_int_equal(p[0].src, 0x10005);
    assert_int_equal(p[0].dst, 0x10000);
    assert_int_equal(p[1].src, 0x20005);
    assert_int_equal(p[1].dst, 0x10000 + 100);
    assert_int_equal(p[2].src, 0x20005 + 50);
    assert_int_equal(p[2].dst, 0x20000);
}

static void pages_are_cut_at_their_boundaries(void **state)
{
    const struct lnet_frag one[] = {{10000, 0x10ff0}};
    const struct frag_list from = {one, 1};
    struct lnet_frag out[8];

    (void)state;
    /* 16 bytes to the end of a page, 4096, and the rest */
    assert_int_equal(frags_extract(&from, 0, 5000, 4096, out, 8), 3);
    assert_int_equal(out[0].nob, 16);
    assert_int_equal(out[1].nob, 4096);
    assert_int_equal(out[1].addr, 0x11000);
    assert_int_equal(out[2].nob, 888);
    assert_int_equal(frags_extract(&from, 0, 5000, 0, out, 8), 1);
    assert_int_equal(frags_extract(&from, 9990, 10, 4096, out, 8), 1);
    assert_int_equal(out[0].addr, 0x10ff0 + 9990);
    assert_int_equal(frags_extract(&from, 9990, 11, 4096, out, 8), 0); /* too short */
    assert_int_equal(frags_extract(&from, 10001, 1, 0, out, 8), 0);
    assert_int_equal(frags_extract(&from, 0, 5000, 4096, out, 2), 0); /* too many */
    assert_int_equal(frags_extract(&from, 0, 0, 0, out, 8), 0);
    assert_int_equal(frags_sum(&from), 10000);
}

static void the_span_has_all_fragments(void **state)
{
    const struct lnet_frag some[] = {{10, 500}, {0, 20}, {5, 100}};
    uint64_t addr, bytes;

    (void)state;
    frags_span(&(struct frag_list){some, 3}, &addr, &bytes);
    assert_int_equal(addr, 20);
    assert_int_equal(bytes, 490);
}

/* ---- against a model that moves single bytes ---- */

static uint32_t draw_list(struct prng *d, uint8_t *space, struct lnet_frag *ret, bool marks)
{
    uint32_t n = 1 + (uint32_t)prng_below(d, FRAGS_MAX), at = 0;
    uint8_t mark = 1;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t gap = (uint32_t)prng_below(d, 3);
        const uint32_t bytes = (uint32_t)prng_below(d, 9);

        at += gap;
        ret[i] = (struct lnet_frag){bytes, at};
        for (uint32_t k = 0; k < bytes; k++)
            space[at + k] = marks ? mark++ : 0xff;
        at += bytes;
    }
    return n;
}

/* Returns byte @i of the list, or -1. */
static int byte_at(const struct frag_list *l, const uint8_t *space, uint32_t i)
{
    for (uint32_t k = 0; k < l->n; k++) {
        if (i < l->frags[k].nob)
            return space[l->frags[k].addr + i];
        i -= l->frags[k].nob;
    }
    return -1;
}

static void one_random_transfer(struct prng *d)
{
    uint8_t from[256] = {0}, to[256] = {0};
    struct lnet_frag s[FRAGS_MAX], t[FRAGS_MAX];
    const struct frag_list src = {s, draw_list(d, from, s, true)};
    const struct frag_list dst = {t, draw_list(d, to, t, false)};
    const uint32_t bytes = (uint32_t)prng_below(d, 50);
    const uint32_t max = (uint32_t)prng_below(d, 20);
    struct frag_piece p[20];
    uint32_t n = 0;
    const int st = frags_match(&src, &dst, bytes, max, p, &n);

    if (st == -EPROTO) {
        assert_true(bytes > frags_sum(&src) || bytes > frags_sum(&dst));
        return;
    }
    assert_true(st == 0 || st == -EMSGSIZE);
    if (st)
        return;
    assert_true(n <= max && n <= src.n + dst.n - 1);
    for (uint32_t i = 0; i < n; i++)
        memcpy(to + p[i].dst, from + p[i].src, p[i].bytes);
    for (uint32_t i = 0; i < bytes; i++)
        assert_int_equal(byte_at(&dst, to, i), byte_at(&src, from, i));
    for (uint32_t i = bytes; i < frags_sum(&dst); i++)
        assert_int_equal(byte_at(&dst, to, i), 0xff);
}

static void transfers_move_each_byte_to_its_place(void **state)
{
    struct prng d = prng_stream(1, 0);

    (void)state;
    for (unsigned i = 0; i < n_rounds(20000); i++)
        one_random_transfer(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fragments_are_matched),
        cmocka_unit_test(the_addresses_of_pieces_go_on_in_their_fragments),
        cmocka_unit_test(pages_are_cut_at_their_boundaries),
        cmocka_unit_test(the_span_has_all_fragments),
        cmocka_unit_test(transfers_move_each_byte_to_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
