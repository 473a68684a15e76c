/* SPDX-License-Identifier: MIT */
/* Messages of a hostile connection manager: every message in any state, with numbers that are right
 * now and then, and lies about addresses and nodes inside of the message.
 */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/opcode.h"
#include "emu/wire/eth.h"
#include "emu/wire/ip.h"
#include "emu/wire/udp.h"
#include "swarm/outside/hostile.h"

#define OWN_COMMS 4u  /* communication IDs of the stranger */
#define OWN_QPNS  8u  /* its queue pairs */
#define OFTEN     16u /* a value is arbitrary with chance 1 in so many */
#define MESSAGES  (CM_APR - CM_REQ + 1u)

static uint32_t below(struct hostile *h, uint32_t n)
{
    return (uint32_t)prng_below(&h->rng, n);
}

/* Returns @right, or now and then any value. */
static uint32_t mostly(struct hostile *h, uint32_t right)
{
    const uint32_t any = (uint32_t)prng_next(&h->rng);

    return below(h, OFTEN) == 0 ? any : right;
}

static uint32_t own_comm(struct hostile *h)
{
    const uint32_t own = 1 + below(h, OWN_COMMS);

    return mostly(h, own);
}

/* An ID of the host that it has told the stranger. */
static uint32_t their_comm(struct hostile *h)
{
    const uint32_t theirs = h->comm[below(h, HOSTILE_COMMS)];

    return mostly(h, theirs);
}

static uint64_t guid(struct hostile *h)
{
    const uint32_t any = (uint32_t)prng_next(&h->rng);

    return below(h, 4) ? 0x7777 : any;
}

/* Addresses of the stranger, of hosts, or of nobody. */
static void put_header(struct hostile *h, uint8_t *private_data)
{
    const bool is_v6 = h->gid_index == 1;
    const size_t skip = is_v6 ? 0 : GID_IPV4_AT;
    struct rdma_cm_header head = {.ip_version = mostly(h, is_v6 ? 6 : 4), .port = 40000};

    memcpy(head.source + skip, (below(h, 4) ? &h->self : &h->host[1])->gid[is_v6] + skip,
           GID_BYTES - skip);
    memcpy(head.destination + skip, h->host[mostly(h, 0) % HOSTILE_HOSTS].gid[is_v6] + skip,
           GID_BYTES - skip);
    head.version = below(h, OFTEN) == 0;
    rdma_cm_build(&head, private_data);
}

static uint64_t service(struct hostile *h, enum port_space space)
{
    const uint32_t port = HOSTILE_PORT + (below(h, 8) == 0);

    return (uint64_t)mostly(h, space) << 16 | port;
}

static void make_req(struct hostile *h, struct cm_req *req)
{
    const uint32_t qpn = 2 + below(h, OWN_QPNS);

    req->local_comm_id = own_comm(h);
    req->service_id = service(h, PORT_SPACE_TCP);
    req->local_ca_guid = guid(h);
    req->local_qpn = mostly(h, qpn);
    req->responder_resources = mostly(h, 1);
    req->initiator_depth = mostly(h, 1);
    req->remote_cm_timeout = mostly(h, 20);
    req->local_cm_timeout = mostly(h, 20);
    req->transport = mostly(h, 0);
    req->starting_psn = below(h, PSN_MASK);
    req->retry_count = mostly(h, 7);
    req->path_mtu = mostly(h, 3);
    req->max_cm_retries = mostly(h, 15);
    req->ack_timeout = mostly(h, 19);
    memcpy(req->local_gid, (below(h, 4) ? &h->self : &h->host[1])->gid[h->gid_index], GID_BYTES);
    memcpy(req->remote_gid, h->host[mostly(h, 0) % HOSTILE_HOSTS].gid[h->gid_index], GID_BYTES);
    put_header(h, req->private_data);
}

static void make_rej(struct hostile *h, struct cm_rej *rej)
{
    const uint32_t any = 1 + below(h, CM_REASON_VENDOR_OPTION + 1);
    const uint32_t reason = below(h, 2) ? CM_REASON_TIMEOUT : any;

    rej->local_comm_id = own_comm(h);
    rej->remote_comm_id = their_comm(h);
    rej->answered = below(h, 4);
    rej->reason = mostly(h, reason);
    rej->info_length = mostly(h, 8);
    st_be(rej->info, 8, guid(h));
}

static void make_rep(struct hostile *h, struct cm_rep *rep)
{
    rep->local_comm_id = own_comm(h);
    rep->remote_comm_id = their_comm(h);
    rep->local_qpn = 2 + below(h, OWN_QPNS);
    rep->starting_psn = below(h, PSN_MASK);
    rep->local_ca_guid = guid(h);
}

static void make_body(struct hostile *h, struct mad *m)
{
    switch ((enum cm_message)m->head.attr_id) {
    case CM_REQ:
        make_req(h, &m->u.req);
        break;
    case CM_MRA:
        m->u.mra.local_comm_id = own_comm(h);
        m->u.mra.remote_comm_id = their_comm(h);
        m->u.mra.answered = below(h, 4);
        m->u.mra.service_timeout = below(h, 32);
        break;
    case CM_REJ:
        make_rej(h, &m->u.rej);
        break;
    case CM_REP:
        make_rep(h, &m->u.rep);
        break;
    case CM_DREQ:
        m->u.dreq.local_comm_id = own_comm(h);
        m->u.dreq.remote_comm_id = their_comm(h);
        m->u.dreq.remote_qpn = mostly(h, HOSTILE_CM_QPN);
        break;
    case CM_RTU:
    case CM_DREP: /* the members are at the same places */
        m->u.rtu.local_comm_id = own_comm(h);
        m->u.rtu.remote_comm_id = their_comm(h);
        break;
    case CM_SIDR_REQ:
        m->u.sidr_req.request_id = own_comm(h);
        m->u.sidr_req.service_id = service(h, PORT_SPACE_UDP);
        put_header(h, m->u.sidr_req.private_data);
        break;
    case CM_SIDR_REP:
        m->u.sidr_rep.request_id = their_comm(h);
        m->u.sidr_rep.status = below(h, 4);
        break;
    case CM_LAP:
    case CM_APR:
        break;
    }
}

void hostile_mad(struct hostile *h, uint8_t mad[MAD_BYTES])
{
    const bool is_req = below(h, 3) == 0;
    const uint32_t any = CM_REQ + below(h, MESSAGES);
    struct mad m = {.head = {.base_version = MAD_BASE_VERSION,
                             .mgmt_class = MAD_CLASS_CM,
                             .class_version = MAD_CM_CLASS_VERSION,
                             .method = MAD_METHOD_SEND,
                             .attr_id = is_req ? CM_REQ : any}};
    uint32_t n_changed;

    for (uint32_t i = 0; i < MAD_BYTES; i++)
        mad[i] = (uint8_t)prng_next(&h->rng);
    if (below(h, OFTEN) == 0)
        return; /* random bytes */
    memset(mad, 0, MAD_BYTES);
    if (!mad_body(m.head.attr_id)) { /* LAP, APR */
        mad_build_header(&m.head, mad);
        return;
    }
    m.head.tid = prng_next(&h->rng);
    make_body(h, &m);
    mad_build(&m, mad);
    n_changed = below(h, 3);
    if (below(h, 4))
        n_changed = 0;
    for (; n_changed > 0; n_changed--) {
        const uint32_t at = below(h, MAD_BYTES);

        mad[at] = (uint8_t)prng_next(&h->rng);
    }
}

void hostile_hear(struct hostile *h, const uint8_t *frame, size_t n)
{
    const bool is_v6 = n >= ETH_BYTES && ld_be16(frame + ETH_ETHERTYPE_AT) == ETHERTYPE_IPV6;
    const size_t udp_at = ETH_BYTES + ip_header_bytes(is_v6 ? 6 : 4);
    const size_t at = udp_at + UDP_BYTES + BTH_BYTES + op_headers_bytes(H_DETH);
    struct mad m;

    if (n < at + MAD_BYTES || udp_read(frame + udp_at).dst_port != UDP_PORT_ROCE ||
        !mad_parse(&m, frame + at) || m.head.attr_id < CM_MRA)
        return;
    h->comm[h->n_comms++ % HOSTILE_COMMS] = mad_gist_of(&m).comm_id;
}
