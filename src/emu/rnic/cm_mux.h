/* SPDX-License-Identifier: MIT */
/* The multiplexer of the connection managers behind a shared port of an embedded switch.
 *
 *	guest 1 ---+
 *	guest 2 ---+-- multiplexer -- port -- other hosts
 *
 * A port has one QPN 1, and each guest behind it a connection manager.  In QEMU a program of the
 * host, rdmacm-mux, is the only user of QPN 1.  Guests register their GIDs with it, send their MADs
 * through it, and get those that it takes for theirs.  It finds the guest by the message: REQ and
 * SIDR_REQ name a GID, all others the ID of a connection, which the multiplexer has learnt from
 * what the guest sent before.
 *
 * There are two profiles (enum mux_profile), see facts/mux_rules.def.
 *
 * full: a GID counts as a whole.  An ID belongs to the GID from which it was learnt.  It is
 * forgotten when the connection manager of Linux needs it no more: the phases.  A message with an
 * ID that is not known goes to the guest with the packet's destination, whose connection manager
 * knows the answer.
 *
 * rdmacm_mux: that of QEMU, faults included.  A GID is its low eight bytes, of which bytes 2 and 3
 * do not count.  An ID is looked up alone, so that the guest that has used it last gets the
 * messages.  Each message starts a timer of five seconds.  When it runs out for the third time, the
 * ID is forgotten.  A message with an ID that is not known is dropped, and so are MRA, LAP and APR.
 * The machine itself cannot have a connection manager.
 *
 * SIMPLIFIED: both have room for MUX_IDS_MAX IDs and then forget the one that was silent longest.
 * A message that comes to the wrong guest ends in its device, since the packet is for a GID that
 * this device does not have: NO_SUCH_GID.  QEMU writes a GRH with the guest's own GID in front, and
 * the guest answers.
 *
 * MADs of other classes, damaged packets, and packets to other queue pairs are none of its.
 * [decision 0070]
 */
#ifndef EMU_RNIC_CM_MUX_H
#define EMU_RNIC_CM_MUX_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/arena.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/mux.h"
#include "emu/trace/trace.h"
#include "emu/wire/addr.h"

#define MUX_GIDS_MAX 1024u
#define MUX_IDS_MAX  1024u

#define MUX_SWEEP_NS   UINT64_C(5000000000) /* rdmacm_mux: silence after which IDs age */
#define MUX_SWEEPS     2u                   /* that an ID survives */
#define MUX_OPENING_NS UINT64_C(80000000000)
#define MUX_CLOSING_NS UINT64_C(10000000000)

struct mux_gid {
    uint8_t gid[GID_BYTES];
    uint32_t guest; /* host */
};

/* An ID of a connection. */
struct mux_id {
    uint32_t comm_id;
    uint32_t guest;         /* host */
    uint8_t gid[GID_BYTES]; /* from which it was learnt */
    enum mux_phase phase;
    uint32_t sweeps;  /* that it still survives */
    uint64_t last_ns; /* time of the last message with it */
};

struct mux_counts {
    uint64_t registered, refused;       /* GIDs */
    uint64_t learnt, taken, forgotten;  /* IDs; taken: learnt while another guest had it */
    uint64_t passed;                    /* messages to guests */
    uint64_t no_message, no_gid, no_id; /* messages dropped: of this kind, for these */
};

struct cm_mux {
    enum mux_profile profile;
    uint32_t machine; /* host */
    struct trace *trace;
    struct mux_gid *gids;
    uint32_t n_gids;
    struct mux_id *ids;
    uint32_t n_ids;
    uint64_t heard_ns; /* when the last message arrived */
    uint64_t swept;    /* times that IDs have aged since then */
    uint32_t last;     /* guest that got the last message; UINT32_MAX: none did */
    struct mux_counts counts;
};

/* Initializes @m without guests.  Returns false if the arena is full. */
bool cm_mux_init(struct cm_mux *m, struct arena *a, struct trace *trace, enum mux_profile profile,
                 uint32_t machine);

/* Registers @gid for host @guest.  Returns OK, EEXIST, EACCES or EINVAL.  @ret_taken is true if the
 * guest may have the GID.
 */
enum mux_answer cm_mux_register(struct cm_mux *m, uint32_t guest, const uint8_t gid[GID_BYTES],
                                bool *ret_taken);

/* Takes the registration back.  Returns OK or ENOTFOUND. */
enum mux_answer cm_mux_unregister(struct cm_mux *m, uint32_t guest, const uint8_t gid[GID_BYTES]);

/* Forgets all that is @guest's: its device was reset. */
void cm_mux_leave(struct cm_mux *m, uint32_t guest);

/* A message between connection managers. */
struct mux_message {
    uint32_t message;                       /* enum cm_message */
    uint8_t src[GID_BYTES], dst[GID_BYTES]; /* of the packet */
    uint32_t local_id, remote_id;           /* of its sender and its receiver; 0: it has none */
    bool has_gid;
    uint8_t gid[GID_BYTES]; /* that it names, if it names one */
};

/* Reads the message in a frame, with a tag or without.  Returns false if it has none. */
bool cm_mux_read(const uint8_t *frame, size_t len, struct mux_message *ret);

/* Learns from message @msg, which @guest sends at @now_ns. */
void cm_mux_sent(struct cm_mux *m, uint32_t guest, const struct mux_message *msg, uint64_t now_ns);

/* Finds the host *@ret for message @msg, which arrives at @now_ns.  Returns DROP_NONE, or the
 * reason why nobody gets it.
 */
enum drop_reason cm_mux_route(struct cm_mux *m, const struct mux_message *msg, uint64_t now_ns,
                              uint32_t *ret);

/* Returns true if a message that arrived at @now_ns would still find @id. */
bool cm_mux_knows(const struct cm_mux *m, const struct mux_id *id, uint64_t now_ns);

/* Returns how many sweeps @id survives at @now_ns. */
uint32_t cm_mux_sweeps(const struct cm_mux *m, const struct mux_id *id, uint64_t now_ns);

/* Checks the invariants between calls.  Returns NULL if all hold, otherwise a text that describes
 * the violated one.
 */
const char *cm_mux_invariant(const struct cm_mux *m);

#endif
