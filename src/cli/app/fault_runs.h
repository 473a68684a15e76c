/* SPDX-License-Identifier: MIT */
/* The runs of a fault matrix, between fault_matrix.c, which makes and judges them, and
 * fault_table.c, which prints them.
 */
#ifndef CLI_APP_FAULT_RUNS_H
#define CLI_APP_FAULT_RUNS_H

#include "cli/app/fault_matrix.h"
#include "cli/app/outcome.h"
#include "emu/facts/enum/fault.h"

#define NO_NOTE      SIZE_MAX
#define CHOICE_BYTES 48u /* of a value of --fault */
#define N_HAPPENINGS 4u

/* A fault: a column of the table. */
struct happening {
    enum fault_kind kind;
    const char *name;
};

extern const struct happening fault_happenings[N_HAPPENINGS];

struct matrix;

/* One run with one fault. */
struct variant {
    const struct matrix *m;
    struct rdl_fault_config fault;
    char choice[CHOICE_BYTES]; /* value of --fault that selects this run */
    bool is_tried;             /* false: not chosen, or no neighbour to be reordered with */
    struct outcome outcome;
    struct test_witness witness;
    struct test_case *c;
    size_t note; /* index in the matrix; NO_NOTE: none */
};

struct matrix {
    const struct test_case *c;
    const struct test_options *o;
    const struct fault_choice *choice;
    struct session *s; /* of the run without a fault */
    struct outcome was;
    struct variant *variants;
    struct suite runs;
    const char **notes; /* the distinct differences */
    size_t n_notes, n_same, n_different, n_unhit;
    size_t n_unmet, n_other_order; /* neither is counted as the same, nor as different */
    bool outcomes_only;            /* the expectations of the scenario do not count */
};

/* Numbers of the runs of all scenarios. */
struct matrix_totals {
    size_t scenarios, tried, same, different, other_order, unmet, unhit;
};

/* Return true if the packet has a row, and the fault number @happening a column. */
bool fault_has_row(const struct matrix *m, const struct outcome_packet *p);
bool fault_has_column(const struct matrix *m, size_t happening);

/* Returns the exit status of the run @v: that of `--fault` with its choice. */
int fault_status_of(const struct variant *v);

/* Adds the numbers of @m to @sum. */
void fault_add_totals(struct matrix_totals *sum, const struct matrix *m);

/* Print the table of @m with its notes, the same as JSON, and the numbers of several scenarios, of
 * which @n_without had no run with a fault.
 */
void fault_print_text(const struct matrix *m);
void fault_print_json(const struct matrix *m);
void fault_print_totals(const struct matrix_totals *sum, size_t n_without);

#endif
