/* SPDX-License-Identifier: MIT */
/* Tests of random worlds: drawing, leaving out parts, and reduction. */
#include <stdlib.h>
#include <string.h>

#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wire_field.h"
#include "process/must.h"
#include "swarm/worlds/matrix.h"
#include "swarm/worlds/shrink.h"
#include "swarm/worlds/world_try.h"
#include "testing.h"

#define SEEDS 20u

struct fixture {
    struct world *w;
    struct world_run *r;
};

static int set_up(void **state)
{
    struct fixture *f = must_malloc(sizeof(*f));

    f->w = must_malloc(sizeof(*f->w));
    f->r = must_malloc(sizeof(*f->r));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->w);
    free(f->r);
    free(f);
    return 0;
}

/* Returns the number of messages that @end posts. */
static uint32_t messages(const struct world *w, uint32_t end)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < w->n_items; i++)
        n += !w->item[i].is_recv && w->item[i].end == end && !w->item[i].is_spare;
    return n;
}

static void a_world_has_enough_to_do(void **state)
{
    struct fixture *f = *state;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        world_draw(f->w, seed, seed % 2 == 0);
        assert_in_range(f->w->n_hosts, 2, seed % 2 == 0 ? 2 : WORLD_HOSTS_MAX);
        for (uint32_t i = 0; i < f->w->n_ends && f->w->n_items < WORLD_ITEMS_MAX / 2; i++)
            assert_in_range(messages(f->w, i), 20, UINT32_MAX);
    }
}

/* Every kind of fault, of frames and of queues, is drawn by some seed. */
static void each_kind_of_fault_is_drawn(void **state)
{
    struct fixture *f = *state;
    unsigned kinds = 0, links = 0, aims = 0, n_injected = 0, n_fields = 0;
    unsigned queues = 0, n_buffers = 0;

    for (uint64_t seed = 1; seed <= 10 * SEEDS; seed++) {
        world_draw(f->w, seed, false);
        for (uint32_t i = 0; i < f->w->n_faults; i++) {
            const struct world_fault *fault = &f->w->fault[i];

            kinds |= 1u << fault->kind | 1u << fault->device.kind;
            aims |= (fault->transmission ? 1u : 0) | (fault->message ? 2u : 0) |
                    (fault->is_on_link ? 4u : 0) | (fault->is_long ? 8u : 0);
            if (fault->device.kind != FLT_NONE)
                queues |= fault->device.of_receives ? 1u : 2u;
            n_fields += fault->kind == FLT_CORRUPT && fault->field;
        }
        for (uint32_t i = 0; i < f->w->n_hosts; i++) {
            links |= (f->w->host[i].jitter_ns ? 1u : 0) | (f->w->host[i].burst_ppm ? 2u : 0);
            n_buffers += f->w->host[i].rx_buffer > 0;
        }
        for (uint32_t i = 0; i < f->w->n_deeds; i++)
            n_injected += f->w->deed[i].kind == DO_INJECT;
    }
    assert_int_equal(kinds, 1u << FLT_NONE | 1u << FLT_LOST_KICK | 1u << FLT_STUCK_QUEUE |
                                1u << FLT_LOST_INTERRUPT | 1u << FLT_DROP | 1u << FLT_DUPLICATE |
                                1u << FLT_DELAY | 1u << FLT_CORRUPT | 1u << FLT_REORDER |
                                1u << FLT_TRUNCATE | 1u << FLT_MARK | 1u << FLT_FORGE);
    assert_int_equal(aims, 15);
    assert_int_equal(links, 3);
    assert_int_equal(queues, 3);
    assert_true(n_injected > 0 && n_fields > 0 && n_buffers > 0);
}

/* A receiver would accept damaged bytes with a correct ICRC, and the model knows only what was
 * posted.
 */
static void what_is_damaged_is_not_made_right_again(void **state)
{
    struct fixture *f = *state;
    unsigned n_met = 0;

    for (uint64_t seed = 1; seed <= 100 * SEEDS; seed++) {
        world_draw(f->w, seed, false);
        for (uint32_t i = 0; i < f->w->n_faults * f->w->n_faults; i++) {
            const struct world_fault *a = &f->w->fault[i / f->w->n_faults];
            const struct world_fault *b = &f->w->fault[i % f->w->n_faults];

            if (a->kind != FLT_FORGE || b->kind != FLT_CORRUPT || a->from != b->from)
                continue;
            if (a->opcode == b->opcode || a->opcode == RDL_ANY || b->opcode == RDL_ANY) {
                assert_int_equal(a->field, WF_ICRC);
                n_met++;
            }
        }
    }
    assert_true(n_met > 0);
}

/* These worlds failed once, each for a different reason. */
static void worlds_that_went_wrong_do_not(void **state)
{
    static const uint64_t seeds[] = {
        38598, 67262, /* an injected packet goes behind a long frame on its line */
        73464, 84085, /* a damaged packet is forged, and gets a correct ICRC again */
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
        struct world_try how = {0};

        world_draw(f->w, seeds[i], false);
        assert_true(world_try(f->w, f->r, &how));
    }
}

/* No two items share a byte, unless one uses the place of the other again. */
static void pieces_do_not_overlap(void **state)
{
    struct fixture *f = *state;

    for (uint64_t seed = 1; seed <= 5; seed++) {
        uint8_t *owner[WORLD_HOSTS_MAX] = {NULL};

        world_draw(f->w, seed, false);
        for (uint32_t h = 0; h < f->w->n_hosts; h++) {
            owner[h] = must_malloc(f->w->host[h].memory_bytes);
            memset(owner[h], 0, f->w->host[h].memory_bytes);
        }
        for (uint32_t i = 0; i < f->w->n_items; i++) {
            const struct world_item *t = &f->w->item[i];
            uint8_t *m = owner[f->w->end[t->end].host];

            for (uint32_t p = 0; p < t->n_pieces && t->mistake == RIGHT; p++) {
                for (uint32_t k = 0; k < t->piece[p].bytes; k++)
                    assert_int_equal(m[t->piece[p].at + k]++, 0);
            }
        }
        for (uint32_t h = 0; h < f->w->n_hosts; h++)
            free(owner[h]);
    }
}

/* The devices come from a stream of their own: what was drawn before stays, but for what PVRDMA
 * does not have.
 */
static void worlds_of_two_devices_ask_for_what_both_have(void **state)
{
    struct fixture *f = *state;
    unsigned n_pvrdma = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world_try how = {0};
        uint32_t n_items;

        world_draw(f->w, seed, false);
        n_items = f->w->n_items;
        world_draw_devices(f->w);
        assert_int_equal(f->w->n_items, n_items);
        for (uint32_t i = 0; i < n_items; i++) {
            const struct world_item *t = &f->w->item[i];

            if (f->w->host[f->w->end[t->end].host].device != DEVICE_pvrdma)
                continue;
            n_pvrdma++;
            assert_int_equal(t->flags & SF_INLINE, 0);
            assert_int_not_equal(f->w->end[t->end].type, QPT_UC);
        }
        if (!world_try(f->w, f->r, &how))
            fail_msg("seed %u: %s", (unsigned)seed, f->r->wrong);
    }
    assert_true(n_pvrdma > 0);
}

/* Programs do not see machines: what was drawn before stays, and the model knows nothing of them.
 * Only a world that had no switch has one, where the cable of its machine ends.
 */
static void worlds_on_machines_ask_for_the_same(void **state)
{
    struct fixture *f = *state;
    struct world *before = must_malloc(sizeof(*before));
    unsigned n_guests = 0, n_vrnics = 0, n_large = 0;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world_try how = {0};

        world_draw(f->w, seed, false);
        world_draw(before, seed, false);
        world_draw_machines(f->w);
        assert_int_equal(f->w->n_items, before->n_items);
        assert_int_equal(f->w->n_deeds, before->n_deeds);
        for (uint32_t i = 0; i < f->w->n_deeds; i++) {
            assert_int_equal(f->w->deed[i].kind, before->deed[i].kind);
            assert_int_equal(f->w->deed[i].who, before->deed[i].who);
        }
        for (uint32_t h = 0; h < f->w->n_hosts; h++) {
            const struct world_place *p = &f->w->host[h].place;

            n_guests += p->on > 0;
            n_vrnics += p->on > 0 && p->has_vrnic;
            n_large += p->vfs == WORLD_VFS_MAX;
            assert_true(p->on == 0 || (p->on <= h && f->w->host[p->on - 1].place.vfs > p->vf));
        }
        if (!world_try(f->w, f->r, &how))
            fail_msg("seed %u: %s", (unsigned)seed, f->r->wrong);
    }
    free(before);
    assert_true(n_vrnics > 0 && n_vrnics < n_guests && n_large > 0);
}

/* Virtual RNICs have several functions, share them, and move; there are machines with too few. */
static void all_kinds_of_virtual_rnics_are_drawn(void **state)
{
    struct fixture *f = *state;
    unsigned n_several = 0, n_with = 0, n_moved = 0, n_full[3] = {0};

    for (uint64_t seed = 1; seed <= 500; seed++) {
        world_draw(f->w, seed, false);
        world_draw_machines(f->w);
        for (uint32_t h = 0; h < f->w->n_hosts; h++) {
            const struct world_place *p = &f->w->host[h].place;

            n_several += p->on > 0 && p->functions > 1;
            n_with += p->with > 0;
            n_moved += p->from > 0;
            n_full[p->when_full] += p->vfs > 0;
        }
    }
    assert_true(n_several > 20 && n_with > 5 && n_moved > 5);
    assert_true(n_full[0] > 20 && n_full[1] > 20 && n_full[2] > 20);
}

/* These worlds failed once: a CQ was armed again before its notification was taken. */
static void notifications_of_an_earlier_arming_count(void **state)
{
    static const uint64_t seeds[] = {672, 4953, 5059};
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(seeds); i++) {
        struct world_try how = {0};

        world_draw(f->w, seeds[i], false);
        world_draw_devices(f->w);
        assert_true(world_try(f->w, f->r, &how));
    }
}

static void a_world_ends_alike_each_time(void **state)
{
    struct fixture *f = *state;

    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct world_try first = {0}, again = {0};

        world_draw(f->w, seed, true);
        assert_true(world_try(f->w, f->r, &first));
        assert_true(world_try(f->w, f->r, &again));
        assert_int_equal(first.ret_hash, again.ret_hash);
        assert_int_not_equal(first.ret_hash, 0);
    }
}

/* Any deeds can be left out. */
static void each_part_of_a_world_is_one(void **state)
{
    struct fixture *f = *state;

    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world_try how = {0};
        uint32_t n = 0;

        world_draw(f->w, seed, false);
        for (uint32_t i = 0; i < f->w->n_deeds; i++) {
            if ((i * 7 + seed) % 3 != 0)
                f->w->deed[n++] = f->w->deed[i];
        }
        f->w->n_deeds = n;
        if (!world_try(f->w, f->r, &how))
            fail_msg("seed %u: %s", (unsigned)seed, f->r->wrong);
    }
}

struct counts {
    uint32_t cells, of_four; /* of_four: cells of a SEND of four packets of 256 bytes */
};

static bool count(void *ctx, const struct matrix_cell *c)
{
    struct counts *n = ctx;

    assert_int_equal(c->number, ++n->cells);
    n->of_four += c->type == QPT_RC && c->opcode == WR_SEND && c->path_mtu == MTU_256 &&
                  c->bytes == 769 && !c->has_srq && !c->wraps;
    return true;
}

/* No fault, and four faults on each of four packets and on their acknowledgment. */
static void the_matrix_hits_each_packet(void **state)
{
    struct counts n = {0};

    (void)state;
    matrix_walk(count, &n);
    assert_int_equal(n.of_four, 1 + 4 * 5);
    assert_in_range(n.cells, 10000, 100000);
}

/* A request that claims to have a valid key, and has not, is all that is left of a world. */
static void what_goes_wrong_is_made_small(void **state)
{
    struct fixture *f = *state;
    struct world_try how = {0};
    uint64_t seed = 0;
    uint32_t before, bad = WORLD_ITEMS_MAX;

    do {
        world_draw(f->w, ++seed, true);
        bad = 0;
        while (bad < f->w->n_items &&
               (f->w->item[bad].opcode != WR_RDMA_READ || f->w->item[bad].mistake != RIGHT ||
                f->w->item[bad].bytes == 0 || f->w->item[bad].again != WORLD_NONE ||
                f->w->item[bad].key != KEY_OPEN))
            bad++;
        if (bad < f->w->n_items)
            f->w->item[bad].key = KEY_MINE; /* which permits no remote access */
    } while (bad == f->w->n_items || world_try(f->w, f->r, &how));
    before = f->w->n_deeds;
    assert_in_range(world_shrink(f->w, f->r, 2000), 1, 2000);
    assert_non_null(f->r->wrong);
    assert_in_range(f->w->n_deeds, 1, 8);
    assert_in_range(before, 50, UINT32_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_world_has_enough_to_do, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_kind_of_fault_is_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_damaged_is_not_made_right_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(worlds_that_went_wrong_do_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(pieces_do_not_overlap, set_up, tear_down),
        cmocka_unit_test_setup_teardown(worlds_of_two_devices_ask_for_what_both_have, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(worlds_on_machines_ask_for_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_kinds_of_virtual_rnics_are_drawn, set_up, tear_down),
        cmocka_unit_test_setup_teardown(notifications_of_an_earlier_arming_count, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_world_ends_alike_each_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_part_of_a_world_is_one, set_up, tear_down),
        cmocka_unit_test(the_matrix_hits_each_packet),
        cmocka_unit_test_setup_teardown(what_goes_wrong_is_made_small, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
