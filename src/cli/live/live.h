/* SPDX-License-Identifier: MIT */
/* Live ports: the outside world of a session.
 *
 * While anything live is attached, the simulated clock follows the machine's monotonic clock: what
 * is due runs, late work runs in order, and while nothing is due the session waits for the clock or
 * for a frame.  The command layer reaches all this through struct live_ops, so that it compiles
 * without an event loop; live_uv.c implements it with libuv.
 */
#ifndef CLI_LIVE_LIVE_H
#define CLI_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/programs/pingpong.h"
#include "cli/programs/verbs_peer.h"
#include "rdmalab/lab.h"
#include "rdmalab/port.h"

struct live;

#define LIVE_ERROR_BYTES 256u

/* What went wrong outside the lab, and what can be done about it. */
struct live_error {
    char message[LIVE_ERROR_BYTES];
    char remedy[LIVE_ERROR_BYTES];
};

/* How far the lab was behind the clock. */
struct live_clock {
    uint64_t lag_ns, lag_max_ns;
};

struct live_port_info {
    char device[RDL_NAME_BYTES];
    rdl_port port;
    bool gone;            /* the device was removed */
    uint64_t read_frames; /* from the device */
    uint64_t written_frames;
    uint64_t refused_frames; /* the device did not take them */
    uint64_t missed_frames;  /* the kernel dropped them: they were not read in time */
};

struct live_program_info {
    const char *name; /* of its kind */
    char host[RDL_NAME_BYTES];
    bool server;
    bool done, failed;
    char state[64];    /* for people: "running", "line 12: poll_cq" */
    const char *error; /* if it failed; valid until the session goes on */
    bool counts;       /* messages, which the numbers below are */
    uint32_t n_sent, n_rcvd, iters;
};

/* A virtual machine to start.  Everything is copied. */
struct live_vm_config {
    rdl_host host; /* rdl_host_config.external */
    const char *host_name;
    const char *command; /* for a shell, in which $LAB is what QEMU must be told of the lab */
    const char *log;     /* file that gets what it prints; may be NULL */
};

struct live_vm_info {
    char host[RDL_NAME_BYTES];
    bool runs, failed;
    int pid;             /* of its shell; 0 */
    uint64_t accesses;   /* to functions of the lab */
    uint64_t maps;       /* times it has said where its memory is */
    uint64_t interrupts; /* that were sent to it; merged with one that waited */
    uint64_t merged;
    int log_error;  /* errno: its log ends before its output does; 0 */
    char line[160]; /* the last that it has printed */
};

struct live_ops {
    struct live *(*open)(struct rdl_lab *lab); /* NULL: no memory */
    void (*close)(struct live *l);             /* NULL is fine */

    /* Creates or attaches the tap device @device and links it to the node @node as one more
     * endpoint called @device.  False: @reterr says why.
     */
    bool (*tap)(struct live *l, const char *device, const char *node, struct live_error *reterr);

    /* Starts the virtual machine that is a host's guest.  It counts as a program that runs. */
    bool (*vm)(struct live *l, const struct live_vm_config *config, struct live_error *reterr);

    /* Starts a pingpong on a host.  Everything in @config is copied. */
    bool (*pingpong)(struct live *l, const struct pingpong_config *config,
                     struct live_error *reterr);

    /* Starts verbs_peer on a host.  @lines is closed when it ends, and stays the caller's if this
     * fails.
     */
    bool (*verbs_peer)(struct live *l, const struct verbs_peer_config *config, FILE *lines,
                       struct live_error *reterr);

    /* Is there anything that makes the clock follow real time? */
    bool (*attached)(const struct live *l);

    /* Before the lab goes on: notes how late it is, and lets frames in that wait outside, so that
     * what is due at once knows of them.  Return: simulated time that the clock has reached.
     */
    uint64_t (*begin_turn)(struct live *l);

    /* Brings simulated time up to the clock, unless something is due before, and then as near as
     * that allows: for what a person does now.
     */
    void (*catch_up)(struct live *l);

    /* After it: lets programs act; if nothing is to be done, waits until simulated time @until_ns
     * or until something happens, whichever comes first: a frame, a step of a program, a signal, or
     * input at the file descriptor @input (-1: none).
     */
    void (*pump)(struct live *l, uint64_t until_ns, int input);

    /* Is there something to read at a file descriptor?  A signal is nothing to read. */
    bool (*has_input)(int fd);

    /* What programs have printed and what became of devices since the last call, lines of text that
     * are valid until anything else is called; NULL: nothing.
     */
    const char *(*said)(struct live *l);

    /* Programs that run, and whether one that ended had failed, which is told once. */
    bool (*programs_run)(const struct live *l);
    bool (*programs_failed)(struct live *l, struct live_error *reterr);

    /* For `show live`.  False: there are not so many. */
    void (*clock)(const struct live *l, struct live_clock *ret);
    bool (*port_at)(const struct live *l, uint32_t i, struct live_port_info *ret);
    bool (*program_at)(const struct live *l, uint32_t i, struct live_program_info *ret);
    bool (*vm_at)(const struct live *l, uint32_t i, struct live_vm_info *ret);

    /* May this process make tap devices?  NULL, or why not. */
    const char *(*obstacle)(void);
};

/* The one with libuv; NULL in a build without it. */
extern const struct live_ops *const live_ops;

#endif
