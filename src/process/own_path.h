/* SPDX-License-Identifier: MIT */
/* The file of the running program. */
#ifndef PROCESS_OWN_PATH_H
#define PROCESS_OWN_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Writes the absolute path of the running program to @ret, which has @room bytes.  Returns false,
 * with "" in @ret, if it is not known or does not fit.
 */
bool own_path(char *ret, size_t room);

#endif
