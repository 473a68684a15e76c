/* SPDX-License-Identifier: MIT */
/* Turns of the ports of an embedded switch: the queue of those that may have a frame, their
 * guarantees and their maxima.
 */
#include "emu/rnic/turns.h"

#include "emu/rnic/eswitch.h"
#include "emu/rnic/eth_port.h"

static uint64_t now(const struct eswitch *s)
{
    return sim_now(s->net->sim);
}

static uint32_t *place(struct eswitch *s, uint32_t i)
{
    const uint32_t at = s->first + i;

    return &s->queue[at < s->n_ports ? at : at - s->n_ports];
}

static void put_last(struct eswitch *s, uint32_t number)
{
    s->len++;
    *place(s, s->len - 1) = number;
}

/* Removes place @i of the queue.  The others keep their order. */
static uint32_t take(struct eswitch *s, uint32_t i)
{
    const uint32_t number = *place(s, i);

    for (; i > 0; i--)
        *place(s, i) = *place(s, i - 1);
    s->first = s->first + 1 == s->n_ports ? 0 : s->first + 1;
    s->len--;
    return number;
}

uint64_t turns_free_at(const struct eswitch *s)
{
    const uint64_t line = s->link_end == NET_NO_LINK ? 0 : net_port_free_at(s->net, s->link_end);

    return line > s->local_free_at_ns ? line : s->local_free_at_ns;
}

bool turns_has_frame(const struct vport *v)
{
    for (struct eth_port *p = v->port; p; p = p->next_tenant) {
        if (eth_port_has_frame(p))
            return true;
    }
    return false;
}

/* Returns true if @v has a frame and its maximum lets it send. */
static bool may_send(const struct eswitch *s, const struct vport *v)
{
    return v->next_ns <= now(s) && turns_has_frame(v);
}

/* Returns true if @v has not got its guarantee yet. */
static bool goes_first(const struct eswitch *s, const struct vport *v)
{
    return v->set.min_tx_bps > 0 && v->paid_ns <= now(s) && may_send(s, v);
}

static bool is_any_first(struct eswitch *s)
{
    for (uint32_t i = 0; s->n_guaranteed > 0 && i < s->len; i++) {
        if (goes_first(s, &s->ports[*place(s, i)]))
            return true;
    }
    return false;
}

uint32_t turns_choose(struct eswitch *s)
{
    const bool first = is_any_first(s);
    uint32_t i = 0;

    while (i < s->len) {
        const uint32_t number = *place(s, i);
        struct vport *v = &s->ports[number];

        if (!turns_has_frame(v)) {
            v->is_waiting = false;
            (void)take(s, i);
        } else if (first ? goes_first(s, v) : may_send(s, v)) {
            put_last(s, take(s, i));
            return number;
        } else {
            i++;
        }
    }
    return TURNS_NOBODY;
}

/* The time from which on a port may send, or UINT64_MAX if none has a frame. */
static uint64_t next_turn(struct eswitch *s)
{
    uint64_t at = UINT64_MAX;

    for (uint32_t i = 0; i < s->len; i++) {
        const struct vport *v = &s->ports[*place(s, i)];

        if (v->next_ns < at && turns_has_frame(v))
            at = v->next_ns;
        if (at <= now(s))
            break;
    }
    return at;
}

/* Duration of @bits at @bps, in ns, rounded up: a division with three steps of 1000, so that no
 * product is too large.
 */
static uint64_t duration(uint64_t bits, uint64_t bps)
{
    uint64_t ns = bits / bps, rest = bits % bps;

    for (unsigned i = 0; i < 3; i++) {
        rest *= 1000;
        ns = ns * 1000 + rest / bps;
        rest %= bps;
    }
    return ns + (rest > 0);
}

void turns_charge(const struct eswitch *s, struct vport *v, uint64_t bytes, uint32_t n_frames)
{
    const uint64_t bits = (bytes + (uint64_t)n_frames * NET_GAP_BYTES) * 8;

    if (v->set.max_tx_bps)
        v->next_ns = now(s) + duration(bits, v->set.max_tx_bps);
    if (v->set.min_tx_bps) {
        const uint64_t from = v->paid_ns < now(s) ? v->paid_ns : now(s);

        v->paid_ns = from + duration(bits, v->set.min_tx_bps);
    }
}

void turns_leave(struct eswitch *s, uint32_t number)
{
    for (uint32_t i = 0; s->ports[number].is_waiting && i < s->len; i++) {
        if (*place(s, i) == number) {
            (void)take(s, i);
            s->ports[number].is_waiting = false;
        }
    }
}

/* No port has a frame: all are idle from now on. */
static void forget_waiting(struct eswitch *s)
{
    while (s->len > 0)
        s->ports[take(s, 0)].is_waiting = false;
}

void turns_schedule(struct eswitch *s)
{
    const uint64_t turn = next_turn(s), line = turns_free_at(s);
    uint64_t at = turn > line ? turn : line;

    if (turn == UINT64_MAX) {
        forget_waiting(s);
        return;
    }
    if (at < now(s))
        at = now(s);
    if (s->egress_due) {
        if (s->egress_ns <= at)
            return;
        (void)sim_cancel(s->net->sim, s->egress);
    }
    s->egress_due = true;
    s->egress_ns = at;
    s->egress = sim_schedule(s->net->sim, at, SIM_EGRESS, s->host, 0);
}

void turns_join(struct eswitch *s, uint32_t number)
{
    struct vport *v = &s->ports[number];

    if (v->is_waiting)
        return;
    v->is_waiting = true;
    if (v->paid_ns < now(s))
        v->paid_ns = now(s); /* a guarantee that was not used is lost */
    put_last(s, number);
}
