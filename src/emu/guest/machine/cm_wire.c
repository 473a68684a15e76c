/* SPDX-License-Identifier: MIT */
#include "emu/guest/machine/cm_wire.h"

#include <string.h>

#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/wire/addr.h"

static bool is_own(const struct verbs *v, const uint8_t gid[GID_BYTES])
{
    bool any = false;

    for (uint32_t i = 0; i < GUEST_GIDS; i++)
        any = any || memcmp(v->config.gid[i], gid, GID_BYTES) == 0;
    return any;
}

/* Replaces @gid, if it is a virtual address of @v, by that of the function that queue pair @qpn is
 * on; 0: of the first function.
 */
static void wire_own(const struct verbs *v, uint8_t gid[GID_BYTES], uint32_t qpn)
{
    if (is_own(v, gid))
        verbs_wire(v, gid, qpn);
}

/* Replaces @gid, if it is an address of @v on the wire. */
static void unwire_own(const struct verbs *v, uint8_t gid[GID_BYTES])
{
    uint8_t virtual[GID_BYTES];

    memcpy(virtual, gid, GID_BYTES);
    verbs_unwire(v, virtual);
    if (is_own(v, virtual))
        memcpy(gid, virtual, GID_BYTES);
}

/* The header of rdma_cm has the last four bytes of an IPv4 address. */
static void read_ip(uint32_t version, const uint8_t ip[GID_BYTES], uint8_t ret[GID_BYTES])
{
    if (version == 4)
        gid_from_ipv4(ret, ip + GID_IPV4_AT);
    else
        memcpy(ret, ip, GID_BYTES);
}

static void write_ip(uint32_t version, const uint8_t gid[GID_BYTES], uint8_t ret[GID_BYTES])
{
    const uint32_t at = version == 4 ? GID_IPV4_AT : 0;

    memcpy(ret + at, gid + at, GID_BYTES - at);
}

/* Replies go to the first function, which has queue pair 1.  The path of the queue pair follows the
 * header of rdma_cm: its address is that of the function of @qpn.
 */
static void header_out(const struct verbs *v, uint64_t service_id, uint8_t *private_data,
                       uint32_t qpn)
{
    struct rdma_cm_header h;
    uint8_t gid[GID_BYTES];

    if (!rdma_cm_has_header(service_id))
        return;
    rdma_cm_parse(&h, private_data);
    read_ip(h.ip_version, h.source, gid);
    wire_own(v, gid, qpn);
    write_ip(h.ip_version, gid, h.source);
    rdma_cm_build(&h, private_data);
}

static void header_in(const struct verbs *v, uint64_t service_id, uint8_t *private_data)
{
    struct rdma_cm_header h;
    uint8_t gid[GID_BYTES];

    if (!rdma_cm_has_header(service_id))
        return;
    rdma_cm_parse(&h, private_data);
    read_ip(h.ip_version, h.destination, gid);
    unwire_own(v, gid);
    write_ip(h.ip_version, gid, h.destination);
    rdma_cm_build(&h, private_data);
}

void cm_wire_out(const struct verbs *v, uint8_t *mad)
{
    struct mad m;

    if (!v->config.layer || !mad_parse(&m, mad))
        return;
    if (m.head.attr_id == CM_REQ) {
        struct cm_req *req = &m.u.req;

        wire_own(v, req->local_gid, 0);
        wire_own(v, req->alt_local_gid, 0);
        header_out(v, req->service_id, req->private_data, req->local_qpn);
    } else if (m.head.attr_id == CM_SIDR_REQ) {
        header_out(v, m.u.sidr_req.service_id, m.u.sidr_req.private_data, 0);
    } else if (m.head.attr_id == CM_REJ && m.u.rej.reason == CM_REASON_INVALID_GID) {
        wire_own(v, m.u.rej.info, 0); /* the address that the peer should use */
    }
    mad_build(&m, mad);
}

void cm_wire_in(const struct verbs *v, uint8_t *mad)
{
    struct mad m;

    if (!v->config.layer || !mad_parse(&m, mad))
        return;
    if (m.head.attr_id == CM_REQ) {
        unwire_own(v, m.u.req.remote_gid);
        unwire_own(v, m.u.req.alt_remote_gid);
        header_in(v, m.u.req.service_id, m.u.req.private_data);
    } else if (m.head.attr_id == CM_SIDR_REQ) {
        header_in(v, m.u.sidr_req.service_id, m.u.sidr_req.private_data);
    }
    mad_build(&m, mad);
}
