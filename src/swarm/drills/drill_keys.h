/* SPDX-License-Identifier: MIT */
/* The drill of keys: the interface between its files.
 *
 * Host h2 has ROOM_BYTES of memory with regions and windows on it.  Host h1 accesses this memory
 * with their keys.  struct kept is the model of one key: the memory and the rights that the key
 * grants.  keys.room is the model of h2's memory.
 *
 * Functions that return bool return false if the drill failed, unless their comment says otherwise.
 */
#ifndef SWARM_DRILLS_DRILL_KEYS_H
#define SWARM_DRILLS_DRILL_KEYS_H

#include "emu/facts/enum/access.h"
#include "rdmalab/memory.h"
#include "swarm/drills/rig.h"

#define ROOM_BYTES 20480u
#define REGIONS    5u /* slots 0 .. REGIONS - 1 hold regions */
#define KEEPS      9u /* the following slots, up to KEEPS - 1, hold windows */
#define PAIRS      3u /* pairs of queue pairs; the last pair is in the other protection domain */
#define FAST_PAGES 4u
#define NO_PAIR    PAIRS
#define REMOTE_ALL ((uint32_t)(ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC))
#define KEY_LOW    0xffu
#define KEY_PAGE   4096u

/* The content of a slot: nothing, a region, a fast region (made valid by REG_MR), or a memory
 * window.
 */
enum kept_kind { KEPT_NOTHING, KEPT_PLAIN, KEPT_FAST, KEPT_WINDOW };

/* The expected state of one region or window. */
struct kept {
    enum kept_kind kind;
    bool is_valid;
    unsigned domain;
    uint32_t rkey;
    /* Region: the key that the driver has stored for it.  Differs from @rkey after a refused
     * REG_MR, which changes only this key.
     */
    uint32_t known;
    uint32_t access; /* set of enum access_bit */
    uint64_t name;   /* address of its first byte as requests name it; 0 if it is zero-based */
    uint32_t at;     /* offset of the first byte in keys.room */
    uint32_t bytes;
    uint32_t n_windows; /* region: number of windows bound to it */
    rdl_mr mr;
    char called[RDL_NAME_BYTES];

    /* Fast region: the access it was allocated with, and the range that the next REG_MR takes. */
    uint32_t allocated, next_at, next_bytes; /* next_bytes 0: nothing was mapped */

    /* Window: */
    rdl_mw mw;
    uint32_t type; /* 1, 2 */
    unsigned slot; /* slot of the region that it is bound to; not used if is_valid is false */
    unsigned pair; /* the only pair of queue pairs that may use it; NO_PAIR: all may */
};

/* State of the drill: its objects on h1 and h2, and the model. */
struct keys {
    bool is_rxe;
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd[RIG_HOSTS][2];
    rdl_cq cq[RIG_HOSTS];
    uint64_t base[RIG_HOSTS]; /* address of the memory of each host */
    uint32_t mine[RIG_HOSTS]; /* lkey of the region "mine" over all memory of the host */
    struct rig_end end[RIG_HOSTS][PAIRS];
    struct kept kept[KEEPS];
    uint32_t n_named;
    uint64_t wr_id;
    uint8_t room[ROOM_BYTES], have[ROOM_BYTES];
};

/* Returns the slot whose key has the same index as @rkey, or NULL.  Only the index (the upper 24
 * bits) is compared.
 */
struct kept *keys_find(struct keys *k, uint32_t rkey);

/* Returns true if a queue pair of @pair may access @bytes at @addr with @rkey.  @access is the set
 * of rights (enum access_bit) that the access needs; 0: a local read.
 */
bool keys_open(struct keys *k, uint32_t rkey, unsigned pair, uint64_t addr, uint32_t bytes,
               uint32_t access);

/* Returns true if @rkey is valid for @pair and has the rights @access.  The range is not checked.
 */
bool keys_fit(struct keys *k, uint32_t rkey, unsigned pair, uint32_t access);

/* Draws a slot in [from, to) that is in use.  Returns NULL if four draws found none. */
struct kept *keys_pick(struct drill *d, unsigned from, unsigned to);

/* Marks window @w as not bound.  Does nothing if it is not. */
void keys_unbind(struct keys *k, struct kept *w);

/* Returns the protection domain of @pair, an index into keys.pd[]. */
static inline unsigned keys_domain(unsigned pair)
{
    return pair == PAIRS - 1;
}

/* Posts @wr, signaled, to the queue pair of @pair at @host and waits for its completion, which must
 * have @status.  Then checks h2's memory.  After an error status it reconnects the pair.  Returns
 * false if the drill failed; @what states the rule.
 */
bool keys_post(struct drill *d, unsigned host, unsigned pair, struct rdl_send_wr *wr,
               uint32_t status, const char *what);

/* Moves both queue pairs of @pair to RESET and connects them again. */
bool keys_reconnect(struct drill *d, unsigned pair);

/* Compares h2's memory with the model. */
bool keys_check_room(struct drill *d);

/* The steps: uses of keys (drill_keys_use.c) and changes of keys (drill_keys_change.c). */
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
