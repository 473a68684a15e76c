/* SPDX-License-Identifier: MIT */
/* The common setup of most drills: two hosts, a link, and queue pairs between them.
 *
 * Functions that return bool return false if the drill failed, unless their comment says otherwise.
 */
#ifndef SWARM_DRILLS_RIG_H
#define SWARM_DRILLS_RIG_H

#include "rdmalab/verbs.h"
#include "swarm/drills/drill.h"

struct packet;

#define RIG_HOSTS 2u          /* index 0 is h1, index 1 is h2 */
#define RIG_QKEY  0x11111111u /* Q_Key of all UD queue pairs */

#define RIG_ETHERTYPE 0x88b5u /* for local experiments [IEEE 802]: no host handles it */
#define RIG_ETH_BYTES 14u     /* of an Ethernet header */

/* Options of the hosts and the link.  A zeroed struct has the defaults. */
struct rig_config {
    uint32_t profile;        /* enum profile */
    uint64_t features_off;   /* feature bits that the device does not offer */
    uint32_t max_qp;         /* of each host, including QPN 1 */
    uint32_t max_qp_rd_atom; /* READs and atomics that a queue pair keeps */
    bool arp;                /* the hosts ask for MACs by ARP; false: they know each other's */
    bool intx;               /* the hosts interrupt by the line INTx */
    uint32_t ring;           /* enum ring_format of all virtqueues */
    bool mux;                /* the hosts share the ports of machines m1 and m2, each with a mux */
    uint64_t latency_ns, rate_bps; /* of the link; 0: 1 us, and 100 Gbit/s */
};

/* rig_draw_rxe() draws one of the profiles of rxe (enum profile), rig_is_rxe() returns true for
 * each of them.
 */
uint32_t rig_draw_rxe(struct drill *d);
bool rig_is_rxe(uint32_t profile);

/* All rights but to bind windows: set of enum access_bit. */
extern const uint32_t rig_rights;

/* Adds the hosts h1 and h2 and the link between them. */
bool rig_add_hosts(struct drill *d, const struct rig_config *c, rdl_host ret[RIG_HOSTS],
                   rdl_link *ret_link);

/* A queue pair and the attributes that it is connected with. */
struct rig_end {
    unsigned number; /* index of its host: 0 is h1 */
    rdl_host host;
    char name[RDL_NAME_BYTES];
    rdl_qp qp;
    uint32_t qpn;
    uint32_t sq_psn;                            /* first PSN that it sends */
    uint32_t access;                            /* remote access, set of enum access_bit */
    uint32_t timeout, retry_cnt;                /* retry_cnt is also used as rnr_retry */
    uint32_t path_mtu;                          /* enum mtu; 0: 1024 bytes */
    uint32_t min_rnr_timer;                     /* RNR timer code */
    uint32_t max_rd_atomic, max_dest_rd_atomic; /* 0: 4 */
    uint32_t gid_index;                         /* of its own address, and of its peer's */
    bool credits;                               /* end-to-end credits, RC only */
};

/* Creates the queue pair of @e with the configuration @c and the name e->name.  The caller has set
 * the host, number and name in @e.
 */
bool rig_add_qp(struct drill *d, struct rig_end *e, const struct rdl_qp_config *c);

/* Sets the header fields that all packets from host @from to the queue pair @to share. */
bool rig_like(struct drill *d, rdl_host from, const struct rig_end *to, struct packet *ret);

/* Moves two RC or UC queue pairs from RESET to RTS, connected with each other. */
bool rig_connect(struct drill *d, struct rig_end *a, struct rig_end *b);

/* Moves @e, of the service @type, to the state @state (INIT, RTR or RTS), with all attributes that
 * the transition needs.  The attributes of the remote side are those of @peer.
 */
bool rig_move(struct drill *d, struct rig_end *e, const struct rig_end *peer, uint32_t type,
              uint32_t state);

/* Moves @e, of the service @type, from RESET to RTS, connected with @peer.  @peer itself is not
 * changed.
 */
bool rig_raise(struct drill *d, struct rig_end *e, const struct rig_end *peer, uint32_t type);

/* Moves the UD queue pair @e from RESET to RTS. */
bool rig_raise_ud(struct drill *d, struct rig_end *e);

/* Modifies @e: sets the state to @state (enum qp_state), and the attributes in @mask (set of enum
 * qp_attr_bit) to those of @a.  Waits for the device's answer, which must be OK.
 */
bool rig_modify(struct drill *d, struct rig_end *e, struct rdl_qp_attr *a, uint32_t state,
                uint32_t mask);

/* Polls one completion from @cq.  Returns false if there is none or the drill failed. */
bool rig_poll(struct drill *d, rdl_cq cq, struct rdl_wc *ret);

/* Fills @f, @bytes long and at least RIG_ETH_BYTES, with a frame to the MAC @to, of RIG_ETHERTYPE.
 * Its content is drawn.
 */
void rig_make_frame(struct drill *d, const uint8_t to[6], uint8_t *f, uint32_t bytes);

/* Returns the Internet checksum of @n bytes: the one's complement of their one's complement sum,
 * which starts with @sum.
 */
uint16_t rig_sum(uint32_t sum, const uint8_t *bytes, size_t n);

/* Returns the script's words for a set of enum access_bit, for example "lw,rw"; "0" for the empty
 * set.
 */
const char *rig_access_text(uint32_t access, char out[32]);

/* Returns the entries of a queue for which @n were asked.  Rxe rounds up to 2^n - 1. */
uint32_t rig_queue_size(uint32_t profile, uint32_t n);

#endif
