/* SPDX-License-Identifier: MIT */
/* `rdmalab test --fault-matrix`: what becomes of a scenario when one of its packets is lost, comes
 * twice, changes places with the next, or is damaged?
 *
 * The scenario runs once without a fault; then once for each packet that it sent and each thing
 * that can happen to it.  The outcomes (outcome.h) are a table.
 * What the scenario expects is looked at only without a fault: it may count packets, or say when
 * something happens.
 */
#ifndef CLI_APP_FAULT_MATRIX_H
#define CLI_APP_FAULT_MATRIX_H

#include "cli/app/test_run.h"

/* Tries all cases of @su, @jobs processes at a time, and prints the tables, as one JSON array if
 * @json.
 *
 * Return: EXIT_PASSED       whatever happens to a packet, programs see the same
 *	   EXIT_FAILED       they do not; or a scenario fails without a fault
 *	   EXIT_USAGE        nothing was tried: there is no packet
 *	   and what else a run may end with, EXIT_BROKEN above all
 */
int fault_matrix(const struct suite *su, const struct test_options *o, size_t jobs, bool json);

#endif
