/* SPDX-License-Identifier: MIT */
/* The virtual layer of machines, as the construction of hosts, the inspect tree and its own files
 * see it.
 *
 *	layer.c         maps virtual RNICs to functions, and spreads queue pairs over them
 *	layer_pool.c    the pool of functions of a machine
 *	layer_centre.c  the control centre: addresses on the wire, groups and rules
 *	layer_answers.c answers to ARP and neighbour discovery at further functions
 */
#ifndef EMU_LAB_LAYER_H
#define EMU_LAB_LAYER_H

#include "emu/facts/enum/pool_lack.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"
#include "rdmalab/layer.h"

#define VRNIC_UNMAPPED UINT32_MAX

/* A place for a function of a virtual RNIC. */
struct vrnic_function {
    uint32_t vf;                         /* the virtual function; VRNIC_UNMAPPED: none */
    uint32_t n_qps;                      /* queue pairs of programs on it */
    uint8_t wire[GUEST_GIDS][GID_BYTES]; /* its addresses on the wire while it has a function */
    struct eth_port *port;               /* of the first one: that of the host */
    struct rnic_way *way;                /* NULL: it is the first one */
    struct layer_answers *answers;       /* NULL exactly if @way is */
};

/* The virtual RNIC of a guest.  It has no function while it has no object.  With its first object
 * it gets the first function, which has its datagrams and its connection manager, too.  A further
 * function is there while a queue pair is on it.
 */
struct vrnic {
    struct lab_state *world;
    struct host *host, *machine;
    struct vrnic_function *functions;
    uint32_t n_functions;       /* the most that it may have */
    uint32_t group;             /* of the control centre */
    struct vrnic *instance;     /* the first virtual RNIC of its instance, which share a function */
    uint8_t own_mac[MAC_BYTES]; /* that of its host, while it does not share a function */
    bool mac_is_lent; /* others may still have its MAC, with the function that they share */
    bool has_moved;   /* its MAC was last seen at another machine */
    /* While no function is free.  A virtual RNIC in the queue of its machine has objects and no
     * function.  A request of its program may wait, until @due_ns.
     */
    bool is_queued, has_request;
    struct vrnic *next_waiting;
    sim_ticket timer;
    uint64_t due_ns;
    uint32_t lack; /* enum pool_lack: why it got no function when it asked last */
    uint64_t n_maps, n_moves, n_lookups, n_forbidden, n_waits, n_given_up, n_shares;
};

/* Returns true if the virtual RNIC of @c can be made: rdl_host_config.vrnic_with is one of @m. */
bool layer_check(const struct lab_state *w, const struct host *m, const struct rdl_host_config *c);

/* Gives @h a virtual RNIC, as @c says.  Returns false if the arena is full. */
bool layer_join(struct lab_state *w, struct host *h, const struct rdl_host_config *c);

/* Completes the virtual RNIC of @h, whose device is there now.  Returns as layer_join(). */
bool layer_complete(struct host *h);

/* The @n functions of @m from @first on were reset by the machine, or do not exist any more.  A
 * virtual RNIC that had one loses its functions and its objects, and its device is broken.
 */
void layer_lose(struct lab_state *w, struct host *m, uint32_t first, uint32_t n);

/* Functions of @m that are free now go to the virtual RNICs that wait, in the order in which they
 * came.  Others of the instance of one that gets a function share it.
 */
void layer_serve(struct lab_state *w, struct host *m);

/* Returns true if a further function of the virtual RNIC of @h, if it has one, has @mac. */
bool layer_has_mac(const struct host *h, uint64_t mac);

/* Returns true if @r has a function. */
static inline bool vrnic_is_mapped(const struct vrnic *r)
{
    return r->functions[0].vf != VRNIC_UNMAPPED;
}

/* Returns the function of @r that its queue pair @qpn is on.  It is the first one if there is no
 * such queue pair.
 */
const struct vrnic_function *vrnic_function_of(const struct vrnic *r, uint32_t qpn);

/* Returns the place of @gid among the GUEST_GIDS ones at @gids; GUEST_GIDS: it is not there. */
uint32_t wire_place_in(const uint8_t *gids, const uint8_t gid[GID_BYTES]);

/* layer_pool.c.  pool_find() finds a free function of the machine @m; the pool grows by one if that
 * is necessary.  Returns false if no function of the machine is left; pool_lack() tells why.
 * pool_functions() returns the number of functions in the pool.  pool_addresses() sets the
 * addresses that virtual function @vf of @m has on the wire.
 */
bool pool_find(struct lab_state *w, struct host *m, uint32_t *ret);
enum pool_lack pool_lack(const struct lab_state *w, const struct host *m);
uint32_t pool_functions(const struct lab_state *w, const struct host *m);
void pool_addresses(const struct host *m, uint32_t vf, uint8_t ret[GUEST_GIDS][GID_BYTES]);

/* pool_partner() finds the function of another virtual RNIC of the same instance, pool_share() that
 * with the fewest virtual RNICs.  Both return false if there is none that @r can share.
 * pool_share_addresses() sets the addresses on the wire that @h has at a function that it shares,
 * and returns false if another host was given one of them.
 */
bool pool_partner(const struct vrnic *r, uint32_t *ret);
bool pool_share(const struct vrnic *r, uint32_t *ret);
bool pool_share_addresses(const struct lab_state *w, const struct host *h,
                          uint8_t ret[GUEST_GIDS][GID_BYTES]);

/* pool_wait() lets @r, which has found no function, wait for one: with @request a request waits,
 * too. Returns RDL_OK or RDL_ERR_BUSY, for verbs_layer.create().  pool_leave() takes @r from the
 * queue of its machine, if it is there.  pool_next() takes the first one from the queue of @m if a
 * function is free: *@ret_vf.  Returns NULL if none waits.  pool_next_partner() takes the first one
 * that can share a function with another one of its instance.  pool_wait_ends() is the handler of
 * SIM_VRNIC.
 */
enum rdl_status pool_wait(struct vrnic *r, bool request);
void pool_leave(struct vrnic *r);
struct vrnic *pool_next(struct lab_state *w, struct host *m, uint32_t *ret_vf);
struct vrnic *pool_next_partner(struct host *m, uint32_t *ret_vf);
void pool_wait_ends(struct vrnic *r, bool has_function);

/* layer_centre.c.  centre_permits() answers the device of @host, which asks for each connection to
 * @gid.  The kernel of @host has asked before; if it has not, or a rule was taken back meanwhile,
 * false is returned, counted and told in an event.  The others are those of struct verbs_layer.
 */
bool centre_permits(struct lab_state *w, uint32_t host, const uint8_t gid[GID_BYTES]);
enum rdl_status centre_find(void *ctx, const uint8_t gid[GID_BYTES], uint32_t qpn,
                            uint8_t ret_mac[MAC_BYTES]);
void centre_wire(const void *ctx, uint8_t gid[GID_BYTES], uint32_t qpn);
void centre_unwire(const void *ctx, uint8_t gid[GID_BYTES]);

extern const struct verbs_layer layer_ops;

#endif
