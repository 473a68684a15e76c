/* SPDX-License-Identifier: MIT */
#include "cli/app/fault_matrix.h"

#include <stdlib.h>
#include <string.h>

#include "cli/app/crew.h"
#include "cli/app/fault_runs.h"
#include "cli/app/fault_why.h"
#include "cli/app/modes.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/object.h"
#include "print/print_json.h"
#include "print/shell.h"
#include "print/utf8.h"
#include "process/must.h"
#include "rdmalab/fault.h"
#include "rdmalab/trace.h"

#define PACKETS_MAX  1024u   /* packets that are tried */
#define NEIGHBOUR_NS 1000000 /* a packet that arrives later than this is not a neighbour */
#define PACKETS_TOLD 12u     /* packets that are listed if --fault names none of them */

static const char fault_name[] = "matrix";

const struct happening fault_happenings[N_HAPPENINGS] = {
    {FLT_DROP, "lost"},
    {FLT_DUPLICATE, "twice"},
    {FLT_DELAY, "swapped"},
    {FLT_CORRUPT, "damaged"},
};

/* --- The choice ------------------------------------------------------------------------------- */

bool fault_choice_parse(const char *text, struct fault_choice *ret)
{
    const size_t n = strcspn(text, ":");
    ev_id packet;

    if (!text[n] || !ev_id_parse(text + n + 1, &packet))
        return false;
    for (size_t h = 0; h < N_HAPPENINGS; h++) {
        if (strlen(fault_happenings[h].name) != n || memcmp(fault_happenings[h].name, text, n) != 0)
            continue;
        *ret = (struct fault_choice){.text = text, .happening = h, .packet = packet};
        return true;
    }
    return false;
}

bool fault_choice_read(const char *text, struct fault_choice *ret)
{
    if (fault_choice_parse(text, ret))
        return true;
    fprintf(stderr,
            "rdmalab: --fault %s: it is lost, twice, swapped or damaged, a colon and the packet, "
            "as in lost:12.3\n",
            SHOWN_NAME(text));
    return false;
}

static void name_choice(struct variant *v, size_t happening, ev_id packet)
{
    char id[CHOICE_BYTES];
    struct text t = text_on(id, sizeof(id));

    ev_add_id(&t, packet);
    t = text_on(v->choice, sizeof(v->choice));
    text_addf(&t, "%s:%s", fault_happenings[happening].name, id + 1); /* without the # */
}

bool fault_has_row(const struct matrix *m, const struct outcome_packet *p)
{
    return !m->choice->text || m->choice->packet == p->tx.id;
}

bool fault_has_column(const struct matrix *m, size_t happening)
{
    return !m->choice->text || m->choice->happening == happening;
}

/* --- One run ---------------------------------------------------------------------------------- */

static enum rdl_status open_plain(void *ctx, struct rdl_lab *lab)
{
    return outcome_watch(ctx, lab);
}

static enum rdl_status open_faulty(void *ctx, struct rdl_lab *lab)
{
    struct variant *v = ctx;
    enum rdl_status st = outcome_watch(&v->outcome, lab);
    rdl_fault fault;

    return st == RDL_OK ? rdl_fault_add(lab, &v->fault, &fault) : st;
}

/* Runs in the process of the run. */
static void end_faulty(void *ctx, struct session *s, struct test_result *ret)
{
    struct variant *v = ctx;
    struct text t = text_on(ret->seen, sizeof(ret->seen)),
                cause = text_on(ret->why, sizeof(ret->why));
    ev_id about;

    outcome_end(&v->outcome, s);
    ret->n_packets = v->outcome.n_packets;
    ret->is_hit = v->outcome.n_hit > 0;
    ret->differs = outcome_add_difference(&t, &v->m->was, &v->outcome, rdl_names(s->lab), &about);
    ret->other_order = !ret->differs && outcome_order_differs(&v->m->was, &v->outcome);
    ret->unmet =
        ret->status == EXIT_PASSED && !ret->differs && !v->m->outcomes_only && s->run.not_held[0];
    if (ret->unmet) {
        text_add(&t, s->run.not_held);
        ret->line = s->run.not_held_line;
    }
    if (ret->differs || ret->unmet || ret->status != EXIT_PASSED)
        fault_why_add(&cause, s, about, fault_name);
}

/* --- Planning --------------------------------------------------------------------------------- */

/* Returns the packet from the same host that arrives next at the same place.  Returns NULL if none
 * does soon.
 */
static const struct outcome_packet *neighbour(const struct outcome *o,
                                              const struct outcome_packet *p)
{
    const struct outcome_packet *q = p + 1;

    if (p->at == EV_HOST_NONE)
        return NULL;
    for (; q < o->packets + o->n_kept; q++) {
        if (q->tx.u.tx.host == p->tx.u.tx.host && q->at == p->at)
            break;
    }
    if (q == o->packets + o->n_kept || q->arrived_ns - p->arrived_ns > NEIGHBOUR_NS)
        return NULL;
    return q;
}

static void plan_variant(struct matrix *m, const struct outcome_packet *p, size_t happening,
                         struct variant *v)
{
    const struct outcome_packet *next = neighbour(&m->was, p);

    *v = (struct variant){.m = m, .note = NO_NOTE};
    v->is_tried = fault_has_row(m, p) && fault_has_column(m, happening);
    name_choice(v, happening, p->tx.id);
    v->fault = (struct rdl_fault_config){.name = fault_name,
                                         .kind = fault_happenings[happening].kind,
                                         .opcode = p->tx.u.tx.opcode,
                                         .syndrome = RDL_ANY,
                                         .psn = p->tx.u.tx.psn,
                                         .dest_qpn = p->tx.u.tx.dest_qpn,
                                         .nth = p->nth,
                                         .count = 1,
                                         .corrupt_bit = RDL_ANY};
    if (v->fault.kind == FLT_DELAY) {
        v->is_tried &= next != NULL;
        v->fault.delay_ns = next ? next->arrived_ns - p->arrived_ns + 1 : 0;
    }
    v->outcome.fault = fault_name;
    v->witness = (struct test_witness){.observer = {.opened = open_faulty, .ctx = v},
                                       .ended = end_faulty,
                                       .expectations_ignored = true};
}

/* Creates a case for each variant. */
static void plan(struct matrix *m)
{
    const size_t n = m->was.n_kept;

    m->variants = must_malloc((n * N_HAPPENINGS + 1) * sizeof(*m->variants));
    m->notes = must_malloc((n * N_HAPPENINGS + 1) * sizeof(*m->notes));
    m->runs.cases = must_malloc((n * N_HAPPENINGS + 1) * sizeof(*m->runs.cases));
    for (size_t i = 0; i < n * N_HAPPENINGS; i++) {
        struct variant *v = &m->variants[i];

        plan_variant(m, &m->was.packets[i / N_HAPPENINGS], i % N_HAPPENINGS, v);
        if (!v->is_tried)
            continue;
        v->c = &m->runs.cases[m->runs.n_cases++];
        *v->c = (struct test_case){.file = m->c->file,
                                   .seed = m->c->seed,
                                   .seed_given = m->c->seed_given,
                                   .answer = m->c->answer,
                                   .witness = &v->witness,
                                   .number = (uint32_t)i + 1,
                                   .fault = v->choice};
    }
}

/* --- Results ---------------------------------------------------------------------------------- */

/* Returns the difference to the run without a fault, as programs see it, or the expectation that
 * does not hold.  Returns NULL if there is neither.
 */
static const char *note_of(const struct test_result *r)
{
    if (r->status != EXIT_PASSED)
        return r->message; /* a command failed, so the scenario did not reach its end */
    return r->differs || r->unmet ? r->seen : NULL;
}

static size_t numbered(struct matrix *m, const char *note)
{
    for (size_t i = 0; i < m->n_notes; i++) {
        if (strcmp(m->notes[i], note) == 0)
            return i;
    }
    m->notes[m->n_notes] = note;
    return m->n_notes++;
}

int fault_status_of(const struct variant *v)
{
    const struct test_result *r = &v->c->result;

    return exit_worse(r->differs || r->unmet ? EXIT_FAILED : EXIT_PASSED, r->status);
}

/* Counts the outcomes.  Returns the exit status of the worst. */
static int judge(struct matrix *m)
{
    int status = EXIT_PASSED;

    for (size_t i = 0; i < m->was.n_kept * N_HAPPENINGS; i++) {
        struct variant *v = &m->variants[i];
        const char *note = v->is_tried && v->c->ended ? note_of(&v->c->result) : NULL;

        if (!v->is_tried || !v->c->ended)
            continue;
        if (note) {
            v->note = numbered(m, note);
            *(v->c->result.unmet ? &m->n_unmet : &m->n_different) += 1;
            status = exit_worse(status, fault_status_of(v));
        } else if (!v->c->result.is_hit) {
            m->n_unhit++;
        } else if (v->c->result.other_order) {
            m->n_other_order++;
        } else {
            m->n_same++;
        }
    }
    return status;
}

/* --- A scenario ------------------------------------------------------------------------------- */

static void matrix_free(struct matrix *m)
{
    session_free(m->s);
    outcome_free(&m->was);
    free(m->variants);
    free(m->notes);
    free(m->runs.cases);
}

/* Prints the command line that repeats the failure of the run without a fault. */
static void say_again(const struct matrix *m)
{
    char line[SHELL_LINE_BYTES];
    struct text again = text_on(line, sizeof(line));
    struct test_case same = *m->c;

    same.fault = m->choice->text;
    test_add_again(&again, &same, m->o);
    if (again.len > 0 && !same.fault)
        text_add(&again, " --fault-matrix");
    modes_say_again(&again);
}

/* Runs the scenario without a fault, and prints errors. */
static int run_plain(struct matrix *m)
{
    const struct test_witness witness = {.observer = {.opened = open_plain, .ctx = &m->was}};
    struct test_case plain = *m->c;
    FILE *nothing = fopen("/dev/null", "w");
    int status = EXIT_FAILED;

    if (!nothing) {
        perror("/dev/null");
        return EXIT_FAILED;
    }
    plain.witness = &witness;
    m->was.packets_max = PACKETS_MAX;
    m->s = test_run_here(&plain, m->o, nothing, stderr, &status);
    fclose(nothing);
    if (!m->s || status != EXIT_PASSED) {
        fprintf(stderr, "rdmalab: %s fails without a fault, so there is nothing to compare with\n",
                m->c->file->name);
        say_again(m);
        return status == EXIT_PASSED ? EXIT_FAILED : status;
    }
    m->s->config.out = m->s->config.err = stderr;
    outcome_end(&m->was, m->s);
    return EXIT_PASSED;
}

/* Prints that the run of the choice does not exist, and the packets that there are. */
static void complain_of_choice(const struct matrix *m)
{
    char line[EV_TEXT_BYTES];
    struct text t = text_on(line, sizeof(line));
    const struct outcome *was = &m->was;
    const char *happening = fault_happenings[m->choice->happening].name;

    fprintf(stderr, "rdmalab: %s: --fault %s: there is no such run\n", SHOWN_NAME(m->c->file->name),
            SHOWN_NAME(m->choice->text));
    for (size_t i = 0; i < was->n_kept; i++) {
        if (was->packets[i].tx.id == m->choice->packet) {
            fprintf(stderr, "  no packet comes soon after it, with which it could be %s\n",
                    happening);
            return;
        }
    }
    for (size_t i = 0; i < was->n_kept && i < PACKETS_TOLD; i++) {
        text_add(&t, i ? ", " : "");
        ev_add_id(&t, was->packets[i].tx.id);
    }
    if (was->n_kept == 0)
        fputs("  it sends no packet\n", stderr);
    else
        fprintf(stderr, "  its packets are %s%s\n", line,
                was->n_kept > PACKETS_TOLD ? " and more; --fault-matrix lists all" : "");
}

/* Runs the case without and with each fault.  Returns the exit status of the worst.  @m->variants
 * is NULL if it failed without.
 */
static int run_all(struct matrix *m, size_t jobs, struct report *unseen)
{
    int status = run_plain(m);

    if (status != EXIT_PASSED)
        return status;
    plan(m);
    status = crew_run(&m->runs, m->o, jobs, unseen);
    return status < EXIT_SIGNALS ? judge(m) : status;
}

/* Adds each run of @m to @cells: a bad one is a failed test with its cause. */
static void add_cells(struct fault_cells *cells, const struct matrix *m)
{
    for (size_t i = 0; i < m->runs.n_cases; i++) {
        const struct test_case *run = &m->runs.cases[i];
        const struct variant *v = &m->variants[run->number - 1];
        struct test_case *c;

        if (!run->ended)
            continue;
        cells->v = must_grow(cells->v, cells->n, &cells->room, sizeof(*cells->v));
        cells->names = must_grow(cells->names, cells->n, &cells->names_room, sizeof(*cells->names));
        cells->names[cells->n] = must_malloc(CHOICE_BYTES);
        memcpy(cells->names[cells->n], v->choice, CHOICE_BYTES);
        c = &cells->v[cells->n];
        *c = *run;
        c->witness = NULL;
        c->fault = cells->names[cells->n++];
        if (run->result.status == EXIT_PASSED && (run->result.differs || run->result.unmet))
            test_tell_seen(&c->result);
        c->result.status = fault_status_of(v);
    }
}

void fault_cells_done(struct fault_cells *cells)
{
    for (size_t i = 0; i < cells->n; i++)
        free(cells->names[i]);
    free(cells->names);
    free(cells->v);
    *cells = (struct fault_cells){0};
}

/* @m has the case, the options and the choice.  Frees the rest of it. */
static int try_case(struct matrix *m, size_t jobs, bool json, struct fault_cells *cells,
                    struct matrix_totals *sum)
{
    struct report unseen = {0};
    const int status = run_all(m, jobs, &unseen);

    if (m->variants) {
        if (unseen.not_run)
            fprintf(stderr, "rdmalab: interrupted; %zu of %zu were not run\n", unseen.not_run,
                    m->runs.n_cases);
        if (m->choice->text && m->runs.n_cases == 0)
            complain_of_choice(m);
        if (json || !m->choice->text || m->runs.n_cases > 0)
            (json ? fault_print_json : fault_print_text)(m);
        fault_add_totals(sum, m);
        if (cells)
            add_cells(cells, m);
    } else if (json) {
        fputs("null", stdout);
    }
    matrix_free(m);
    return status;
}

int fault_find(const struct test_case *c, const struct test_options *o,
               const struct fault_choice *choice, struct rdl_fault_config *ret)
{
    struct matrix m = {.c = c, .o = o, .choice = choice};
    int status = run_plain(&m);

    if (status == EXIT_PASSED) {
        plan(&m);
        if (m.runs.n_cases == 1) {
            *ret = m.variants[m.runs.cases[0].number - 1].fault;
        } else {
            complain_of_choice(&m);
            status = EXIT_USAGE;
        }
    }
    matrix_free(&m);
    return status;
}

int fault_matrix_of(const struct test_case *c, const struct test_options *o, size_t jobs,
                    struct text *note)
{
    const struct fault_choice all = {.text = NULL};
    struct matrix m = {.c = c, .o = o, .choice = &all, .outcomes_only = true};
    struct report unseen = {0};
    int status = run_all(&m, jobs, &unseen);

    if (m.n_notes > 0) {
        text_add(note, m.notes[0]);
    } else if (m.variants && m.runs.n_cases == 0) {
        text_add(note, "no packet was sent");
        status = exit_worse(status, EXIT_FAILED);
    }
    matrix_free(&m);
    return status;
}

int fault_matrix(const struct suite *su, const struct fault_choice *choice,
                 const struct test_options *o, size_t jobs, bool json, struct fault_cells *cells)
{
    struct test_options each = *o;
    struct matrix_totals sum = {0};
    int status = EXIT_PASSED;

    each.twice = false;
    for (size_t i = 0; i < su->n_cases && status < EXIT_SIGNALS; i++) {
        const struct test_case *c = &su->cases[i];
        struct matrix m = {.c = c, .o = &each, .choice = choice};

        if (json)
            fputs(i ? ",\n " : "[", stdout);
        else if (i > 0)
            puts("");
        if (c->ended) {
            fprintf(stderr, "%s: %s%s", c->file->name, c->result.message,
                    c->result.status == EXIT_SKIPPED ? "\n" : "");
            if (json)
                fputs("null", stdout);
            if (c->result.status != EXIT_SKIPPED)
                status = exit_worse(status, c->result.status);
        } else {
            status = exit_worse(status, try_case(&m, jobs, json, cells, &sum));
        }
    }
    if (json)
        fputs(su->n_cases ? "]\n" : "[]\n", stdout);
    else if (su->n_cases > 1)
        fault_print_totals(&sum, su->n_cases - sum.scenarios);
    if (sum.tried == 0 && status == EXIT_PASSED) {
        if (!choice->text)
            fputs("rdmalab: no packet was sent, so nothing could happen to one\n", stderr);
        status = EXIT_USAGE;
    }
    return status;
}
