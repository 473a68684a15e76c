/* SPDX-License-Identifier: MIT */
/* A node of LNet on a device, while lnetd runs. */
#ifndef LNETD_NODE_H
#define LNETD_NODE_H

#include "lnetd/device.h"
#include "lnetd/options.h"

/* An operation of this program itself: ping, put or get. */
struct single {
    uint32_t n_left; /* events that are expected */
    uint32_t bytes;
    int status;
};

struct lnetd_node {
    struct lnetd_device device;
    struct lnet_node *lnet;
    struct selftest *selftest;
    struct single single;
    const struct options *options;
};

/* Starts the node.  Returns false, and has printed why, if that fails. */
bool node_start(struct lnetd_node *n, const struct options *o);
/* Stops it, and frees everything. */
void node_stop(struct lnetd_node *n);

/* Waits until @is_over or, with @until_ns, until then.  Returns false after a signal. */
bool node_wait(struct lnetd_node *n, bool (*is_over)(const struct lnetd_node *n),
               uint64_t until_ns);

/* ---- advice.c ---- */
/* Prints why the device is not there, and what to do. */
void advise_device(const struct lnetd_node *n);
/* Prints why messages to @nid have failed with @error, and what to do. */
void advise_peer(const struct lnetd_node *n, uint64_t nid, int error);
/* Tells of connections and rejects, on standard error. */
void tell_note(const struct lnd_note *note);

/* ---- commands.c ---- */
/* Return the status of the program: 0 or 1. */
int command_serve(struct lnetd_node *n);
int command_bulk(struct lnetd_node *n);
int command_batch(struct lnetd_node *n);
int command_ping(struct lnetd_node *n);
int command_put_or_get(struct lnetd_node *n);

#endif
