/* SPDX-License-Identifier: MIT */
/* `rdmalab test --fault-matrix`: runs a scenario once for each of its packets and each fault (lost,
 * duplicated, reordered, damaged).  The outcomes (outcome.h) are compared with that of a run
 * without a fault.
 *
 * The expectations of the scenario are checked only in the run without a fault, since they may
 * count packets or check times.
 */
#ifndef CLI_APP_FAULT_MATRIX_H
#define CLI_APP_FAULT_MATRIX_H

#include "cli/app/test_run.h"

/* Tries all cases of @su, with at most @jobs runs at a time, and prints a table for each case.  If
 * @json, prints one JSON array of all cases instead.
 *
 * Return: EXIT_PASSED       no fault changes what programs see
 *	   EXIT_FAILED       a fault changes it, or a scenario fails without a fault
 *	   EXIT_USAGE        nothing was tried: there is no packet
 *	   and any other exit status of a run, such as EXIT_BROKEN
 */
int fault_matrix(const struct suite *su, const struct test_options *o, size_t jobs, bool json);

#endif
