/* SPDX-License-Identifier: MIT */
/* The commands that librdmacm writes to /dev/infiniband/rdma_cm.
 *
 * Each becomes a call of cm.h.  Lengths and fields are checked as the kernel checks them; a program
 * of an older version sends and takes less.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/live/exec_cm.h"
#include "cli/live/exec_hint.h"
#include "cli/live/exec_memory.h"
#include "cli/live/exec_refused.h"
#include "emu/base/assert.h"
#include "emu/facts/cma_calls.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/cm_option.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/wire/addr.h"
#include "emu/wire/mad.h"

#define NS_PER_MS       1000000ull
#define EVENT_BYTES_MIN offsetof(struct rdma_ucm_event_resp, reserved)

/* Finds the ID @number of the file, and its handle.  Those of port space IB can do nothing. */
static int find(const struct exec_client *c, const struct exec_cm_command *cmd, uint32_t number,
                rdl_cm_id *ret)
{
    struct exec_cm_id *id;
    const int error = exec_cm_find(c, cmd->file, number, &id);

    if (!error)
        *ret = id->id;
    return error ? error : ret->raw ? 0 : EINVAL;
}

/* --- IDs -------------------------------------------------------------------------------------- */

static bool is_port_space(uint32_t space)
{
    return space == PORT_SPACE_TCP || space == PORT_SPACE_UDP || space == PORT_SPACE_IPOIB ||
           space == PORT_SPACE_IB;
}

/* librdmacm creates an ID of port space IB to find out which commands there are.
 *
 * SIMPLIFIED: such an ID can be bound and asked, and no more: its addresses are not those of IP.
 */
static int create_id(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_create_id *in = &cmd->u.create_id;
    const struct exec_cm_file *f = exec_cm_file_of(c, cmd->file);
    struct exec_cm_id *id = exec_cm_new_id(c);
    struct rdma_ucm_create_id_resp out;
    rdl_cm_id made = {0};
    int error = 0;

    if (!is_port_space(in->ps))
        return EINVAL;
    if (!id)
        return ENOMEM;
    if (in->ps != PORT_SPACE_IB)
        error = exec_cm_errno(rdl_cm_create_id(c->lab, f->channel, in->ps, NULL, &made), NULL);
    if (error)
        return error;
    *id = (struct exec_cm_id){.file = cmd->file, .uid = in->uid, .id = made};
    out.id = (uint32_t)(id - c->cm->ids);
    error = exec_cm_respond(c, cmd, in->response, &out, sizeof(out));
    if (error)
        exec_cm_destroy_id(c, id);
    return error;
}

static int destroy_id(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_destroy_id *in = &cmd->u.destroy_id;
    struct rdma_ucm_destroy_id_resp out;
    struct exec_cm_id *id;
    const int error = exec_cm_find(c, cmd->file, in->id, &id);

    if (error)
        return error;
    out.events_reported = id->events;
    c->cm->destroyed_at = c->n_calls;
    c->cm->destroyed_events = id->events;
    exec_cm_destroy_id(c, id);
    return exec_cm_respond(c, cmd, in->response, &out, sizeof(out));
}

static int migrate_id(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_migrate_id *in = &cmd->u.migrate_id;
    const struct exec_cm_file *f = exec_cm_file_of(c, cmd->file);
    struct rdma_ucm_migrate_resp out;
    struct exec_cm_id *id;
    int error = cmd->from_file ? exec_cm_find(c, cmd->from_file, in->id, &id) : ENOENT;

    if (!error && id->id.raw)
        error = exec_cm_errno(rdl_cm_migrate_id(c->lab, id->id, f->channel), NULL);
    if (error)
        return error;
    id->file = cmd->file;
    out.events_reported = id->events;
    return exec_cm_respond(c, cmd, in->response, &out, sizeof(out));
}

static int set_option_id(struct exec_client *c, rdl_cm_id id, const struct rdma_ucm_set_option *in)
{
    const bool is_byte = in->optname == CM_OPTION_TOS || in->optname == CM_OPTION_ACK_TIMEOUT;
    uint32_t value = 0;
    int error = 0;

    if (in->optname > CM_OPTION_ACK_TIMEOUT)
        return ENOSYS;
    if (in->optlen != (is_byte ? 1 : sizeof(value)))
        return EINVAL;
    if (!exec_memory_read(c->memory, in->optval, &value, in->optlen))
        return EFAULT;
    return exec_cm_errno(rdl_cm_set_option(c->lab, id, in->optname, value, &error), &error);
}

/* SIMPLIFIED: the option IB_PATH, a path that the program knows already, is refused: RoCE has none
 * that rdma_resolve_route() would not find.
 */
static int set_option(struct exec_client *c, const struct exec_cm_command *cmd)
{
    rdl_cm_id id = {0};
    const int error = find(c, cmd, cmd->u.set_option.id, &id);

    if (error)
        return error;
    return cmd->u.set_option.level == RDMA_OPTION_ID ? set_option_id(c, id, &cmd->u.set_option)
                                                     : ENOSYS;
}

/* --- Addresses -------------------------------------------------------------------------------- */

/* Returns the bytes of an address in a field that has room for one of IPv6; 0: it is none that
 * fits. [Linux, rdma_addr_size_in6()]
 */
static size_t size_in6(const struct sockaddr_in6 *addr)
{
    const size_t bytes = exec_cm_addr_size(addr);

    return bytes <= sizeof(*addr) ? bytes : 0;
}

/* Returns true if @a is 127.0.0.1 or ::1. */
static bool is_loopback(const struct rdl_cm_addr *a)
{
    static const uint8_t v6[sizeof(a->gid)] = {[15] = 1};

    return a->version == 4 ? a->gid[GID_IPV4_AT] == 127 : memcmp(a->gid, v6, sizeof(v6)) == 0;
}

/* SIMPLIFIED: the loopback address stands for all addresses of the host.  The kernel would look for
 * an adapter there, and find none; libfabric binds to it if it is told no address.
 */
static int bind_to(struct exec_client *c, const struct exec_cm_command *cmd, uint32_t number,
                   const void *addr, size_t bytes)
{
    struct rdl_cm_addr at;
    struct exec_cm_id *id;
    int error = exec_cm_find(c, cmd->file, number, &id);

    if (error || !id->id.raw)
        return error;
    if (!exec_cm_addr_in(addr, bytes, &at))
        return EAFNOSUPPORT;
    if (is_loopback(&at))
        memset(at.gid + (at.version == 4 ? GID_IPV4_AT : 0), 0,
               at.version == 4 ? 4 : sizeof(at.gid));
    return exec_cm_errno(rdl_cm_bind(c->lab, id->id, &at, &error), &error);
}

static int bind_ip(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_bind_ip *in = &cmd->u.bind_ip;
    const size_t bytes = size_in6(&in->addr);

    return bytes == 0 ? EINVAL : bind_to(c, cmd, in->id, &in->addr, bytes);
}

static int bind_addr(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_bind *in = &cmd->u.bind;

    if (in->reserved || !in->addr_size || in->addr_size != exec_cm_addr_size(&in->addr))
        return EINVAL;
    return bind_to(c, cmd, in->id, &in->addr, in->addr_size);
}

static int resolve(struct exec_client *c, const struct exec_cm_command *cmd, uint32_t number,
                   const struct rdl_cm_addr *from, const struct rdl_cm_addr *to, uint32_t ms)
{
    rdl_cm_id id = {0};
    int error = find(c, cmd, number, &id);

    if (error)
        return error;
    return exec_cm_errno(
        rdl_cm_resolve_addr(c->lab, id, from->version ? from : NULL, to, ms * NS_PER_MS, &error),
        &error);
}

static int resolve_ip(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_resolve_ip *in = &cmd->u.resolve_ip;
    struct rdl_cm_addr from, to;

    if ((in->src_addr.sin6_family && !size_in6(&in->src_addr)) || !size_in6(&in->dst_addr))
        return EINVAL;
    (void)exec_cm_addr_in(&in->src_addr, sizeof(in->src_addr), &from);
    (void)exec_cm_addr_in(&in->dst_addr, sizeof(in->dst_addr), &to);
    return resolve(c, cmd, in->id, &from, &to, in->timeout_ms);
}

static int resolve_addr(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_resolve_addr *in = &cmd->u.resolve_addr;
    struct rdl_cm_addr from, to;

    if (in->reserved || !in->dst_size || in->dst_size != exec_cm_addr_size(&in->dst_addr) ||
        (in->src_size && in->src_size != exec_cm_addr_size(&in->src_addr)))
        return EINVAL;
    if ((!exec_cm_addr_in(&in->src_addr, in->src_size, &from) && in->src_size) ||
        !exec_cm_addr_in(&in->dst_addr, in->dst_size, &to))
        return EAFNOSUPPORT;
    return resolve(c, cmd, in->id, &from, &to, in->timeout_ms);
}

/* A call about an ID alone. */
static int call(struct exec_client *c, const struct exec_cm_command *cmd, uint32_t number,
                enum rdl_status (*function)(struct rdl_lab *lab, rdl_cm_id id, int *reterr))
{
    rdl_cm_id id = {0};
    int error = find(c, cmd, number, &id);

    return error ? error : exec_cm_errno(function(c->lab, id, &error), &error);
}

static int resolve_route(struct exec_client *c, const struct exec_cm_command *cmd)
{
    return call(c, cmd, cmd->u.resolve_route.id, rdl_cm_resolve_route);
}

/* --- Connections ------------------------------------------------------------------------------ */

static void param_in(const struct rdma_ucm_conn_param *from, struct rdl_cm_param *ret)
{
    *ret = (struct rdl_cm_param){
        .private_bytes = from->private_data_len,
        .responder_resources = from->responder_resources,
        .initiator_depth = from->initiator_depth,
        .flow_control = from->flow_control != 0,
        .retry_count = from->retry_count,
        .rnr_retry_count = from->rnr_retry_count,
        .srq = from->srq != 0,
        .qpn = from->qp_num,
        .qkey = from->qkey,
    };
    if (ret->private_bytes <= sizeof(ret->private_data))
        memcpy(ret->private_data, from->private_data, ret->private_bytes);
}

static int listen_at(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_listen *in = &cmd->u.listen;
    rdl_cm_id id = {0};
    int error = find(c, cmd, in->id, &id);

    return error ? error : exec_cm_errno(rdl_cm_listen(c->lab, id, in->backlog, &error), &error);
}

static int connect_to(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_connect *in = &cmd->u.connect;
    struct rdl_cm_param param;
    rdl_cm_id id = {0};
    int error = find(c, cmd, in->id, &id);

    param_in(&in->conn_param, &param);
    if (error || !in->conn_param.valid || param.private_bytes > sizeof(param.private_data))
        return error ? error : EINVAL;
    return exec_cm_errno(rdl_cm_connect(c->lab, id, &param, &error), &error);
}

/* The program tells now what it calls an ID that came with a request. */
static int accept_id(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_accept *in = &cmd->u.accept;
    const bool valid = in->conn_param.valid != 0;
    struct rdl_cm_param param;
    struct exec_cm_id *id;
    int error = exec_cm_find(c, cmd->file, in->id, &id);

    param_in(&in->conn_param, &param);
    if (error || !id->id.raw || param.private_bytes > sizeof(param.private_data))
        return error ? error : EINVAL;
    error = exec_cm_errno(rdl_cm_accept(c->lab, id->id, valid ? &param : NULL, &error), &error);
    if (!error && valid)
        id->uid = in->uid;
    return error;
}

/* SIMPLIFIED: the reason 35 of rdma_reject_ece() is refused: no adapter here has vendor options. */
static int reject(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_reject *in = &cmd->u.reject;
    rdl_cm_id id = {0};
    int error = find(c, cmd, in->id, &id);

    if (error || (in->reason && in->reason != CM_REASON_CONSUMER_DEFINED))
        return error ? error : EINVAL;
    return exec_cm_errno(rdl_cm_reject(c->lab, id, in->private_data, in->private_data_len, &error),
                         &error);
}

static int disconnect(struct exec_client *c, const struct exec_cm_command *cmd)
{
    return call(c, cmd, cmd->u.disconnect.id, rdl_cm_disconnect);
}

static int notify(struct exec_client *c, const struct exec_cm_command *cmd)
{
    if (cmd->u.notify.event != ASE_COMM_EST)
        return EINVAL;
    return call(c, cmd, cmd->u.notify.id, rdl_cm_notify);
}

/* --- Multicast -------------------------------------------------------------------------------- */

static struct exec_cm_group *new_group(const struct exec_client *c)
{
    void *array = c->cm->groups;
    struct exec_cm_group *g = exec_entry_for(&array, &c->cm->n_groups, sizeof(*g));

    c->cm->groups = array;
    return g;
}

/* The arguments of JOIN_IP_MCAST and JOIN_MCAST. */
struct join {
    uint64_t response, uid;
    uint32_t id;
    bool sends_only;
    struct rdl_cm_addr to;
};

static int join_group(struct exec_client *c, const struct exec_cm_command *cmd,
                      const struct join *in)
{
    struct exec_cm_group *g = new_group(c);
    struct rdma_ucm_create_id_resp out;
    uint32_t membership = 0;
    rdl_cm_id id = {0};
    int error = g ? find(c, cmd, in->id, &id) : ENOMEM;

    if (!error)
        error = exec_cm_errno(rdl_cm_join(c->lab, id, &in->to, in->sends_only, &membership, &error),
                              &error);
    if (error)
        return error;
    *g =
        (struct exec_cm_group){.in_use = 1, .uid = in->uid, .id = in->id, .membership = membership};
    out.id = (uint32_t)(g - c->cm->groups);
    error = exec_cm_respond(c, cmd, in->response, &out, sizeof(out));
    if (error) {
        (void)!rdl_cm_leave(c->lab, id, membership);
        *g = (struct exec_cm_group){0};
    }
    return error;
}

static int join_ip(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_join_ip_mcast *in = &cmd->u.join_ip;
    struct join j = {.response = in->response, .uid = in->uid, .id = in->id};

    return exec_cm_addr_in(&in->addr, sizeof(in->addr), &j.to) ? join_group(c, cmd, &j) : EINVAL;
}

static int join_any(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_join_mcast *in = &cmd->u.join;
    struct join j = {.response = in->response,
                     .uid = in->uid,
                     .id = in->id,
                     .sends_only = in->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER};

    if (in->addr_size != exec_cm_addr_size(&in->addr) ||
        in->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED ||
        !exec_cm_addr_in(&in->addr, in->addr_size, &j.to))
        return EINVAL;
    return join_group(c, cmd, &j);
}

static int leave_group(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct rdma_ucm_destroy_id *in = &cmd->u.destroy_id;
    struct rdma_ucm_destroy_id_resp out;
    struct exec_cm_group *g;
    rdl_cm_id id = {0};
    int error;

    if (in->id >= c->cm->n_groups || !c->cm->groups[in->id].in_use)
        return ENOENT;
    g = &c->cm->groups[in->id];
    error = find(c, cmd, g->id, &id);
    if (error)
        return error;
    out.events_reported = g->events;
    (void)!rdl_cm_leave(c->lab, id, g->membership);
    *g = (struct exec_cm_group){0};
    return exec_cm_respond(c, cmd, in->response, &out, sizeof(out));
}

static struct exec_cm_group *group_of(const struct exec_client *c, const struct exec_cm_id *id,
                                      uint32_t membership)
{
    for (size_t i = 0; i < c->cm->n_groups && membership; i++) {
        struct exec_cm_group *g = &c->cm->groups[i];

        if (g->in_use && g->membership == membership && &c->cm->ids[g->id] == id)
            return g;
    }
    return NULL;
}

/* --- Events ----------------------------------------------------------------------------------- */

static void put_connection(const struct rdl_cm_param *p, struct rdma_ucm_conn_param *ret)
{
    ret->qp_num = p->qpn;
    ret->private_data_len = (uint8_t)p->private_bytes;
    ret->srq = p->srq;
    ret->responder_resources = (uint8_t)p->responder_resources;
    ret->initiator_depth = (uint8_t)p->initiator_depth;
    ret->flow_control = p->flow_control;
    ret->retry_count = (uint8_t)p->retry_count;
    ret->rnr_retry_count = (uint8_t)p->rnr_retry_count;
    memcpy(ret->private_data, p->private_data, p->private_bytes);
}

static void put_datagram(const struct rdl_cm_event *e, struct rdma_ucm_ud_param *ret)
{
    ret->qp_num = e->param.qpn;
    ret->qkey = e->param.qkey;
    exec_cm_ah_out(&e->ah, &ret->ah_attr);
    ret->private_data_len = (uint8_t)e->param.private_bytes;
    memcpy(ret->private_data, e->param.private_data, e->param.private_bytes);
}

/* Fills in an event of @about, which is counted there: a request is its listener's. */
static void put_event(const struct exec_client *c, const struct rdl_cm_event *e,
                      struct exec_cm_id *about, struct exec_cm_id *made,
                      struct rdma_ucm_event_resp *ret)
{
    struct exec_cm_group *g = group_of(c, about, e->group);
    struct rdl_cm_id_info info = {.space = PORT_SPACE_TCP};

    (void)!rdl_cm_id_info(c->lab, about->id, &info);
    memset(ret, 0, sizeof(*ret));
    ret->uid = g ? g->uid : about->uid;
    ret->id = (uint32_t)(g ? g - c->cm->groups : (made ? made : about) - c->cm->ids);
    ret->event = e->kind;
    ret->status = (uint32_t)e->status;
    if (info.space == PORT_SPACE_UDP)
        put_datagram(e, &ret->param.ud);
    else
        put_connection(&e->param, &ret->param.conn);
    about->events++;
    if (g)
        g->events++;
}

/* Gives the program its next event.  It is acknowledged in the lab at once: what the program does
 * with it is between the program and librdmacm.
 */
static int get_event(struct exec_client *c, const struct exec_cm_command *cmd)
{
    const struct exec_cm_file *f = exec_cm_file_of(c, cmd->file);
    struct exec_cm_id *made = exec_cm_new_id(c), *about;
    struct rdma_ucm_event_resp out;
    struct rdl_cm_event e;
    size_t n = 0;
    uint32_t kind;
    int error;

    if (!made)
        return ENOMEM;
    if (!rdl_cm_next_event(c->lab, f->channel, &kind))
        return EAGAIN;
    memset(&out, 0, sizeof(out));
    error = exec_cm_respond(c, cmd, cmd->u.get_event.response, &out, sizeof(out));
    if (error)
        return error; /* the event stays */
    error = exec_cm_errno(rdl_cm_get_event(c->lab, f->channel, NULL, &e, &n), NULL);
    if (error || n == 0)
        return error ? error : EAGAIN;
    (void)!rdl_cm_ack_event(c->lab, f->channel);
    exec_hint_cm_event(c, &e);
    if (e.kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
        *made = (struct exec_cm_id){.file = cmd->file, .id = e.id};
        about = exec_cm_id_of(c, e.listener);
    } else {
        made = NULL;
        about = exec_cm_id_of(c, e.id);
    }
    if (!about)
        return EAGAIN; /* of an ID that the user has created: the program does not know it */
    put_event(c, &e, about, made, &out);
    return exec_cm_respond(c, cmd, cmd->u.get_event.response, &out, sizeof(out));
}

/* --- All -------------------------------------------------------------------------------------- */

typedef int run(struct exec_client *c, const struct exec_cm_command *cmd);

#define ID_AT(member) offsetof(struct exec_cm_command, u.member.id)

/* Each command: the function of librdmacm, the bytes that a program must take at least, and the
 * place of the number of the ID that must be in a certain state (cma_calls.def); 0: none must.
 */
static const struct {
    run *run;
    const char *function;
    size_t response, id_at;
} commands[] = {
    [RDMA_USER_CM_CMD_CREATE_ID] = {create_id, "rdma_create_id", sizeof(uint32_t), 0},
    [RDMA_USER_CM_CMD_DESTROY_ID] = {destroy_id, "rdma_destroy_id", sizeof(uint32_t), 0},
    [RDMA_USER_CM_CMD_BIND_IP] = {bind_ip, "rdma_bind_addr", 0, ID_AT(bind_ip)},
    [RDMA_USER_CM_CMD_RESOLVE_IP] = {resolve_ip, "rdma_resolve_addr", 0, ID_AT(resolve_ip)},
    [RDMA_USER_CM_CMD_RESOLVE_ROUTE] = {resolve_route, "rdma_resolve_route", 0,
                                        ID_AT(resolve_route)},
    [RDMA_USER_CM_CMD_QUERY_ROUTE] = {exec_cm_query_route, NULL,
                                      offsetof(struct rdma_ucm_query_route_resp, ibdev_index), 0},
    [RDMA_USER_CM_CMD_CONNECT] = {connect_to, "rdma_connect", 0, ID_AT(connect)},
    [RDMA_USER_CM_CMD_LISTEN] = {listen_at, "rdma_listen", 0, ID_AT(listen)},
    [RDMA_USER_CM_CMD_ACCEPT] = {accept_id, "rdma_accept", 0, ID_AT(accept)},
    [RDMA_USER_CM_CMD_REJECT] = {reject, "rdma_reject", 0, ID_AT(reject)},
    [RDMA_USER_CM_CMD_DISCONNECT] = {disconnect, "rdma_disconnect", 0, ID_AT(disconnect)},
    [RDMA_USER_CM_CMD_INIT_QP_ATTR] = {exec_cm_init_qp_attr, "rdma_init_qp_attr",
                                       sizeof(struct ib_uverbs_qp_attr), 0},
    [RDMA_USER_CM_CMD_GET_EVENT] = {get_event, "rdma_get_cm_event", EVENT_BYTES_MIN, 0},
    [RDMA_USER_CM_CMD_SET_OPTION] = {set_option, "rdma_set_option", 0, 0},
    [RDMA_USER_CM_CMD_NOTIFY] = {notify, "rdma_notify", 0, ID_AT(notify)},
    [RDMA_USER_CM_CMD_JOIN_IP_MCAST] = {join_ip, "rdma_join_multicast", sizeof(uint32_t),
                                        ID_AT(join_ip)},
    [RDMA_USER_CM_CMD_LEAVE_MCAST] = {leave_group, "rdma_leave_multicast", sizeof(uint32_t), 0},
    [RDMA_USER_CM_CMD_MIGRATE_ID] = {migrate_id, "rdma_migrate_id", sizeof(uint32_t), 0},
    [RDMA_USER_CM_CMD_QUERY] = {exec_cm_query, NULL, 0, 0},
    [RDMA_USER_CM_CMD_BIND] = {bind_addr, "rdma_bind_addr", 0, ID_AT(bind)},
    [RDMA_USER_CM_CMD_RESOLVE_ADDR] = {resolve_addr, "rdma_resolve_addr", 0, ID_AT(resolve_addr)},
    [RDMA_USER_CM_CMD_JOIN_MCAST] = {join_any, "rdma_join_multicast", sizeof(uint32_t),
                                     ID_AT(join)},
};

/* Reads the command in the program's memory.  [Linux, ucma_write()] */
static int read_command(const struct exec_client *c, struct exec_cm_command *cmd)
{
    const uint64_t at = c->call.u.cm_write.addr, bytes = c->call.u.cm_write.bytes;
    const size_t head = sizeof(cmd->head);
    size_t n;

    memset(cmd, 0, sizeof(*cmd));
    cmd->head.cmd = UINT32_MAX; /* until it is known */
    cmd->file = c->call.u.cm_write.file;
    cmd->from_file = c->call.u.cm_write.from_file;
    if (!exec_cm_file_of(c, cmd->file))
        return ENODEV;
    if (bytes < head)
        return EINVAL;
    if (!exec_memory_read(c->memory, at, &cmd->head, head))
        return EFAULT;
    if (cmd->head.cmd >= ARRAY_LEN(commands) || cmd->head.in + head > bytes)
        return EINVAL;
    if (!commands[cmd->head.cmd].run)
        return ENOSYS;
    if (cmd->head.out < commands[cmd->head.cmd].response)
        return ENOSPC;
    n = cmd->head.in < sizeof(cmd->u) ? cmd->head.in : sizeof(cmd->u);
    return exec_memory_read(c->memory, at + head, &cmd->u, n) ? 0 : EFAULT;
}

/* Appends the reason of EINVAL, if it is the state of the ID, or too much private data. */
static void add_reason(struct text *t, const struct exec_client *c,
                       const struct exec_cm_command *cmd)
{
    const char *function = commands[cmd->head.cmd].function;
    const size_t id_at = commands[cmd->head.cmd].id_at;
    const uint32_t bytes = cmd->u.connect.conn_param.private_data_len;
    struct rdl_cm_id_info info;
    rdl_cm_id id = {0};
    uint32_t number;
    size_t most;

    if (!id_at)
        return;
    memcpy(&number, (const uint8_t *)cmd + id_at, sizeof(number));
    if (find(c, cmd, number, &id) != 0 || rdl_cm_id_info(c->lab, id, &info) != RDL_OK)
        return;
    most = info.space == PORT_SPACE_UDP ? CM_SIDR_REQ_DATA_BYTES : CM_REQ_DATA_BYTES;
    if (cma_call_is_early_or_late(function, info.state, info.ib_state))
        cma_call_add_reason(t, function, "the ID", info.state, info.ib_state);
    else if (cmd->head.cmd == RDMA_USER_CM_CMD_CONNECT && bytes > most)
        text_addf(t, "private_data_len is %u, and must be at most %zu", bytes, most);
}

/* Notes that a command was refused with @error, and why. */
static void note_refusal(struct exec_client *c, const struct exec_cm_command *cmd, int error)
{
    char reason[EXEC_REFUSED_BYTES];
    struct text t = text_on(reason, sizeof(reason));

    if (error == EINVAL)
        add_reason(&t, c, cmd);
    exec_refused_command(c, commands[cmd->head.cmd].function, error, reason);
}

int exec_cm_write(struct exec_client *c)
{
    struct exec_cm_command cmd;
    int error = read_command(c, &cmd);

    if (!error)
        error = commands[cmd.head.cmd].run(c, &cmd);
    if (error && error != EAGAIN && cmd.head.cmd < ARRAY_LEN(commands))
        note_refusal(c, &cmd, error);
    (void)exec_cm_tell(c);
    return error;
}
