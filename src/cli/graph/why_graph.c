/* SPDX-License-Identifier: MIT */
#include "cli/graph/why_graph.h"

#include <stdlib.h>
#include <string.h>

#include "cli/graph/wrap.h"
#include "cli/why/causes.h"
#include "cli/why/fate_text.h"
#include "emu/base/quantity.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"
#include "process/must.h"

#define LABEL_BYTES   (2 * EV_TEXT_BYTES)
#define LABEL_COLUMNS 38u

/* An event of the graph. */
struct item {
    const struct ev *e;
    struct why_cause causes[WHY_CAUSES_MAX];
    size_t n_causes;
    bool cut;         /* some of its causes are not in the graph */
    uint32_t host;    /* EV_HOST_NONE: none */
    uint32_t cluster; /* that of the host */
    uint32_t node;    /* its box */
};

struct cause_walk {
    const struct past *p;
    struct item items[WHY_GRAPH_MAX];
    size_t n;
};

static struct item *find(struct cause_walk *w, const struct ev *e)
{
    for (size_t i = 0; i < w->n; i++) {
        if (w->items[i].e == e)
            return &w->items[i];
    }
    return NULL;
}

/* Collects @e and its causes, level by level. */
static void collect(struct cause_walk *w, const struct past_index *x, const struct ev *e)
{
    w->items[w->n++] = (struct item){.e = e};
    for (size_t i = 0; i < w->n; i++) {
        struct item *item = &w->items[i];

        item->n_causes = why_causes(x, item->e, item->causes);
        for (size_t k = 0; k < item->n_causes; k++) {
            if (find(w, item->causes[k].e))
                continue;
            if (w->n < WHY_GRAPH_MAX)
                w->items[w->n++] = (struct item){.e = item->causes[k].e};
            else
                item->cut = true;
        }
    }
}

static int by_id(const void *a, const void *b)
{
    const ev_id x = ((const struct item *)a)->e->id, y = ((const struct item *)b)->e->id;

    return x < y ? -1 : x > y;
}

static enum graph_tone tone_of(const struct ev *e, ev_id asked)
{
    if (e->id == asked)
        return GRAPH_NOW;
    switch (e->kind) {
    case EV_lost:
    case EV_drop:
    case EV_fault:
    case EV_timeout:
        return GRAPH_BAD;
    case EV_tx:
    case EV_rx:
        return GRAPH_QUEUE;
    case EV_cqe:
    case EV_qp_state:
        return GRAPH_PAIR;
    default:
        return GRAPH_PLAIN;
    }
}

/* Returns the cluster of the host of @item, or GRAPH_NONE if it has none: it happened on a link. */
static uint32_t cluster_of(const struct cause_walk *w, struct graph *g, const struct item *item)
{
    char name[64];
    struct text t = text_on(name, sizeof(name));

    if (item->host == EV_HOST_NONE)
        return GRAPH_NONE;
    for (const struct item *i = w->items; i < item; i++) {
        if (i->host == item->host)
            return i->cluster;
    }
    ev_names_host(w->p->names, &t, item->host);
    return graph_add_cluster(g, name, name);
}

static void add_item(const struct cause_walk *w, struct graph *g, struct item *item, ev_id asked)
{
    char label[LABEL_BYTES], buf[EV_TEXT_BYTES], id[32];
    struct text t = text_on(label, sizeof(label)), b = text_on(buf, sizeof(buf)),
                i = text_on(id, sizeof(id));

    ev_add_id(&i, item->e->id);
    text_addf(&t, "%s %s, t=", id, ev_schema(item->e->kind)->name);
    quantity_add_time_short(&t, item->e->at_ns);
    past_add_text(&b, w->p, item->e);
    wrap_add(&t, LABEL_COLUMNS, buf);
    if (item->cut)
        text_addf(&t, "\nmore: why %s", id);
    item->host = past_host_of(item->e);
    item->cluster = cluster_of(w, g, item);
    item->node = graph_add_node(g, id, label, tone_of(item->e, asked), item->cluster);
}

static void add_causes(struct cause_walk *w, struct graph *g, const struct item *item)
{
    static const struct {
        const char *label;
        enum graph_line line;
    } links[] = {
        [WHY_CAUSED] = {"", GRAPH_SOLID},
        [WHY_PACKET] = {"", GRAPH_THICK},
        [WHY_POSTED] = {"posted", GRAPH_SOLID},
        [WHY_MISSING] = {"missing", GRAPH_DASHED},
    };

    for (size_t k = 0; k < item->n_causes; k++) {
        const struct why_cause *c = &item->causes[k];
        const struct item *from = find(w, c->e);

        if (from)
            graph_add_edge(g, from->node, item->node, links[c->link].label, links[c->link].line);
    }
}

enum rdl_status why_graph(const struct past *p, ev_id id, struct graph *ret)
{
    const struct ev *e = past_find(p, id);
    char title[64];
    struct text t = text_on(title, sizeof(title));
    struct past_index *index;
    struct cause_walk *w;

    if (!e)
        return RDL_ERR_NOT_FOUND;
    text_add(&t, "why ");
    ev_add_id(&t, e->id);
    graph_init(ret, "why", title);
    ret->downwards = ret->in_order = true;
    w = must_malloc(sizeof(*w));
    *w = (struct cause_walk){.p = p};
    index = fate_index(p);
    collect(w, index, e);
    past_index_free(index);
    qsort(w->items, w->n, sizeof(w->items[0]), by_id);
    for (size_t i = 0; i < w->n; i++)
        add_item(w, ret, &w->items[i], e->id);
    for (size_t i = 0; i < w->n && !ret->failed; i++)
        add_causes(w, ret, &w->items[i]);
    free(w);
    return RDL_OK;
}
