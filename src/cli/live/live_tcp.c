/* SPDX-License-Identifier: MIT */
#include "cli/live/live_tcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BACKLOG           1
#define LISTEN_RETRIES_MS 100u /* interval of a client's retries */
#define CONNECT_TRIES_MAX 50u  /* per address */
#define WHY_BYTES         160u

void live_tcp_close(struct live_tcp *t)
{
    if (t->stream_open && !uv_is_closing((uv_handle_t *)&t->stream))
        uv_close((uv_handle_t *)&t->stream, NULL);
    if (t->listener_open && !uv_is_closing((uv_handle_t *)&t->listener))
        uv_close((uv_handle_t *)&t->listener, NULL);
    t->stream_open = t->listener_open = false;
}

/* --- Bytes ------------------------------------------------------------------------------------ */

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *buf)
{
    struct live_tcp *t = h->data;

    (void)suggested;
    *buf = uv_buf_init(t->rx, sizeof(t->rx));
}

static void on_written(uv_write_t *w, int status)
{
    struct live_tcp *t = w->data;

    if (status < 0 && status != UV_ECANCELED)
        t->ops->failed(t->owner, "Couldn't send to the other side");
    free(w);
}

void live_tcp_send(struct live_tcp *t, const char *bytes, size_t n)
{
    uv_write_t *w = malloc(sizeof(*w) + n);
    uv_buf_t buf;

    if (!w) {
        t->ops->failed(t->owner, "no memory");
        return;
    }
    memcpy(w + 1, bytes, n);
    buf = uv_buf_init((char *)(w + 1), (unsigned)n);
    w->data = t;
    if (uv_write(w, (uv_stream_t *)&t->stream, &buf, 1, on_written) != 0) {
        free(w);
        t->ops->failed(t->owner, "Couldn't send to the other side");
    }
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct live_tcp *t = stream->data;

    if (n > 0) {
        t->ops->heard(t->owner, buf->base, (size_t)n);
    } else if (n < 0) {
        t->ops->left(t->owner);
        live_tcp_close(t);
    }
}

static void begin(struct live_tcp *t)
{
    t->stream_open = true;
    t->stream.data = t;
    t->ops->opened(t->owner);
    uv_read_start((uv_stream_t *)&t->stream, on_alloc, on_read);
}

/* --- Server ----------------------------------------------------------------------------------- */

static void on_connection(uv_stream_t *listener, int status)
{
    struct live_tcp *t = listener->data;

    if (status < 0 || t->stream_open)
        return;
    uv_tcp_init(t->loop, &t->stream);
    if (uv_accept(listener, (uv_stream_t *)&t->stream) != 0)
        return;
    uv_close((uv_handle_t *)listener, NULL);
    t->listener_open = false;
    begin(t);
}

static int bind_to(struct live_tcp *t, const char *address)
{
    struct sockaddr_in6 v6;
    struct sockaddr_in v4;

    if (strchr(address, ':')) {
        const int err = uv_ip6_addr(address, t->port, &v6);

        return err ? err : uv_tcp_bind(&t->listener, (const struct sockaddr *)&v6, 0);
    }
    (void)uv_ip4_addr(address, t->port, &v4); /* the command has checked the address */
    return uv_tcp_bind(&t->listener, (const struct sockaddr *)&v4, 0);
}

/* Binds to the given address, or else to the loopback interface. */
static int bind_listener(struct live_tcp *t)
{
    int err;

    if (t->listen[0])
        return bind_to(t, t->listen);
    err = bind_to(t, "127.0.0.1");
    return err == 0 ? 0 : bind_to(t, "::1"); /* for a machine without IPv4 */
}

static void serve(struct live_tcp *t)
{
    int err = uv_tcp_init(t->loop, &t->listener);
    char why[WHY_BYTES];

    if (err == 0) {
        t->listener_open = true;
        t->listener.data = t;
        err = bind_listener(t);
    }
    if (err == 0)
        err = uv_listen((uv_stream_t *)&t->listener, BACKLOG, on_connection);
    if (err == 0)
        return;
    t->listen_err = err;
    snprintf(why, sizeof(why), "Couldn't listen to port %u: %s", t->port, uv_strerror(err));
    t->ops->failed(t->owner, why);
}

/* --- Client ----------------------------------------------------------------------------------- */

static void try_connect(uv_timer_t *timer);

static void connect_failed(struct live_tcp *t, int err)
{
    char why[WHY_BYTES];

    snprintf(why, sizeof(why), "Couldn't connect to %s:%u: %s", t->server, t->port,
             uv_strerror(err));
    t->ops->failed(t->owner, why);
}

/* The handle may be used again only after it is closed. */
static void on_attempt_closed(uv_handle_t *stream)
{
    struct live_tcp *t = stream->data;
    const bool all_tried = t->tries % t->n_addresses == 0;

    uv_timer_start(&t->retry, try_connect, all_tried ? LISTEN_RETRIES_MS : 0, 0);
}

/* Continues with the next address, after an attempt failed with @err. */
static void connect_next(struct live_tcp *t, int err)
{
    const bool last = ++t->tries >= CONNECT_TRIES_MAX * t->n_addresses;

    t->stream.data = t;
    uv_close((uv_handle_t *)&t->stream, last ? NULL : on_attempt_closed);
    if (last)
        connect_failed(t, err);
}

static void on_connected(uv_connect_t *c, int status)
{
    struct live_tcp *t = c->data;

    if (status == UV_ECANCELED)
        return;
    if (status == 0)
        begin(t);
    else
        connect_next(t, status);
}

static void try_connect(uv_timer_t *timer)
{
    struct live_tcp *t = timer->data;
    const struct sockaddr_storage *address = &t->addresses[t->tries % t->n_addresses];
    int err;

    uv_tcp_init(t->loop, &t->stream);
    t->connect.data = t;
    err = uv_tcp_connect(&t->connect, &t->stream, (const struct sockaddr *)address, on_connected);
    if (err != 0)
        connect_next(t, err);
}

static int resolve(struct live_tcp *t)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    uv_getaddrinfo_t req;
    char port[8];
    int err;

    snprintf(port, sizeof(port), "%u", t->port);
    err = uv_getaddrinfo(t->loop, &req, NULL, t->server, port, &hints);
    if (err != 0)
        return err;
    for (const struct addrinfo *a = req.addrinfo; a && t->n_addresses < LIVE_TCP_ADDRESSES;
         a = a->ai_next)
        memcpy(&t->addresses[t->n_addresses++], a->ai_addr, a->ai_addrlen);
    uv_freeaddrinfo(req.addrinfo);
    return t->n_addresses ? 0 : UV_EAI_NONAME;
}

static void call(struct live_tcp *t)
{
    const int err = resolve(t);

    uv_timer_init(t->loop, &t->retry);
    t->retry.data = t;
    if (err != 0)
        connect_failed(t, err);
    else
        try_connect(&t->retry);
}

void live_tcp_open(struct live_tcp *t)
{
    if (t->server[0] == '\0')
        serve(t);
    else
        call(t);
}
