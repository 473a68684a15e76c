/* SPDX-License-Identifier: MIT */
/* The header: the first line of a saved trace.
 *
 *	{"format":"rdmalab-trace", "version":1, "rdmalab":"0.1.0", "seed":1, "title":"...",
 *	 "events":N,                        number of lines that follow
 *	 "forgotten":N,                     number of older events
 *	 "gap":{"from":TICK, "to":TICK},    recording was off; no "to": it still was
 *	 "hosts":[{"number":0, "name":"h1", "mac":"...", "addr":"...", "first_qpn":2}],
 *	 "ports":[{"number":4096, "name":"p1"}],
 *	 "objects":[{"host":0, "object":"QP", "number":2, "name":"qp"}],
 *	 "calls":[{"before":"#7", "at_ns":N, "call":"rdma_connect", "host":0, "cm_id":1},
 *	          {"behind":"#9", "call":"rdma_get_cm_event", "event":"ESTABLISHED", ...}]}
 *
 * A call of a program stands before or behind all events of a tick; a refused one has "error".
 * Title, gap and calls are omitted if there are none.  Hosts and objects have the fields of their
 * events, except that a host is always a number.
 */
#ifndef CLI_TRACE_FILE_TRACE_FILE_HEADER_H
#define CLI_TRACE_FILE_TRACE_FILE_HEADER_H

#include <stdio.h>

#include "emu/past/past.h"
#include "rdmalab/status.h"

#define TRACE_FILE_FORMAT         "rdmalab-trace"
#define TRACE_FILE_FORMAT_VERSION 1u

/* The header begins with this, which tells that rdmalab has written it. */
#define TRACE_FILE_MARK "{\"format\":\"" TRACE_FILE_FORMAT "\",\"version\":"

/* Writes the header with its line end.  Writes nothing if it returns RDL_ERR_NOMEM. */
RDL_MUST_CHECK enum rdl_status trace_file_header_write(FILE *out, const struct past *p,
                                                       const struct past_about *about);

#endif
