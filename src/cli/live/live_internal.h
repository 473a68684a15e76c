/* SPDX-License-Identifier: MIT */
/* Internal interface between live_uv.c (clock and ports) and live_program.c and related files
 * (programs).
 */
#ifndef CLI_LIVE_LIVE_INTERNAL_H
#define CLI_LIVE_LIVE_INTERNAL_H

#include <uv.h>

#include "cli/live/live.h"

#define LIVE_PORTS_MAX 8u

struct live_program;
struct live_vm;

struct live_port {
    struct live *live;
    int fd;                 /* -1: the device was removed */
    uint32_t read_max;      /* frames to read before the lab runs */
    uint32_t missed_before; /* tap_missed() at the time when the device was attached */
    struct live_port_info info;
};

struct live {
    uv_loop_t loop;
    struct rdl_lab *lab;
    FILE *out; /* a stream that writes to @said */
    char *said;
    size_t said_bytes;
    struct live_port ports[LIVE_PORTS_MAX];
    uint32_t n_ports;
    struct live_program *programs;
    struct live_vm *vms;
    bool attached;
    /* Machine's clock when it was last read, at least once per turn. */
    uint64_t machine_ns;
    uint64_t attached_ns, base_ns; /* machine's clock and simulated time at the first attachment */
    uint64_t active_ns;            /* simulated time when a frame was last read */
    uint64_t heard_ns; /* simulated time when the programs' connections were last checked */
    bool has_read;     /* a frame was read in this turn */
    bool has_backlog;  /* the last turn was too short for all due events */
    bool has_work;     /* a program made a request to the lab in the last turn */
    struct live_clock clock;
};

void live_error_set(struct live_error *e, const char *what, const char *why, const char *remedy);

/* Advances simulated time to the machine's clock, before something from outside is passed to the
 * lab.  Does nothing if an event of the lab is due before that time.
 */
void live_move_clock(struct live *l);

/* Couples simulated time to the machine's clock, when the first live thing is attached. */
void live_attach(struct live *l);

bool live_pingpong_start(struct live *l, const struct pingpong_config *config,
                         struct live_error *reterr);
bool live_verbs_peer_start(struct live *l, const struct verbs_peer_config *config, FILE *lines,
                           struct live_error *reterr);

enum live_acted {
    LIVE_IDLE,
    LIVE_TALKS, /* a program is exchanging data over TCP */
    LIVE_ACTED  /* a program made a request to the lab */
};

/* Executes every program as far as possible, and returns the most active result of all. */
enum live_acted live_programs_go(struct live *l);

void live_programs_free(struct live *l); /* call it after their handles have been closed */
bool live_programs_run(const struct live *l);
bool live_programs_failed(struct live *l, struct live_error *reterr);
bool live_program_at(const struct live *l, uint32_t i, struct live_program_info *ret);

#endif
