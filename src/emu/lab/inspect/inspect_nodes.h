/* SPDX-License-Identifier: MIT */
/* Between the walker of the inspect tree (inspect.c) and its nodes (inspect_host.c, inspect_net.c,
 * inspect_objects.c, inspect_queue.c).
 */
#ifndef EMU_LAB_INSPECT_NODES_H
#define EMU_LAB_INSPECT_NODES_H

#include "emu/lab/world.h"
#include "rdmalab/inspect.h"

enum inode_kind {
    NODE_NONE, /* a leaf */
    NODE_LAB,
    NODE_HOST,
    NODE_DEVICE,
    NODE_LIMITS,
    NODE_PORT,
    NODE_DROPS,
    NODE_NET,
    NODE_IP,
    NODE_NEIGHBOUR,
    NODE_COUNTERS,
    NODE_PD,
    NODE_MR,
    NODE_CQ,
    NODE_QP,
    NODE_QUEUE,
    NODE_DRIVER_SIDE,
    NODE_DEVICE_SIDE,
    NODE_DESC,
    NODE_USED,
    NODE_WC,
    NODE_SWITCH,
    NODE_EXT,
    NODE_LINK,
    NODE_FAULT,
    NODE_LIST,
    NODE_KIND_COUNT
};

struct visit;

struct inode {
    enum inode_kind kind;
    const struct world *world;
    const struct host *host;
    const void *object;         /* by kind: guest_object, counters, net_fault, completion, ... */
    enum pci_function function; /* of a queue */
    uint32_t number;            /* of a queue, switch, link, external port */
    uint32_t handle;            /* of what has one */
    uint64_t index;             /* of a list's element */
    /* NODE_LIST: elements list_first .. list_end - 1, each offered by item() under @key. */
    uint64_t list_first, list_end;
    void (*item)(const struct inode *list, uint64_t i, struct visit *v, const char *key);
};

struct visit {
    const char *want; /* the word that is looked for; NULL: all are handed to @each */
    size_t want_len;
    rdl_inspect_each *each;
    void *ctx;
    bool found;
    struct rdl_value value;
    struct inode node; /* of a found value that is a node */
};

void leaf(struct visit *v, const char *key, enum rdl_type type, uint64_t number);
void leaf_text(struct visit *v, const char *key, const char *s);
void leaf_word(struct visit *v, const char *key, const struct enum_table *words, uint32_t number);
void leaf_set(struct visit *v, const char *key, const struct enum_table *words, uint32_t set);
void child(struct visit *v, const char *key, struct inode node);

/* Offers all children of @n; NODE_LIST is the walker's own. */
void inspect_visit(const struct inode *n, struct visit *v);
void inspect_visit_kind(const struct inode *n, struct visit *v);
const char *inspect_kind_name(enum inode_kind kind);

/* The node or leaf at @path.  Errors as rdl_inspect(). */
enum rdl_status inspect_walk(const struct rdl_lab *lab, const char *path, struct inode *ret_node,
                             struct rdl_value *ret_value, size_t *reterr_at);

/* inspect_net.c */
void visit_port(const struct inode *n, struct visit *v);
void visit_drops(const struct inode *n, struct visit *v);
void visit_net(const struct inode *n, struct visit *v);
void visit_ip(const struct inode *n, struct visit *v);
void visit_neighbour(const struct inode *n, struct visit *v);
void visit_switch(const struct inode *n, struct visit *v);
void visit_ext(const struct inode *n, struct visit *v);
void visit_link(const struct inode *n, struct visit *v);
void visit_fault(const struct inode *n, struct visit *v);

/* "h1-sw" */
void inspect_link_name(struct text *t, const struct world *w, const struct net_link *l);

/* inspect_objects.c */
void visit_pd(const struct inode *n, struct visit *v);
void visit_mr(const struct inode *n, struct visit *v);
void visit_cq(const struct inode *n, struct visit *v);
void visit_qp(const struct inode *n, struct visit *v);
void visit_wc(const struct inode *n, struct visit *v);
void visit_counters(const struct inode *n, struct visit *v);

/* inspect_queue.c */
void visit_queue(const struct inode *n, struct visit *v);
void visit_driver_side(const struct inode *n, struct visit *v);
void visit_device_side(const struct inode *n, struct visit *v);
void visit_desc(const struct inode *n, struct visit *v);
void visit_used(const struct inode *n, struct visit *v);

/* The queue numbered @queue of a function of the node's host. */
struct inode queue_node(const struct inode *n, enum pci_function function, uint32_t queue);

#endif
