/* SPDX-License-Identifier: MIT */
/* The output of a fault matrix: its table, its notes, and the same as JSON. */
#include "cli/app/fault_runs.h"

#include <stdio.h>
#include <string.h>

#include "cli/app/test_run.h"
#include "emu/base/plural.h"
#include "emu/facts/enum/object.h"
#include "print/answer.h"
#include "print/print_json.h"
#include "print/shell.h"
#include "print/show_text.h"
#include "rdmalab/trace.h"

#define PACKET_COLUMNS 52u /* of a packet in the table, which has at most 100 columns */

static long long more_packets(const struct matrix *m, const struct variant *v)
{
    return (long long)v->c->result.n_packets - (long long)m->was.n_packets;
}

static void add_cell(struct grid *g, const struct matrix *m, const struct variant *v)
{
    char cell[48];
    struct text t = text_on(cell, sizeof(cell));

    if (!v->is_tried)
        grid_cell(g, "-");
    else if (!v->c->ended)
        grid_cell(g, "?");
    else if (v->note != NO_NOTE)
        grid_cellf(g, "%s[%zu]", v->c->result.unmet ? "expect " : "", v->note + 1);
    else if (!v->c->result.is_hit)
        grid_cell(g, "not hit");
    else
        text_add(&t, v->c->result.other_order ? "order" : "same");
    if (t.len > 0 && more_packets(m, v) != 0)
        text_addf(&t, " %+lld", more_packets(m, v));
    if (t.len > 0)
        grid_cell(g, cell);
}

static void add_packet(struct text *t, const struct matrix *m, const struct outcome_packet *p)
{
    const struct ev_names *names = rdl_names(m->s->lab);

    ev_names_object(names, t, p->tx.u.tx.host, OBJ_QP, p->tx.u.tx.qpn);
    text_add(t, " ");
    ev_add_text(t, &p->tx, names);
}

/* Shortens the text of a packet to PACKET_COLUMNS: leaves out what stands before " -> h2.qp", such
 * as PSN and flags.  The queue pair and the opcode stay, also if the text is then longer.
 */
static void shorten(char *line)
{
    static const char dots[] = " ...";
    const size_t len = strlen(line);
    char *tail = strstr(line, " -> ");
    const size_t qp = strcspn(line, " "), least = qp + 1 + strcspn(line + qp + 1, " ");
    const size_t keep = tail ? strlen(tail) : 0, used = keep + sizeof(dots) - 1;
    size_t head = used < PACKET_COLUMNS ? PACKET_COLUMNS - used : 0;

    if (len <= PACKET_COLUMNS || !tail)
        return;
    while (head > 0 && line[head] != ' ')
        head--;
    if (head < least)
        head = least;
    if (head + used >= len)
        return;
    memmove(line + head + sizeof(dots) - 1, tail, keep + 1);
    memcpy(line + head, dots, sizeof(dots) - 1);
}

static void print_table(const struct matrix *m)
{
    struct grid g;

    grid_init(&g, 2 + (m->choice->text ? 1 : N_HAPPENINGS), 0);
    grid_cell(&g, "");
    grid_cell(&g, "packet");
    for (size_t h = 0; h < N_HAPPENINGS; h++) {
        if (fault_has_column(m, h))
            grid_cell(&g, fault_happenings[h].name);
    }
    for (size_t i = 0; i < m->was.n_kept; i++) {
        char line[EV_TEXT_BYTES];
        struct text t = text_on(line, sizeof(line));

        if (!fault_has_row(m, &m->was.packets[i]))
            continue;
        ev_add_id(&t, m->was.packets[i].tx.id);
        grid_cell(&g, line);
        t = text_on(line, sizeof(line));
        add_packet(&t, m, &m->was.packets[i]);
        shorten(line);
        grid_cell(&g, line);
        for (size_t h = 0; h < N_HAPPENINGS; h++) {
            if (fault_has_column(m, h))
                add_cell(&g, m, &m->variants[i * N_HAPPENINGS + h]);
        }
    }
    grid_print(&g, stdout, 0);
    grid_done(&g);
}

/* Appends the command line that repeats the run @v with the same exit status.  Appends nothing if
 * the scenario was read from the standard input, or if ^C ended the run.
 */
static void add_again(struct text *t, const struct variant *v)
{
    if (v->c->result.status != EXIT_INTERRUPTED)
        test_add_again(t, v->c, v->m->o);
}

/* Returns the first run with the note that has the index @note. */
static const struct variant *first_with(const struct matrix *m, size_t note)
{
    const struct variant *v = m->variants;

    while (v->note != note)
        v++;
    return v;
}

/* Prints the note with index @note, its cause in the first of its runs, how to repeat each run that
 * has it, and how to look around in the first of them.
 */
static void print_note(const struct matrix *m, size_t note)
{
    const struct variant *first = first_with(m, note);
    char lead[32];

    snprintf(lead, sizeof(lead), "[%zu] ", note + 1);
    show_wrap_behind(stdout, lead, 4, m->notes[note]);
    answer_print(stdout, NULL, first->c->result.why);
    for (size_t i = 0; i < m->was.n_kept * N_HAPPENINGS; i++) {
        char line[SHELL_LINE_BYTES];
        struct text again = text_on(line, sizeof(line));

        if (m->variants[i].note != note)
            continue;
        add_again(&again, &m->variants[i]);
        if (!again.cut && again.len > 0)
            printf("  again: %s\n", line);
    }
    if (first->c->result.status != EXIT_INTERRUPTED) {
        char line[SHELL_LINE_BYTES];
        struct text open = text_on(line, sizeof(line));

        test_add_open(&open, first->c, m->o);
        if (!open.cut && open.len > 0)
            printf("  open:  %s\n", line);
    }
}

void fault_add_totals(struct matrix_totals *sum, const struct matrix *m)
{
    sum->scenarios++;
    sum->tried += m->runs.n_cases;
    sum->same += m->n_same;
    sum->different += m->n_different;
    sum->other_order += m->n_other_order;
    sum->unmet += m->n_unmet;
    sum->unhit += m->n_unhit;
}

static void print_counts(const struct matrix_totals *sum)
{
    printf("%zu runs: %zu came to the same, %zu did not", sum->tried, sum->same, sum->different);
    if (sum->other_order)
        printf("; in %zu only the order differs", sum->other_order);
    if (sum->unmet)
        printf("; in %zu an expectation does not hold", sum->unmet);
    if (sum->unhit)
        printf("; in %zu the packet was none of those that faults can hit", sum->unhit);
    puts("");
}

void fault_print_text(const struct matrix *m)
{
    struct matrix_totals sum = {0};

    printf("%s\n", m->c->file->name);
    print_table(m);
    for (size_t i = 0; i < m->n_notes; i++)
        print_note(m, i);
    puts(
        "same: programs see the same completions and bytes; +2: two packets more were sent; -: no\n"
        "other packet comes soon after it");
    if (m->n_other_order)
        puts("order: the same, but completions of one completion queue are in another order");
    if (m->n_unmet)
        puts("expect: the same, but an expectation of the scenario does not hold");
    if (m->was.n_kept < m->was.n_packets && !m->choice->text)
        printf("only the first %zu of %zu packets were tried\n", m->was.n_kept, m->was.n_packets);
    fault_add_totals(&sum, m);
    print_counts(&sum);
}

static void print_json_variant(const struct matrix *m, size_t happening, const struct variant *v)
{
    printf(", \"%s\": ", fault_happenings[happening].name);
    if (!v->is_tried || !v->c->ended) {
        fputs("null", stdout);
        return;
    }
    printf("{\"same\": %s, \"same_order\": %s, \"expected\": %s, \"hit\": %s, "
           "\"more_packets\": %lld",
           v->note == NO_NOTE ? "true" : "false", v->c->result.other_order ? "false" : "true",
           v->c->result.unmet ? "false" : "true", v->c->result.is_hit ? "true" : "false",
           more_packets(m, v));
    if (v->note != NO_NOTE) {
        char line[SHELL_LINE_BYTES];
        struct text again = text_on(line, sizeof(line));

        add_again(&again, v);
        fputs(", \"what\": ", stdout);
        print_json_string(stdout, m->notes[v->note]);
        fputs(", \"why\": ", stdout);
        print_json_string(stdout, v->c->result.why);
        printf(", \"status\": %d, \"again\": ", fault_status_of(v));
        if (!again.cut && again.len > 0)
            print_json_string(stdout, line);
        else
            fputs("null", stdout);
    }
    putchar('}');
}

void fault_print_json(const struct matrix *m)
{
    bool is_first = true;

    fputs("{\"file\": ", stdout);
    print_json_string(stdout, m->c->file->name);
    printf(", \"seed\": ");
    print_json_number(stdout, m->c->seed);
    printf(", \"runs\": %zu, \"same\": %zu, \"different\": %zu, "
           "\"other_order\": %zu, \"unexpected\": %zu, \"packets_sent\": %zu, "
           "\"packets\": [",
           m->runs.n_cases, m->n_same, m->n_different, m->n_other_order, m->n_unmet,
           m->was.n_packets);
    for (size_t i = 0; i < m->was.n_kept; i++) {
        char line[EV_TEXT_BYTES];
        struct text t = text_on(line, sizeof(line));

        if (!fault_has_row(m, &m->was.packets[i]))
            continue;
        ev_add_id(&t, m->was.packets[i].tx.id);
        fputs(is_first ? "\n  {\"id\": " : ",\n  {\"id\": ", stdout);
        is_first = false;
        print_json_string(stdout, line);
        t = text_on(line, sizeof(line));
        add_packet(&t, m, &m->was.packets[i]);
        fputs(", \"packet\": ", stdout);
        print_json_string(stdout, line);
        for (size_t h = 0; h < N_HAPPENINGS; h++)
            print_json_variant(m, h, &m->variants[i * N_HAPPENINGS + h]);
        putchar('}');
    }
    fputs("]}", stdout);
}

void fault_print_totals(const struct matrix_totals *sum, size_t n_without)
{
    printf("\nin all: %zu scenario%s, ", sum->scenarios, plural_s(sum->scenarios));
    print_counts(sum);
    if (n_without)
        printf("%zu scenario%s had no run with a fault\n", n_without, plural_s(n_without));
}
