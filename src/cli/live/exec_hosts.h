/* SPDX-License-Identifier: MIT */
/* The names and addresses of the hosts of the lab, for programs (src/program/files/network.c). */
#ifndef CLI_LIVE_EXEC_HOSTS_H
#define CLI_LIVE_EXEC_HOSTS_H

#include <stdbool.h>

#include "rdmalab/lab.h"

/* Writes PROGRAM_HOSTS_FILE in the directory @dir, in place of an older one.  Returns false with
 * errno on failure.
 */
bool exec_hosts_write(const struct rdl_lab *lab, int dir);

#endif
