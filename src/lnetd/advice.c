/* SPDX-License-Identifier: MIT */
/* Messages for people: why something has failed, and what to do. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "emu/facts/enum/lnet_why.h"
#include "lnetd/node.h"

#define NAME_ROW(prefix, name, value, text) {#name, (value), text},

static const struct enum_row whys[] = {ENUM_LNET_WHY(NAME_ROW)};
static const struct enum_row states[] = {ENUM_LND_STATE(NAME_ROW)};

static const struct enum_row *row_of(const struct enum_row *rows, size_t n, uint32_t value)
{
    for (size_t i = 0; i < n; i++) {
        if (rows[i].value == value)
            return &rows[i];
    }
    return NULL;
}

#define ROW(rows, value) row_of(rows, sizeof(rows) / sizeof(rows[0]), value)

/* A failed call with its errno (0: any), and what to do. */
struct cure {
    const char *call;
    int error;
    const char *text;
};

static const struct cure cures[] = {
    {"rdma_create_event_channel", 0,
     "there is no /dev/infiniband/rdma_cm: load the module rdma_ucm, or run lnetd by `rdmalab "
     "exec`"},
    {"rdma_create_id", ENODEV, "there is no RDMA device: `rdma link` lists them"},
    {"rdma_bind_addr", EADDRNOTAVAIL,
     "no interface has the address of --nid: `ip address` lists those of this machine"},
    {"rdma_bind_addr", ENODEV,
     "the interface with the address of --nid has no RDMA device: `rdma link` lists them"},
    {"rdma_bind_addr", EADDRINUSE,
     "another program listens at this port: end it, or use --service"},
    {"rdma_bind_addr", EACCES, "ports below 1024 are for root: use --service, on both sides"},
    {"rdma_listen", EADDRINUSE, "another program listens at this port: end it, or use --service"},
    {"ibv_reg_mr", ENOMEM,
     "memory cannot be pinned: raise the limit of `ulimit -l`, or use a smaller --ntx"},
    {"rdma_create_qp", ENOMEM,
     "the device has no such queues: use smaller --max-frags and --peer-credits"},
    {"rdma_create_qp", EINVAL,
     "the device has no such queues: use smaller --max-frags and --peer-credits"},
    {"ibv_create_cq", ENOMEM,
     "the device has no such completion queue: use smaller --max-frags and --peer-credits"},
    {"ibv_create_cq", EINVAL,
     "the device has no such completion queue: use smaller --max-frags and --peer-credits"},
    {"ibv_create_cq", ENODEV,
     "the route to the peer leads through another device than that of --nid"},
};

static const char *cure_of(const struct lnetd_device *d)
{
    for (size_t i = 0; d->failed_call && i < sizeof(cures) / sizeof(cures[0]); i++) {
        if (strcmp(cures[i].call, d->failed_call) == 0 &&
            (cures[i].error == 0 || cures[i].error == d->failed_errno))
            return cures[i].text;
    }
    return NULL;
}

/* "rdma_bind_addr(): No such device; ..." */
static void print_failed_call(const struct lnetd_device *d)
{
    const char *cure = cure_of(d);

    fprintf(stderr, "%s(): %s%s%s\n", d->failed_call, strerror(d->failed_errno), cure ? "; " : "",
            cure ? cure : "");
}

void advise_device(const struct lnetd_node *n)
{
    const struct lnetd_device *d = &n->device;

    fputs("lnetd: ", stderr);
    if (d->failed_call)
        print_failed_call(d);
    else
        fprintf(stderr, "%s\n", strerror(lnd_error(d->lnd)));
}

static void print_reject(const struct lnetd_node *n)
{
    const struct enum_row *why = ROW(whys, n->device.rejected_why);

    if (n->device.rejected_why == LNET_WHY_INVALID_SRV_ID)
        fprintf(stderr, "no listener at port %u: does `lnetd serve` run there?\n",
                n->options->config.service);
    else if (why)
        fprintf(stderr, "it rejects the connection: %s, %s\n", why->name, why->text);
    else
        fputs("it rejects the connection\n", stderr);
}

void advise_peer(const struct lnetd_node *n, uint64_t nid, int error)
{
    const struct lnetd_device *d = &n->device;
    char text[LNET_NID_TEXT_MAX];

    fprintf(stderr, "lnetd: %s: ", lnet_nid_text(nid, text));
    if (d->rejected_by == nid &&
        (error == -EHOSTUNREACH || error == -ECONNREFUSED || error == -EPROTO))
        print_reject(n);
    else if (error == -EHOSTUNREACH)
        fputs("no answer from this address: is it right, and does `ping` reach it?\n", stderr);
    else if (error == -ETIMEDOUT)
        fputs("no answer in time; --timeout sets how long to wait\n", stderr);
    else if (error == -ECONNABORTED || error == -ECONNRESET)
        fputs("the connection has closed: does `lnetd serve` still run there?\n", stderr);
    else if (error == -EMSGSIZE)
        fputs("too many fragments for a transfer: use --frag and --offset with larger pieces\n",
              stderr);
    else if (error == -EBADMSG)
        fputs("data arrived with wrong bytes\n", stderr);
    else if (d->failed_call && error == -d->failed_errno)
        print_failed_call(d);
    else
        fprintf(stderr, "%s\n", strerror(-error));
}

void tell_note(const struct lnd_note *note)
{
    char text[LNET_NID_TEXT_MAX];
    const struct enum_row *row =
        note->kind == LND_NOTE_STATE ? ROW(states, note->state) : ROW(whys, note->why);

    if (note->kind == LND_NOTE_STATE)
        fprintf(stderr, "lnetd: connection with %s: %s%s%s\n", lnet_nid_text(note->peer, text),
                row ? row->name : "?", note->error ? ", " : "",
                note->error ? strerror(-note->error) : "");
    else if (note->kind == LND_NOTE_REJECTED)
        fprintf(stderr, "lnetd: request of %s was rejected: %s\n",
                note->is_mine ? lnet_nid_text(note->peer, text) : "this node",
                row ? row->name : "?");
    else if (note->kind == LND_NOTE_REGION)
        fprintf(stderr, "lnetd: region %#x of %llu bytes was %s\n", note->key,
                (unsigned long long)note->bytes, note->n ? "registered" : "freed");
}
