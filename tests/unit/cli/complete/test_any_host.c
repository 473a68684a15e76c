/* SPDX-License-Identifier: MIT */
/* No line ends the program, whatever host it is about.
 *
 * The lines come from completion, and so from the tables of commands, words and values: each
 * command with first operands, then random longer ones.  Each is executed, in labs whose host
 * h1 is of another kind: with a guest of the lab's, or a virtual machine that has not come; with
 * objects or without; with a request under way; behind a link that is down; with a device that is
 * stuck.
 *
 * ANY_HOST_LINE=N in the environment prints the lines from the Nth on before they are executed.
 */
#include "cli/complete/complete.h"

#include "cli/lab_session.h"
#include "emu/base/prng.h"
#include "emu/facts/enum_table.h"
#include "emu/guest/virtio_rdma/virtio_rdma.h"
#include "emu/lab/devices.h"
#include "fuzz/confined.h"
#include "rdmalab/port.h"
#include "rounds.h"

#define LINE_BYTES   512u
#define WORDS_MAX    7u
#define OFFERS_MAX   512u
#define RANDOM_LINES n_rounds(200) /* in each kind of lab */
#define EVENTS_MAX   4000u         /* of a line; then it ends as by ^C */

#define SMALL " ram=1m max_qp=4 max_cq=3 max_srq=2"
#define OBJECTS                                                                                    \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr; alloc_mw pd as mw\n"       \
    "  create_cq cqe=16 as cq; create_srq pd as srq; create_ah pd dgid=h2 as ah\n"                 \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp\n"                                                                        \
    "post_recv h2.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:64] signaled\n"

static const struct {
    const char *name, *lines;
} kinds[] = {
    {"alone", "host h1" SMALL},
    {"objects", "host h1 h2" SMALL "; link h1 h2\n" OBJECTS},
    {"packed",
     "host h1 h2 ring=packed" SMALL "; switch s1; link h1 s1; link h2 s1\n" OBJECTS "run"},
    {"machine", "host h1 vm; host h2" SMALL "; link h1 h2"},
    {"machine, packed", "host h1 vm ring=packed; host h2" SMALL "; link h1 h2\n"
                        "on h2 { alloc_pd as pd; create_cq cqe=16 as cq\n"
                        "  create_qp pd send_cq=cq recv_cq=cq as qp }"},
    {"no RDMA device", "host h1 device=none; host h2" SMALL "; link h1 h2\n"
                       "on h2 { alloc_pd as pd; create_cq cqe=16 as cq\n"
                       "  create_qp pd send_cq=cq recv_cq=cq as qp }; ping h1 h2"},
    {"down", "host h1 h2" SMALL "; link h1 h2\n" OBJECTS "set link h1-h2 down"},
    {"under way", "host h1 h2" SMALL "; link h1 h2\n" OBJECTS "create_cq h1 as later nowait"},
    {"stuck",
     "host h1 h2" SMALL "; link h1 h2\n" OBJECTS "stall h1.qp.sq; post_send h1.qp sge=mr[0:64]"},
    {"on demand", "host h1 h2 on_demand irq=intx" SMALL "; link h1 h2"},
};

/* --- A lab of a kind -------------------------------------------------------------------------- */

/* Executes @line with the limits of a new session. */
static bool execute(struct confined *c, const char *line)
{
    const struct source src = source_typed(line);

    c->events = CONFINED_EVENTS;
    c->commands = CONFINED_COMMANDS;
    c->interrupted = 0;
    c->s->run.step.interrupted = false;
    return exec_lines(c->s, &src, false);
}

/* The toy RNIC has no virtqueues that could be stuck, and no virtual machine knows it. */
static bool has_virtqueues(void)
{
    return host_devices[DEVICE_virtio].driver == &virtio_rdma_driver;
}

static void open_lab(struct confined *c, size_t kind)
{
    rdl_port port;

    confined_open(c, 1);
    if (!execute(c, kinds[kind].lines) && has_virtqueues())
        fail_msg("%s: %s", kinds[kind].name, c->s->diag.message);
    assert_int_equal(rdl_port_add(c->s->lab, &(struct rdl_port_config){.name = "tap0"}, &port),
                     RDL_OK);
}

/* --- Lines ------------------------------------------------------------------------------------ */

struct offers {
    char words[OFFERS_MAX][64];
    bool open[OFFERS_MAX];
    size_t n;
};

static void add_offer(void *ctx, const struct offer *o)
{
    struct offers *all = ctx;
    struct text t = text_on(all->words[all->n], sizeof(all->words[0]));

    text_add(&t, o->word);
    if (t.cut || all->n + 1 == OFFERS_MAX)
        return;
    all->open[all->n++] = o->open;
}

/* Reads into @ret what may follow @line. */
static void offers_for(struct confined *c, const char *line, struct offers *ret)
{
    char hint[1024];
    struct text t = text_on(hint, sizeof(hint));

    ret->n = 0;
    complete_line(c->s, line, add_offer, ret);
    complete_hint(c->s, line, &t);
}

/* Puts offer @i at the place of the last word of @line, which has LINE_BYTES. */
static void take_offer(char *line, const struct offers *all, size_t i)
{
    char *blank = strrchr(line, ' ');
    struct text t = {line, blank ? (size_t)(blank - line) + 1 : 0, LINE_BYTES, false};

    text_addf(&t, "%s%s", all->words[i], all->open[i] ? "" : " ");
}

static unsigned n_lines;

/* Executes @line in the lab @a of @kind, and opens another if the line changed it. */
static void try_line(struct confined *c, size_t kind, const char *line)
{
    const char *from = getenv("ANY_HOST_LINE");
    const uint64_t tick = rdl_tick(c->s->lab);

    if (strncmp(line, "scenarios", 9) == 0 || strncmp(line, "apropos", 7) == 0)
        return; /* they read the whole collection, which takes long */
    n_lines++;
    if (from && n_lines >= strtoul(from, NULL, 10))
        fprintf(stderr, "%u, %s: %s\n", n_lines, kinds[kind].name, line);
    (void)execute(c, line);
    if (rdl_broken_invariant(c->s->lab))
        fail_msg("%s: %s breaks an invariant", kinds[kind].name, line);
    if (rdl_tick(c->s->lab) == tick && !c->s->run.quit && !c->interrupted)
        return;
    confined_close(c);
    open_lab(c, kind);
}

/* Tries some 20 operands that speak of h1, and one in 16 others. */
static void try_operands(struct confined *c, size_t kind, const char *line, struct prng *rng)
{
    static struct offers operands;

    offers_for(c, line, &operands);
    for (size_t k = 0; k < operands.n; k++) {
        const bool of_h1 = strstr(operands.words[k], "h1") != NULL;
        char longer[LINE_BYTES];

        if (prng_below(rng, rounds_divisor() * (of_h1 ? 1 + operands.n / 20 : 16)) != 0)
            continue;
        snprintf(longer, sizeof(longer), "%s", line);
        take_offer(longer, &operands, k);
        try_line(c, kind, longer);
    }
}

static void each_command_takes_each_first_operand(void **state)
{
    static struct offers commands;
    struct prng rng = prng_stream(1, 0);

    (void)state;
    for (size_t kind = 0; kind < ARRAY_LEN(kinds); kind++) {
        struct confined c;

        open_lab(&c, kind);
        offers_for(&c, "", &commands);
        assert_true(commands.n > 80);
        for (size_t i = 0; i < commands.n; i++) {
            char line[LINE_BYTES] = "";

            take_offer(line, &commands, i);
            try_line(&c, kind, line);
            try_operands(&c, kind, line, &rng);
        }
        confined_close(&c);
    }
}

/* Replaces @line with one of a few words, each of which completion offers behind those before it.
 */
static void draw_line(struct confined *c, struct prng *rng, char line[LINE_BYTES])
{
    static struct offers all;

    line[0] = '\0';
    for (unsigned words = 0; words < WORDS_MAX && (words < 3 || prng_below(rng, 4)); words++) {
        const size_t n = strlen(line);

        offers_for(c, line, &all);
        if (all.n > 0)
            take_offer(line, &all, (size_t)prng_below(rng, all.n));
        else
            snprintf(line + n, LINE_BYTES - n, "%llu ", (unsigned long long)prng_below(rng, 3));
        if (strlen(line) > LINE_BYTES / 2)
            return;
    }
}

static void random_lines_of_words_that_fit(void **state)
{
    struct prng rng = prng_stream(1, 1);
    const unsigned n_before = n_lines;

    (void)state;
    for (size_t kind = 0; kind < ARRAY_LEN(kinds); kind++) {
        struct confined c;

        open_lab(&c, kind);
        for (unsigned n = 0; n < RANDOM_LINES; n++) {
            char line[LINE_BYTES];

            draw_line(&c, &rng, line);
            try_line(&c, kind, line);
        }
        confined_close(&c);
    }
    assert_true(n_lines - n_before > ARRAY_LEN(kinds) * RANDOM_LINES / 2);
}

/* --- Paths ------------------------------------------------------------------------------------ */

/* Sentences about a part of the lab. */
static const char *const of_path[] = {
    "show %s",
    "show %s json",
    "show vq %s",
    "show life %s",
    "show dump %s",
    "show wqe %s",
    "show memory %s",
    "show qp %s",
    "why %s",
    "why not %s",
    "explain %s",
    "export vq %s /dev/null",
    "show map %s",
    "show states %s",
    "export why - %s",
    "kick %s",
    "watch %s",
    "break %s == 1",
    "expect %s == 0",
    "poll_cq %s",
    "post_recv %s",
    "post_send %s",
    "query_qp %s",
    "destroy_qp %s",
    "modify_qp %s state=ERR",
    "diff %s",
    "step host %s",
    "stall %s",
    "on %s { poll_cq cq }",
    "until %s != 0 timeout=1us",
};

struct path_list {
    char v[2048][RDL_PATH_BYTES];
    size_t n;
    struct prng rng;
};

/* Keeps the paths of nodes, and one in 64 of those of leaves; of lists the head. */
static void add_path(void *ctx, const char *key, const struct rdl_value *v)
{
    struct path_list *all = ctx;
    const char *element = strrchr(key, '[');

    if ((element && strncmp(element, "[0]", 3) != 0) ||
        (v->type != RDL_NODE && prng_below(&all->rng, 64) != 0))
        return;
    assert_true(all->n < ARRAY_LEN(all->v));
    snprintf(all->v[all->n++], sizeof(all->v[0]), "%s", key);
}

/* All of them where the guest is a virtual machine; one in four elsewhere. */
static void each_sentence_takes_each_path(void **state)
{
    static struct path_list paths = {.n = 0};

    (void)state;
    paths.rng = prng_stream(1, 2);
    for (size_t kind = 0; kind < ARRAY_LEN(kinds); kind++) {
        struct confined c;
        size_t at;

        open_lab(&c, kind);
        paths.n = 0;
        assert_int_equal(rdl_inspect_below(c.s->lab, "h1", add_path, &paths, &at), RDL_OK);
        assert_true(paths.n > 20);
        for (size_t i = 0; i < paths.n; i++) {
            for (size_t k = 0; k < ARRAY_LEN(of_path); k++) {
                char line[LINE_BYTES];

                if (!strstr(kinds[kind].name, "machine") &&
                    prng_below(&paths.rng, 4 * rounds_divisor()) != 0)
                    continue;
                snprintf(line, sizeof(line), of_path[k], paths.v[i]);
                try_line(&c, kind, line);
            }
        }
        confined_close(&c);
    }
}

/* The examples of the commands, which speak of h1 and h2, whatever these are. */
static void each_example_is_for_each_host(void **state)
{
    (void)state;
    for (size_t kind = 0; kind < ARRAY_LEN(kinds); kind++) {
        struct confined c;

        open_lab(&c, kind);
        for (size_t i = 0; i < N_CMDS; i++)
            try_line(&c, kind, cmd_table[i].example);
        for (size_t i = 0; i < enum_ctrl_cmd.n_rows; i++) {
            char line[LINE_BYTES];

            snprintf(line, sizeof(line), "control h1 %s nowait", enum_ctrl_cmd.rows[i].name);
            try_line(&c, kind, line);
        }
        confined_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_command_takes_each_first_operand),
        cmocka_unit_test(random_lines_of_words_that_fit),
        cmocka_unit_test(each_sentence_takes_each_path),
        cmocka_unit_test(each_example_is_for_each_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
