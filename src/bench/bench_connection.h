/* SPDX-License-Identifier: MIT */
/* Connections by rdma_cm between two hosts, in the steps of a program that uses librdmacm: the
 * parts of `rdmalab bench connect`.
 *
 *	h1                                       h2
 *	                                         listen, once
 *	connection_dial(): an ID that asks
 *	                                         connection_accept(): the next request that came
 *	connection_finish(): RTS, RTU
 *	connection_await(): until h2 knows it
 *
 * Each ID has an event channel, a completion queue and a queue pair of its own.
 */
#ifndef BENCH_BENCH_CONNECTION_H
#define BENCH_BENCH_CONNECTION_H

#include "rdmalab/cm.h"
#include "testbed/testbed.h"

/* One end: the ID and its queue pair; that of h1 is end 0. */
struct connection_end {
    rdl_cm_channel channel;
    rdl_cm_id id;
    struct testbed_side side;
};

struct bench_connection {
    struct connection_end end[2];
};

/* Two hosts with a link; h2 listens. */
struct connection_lab {
    struct rdl_lab *lab;
    struct testbed_side host[2]; /* the host, its PD and its MR */
    struct rdl_cm_addr listens_at;
    rdl_cm_channel channel; /* of the listener */
};

/* Builds the lab for @n connections at the same time.  Call connection_lab_done() in any case. */
RDL_MUST_CHECK enum rdl_status connection_lab_init(struct connection_lab *l, uint32_t n,
                                                   bool record);
void connection_lab_done(struct connection_lab *l);

/* A part of connection_lab_init(): h2 listens.  For a lab whose hosts the caller has made. */
RDL_MUST_CHECK enum rdl_status connection_lab_listen(struct connection_lab *l);

/* Each step returns an error of the public API, or RDL_ERR_DEVICE if something came that is not
 * expected.  connection_dial() sends @number to h2, so that connection_accept() can find the
 * connection of the request: @all are all connections, @n their number.
 */
RDL_MUST_CHECK enum rdl_status connection_dial(struct connection_lab *l, struct bench_connection *c,
                                               uint32_t number);
RDL_MUST_CHECK enum rdl_status connection_accept(struct connection_lab *l,
                                                 struct bench_connection *all, uint32_t n);
RDL_MUST_CHECK enum rdl_status connection_finish(struct connection_lab *l,
                                                 struct bench_connection *c);
RDL_MUST_CHECK enum rdl_status connection_await(struct connection_lab *l,
                                                struct bench_connection *c);

/* Passes one message of 64 bytes from h1 to h2, and polls both completions. */
RDL_MUST_CHECK enum rdl_status connection_message(struct connection_lab *l,
                                                  struct bench_connection *c);

/* h1 disconnects, h2 follows, and both destroy what they have. */
RDL_MUST_CHECK enum rdl_status connection_end(struct connection_lab *l, struct bench_connection *c);

#endif
