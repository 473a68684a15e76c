/* SPDX-License-Identifier: MIT */
/* The interface between the walker of the inspect tree (inspect.c) and the visitors of its nodes
 * (inspect_*.c).
 *
 * The visitor of a node kind reports every leaf and child under its row of emu/facts/leaves.def, in
 * display order.  Only the names of objects and the keys of list elements come from the visitor.
 */
#ifndef EMU_LAB_INSPECT_NODES_H
#define EMU_LAB_INSPECT_NODES_H

#include "emu/facts/enum/pci_function.h"
#include "emu/facts/leaf.h"
#include "emu/lab/lab_state.h"
#include "rdmalab/inspect.h"

struct eth_port;
struct text;
struct visit;

struct inode {
    enum node_kind kind; /* NODE_none: a leaf */
    const struct lab_state *state;
    const struct host *host;
    /* The object of the node.  Its type depends on @kind: guest_object, counters, net_fault,
     * completion and so on.
     */
    const void *object;
    enum pci_function function; /* function that a queue belongs to */
    uint32_t number;            /* number of a queue, switch, link or external port */
    /* Public handle (.raw) of a host, external port, link, fault or verbs object; not valid for
     * other nodes.
     */
    uint64_t handle;
    uint64_t index; /* index of a list element */
    /* NODE_list: item() reports element @i under @key, for list_first .. list_end - 1. */
    enum child_id list;
    uint64_t list_first, list_end;
    void (*item)(const struct inode *list, uint64_t i, struct visit *v, const char *key);
};

struct visit {
    enum node_kind kind; /* kind of the visited node */
    const char *want;    /* key that is looked up; NULL: every child is passed to @each */
    size_t want_len;     /* length of @want in bytes */
    rdl_inspect_each *each;
    void *ctx;
    struct text *below; /* path of the visited node if its child nodes are visited too; or NULL */
    bool found;         /* the key @want was found; @value is its value */
    struct rdl_value value;
    struct inode node; /* the node found, if @value is of type RDL_NODE */
};

/* Report a leaf of the visited node under its row @id.  inspect_leaf() reports a number of any
 * type, inspect_text() a text, inspect_word() a word of the row's table, and inspect_set() a set of
 * such words.
 */
void inspect_leaf(struct visit *v, enum leaf_id id, uint64_t number);
void inspect_text(struct visit *v, enum leaf_id id, const char *s);
void inspect_word(struct visit *v, enum leaf_id id, uint32_t number);
void inspect_set(struct visit *v, enum leaf_id id, uint32_t set);

/* Returns true if the leaf @id is wanted.  A visitor calls this before it computes an expensive
 * value.
 */
bool inspect_asks(const struct visit *v, enum leaf_id id);

/* Reports a leaf of a row that has a table of keys, for example the drops by reason.  The key is
 * @word, a row of that table.
 */
void inspect_keyed(struct visit *v, enum leaf_id id, const struct enum_row *word, uint64_t number);

/* Report a child node or list.  inspect_child() takes its kind and its key from the row @id.
 * inspect_named() takes only its kind from the row; its key is @name.
 */
void inspect_child(struct visit *v, enum child_id id, struct inode node);
void inspect_named(struct visit *v, enum child_id id, const char *name, struct inode node);

/* Report element @key of @list.  inspect_item() reports a node, inspect_item_leaf() a number, and
 * inspect_item_text() a text.
 */
void inspect_item(struct visit *v, const struct inode *list, const char *key, struct inode node);
void inspect_item_leaf(struct visit *v, const struct inode *list, const char *key, uint64_t number);
void inspect_item_text(struct visit *v, const struct inode *list, const char *key, const char *s);

/* Implements item() for lists whose elements are nodes that only their index distinguishes. */
void inspect_nth(const struct inode *list, uint64_t i, struct visit *v, const char *key);

/* Returns a list node with the elements 0 .. @end - 1, which @item reports.  Its host and object
 * are those of @n.
 */
struct inode inspect_list_of(const struct inode *n, uint64_t end,
                             void (*item)(const struct inode *list, uint64_t i, struct visit *v,
                                          const char *key));

/* Reports the children of @n.  The elements of a list are reported by inspect.c. */
void inspect_visit_kind(const struct inode *n, struct visit *v);

/* inspect_net.c */
void visit_port(const struct inode *n, struct visit *v);
void visit_eswitch(const struct inode *n, struct visit *v);
void visit_router(const struct inode *n, struct visit *v);
void visit_vf(const struct inode *n, struct visit *v);
void visit_drops(const struct inode *n, struct visit *v);
void visit_net(const struct inode *n, struct visit *v);
void visit_ip(const struct inode *n, struct visit *v);
void visit_neighbour(const struct inode *n, struct visit *v);
void visit_group(const struct inode *n, struct visit *v);
void visit_switch(const struct inode *n, struct visit *v);
void visit_ext(const struct inode *n, struct visit *v);
void visit_link(const struct inode *n, struct visit *v);
void visit_way(const struct inode *n, struct visit *v);
void visit_fault(const struct inode *n, struct visit *v);

/* Writes the name of a link ("h1-sw") to @buf of LINK_NAME_BYTES and returns @buf. */
const char *inspect_link_name(const struct lab_state *w, const struct net_link *l, char *buf);

/* Appends the names of the guests that have the port @first, as many as fit: "g1, g2". */
void inspect_guests(struct text *t, const struct lab_state *w, const struct eth_port *first);

/* inspect_mux.c */
void visit_mux(const struct inode *n, struct visit *v);
void visit_mux_gid(const struct inode *n, struct visit *v);
void visit_mux_id(const struct inode *n, struct visit *v);

/* inspect_lnet.c */
void visit_lnet(const struct inode *n, struct visit *v);
void visit_lnet_messages(const struct inode *n, struct visit *v);
void visit_lnet_test(const struct inode *n, struct visit *v);
void visit_lnet_peer(const struct inode *n, struct visit *v);
void visit_lnet_region(const struct inode *n, struct visit *v);
void visit_lnet_memory(const struct inode *n, struct visit *v);
void visit_lnet_event(const struct inode *n, struct visit *v);

/* inspect_vrnic.c */
void visit_vrnic(const struct inode *n, struct visit *v);
void visit_vrnic_function(const struct inode *n, struct visit *v);
void visit_vrnic_qp(const struct inode *n, struct visit *v);
void visit_vrnic_mr(const struct inode *n, struct visit *v);
void visit_vrnic_cq(const struct inode *n, struct visit *v);

/* inspect_objects.c */
void visit_pd(const struct inode *n, struct visit *v);
void visit_mr(const struct inode *n, struct visit *v);
void visit_mw(const struct inode *n, struct visit *v);
void visit_cq(const struct inode *n, struct visit *v);
void visit_qp(const struct inode *n, struct visit *v);
void visit_ah(const struct inode *n, struct visit *v);
void visit_wc(const struct inode *n, struct visit *v);
void visit_counters(const struct inode *n, struct visit *v);

/* inspect_config.c */
void visit_config(const struct inode *n, struct visit *v);

/* inspect_async.c */
void visit_async(const struct inode *n, struct visit *v);
void visit_async_event(const struct inode *n, struct visit *v);
void visit_channel(const struct inode *n, struct visit *v);
void visit_event_channel(const struct inode *n, struct visit *v);
void visit_cm_id(const struct inode *n, struct visit *v);

/* inspect_srq.c */
void visit_srq(const struct inode *n, struct visit *v);

/* inspect_pvrdma.c */
void visit_dsr(const struct inode *n, struct visit *v);
void visit_uar(const struct inode *n, struct visit *v);
void visit_ring(const struct inode *n, struct visit *v);
void visit_info(const struct inode *n, struct visit *v);

/* Returns true if the host of @n has PVRDMA. */
bool inspect_is_pvrdma(const struct inode *n);

/* Report the rings of an object, if the host of @n has PVRDMA and the object has a ring. */
void inspect_qp_rings(const struct inode *n, struct visit *v, uint32_t qpn);
void inspect_cq_ring(const struct inode *n, struct visit *v, uint32_t cqn);
void inspect_srq_ring(const struct inode *n, struct visit *v, uint32_t srqn);

/* inspect_pci.c */
void visit_pci(const struct inode *n, struct visit *v);
void visit_pci_function(const struct inode *n, struct visit *v);
void visit_vector(const struct inode *n, struct visit *v);
void visit_sriov(const struct inode *n, struct visit *v);
void visit_virtual_function(const struct inode *n, struct visit *v);

/* inspect_queue.c */
void visit_queue(const struct inode *n, struct visit *v);
void visit_driver_side(const struct inode *n, struct visit *v);
void visit_device_side(const struct inode *n, struct visit *v);
void visit_desc(const struct inode *n, struct visit *v);
void visit_used(const struct inode *n, struct visit *v);

/* Reports the rings of a virtual machine's virtio-rdma device, by the numbers of their objects. */
void inspect_machine_rings(const struct inode *n, struct visit *v);

/* Returns the node of queue number @queue of a function of the node's host. */
struct inode queue_node(const struct inode *n, enum pci_function function, uint32_t queue);

#endif
