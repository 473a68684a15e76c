/* SPDX-License-Identifier: MIT */
/* Names of hosts and objects of the lab. */
#ifndef CLI_LIVE_EXEC_NAMES_H
#define CLI_LIVE_EXEC_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "program/protocol.h"
#include "rdmalab/lab.h"

#define EXEC_NAME_BYTES 160u /* of the name of an object, "h1.cq1" */

/* Finds the host with the name @name.  Returns RDL_OK or RDL_ERR_NOT_FOUND. */
RDL_MUST_CHECK enum rdl_status exec_find_host(const struct rdl_lab *lab, const char *name,
                                              rdl_host *ret);

/* Copies the name of the host that has the address @gid to @ret.  Returns false if none has. */
bool exec_name_of_host(const struct rdl_lab *lab, const uint8_t gid[16], char ret[RDL_NAME_BYTES]);

/* Copies the name of an object to @ret; "?" if it does not exist. */
void exec_name_of_object(const struct rdl_lab *lab, enum program_kind kind, uint64_t handle,
                         char ret[EXEC_NAME_BYTES]);

#endif
