/* SPDX-License-Identifier: MIT */
/* Base of the programs that run on hosts: their host, their TCP connection to the other side, and
 * the operations that live_program.c calls.
 */
#ifndef CLI_LIVE_LIVE_PROGRAM_H
#define CLI_LIVE_LIVE_PROGRAM_H

#include "cli/live/live_internal.h"
#include "cli/live/live_tcp.h"

enum live_program_state {
    LIVE_PROGRAM_TALKS, /* talks to its peer over TCP, or waits for its words */
    LIVE_PROGRAM_RUNS,  /* uses RDMA */
    LIVE_PROGRAM_DONE,
    LIVE_PROGRAM_FAILED
};

struct live_program_ops {
    void (*go)(struct live_program *g); /* executes the program as far as possible */
    enum live_program_state (*state)(const struct live_program *g);
    bool (*asks)(const struct live_program *g); /* true if its control request is pending */
    /* If it has failed: the error, and a remedy, which may be "". */
    const char *(*error)(const struct live_program *g);
    const char *(*remedy)(const struct live_program *g);
    /* Fills in the members that only this kind of program has. */
    void (*info)(const struct live_program *g, struct live_program_info *ret);
    void (*free)(struct live_program *g);
};

/* First member of the struct of each program. */
struct live_program {
    const struct live_program_ops *ops;
    const char *name; /* name of the kind of program */
    struct live *live;
    struct live_program *next;
    rdl_host host;
    const char *host_name;
    struct live_tcp tcp;
    bool reported; /* its failure was reported by live_ops.programs_failed() */
};

/* Adds a new program, whose members ops, name, host, host_name and tcp (without tcp.loop) are set.
 * ops->free() will free it.
 */
void live_program_add(struct live *l, struct live_program *g);

/* The remedy for an other side that is silent, or speaks something else. */
extern const char live_program_patience_remedy[];

/* Returns the remedy for an error of the TCP connection. */
const char *live_program_tcp_remedy(const struct live_program *g);

/* Returns the remedy for an error without a remedy of its own: commands that show more. */
const char *live_program_look(const struct live_program *g);

#endif
