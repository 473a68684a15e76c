/* SPDX-License-Identifier: MIT */
/* The drill of rings: the interface between its parts and their files.  A drill of this kind draws
 * one part and takes all its steps from it.
 *
 * Functions that return bool return false if the drill failed, unless their comment says otherwise.
 */
#ifndef SWARM_DRILLS_DRILL_RINGS_H
#define SWARM_DRILLS_DRILL_RINGS_H

#include "emu/base/assert.h"
#include "swarm/drills/drill.h"
#include "swarm/drills/rig.h"

/* The functions of a part, as in struct drill_kind. */
struct rings_part {
    void (*set_up)(struct drill *d);
    void (*take)(struct drill *d);
};

/* The drill is itself the driver of a virtio-net device: it accesses registers and rings byte by
 * byte (drill_rings_driver.c).
 */
extern const struct rings_part rings_of_driver;

/* A program allocates, writes and frees memory.  The bytes, the addresses that can be accessed, and
 * the number of RAM pages in use are checked (drill_rings_memory.c).
 */
extern const struct rings_part rings_of_memory;

/* Capacity, overflow and resizing of work queues, completion queues and the event queue
 * (drill_rings_queues.c).
 */
extern const struct rings_part rings_of_queues;

/* --- The driver part -------------------------------------------------------------------------- */

#define BARE_ZONE   16384u /* bytes of the RAM area that holds all buffers */
#define BARE_FRAMES 8u     /* most frames of one step */
#define BARE_FRAME  1514u  /* bytes of the longest frame */

/* A split virtqueue. */
struct bare_ring {
    uint32_t queue, size;         /* its number, and number of descriptors */
    uint64_t desc, avail, used;   /* guest-physical addresses of its three parts */
    uint16_t avail_idx, used_idx; /* chains offered and chains taken back, modulo 65536 */
    bool has_vector;              /* the queue has an MSI-X vector, so it can send interrupts */
};

/* An Ethernet frame of @bytes bytes. */
struct bare_frame {
    uint32_t bytes;
    uint8_t b[BARE_FRAME];
};

/* State of the driver part: device, rings, and the area of RAM for buffers (the *zone*). */
struct bare {
    rdl_host host;
    rdl_link link;
    rdl_port port;
    uint64_t ram_bytes;         /* size of the RAM of the host */
    uint64_t offered, accepted; /* feature bits */
    bool event_idx, indirect;   /* EVENT_IDX, INDIRECT_DESC was accepted */
    struct bare_ring rx, tx;
    uint64_t zone_at;        /* guest-physical address of the zone */
    uint32_t zone_used;      /* number of its bytes that are reserved, from its beginning on */
    uint8_t zone[BARE_ZONE]; /* the expected contents of the zone */
    uint32_t n_asked, n_left;
    /* The @n_asked frames of this step: the drill's driver sends them, or they are sent to it. */
    struct bare_frame asked[BARE_FRAMES];
    /* Frames that left the lab.  @n_left is their number; if it exceeds BARE_FRAMES, not all are
     * here.
     */
    struct bare_frame left[BARE_FRAMES];
};

#define BARE_PIECES 64u /* most pieces of a buffer */

/* A piece of a buffer. */
struct bare_piece {
    uint32_t at; /* offset in the zone */
    uint32_t bytes;
};

/* The members of a descriptor. */
struct bare_desc {
    uint64_t addr;
    uint32_t bytes;
    uint16_t flags, next;
};

/* The model of one chain of descriptors. */
struct bare_chain {
    uint32_t n;                            /* number of pieces */
    struct bare_piece pieces[BARE_PIECES]; /* the buffer's pieces in order */
    uint32_t n_direct; /* the first @n_direct pieces have descriptors in the ring's table */
    bool indirect;     /* the other pieces have descriptors in an indirect table, in the zone */
    uint32_t table_at, table_len; /* offset of this table in the zone, and number of entries */
    struct bare_desc table[BARE_PIECES + 4];
    /* The @n_slots descriptors in the ring's table: direct[i] is the one at index slots[i]. */
    struct bare_desc direct[BARE_PIECES + 1];
    uint16_t slots[BARE_PIECES + 1];
    uint32_t n_slots;
};

/* Empties the zone and fills it with a nonzero byte. */
void bare_zone_clear(struct drill *d);

/* Reserves @bytes in the zone, at the offset *@ret_at, a multiple of @align.  Returns false if the
 * zone has no space; the drill does not fail.
 */
bool bare_zone_take(struct drill *d, uint32_t bytes, uint32_t align, uint32_t *ret_at);

/* bare_zone_show() copies the expected contents of the zone to RAM.  bare_zone_holds() compares
 * them with RAM: it returns false, and the drill fails, if they differ.
 */
bool bare_zone_show(struct drill *d);
bool bare_zone_holds(struct drill *d);

/* bare_ram_put() writes the @n bytes @bytes to guest RAM at address @at, bare_put16() the value @v
 * in little-endian byte order.
 */
bool bare_ram_put(struct drill *d, uint64_t at, const void *bytes, size_t n);
bool bare_put16(struct drill *d, uint64_t at, uint16_t v);

/* Splits a buffer of @bytes into pieces in the zone and designs a chain for them.  The chain uses
 * at most @slots_max of the descriptor indexes in @slots.  @writable: the device writes the buffer.
 * Returns false if there is no space; the drill does not fail.
 */
bool bare_chain_make(struct drill *d, uint32_t bytes, bool writable, const uint16_t *slots,
                     uint32_t slots_max, struct bare_chain *ret);

/* Copies the @n bytes @bytes into the pieces of @c in the zone.  Bytes beyond the last piece are
 * dropped.
 */
void bare_chain_fill(struct drill *d, const struct bare_chain *c, const void *bytes, uint32_t n);

/* Writes the descriptors of @c: direct ones to the ring's table in RAM, indirect ones into the
 * zone.
 */
bool bare_chain_put(struct drill *d, const struct bare_ring *r, const struct bare_chain *c);

/* Puts one error into the descriptors of @c.  Returns the enum vq_error that the device must report
 * for it.
 */
uint32_t bare_chain_spoil(struct drill *d, const struct bare_ring *r, bool writable,
                          struct bare_chain *c);

/* --- The memory part -------------------------------------------------------------------------- */

#define PAGES_ALLOCS 24u

/* An allocation of guest memory. */
struct pages_alloc {
    uint64_t addr;         /* of its first byte, a virtual address of the program */
    uint32_t bytes, pages; /* its size; bytes 0: not allocated */
    uint32_t tag;          /* number from which the bytes that it holds are computed */
};

struct pages {
    rdl_host host;
    uint64_t ram_bytes;              /* size of the RAM of the host */
    uint32_t pages_all, pages_taken; /* pages that a program can allocate; those allocated now */
    struct pages_alloc allocs[PAGES_ALLOCS];
};

/* --- The queues part -------------------------------------------------------------------------- */

/* Objects of both hosts. */
struct queues {
    rdl_host host[RIG_HOSTS];
    rdl_link link;
    rdl_pd pd[RIG_HOSTS];
    rdl_mr mr[RIG_HOSTS];
    uint64_t addr[RIG_HOSTS]; /* address of the memory of @mr */
    uint32_t lkey[RIG_HOSTS]; /* of @mr */
    bool event_idx;           /* the devices offer VIRTIO_F_EVENT_IDX */
    uint32_t profile;         /* of the hosts, enum profile */
    uint32_t serial;          /* number for the next name of an object */
    bool broken;              /* the driver of h1 has given up its event queue: no more steps */
};

/* A queue pair in INIT with a completion queue of its own.  When it is moved to ERR, its receives
 * complete as flushed.
 */
struct flusher {
    struct rig_end end;
    rdl_cq cq;
    char cq_name[RDL_NAME_BYTES];
    struct rdl_cq_info info; /* of @cq */
    uint32_t max_recv_wr;
};

/* Creates the queue pair and the completion queue of @ret on host @side (0: h1), and moves the
 * queue pair to INIT.  @cqe is the size of the completion queue.
 */
bool flusher_make(struct drill *d, unsigned side, uint32_t cqe, uint32_t max_recv_wr,
                  struct flusher *ret);

/* flusher_post() posts @n receives with the wr_id @wr_id, @wr_id + 1 and so on.  flusher_fail()
 * moves the queue pair to ERR, so that they complete.  flusher_end() destroys both objects.
 */
bool flusher_post(struct drill *d, struct flusher *f, uint32_t n, uint64_t wr_id);
bool flusher_fail(struct drill *d, struct flusher *f);
bool flusher_end(struct drill *d, struct flusher *f);

/* Takes and acknowledges all asynchronous events of the host @side (0: h1).  *@ret_n is the number
 * of events of type @type (enum async_event) about the object with the handle @raw.
 */
bool queues_events(struct drill *d, unsigned side, uint32_t type, uint64_t raw, uint32_t *ret_n);

/* Polls one completion from @cq of the host @side; @cq_name is its name.  Returns false if there is
 * none or the drill failed.  Without event_idx it also checks that polling sends no notification to
 * the device.
 */
bool queues_poll(struct drill *d, unsigned side, const char *cq_name, rdl_cq cq,
                 struct rdl_wc *ret);

/* Resets the receive virtqueue of @qp, a queue pair of h1, behind the back of its driver.  The
 * queue pair fails (drill_rings_events.c).
 */
bool queues_take_away(struct drill *d, rdl_qp qp);

/* Raises more events than the event queue can hold (drill_rings_events.c). */
void queues_storm(struct drill *d);

/* Makes buffers of the event queue of h1 too small and raises events (drill_rings_events.c).  The
 * driver does not expect empty buffers, and is not used any more.
 */
void queues_small_buffers(struct drill *d);

/* Destroys a queue pair while an event about it is pending (drill_rings_events.c). */
void queues_forget(struct drill *d);

/* Destroys a completion queue while the event that it has overflowed waits in the device
 * (drill_rings_events.c).
 */
void queues_forget_cq(struct drill *d);

/* --- State of the drill ----------------------------------------------------------------------- */

struct rings {
    const struct rings_part *part;
    union {
        struct bare bare;
        struct pages pages;
        struct queues queues;
    } u;
};

#endif
