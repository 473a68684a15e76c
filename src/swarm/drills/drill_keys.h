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

#define ROOM_BYTES 20480u /* bytes of memory of each host */
#define REGIONS    5u     /* slots 0 .. REGIONS - 1 hold regions */
#define KEEPS      9u     /* slots REGIONS .. KEEPS - 1 hold windows */
#define PAIRS      3u     /* pairs of connected queue pairs; on h2 the last is in pd[1][1] */
#define FAST_PAGES 4u     /* maximum pages of a fast region */
#define NO_PAIR    PAIRS
#define REMOTE_ALL ((uint32_t)(ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC))
#define KEY_LOW    0xffu /* the byte of a key that its user chooses */
#define KEY_PAGE   4096u

/* The content of a slot of keys.kept[]: nothing, a region, a fast region (made valid by REG_MR), or
 * a memory window.
 */
enum kept_kind { KEPT_NOTHING, KEPT_PLAIN, KEPT_FAST, KEPT_WINDOW };

/* The expected state of one region or window. */
struct kept {
    enum kept_kind kind;
    bool is_valid;   /* the key can be used; window: it is bound */
    unsigned domain; /* its protection domain, index of keys.pd[1][] */
    uint32_t rkey;   /* the device's key; of a region the lkey is the same number */
    /* Region: the key that the driver has stored for it.  Differs from @rkey after a refused
     * REG_MR, which changes only this key.
     */
    uint32_t known;
    uint32_t access;    /* set of enum access_bit */
    uint64_t name;      /* address of its first byte as requests name it; 0 if it is zero-based */
    uint32_t at;        /* offset of its first byte in keys.room */
    uint32_t bytes;     /* its length */
    uint32_t n_windows; /* region: number of windows bound to it */
    rdl_mr mr;          /* region: its handle */
    char called[RDL_NAME_BYTES]; /* its name in the lab */

    /* Fast region: the access it was allocated with, and the range that the next REG_MR takes. */
    uint32_t allocated, next_at, next_bytes; /* next_bytes 0: nothing was mapped */

    /* Window: */
    rdl_mw mw;
    uint32_t type; /* type of the window, 1 or 2 */
    unsigned slot; /* slot of the region that it is bound to; not used if is_valid is false */
    unsigned pair; /* the only pair of queue pairs that may use it; NO_PAIR: each may */
};

/* State of the drill: its objects on h1 and h2, and the model. */
struct keys {
    uint32_t profile; /* of the hosts, enum profile */
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd[RIG_HOSTS][2]; /* the protection domains "pd" and "other" of each host */
    rdl_cq cq[RIG_HOSTS];
    uint64_t base[RIG_HOSTS]; /* address of the ROOM_BYTES of each host */
    uint32_t mine[RIG_HOSTS]; /* lkey of the region "mine" over all memory of the host */
    struct rig_end end[RIG_HOSTS][PAIRS];
    struct kept kept[KEEPS];  /* the slots */
    uint32_t n_named;         /* number of names given so far */
    uint64_t wr_id;           /* wr_id of the last request */
    uint8_t room[ROOM_BYTES]; /* the expected content of h2's memory */
    uint8_t have[ROOM_BYTES]; /* scratch memory, for reading it */
};

/* Returns the slot whose key has the same index as @rkey, or NULL.  Only the index (the upper 24
 * bits) is compared.
 */
struct kept *keys_find(struct keys *k, uint32_t rkey);

/* Returns true if a request on @pair may access the @bytes bytes at @addr of h2 with the key @rkey.
 * @access is the set of rights (enum access_bit) that the access needs; 0: a local read.
 */
bool keys_open(struct keys *k, uint32_t rkey, unsigned pair, uint64_t addr, uint32_t bytes,
               uint32_t access);

/* Like keys_open(), but does not check a range. */
bool keys_fit(struct keys *k, uint32_t rkey, unsigned pair, uint32_t access);

/* Draws one of the slots @from .. @to - 1.  Returns NULL if it was empty four times. */
struct kept *keys_pick(struct drill *d, unsigned from, unsigned to);

/* Marks window @w in the model as not bound, if it is bound. */
void keys_unbind(struct keys *k, struct kept *w);

/* Returns the protection domain of h2's queue pair of @pair, an index of keys.pd[1][]. */
static inline unsigned keys_domain(unsigned pair)
{
    return pair == PAIRS - 1;
}

/* Returns the status of a request that fails before it is sent; @status if the device says why. */
uint32_t keys_unsent(const struct keys *k, uint32_t status);

/* Posts @wr, signaled, to the queue pair of @pair on host @host (0: h1) and waits for its
 * completion, which must have @status (enum wc_status).  Then checks h2's memory.  After an error
 * status it reconnects the pair.  Returns false if the drill failed; @what states the rule.
 */
bool keys_post(struct drill *d, unsigned host, unsigned pair, struct rdl_send_wr *wr,
               uint32_t status, const char *what);

/* Moves both queue pairs of @pair to RESET and connects them again. */
bool keys_reconnect(struct drill *d, unsigned pair);

/* Compares h2's memory with the model. */
bool keys_check_room(struct drill *d);

/* The steps.  Each draws a slot and does nothing if its content does not fit. */

/* h1 accesses h2's memory with a key, by WRITE, READ or atomic. */
void keys_use_remotely(struct drill *d);

/* h2 uses a key as the lkey of its own WRITE or READ. */
void keys_use_locally(struct drill *d);

/* Creates a region, fast region or window of h2 in an empty slot. */
void keys_register(struct drill *d);

/* Destroys a region or window. */
void keys_deregister(struct drill *d);

/* Changes the range, access or protection domain of a region (rereg_mr). */
void keys_reregister(struct drill *d);

/* Moves a region from a protection domain to another, and gives the first one back. */
void keys_move(struct drill *d);

/* keys_map() gives a fast region the range for its next REG_MR (map_mr_sg); keys_reg_mr() posts a
 * REG_MR, which may break a rule.
 */
void keys_map(struct drill *d);
void keys_reg_mr(struct drill *d);

/* Binds a window to a part of a region, or to nothing. */
void keys_bind(struct drill *d);

/* Invalidate a key: by LOCAL_INV or READ_WITH_INV of h2, or by a SEND_WITH_INV of h1. */
void keys_invalidate(struct drill *d);
void keys_read_with_inv(struct drill *d);
void keys_send_with_inv(struct drill *d);

/* Destroys and creates h2's queue pair of a pair: the windows bound to it become invalid. */
void keys_replace_pair(struct drill *d);

#endif
