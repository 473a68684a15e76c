/* SPDX-License-Identifier: MIT */
#include "cli/session/sight.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli_testing.h"
#include "emu/trace/trace.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

#define PATH_BYTES 512u

struct walk {
    const struct rdl_lab *lab;
    struct trace_hash hash;
    char path[PATH_BYTES];
    size_t len;
};

static void add(struct walk *w, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++)
        w->hash.value = (w->hash.value ^ b[i]) * 0x100000001b3u;
}

static void visit(void *ctx, const char *key, const struct rdl_value *v)
{
    struct walk *w = ctx;
    const size_t len = w->len;
    size_t bad;

    add(w, key, strlen(key));
    add(w, &v->number, sizeof(v->number));
    if (v->type == RDL_WORD || v->type == RDL_TEXT || v->type == RDL_NODE)
        add(w, v->text, strlen(v->text));
    if (v->type != RDL_NODE)
        return;
    w->len += (size_t)snprintf(w->path + len, PATH_BYTES - len, "%s%s",
                               len && key[0] != '[' ? "." : "", key);
    assert_true(w->len < PATH_BYTES);
    /* The tree is a few levels deep. */
    assert_int_equal(rdl_inspect_list(w->lab, w->path, visit, w, &bad), RDL_OK);
    w->len = len;
    w->path[len] = '\0';
}

struct sight sight_of(const struct rdl_lab *lab)
{
    struct walk w = {.lab = lab, .hash = TRACE_HASH_START};
    const size_t n = rdl_record_count(lab);
    size_t bad;

    assert_int_equal(rdl_inspect_list(lab, "", visit, &w, &bad), RDL_OK);
    return (struct sight){w.hash.value,
                          rdl_hash(lab),
                          rdl_tick(lab),
                          rdl_now_ns(lab),
                          n ? rdl_record_at(lab, n - 1)->id : 0,
                          rdl_record_forgotten(lab) == 0};
}

/* Is as much recorded, as far as nothing was forgotten? */
static bool is_recorded_as(const struct sight *a, const struct sight *b)
{
    const bool none = a->recorded_last == 0 || b->recorded_last == 0;

    return a->recorded_last == b->recorded_last || (none && (!a->recorded_all || !b->recorded_all));
}

void sight_expect(const struct sight *now, const struct sight *then, const char *what)
{
    if (now->tree == then->tree && now->hash == then->hash && now->tick == then->tick &&
        now->now_ns == then->now_ns && is_recorded_as(now, then))
        return;
    fail_msg("%s: #%llu is not as it was at #%llu: tree %d hash %d time %d record %d are the same",
             what, (unsigned long long)now->tick, (unsigned long long)then->tick,
             now->tree == then->tree, now->hash == then->hash, now->now_ns == then->now_ns,
             is_recorded_as(now, then));
}
