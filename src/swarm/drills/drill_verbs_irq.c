/* SPDX-License-Identifier: MIT */
/* The drill of verbs: interrupts that are held back, and devices without bus mastering. */
#include <stdio.h>
#include <string.h>

#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "rdmalab/events.h"
#include "rdmalab/pci.h"
#include "swarm/drills/verbs.h"

#define MESSAGES_MAX 3u
#define BYTES        64u
/* The time at which bus mastering goes off, and the time that it stays off, in ns. */
#define OFF_WITHIN_NS 3000u
#define OFF_NS        20000u

/* A queue pair of h1 whose receives complete on a queue with a channel. */
struct heard {
    rdl_channel channel;
    rdl_cq cq;
    struct verbs_pair p;
};

/* Sets the bits @bits of a register of 2 bytes at @offset of the configuration space of function
 * @number of h1, or clears them.
 */
static bool set_bits(struct drill *d, uint32_t number, uint32_t offset, uint64_t bits, bool on)
{
    const struct drill_verbs *k = d->own;
    const struct rdl_pci_place place = {
        .number = number, .space = RDL_PCI_CONFIG, .offset = offset, .width = 2};
    uint64_t value;

    d->n_unsaid++;
    return drill_works(d, rdl_pci_read(d->lab, k->host[0], &place, &value),
                       "a driver can read a register") &&
           drill_works(d,
                       rdl_pci_write(d->lab, k->host[0], &place, on ? value | bits : value & ~bits),
                       "a driver can write a register");
}

/* Holds the interrupts of a function of h1, or lets them go: by INTX_OFF of the command register if
 * it has a line, otherwise by the mask of all its MSI-X vectors.
 */
static bool hold_function(struct drill *d, uint32_t number, bool held)
{
    const struct drill_verbs *k = d->own;

    return k->has_line ? set_bits(d, number, PCI_COMMAND, PCI_CMD_INTX_OFF, held)
                       : set_bits(d, number, PCI_MSIX_CONTROL, MSIX_FUNCTION_MASK, held);
}

/* As hold_function(), for both functions: who shares a line looks at all that use it. */
static bool hold(struct drill *d, bool held)
{
    return hold_function(d, 0, held) && hold_function(d, 1, held);
}

static bool make(struct drill *d, struct heard *h)
{
    struct drill_verbs *k = d->own;
    struct rdl_qp_config c = {.type = QPT_RC, .max_send_wr = 8, .max_recv_wr = 8};
    char channel[RDL_NAME_BYTES], cq[RDL_NAME_BYTES];

    memset(h, 0, sizeof(*h));
    snprintf(channel, sizeof(channel), "ch%u", d->step);
    snprintf(cq, sizeof(cq), "hcq%u", d->step);
    if (!drill_works(d, rdl_create_comp_channel(d->lab, k->host[0], channel, &h->channel),
                     "a channel can be made") ||
        !drill_is_done(d, k->host[0], rdl_create_cq_on(d->lab, h->channel, 8, cq, &h->cq),
                       "a CQ can be made"))
        return false;
    for (unsigned i = 0; i < RIG_HOSTS; i++) {
        struct rig_end *e = &h->p.end[i];

        *e = (struct rig_end){.number = i, .host = k->host[i], .access = verbs_rights};
        e->timeout = 14;
        e->retry_cnt = 7;
        snprintf(e->name, sizeof(e->name), "qp%u", d->step);
        c.pd = k->side[i].pd;
        c.send_cq = k->side[i].scq;
        c.recv_cq = i == 0 ? h->cq : k->side[i].rcq;
        if (!rig_add_qp(d, e, &c))
            return false;
    }
    return rig_connect(d, &h->p.end[0], &h->p.end[1]);
}

static bool end(struct drill *d, struct heard *h)
{
    const struct drill_verbs *k = d->own;

    return drill_works(d, rdl_ack_cq_events(d->lab, h->cq, 1), "an event can be acknowledged") &&
           verbs_unpair(d, &h->p) &&
           drill_is_done(d, k->host[0], rdl_destroy_cq(d->lab, h->cq), "a CQ can be destroyed") &&
           drill_works(d, rdl_destroy_comp_channel(d->lab, h->channel),
                       "a channel can be destroyed");
}

/* Returns true if exactly @n events of the queue can be taken. */
static bool hears(struct drill *d, const struct heard *h, size_t n, const char *what)
{
    rdl_cq cq = {0};
    size_t have = 0, more = 0;

    return drill_works(d, rdl_get_cq_event(d->lab, h->channel, &cq, &have),
                       "a channel can be asked") &&
           (have == 0 || drill_works(d, rdl_get_cq_event(d->lab, h->channel, &cq, &more),
                                     "a channel can be asked")) &&
           drill_expect(d, have + more == n, what, "%u events, not %u", (unsigned)(have + more),
                        (unsigned)n);
}

static bool send_to_h1(struct drill *d, struct heard *h)
{
    const struct drill_verbs *k = d->own;
    const struct rdl_sge sge = {k->side[1].addr, BYTES, k->side[1].lkey};
    struct rdl_send_wr wr = {.opcode = WR_SEND, .sge = &sge, .n_sge = 1};

    return verbs_send(d, &h->p.end[1], &wr);
}

/* Interrupts are held back while messages arrive.  When they are let go, one of them comes. */
void verbs_step_held(struct drill *d)
{
    const uint32_t n = 1 + drill_below(d, MESSAGES_MAX);
    struct heard h;
    struct rdl_wc wc;

    if (!make(d, &h))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!verbs_recv(d, &h.p.end[0], VERBS_HALF, BYTES))
            return;
    }
    if (!drill_is_done(d, h.p.end[0].host, rdl_req_notify_cq(d->lab, h.cq, false),
                       "a CQ can be armed") ||
        !hold(d, true))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!send_to_h1(d, &h))
            return;
    }
    if (!drill_settle(d) || !hears(d, &h, 0, "an interrupt that is held back does not come") ||
        !hold(d, false) || !drill_settle(d) ||
        !hears(d, &h, 1, "an interrupt that was held back comes when it is let go"))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!verbs_done(d, h.cq, WCS_SUCCESS, &wc))
            return;
    }
    (void)end(d, &h);
}

/* --- Bus mastering ---------------------------------------------------------------------------- */

static bool set_master(struct drill *d, bool on)
{
    return set_bits(d, 1, PCI_COMMAND, PCI_CMD_MASTER, on);
}

/* Takes bus mastering from h1 while it sends on UC, where nobody asks again for what is missing. */
void verbs_step_master(struct drill *d)
{
    const uint32_t n = 1 + drill_below(d, MESSAGES_MAX), bytes = drill_below(d, VERBS_HALF);
    struct drill_verbs *k = d->own;
    struct rdl_qp_config c = {.type = QPT_UC, .max_send_wr = 8, .max_recv_wr = 8};
    const struct rdl_sge sge = {k->side[0].addr, bytes, k->side[0].lkey};
    struct verbs_pair p = {0};
    struct rdl_wc wc;

    if (!verbs_pair(d, &c, &p) || !rig_connect(d, &p.end[0], &p.end[1]) || !verbs_fill(d, 0))
        return;
    for (uint32_t i = 0; i < n; i++) {
        struct rdl_send_wr wr = {.opcode = WR_SEND, .sge = &sge, .n_sge = 1, .flags = SF_SIGNALED};

        if (!verbs_recv(d, &p.end[1], VERBS_HALF, VERBS_HALF) || !verbs_send(d, &p.end[0], &wr))
            return;
    }
    if (!drill_run_for(d, drill_below(d, OFF_WITHIN_NS)) || !set_master(d, false) ||
        !drill_run_for(d, 1 + drill_below(d, OFF_NS)) || !set_master(d, true) || !drill_settle(d))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!verbs_done(d, k->side[0].scq, WCS_SUCCESS, &wc) ||
            !verbs_done(d, k->side[1].rcq, WCS_SUCCESS, &wc) ||
            !drill_expect(d, wc.byte_len == bytes,
                          "what waited for bus mastering goes on when it is back",
                          "%u bytes, not %u", wc.byte_len, bytes))
            return;
    }
    if (verbs_holds(d, 1, VERBS_HALF, k->sent, bytes, "what arrives is what was sent"))
        (void)verbs_unpair(d, &p);
}
