/* SPDX-License-Identifier: MIT */
/* A drill of keys: what its files share.
 *
 * Host h2 has memory of ROOM_BYTES with regions and windows on it, h1 comes with their keys.  What
 * each key opens is told by struct kept alone; what memory must hold, by a copy of it.
 */
#ifndef SWARM_DRILLS_DRILL_KEYS_H
#define SWARM_DRILLS_DRILL_KEYS_H

#include "emu/facts/enums.h"
#include "rdmalab/memory.h"
#include "swarm/drills/rig.h"

#define ROOM_BYTES 20480u
#define REGIONS    5u /* slots of regions, */
#define KEEPS      9u /* and of windows behind them */
#define PAIRS      3u /* of queue pairs; the last one is of the other domain */
#define FAST_PAGES 4u
#define NO_PAIR    PAIRS
#define REMOTE_ALL ((uint32_t)(ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC))
#define KEY_LOW    0xffu
#define KEY_PAGE   4096u

enum kept_kind { KEPT_NOTHING, KEPT_PLAIN, KEPT_FAST, KEPT_WINDOW };

/* A region or a window, as it must be. */
struct kept {
    enum kept_kind kind;
    bool is_valid;
    unsigned domain;
    uint32_t rkey;
    uint32_t known;  /* key of a region as its driver has it: also of a REG_MR that was refused */
    uint32_t access; /* set of enum access_bit */
    uint64_t name;   /* what its first byte is called */
    uint32_t at;     /* where that is in the room */
    uint32_t bytes;
    uint32_t n_windows; /* of a region: that are bound to it */
    rdl_mr mr;
    char called[RDL_NAME_BYTES];

    /* Of a fast region: what it may allow, and what it will be over. */
    uint32_t allocated, next_at, next_bytes; /* next_bytes: 0: nothing was mapped */

    /* Of a window. */
    rdl_mw mw;
    uint32_t type; /* 1, 2 */
    unsigned slot; /* of the region that it is bound to, if it is valid */
    unsigned pair; /* that alone may come with it; NO_PAIR: all may */
};

struct keys {
    bool is_rxe;
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd[RIG_HOSTS][2];
    rdl_cq cq[RIG_HOSTS];
    uint64_t base[RIG_HOSTS]; /* of memory */
    uint32_t mine[RIG_HOSTS]; /* key of all of it; of h2, of a receive's */
    struct rig_end end[RIG_HOSTS][PAIRS];
    struct kept kept[KEEPS];
    uint32_t n_named;
    uint64_t wr_id;
    uint8_t room[ROOM_BYTES], have[ROOM_BYTES];
};

/* The slot whose key has the index of @rkey; NULL: none. */
struct kept *keys_find(struct keys *k, uint32_t rkey);

/* May a queue pair of @pair touch @bytes from @addr by @rkey?  @access: what for, 0 to read
 * locally.
 */
bool keys_open(struct keys *k, uint32_t rkey, unsigned pair, uint64_t addr, uint32_t bytes,
               uint32_t access);

/* Does the key at least open something to it, if perhaps not these bytes? */
bool keys_fit(struct keys *k, uint32_t rkey, unsigned pair, uint32_t access);

/* Some slot that is taken, most often; NULL: none was found. */
struct kept *keys_pick(struct drill *d, unsigned from, unsigned to);

/* A window shows nothing any more. */
void keys_unbind(struct keys *k, struct kept *w);

/* The domain of @pair. */
static inline unsigned keys_domain(unsigned pair)
{
    return pair == PAIRS - 1;
}

/* Posts @wr to the end of @pair at @host and waits for its completion, which must have @status; if
 * it fails, the pair is connected anew.
 */
bool keys_post(struct drill *d, unsigned host, unsigned pair, struct rdl_send_wr *wr,
               uint32_t status, const char *what);

/* To RESET and up again, both. */
bool keys_reconnect(struct drill *d, unsigned pair);

/* Must the memory of h2 be what it is? */
bool keys_check_room(struct drill *d);

/* The steps: uses (drill_keys_use.c), changes (drill_keys_change.c). */
void keys_use_remotely(struct drill *d);
void keys_use_locally(struct drill *d);
void keys_register(struct drill *d);
void keys_deregister(struct drill *d);
void keys_reregister(struct drill *d);
void keys_map(struct drill *d);
void keys_reg_mr(struct drill *d);
void keys_bind(struct drill *d);
void keys_invalidate(struct drill *d);
void keys_send_with_inv(struct drill *d);
void keys_replace_pair(struct drill *d);

#endif
