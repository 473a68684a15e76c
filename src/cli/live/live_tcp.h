/* SPDX-License-Identifier: MIT */
/* The TCP connection on which a program of a host exchanges what the network cannot carry yet.
 *
 * A server waits for one client, at its address or, if it has none, where only this machine reaches
 * it.  A client tries again until its server listens.  What happens is told to the program that the
 * connection belongs to.
 */
#ifndef CLI_LIVE_LIVE_TCP_H
#define CLI_LIVE_LIVE_TCP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#define LIVE_TCP_BYTES     4096u /* that are read at once */
#define LIVE_TCP_ADDRESSES 4u    /* of the server's machine: "localhost" often has two */

struct live_tcp_ops {
    void (*opened)(void *owner); /* both sides are there */
    void (*heard)(void *owner, const char *bytes, size_t n);
    void (*left)(void *owner); /* the other side has closed it */
    void (*failed)(void *owner, const char *why);
};

struct live_tcp {
    uv_loop_t *loop;
    const struct live_tcp_ops *ops;
    void *owner;
    const char *server, *listen; /* the owner's: "": see live_tcp_open() */
    uint16_t port;
    uv_tcp_t listener, stream;
    uv_timer_t retry;
    uv_connect_t connect;
    struct sockaddr_storage addresses[LIVE_TCP_ADDRESSES];
    uint32_t n_addresses;
    bool stream_open, listener_open;
    uint32_t tries;
    int listen_err; /* of libuv: it failed because of that */
    char rx[LIVE_TCP_BYTES];
};

/* Connects to the machine @t->server, or waits at the address @t->listen if that is "".  Before,
 * everything else in @t is zero, but what its owner says about it: loop, ops, owner, port.
 */
void live_tcp_open(struct live_tcp *t);

void live_tcp_send(struct live_tcp *t, const char *bytes, size_t n);

/* Nothing is heard any more.  What is not open is fine. */
void live_tcp_close(struct live_tcp *t);

static inline bool live_tcp_is_open(const struct live_tcp *t)
{
    return t->stream_open || t->listener_open;
}

#endif
