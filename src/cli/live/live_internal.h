/* SPDX-License-Identifier: MIT */
/* Internal interface between live_uv.c (clock and ports) and live_program.c and related files
 * (programs).
 */
#ifndef CLI_LIVE_LIVE_INTERNAL_H
#define CLI_LIVE_LIVE_INTERNAL_H

#include <uv.h>

#include "cli/live/live.h"

#define LIVE_PORTS_MAX 8u
#define NS_PER_S       1000000000u

struct live_program;
struct live_vm;
struct live_exec;

struct live_port {
    struct live *live;
    int fd;                 /* -1: the device was removed */
    uint32_t read_max;      /* maximum of frames to read in the next turn */
    uint32_t missed_before; /* result of tap_missed() when the device was attached */
    struct live_port_info info;
};

/* All that is live in a session.  A *turn* is one call of live_ops.begin_turn(), a run of the lab,
 * and one call of live_ops.pump().
 */
struct live {
    uv_loop_t loop;
    struct rdl_lab *lab;
    FILE *out;  /* a stream of open_memstream() that writes to @said */
    char *said; /* output of programs and messages, for live_ops.said() */
    size_t said_bytes;
    struct live_port ports[LIVE_PORTS_MAX];
    uint32_t n_ports;
    struct live_program *programs;
    struct live_vm *vms;
    struct live_exec *exec; /* programs of the machine; NULL: there was none */
    bool attached;          /* result of live_ops.attached() */
    /* The machine's clock when it was last read, which is at least once per turn. */
    uint64_t machine_ns;
    uint64_t attached_ns, base_ns; /* machine's clock, and simulated time, when @attached was set */
    bool is_virtual;    /* it advances while all programs wait, and does not follow that clock */
    bool turned;        /* virtual time: this turn had something to do */
    bool held;          /* simulated time does not follow the machine's clock: it is @base_ns */
    uint64_t active_ns; /* simulated time when a frame or a request of a VM was last read */
    uint64_t heard_ns;  /* simulated time when the programs' connections were last checked */
    bool has_news;      /* when the process slept last, something was ready for @loop */
    bool has_read;      /* a frame or a request of a VM was read in this turn */
    bool has_backlog;   /* after the last turn due events were left: nothing is read in this one */
    uint64_t worked_ns; /* machine's clock when a program made a request last */
    bool has_work;      /* a program made a request to the lab in the last turn */
    struct live_clock clock;
};

/* Sets the message of @e to "@what: @why", and its remedy. */
void live_error_set(struct live_error *e, const char *what, const char *why, const char *remedy);

/* Advances simulated time to the machine's clock, before something from outside is passed to the
 * lab.  Does nothing if an event of the lab is due before that time.
 */
void live_move_clock(struct live *l);

/* Couples simulated time to the machine's clock, when the first live thing is attached. */
void live_attach(struct live *l);

/* The implementations of live_ops.pingpong and live_ops.verbs_peer. */
bool live_pingpong_start(struct live *l, const struct pingpong_config *config,
                         struct live_error *reterr);
bool live_verbs_peer_start(struct live *l, const struct verbs_peer_config *config, FILE *lines,
                           struct live_error *reterr);

enum live_acted {
    LIVE_IDLE,  /* neither of the following */
    LIVE_TALKS, /* no request, but a program is in the state LIVE_PROGRAM_TALKS */
    LIVE_ACTED  /* a program made a request to the lab */
};

/* Executes every program as far as possible.  Returns LIVE_ACTED if any of them made a request,
 * otherwise LIVE_TALKS if any of them talks to its peer over TCP or waits for its words, otherwise
 * LIVE_IDLE.
 */
enum live_acted live_programs_go(struct live *l);

void live_programs_free(struct live *l); /* call it after their handles have been closed */

/* The implementations of the members of live_ops with these names. */
bool live_programs_run(const struct live *l);
bool live_programs_failed(struct live *l, struct live_error *reterr);
bool live_program_at(const struct live *l, uint32_t i, struct live_program_info *ret);

#endif
