/* SPDX-License-Identifier: MIT */
/* The rows of the inspect tree: their texts are sentences, their keys are unambiguous, and every
 * path leads to a row.
 */
#include "testing.h"

#include <ctype.h>
#include <string.h>

#include "emu/facts/leaf.h"

static void assert_sentence(const char *key, const char *text)
{
    if (!text[0] || isspace((unsigned char)text[0]) || text[strlen(text) - 1] == '.')
        fail_msg("%s: \"%s\"", key, text);
}

static void every_row_has_a_sentence(void **state)
{
    (void)state;
    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++)
        assert_sentence(leaf_rows[i].key, leaf_rows[i].text);
    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++)
        assert_sentence("a child", child_rows[i].text);
    for (unsigned i = NODE_none + 1; i < NODE_COUNT; i++)
        assert_sentence(node_rows[i].title, node_rows[i].text);
}

/* What a key of a node finds is its own row: no other row of the node has it. */
static void keys_of_a_node_differ(void **state)
{
    (void)state;
    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++) {
        const struct leaf_row *leaf = &leaf_rows[i];

        if (leaf->flags & (LEAF_LISTED | LEAF_KEYED))
            continue;
        assert_int_equal(leaf_find(leaf->node, leaf->key, strlen(leaf->key)), i);
        assert_int_equal(child_find(leaf->node, leaf->key, strlen(leaf->key)), CHILD_none);
    }
    for (unsigned i = CHILD_none + 1; i < CHILD_COUNT; i++) {
        const struct child_row *child = &child_rows[i];

        enum child_id found;

        if (!child->key)
            continue;
        found = child_find(child->node, child->key, strlen(child->key));
        if (found != i) /* a row EITHER: of another kind, on other devices */
            assert_true(child_rows[found].below != child->below && found < i &&
                        (child->flags & child_rows[found].flags & LEAF_OPTIONAL));
    }
}

static void words_have_their_tables(void **state)
{
    (void)state;
    for (unsigned i = LEAF_none + 1; i < LEAF_COUNT; i++) {
        const struct leaf_row *leaf = &leaf_rows[i];
        const bool wants =
            leaf->type == TYPE_WORD || leaf->type == TYPE_SET || (leaf->flags & LEAF_KEYED) != 0;

        assert_int_equal(leaf->words != NULL, wants);
    }
}

static void paths_lead_where_rows_say(void **state)
{
    static const struct {
        const char *path;
        bool leads;
        size_t at; /* of the word that no row has */
    } rows[] = {
        {"h1", true, 0},
        {"h1.qp.state", true, 0},
        {"qp.state", true, 0}, /* where the host is known */
        {"h1.any.next_psn", true, 0},
        {"h1.any.bogus", false, 7},
        {"h1.qp.state.x", false, 12},
        {"h1.cq.wc[5].status", true, 0},
        {"h1.cq.wc[5].bogus", false, 12},
        {"h1.cq.wc[5].qpn", false, 12}, /* of a queue pair */
        {"h1.qp.sq.number[0]", false, 15},
        {"h1.port.drops.bad_icrc", true, 0},
        {"h1.port.drops.none", false, 14},
        {"h1.counters.sent_pkts", true, 0},
        {"h1.counters.cqn", false, 12}, /* no object can have this name */
        {"h1.gid[0]", true, 0},
        {"h1.gid[0].x", false, 10},
        {"h1.qp.sq.used[3].id", true, 0},
        {"h1-h2.latency", true, 0},
        {"h1.mr[0:64]", true, 0}, /* memory, which is not in the tree */
        {"h1.mr[3]", true, 0},
        {"h1.mr[3].x", false, 5},
        {"cq.wc[5].status", true, 0},
        {"cq.wc[5].bogus", false, 9},
        {"h1.cq.wc[5]status", false, 11}, /* a point is missing */
        {"h1.cq.wc[5].", false, 11},
        {"h1.cq.[5]", false, 5},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct leaf_places places;
        size_t at = 0;
        const bool leads = leaf_path_leads(rows[i].path, &places, &at);

        if (leads != rows[i].leads || (!leads && at != rows[i].at))
            fail_msg("%s: at %zu", rows[i].path, at);
    }
}

static void fixed_keys_are_reserved(void **state)
{
    (void)state;
    assert_non_null(leaf_reserved(NODE_host, "counters"));
    assert_non_null(leaf_reserved(NODE_host, "gid"));
    assert_non_null(leaf_reserved(NODE_host, "mac"));
    assert_null(leaf_reserved(NODE_host, "qp"));
    assert_null(leaf_reserved(NODE_lab, "counters"));
    assert_non_null(leaf_reserved(NODE_drops, "bad_icrc"));
    assert_null(leaf_reserved(NODE_drops, "none"));
}

static void note_key(void *ctx, enum node_kind node, const char *key, const char *text)
{
    assert_int_equal(node, NODE_wc);
    assert_true(text[0] != '\0');
    if (strcmp(key, "status") == 0)
        *(unsigned *)ctx += 1;
    assert_string_not_equal(key, "qpn");
}

static void keys_that_can_follow_are_told(void **state)
{
    struct leaf_places places;
    unsigned n = 0;
    size_t at;

    (void)state;
    assert_true(leaf_path_leads("h1.cq.wc[5]", &places, &at));
    leaf_each_key(&places, note_key, &n);
    assert_int_equal(n, 1);
}

/* An example of where a node is leads to it. */
static void every_node_is_somewhere(void **state)
{
    (void)state;
    for (unsigned i = NODE_lab + 1; i < NODE_COUNT; i++) {
        char buf[64];
        struct text t = text_on(buf, sizeof(buf));
        struct leaf_places places;
        size_t at;

        leaf_example(&t, (enum node_kind)i);
        assert_true(t.len > 0 && !t.cut);
        assert_true(leaf_path_leads(buf, &places, &at));
        if (!node_set_has(&places.nodes, i))
            fail_msg("%s is no %s", buf, node_rows[i].title);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_has_a_sentence),      cmocka_unit_test(every_node_is_somewhere),
        cmocka_unit_test(keys_of_a_node_differ),         cmocka_unit_test(words_have_their_tables),
        cmocka_unit_test(paths_lead_where_rows_say),     cmocka_unit_test(fixed_keys_are_reserved),
        cmocka_unit_test(keys_that_can_follow_are_told),
    };

    return cmocka_run_group_tests_name("leaf", tests, NULL, NULL);
}
