/* SPDX-License-Identifier: MIT */
/* Prints the RDMA devices of hosts as the tool rdma of iproute2 prints those of a machine: `rdma
 * link`, `rdma dev` and `rdma resource`.  A device has the name of its host.
 */
#ifndef CLI_SHOW_SHOW_RDMA_H
#define CLI_SHOW_SHOW_RDMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "rdmalab/lab.h"

/* Prints the view @view, such as "link", of the devices of @host and of its guests; "": of all
 * hosts.  Returns false if there is no such view.
 */
bool show_rdma(FILE *out, const struct rdl_lab *lab, const char *view, const char *host,
               enum show_form form);

/* Returns the name of view @i; NULL: there are no more. */
const char *show_rdma_view(size_t i);

#endif
