/* SPDX-License-Identifier: MIT */
#include "cli/exec/exec.h"
#include "cli/session/session.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/lab_session.h"
#include "cli/own_directory.h"
#include "cli/session/files.h"
#include "cli/session/places.h"
#include "emu/base/quantity.h"
#include "rdmalab/port.h"
#include "rdmalab/trace.h"

/* Examples read and write files, so they run in a directory of their own. */
static int make_file(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");

    if (!f)
        return -1;
    fputs(text, f);
    fclose(f);
    return 0;
}

static int enter_directory(void **state)
{
    if (own_directory_enter(state) != 0)
        return -1;
    return make_file("first.lab", "host a b\nlink a b\n") + make_file("answer.lab", "run\n");
}

static int leave_directory(void **state)
{
    static const char *const files[] = {"first.lab", "drop.lab", "drop.world.json", "x.lab",
                                        "x.json",    "bad.lab",  "loop.lab",        "answer.lab"};

    for (size_t i = 0; i < ARRAY_LEN(files); i++)
        (void)unlink(files[i]); /* some tests do not create all of them */
    return own_directory_leave(state);
}

static void every_example_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        struct lab l;

        if (cmd_table[i].flags & CMD_OUTSIDE)
            continue;
        lab_open(&l, true);
        if (cmd_table[i].before != BEFORE_NOTHING)
            lab_run(&l, examples_before[cmd_table[i].before]);
        if (!(cmd_table[i].flags & CMD_HEADER) || cmd_table[i].before == BEFORE_NOTHING)
            lab_run(&l, cmd_table[i].example);
        lab_close(&l);
    }
}

/* --- Numbers out of range --------------------------------------------------------------------- */

/* Writes the largest and the smallest value of @p to @ret, and those beyond: as many as @ret has.
 * Returns their number.
 */
static size_t extremes_of(const struct param *p, char ret[5][32])
{
    const enum quantity q = p->kind == VAL_TIME     ? QUANTITY_TIME
                            : p->kind == VAL_RATE   ? QUANTITY_RATE
                            : p->kind == VAL_CHANCE ? QUANTITY_CHANCE
                                                    : QUANTITY_NUMBER;
    uint64_t v[5];
    size_t n = 0;

    v[n++] = p->min;
    if (p->standard)
        v[n++] = value_number(p, p->standard);
    if (p->min > 0)
        v[n++] = p->min - 1;
    v[n++] = p->max ? p->max : q == QUANTITY_CHANCE ? 1000000 : UINT64_MAX;
    if (p->max)
        v[n++] = p->max + 1;
    for (size_t i = 0; i < n; i++) {
        struct text t = text_on(ret[i], 32);

        quantity_add(&t, q, v[i]);
    }
    return n;
}

/* Does the example of @cmd with @value for @p, and returns how it failed; "" if it did not. */
static void do_example_with(const struct cmd *cmd, const struct param *p, const char *value,
                            char ret[DIAG_MESSAGE_BYTES])
{
    struct script s = script_of(example_of(cmd));
    struct text t = text_on(ret, DIAG_MESSAGE_BYTES);
    char *lines = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&lines, &n);
    struct diag d;
    struct lab l;

    assert_non_null(f);
    assert_true(line_read_script(&s, &d));
    for (struct step *st = s.first; st; st = st->next) {
        if (st->cmd == cmd && p)
            step_put(&s.pool, st, p->name, value);
        p = st->cmd == cmd ? NULL : p; /* only the first one */
        line_write_step(f, st, "");
    }
    fclose(f);
    lab_open(&l, false);
    if (cmd->before != BEFORE_NOTHING)
        lab_run(&l, examples_before[cmd->before]);
    if (!lab_try(&l, lines))
        text_add(&t, l.s->diag.message);
    lab_close(&l);
    script_done(&s);
    free(lines);
}

/* Numbers that are taken and refused, of one parameter. */
struct extremes {
    size_t n_taken, n_refused;
    char unnamed[DIAG_MESSAGE_BYTES]; /* an error that does not name the parameter and the value */
};

static void try_extremes(const struct cmd *cmd, const struct param *p, struct extremes *ret)
{
    char values[5][32], wrong[DIAG_MESSAGE_BYTES];
    const size_t n = extremes_of(p, values);

    for (size_t v = 0; v < n; v++) {
        if (strcmp(p->name, "count") == 0 && strlen(values[v]) > 4)
            continue; /* so many rounds take long */
        do_example_with(cmd, p, values[v], wrong);
        ret->n_refused += wrong[0] != '\0';
        ret->n_taken += wrong[0] == '\0';
        if (wrong[0] && (!strstr(wrong, p->name) || !strstr(wrong, values[v]))) {
            struct text t = text_on(ret->unnamed, sizeof(ret->unnamed));

            text_addf(&t, "%s %s=%s: %s", cmd->name, p->name, values[v], wrong);
        }
    }
}

/* Errors that name a number in another way: by what it is compared with. */
static const char *const compared[] = {
    "with this width",
    "was added with less",
    "has not so much memory left",
    "and len asks for more",
    "out of memory",
    "and max_send_wr asks for more",
    "and max_recv_wr asks for more",
    "expected at most 256 bytes, found 1024",
    "has no GID 255",
    "the P_Key table of h1 has no entry 65535",
    "room for 16 receives",
    "the memory begins at byte 0 of its page, iova= at byte 4095",
    "pings were not answered",
    "8192 bytes do not fit into one packet",
    "the time is over",
    "out of range: max_dest_rd_atomic",
    "h1 has 1 completion vector, number 0",
    "has no function ",
    "has no virtual function ",
    "min_tx_rate would be above max_tx_rate",
    "the adapter has 4 virtual functions",
    "guests of one group may always connect",
};

static bool is_compared(const char *message)
{
    for (size_t i = 0; i < ARRAY_LEN(compared); i++) {
        if (strstr(message, compared[i]))
            return true;
    }
    return false;
}

/* Each number of an example is taken, or the error names the parameter and the value, or what it is
 * compared with.  A parameter that does not belong to the example at all says something else.
 */
static void every_number_out_of_range_is_named(void **state)
{
    size_t n_refused = 0, n_taken = 0;

    (void)state;
    for (size_t i = 0; i < N_CMDS; i++) {
        const struct cmd *cmd = &cmd_table[i];

        if (cmd->flags & (CMD_OUTSIDE | CMD_HEADER | CMD_PROMPT_ONLY))
            continue;
        for (size_t k = 0; k < cmd->n_params; k++) {
            struct extremes e = {.unnamed = ""};

            if (value_is_quantity(cmd->params[k].kind))
                try_extremes(cmd, &cmd->params[k], &e);
            n_refused += e.n_refused;
            n_taken += e.n_taken;
            if (e.n_taken > 0 && e.unnamed[0] && !is_compared(e.unnamed))
                fail_msg("%s", e.unnamed);
        }
    }
    assert_true(n_refused > 100 && n_taken > 100);
}

/* --- Refusals and steps
 * --------------------------------------------------------------------------- */

static const struct {
    const char *line, *message, *remedy;
} refusals[] = {
    {"post_send h1.qp sge=mr[0:64]", "h1.qp is in RESET; post_send needs RTS", "connect h1.qp"},
    {"post_recv h1.qp sge=mr[0:64]", "h1.qp is in RESET; post_recv needs INIT", "modify_qp"},
    {"modify_qp h1.qp state=RTS", "cannot go from RESET to RTS", "RESET -> INIT"},
    {"modify_qp h1.qp state=INIT port=1", "also needs: access, pkey_index", "stays RESET"},
    {"modify_qp h1.qp state=INIT port=1 access=rr pkey_index=0 dest_qpn=3", "takes no: dest_qpn",
     ""},
    {"modify_qp h1.qp state=RTR ah=h9", "no host", "ah="},
    {"post_send h1.qq", "nothing is called \"h1.qq\"", "h1.qp"},
    {"post_send h1.cq", "h1.cq is a completion queue, not a queue pair", ""},
    {"post_send qp", "nothing is called \"qp\"", "h1.qp"},
    {"read h1.mr[0:1g]", "1g bytes; one read takes 64m at most", "h1.mr[64m:128m]"},
    {"read h1.mr[0:1m]", "h1.mr has 4096 bytes", "h1.mr[4095]"},
    {"write h1.mr[0:65m] fill=1", "65m bytes; one write takes 64m at most", "h1.mr[0:64m]"},
    {"write h1.mr[5000] x", "byte 5000 is asked for, and h1.mr has", "h1.mr[4095]"},
    {"ping h1 h2 size=8192", "the MTU of h1 leaves room for", "ping h1 h2 size="},
    {"host h1", "already in use", ""},
    {"host h9 ip=10.0.0.2", "h2 has the address 10.0.0.2", "give h9 another one"},
    {"host h9 mac=02:00:00:00:00:01", "h1 has the address", "give h9 another one"},
    {"link h1 h2", "one port", "switch"},
    {"link h1 h7", "no host or switch", ""},
    {"link h1 h1", "two different ends", ""},
    {"host h9 features_off=version_1", "always offered", ""},
    {"host h9 extensions=none,ceq", "NONE stands beside other extensions", ""},
    {"host h9 extensions=arm_mem", "ARM_MEM needs CEQ", ""},
    {"create_qp h1.pd send_cq=cq recv_cq=h2.cq", "h2.cq is on another host", "share a device"},
    {"create_qp h1.pd type=gsi send_cq=cq recv_cq=cq", "only the kernel", "type=rc"},
    {"create_qp h1.pd type=smi send_cq=cq recv_cq=cq", "are not carried", "type=rc"},
    {"show h1.qp.sq-psn", "nothing is called", "h1.qp.sq_psn"},
    {"show h1.mr[0:8]", "nothing is called", "read h1.mr[0:8]"},
    {"show xyzzy", "there is no \"xyzzy\"", "help show"},
    {"alloc_pd h1 as pd", "already has", ""},
    {"dealloc_pd h1.pd", "in use by h1.mr and 1 more", "destroy"},
    {"clear f1", "no fault", "show faults"},
    {"drop from=h7", "no host", "h1"},
    {"host h9 profile=rxi", "no profile is called \"rxi\"", "rxe"},
    {"why h7", "nothing is called", ""},
    {"write h1.mr[0]", "what shall be written", ""},
    {"write h1.mr[0] x fill=1", "only one of", ""},
    {"write h1.mr[0] fill=1", "how many bytes", "slice"},
    {"write h1.mr[0:1] xx", "do not fit", ""},
    {"expect h1.qp.state == RTZ", "no QP state", "RT"},
    {"expect h1.qp.stat == RTS", "nothing is called", "h1.qp.state"},
    {"expect h1.qp", "is a queue pair, not a value", ""},
    {"expect h1.gid", "h1.gid is a list, not a value", "show h1.gid"},
    {"post_send h1.mac", "h1.mac is a value, not a queue pair", "show h1.mac"},
    {"post_send h1.irqs", "h1.irqs is a value, not a queue pair", ""},
    {"until t > 1s timeout=1us", "nothing is left to run", ""},
    {"source nowhere.lab", "No such file", ""},
    {"session save x.txt", "must end in .lab or .json", ""},
    {"show packet", "no frame has been sent yet", ""},
    {"show live", "nothing outside the lab", ""},
    {"show device h1 max_qpp", "has no field \"max_qpp\"", "did you mean \"max_qp\"?"},
    {"show device max_mr h1", "stands before the field: show device h1 max_mr", ""},
    {"kick h1.ctrl", "is not a work queue", "reg_write h1 notify"},
    {"help xyzzy", "no help", "help"},
    {"help show xyzzy", "no help for \"xyzzy\" behind show", "help show"},
    {"help verbs vq", "\"verbs\" is no command", "help"},
    {"explain h1.qp.xyzzy", "nothing is known", ""},
    {"explain #3.1", "nothing is known", "why #3.1"},
};

static void refusals_say_what_is_needed(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_OBJECTS]);
    for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
        assert_false(lab_try(&l, refusals[i].line));
        if (!strstr(l.s->diag.message, refusals[i].message) ||
            !strstr(l.s->diag.remedy, refusals[i].remedy))
            fail_msg("%s: %s (%s)", refusals[i].line, l.s->diag.message, l.s->diag.remedy);
    }
    lab_close(&l);
}

/* from= also takes an external port: only frames that enter through it are hit. */
static void a_fault_can_be_about_a_port(void **state)
{
    const struct rdl_port_config port = {"tap0"};
    static const uint8_t frame[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 1, 1, 8, 6};
    rdl_port made;
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, "host h1");
    assert_int_equal(rdl_port_add(l.s->lab, &port, &made), RDL_OK);
    lab_run(&l, "link h1 tap0");
    lab_run(&l, "drop from=tap0 as f1");
    fflush(l.f);
    assert_non_null(strstr(l.out, "f1: drops the next frame coming in through tap0\n"));
    lab_run(&l, "refused reason=err_timeout { ping h1 10.0.0.77 timeout=1us }");
    lab_run(&l, "expect f1.hits == 0");
    assert_int_equal(rdl_port_receive(l.s->lab, made, frame, sizeof(frame)), RDL_OK);
    lab_run(&l, "run 10us; expect f1.hits == 1");
    lab_close(&l);
}

/* By default the hosts of a lab know each other's MACs.  A host with arp asks for them, and others
 * ask for its own.
 */
static void a_host_with_arp_asks_for_macs(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(
        &l,
        "host h1 h2; link h1 h2; ping h1 10.0.0.2; expect count(eth_tx, opcode==ARP_REQUEST) == 0");
    lab_close(&l);
    lab_open(&l, false);
    lab_run(&l, "host h1; host h2 arp; link h1 h2; ping h1 10.0.0.2");
    lab_run(&l, "expect count(eth_tx, opcode==ARP_REQUEST) == 1");
    lab_close(&l);
}

static void a_host_says_its_profile(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, "host h1; host r1 r2 profile=rxe; show h1; show r1");
    fflush(l.f);
    assert_non_null(strstr(l.out, "h1  10.0.0.1  02:00:00:00:00:01  virtio-rdma up\n"));
    assert_non_null(
        strstr(l.out, "r2  10.0.0.3  02:00:00:00:00:03  virtio-rdma up, profile rxe\n"));
    assert_non_null(strstr(l.out, "\n  profile iba\n"));
    assert_non_null(strstr(l.out, "\n  profile rxe\n"));
    lab_run(&l, "expect h1.profile == iba and r1.profile == rxe and r2.profile != iba");
    lab_close(&l);
}

/* Returns the event hash of a saved file when it is run. */
static uint64_t hash_of_file(const char *name)
{
    struct lab l;
    struct source src = {0};
    uint64_t hash;

    lab_open(&l, false);
    assert_null(source_read(name, &src));
    assert_true(exec_file(l.s, &src));
    hash = rdl_hash(l.s->lab);
    source_done(&src);
    lab_close(&l);
    return hash;
}

static void a_saved_session_replays_event_for_event(void **state)
{
    struct lab l;
    uint64_t hash;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, STORY);
    /* Commands that only look, and failed ones, are not in the file. */
    lab_run(&l, "show; why h1.cq.wc[0]; expect h1.qp.state == RTS");
    assert_false(lab_try(&l, "expect h1.qp.state == ERR"));
    hash = rdl_hash(l.s->lab);
    lab_run(&l, "session save x.lab; session save x.json");
    lab_close(&l);
    assert_true(hash_of_file("x.lab") == hash);
    assert_true(hash_of_file("x.json") == hash);
}

/* A file without steps could not be run. */
static void a_session_that_did_nothing_is_not_saved(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, "show; # a note");
    assert_false(lab_try(&l, "session save nothing.lab"));
    assert_non_null(strstr(l.s->diag.message, "nothing was done yet"));
    assert_null(fopen("nothing.lab", "r"));
    lab_close(&l);
}

static void what_failed_halfway_replays_as_well(void **state)
{
    struct lab l;
    uint64_t hash;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_CONNECTED]);
    assert_false(lab_try(&l, "host h3 h3"));
    assert_false(lab_try(&l, "on h1,h2 { alloc_pd as p9; reg_mr p9 len=1g as m9 }"));
    assert_false(lab_try(&l, "modify_qp h1.qp state=INIT unchecked"));
    /* No receive is posted. */
    lab_run(&l, "post_send h1.qp wr_id=5 sge=mr[0:64] signaled");
    assert_false(lab_try(&l, "until t > 1s timeout=20us"));
    lab_run(&l, "host h4; run 1ms");
    hash = rdl_hash(l.s->lab);
    lab_run(&l, "session save x.lab; session save x.json");
    lab_close(&l);
    assert_true(hash_of_file("x.lab") == hash);
    assert_true(hash_of_file("x.json") == hash);
}

static void a_prompt_has_patience_with_each_step(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_CONNECTED]);
    l.s->limits.ticks_per_step = 1000;
    lab_run(&l, "post_send h1.qp wr_id=5 sge=mr[0:64] signaled");
    assert_false(lab_try(&l, "run"));
    assert_non_null(strstr(l.s->diag.message, "not over after 1000 ticks"));
    lab_run(&l, "post_recv h2.qp sge=mr[0:64]; run; expect h1.cq.wc[0].status == SUCCESS");
    lab_close(&l);
}

/* A run that only repeats itself ends long before the limit; a run with an end time does not. */
static void a_run_at_a_prompt_ends_where_nothing_is_completed_any_more(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, examples_before[BEFORE_CONNECTED]);
    l.s->limits.ticks_per_step = 1000000;
    l.s->limits.standstill_ticks = 5000;
    lab_run(&l, "repeat 3000 { post_recv h2.qp sge=mr[0:1]; post_send h1.qp sge=mr[0:1] signaled; "
                "run; poll_cq h1.cq; poll_cq h2.cq }");
    lab_run(&l, "post_send h1.qp wr_id=5 sge=mr[0:64] signaled");
    assert_false(lab_try(&l, "run"));
    assert_non_null(strstr(l.s->diag.message, "this run does not end"));
    if (!strstr(l.s->diag.notes, "h1.qp: SEND wr_id=5 waits for a receive at h2.qp") &&
        !strstr(l.s->diag.notes, "h2.qp, which had no receive "))
        fail_msg("%s", l.s->diag.notes);
    assert_non_null(strstr(l.s->diag.notes, "\n  try: post_recv h2.qp sge=mr[0:1k], then run\n"));
    assert_null(strstr(l.s->diag.notes, "post_recv h1.qp"));
    lab_run(&l, "until count(timeout) > 10000 timeout=100s; run 10s");
    lab_run(&l, "back; back; redo; redo; goto end");
    lab_run(&l, "post_recv h2.qp sge=mr[0:64]; run; expect h1.cq.wc[3000].status == SUCCESS");
    lab_close(&l);
}

static void limits_end_what_does_not_end(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "scenario ticks=2000\n");
    lab_run(&l, examples_before[BEFORE_CONNECTED]);
    /* No receive is posted, and rnr_retry=7 has no end. */
    lab_run(&l, "post_send h1.qp wr_id=5 sge=mr[0:64] signaled");
    assert_false(lab_try(&l, "run"));
    assert_non_null(strstr(l.s->diag.message, "the limit of 2000 ticks"));
    assert_non_null(strstr(l.s->diag.notes, "h1.qp"));
    assert_int_equal(rdl_tick(l.s->lab), 2000);
    lab_close(&l);
}

static void sourced_files_tell_where_they_failed(void **state)
{
    struct lab l;
    FILE *f = fopen("bad.lab", "w");

    (void)state;
    assert_non_null(f);
    fputs("host a\nlnik a b\n", f);
    fclose(f);
    f = fopen("loop.lab", "w");
    assert_non_null(f);
    fputs("source loop.lab\n", f);
    fclose(f);
    lab_open(&l, false);
    assert_false(lab_try(&l, "source bad.lab"));
    fflush(l.f);
    assert_non_null(strstr(l.out, "bad.lab:2:1: error: unknown command \"lnik\""));
    assert_non_null(strstr(l.s->diag.message, "sourced here"));
    assert_false(lab_try(&l, "source loop.lab"));
    fflush(l.f);
    assert_non_null(strstr(l.out, "files that source each other"));
    lab_close(&l);
}

static void two_sessions_know_nothing_of_each_other(void **state)
{
    struct lab alone, a, b;
    uint64_t hash;

    (void)state;
    lab_open(&alone, false);
    lab_run(&alone, STORY);
    hash = rdl_hash(alone.s->lab);
    lab_close(&alone);
    lab_open(&a, false);
    lab_open(&b, false);
    lab_run(&a, examples_before[BEFORE_OBJECTS]);
    lab_run(&b, STORY);
    lab_run(&a, "connect h1.qp h2.qp");
    assert_true(rdl_hash(b.s->lab) == hash);
    lab_close(&a);
    lab_close(&b);
}

/* Also where no time passes, and in a block without steps. */
static void an_interrupt_ends_every_step(void **state)
{
    static const char *const rows[] = {"help", "host h1", "repeat 1000000 { }", "step 5",
                                       "refused says=x { host h1 }"};
    static const volatile sig_atomic_t interrupted = 1;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;

        lab_open(&l, false);
        l.s->config.interrupted = &interrupted;
        assert_false(lab_try(&l, rows[i]));
        assert_int_equal(session_exit_status(l.s), EXIT_INTERRUPTED);
        lab_close(&l);
    }
}

static void lines_must_be_text(void **state)
{
    static const struct {
        const char *lines;
        size_t n, at;
    } rows[] = {{"# \xff\nhost h1", 11, 2}, {"# a\0b\nhost h1", 13, 3}};
    struct lab l;

    (void)state;
    lab_open(&l, false);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct source src = {.text = rows[i].lines, .len = rows[i].n};

        assert_false(exec_lines(l.s, &src, false));
        assert_int_equal(l.s->diag.at.at, rows[i].at);
        assert_int_equal(session_exit_status(l.s), EXIT_USAGE);
    }
    lab_close(&l);
}

static void worse_exits_win(void **state)
{
    (void)state;
    assert_int_equal(exit_worse(EXIT_PASSED, EXIT_FAILED), EXIT_FAILED);
    assert_int_equal(exit_worse(EXIT_USAGE, EXIT_FAILED), EXIT_USAGE);
    assert_int_equal(exit_worse(EXIT_USAGE, EXIT_TIMEOUT), EXIT_TIMEOUT);
    assert_int_equal(exit_worse(EXIT_BROKEN, EXIT_TIMEOUT), EXIT_BROKEN);
    assert_int_equal(exit_worse(EXIT_BROKEN, EXIT_INTERRUPTED), EXIT_INTERRUPTED);
    assert_int_equal(exit_worse(143, EXIT_BROKEN), 143); /* by SIGTERM */
}

/* A refused verb once made the driver listen for events, which no logged command repeated. */
static void a_verb_that_is_refused_at_once_changes_nothing(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2 ram=1m; link h1 h2");
    assert_false(lab_try(&l, "create_cq h1 cqe=20000"));
    lab_run(&l, "expect h1.async.told == 0 and h2.async.told == 0");
    lab_run(&l, "alloc_pd h1; expect h1.async.told == 1");
    lab_close(&l);
}

/* A sourced file is freed when it has ended, and the next one may have its address and length. */
static void a_text_at_the_address_of_another_one_has_places_of_its_own(void **state)
{
    static const struct row {
        const char *name, *text, *place;
    } rows[] = {
        {"a.lab", "\n\n\nwrite a.mr[0] \"x\"", "a.lab:4"},
        {"a.lab", "\n \nwrite a.mr[0] \"x\"", "a.lab:3"},
        {"b.lab", "  \nwrite a.mr[0] \"x\"", "b.lab:2"},
        {"c.lab", "   write a.mr[0] \"x\"", "c.lab:1"},
        {SOURCE_STANDARD, "\n  write a.mr[0] \"x\"", "standard input:2"},
    };
    char text[64];
    struct source src;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host a b; link a b; alloc_pd a as pd; reg_mr a.pd len=64 as mr\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        snprintf(text, sizeof(text), "%s", rows[i].text);
        src = source_of(rows[i].name, text);
        if (!exec_lines(l.s, &src, false))
            fail_msg("%s: %s", text, l.s->diag.message);
        assert_string_equal(places_find(l.s, rdl_tick(l.s->lab)), rows[i].place);
    }
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_example_runs),
        cmocka_unit_test(every_number_out_of_range_is_named),
        cmocka_unit_test(refusals_say_what_is_needed),
        cmocka_unit_test(a_fault_can_be_about_a_port),
        cmocka_unit_test(a_host_with_arp_asks_for_macs),
        cmocka_unit_test(a_host_says_its_profile),
        cmocka_unit_test(a_saved_session_replays_event_for_event),
        cmocka_unit_test(a_session_that_did_nothing_is_not_saved),
        cmocka_unit_test(what_failed_halfway_replays_as_well),
        cmocka_unit_test(a_prompt_has_patience_with_each_step),
        cmocka_unit_test(a_run_at_a_prompt_ends_where_nothing_is_completed_any_more),
        cmocka_unit_test(limits_end_what_does_not_end),
        cmocka_unit_test(sourced_files_tell_where_they_failed),
        cmocka_unit_test(two_sessions_know_nothing_of_each_other),
        cmocka_unit_test(an_interrupt_ends_every_step),
        cmocka_unit_test(lines_must_be_text),
        cmocka_unit_test(worse_exits_win),
        cmocka_unit_test(a_verb_that_is_refused_at_once_changes_nothing),
        cmocka_unit_test(a_text_at_the_address_of_another_one_has_places_of_its_own),
    };

    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
