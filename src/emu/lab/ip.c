/* SPDX-License-Identifier: MIT */
/* The public functions of ip.h: ping from a guest. */
#include "rdmalab/ip.h"

#include "emu/facts/enum/drop.h"
#include "emu/lab/lab_state.h"

#define TIMEOUT_DEFAULT_NS 1000000000u
#define SEQ_BITS           16u

/* A ping ID consists of the host's handle and the sequence number. */
static rdl_ping_id id_of(rdl_host host, uint16_t seq)
{
    return (rdl_ping_id){host.raw << SEQ_BITS | seq};
}

/* Returns NULL if the ping's entry was reused. */
static const struct guest_ping *ping_of(const struct rdl_lab *lab, rdl_ping_id ping)
{
    const struct host *h = lab_host(lab->state, ping.raw >> SEQ_BITS);

    return h ? guest_ping_of(&h->guest.net, (uint16_t)ping.raw) : NULL;
}

enum rdl_status rdl_ping(struct rdl_lab *lab, rdl_host host, const struct rdl_ping_config *config,
                         rdl_ping_id *ret)
{
    struct lab_state *w = lab->state;
    const uint64_t timeout_ns = config->timeout_ns ? config->timeout_ns : TIMEOUT_DEFAULT_NS;
    struct host *h;
    enum rdl_status st = lab_guest_host(w, host.raw, &h);
    uint16_t seq;

    if (st != RDL_OK)
        return st;
    if (timeout_ns > UINT64_MAX / 4)
        return RDL_ERR_INVAL;
    lab_act(w);
    st = guest_ping(&h->guest.net, config->address, config->bytes, timeout_ns, &seq);
    lab_done(w);
    if (st == RDL_OK)
        *ret = id_of(host, seq);
    return st;
}

enum rdl_status rdl_ping_result(const struct rdl_lab *lab, rdl_ping_id ping,
                                struct rdl_ping_result *ret)
{
    const struct guest_ping *p = ping_of(lab, ping);

    if (!p)
        return RDL_ERR_STALE;
    *ret = (struct rdl_ping_result){.seq = p->seq, .bytes = p->bytes, .rtt_ns = p->rtt_ns};
    if (p->state == PING_UNDER_WAY)
        return RDL_ERR_BUSY;
    if (p->state == PING_ANSWERED)
        return RDL_OK;
    return p->reason == DROP_UNRESOLVED ? RDL_ERR_NO_ROUTE : RDL_ERR_TIMEOUT;
}

enum rdl_status rdl_ping_wait(struct rdl_lab *lab, rdl_ping_id ping, struct rdl_limits limits)
{
    const struct guest_ping *p = ping_of(lab, ping);
    const struct bounds b = bounds_of(lab, limits);
    enum rdl_status st = RDL_OK;

    if (!p)
        return RDL_ERR_STALE;
    while (st == RDL_OK && p->state == PING_UNDER_WAY)
        st = lab_tick(lab, &b);
    return st;
}
