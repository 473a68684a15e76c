/* SPDX-License-Identifier: MIT */
/* What the two sides tell each other, as lines of text over TCP. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "peer.h"

#define HELLO      "verbs_peer 1"
#define PATIENCE_S 90

/* Waits at @port for one connection. */
static int wait_for(const struct peer *p, uint16_t port)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(port)};
    const int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    int connected;

    if (s < 0 || setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
        bind(s, (struct sockaddr *)&any, sizeof(any)) || listen(s, 1))
        fail(p, "cannot listen to port %u: %s", port, strerror(errno));
    connected = accept(s, NULL, NULL);
    close(s);
    return connected;
}

static int connect_to(const struct peer *p, const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int s = -1;

    if (getaddrinfo(host, port, &hints, &found))
        fail(p, "there is no %s", host);
    for (const struct addrinfo *a = found; a && s < 0; a = a->ai_next) {
        s = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (s >= 0 && connect(s, a->ai_addr, a->ai_addrlen)) {
            close(s);
            s = -1;
        }
    }
    freeaddrinfo(found);
    return s;
}

static void read_line(const struct peer *p, char *line, size_t bytes)
{
    if (!fgets(line, (int)bytes, p->from))
        fail(p, "the peer is gone, or silent");
    line[strcspn(line, "\n")] = '\0';
}

static void hello(struct peer *p)
{
    char line[PEER_LINE_BYTES], text[INET6_ADDRSTRLEN];

    inet_ntop(AF_INET6, p->gid.raw, text, sizeof(text));
    fprintf(p->to, HELLO " side=%c gid=%s psn=0x%06x\n", p->side, text, p->psn);
    fflush(p->to);
    read_line(p, line, sizeof(line));
    if (sscanf(line, HELLO " side=%*c gid=%45s psn=0x%x", text, &p->peer_psn) != 2 ||
        inet_pton(AF_INET6, text, p->peer_gid.raw) != 1)
        fail(p, "this is no verbs_peer: %s", line);
    if (strstr(line, p->side == 'a' ? " side=a " : " side=b "))
        fail(p, "the peer is the same side");
}

void exchange_open(struct peer *p, const char *host, const char *port)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    const int s = host ? connect_to(p, host, port) : wait_for(p, (uint16_t)to_number(p, port));

    if (s < 0)
        fail(p, "there is no connection");
    setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    p->from = fdopen(s, "r");
    p->to = fdopen(dup(s), "w");
    if (!p->from || !p->to)
        fail(p, "there is no connection");
    hello(p);
}

/* Tells the peer about @o. */
static void announce(const struct peer *p, const struct object *o)
{
    if (o->kind == QP)
        fprintf(p->to, "qp %s qpn=0x%06x\n", o->name, o->qp->qp_num);
    else
        fprintf(p->to, "%s %s rkey=0x%08x addr=0x%" PRIx64 " len=%zu\n",
                o->kind == MR ? "mr" : "mw", o->name, o->kind == MR ? o->mr->rkey : o->mw->rkey,
                (uint64_t)(uintptr_t)o->memory, o->length);
}

static void forget(struct peer *p, const char *name)
{
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        if (strcmp(p->remote[i].name, name) == 0)
            p->remote[i].name[0] = '\0';
    }
}

static void remember(struct peer *p, const char *line)
{
    struct remote r = {.addr = 0};

    if (sscanf(line, "gone %31s", r.name) == 1) {
        forget(p, r.name);
        return;
    }
    r.is_qp = sscanf(line, "qp %31s qpn=%" SCNx32, r.name, &r.number) == 2;
    if (!r.is_qp && sscanf(line, "m%*1[rw] %31s rkey=%" SCNx32 " addr=%" SCNx64, r.name, &r.number,
                           &r.addr) != 3)
        fail(p, "the peer says: %s", line);
    forget(p, r.name);
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        if (!p->remote[i].name[0]) {
            p->remote[i] = r;
            return;
        }
    }
    fail(p, "the peer has too many objects");
}

/* Tells what is new, and waits until the peer has come to the same line. */
void do_sync(struct peer *p)
{
    const char *name = operand(p, 0);
    char line[PEER_LINE_BYTES];

    for (size_t i = 0; i < p->n_gone; i++)
        fprintf(p->to, "gone %s\n", p->gone[i]);
    p->n_gone = 0;
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        if (p->object[i].kind != NOTHING && p->object[i].news) {
            announce(p, &p->object[i]);
            p->object[i].news = false;
        }
    }
    fprintf(p->to, "sync %s\n", name);
    fflush(p->to);
    for (;;) {
        read_line(p, line, sizeof(line));
        if (strncmp(line, "sync ", 5) == 0)
            break;
        remember(p, line);
    }
    if (strcmp(line + 5, name) != 0)
        fail(p, "the peer waits at %s", line + 5);
}
