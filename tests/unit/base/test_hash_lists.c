/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <string.h>

#include "emu/base/hash_lists.h"

#define NODES 1000u

/* Few hashes, so that lists have several nodes whatever their number is. */
static uint32_t hash_of(uint32_t i)
{
    return i % 37 * 0x9e3779b9u;
}

static bool is_entered(const struct hash_lists *h, const struct hash_node *node, uint32_t hash)
{
    const struct hash_node *at = hash_lists_first(h, hash);

    while (at && at != node)
        at = at->next;
    return at != NULL;
}

static void what_is_entered_is_found_until_it_is_removed(void **state)
{
    static struct hash_node nodes[NODES];
    struct arena *a = arena_new((size_t)1 << 20);
    struct hash_lists h;

    (void)state;
    assert_non_null(a);
    hash_lists_init(&h, a);
    assert_null(hash_lists_first(&h, 5));
    for (uint32_t i = 0; i < NODES; i++)
        assert_true(hash_lists_add(&h, &nodes[i], hash_of(i)));
    assert_true(h.n == NODES && h.n_lists >= NODES);
    for (uint32_t i = 0; i < NODES; i += 3)
        hash_lists_remove(&h, &nodes[i]);
    assert_int_equal(h.n, NODES - (NODES + 2) / 3);
    for (uint32_t i = 0; i < NODES; i++)
        assert_int_equal(is_entered(&h, &nodes[i], hash_of(i)), i % 3 != 0);
    arena_free(a);
}

static void a_full_arena_leaves_the_lists_as_they_were(void **state)
{
    static struct hash_node nodes[NODES];
    struct arena *a = arena_new(4096);
    struct hash_lists h;
    uint32_t n = 0;

    (void)state;
    assert_non_null(a);
    hash_lists_init(&h, a);
    while (n < NODES && hash_lists_add(&h, &nodes[n], hash_of(n)))
        n++;
    assert_in_range(n, 1, NODES - 1);
    assert_int_equal(h.n, n);
    for (uint32_t i = 0; i < n; i++)
        assert_true(is_entered(&h, &nodes[i], hash_of(i)));
    assert_false(is_entered(&h, &nodes[n], hash_of(n)));
    arena_free(a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_entered_is_found_until_it_is_removed),
        cmocka_unit_test(a_full_arena_leaves_the_lists_as_they_were),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
