/* SPDX-License-Identifier: MIT */
#include "cli/session/sight.h"

#include <string.h>

#include "cli/cli_testing.h"
#include "emu/trace/event.h"
#include "emu/trace/trace.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

static void add(struct trace_hash *hash, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++)
        hash->value = (hash->value ^ b[i]) * 0x100000001b3u;
}

static void visit(void *ctx, const char *path, const struct rdl_value *v)
{
    add(ctx, path, strlen(path));
    add(ctx, &v->number, sizeof(v->number));
    if (v->type == RDL_WORD || v->type == RDL_TEXT || v->type == RDL_NODE)
        add(ctx, v->text, strlen(v->text));
}

struct sight sight_of(const struct rdl_lab *lab)
{
    struct trace_hash hash = TRACE_HASH_START;
    const size_t n = rdl_record_count(lab);
    size_t bad;

    assert_int_equal(rdl_inspect_below(lab, "", visit, &hash, &bad), RDL_OK);
    return (struct sight){hash.value,
                          rdl_hash(lab),
                          rdl_tick(lab),
                          rdl_now_ns(lab),
                          n ? rdl_record_at(lab, n - 1)->id : 0,
                          rdl_record_forgotten(lab) == 0};
}

/* Returns true if both have the same events recorded, as far as nothing was dropped. */
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
