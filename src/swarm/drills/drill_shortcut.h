/* SPDX-License-Identifier: MIT */
/* The drill of the shortcut: its two labs, and the functions that compare them. */
#ifndef SWARM_DRILLS_DRILL_SHORTCUT_H
#define SWARM_DRILLS_DRILL_SHORTCUT_H

#include "rdmalab/inspect.h"
#include "rdmalab/srq.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/rig.h"

#define LANES        2u /* the labs: without the shortcut, and with it */
#define SIDES        2u
#define PAIRS        2u /* of queue pairs: RC, UC */
#define ROOM         (256u << 10)
#define DEPTH        32u
#define BATCH_MAX    6u
#define PIECES       3u
#define SHARED_AT    (ROOM - SHARED_BYTES) /* buffer of all shared receives */
#define SHARED_BYTES 20480u

/* Ways in which a request can be wrong. */
enum twin_wrong {
    WRONG_NONE,
    WRONG_LKEY, /* no such key */
    WRONG_RKEY,
    WRONG_RIGHT,   /* the region of the peer allows no remote access */
    WRONG_RANGE,   /* behind the region of the peer */
    WRONG_LOCAL,   /* behind the own region */
    WRONG_RECEIVE, /* the receive is too small */
    WRONG_NO_RECEIVE,
    WRONG_ALIGNMENT, /* of an atomic */
    WRONG_KINDS
};

/* A lab, and the objects of its two guests. */
struct twin_lab {
    struct drill *d; /* whose lab it is */
    rdl_host host[SIDES];
    rdl_pd pd[SIDES];
    rdl_cq cq[SIDES][PAIRS][2]; /* of sends, and of receives */
    rdl_srq srq[SIDES];         /* of the queue pair of the first pair, if the drill has one */
    struct rig_end end[SIDES][PAIRS];
    uint64_t base[SIDES];
    struct rdl_mr_info open[SIDES], closed[SIDES]; /* for the peer, and not */
    bool torn;                                     /* a message of this step has failed */
    size_t n_values, room;
    struct twin_value *values;
};

/* A value of the tree. */
struct twin_value {
    char path[RDL_PATH_BYTES];
    struct rdl_value is;
};

/* A piece of the memory of a guest. */
struct twin_piece {
    unsigned side;
    uint32_t at, bytes;
};

/* A request, in terms of both labs. */
struct twin_request {
    uint32_t opcode, flags, bytes;
    enum twin_wrong wrong;
    struct twin_piece from[PIECES]; /* memory of its own side */
    uint32_t n_from;
    struct twin_piece to; /* memory of the peer, or the receive */
    uint64_t compare_add, swap;
    bool same_word; /* of CMP_AND_SWP: the compare value is that of the memory */
};

struct twins {
    struct drill other; /* for the lab without the shortcut */
    struct twin_lab lane[LANES];
    uint32_t used[SIDES];   /* bytes of memory that this step has taken */
    bool has_srq, is_sound; /* as in struct twin_config */
    bool is_virtio;
    bool any_rxe; /* a side is like rxe */
    uint32_t pair, n_wr;
    /* Memory that may differ: of messages that failed. */
    struct twin_piece torn[2 * (BATCH_MAX * (PIECES + 1) + 1)];
    uint32_t n_torn;
    bool failed; /* a request of this step has failed */
};

/* The functions below compare both labs after a step, and return false if the drill has failed. */

/* Takes the completions of the pair of this step. */
bool twins_same_completions(struct drill *d);

/* Takes the asynchronous events of @side. */
bool twins_same_events(struct drill *d, unsigned side);

/* Makes the torn memory of the second lab like that of the first. */
bool twins_mend(struct drill *d);

/* Compares the memory of @side, and all that the tree says of it. */
bool twins_same_memory(struct drill *d, unsigned side);
bool twins_same_tree(struct drill *d, unsigned side);

#endif
