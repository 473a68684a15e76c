/* SPDX-License-Identifier: MIT */
#include "emu/lab/changed.h"

#include <stdlib.h>
#include <string.h>

#include "emu/facts/device.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/lab/lab_state.h"
#include "emu/rnic/rnic.h"
#include "emu/trace/event.h"
#include "emu/virtio/pci.h"

struct changed *changed_new(const struct lab_state *w)
{
    struct changed *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->state = w;
    c->all = true;
    for (uint32_t kind = 0; kind < EV_COUNT; kind++) {
        c->fields[kind] = (struct changed_fields){
            .host = ev_field_find(kind, "host"),
            .function = ev_field_find(kind, "function"),
            .queue = ev_field_find(kind, "queue"),
            .cqn = ev_field_find(kind, "cqn"),
            .qpn = ev_field_find(kind, "qpn"),
            .number = ev_field_find(kind, "number"),
        };
    }
    return c;
}

void changed_free(struct changed *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->n_hosts; i++)
        free(c->hosts[i].noted);
    free(c->hosts);
    free(c->v);
    free(c);
}

/* Parts of a host are numbered like the virtqueues of virtio-rdma, whatever device it has: control,
 * CQs, queues of queue pairs, events, shared receive queues, completion event queues.
 */
static uint32_t n_parts(const struct host *h)
{
    const struct rnic_config *c = h->rnic ? h->rnic->config : NULL;

    return c ? queue_of_srq(c->max_cq, c->max_qp, c->max_srq) + 1 + DEVICE_CEQS_MAX : 1;
}

/* The bit set of @host, large enough for @queue; NULL when memory is short. */
static struct changed_host *host_at(struct changed *c, uint32_t host, uint32_t queue)
{
    const uint32_t longer = 2 * c->state->n_hosts;
    const uint32_t n_words = n_parts(c->state->hosts[host]) / 64 + 1;
    struct changed_host *h;

    if (host >= c->n_hosts) {
        h = realloc(c->hosts, longer * sizeof(*h));
        if (!h)
            return NULL;
        memset(h + c->n_hosts, 0, (longer - c->n_hosts) * sizeof(*h));
        c->hosts = h;
        c->n_hosts = longer;
    }
    h = &c->hosts[host];
    if (queue / 64 >= h->n_words) {
        uint64_t *noted = realloc(h->noted, n_words * sizeof(*noted));

        if (!noted)
            return NULL;
        memset(noted + h->n_words, 0, (n_words - h->n_words) * sizeof(*noted));
        h->noted = noted;
        h->n_words = n_words;
    }
    return h;
}

static bool list_add(struct changed *c, struct changed_queue q)
{
    if (c->n == c->cap) {
        const size_t cap = c->cap ? 2 * c->cap : 64;
        struct changed_queue *v = realloc(c->v, cap * sizeof(*v));

        if (!v)
            return false;
        c->v = v;
        c->cap = cap;
    }
    c->v[c->n++] = q;
    return true;
}

static void note(struct changed *c, uint32_t host, uint32_t queue)
{
    const uint64_t bit = (uint64_t)1 << queue % 64;
    struct changed_host *h = host_at(c, host, queue);

    if (h && (h->noted[queue / 64] & bit))
        return;
    if (h && list_add(c, (struct changed_queue){host, queue}))
        h->noted[queue / 64] |= bit;
    else
        c->all = true;
}

static uint32_t number_of(const struct ev *e, const struct ev_field *f, uint32_t none)
{
    return f ? (uint32_t)ev_field_number(e, f) : none;
}

void changed_event(void *ctx, const struct ev *e)
{
    struct changed *c = ctx;
    const struct changed_fields *f = &c->fields[e->kind];
    const uint32_t host = number_of(e, f->host, EV_HOST_NONE);
    /* A control request names only a number: every object with that number is checked. */
    const uint32_t number = number_of(e, f->number, 0);
    const struct virtio_dev *device;
    const struct rnic_config *config;
    uint32_t qpn, cqn, queue;

    if (c->all || host >= c->state->n_hosts)
        return; /* all is listed already, or the event belongs to no host of the lab */
    note(c, host, QUEUE_CTRL);
    if (!c->state->hosts[host]->rnic)
        return;
    config = c->state->hosts[host]->rnic->config;
    device = host_virtio(c->state->hosts[host], FN_RDMA);
    queue = number_of(e, f->queue, QUEUE_CTRL);
    cqn = number_of(e, f->cqn, number);
    qpn = number_of(e, f->qpn, number);
    /* A configuration interrupt has no queue, and a driver may select a queue that does not exist.
     */
    if (number_of(e, f->function, FN_RDMA) != FN_RDMA || !device ||
        queue >= device->config.num_queues)
        queue = QUEUE_CTRL;
    if (queue_srqn(config->max_cq, config->max_qp, queue))
        note(c, host, queue);
    else if (queue_owner(config->max_cq, queue))
        qpn = queue_owner(config->max_cq, queue);
    else if (queue != QUEUE_CTRL)
        cqn = queue;
    if (cqn >= 1 && cqn <= config->max_cq)
        note(c, host, cqn);
    if (qpn >= 1 && qpn <= config->max_qp)
        note(c, host, queue_of_sends(config->max_cq, qpn));
    /* A shared receive queue is found by its virtqueue, or else as any object with the number. */
    if (!device && number >= 1 && number <= config->max_srq)
        note(c, host, queue_of_srq(config->max_cq, config->max_qp, number));
}

void changed_clear(struct changed *c)
{
    for (size_t i = 0; i < c->n; i++)
        c->hosts[c->v[i].host].noted[c->v[i].queue / 64] = 0;
    c->n = 0;
    c->all = false;
}
