/* SPDX-License-Identifier: MIT */
/* The drill of pvrdma: the interface between its files.
 *
 * The drill takes the PVRDMA device of h1 away from the host's own driver and drives it itself, by
 * registers, bytes of memory and doorbells.  It lies in the shared region, in commands, in page
 * directories, in the indices of rings and in work requests.  A step tells at most one lie, or
 * none.  The model knows all objects, their users and the indices of all rings.  It predicts the
 * register ERR, the reason of each refusal, each response, completion, event and notification, and
 * the number of interrupts.
 *
 * Functions that return bool return false if the drill failed, unless their comment says otherwise.
 */
#ifndef SWARM_DRILLS_DRILL_PVRDMA_H
#define SWARM_DRILLS_DRILL_PVRDMA_H

#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/facts/refusal.h"
#include "swarm/drills/drill.h"

#define HOSTILE_SLOTS   8u /* objects of each kind; no limit of the drill is larger */
#define HOSTILE_GIDS    4u /* entries of the GID table that the drill uses */
#define HOSTILE_PAGES   8u /* pages that a directory lists at most */
#define HOSTILE_NOTHING UINT32_MAX
#define HOSTILE_PORT    1u
#define HOSTILE_LIES    3u /* one step in so many lies, of those that can */

/* The kinds of objects of the device. */
enum hostile_kind { HOSTILE_UC, HOSTILE_PD, HOSTILE_CQ, HOSTILE_SRQ, HOSTILE_MR, HOSTILE_QP };
#define HOSTILE_KINDS 6u

/* A page directory and the pages that it lists.  Page 0 of a ring holds its indices. */
struct hostile_directory {
    uint64_t dir, table, page[HOSTILE_PAGES];
};

/* A ring, as its driver sees it. */
struct hostile_ring {
    uint64_t state; /* address of its two indices */
    uint32_t first_page, n, slot_bytes;
    uint32_t idx; /* of the driver */
};

/* An object of the device.  The slot is free if @handle is HOSTILE_NOTHING. */
struct hostile_object {
    uint32_t handle;
    uint32_t users;                  /* objects that refer to it */
    uint32_t of[HOSTILE_KINDS];      /* slots of the objects that it refers to, or HOSTILE_SLOTS */
    uint32_t send_cq;                /* QP: slot; of[HOSTILE_CQ] is the other CQ */
    uint32_t type, state;            /* QP: enum qp_type, enum qp_state: RESET is 0 */
    uint32_t events;                 /* QP: that the driver was told */
    uint32_t lkey;                   /* MR */
    bool is_dma;                     /* MR: of all of memory */
    uint32_t max_wr, max_sge, limit; /* SRQ */
    uint32_t max_send_sge, max_recv_sge; /* QP */
    uint32_t armed;                      /* CQ: 0, or the bit of the doorbell */
    struct hostile_ring ring[2];         /* QP: sends, receives; CQ and SRQ: the first */
    struct hostile_directory pages;      /* place of its rings or region, used or not */
};

struct hostile_gid {
    bool is_set;
    uint8_t raw[16];
};

/* State of the drill. */
struct hostile_driver {
    rdl_host host;
    uint64_t ram_bytes;
    uint32_t uar_pfn;        /* page frame of BAR 2 */
    uint32_t device_version; /* of the device */
    uint32_t version;        /* the smaller one of device and driver: it counts */
    uint32_t max_qp, max_cq, max_srq, max_pd, max_mr, max_qp_wr, max_cqe, max_sge;
    uint64_t region, command, response; /* addresses of the shared region and of the slots */
    struct hostile_directory event_pages, note_pages;
    struct hostile_ring events, notes;
    struct hostile_object object[HOSTILE_KINDS][HOSTILE_SLOTS];
    struct hostile_gid gid[HOSTILE_GIDS];
    uint64_t n_interrupts; /* that the device has raised since it has its region */
    uint64_t n_bad;        /* doorbells that mean nothing, since then */
    uint8_t mac[6];
    uint8_t own_gid[16];
};

static inline struct hostile_driver *hostile_of(struct drill *d)
{
    return d->own;
}

/* Returns the kind of GIDs that device and driver use in their version. */
static inline uint8_t hostile_gid_type(const struct hostile_driver *s)
{
    return s->version < PV_VERSION_ROCE_V2 ? PV_GID_ROCE_V1 : PV_GID_ROCE_V2;
}

/* Returns slot @i of the objects of @kind. */
static inline struct hostile_object *hostile_at(struct drill *d, enum hostile_kind kind, uint32_t i)
{
    return &hostile_of(d)->object[kind][i];
}

/* --- Access (drill_pvrdma.c) ------------------------------------------------------------------ */

/* Write a register and a doorbell, and read a register. */
void hostile_out(struct drill *d, enum pv_reg reg, uint32_t value);
void hostile_doorbell(struct drill *d, uint32_t page, uint32_t at, uint32_t value);
uint32_t hostile_in(struct drill *d, enum pv_reg reg);

/* Copy to and from RAM, and the same for a number of 32 bits. */
bool hostile_put(struct drill *d, uint64_t at, const void *bytes, size_t n);
bool hostile_get(struct drill *d, uint64_t at, void *bytes, size_t n);
bool hostile_put32(struct drill *d, uint64_t at, uint32_t v);
uint32_t hostile_get32(struct drill *d, uint64_t at);

/* Returns an address that is no page of RAM. */
uint64_t hostile_no_page(struct drill *d);

/* Writes the directory @p of the first @n pages, which are zeroed.  If @lie, one address of it is
 * wrong.  *@ret_at is the address of the directory, *@ret_why the reason to refuse it.
 */
bool hostile_directory(struct drill *d, const struct hostile_directory *p, uint32_t n, bool lie,
                       uint64_t *ret_at, uint32_t *ret_why);

/* --- Commands (drill_pvrdma.c) ---------------------------------------------------------------- */

/* A command and what the device must make of it. */
struct hostile_command {
    uint32_t number;  /* enum pv_command, or an unknown number */
    const void *body; /* behind the header, @bytes long */
    size_t bytes;
    uint32_t why;     /* enum refusal_reason: it must be refused for this */
    bool has_effects; /* its effects may interrupt, too: only the next command checks that */
};

/* Executes @c, and checks ERR, reason, response and interrupts.  @ret gets the @n bytes of the body
 * of the response if it is not refused; NULL: not read.
 */
bool hostile_ask(struct drill *d, const struct hostile_command *c, void *ret, size_t n);

/* hostile_ask_NAME(): hostile_ask() with the structure pv_NAME. */
#define HOSTILE_REQUEST(name)                                                                      \
    static inline bool hostile_ask_##name(struct drill *d, uint32_t number,                        \
                                          const struct pv_##name *in, uint32_t why, void *ret,     \
                                          size_t n)                                                \
    {                                                                                              \
        struct pv_raw_##name raw;                                                                  \
        const struct hostile_command c = {                                                         \
            .number = number, .body = &raw, .bytes = sizeof(raw), .why = why};                     \
                                                                                                   \
        pv_##name##_put(&raw, in);                                                                 \
        return hostile_ask(d, &c, ret, n);                                                         \
    }

HOSTILE_REQUEST(handle)
HOSTILE_REQUEST(create_uc)
HOSTILE_REQUEST(create_mr)
HOSTILE_REQUEST(create_cq)
HOSTILE_REQUEST(create_srq)
HOSTILE_REQUEST(modify_srq)
HOSTILE_REQUEST(create_qp)
HOSTILE_REQUEST(query_qp)
HOSTILE_REQUEST(create_bind)
HOSTILE_REQUEST(destroy_bind)
HOSTILE_REQUEST(query_port)
HOSTILE_REQUEST(query_pkey)

/* --- Objects (drill_pvrdma_objects.c) --------------------------------------------------------- */

/* Returns the slot of an object of @kind, drawn, or HOSTILE_SLOTS if there is none. */
uint32_t hostile_pick(struct drill *d, enum hostile_kind kind);

/* Steps: create or destroy an object, with at most one lie. */
void hostile_step_object(struct drill *d);
void hostile_step_gid(struct drill *d);
void hostile_step_query(struct drill *d);

/* Creates what a queue pair of @type needs, as far as it is not there, and the queue pair.  *@ret
 * is its slot, or HOSTILE_SLOTS if the device has no room for it.
 */
bool hostile_make_qp(struct drill *d, uint32_t type, uint32_t *ret);

/* --- Rings (drill_pvrdma_rings.c) ------------------------------------------------------------- */

/* Take the next entry of the ring of asynchronous events or notifications, which must be this one.
 * hostile_is_quiet() checks that neither ring has an entry.
 */
bool hostile_event(struct drill *d, uint32_t type, uint32_t info);
bool hostile_note(struct drill *d, uint32_t cq);
bool hostile_is_quiet(struct drill *d);

/* Steps: receives that are flushed; sends of a queue pair to itself; doorbells of anything. */
void hostile_step_flush(struct drill *d);
void hostile_step_send(struct drill *d);
void hostile_step_doorbell(struct drill *d);

#endif
