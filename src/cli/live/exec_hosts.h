/* SPDX-License-Identifier: MIT */
/* The names and addresses of the hosts of the lab, for programs (src/program/files/network.c). */
#ifndef CLI_LIVE_EXEC_HOSTS_H
#define CLI_LIVE_EXEC_HOSTS_H

#include <stdbool.h>

#include "rdmalab/lab.h"

#define EXEC_HOSTS_FILE "hosts"

/* Writes the file in the directory @dir, in place of an older one: a line "10.0.0.1 h1 127.77.0.1"
 * for each address of a host, with the address of this machine that stands for it.  Returns false
 * with errno on failure.
 */
bool exec_hosts_write(const struct rdl_lab *lab, int dir);

#endif
