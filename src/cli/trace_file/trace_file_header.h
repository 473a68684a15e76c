/* SPDX-License-Identifier: MIT */
/* The first line of a saved trace.
 *
 *	{"format":"rdmalab-trace", "version":1, "rdmalab":"0.1.0", "seed":1, "title":"...",
 *	 "events":N,                        how many lines follow
 *	 "forgotten":N,                     events that were older
 *	 "gap":{"from":TICK, "to":TICK},    while recording was off; no "to": it still was
 *	 "hosts":[{"number":0, "name":"h1", "mac":"...", "addr":"...", "first_qpn":2}],
 *	 "ports":[{"number":4096, "name":"p1"}],
 *	 "objects":[{"host":0, "object":"QP", "number":2, "name":"qp"}]}
 *
 * Title and gap are left out if there are none.  Hosts and objects are written as the fields of
 * their events, but that a host is a number in all of them.
 */
#ifndef CLI_TRACE_FILE_TRACE_FILE_HEADER_H
#define CLI_TRACE_FILE_TRACE_FILE_HEADER_H

#include <stdio.h>

#include "emu/past/past.h"
#include "rdmalab/status.h"

#define TRACE_FILE_FORMAT         "rdmalab-trace"
#define TRACE_FILE_FORMAT_VERSION 1u

/* Writes it, with its line end.  RDL_ERR_NOMEM: nothing was written. */
RDL_MUST_CHECK enum rdl_status trace_file_header_write(FILE *out, const struct past *p,
                                                       const struct past_about *about);

#endif
