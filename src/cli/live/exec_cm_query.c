/* SPDX-License-Identifier: MIT */
/* Questions of a program about an ID: its addresses, its path, the attributes of its queue pair. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "cli/live/exec_cm.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/qp_attr.h"

#define PATH_FLAGS    (IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL)
#define DEFAULT_PKEY  0xffffu
#define EXACTLY       2u /* selector of a value: neither less nor more  [IBTA, 15.2.5.16] */
#define SELECTOR_AT   6u
#define PATH_BYTES    sizeof(((struct ib_path_rec_data *)0)->path_rec)
#define SERVICE_MASK  0xffffffffffffffffull
#define IB_PORT_SPACE 0x013f0000ull

/* An address of InfiniBand, as in a socket address.  [Linux, include/rdma/ib.h, sockaddr_ib] */
struct address_ib {
    uint16_t family, pkey;
    uint32_t flow_info;
    uint8_t gid[16];
    uint64_t service_id, service_mask, scope_id;
};
_Static_assert(sizeof(struct address_ib) == EXEC_CM_IB_BYTES, "it has no padding");

/* Finds the ID of a command, and what is known of it; the other kind of ID has nothing. */
static int look_up(const struct exec_client *c, uint64_t file, uint32_t number,
                   struct rdl_cm_id_info *ret)
{
    struct exec_cm_id *id;
    const int error = exec_cm_find(c, file, number, &id);
    enum rdl_status st;

    *ret = (struct rdl_cm_id_info){.space = 0};
    if (error || !id->id.raw)
        return error;
    st = rdl_cm_id_info(c->lab, id->id, ret);
    id->is_placed = id->is_placed || ret->has_device;
    return exec_cm_errno(st, NULL);
}

/* As libibverbs has it: in the order of the network. */
static uint64_t node_guid(const struct exec_client *c)
{
    struct rdl_device_attr a;
    uint64_t guid = 0;

    if (rdl_device_attr(c->lab, c->host, &a) == RDL_OK)
        memcpy(&guid, a.guid, sizeof(guid));
    return guid;
}

static void put_device(const struct exec_client *c, const struct rdl_cm_id_info *info,
                       struct rdma_ucm_query_addr_resp *r)
{
    if (!info->has_device)
        return;
    r->node_guid = node_guid(c);
    r->port_num = 1;
    r->pkey = htons(DEFAULT_PKEY);
}

static int query_addr(const struct exec_client *c, const struct exec_cm_command *cmd,
                      const struct rdl_cm_id_info *info)
{
    struct rdma_ucm_query_addr_resp r;

    memset(&r, 0, sizeof(r));
    r.src_size = (uint16_t)exec_cm_addr_out(&info->local, &r.src_addr);
    r.dst_size = (uint16_t)exec_cm_addr_out(&info->peer, &r.dst_addr);
    put_device(c, info, &r);
    return exec_cm_respond(c, cmd, cmd->u.query.response, &r, sizeof(r));
}

static uint16_t put_gid(const struct rdl_cm_id_info *info, const struct rdl_cm_addr *a,
                        struct __kernel_sockaddr_storage *ret)
{
    const uint64_t service = info->space ? (uint64_t)info->space << 16 | a->port : IB_PORT_SPACE;
    struct address_ib ib = {.family = AF_IB, .service_mask = SERVICE_MASK};

    if (info->has_device)
        ib.pkey = htons(DEFAULT_PKEY);
    memcpy(ib.gid, a->gid, sizeof(ib.gid));
    st_be((uint8_t *)&ib.service_id, sizeof(ib.service_id), service);
    memcpy(ret, &ib, sizeof(ib));
    return sizeof(ib);
}

static int query_gid(const struct exec_client *c, const struct exec_cm_command *cmd,
                     const struct rdl_cm_id_info *info)
{
    struct rdma_ucm_query_addr_resp r;

    memset(&r, 0, sizeof(r));
    put_device(c, info, &r);
    r.src_size = put_gid(info, &info->local, &r.src_addr);
    r.dst_size = put_gid(info, &info->peer, &r.dst_addr);
    return exec_cm_respond(c, cmd, cmd->u.query.response, &r, sizeof(r));
}

/* Writes a path record.  [IBTA, 15.2.5.16] */
static void put_path(const struct rdl_cm_id_info *info, uint8_t *to)
{
    memset(to, 0, PATH_BYTES);
    memcpy(to + 8, info->ah.dgid, 16);
    memcpy(to + 24, info->local.gid, 16);
    st_be32(to + 44, info->ah.flow_label << 8 | (uint32_t)info->ah.hop_limit);
    to[48] = (uint8_t)info->ah.traffic_class;
    to[49] = 0x80 | 1; /* reversible; one path */
    st_be16(to + 50, DEFAULT_PKEY);
    to[54] = (uint8_t)(EXACTLY << SELECTOR_AT | info->path_mtu);
    to[55] = (uint8_t)(EXACTLY << SELECTOR_AT);
    to[56] = (uint8_t)(EXACTLY << SELECTOR_AT | info->packet_life);
}

static int query_path(const struct exec_client *c, const struct exec_cm_command *cmd,
                      const struct rdl_cm_id_info *info)
{
    const struct rdma_ucm_query_path_resp head = {.num_paths = info->path_mtu != 0};
    struct ib_path_rec_data path = {.flags = PATH_FLAGS};
    uint8_t out[sizeof(head) + sizeof(path)];
    const bool fits = head.num_paths > 0 && cmd->head.out >= sizeof(out);

    put_path(info, (uint8_t *)path.path_rec);
    memcpy(out, &head, sizeof(head));
    memcpy(out + sizeof(head), &path, sizeof(path));
    return exec_cm_respond(c, cmd, cmd->u.query.response, out, fits ? sizeof(out) : sizeof(head));
}

/* [Linux, ucma_query()] */
int exec_cm_query(struct exec_client *c, const struct exec_cm_command *cmd)
{
    struct rdl_cm_id_info info;
    const int error = look_up(c, cmd->file, cmd->u.query.id, &info);
    const uint32_t option = cmd->u.query.option;
    const size_t least = option == RDMA_USER_CM_QUERY_PATH
                             ? sizeof(struct rdma_ucm_query_path_resp)
                             : offsetof(struct rdma_ucm_query_addr_resp, ibdev_index);

    if (error)
        return error;
    if (option > RDMA_USER_CM_QUERY_GID)
        return ENOSYS;
    if (cmd->head.out < least)
        return ENOSPC;
    if (option == RDMA_USER_CM_QUERY_ADDR)
        return query_addr(c, cmd, &info);
    return option == RDMA_USER_CM_QUERY_PATH ? query_path(c, cmd, &info) : query_gid(c, cmd, &info);
}

/* Older versions of librdmacm ask for all in one.  [Linux, ucma_query_route()] */
int exec_cm_query_route(struct exec_client *c, const struct exec_cm_command *cmd)
{
    struct rdma_ucm_query_route_resp r;
    struct __kernel_sockaddr_storage at;
    struct rdl_cm_id_info info;
    const int error = look_up(c, cmd->file, cmd->u.query.id, &info);

    if (error)
        return error;
    memset(&r, 0, sizeof(r));
    (void)exec_cm_addr_out(&info.local, &at);
    memcpy(&r.src_addr, &at, sizeof(r.src_addr));
    (void)exec_cm_addr_out(&info.peer, &at);
    memcpy(&r.dst_addr, &at, sizeof(r.dst_addr));
    if (info.has_device) {
        r.node_guid = node_guid(c);
        r.port_num = 1;
        memcpy(r.ib_route[0].dgid, info.peer.gid, sizeof(r.ib_route[0].dgid));
        memcpy(r.ib_route[0].sgid, info.local.gid, sizeof(r.ib_route[0].sgid));
        r.ib_route[0].pkey = htons(DEFAULT_PKEY);
    }
    if (info.path_mtu != 0) {
        r.num_paths = 1;
        r.ib_route[0].flow_label = htonl(info.ah.flow_label);
        r.ib_route[0].hop_limit = (uint8_t)info.ah.hop_limit;
        r.ib_route[0].traffic_class = (uint8_t)info.ah.traffic_class;
        r.ib_route[0].reversible = r.ib_route[0].numb_path = 1;
        r.ib_route[0].mtu_selector = r.ib_route[0].packet_life_time_selector = EXACTLY;
        r.ib_route[0].mtu = info.path_mtu;
        r.ib_route[0].packet_life_time = (uint8_t)info.packet_life;
    }
    return exec_cm_respond(c, cmd, cmd->u.query.response, &r, sizeof(r));
}

/* [Linux, ucma_init_qp_attr()] */
int exec_cm_init_qp_attr(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_init_qp_attr *in = &cmd->u.init_qp_attr;
    struct ib_uverbs_qp_attr out;
    struct rdl_qp_attr q = {0};
    struct rdl_cm_id_info info;
    struct exec_cm_id *id;
    uint32_t mask = 0;
    int error = exec_cm_find(c, cmd->file, in->id, &id), of_kernel = 0;

    if (!error)
        error = look_up(c, cmd->file, in->id, &info);
    if (error || !info.has_device)
        return error ? error : EINVAL;
    error = exec_cm_errno(rdl_cm_qp_attr(c->lab, id->id, in->qp_state, &q, &mask, &of_kernel),
                          &of_kernel);
    if (error)
        return error;
    memset(&out, 0, sizeof(out));
    out.qp_attr_mask = mask;
    out.qp_state = q.state;
    out.cur_qp_state = q.state;
    out.path_mtu = q.path_mtu;
    out.qkey = q.qkey;
    out.rq_psn = q.rq_psn;
    out.sq_psn = q.sq_psn;
    out.dest_qp_num = q.dest_qpn;
    out.qp_access_flags = q.access;
    exec_cm_ah_out(&q.ah, &out.ah_attr);
    out.ah_attr.is_global = (mask & QPA_AV) != 0;
    out.pkey_index = (uint16_t)q.pkey_index;
    out.max_rd_atomic = (uint8_t)q.max_rd_atomic;
    out.max_dest_rd_atomic = (uint8_t)q.max_dest_rd_atomic;
    out.min_rnr_timer = (uint8_t)q.min_rnr_timer;
    out.port_num = (uint8_t)q.port;
    out.timeout = (uint8_t)q.timeout;
    out.retry_cnt = (uint8_t)q.retry_cnt;
    out.rnr_retry = (uint8_t)q.rnr_retry;
    return exec_cm_respond(c, cmd, in->response, &out, sizeof(out));
}
