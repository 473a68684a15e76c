/* SPDX-License-Identifier: MIT */
/* The output of the commands and programs of a test.  It is kept in a temporary file without a
 * name, and shown if the test fails.
 */
#ifndef CLI_APP_PRINTED_H
#define CLI_APP_PRINTED_H

#include <stdio.h>

/* Prints the last lines that each program has written to @printed to @to, below a heading.  Prints
 * nothing if @printed is empty.
 */
void printed_tell(FILE *printed, FILE *to);

/* Writes @printed to the file printed.txt in @directory, which is created if it is missing.  Prints
 * an error to @err.  Writes nothing if @printed is empty.
 */
void printed_keep(FILE *printed, const char *directory, FILE *err);

#endif
