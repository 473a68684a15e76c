/* SPDX-License-Identifier: MIT */
/* The TCP connection of a program: over it the program exchanges the addresses (QPN, GID and so on)
 * that it needs before it can use RDMA.
 *
 * A server accepts one client, on its address or, without one, on the loopback interface.  A client
 * retries until its server listens.  Events are reported to the owner through live_tcp_ops.
 */
#ifndef CLI_LIVE_LIVE_TCP_H
#define CLI_LIVE_LIVE_TCP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#define LIVE_TCP_BYTES     4096u /* maximum bytes of one read */
#define LIVE_TCP_ADDRESSES 4u    /* addresses tried of a server; "localhost" often has two */

struct live_tcp_ops {
    void (*opened)(void *owner);                             /* the connection is established */
    void (*heard)(void *owner, const char *bytes, size_t n); /* bytes were received */
    void (*left)(void *owner);                    /* the other side has closed the connection */
    void (*failed)(void *owner, const char *why); /* there is no connection, or it is broken */
};

struct live_tcp {
    uv_loop_t *loop;
    const struct live_tcp_ops *ops;
    void *owner;
    /* The texts belong to the owner.  See live_tcp_open(). */
    const char *server, *listen;
    uint16_t port;
    uv_tcp_t listener, stream;
    uv_timer_t retry;
    uv_connect_t connect;
    struct sockaddr_storage addresses[LIVE_TCP_ADDRESSES];
    uint32_t n_addresses;
    bool stream_open, listener_open;
    uint32_t tries; /* attempts to connect so far */
    int listen_err; /* error of libuv that made listening fail; 0: none */
    char rx[LIVE_TCP_BYTES];
};

/* Connects to the machine @t->server, or if that is "", listens on the address @t->listen, or if
 * that is "" too, on the loopback interface.  The owner must set loop, ops, owner, server, listen
 * and port; everything else in @t must be zero.
 */
void live_tcp_open(struct live_tcp *t);

void live_tcp_send(struct live_tcp *t, const char *bytes, size_t n);

/* Closes the connection, or stops listening.  No callback is called after it. */
void live_tcp_close(struct live_tcp *t);

/* Returns true if the connection is open, is being opened, or is waited for. */
static inline bool live_tcp_is_open(const struct live_tcp *t)
{
    return t->stream_open || t->listener_open;
}

#endif
