/* SPDX-License-Identifier: MIT */
/* The calls of librdmacm.  The lab is the kernel (rdmalab/cm.h); what librdmacm does itself is done
 * here: it moves queue pairs.  cmd_cm_event.c has the events.
 */
#include <errno.h>
#include <string.h>

#include "cli/cmd/cm_calls.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/qp_moves.h"
#include "cli/cmd/verb.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/cma_calls.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/addr.h"
#include "emu/wire/mad.h"
#include "rdmalab/cm.h"
#include "rdmalab/events.h"

#define RANGE_BYTES  256u /* text about a value that is out of range */
#define REMEDY_BYTES 256u

/* --- Errors ----------------------------------------------------------------------------------- */

/* Errors of the kernel, and what helps. */
static const struct errno_row errors[] = {
    {EADDRINUSE, "EADDRINUSE", "another ID has this port",
     "choose another port; \"show cm\" lists those that are taken"},
    {EADDRNOTAVAIL, "EADDRNOTAVAIL",
     "the host has no such address, or an ID with an address that stands for all has this port",
     "\"show HOST\" lists its addresses, \"show cm\" the ports that are taken"},
    {EINVAL, "EINVAL", "the ID is not in a state for this call, or a value is out of range",
     "\"show cm\" shows the state"},
    {ENETUNREACH, "ENETUNREACH", "the address cannot be asked for",
     "link both hosts, and use an address that a host owns"},
    {EISCONN, "EISCONN", "the connection is established already", "\"show cm\" shows the state"},
    {RDL_CM_ENOTSUPP, "ENOTSUPP", "Linux knows no groups of IPv6 on RoCEv2",
     "take an address of 224.0.0.0 to 239.255.255.255"},
    {ENOMEM, "ENOMEM", "the kernel has no memory left", "give the host more ram="},
    {0},
};

/* Tells in s->diag what helps if the ID of @st is in @state, and the command needs another one.
 * Returns false.
 */
static bool say_remedy(struct session *s, const struct step *st, uint32_t state)
{
    const struct cma_step *next = cma_step(state);
    const char *id = step_text(st, "id"), *command = st->cmd->name;
    const bool answers = strcmp(command, "rdma_accept") == 0 || strcmp(command, "rdma_reject") == 0;
    char buf[REMEDY_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (answers && state != CMA_CONNECT)
        return diag_remedy(&s->diag, "an ID to answer comes with the event CONNECT_REQUEST: "
                                     "rdma_get_cm_event CHANNEL as NAME");
    if (state == CMA_ADDR_QUERY || answers || strcmp(command, "rdma_notify") == 0)
        return diag_remedy(&s->diag, "\"why not %s\" tells more", id);
    if (!next)
        return diag_remedy(&s->diag, "an ID listens, or has one connection: rdma_create_id creates "
                                     "another one");
    text_addf(&t, next->command, id);
    return diag_remedy(&s->diag, "next: %s", buf);
}

/* Fails because the ID of @st is not in a state for the command, if that is so.  Returns true if it
 * is not.
 */
static bool state_allows(struct session *s, const struct step *st)
{
    struct rdl_cm_id_info info;
    char buf[DIAG_MESSAGE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct home home;
    rdl_cm_id id;

    if (!cma_call_needs_state(st->cmd->name) || !cm_find_id(s, st, &id, &home) ||
        rdl_cm_id_info(s->lab, id, &info) != RDL_OK ||
        !cma_call_is_early_or_late(st->cmd->name, info.state, info.ib_state))
        return true;
    cma_call_add_reason(&t, st->cmd->name, step_text(st, "id"), info.state, info.ib_state);
    session_fail(s, st->at, "%s: EINVAL: %s", st->cmd->name, buf);
    return say_remedy(s, st, info.state);
}

/* Fails because of the errno of the kernel.  Returns false. */
static bool fail_errno(struct session *s, const struct step *st, int error)
{
    if (error == EINVAL && !state_allows(s, st))
        return false;
    return verb_fail_errno(s, st, st->at, errors, error);
}

bool cm_called(struct session *s, const struct step *st, enum rdl_status status, int error)
{
    if (status == RDL_ERR_ERRNO)
        return fail_errno(s, st, error);
    return status == RDL_OK || session_fail_status(s, st->at, st->cmd->name, status);
}

bool cm_find_id(struct session *s, const struct step *st, rdl_cm_id *ret, struct home *home)
{
    struct rdl_users users;

    if (!verb_object(s, st, "id", OBJ_CM_ID, &ret->raw, home))
        return false;
    if (rdl_users_of(s->lab, OBJ_CM_ID, ret->raw, &users) == RDL_OK &&
        users.kept_by != RDL_KERNEL_NONE) /* a call may begin with its queue pair */
        return session_fail_status(s, st->at, st->cmd->name, RDL_ERR_KERNEL);
    return true;
}

/* Finds the ID, and what is known of it. */
static bool look_up_id(struct session *s, const struct step *st, rdl_cm_id *ret, struct home *home,
                       struct rdl_cm_id_info *ret_info)
{
    return cm_find_id(s, st, ret, home) &&
           cm_called(s, st, rdl_cm_id_info(s->lab, *ret, ret_info), 0);
}

/* Makes a call of the kernel that is about an ID alone. */
static bool call_by_id(struct session *s, const struct step *st,
                       enum rdl_status (*call)(struct rdl_lab *lab, rdl_cm_id id, int *reterr))
{
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;
    int error;

    if (!cm_find_id(s, st, &id, &home))
        return false;
    status = call(s->lab, id, &error);
    return cm_called(s, st, status, error);
}

bool cm_find_channel(struct session *s, const struct step *st, rdl_cm_channel *ret,
                     struct home *home)
{
    return verb_object(s, st, "channel", OBJ_EVENT_CHANNEL, &ret->raw, home);
}

/* --- Channels and IDs ------------------------------------------------------------------------- */

bool run_rdma_create_event_channel(struct session *s, const struct step *st)
{
    char name[RDL_VALUE_BYTES];
    enum rdl_status status;
    rdl_cm_channel ch;
    struct home home;

    if (!verb_home(s, st, &home))
        return false;
    status = rdl_cm_create_channel(s->lab, home.host, st->as.text, &ch);
    if (status == RDL_ERR_BUSY) {
        session_fail(s, st->at,
                     "the connection managers cannot start while a host has a request under way");
        return diag_remedy(&s->diag, "\"run\" lets the answers come");
    }
    if (status == RDL_ERR_DEVICE) {
        session_fail(s, st->at, "the device refused a request of the connection manager of %s",
                     home.name);
        return diag_remedy(
            &s->diag, "\"why\" shows it; the connection manager needs a place for a queue pair, a "
                      "completion queue, a protection domain and a memory region, and tries again "
                      "with the next event channel");
    }
    if (!verb_sent(s, st, &home, status))
        return false;
    verb_own_name(s, OBJ_EVENT_CHANNEL, ch.raw, name);
    session_made(s, home.name, "%s", name);
    return true;
}

bool run_rdma_destroy_event_channel(struct session *s, const struct step *st)
{
    enum rdl_status status;
    rdl_cm_channel ch;
    struct home home;

    if (!cm_find_channel(s, st, &ch, &home))
        return false;
    status = rdl_cm_destroy_channel(s->lab, ch);
    return status == RDL_OK || verb_destroyed(s, st, "channel", OBJ_EVENT_CHANNEL, ch.raw, status);
}

bool run_rdma_create_id(struct session *s, const struct step *st)
{
    char name[RDL_VALUE_BYTES];
    rdl_cm_channel ch;
    struct home home;
    rdl_cm_id id;

    if (!cm_find_channel(s, st, &ch, &home) ||
        !verb_sent(s, st, &home,
                   rdl_cm_create_id(s->lab, ch, (uint32_t)step_number(st, "ps"), st->as.text, &id)))
        return false;
    verb_own_name(s, OBJ_CM_ID, id.raw, name);
    session_made(s, home.name, "%s", name);
    return true;
}

/* Fails because the program has not acknowledged all events of the ID. */
static bool fail_unacked(struct session *s, const struct step *st,
                         const struct rdl_cm_id_info *info)
{
    session_fail(s, st->at, "events of %s that wait to be acknowledged: %u", step_text(st, "id"),
                 info->unacked);
    return diag_remedy(
        &s->diag, "rdma_ack_cm_event acknowledges the oldest one; a real program would wait here");
}

bool run_rdma_destroy_id(struct session *s, const struct step *st)
{
    struct rdl_cm_id_info info = {0};
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;

    if (!cm_find_id(s, st, &id, &home))
        return false;
    status = rdl_cm_destroy_id(s->lab, id);
    if (status != RDL_ERR_BUSY || rdl_cm_id_info(s->lab, id, &info) != RDL_OK)
        return cm_called(s, st, status, 0);
    return fail_unacked(s, st, &info);
}

bool run_rdma_migrate_id(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "id"), host);
    struct rdl_cm_id_info info = {0};
    enum rdl_status status;
    rdl_cm_channel ch;
    struct home home;
    rdl_cm_id id;

    if (!look_up_id(s, st, &id, &home, &info) ||
        !resolve_object(&rest, st, "channel", OBJ_EVENT_CHANNEL, &ch.raw, &s->diag))
        return false;
    status = rdl_cm_migrate_id(s->lab, id, ch);
    if (status == RDL_ERR_INVAL) {
        session_fail(s, step_span(st, "channel", 0), "this channel is of another host");
        return diag_remedy(&s->diag, "a channel of %s is needed", home.name);
    }
    return status == RDL_ERR_BUSY ? fail_unacked(s, st, &info) : cm_called(s, st, status, 0);
}

/* --- Addresses -------------------------------------------------------------------------------- */

bool cm_read_address(struct session *s, const struct step *st, const char *param, rdl_host from,
                     uint16_t port, uint32_t gid_index, struct rdl_cm_addr *ret)
{
    struct rdl_ah_attr ah = {.sgid_index = (uint8_t)gid_index};

    if (!verb_address(s, st, param, from, 0, &ah))
        return false;
    *ret = (struct rdl_cm_addr){.version = gid_is_ipv4(ah.dgid) ? 4 : 6, .port = port};
    memcpy(ret->gid, ah.dgid, sizeof(ret->gid));
    return true;
}

bool run_rdma_bind_addr(struct session *s, const struct step *st)
{
    const uint16_t port = (uint16_t)step_number(st, "port");
    struct rdl_cm_addr at = {.version = 4, .gid = {[10] = 0xff, [11] = 0xff}, .port = port};
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;
    int error;

    if (!cm_find_id(s, st, &id, &home) ||
        (step_has(st, "addr") && !cm_read_address(s, st, "addr", home.host, port, 0, &at)))
        return false;
    status = rdl_cm_bind(s->lab, id, &at, &error);
    return cm_called(s, st, status, error);
}

bool run_rdma_listen(struct session *s, const struct step *st)
{
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;
    int error;

    if (!cm_find_id(s, st, &id, &home))
        return false;
    status = rdl_cm_listen(s->lab, id, (uint32_t)step_number(st, "backlog"), &error);
    return cm_called(s, st, status, error);
}

bool run_rdma_resolve_addr(struct session *s, const struct step *st)
{
    struct rdl_cm_addr to, from;
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;
    int error;

    if (!cm_find_id(s, st, &id, &home) ||
        !cm_read_address(s, st, "dst", home.host, (uint16_t)step_number(st, "port"),
                         (uint32_t)step_number(st, "gid_index"), &to) ||
        (step_has(st, "src") && !cm_read_address(s, st, "src", home.host, 0, 0, &from)))
        return false;
    status = rdl_cm_resolve_addr(s->lab, id, step_has(st, "src") ? &from : NULL, &to,
                                 step_number(st, "timeout"), &error);
    return cm_called(s, st, status, error);
}

bool run_rdma_resolve_route(struct session *s, const struct step *st)
{
    return call_by_id(s, st, rdl_cm_resolve_route);
}

/* --- Queue pairs ------------------------------------------------------------------------------ */

/* Fails because @param of @st is more than the device can do. */
static bool fail_range(struct session *s, const struct step *st, const char *param,
                       const struct rdl_modify_error *why)
{
    char buf[RANGE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    qp_moves_add_range(&t, &why->range[0]);
    return session_fail(s, step_span(st, param, 0), "%s=%llu: %s", param,
                        (unsigned long long)step_number(st, param), buf);
}

/* Moves the queue pair of @id to @to with the attributes that the kernel tells.  @own, if not NULL,
 * takes the place of the limits of READs and atomics among them.
 */
static bool move(struct session *s, const struct step *st, const struct home *home, rdl_cm_id id,
                 rdl_qp qp, enum qp_state to, const struct rdl_cm_param *own)
{
    struct rdl_modify_error why = {0};
    char text[RANGE_BYTES];
    struct text range = text_on(text, sizeof(text));
    struct rdl_qp_attr attr;
    enum rdl_status status;
    uint32_t mask;
    int error;

    status = rdl_cm_qp_attr(s->lab, id, to, &attr, &mask, &error);
    if (!cm_called(s, st, status, error))
        return false;
    if (own && to == QPS_RTR)
        attr.max_dest_rd_atomic = own->responder_resources;
    if (own && to == QPS_RTS)
        attr.max_rd_atomic = own->initiator_depth;
    status = rdl_modify_qp(s->lab, qp, &attr, mask, false, &why);
    if (status != RDL_ERR_INVAL || why.n_ranges == 0)
        return verb_finish(s, st, home, status);
    if (own)
        return fail_range(s, st, to == QPS_RTR ? "responder_resources" : "initiator_depth", &why);
    qp_moves_add_range(&range, &why.range[0]);
    return session_fail(s, st->at, "the queue pair cannot move to %s: %s",
                        enum_name(&enum_qp_state, to), text);
}

/* Moves the queue pair from state to state, of which the last one is @last. */
static bool move_through(struct session *s, const struct step *st, const struct home *home,
                         rdl_cm_id id, rdl_qp qp, enum qp_state last,
                         const struct rdl_cm_param *own)
{
    for (uint32_t to = QPS_INIT; to <= (uint32_t)last; to++) {
        if (!move(s, st, home, id, qp, (enum qp_state)to, own))
            return false;
    }
    return true;
}

bool cm_move_to_rts(struct session *s, const struct step *st, const struct home *home, rdl_cm_id id,
                    rdl_qp qp, const struct rdl_cm_param *own)
{
    return move_through(s, st, home, id, qp, QPS_RTS, own);
}

bool cm_has_qp(const struct session *s, const struct rdl_cm_id_info *info)
{
    struct rdl_qp_info qp;

    return info->qp.raw && rdl_qp_info(s->lab, info->qp, &qp) == RDL_OK;
}

bool run_rdma_create_qp(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES], name[RDL_VALUE_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "id"), host);
    struct rdl_qp_config config = {
        .max_send_wr = (uint32_t)step_number(st, "max_send_wr"),
        .max_recv_wr = (uint32_t)step_number(st, "max_recv_wr"),
        .max_send_sge = (uint32_t)step_number(st, "max_send_sge"),
        .max_recv_sge = (uint32_t)step_number(st, "max_recv_sge"),
        .max_inline_data = (uint32_t)step_number(st, "max_inline_data"),
    };
    struct rdl_cm_id_info info;
    struct home home;
    rdl_cm_id id;
    rdl_qp qp;

    if (!cm_find_id(s, st, &id, &home) ||
        !resolve_object(&rest, st, "pd", OBJ_PD, &config.pd.raw, &s->diag) ||
        !resolve_object(&rest, st, "send_cq", OBJ_CQ, &config.send_cq.raw, &s->diag) ||
        !resolve_object(&rest, st, "recv_cq", OBJ_CQ, &config.recv_cq.raw, &s->diag) ||
        (step_has(st, "srq") &&
         !resolve_object(&rest, st, "srq", OBJ_SRQ, &config.srq.raw, &s->diag)) ||
        !cm_called(s, st, rdl_cm_id_info(s->lab, id, &info), 0))
        return false;
    if (cm_has_qp(s, &info)) {
        session_fail(s, st->at, "%s has a queue pair already", step_text(st, "id"));
        return diag_remedy(&s->diag, "rdma_destroy_qp destroys it");
    }
    if (info.state == CMA_LISTEN) {
        session_fail(s, st->at, "%s listens, and has no connection", step_text(st, "id"));
        return diag_remedy(&s->diag, "the ID that needs a queue pair comes with the event "
                                     "CONNECT_REQUEST: rdma_get_cm_event CHANNEL as NAME");
    }
    if (!info.has_device) {
        session_fail(s, st->at, "%s has no device yet", step_text(st, "id"));
        return diag_remedy(&s->diag, "rdma_resolve_addr finds one, and so does an address of the "
                                     "host in rdma_bind_addr");
    }
    config.type = info.space == PORT_SPACE_UDP ? QPT_UD : QPT_RC;
    if (!verb_finish(s, st, &home, rdl_create_qp(s->lab, &config, st->as.text, &qp)) ||
        !cm_called(s, st, rdl_cm_set_qp(s->lab, id, qp), 0) ||
        !move_through(s, st, &home, id, qp, config.type == QPT_UD ? QPS_RTS : QPS_INIT, NULL))
        return false;
    verb_own_name(s, OBJ_QP, qp.raw, name);
    session_made(s, home.name, "%s (%s)", name, config.type == QPT_UD ? "RTS" : "INIT");
    return true;
}

bool run_rdma_destroy_qp(struct session *s, const struct step *st)
{
    struct rdl_cm_id_info info;
    struct home home;
    rdl_cm_id id;

    if (!look_up_id(s, st, &id, &home, &info))
        return false;
    if (!cm_has_qp(s, &info))
        return session_fail(s, st->at, "%s has no queue pair", step_text(st, "id"));
    return verb_destroyed(s, st, "id", OBJ_QP, info.qp.raw, rdl_destroy_qp(s->lab, info.qp)) &&
           cm_called(s, st, rdl_cm_set_qp(s->lab, id, (rdl_qp){0}), 0);
}

/* --- Connections ------------------------------------------------------------------------------ */

/* Fails if the private data is longer than its field in the message. */
static bool data_fits(struct session *s, const struct step *st, const char *data, size_t most)
{
    if (strlen(data) <= most)
        return true;
    session_fail(s, step_span(st, "data", 0), "data of %zu bytes does not fit into the message",
                 strlen(data));
    return diag_remedy(&s->diag, "it has room for %zu", most);
}

/* Reads the parameters of a connection, with at most @most bytes of private data; the QPN is that
 * of the ID's queue pair.
 */
static bool read_param(struct session *s, const struct step *st, const struct rdl_cm_id_info *info,
                       size_t most, struct rdl_cm_param *ret)
{
    const char *data = step_has(st, "data") ? step_text(st, "data") : "";
    struct rdl_qp_info qp;

    *ret = (struct rdl_cm_param){
        .private_bytes = strlen(data),
        .responder_resources = (uint32_t)step_number(st, "responder_resources"),
        .initiator_depth = (uint32_t)step_number(st, "initiator_depth"),
        .rnr_retry_count = (uint32_t)step_number(st, "rnr_retry_count"),
    };
    if (!info->qp.raw || rdl_qp_info(s->lab, info->qp, &qp) != RDL_OK) {
        if (!state_allows(s, st))
            return false;
        session_fail(s, st->at, "%s has no queue pair", step_text(st, "id"));
        return diag_remedy(&s->diag, "rdma_create_qp creates it");
    }
    if (!data_fits(s, st, data, most))
        return false;
    memcpy(ret->private_data, data, ret->private_bytes);
    ret->qpn = qp.qpn;
    return true;
}

bool run_rdma_connect(struct session *s, const struct step *st)
{
    struct rdl_cm_id_info info;
    struct rdl_cm_param param;
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;
    int error;

    if (!look_up_id(s, st, &id, &home, &info) ||
        !read_param(s, st, &info,
                    info.space == PORT_SPACE_UDP ? CM_SIDR_REQ_DATA_BYTES : CM_REQ_DATA_BYTES,
                    &param))
        return false;
    param.retry_count = (uint32_t)step_number(st, "retry_count");
    status = rdl_cm_connect(s->lab, id, &param, &error);
    return cm_called(s, st, status, error);
}

bool run_rdma_accept(struct session *s, const struct step *st)
{
    struct rdl_cm_id_info info;
    struct rdl_cm_param param;
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;
    int error;

    if (!look_up_id(s, st, &id, &home, &info) ||
        !read_param(s, st, &info,
                    info.space == PORT_SPACE_UDP ? CM_DATA_BYTES(sidr_rep) : CM_DATA_BYTES(rep),
                    &param))
        return false;
    if (info.space != PORT_SPACE_UDP && !cm_move_to_rts(s, st, &home, id, info.qp, &param)) {
        (void)state_allows(s, st); /* a second accept fails at the queue pair */
        return false;
    }
    status = rdl_cm_accept(s->lab, id, &param, &error);
    return cm_called(s, st, status, error);
}

bool run_rdma_reject(struct session *s, const struct step *st)
{
    const char *data = step_has(st, "data") ? step_text(st, "data") : "";
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;
    int error;

    if (!cm_find_id(s, st, &id, &home) || !data_fits(s, st, data, CM_DATA_BYTES(rej)))
        return false;
    status = rdl_cm_reject(s->lab, id, data, strlen(data), &error);
    return cm_called(s, st, status, error);
}

bool cm_move_to_err(struct session *s, const struct step *st, const struct home *home,
                    const struct rdl_cm_id_info *info)
{
    const struct rdl_qp_attr attr = {.state = QPS_ERR};
    struct rdl_modify_error why;

    if (info->space == PORT_SPACE_UDP || !cm_has_qp(s, info))
        return true;
    return verb_finish(s, st, home, rdl_modify_qp(s->lab, info->qp, &attr, QPA_STATE, false, &why));
}

bool run_rdma_disconnect(struct session *s, const struct step *st)
{
    struct rdl_cm_id_info info;
    enum rdl_status status;
    struct home home;
    rdl_cm_id id;
    const uint64_t tick = rdl_tick(s->lab), at_ns = rdl_now_ns(s->lab);
    int error;

    if (!look_up_id(s, st, &id, &home, &info) || !cm_move_to_err(s, st, &home, &info))
        return false;
    rdl_cm_began(s->lab, id, tick, at_ns);
    status = rdl_cm_disconnect(s->lab, id, &error);
    return cm_called(s, st, status, error);
}

bool run_rdma_notify(struct session *s, const struct step *st)
{
    return call_by_id(s, st, rdl_cm_notify);
}
