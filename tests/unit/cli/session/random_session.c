/* SPDX-License-Identifier: MIT */
#include "cli/session/random_session.h"

#include <string.h>
#include <unistd.h>

#include "cli/cmd/dispatch.h"
#include "cli/session/files.h"
#include "emu/trace/trace.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

#define PATIENCE   2000u /* ticks of a statement that is not cut short on purpose */
#define DEPTH      3u
#define PATH_BYTES 512u

/* In all of these @ is the number of a host, $ a small number, ~ a larger one. */
static const char setup[] =
    "host h1 h2 ram=1m; link h1 h2 latency=$us\n"
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr; create_cq cqe=16 as cq\n"
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
    "connect h1.qp h2.qp timeout=4\n";

#define TO_A_STRANGER                                                                              \
    "modify_qp h@.qp state=RTR ah=10.0.0.9 mtu=1024 dest_qpn=2 rq_psn=0 max_dest_rd_atomic=1 "     \
    "min_rnr_timer=12"

static const char *const anywhere[] = {
    "run",
    "run $us",
    "run ~us",
    "step tick ~",
    "step packet $1",
    "step timer",
    "until t > ~us timeout=$us",
    "until count(tx) > ~ timeout=~us",
    "until h1.cq.wc[0].status == SUCCESS timeout=~us",
    "until h1.nothing.qpn == 1 timeout=~us",
    "ping h@ h@",
    "ping h@ 10.0.0.9 timeout=~us",
    "ping h1 h2 count=3 interval=~us",
    "alloc_pd h@ as p$",
    "dealloc_pd h@.p$",
    "create_cq h@ as c$",
    "create_cq h@ cqe=20000 as c$",
    "destroy_cq h@.c$",
    "reg_mr h@.pd len=~k as m$",
    "reg_mr h@.pd len=4k access=rw as m$",
    "reg_mr h@.pd len=1g",
    "reg_mr h@.pd len=8k as mr",
    "reg_mr h@.pd len=8k as m$",
    "write h@.m$[0] \"more\"",
    "dereg_mr h@.m$",
    "create_qp h@.pd send_cq=h@.cq recv_cq=h@.cq as q$",
    "destroy_qp h@.q$",
    "connect h1.qp h2.qp timeout=4",
    "connect h1.q$ h2.q$",
    "modify_qp h@.qp state=RESET",
    "modify_qp h@.qp state=INIT unchecked",
    "modify_qp h@.qp state=INIT pkey_index=0 port=1 access=rw",
    TO_A_STRANGER,
    "query_qp h@.qp",
    "post_recv h@.qp sge=mr[0:64]",
    "post_send h@.qp sge=mr[0:64] signaled",
    "post_send h@.qp sge=mr[0:9m] signaled",
    "post_send h@.qp sge=mr[0:64] nokick",
    "post_list { post_send h1.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:9] signaled }",
    "post_list { post_send h1.qp sge=mr[0:64]; post_send h1.qp inline sge=mr[0:9] }",
    "post_list nokick { post_recv h2.qp sge=mr[0:64]; post_recv h2.qp }",
    "kick h@.qp.sq",
    "poll_cq h@.cq",
    "write h@.mr[$] \"some bytes\"",
    "write h@.mr[4090] \"too many bytes\"",
    "drop next from=h@",
    "drop next as f$",
    "delay ack by=~us",
    "duplicate",
    "clear f$",
    "set link h1-h2 latency=~us",
    "set link h1-h2 loss=5%",
    "switch s$ s$",
    "host h$ h$ ram=64k",
    "expect t > ~us",
    "expect count(tx) > ~",
    "read h@.mr[0:4]",
    "show links",
    "note \"a note\"",
    "record off",
    "record on",
    "break tx",
    "break h@.qp.state == ERR once",
    "break cqe(host==h@) do { step tick $ }",
    "watch h@.qp.sq_psn",
    "watch h@.mr[$:9] once",
    "disable all",
    "enable all",
    "delete all",
    "help run",
    "session save x.lab",
    "quit",
};

/* Where the host is known. */
static const char *const bare[] = {
    "alloc_pd as p$",
    "create_cq as c$",
    "reg_mr pd len=4k as m$",
    "reg_mr pd len=4k as mr",
    "post_recv qp sge=mr[0:8]",
    "post_send qp sge=mr[0:9]",
    "poll_cq cq",
    "query_qp qp",
    "destroy_cq c$",
    "run $us",
    "query_port",
    "modify_qp qp state=ERR",
};

uint32_t author_below(struct author *a, uint32_t n)
{
    return (uint32_t)prng_below(&a->rng, n);
}

static void add_line(struct author *a, struct text *t, const char *line)
{
    for (; *line; line++) {
        if (*line == '@')
            text_addf(t, "%u", 1 + author_below(a, 2));
        else if (*line == '$')
            text_addf(t, "%u", 1 + author_below(a, 5));
        else if (*line == '~')
            text_addf(t, "%u", 1 + author_below(a, 60));
        else
            text_addn(t, line, 1);
    }
}

static void add_statement(struct author *a, struct text *t, unsigned depth, bool host_known);

static void add_statements(struct author *a, struct text *t, unsigned depth, bool host_known)
{
    for (uint32_t left = 1 + author_below(a, 4); left > 0; left--) {
        add_statement(a, t, depth, host_known);
        text_add(t, left > 1 ? "; " : " ");
    }
}

/* Makes a file of some statements, and sources it. */
static void add_source(struct author *a, struct text *t, unsigned depth)
{
    char name[32], lines[STATEMENT_BYTES];
    struct text n = text_on(name, sizeof(name)), l = text_on(lines, sizeof(lines));
    FILE *f;

    if (a->n_files == SOURCED_FILES) {
        text_add(t, "run");
        return;
    }
    text_addf(&n, "s%u.lab", a->n_files++);
    add_statements(a, &l, depth, false);
    f = fopen(name, "w");
    assert_non_null(f);
    fprintf(f, "%s\n", lines);
    assert_int_equal(fclose(f), 0);
    text_addf(t, "source %s", name);
}

static void add_block(struct author *a, struct text *t, unsigned depth, bool host_known)
{
    static const char *const heads[] = {"repeat $ { ",       "repeat ~ { ",
                                        "on h@ { ",          "on h1,h2 { ",
                                        "refused { ",        "refused says=\"in\" { ",
                                        "refused ticks=~ { "};
    const uint32_t pick = author_below(a, ARRAY_LEN(heads) + 1);

    if (pick == ARRAY_LEN(heads)) {
        add_source(a, t, depth);
        return;
    }
    add_line(a, t, heads[pick]);
    add_statements(a, t, depth, host_known || heads[pick][0] == 'o');
    text_add(t, "}");
}

static void add_statement(struct author *a, struct text *t, unsigned depth, bool host_known)
{
    const char *const one_bare = bare[author_below(a, ARRAY_LEN(bare))];
    const char *const one = anywhere[author_below(a, ARRAY_LEN(anywhere))];
    const uint32_t kind = author_below(a, 4);

    if (kind == 0 && depth < DEPTH)
        add_block(a, t, depth + 1, host_known);
    else
        add_line(a, t, host_known && kind < 3 ? one_bare : one);
}

void lab_open(struct lab *l, size_t history_bytes)
{
    struct session_config config = {.dispatch = dispatch,
                                    .seed = 1,
                                    .interrupted = &l->interrupted,
                                    .history_bytes = history_bytes};

    *l = (struct lab){.interrupt_at = UINT64_MAX};
    l->f = open_memstream(&l->out, &l->n);
    assert_non_null(l->f);
    config.out = l->f;
    config.err = l->f;
    assert_int_equal(session_new(&config, &l->s), RDL_OK);
}

void lab_close(struct lab *l)
{
    session_free(l->s);
    fclose(l->f);
    free(l->out);
}

bool lab_try(struct lab *l, const char *lines)
{
    const struct source src = source_of(NULL, lines);

    return session_lines(l->s, &src, false);
}

void lab_run(struct lab *l, const char *lines)
{
    if (!lab_try(l, lines))
        fail_msg("%s: %s", lines, l->s->diag.message);
}

/* --- All that can be looked at ---------------------------------------------------------------- */

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

struct sight sight_of(const struct session *s)
{
    struct walk w = {.lab = s->lab, .hash = TRACE_HASH_START};
    const size_t n = rdl_record_count(s->lab);
    size_t bad;

    assert_int_equal(rdl_inspect_list(s->lab, "", visit, &w, &bad), RDL_OK);
    return (struct sight){w.hash.value, rdl_hash(s->lab), rdl_tick(s->lab), rdl_now_ns(s->lab),
                          n ? rdl_record_at(s->lab, n - 1)->id : 0};
}

bool sight_is_same(const struct sight *a, const struct sight *b)
{
    return a->tree == b->tree && a->hash == b->hash && a->tick == b->tick &&
           a->now_ns == b->now_ns && a->recorded_last == b->recorded_last;
}

/* ---------------------------------------------------------------------------------------------- */

struct outcome outcome_of(const struct lab *l)
{
    return (struct outcome){rdl_hash(l->s->lab), rdl_tick(l->s->lab), rdl_now_ns(l->s->lab)};
}

/* Runs a saved file as `rdmalab run` does; NULL, or why that is not what was saved. */
static const char *replay(const char *name, const struct outcome *want, char *ret, size_t cap)
{
    struct script script = {.first = NULL};
    struct text t = text_on(ret, cap);
    struct diag d = {.kind = DIAG_NONE};
    struct outcome have;
    struct lab l;

    lab_open(&l, 0);
    assert_null(source_read(name, &script.src));
    if (!files_parse(&script, &d))
        text_addf(&t, "%s: is not read: %s", name, d.message);
    else if (!session_script(l.s, &script))
        text_addf(&t, "%s: fails: %s", name, l.s->diag.message);
    have = outcome_of(&l);
    if (t.len == 0 && have.tick != want->tick)
        text_addf(&t, "%s: ends in tick %llu, not %llu", name, (unsigned long long)have.tick,
                  (unsigned long long)want->tick);
    if (t.len == 0 && have.now_ns != want->now_ns)
        text_addf(&t, "%s: ends at %llu ns, not %llu", name, (unsigned long long)have.now_ns,
                  (unsigned long long)want->now_ns);
    if (t.len == 0 && have.hash != want->hash)
        text_addf(&t, "%s: its events are others", name);
    source_done(&script.src);
    script_done(&script);
    lab_close(&l);
    return t.len ? ret : NULL;
}

const char *save_and_replay(struct lab *l, char *ret, size_t cap)
{
    const struct outcome want = outcome_of(l);
    const char *why;

    lab_run(l, "session save x.lab; session save x.json");
    why = replay("x.lab", &want, ret, cap);
    return why ? why : replay("x.json", &want, ret, cap);
}

void interrupt_then(void *ctx, const struct ev *e)
{
    struct lab *l = ctx;

    if (ev_tick(e->id) >= l->interrupt_at)
        l->interrupted = 1;
}

static void remove_stops_of_program(struct stops *list)
{
    for (uint32_t id = 1; id <= list->n_made; id++) {
        const struct stop *stop = stops_find(list, id);

        if (stop && stop->owner == STOP_OF_PROGRAM)
            stops_remove(list, id);
    }
}

void carry_out(struct author *a, struct lab *l, const char *statement)
{
    const uint64_t tick = rdl_tick(l->s->lab);
    char stop[32];
    struct text t = text_on(stop, sizeof(stop));
    const uint32_t cut = author_below(a, 6);
    const uint32_t after = 1 + author_below(a, 100);

    l->s->bounds.patience = cut == 0 ? after : PATIENCE;
    l->interrupt_at = cut == 1 ? tick + after : UINT64_MAX;
    text_addf(&t, "#%llu", (unsigned long long)(tick + after));
    if (cut == 2)
        assert_non_null(
            stops_add_when(&l->s->stops, STOP_OF_PROGRAM, stop, (struct span){0, 0}, &l->s->diag));
    (void)lab_try(l, statement); /* much of it fails */
    remove_stops_of_program(&l->s->stops);
    l->s->quit = false;
    l->s->step.interrupted = false;
    l->interrupted = 0;
    l->interrupt_at = UINT64_MAX;
}

void author_begin(struct author *a, struct text *t)
{
    add_line(a, t, setup);
}

void author_add_statement(struct author *a, struct text *t)
{
    add_statement(a, t, 0, false);
}

void remove_session_files(void)
{
    static const char *const files[] = {"x.lab", "x.json", "s0.lab", "s1.lab", "s2.lab", "s3.lab"};

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        (void)unlink(files[i]); /* not every test makes all of them */
}
