/* SPDX-License-Identifier: MIT */
/* Live ports: connect a session to the machine outside the lab.
 *
 * While anything live is attached, the simulated clock follows the machine's monotonic clock.  Due
 * events run, in their order even if the lab is late.  While nothing is due, the session waits for
 * the clock or for a frame.  The command layer uses struct live_ops, so that it compiles without an
 * event loop; live_uv.c implements it with libuv.
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

#define LIVE_ERROR_BYTES 512u
#define LIVE_STATUS_MAX  255u

/* An error outside the lab, and what the user can do. */
struct live_error {
    char message[LIVE_ERROR_BYTES];
    char remedy[LIVE_ERROR_BYTES];
    /* Only programs_failed() sets them: live_exec_config.place of the program, and what the lab
     * knows about its failure: "the lab had refused ibv_create_qp(): ...".
     */
    const char *place, *hint;
};

/* The lag: how far the lab is behind the machine's clock, now and at most so far. */
struct live_clock {
    uint64_t lag_ns, lag_max_ns;
    bool is_virtual; /* time is virtual, so that there is no lag */
};

struct live_port_info {
    char device[RDL_NAME_BYTES]; /* name of the tap device, and of the port */
    rdl_port port;
    bool gone;            /* the device was removed */
    uint64_t read_frames; /* number of frames read from the device */
    uint64_t written_frames;
    uint64_t refused_frames; /* number of frames that the device did not accept */
    uint64_t missed_frames;  /* number that the kernel dropped since they were not read in time */
};

struct live_program_info {
    const char *name; /* name of the kind of program: "rc_pingpong" */
    uint32_t number;  /* live_exec_info.number; 0: @outside is false */
    char host[RDL_NAME_BYTES];
    bool server;  /* the other side connects to it */
    bool outside; /* it is a process of the machine, which may be anything: @server says nothing */
    bool done, failed; /* it has ended: with success, with an error */
    int status;        /* @outside: its exit status; -1: it has not ended */
    char state[64];    /* for people: "running", "line 12: poll_cq" */
    /* Reason if it failed; valid until the session continues. */
    const char *error;
    bool counts;             /* the next members are valid */
    uint32_t n_sent, n_rcvd; /* numbers of messages sent and received */
    uint32_t iters;          /* number of messages to send in all */
};

/* The way for a virtual machine to the lab's functions; each needs a QEMU that has it. */
enum live_vm_transport {
    LIVE_VM_VFIO_USER, /* QEMU 10.1 and later: device vfio-user-pci */
    LIVE_VM_PROXY,     /* QEMU 7.2: device x-pci-proxy-dev */
    LIVE_VM_EITHER     /* vm_find() only: the first one that is possible */
};

struct live_vm_choice {
    enum live_vm_transport transport;
    char text[LIVE_ERROR_BYTES]; /* for people: "QEMU 11.1.3 by vfio-user" */
};

/* A virtual machine to start.  All strings are copied. */
struct live_vm_config {
    enum live_vm_transport transport;
    rdl_host host; /* must have rdl_host_config.external */
    const char *host_name;
    /* Shell command.  $LAB expands to the options that connect QEMU to the lab. */
    const char *command;
    /* File for its output, which the machine empties first, and closes, also on failure.  NULL: the
     * output is not kept.
     */
    FILE *log;
};

struct live_vm_info {
    char host[RDL_NAME_BYTES];
    bool runs, failed; /* it is running; it has ended with an error */
    enum live_vm_transport transport;
    int pid;             /* process id of its shell; 0: none */
    uint64_t accesses;   /* number of its accesses to PCI functions of the lab */
    uint64_t maps;       /* number of memory maps received from QEMU */
    uint64_t interrupts; /* number of interrupts sent to it */
    uint64_t merged;     /* number of interrupts not sent, because an equal one was queued */
    int log_error;       /* errno of a write error, after which the log ends; 0: none */
    /* Frames of its own Ethernet function. */
    bool has_ethernet;
    uint64_t in_frames, out_frames; /* that it has sent, and received */
    uint64_t in_dropped;            /* too long or short, or the line was too slow */
    uint64_t out_dropped;           /* the machine was too slow */
    char line[160];                 /* last line of its output */
};

/* A program of the machine to start on a host.  All strings are copied. */
struct live_exec_config {
    const char *host_name;    /* a host with a guest of the lab and an RDMA device */
    const char *const *words; /* the program and its arguments; NULL ends them */
    uint64_t seed;            /* of the lab: for the random numbers of programs in virtual time */
    /* Exit statuses that are no failure, 0 to LIVE_STATUS_MAX.  An empty list means 0 alone. */
    const uint8_t *statuses;
    size_t n_statuses;
    const char *place; /* of the command that starts it, for messages: "a.lab:4"; "": none */
    bool direct;       /* it has the input and output of this process, and is in its group */
};

/* The use that a program has made of the lab. */
struct live_exec_usage {
    uint32_t n_qps, n_cqs, n_mrs; /* objects that it has now */
    uint64_t calls;               /* of libibverbs, as far as the lab has answered them */
    /* Bytes that adapters have read from its memory, and written to it.  Inline data is read when
     * it is posted.
     */
    uint64_t read_bytes, written_bytes;
};

struct live_exec_info {
    const char *host, *command;
    const char *name; /* host and program without its directory, for people: "h1 server" */
    uint32_t number;  /* counts the programs of the session, from 1 */
    int pid;          /* 0: it has ended */
    bool runs;        /* it has not ended, or its output was not read to the end */
    bool failed;      /* it has ended with a status that is a failure */
    int status;       /* if it has ended: exit status, or 128 plus the number of the signal */
    uint32_t awaited; /* events of the ID in rdma_destroy_id(), its last call; 0: another call */
    const char *overflow; /* "completion queue h1.cq1 of 16 entries has overflowed ..."; "" */
    const char *hint;     /* of one whose failure was told: live_error.hint; "" */
    struct live_exec_usage usage;
};

/* A queue pair that a program has made.  It may be destroyed. */
struct live_qp {
    uint32_t qpn;
    uint64_t tick; /* after which it exists */
};

#define LIVE_WHERE_BYTES 192u

/* The maker of an object. */
struct live_maker {
    uint32_t number;     /* live_exec_info.number; 0: it was not started by exec() */
    const char *program; /* as it was started: "./server" */
    int pid;             /* the process, if the program has started it; 0: it is the program */
    const char *call;    /* "ibv_create_qp" */
    uint32_t nth;        /* this is the object number @nth that the process made so */
    /* The place of the call: "server.c:71", "main of server", "server+0x1189"; "": unknown. */
    char where[LIVE_WHERE_BYTES];
};

/* The operations on live things; see @live_ops. */
struct live_ops {
    /* open() returns NULL with errno on failure.  @is_virtual: simulated time does not follow the
     * machine's clock, but advances only while all programs wait; only exec() may be used then.
     * close() accepts NULL.
     */
    struct live *(*open)(struct rdl_lab *lab, bool is_virtual);
    void (*close)(struct live *l);

    /* Creates the tap device @device, or attaches to it, and links it to the node @node as an
     * external port called @device.  Returns false, with the reason in @reterr, on failure.
     */
    bool (*tap)(struct live *l, const char *device, const char *node, struct live_error *reterr);

    /* Chooses a transport for the QEMU of this machine, which it runs.  Returns false with the
     * reason in @reterr if there is none of the @wanted kind.
     */
    bool (*vm_find)(enum live_vm_transport wanted, struct live_vm_choice *ret,
                    struct live_error *reterr);

    /* Starts the virtual machine that is the guest of a host.  It counts as a running program.
     * Returns false with the error in @reterr.
     */
    bool (*vm)(struct live *l, const struct live_vm_config *config, struct live_error *reterr);

    /* Starts a pingpong on a host.  @config is copied.  Returns false with the error in @reterr. */
    bool (*pingpong)(struct live *l, const struct pingpong_config *config,
                     struct live_error *reterr);

    /* Starts verbs_peer on a host.  On success it closes @lines when it ends.  Returns false with
     * the error in @reterr; then @lines stays open.
     */
    bool (*verbs_peer)(struct live *l, const struct verbs_peer_config *config, FILE *lines,
                       struct live_error *reterr);

    /* Starts a program of the machine, which uses the RDMA device of a host through libibverbs.
     * Its output comes by said().  *@ret_number counts the programs of the session, from 1.
     * Returns false with the error in @reterr.
     */
    bool (*exec)(struct live *l, const struct live_exec_config *config, uint32_t *ret_number,
                 struct live_error *reterr);

    /* Sends @signal to a program by its number.  Returns false if it does not run. */
    bool (*exec_kill)(struct live *l, uint32_t number, int signal);

    /* Returns true from the first successful tap(), vm(), exec(), pingpong() or verbs_peer() on:
     * the clock follows real time, or is virtual.
     */
    bool (*attached)(const struct live *l);

    /* Measures the lag (struct live_clock), and passes waiting frames of the ports and requests of
     * virtual machines to the lab.  Returns the simulated time up to which the lab should run now:
     * a little ahead of the machine's clock.  Call it before the lab runs.
     */
    uint64_t (*begin_turn)(struct live *l);

    /* Advances simulated time to the machine's clock, for a command that a user executes now.  If
     * an event is due before that, time does not advance: the lab must run first.
     */
    void (*catch_up)(struct live *l);

    /* Executes the programs as far as possible.  If there was nothing to do, waits until simulated
     * time @until_ns, a frame, data for a program, a signal, or input at the file descriptor @input
     * (-1: none), whichever is first; or returns earlier.  Call it after the lab has run.
     */
    void (*pump)(struct live *l, uint64_t until_ns, int input);

    /* hold() stops the clock for a breakpoint: programs of the machine wait as long as nothing
     * calls pump().  While it is held, begin_turn() returns the time of the next event.  release()
     * lets the clock go on from where it stands.  hold() returns false, and does nothing, if
     * something from outside cannot wait: a port, a virtual machine.  rest() waits for a moment,
     * for input at @input or output of a program.
     */
    bool (*hold)(struct live *l);
    void (*release)(struct live *l);
    void (*rest)(struct live *l, int input);

    /* Returns true if the file descriptor is readable.  A signal does not count. */
    bool (*has_input)(int fd);

    /* Returns the output of programs and messages about devices since the last call, as lines of
     * text.  They are valid until the next call of any function of @l.  Returns NULL if there are
     * none.
     */
    const char *(*said)(struct live *l);

    /* Returns true if something can come from outside that no program brings: there is a port. */
    bool (*is_open)(const struct live *l);

    /* programs_run() returns true if a program is running.  programs_failed() returns true, with
     * the error in @reterr, if a program has failed; each failure is reported once.
     */
    bool (*programs_run)(const struct live *l);
    bool (*programs_failed)(struct live *l, struct live_error *reterr);

    /* For `show live`.  The functions with an index, which counts from 0, return false if there is
     * no such port, program or virtual machine.
     */
    void (*clock)(const struct live *l, struct live_clock *ret);
    bool (*port_at)(const struct live *l, uint32_t i, struct live_port_info *ret);
    bool (*program_at)(const struct live *l, uint32_t i, struct live_program_info *ret);
    bool (*vm_at)(const struct live *l, uint32_t i, struct live_vm_info *ret);
    bool (*exec_at)(const struct live *l, uint32_t i, struct live_exec_info *ret);

    /* Tells how the object of @kind, an enum object_kind, with the handle @raw was made.  Returns
     * false if no program has made it.  May run addr2line, which can take a few seconds.
     */
    bool (*maker)(const struct live *l, uint32_t kind, uint64_t raw, struct live_maker *ret);

    /* Finds queue pair @k of program @i, which count from 0; of many only the last ones are kept.
     * Tells how it was made in *@ret_maker, unless that is NULL, as maker() does; its @call is NULL
     * if that is not known.  Returns false if there is none.
     */
    bool (*exec_qp_at)(const struct live *l, uint32_t i, uint32_t k, struct live_qp *ret,
                       struct live_maker *ret_maker);

    /* Tells how program @i, which counts from 0, made the region with the key @key, the last one
     * before tick @before; it may be deregistered.  Returns false if the program made none.
     */
    bool (*exec_mr_of)(const struct live *l, uint32_t i, uint32_t key, uint64_t before,
                       struct live_maker *ret_maker);

    /* Returns true if program @i, which counts from 0, waits for a connection of TCP or rdma_cm. */
    bool (*exec_listens)(const struct live *l, uint32_t i);

    /* Returns true if the program that exec() has started last waits for a connection of TCP or
     * rdma_cm, or has ended.  In virtual time: if all programs wait, and nothing is scheduled.
     */
    bool (*exec_is_ready)(const struct live *l);

    /* Returns NULL if this process may create tap devices, otherwise the reason. */
    const char *(*obstacle)(void);
};

/* The implementation with libuv; NULL in a build without it. */
extern const struct live_ops *const live_ops;

#endif
