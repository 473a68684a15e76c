/* SPDX-License-Identifier: MIT */
/* The parts of the drills of rings: a drill is one of them. */
#ifndef SWARM_DRILLS_DRILL_RINGS_H
#define SWARM_DRILLS_DRILL_RINGS_H

#include "emu/base/assert.h"
#include "swarm/drills/drill.h"
#include "swarm/drills/rig.h"

struct rings_part {
    void (*set_up)(struct drill *d);
    void (*take)(struct drill *d);
};

/* A driver of virtio-net that is the drill itself, register by register and byte by byte
 * (drill_rings_driver.c).
 */
extern const struct rings_part rings_of_driver;

/* Memory of a program, and RAM below it (drill_rings_memory.c). */
extern const struct rings_part rings_of_memory;

/* Queues of the verbs: how much they hold, and what becomes of more (drill_rings_queues.c). */
extern const struct rings_part rings_of_queues;

/* --- Of the driver ---------------------------------------------------------------------------- */

#define BARE_ZONE   16384u /* bytes of RAM in which all buffers are */
#define BARE_FRAMES 8u     /* of one step */
#define BARE_FRAME  1514u  /* bytes of one */

struct bare_ring {
    uint32_t queue, size;
    uint64_t desc, avail, used;
    uint16_t avail_idx, used_idx; /* chains that were given, and got back */
    bool has_vector;
};

struct bare_frame {
    uint32_t bytes;
    uint8_t b[BARE_FRAME];
};

struct bare {
    rdl_host host;
    rdl_link link;
    rdl_port port;
    uint64_t ram_bytes, offered, accepted;
    bool event_idx, indirect;
    struct bare_ring rx, tx;
    uint64_t zone_at;
    uint32_t zone_used;
    uint8_t zone[BARE_ZONE]; /* what must be there */
    uint32_t n_asked, n_left;
    struct bare_frame asked[BARE_FRAMES]; /* that are to be sent, or to arrive */
    struct bare_frame left[BARE_FRAMES];  /* that left the lab; counted beyond that */
};

/* One chain of descriptors, in whatever shape. */
#define BARE_PIECES 64u

struct bare_piece {
    uint32_t at; /* in the zone */
    uint32_t bytes;
};

struct bare_desc {
    uint64_t addr;
    uint32_t bytes;
    uint16_t flags, next;
};

struct bare_chain {
    uint32_t n;                            /* pieces */
    struct bare_piece pieces[BARE_PIECES]; /* of the buffer, in its order */
    uint32_t n_direct;                     /* of them have a descriptor in the ring's table */
    bool indirect;                         /* the others are in a table in the zone */
    uint32_t table_at, table_len;
    struct bare_desc table[BARE_PIECES + 4];
    struct bare_desc direct[BARE_PIECES + 1]; /* with slots[] of the ring's table */
    uint16_t slots[BARE_PIECES + 1];
    uint32_t n_slots;
};

/* Begins with an empty zone: every byte of it is something. */
void bare_zone_clear(struct drill *d);

/* A place for @bytes that is a multiple of @align; false: there is no room left. */
bool bare_zone_take(struct drill *d, uint32_t bytes, uint32_t align, uint32_t *ret_at);

/* Copies the zone to RAM; looks whether RAM has what the zone says. */
bool bare_zone_show(struct drill *d);
bool bare_zone_holds(struct drill *d);

bool bare_ram_put(struct drill *d, uint64_t at, const void *bytes, size_t n);
bool bare_put16(struct drill *d, uint64_t at, uint16_t v);

/* Cuts @bytes into pieces at places of their own, and thinks out a chain of them which takes at
 * most @slots_max of the slots @slots of the table.  False: there is no room.
 */
bool bare_chain_make(struct drill *d, uint32_t bytes, bool writable, const uint16_t *slots,
                     uint32_t slots_max, struct bare_chain *ret);

/* Copies @n bytes between a buffer and the pieces in the zone. */
void bare_chain_fill(struct drill *d, const struct bare_chain *c, const void *bytes, uint32_t n);

/* Writes the descriptors: those of an indirect table into the zone. */
bool bare_chain_put(struct drill *d, const struct bare_ring *r, const struct bare_chain *c);

/* Makes @c wrong in one way; returns what the device must say of it (enum vq_error). */
uint32_t bare_chain_spoil(struct drill *d, const struct bare_ring *r, bool writable,
                          struct bare_chain *c);

/* --- Of memory -------------------------------------------------------------------------------- */

#define PAGES_ALLOCS 24u

struct pages_alloc {
    uint64_t addr; /* 0: none */
    uint32_t bytes, pages;
    uint32_t tag; /* of the bytes that are in it */
};

struct pages {
    rdl_host host;
    uint64_t ram_bytes;
    uint32_t pages_all, pages_taken;
    struct pages_alloc allocs[PAGES_ALLOCS];
};

/* --- Of queues -------------------------------------------------------------------------------- */

struct queues {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd[RIG_HOSTS];
    rdl_mr mr[RIG_HOSTS];
    uint64_t addr[RIG_HOSTS];
    uint32_t lkey[RIG_HOSTS];
    bool event_idx; /* offered */
    uint32_t serial;
};

/* A queue pair in INIT with a completion queue of its own, whose receives complete when it fails.
 */
struct flusher {
    struct rig_end end;
    rdl_cq cq;
    char cq_name[RDL_NAME_BYTES];
    struct rdl_cq_info info;
    uint32_t max_recv_wr;
};

bool flusher_make(struct drill *d, unsigned side, uint32_t cqe, uint32_t max_recv_wr,
                  struct flusher *ret);

/* Posts @n receives with the numbers from @wr_id on, which complete. */
bool flusher_post(struct drill *d, struct flusher *f, uint32_t n, uint64_t wr_id);
bool flusher_fail(struct drill *d, struct flusher *f);
bool flusher_end(struct drill *d, struct flusher *f);

/* Takes all events of the host @side.  How many were @type, about the object @raw? */
bool queues_events(struct drill *d, unsigned side, uint32_t type, uint64_t raw, uint32_t *ret_n);

/* Polls @cq; a driver that is asked for no notification makes none. */
bool queues_poll(struct drill *d, unsigned side, const char *cq_name, rdl_cq cq,
                 struct rdl_wc *ret);

/* Events that are raised before anybody listens (drill_rings_events.c). */
void queues_storm(struct drill *d);

/* A queue pair is destroyed while an event about it waits. */
void queues_forget(struct drill *d);

/* --- */

struct rings {
    const struct rings_part *part;
    union {
        struct bare bare;
        struct pages pages;
        struct queues queues;
    } u;
};

#endif
