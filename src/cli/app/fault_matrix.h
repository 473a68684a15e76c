/* SPDX-License-Identifier: MIT */
/* `rdmalab test --fault-matrix`: runs a scenario once for each of its packets and each fault (lost,
 * duplicated, reordered, damaged).  The outcomes (outcome.h) are compared with that of a run
 * without a fault.
 *
 * An expectation of the scenario that does not hold in a run with a fault does not end the run. The
 * table marks it apart from a difference: it may count packets or check times.
 */
#ifndef CLI_APP_FAULT_MATRIX_H
#define CLI_APP_FAULT_MATRIX_H

#include "cli/app/test_run.h"
#include "emu/trace/id.h"
#include "rdmalab/fault.h"

/* The runs of a matrix that are wanted. */
struct fault_choice {
    const char *text; /* value of --fault, "lost:12.3"; NULL: all runs, the rest is not valid */
    size_t happening; /* column of the table */
    ev_id packet;     /* event that sends the packet in the run without a fault */
};

/* Parses a value of --fault.  Returns false and leaves *@ret unchanged if @text is none.  @ret
 * keeps a pointer to @text.
 */
bool fault_choice_parse(const char *text, struct fault_choice *ret);

/* The same for the value of an option.  Prints the error. */
bool fault_choice_read(const char *text, struct fault_choice *ret);

/* Runs of a matrix as cases for report_junit(); {0}: none. */
struct fault_cells {
    struct test_case *v;
    char **names; /* of their faults */
    size_t n, room, names_room;
};

void fault_cells_done(struct fault_cells *cells);

/* Tries all cases of @su, with at most @jobs runs at a time, and prints a table for each case.  If
 * @json, prints one JSON array of all cases instead.  A run with another outcome is printed with
 * its cause and the command line that repeats it.  Adds each run to @cells, unless that is NULL.
 *
 * Return: EXIT_PASSED       no fault changes what programs see, but perhaps its order
 *	   EXIT_FAILED       a fault changes it, an expectation does not hold, or a scenario fails
 *	                     without a fault
 *	   EXIT_USAGE        nothing was tried: there is no packet, or no such run
 *	   and any other exit status of a run, such as EXIT_BROKEN
 */
int fault_matrix(const struct suite *su, const struct fault_choice *choice,
                 const struct test_options *o, size_t jobs, bool json, struct fault_cells *cells);

/* Runs @c without a fault to find the packet of @choice, and sets *@ret to the fault, which is to
 * be added before the scenario begins.  Prints errors.  Returns EXIT_PASSED, EXIT_USAGE if there is
 * no such packet, or the exit status of a run that failed.
 */
int fault_find(const struct test_case *c, const struct test_options *o,
               const struct fault_choice *choice, struct rdl_fault_config *ret);

/* Tries all faults on the one case @c, which passes without them, and prints no table.  Returns the
 * exit status like fault_matrix(), but expectations do not count.  Appends the first outcome that
 * differs to @note.
 */
int fault_matrix_of(const struct test_case *c, const struct test_options *o, size_t jobs,
                    struct text *note);

#endif
