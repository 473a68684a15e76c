/* SPDX-License-Identifier: MIT */
/* Judges what a random run shows to its programs, completions and memory, by its plan. */
#ifndef CLI_TRIAL_SWARM_JUDGE_H
#define CLI_TRIAL_SWARM_JUDGE_H

#include "cli/programs/rig.h"
#include "cli/trial/swarm_plan.h"

#define SWARM_RECV_ID 1000u /* wr_id of the first receive; that of the first request is 0 */

/* What a lane has done. */
struct swarm_lane_state {
    uint32_t reqs, recvs;           /* posted */
    uint32_t reqs_done, recvs_done; /* known to be complete */
    uint32_t reqs_ok, recvs_ok;     /* with success */
    uint32_t reqs_alive;            /* posted before it was known that the queue pair is in ERR */
    bool failed;                    /* it is */
    bool sends_failed;              /* and a request said so */
    uint64_t found[SWARM_REQS];     /* by shared atomics */
};

struct swarm_run {
    struct swarm_plan *plan;
    struct rig *rig;
    struct rig_side *side; /* by lane */
    struct swarm_lane_state lane[SWARM_LANES_MAX];
    enum profile profile[SWARM_HOSTS];
    bool is_faulty;    /* frames are lost or late: retries may not be enough */
    const char *wrong; /* what went wrong, NULL: nothing; where: */
    unsigned wrong_lane;
    uint32_t wrong_id; /* wr_id there; UINT32_MAX: of no request */
};

/* @right must hold of what has @id at @lane. */
void swarm_expect(struct swarm_run *run, bool right, unsigned lane, uint64_t id, const char *what);

/* The next completion of @lane. */
void swarm_judge_wc(struct swarm_run *run, unsigned lane, const struct rdl_wc *wc);

/* When nothing is to come any more: what all memory has become. */
void swarm_judge_end(struct swarm_run *run);

/* Does @lane post what its peer refuses, or too much at a time? */
bool swarm_is_bad(const struct swarm_plan *p, unsigned lane);

#endif
