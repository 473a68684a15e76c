/* SPDX-License-Identifier: MIT */
/* What live_uv.c (clock and ports) and live_program.c and its like (programs) know of each other.
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
    int fd;                 /* -1: the device is gone */
    uint32_t read_max;      /* frames, before the lab goes on */
    uint32_t missed_before; /* tap_missed(), when it was attached */
    struct live_port_info info;
};

struct live {
    uv_loop_t loop;
    struct rdl_lab *lab;
    FILE *out; /* a stream into said */
    char *said;
    size_t said_bytes;
    struct live_port ports[LIVE_PORTS_MAX];
    uint32_t n_ports;
    struct live_program *programs;
    struct live_vm *vms;
    bool attached;
    uint64_t machine_ns; /* the machine's clock when it was read last, at least once a turn */
    uint64_t attached_ns, base_ns; /* the machine's clock and simulated time, when they met */
    uint64_t active_ns;            /* simulated: when a frame was read last */
    uint64_t heard_ns;             /* simulated: when programs' connections were looked at last */
    bool has_read;                 /* a frame, in this turn */
    bool has_backlog;              /* the last turn was too short for what was due */
    bool has_work;                 /* a program has asked something of the lab in the last turn */
    struct live_clock clock;
};

void live_error_set(struct live_error *e, const char *what, const char *why, const char *remedy);

/* Something comes from outside now: simulated time moves on to it, unless something is due before.
 */
void live_move_clock(struct live *l);

/* From the first live thing on, the clocks go together. */
void live_attach(struct live *l);

bool live_pingpong_start(struct live *l, const struct pingpong_config *config,
                         struct live_error *reterr);
bool live_verbs_peer_start(struct live *l, const struct verbs_peer_config *config, FILE *lines,
                           struct live_error *reterr);

enum live_acted {
    LIVE_IDLE,
    LIVE_TALKS, /* a program is in its exchange over TCP */
    LIVE_ACTED  /* a program has asked something of the lab */
};

/* Lets every program act. */
enum live_acted live_programs_go(struct live *l);

void live_programs_free(struct live *l); /* after their handles have been closed */
bool live_programs_run(const struct live *l);
bool live_programs_failed(struct live *l, struct live_error *reterr);
bool live_program_at(const struct live *l, uint32_t i, struct live_program_info *ret);

#endif
