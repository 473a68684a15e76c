/* SPDX-License-Identifier: MIT */
/* The scheduled items in the order of execution, as sentences for users. */
#include "emu/base/assert.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/lab/lab_state.h"
#include "rdmalab/inspect.h"

#define SENTENCE_BYTES 240u

static void add_host(struct text *t, const struct lab_state *w, uint32_t host)
{
    text_add(t, host < w->n_hosts ? w->hosts[host]->name : "?");
}

/* Returns true if the item carries a frame on its way. */
static bool is_frame(const struct sim_item *item)
{
    return item->kind == SIM_ARRIVE || item->kind == SIM_LOST;
}

/* "RC_SEND_ONLY psn=100 from h1": the frame, and its sender according to the frame. */
static void add_frame(struct text *t, const struct lab_state *w, const struct frame *f)
{
    text_add(t, enum_name(&enum_opcode, f->note.opcode));
    if (f->note.opcode < FRAME_OTHER)
        text_addf(t, " psn=%u", f->note.psn);
    if (f->note.host < w->n_hosts) {
        text_add(t, " from ");
        add_host(t, w, f->note.host);
    }
}

static void add_arrival(struct text *t, const struct lab_state *w, const struct sim_item *item)
{
    const struct frame *f = (const struct frame *)(uintptr_t)item->arg;

    add_frame(t, w, f);
    text_add(t, " arrives at ");
    if (item->target & NET_TARGET_HOST)
        add_host(t, w, item->target & ~NET_TARGET_HOST);
    else
        text_add(t, lab_end_name(w, &w->net.links[item->target >> 1].end[1 - (item->target & 1)]));
}

/* "h1.qp", or "h1 QPN 2" if the guest has no queue pair with this number. */
static void add_qp(struct text *t, const struct lab_state *w, uint32_t host, uint32_t qpn)
{
    const struct guest_qp *g = lab_guest_qp(w, host, qpn);

    add_host(t, w, host);
    if (g)
        text_addf(t, ".%s", g->o.name);
    else
        text_addf(t, " QPN %u", qpn);
}

static void add_interrupt(struct text *t, struct fn_irq irq)
{
    if (irq.vector == FN_LINE)
        text_add(t, ": INTx rises");
    else if (irq.queue == FN_NO_QUEUE)
        text_add(t, ": an interrupt of the device");
    else
        text_addf(t, ": an interrupt of queue %u", irq.queue);
}

static void add_sentence(struct text *t, const struct lab_state *w, const struct sim_item *item)
{
    switch (item->kind) {
    case SIM_ARRIVE:
        add_arrival(t, w, item);
        break;
    case SIM_LOST:
        add_frame(t, w, (const struct frame *)(uintptr_t)item->arg);
        text_add(t, " is lost on its way");
        break;
    case SIM_QP_TIMER:
        text_addf(t, "the %s timer of ", enum_name(&enum_timer, (uint32_t)(item->arg & 0xff)));
        add_qp(t, w, item->target, (uint32_t)(item->arg >> 8));
        text_add(t, " runs out");
        break;
    case SIM_DOORBELL:
        add_host(t, w, item->target);
        text_addf(t, ": the device looks at queue %u", fn_queue_of(item->arg).queue);
        break;
    case SIM_IRQ:
        add_host(t, w, item->target);
        add_interrupt(t, fn_irq_of(item->arg));
        break;
    case SIM_LATE_DATA:
        add_host(t, w, item->target);
        text_add(t, ": late bytes of the device reach its memory");
        break;
    case SIM_GO_ON:
        add_host(t, w, item->target);
        text_addf(t, ": the device goes on with queue %u, which is stuck",
                  fn_queue_of(item->arg).queue);
        break;
    case SIM_EGRESS:
        add_host(t, w, item->target);
        text_add(t, ": its port is free for the next frame");
        break;
    case SIM_GUEST_TIMER:
        add_host(t, w, item->target);
        text_add(t, ": a timer of its IP stack runs out");
        break;
    case SIM_CM_TIMER:
        add_host(t, w, item->target);
        text_add(t, ": a timer of its connection manager runs out");
        break;
    case SIM_LNET:
        add_host(t, w, item->target);
        text_add(t, item->arg ? ": a deadline of LNet" : ": LNet looks at what has happened");
        break;
    case SIM_ROUTER:
        add_host(t, w, item->target);
        text_add(t, ": the router passes a message on");
        break;
    case SIM_IOV:
        add_host(t, w, item->target);
        text_add(t, ": its wait for virtual functions ends");
        break;
    case SIM_VRNIC:
        add_host(t, w, item->target);
        text_add(t, item->arg ? ": its request goes on, with a virtual function"
                              : ": its request has waited long enough for a virtual function");
        break;
    case SIM_KIND_COUNT:
        RDL_ASSERT(false);
    }
}

/* The first items found so far, in order. */
struct soonest {
    const struct sim_place *place[RDL_DUE_MAX];
    size_t n, room;
    struct rdl_due_counts counts;
};

static void consider(struct soonest *s, const struct sim_place *p)
{
    size_t i = s->n;

    s->counts.all++;
    s->counts.frames += is_frame(&p->item);
    if (s->room == 0 || (s->n == s->room && !sim_is_before(&p->when, &s->place[s->n - 1]->when)))
        return;
    if (s->n == s->room)
        i--;
    else
        s->n++;
    for (; i > 0 && sim_is_before(&p->when, &s->place[i - 1]->when); i--)
        s->place[i] = s->place[i - 1];
    s->place[i] = p;
}

struct rdl_due_counts rdl_due(const struct rdl_lab *lab, size_t max,
                              void (*each)(void *ctx, const struct rdl_due *due), void *ctx)
{
    const struct lab_state *w = lab->state;
    const struct sim *sim = &w->sim;
    struct soonest s = {.room = max < RDL_DUE_MAX ? max : RDL_DUE_MAX};

    for (unsigned q = 0; q < SIM_ROWS; q++) {
        for (const struct sim_place *p = sim->rows[q].first; p && p != &sim->end; p = p->next)
            consider(&s, p);
    }
    for (uint32_t i = 0; i < sim->heap_len; i++) {
        if (sim->heap[i].place != &sim->end)
            consider(&s, sim->heap[i].place);
    }
    for (size_t i = 0; i < s.n; i++) {
        const struct sim_place *p = s.place[i];
        char buf[SENTENCE_BYTES];
        struct text t = text_on(buf, sizeof(buf));
        const struct rdl_due due = {
            .at_ns = p->when.at_ns < w->trace.now_ns ? w->trace.now_ns : p->when.at_ns,
            .is_frame = is_frame(&p->item),
            .what = buf,
        };

        add_sentence(&t, w, &p->item);
        each(ctx, &due);
    }
    return s.counts;
}
