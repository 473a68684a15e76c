/* SPDX-License-Identifier: MIT */
/* Between the walker of the inspect tree (inspect.c) and its nodes (inspect_host.c, inspect_net.c,
 * inspect_objects.c, inspect_queue.c).
 *
 * A visitor says everything under its row of emu/facts/leaves.def, in the order in which people see
 * it.  Only names of objects and numbers of elements are its own.
 */
#ifndef EMU_LAB_INSPECT_NODES_H
#define EMU_LAB_INSPECT_NODES_H

#include "emu/facts/leaf.h"
#include "emu/lab/world.h"
#include "rdmalab/inspect.h"

struct text;
struct visit;

struct inode {
    enum node_kind kind; /* NODE_none: a leaf */
    const struct world *world;
    const struct host *host;
    const void *object;         /* by kind: guest_object, counters, net_fault, completion, ... */
    enum pci_function function; /* of a queue */
    uint32_t number;            /* of a queue, switch, link, external port */
    uint64_t handle;            /* of what has one */
    uint64_t index;             /* of a list's element */
    /* NODE_list: elements list_first .. list_end - 1 of @list, each said by item() under @key. */
    enum child_id list;
    uint64_t list_first, list_end;
    void (*item)(const struct inode *list, uint64_t i, struct visit *v, const char *key);
};

struct visit {
    enum node_kind kind; /* of the node that is visited */
    const char *want;    /* the word that is looked for; NULL: all are handed to @each */
    size_t want_len;
    rdl_inspect_each *each;
    void *ctx;
    struct text *below; /* the path of the node that is visited, whose nodes are, too; or NULL */
    bool found;
    struct rdl_value value;
    struct inode node; /* of a found value that is a node */
};

/* Says a leaf of the node that is visited: a number of any type, text, a word of the row's table,
 * or a set of them.
 */
void inspect_leaf(struct visit *v, enum leaf_id id, uint64_t number);
void inspect_text(struct visit *v, enum leaf_id id, const char *s);
void inspect_word(struct visit *v, enum leaf_id id, uint32_t number);
void inspect_set(struct visit *v, enum leaf_id id, uint32_t set);

/* Will anybody see the leaf?  A visitor may ask where its value takes long to find. */
bool inspect_asks(const struct visit *v, enum leaf_id id);

/* The leaf that a row with a table of keys has for @word. */
void inspect_keyed(struct visit *v, enum leaf_id id, const struct enum_row *word, uint64_t number);

/* Says a child, whose kind is the row's; a list with its elements; one that has a name of its own.
 */
void inspect_child(struct visit *v, enum child_id id, struct inode node);
void inspect_named(struct visit *v, enum child_id id, const char *name, struct inode node);

/* The element @key of @list: a node, a number, or text. */
void inspect_item(struct visit *v, const struct inode *list, const char *key, struct inode node);
void inspect_item_leaf(struct visit *v, const struct inode *list, const char *key, uint64_t number);
void inspect_item_text(struct visit *v, const struct inode *list, const char *key, const char *s);

/* item() of a list whose elements are nodes that their index alone tells apart. */
void inspect_nth(const struct inode *list, uint64_t i, struct visit *v, const char *key);

/* A list of elements 0 .. @end - 1 that belong to the same as @n. */
struct inode inspect_list_of(const struct inode *n, uint64_t end,
                             void (*item)(const struct inode *list, uint64_t i, struct visit *v,
                                          const char *key));

/* Says all that is in @n, but not the elements of a list: they are the walker's own. */
void inspect_visit_kind(const struct inode *n, struct visit *v);

/* inspect_net.c */
void visit_port(const struct inode *n, struct visit *v);
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

/* "h1-sw"; @buf, which is returned, has LINK_NAME_BYTES. */
const char *inspect_link_name(const struct world *w, const struct net_link *l, char *buf);

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

/* inspect_srq.c */
void visit_srq(const struct inode *n, struct visit *v);

/* inspect_pci.c */
void visit_pci(const struct inode *n, struct visit *v);
void visit_pci_function(const struct inode *n, struct visit *v);
void visit_vector(const struct inode *n, struct visit *v);

/* inspect_queue.c */
void visit_queue(const struct inode *n, struct visit *v);
void visit_driver_side(const struct inode *n, struct visit *v);
void visit_device_side(const struct inode *n, struct visit *v);
void visit_desc(const struct inode *n, struct visit *v);
void visit_used(const struct inode *n, struct visit *v);

/* The queue numbered @queue of a function of the node's host. */
struct inode queue_node(const struct inode *n, enum pci_function function, uint32_t queue);

#endif
