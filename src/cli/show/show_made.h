/* SPDX-License-Identifier: MIT */
/* Makers: the calls of programs of the machine that made their objects. */
#ifndef CLI_SHOW_SHOW_MADE_H
#define CLI_SHOW_SHOW_MADE_H

#include <stdbool.h>
#include <stdio.h>

#include "rdmalab/lab.h"

struct live;
struct live_ops;
struct show_request;

/* Prints a line about the object at @path: "  made by program 1 (./server), its 2nd ibv_create_qp,
 * server.c:71".  With @named the object can have more behind it, as in "h1.cq2.wc[0]", and the line
 * begins with "  h1.cq2 was made by".  Prints nothing if no program made it.  @live may be NULL.
 */
void show_made(FILE *out, const struct rdl_lab *lab, const struct live_ops *ops,
               const struct live *live, const char *path, bool named);

/* Prints such lines for all objects of @host, or of all hosts if it is ""; for those of the kind
 * @node ("qp") alone if that is not NULL.  Objects that one call made one after the other share a
 * line.
 */
enum rdl_status show_all_made(FILE *out, const struct rdl_lab *lab, const struct show_request *rq,
                              const char *host, const char *node);

#endif
