/* SPDX-License-Identifier: MIT */
#include "cli/session/random_session.h"

#include <string.h>
#include <unistd.h>

#include "cli/exec/exec.h"
#include "cli/session/files.h"
#include "emu/trace/event.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

#define PATIENCE 2000u /* ticks of a statement that is not cut short */
#define DEPTH    3u

/* In these texts @ is the number of a host, $ a small number, ~ a larger one, & the variable sign.
 */
static const char setup[] =
    "host h1 h2 ram=1m; link h1 h2 latency=$us\n"
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw,ra as mr; create_cq cqe=16 as cq\n"
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
    "connect h1.qp h2.qp timeout=4\n";

/* A session file does not have the macros: whoever opens it defines them again. */
const char author_macros[] =
    "macro pair a n=9 { post_recv $a.qp sge=mr[0:$n]; post_send h1.qp sge=mr[0:$n] signaled; run "
    "}\n"
    "macro both n { on h1,h2 { create_cq cqe=$n as c5 }; if tick > $(n) { step $n; pair h2 } }\n";

#define REMAKE_QP "destroy_qp h@.qp; create_qp h@.pd send_cq=h@.cq recv_cq=h@.cq as qp"

/* Further objects.  One line creates all of them or none. */
static const char more_setup[] =
    "on h1,h2 { reg_mr pd len=4k access=lw,rw,mw as wmr; alloc_mw pd as mw; create_srq pd as srq\n"
    "  create_qp pd send_cq=cq recv_cq=cq srq=srq as sqp; create_ah pd dgid=h1 as a1\n"
    "  create_qp pd type=ud send_cq=cq recv_cq=cq as ud\n"
    "  modify_qp ud state=INIT pkey_index=0 port=1 qkey=7; modify_qp ud state=RTR\n"
    "  modify_qp ud state=RTS sq_psn=0; post_recv ud sge=mr[0:1k]; post_srq_recv srq sge=mr[0:64] "
    "}\n"
    "connect h1.sqp h2.sqp timeout=4\n";

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
    "step desc ~",
    "step host h@ $1",
    "finish h@.qp timeout=~us",
    "finish h@.qp.rq",
    "set changes all",
    "set changes off",
    "until t > ~us timeout=$us",
    "until tx(host==h@) timeout=~us",
    "until tick > ~ timeout=~us",
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
    "create_cq h1 as c0; destroy_cq h1.c0",
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
    "lose what=kick queue=h@.qp.sq nth=$ as f$",
    "lose what=interrupt queue=h@ chance=50% count=0",
    "postpone by=~us queue=h@.cq nth=$ as f$",
    "postpone by=~us queue=h@",
    "stall for=~us queue=h@.qp.sq nth=$",
    "stall queue=h@.qp.rq as f$",
    "invent queue=h@.cq nth=$",
    "falsify queue=h@.cq nth=$",
    "falsify what=length queue=h@ chance=10% count=0",
    "falsify what=read queue=h@ nth=$",
    "drop psn=999 as f$; clear f$",
    "drop psn=999 as f0; clear f0",
    "drop next from=h1; post_send h1.qp op=rdma_write sge=mr[0:64] remote=h2.mr[0] signaled; run",
    "drop next from=h1; post_send h1.qp op=rdma_write sge=mr[0:3k] remote=h2.mr[0] signaled; run",
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
    "record keep=2k",
    "corrupt from=h@",
    "corrupt bit=~ as f$",
    "duplicate from=h@ by=~us",
    "modify_qp h@.qp state=ERR",
    "modify_qp h@.sqp state=RESET",
    REMAKE_QP,
    "dereg_mr h1.mr; reg_mr h1.pd len=4k access=lw,rr,rw as mr",
    "connect h1.qp h2.qp timeout=4",
    "post_send h@.qp op=rdma_write sge=mr[0:64] remote=h1.mr[0] signaled; run",
    "post_send h@.qp op=rdma_read sge=mr[0:3k] remote=h2.mr[0] signaled; run",
    "post_send h1.qp op=atomic_fetch_and_add sge=mr[0:8] remote=h2.mr[8] add=$ signaled; run",
    "post_send h1.qp op=atomic_fetch_and_add sge=mr[0:8] remote=h2.mr[8] add=$ signaled; run",
    "post_send h@.qp op=atomic_fetch_and_add sge=mr[0:8] remote=h2.mr[8] add=$ signaled; run",
    "post_srq_recv h@.srq sge=mr[0:64]",
    "repeat $ { post_srq_recv h@.srq sge=mr[0:64] }",
    "post_send h@.sqp sge=mr[0:64] signaled; run",
    "modify_srq h@.srq limit=$",
    "create_srq h@.pd max_wr=4 as s$",
    "create_srq h@.pd as s0; destroy_srq h1.s0",
    "bind_mw h@.qp mw mr=wmr[0:64] access=rw signaled; run",
    "bind_mw h@.qp mw; run",
    "alloc_mw h@.pd as w0; dealloc_mw h1.w0",
    "alloc_mw h@.pd as w0; dealloc_mw h2.w0",
    "post_recv h@.ud sge=mr[0:1k]",
    "post_send h2.ud sge=mr[0:9] ah=a1 remote_qpn=h1.ud remote_qkey=7 signaled; run",
    "post_send h2.ud sge=mr[0:9] ah=a1 remote_qpn=h1.ud remote_qkey=~ signaled; run",
    "create_ah h@.pd dgid=h1 as a0; destroy_ah h1.a0",
    "create_ah h1.pd dgid=h@ as a0; destroy_ah h1.a0",
    "attach_mcast h@.ud gid=239.1.1.1",
    "detach_mcast h@.ud gid=239.1.1.1",
    "req_notify_cq h@.cq",
    "get_async_event h@",
    "resize_cq h@.cq cqe=~",
    "break tx",
    "break h@.qp.state == ERR once",
    "break cqe(host==h@) do { step tick $ }",
    "watch h@.qp.sq_psn",
    "watch h@.mr[$:9] once",
    "disable all",
    "enable all",
    "delete all",
    "pair h@",
    "pair h2 n=~",
    "both ~",
    "foreach v in 1..$ { post_recv h@.qp sge=mr[0:&v]; step tick &v }",
    "foreach v in h1,h2 { alloc_pd &v as v$; if &v.qp.state == RTS { poll_cq &v.cq } }",
    "if h1.v1.handle == 0 { run }",
    "macro pair a n=9 { post_recv &a.qp sge=mr[0:&n]; run }",
    "help run",
    "session save x.lab",
    "quit",
};

/* Statements inside a block on a host. */
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

void author_add_line(struct author *a, struct text *t, const char *line)
{
    for (; *line; line++) {
        if (*line == '@')
            text_addf(t, "%u", 1 + author_below(a, 2));
        else if (*line == '$')
            text_addf(t, "%u", 1 + author_below(a, 5));
        else if (*line == '~')
            text_addf(t, "%u", 1 + author_below(a, 60));
        else
            text_addn(t, *line == '&' ? "$" : line, 1);
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

/* Writes some statements to a file, and sources it. */
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
    static const char *const heads[] = {"repeat $ { ",
                                        "repeat ~ { ",
                                        "on h@ { ",
                                        "on h1,h2 { ",
                                        "refused says=\"e\" { ",
                                        "refused says=\"in\" { ",
                                        "refused reason=err_timeout ticks=~ { ",
                                        "if count(tx) > ~ { ",
                                        "if t > ~us { } else { ",
                                        "if tick < ~ { run } else { ",
                                        "foreach w in a,b,c { ",
                                        "foreach w in 1..~ { "};
    const uint32_t pick = author_below(a, ARRAY_LEN(heads) + 1);

    if (pick == ARRAY_LEN(heads)) {
        add_source(a, t, depth);
        return;
    }
    author_add_line(a, t, heads[pick]);
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
        author_add_line(a, t, host_known && kind < 3 ? one_bare : one);
}

void lab_open(struct lab *l, size_t history_bytes)
{
    struct session_config config = {
        .seed = 1, .interrupted = &l->interrupted, .history_bytes = history_bytes};

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
    const struct source src = source_typed(lines);

    return exec_lines(l->s, &src, false);
}

void lab_run(struct lab *l, const char *lines)
{
    if (!lab_try(l, lines))
        fail_msg("%s: %s", lines, l->s->diag.message);
}

struct outcome outcome_of(const struct lab *l)
{
    return (struct outcome){rdl_hash(l->s->lab), rdl_tick(l->s->lab), rdl_now_ns(l->s->lab)};
}

/* Runs a saved file as `rdmalab run` does.  Returns NULL, or how the result differs. */
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
    else if (!exec_script(l.s, &script))
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

struct cut author_draw_cut(struct author *a)
{
    const uint32_t by = author_below(a, 6);

    /* C must hit a statement while it runs, so the delay is short */
    const uint32_t most = by == CUT_INTERRUPT ? 30 : 100;

    return (struct cut){by < CUT_NOT ? (enum cut_by)by : CUT_NOT, 1 + author_below(a, most)};
}

static void stop_at(struct lab *l, uint64_t tick)
{
    char text[32];
    struct text t = text_on(text, sizeof(text));

    text_addf(&t, "#%llu", (unsigned long long)tick);
    assert_non_null(
        stops_add_when(&l->s->stops, STOP_OF_PROGRAM, text, (struct span){0, 0}, &l->s->diag));
}

void carry_out_until(struct lab *l, const char *statement, struct cut cut, uint64_t last_tick)
{
    const uint64_t tick = rdl_tick(l->s->lab);

    l->s->limits.ticks_per_step = cut.by == CUT_LIMIT ? cut.after : PATIENCE;
    l->interrupt_at = cut.by == CUT_INTERRUPT ? tick + cut.after : UINT64_MAX;
    if (cut.by == CUT_STOP)
        stop_at(l, tick + cut.after);
    if (last_tick > 0)
        stop_at(l, last_tick);
    (void)lab_try(l, statement); /* many statements fail */
    l->seen.interrupted += l->s->run.step.interrupted;
    l->seen.stopped += cut.by == CUT_STOP && l->s->run.quit;
    l->seen.limited += cut.by == CUT_LIMIT && rdl_tick(l->s->lab) >= tick + cut.after;
    l->seen.blocks += strchr(statement, '{') != NULL;
    remove_stops_of_program(&l->s->stops);
    l->s->run.quit = false;
    l->s->run.step.interrupted = false;
    l->s->limits.ticks_per_step = 0;
    l->interrupted = 0;
    l->interrupt_at = UINT64_MAX;
}

void carry_out(struct author *a, struct lab *l, const char *statement)
{
    carry_out_until(l, statement, author_draw_cut(a), 0);
}

void author_begin(struct author *a, struct text *t)
{
    text_add(t, author_macros);
    author_add_line(a, t, setup);
    author_add_line(a, t, more_setup);
}

void author_add_statement(struct author *a, struct text *t)
{
    add_statement(a, t, 0, false);
}

void remove_session_files(void)
{
    static const char *const files[] = {"x.lab", "x.json", "s0.lab", "s1.lab", "s2.lab", "s3.lab"};

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        (void)unlink(files[i]); /* some tests do not create all of them */
}
