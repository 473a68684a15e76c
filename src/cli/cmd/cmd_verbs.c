/* SPDX-License-Identifier: MIT */
/* Verbs that make and destroy: protection domains, completion queues, queue pairs, address handles.
 */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/limit.h"
#include "cli/cmd/verb.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/wire/addr.h"
#include "rdmalab/control.h"
#include "rdmalab/events.h"
#include "rdmalab/inspect.h"
#include "rdmalab/program.h"
#include "tree/tree.h"

bool run_alloc_pd(struct session *s, const struct step *st)
{
    char name[RDL_VALUE_BYTES];
    struct home home;
    bool asked = false;
    rdl_pd pd;

    if (!verb_home(s, st, &home) || !verb_may_begin(s, st, &home) ||
        !verb_created(s, st, &home, rdl_alloc_pd(s->lab, home.host, st->as.text, &pd), &asked))
        return false;
    if (asked)
        return true;
    verb_own_name(s, OBJ_PD, pd.raw, name);
    session_made(s, home.name, "%s", name);
    return true;
}

/* The channel that @st names, which must be on @home; @ret stays as it is when it names none. */
static bool find_channel(struct session *s, const struct step *st, const struct home *home,
                         rdl_channel *ret)
{
    struct scope in = session_scope(s);
    struct home other;

    if (!step_has(st, "channel"))
        return true;
    in.host = home->name;
    if (!resolve_object(&in, st, "channel", OBJ_CHANNEL, &ret->raw, &s->diag))
        return false;
    if (resolve_home(s->lab, OBJ_CHANNEL, ret->raw, &other) && other.host.raw == home->host.raw)
        return true;
    session_fail(s, step_span(st, "channel", 0), "%s is on another host", step_text(st, "channel"));
    return diag_remedy(&s->diag, "a completion queue and its channel share a device");
}

/* Reads vector=, which must be one of the device at @home. */
static bool read_vector(struct session *s, const struct step *st, const struct home *home,
                        uint32_t *ret)
{
    struct rdl_device_attr device = {.comp_vectors = 1};

    if (!step_has(st, "vector"))
        return true;
    *ret = (uint32_t)step_number(st, "vector");
    if (rdl_device_attr(s->lab, home->host, &device) != RDL_OK || *ret < device.comp_vectors)
        return true; /* a host that cannot do it says so itself */
    session_fail(s, step_span(st, "vector", 0), "%s has no completion vector %u; it has %u, from 0",
                 home->name, *ret, device.comp_vectors);
    return diag_remedy(&s->diag, "a host with extensions=ceq has as many as ceqs= says");
}

bool run_create_cq(struct session *s, const struct step *st)
{
    struct rdl_cq_config config = {.cqe = (uint32_t)step_number(st, "cqe"),
                                   .vector = RDL_VECTOR_ANY};
    char path[RDL_VALUE_BYTES], name[RDL_VALUE_BYTES];
    enum rdl_status status;
    struct home home;
    bool asked = false;
    rdl_cq cq;

    if (!verb_home(s, st, &home) || !find_channel(s, st, &home, &config.channel) ||
        !read_vector(s, st, &home, &config.vector) || !verb_may_begin(s, st, &home))
        return false;
    status = rdl_create_cq_by(s->lab, home.host, &config, st->as.text, &cq);
    if (!verb_created(s, st, &home, status, &asked))
        return false;
    if (asked)
        return true;
    rdl_path_of(s->lab, OBJ_CQ, cq.raw, path);
    verb_own_name(s, OBJ_CQ, cq.raw, name);
    session_made(s, home.name, "%s (queue %llu)", name,
                 (unsigned long long)tree_number(s->lab, path, LEAF_cq_cqn));
    return true;
}

/* Fails because a queue pair cannot be created: says why. */
static bool explain_create_qp(struct session *s, const struct step *st, const struct scope *rest,
                              const struct home *home, enum rdl_status status, bool *ret_asked)
{
    static const char *const keys[] = {"send_cq", "recv_cq", "srq"};
    char path[SESSION_PATH_BYTES], name[RDL_NAME_BYTES];
    rdl_host other;

    if (status == RDL_ERR_UNSUPPORTED && step_has(st, "block_self_mcast")) {
        session_fail(s, step_span(st, "block_self_mcast", 0),
                     "no queue pair of this device can do without its own copies");
        return verb_absent(s, home, PV_NO_GROUPS, "leave block_self_mcast out");
    }
    if (status == RDL_ERR_UNSUPPORTED && step_number(st, "type") == QPT_GSI) {
        session_fail(s, step_span(st, "type", 0),
                     "only the kernel of a guest creates a queue pair of type GSI");
        return diag_remedy(&s->diag, "type=rc, type=uc and type=ud are for programs; \"control "
                                     "HOST CREATE_QP qp_type=GSI\" asks the device itself");
    }
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, step_span(st, "type", 0), "queue pairs of this type are not carried");
        return diag_remedy(&s->diag, "type=rc, type=uc and type=ud are");
    }
    if (status == RDL_ERR_INVAL && step_has(st, "block_self_mcast") &&
        step_number(st, "type") != QPT_UD) {
        session_fail(s, step_span(st, "block_self_mcast", 0),
                     "only ud queue pairs are in multicast groups");
        return diag_remedy(&s->diag, "leave block_self_mcast out");
    }
    for (size_t i = 0; status == RDL_ERR_INVAL && i < ARRAY_LEN(keys); i++) {
        if (!step_has(st, keys[i]))
            continue;
        resolve_path(rest, step_text(st, keys[i]), path);
        resolve_host_name(path, name);
        if (rdl_find_host(s->lab, name, &other) == RDL_OK && other.raw == home->host.raw)
            continue;
        session_fail(s, step_span(st, keys[i], 0), "%s is on another host", path);
        return diag_remedy(&s->diag, "a queue pair and its queues share a device");
    }
    return verb_created(s, st, home, status, ret_asked);
}

/* Returns parameter @name as a member of struct rdl_qp_config, where 0 means the standard value. */
static uint32_t qp_number(const struct step *st, const char *name)
{
    const uint32_t n = (uint32_t)step_number(st, name);

    return n ? n : RDL_QP_NONE;
}

bool run_create_qp(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "pd"), host);
    struct rdl_qp_config config = {
        .type = (uint32_t)step_number(st, "type"),
        .max_send_wr = qp_number(st, "max_send_wr"),
        .max_recv_wr = qp_number(st, "max_recv_wr"),
        .max_send_sge = qp_number(st, "max_send_sge"),
        .max_recv_sge = qp_number(st, "max_recv_sge"),
        .max_inline_data = (uint32_t)step_number(st, "max_inline_data"),
        .sq_sig_all = step_has(st, "sq_sig_all"),
        .block_self_mcast_lb = step_has(st, "block_self_mcast"),
    };
    char name[RDL_VALUE_BYTES];
    struct rdl_qp_info info;
    struct home home;
    bool asked = false;
    rdl_qp qp;

    if (!verb_object(s, st, "pd", OBJ_PD, &config.pd.raw, &home) ||
        !resolve_object(&rest, st, "send_cq", OBJ_CQ, &config.send_cq.raw, &s->diag) ||
        !resolve_object(&rest, st, "recv_cq", OBJ_CQ, &config.recv_cq.raw, &s->diag) ||
        (step_has(st, "srq") &&
         !resolve_object(&rest, st, "srq", OBJ_SRQ, &config.srq.raw, &s->diag)))
        return false;
    if (!verb_may_begin(s, st, &home) ||
        !explain_create_qp(s, st, &rest, &home, rdl_create_qp(s->lab, &config, st->as.text, &qp),
                           &asked))
        return false;
    if (asked)
        return true;
    verb_own_name(s, OBJ_QP, qp.raw, name);
    if (rdl_qp_info(s->lab, qp, &info) == RDL_OK)
        session_made(s, home.name, "%s (QPN %u, queues %u and %u, %s)", name, info.qpn,
                     info.sq_queue, info.rq_queue, enum_name(&enum_qp_state, info.attr.state));
    return true;
}

bool run_dealloc_pd(struct session *s, const struct step *st)
{
    struct home home;
    rdl_pd pd = {0};

    return verb_object(s, st, "pd", OBJ_PD, &pd.raw, &home) &&
           verb_destroyed(s, st, "pd", OBJ_PD, pd.raw, rdl_dealloc_pd(s->lab, pd));
}

bool run_destroy_cq(struct session *s, const struct step *st)
{
    struct home home;
    rdl_cq cq = {0};

    return verb_object(s, st, "cq", OBJ_CQ, &cq.raw, &home) &&
           verb_destroyed(s, st, "cq", OBJ_CQ, cq.raw, rdl_destroy_cq(s->lab, cq));
}

bool run_resize_cq(struct session *s, const struct step *st)
{
    const uint32_t cqe = (uint32_t)step_number(st, "cqe");
    struct rdl_cq_info info = {0};
    enum rdl_status status;
    struct home home;
    rdl_cq cq;

    if (!verb_object(s, st, "cq", OBJ_CQ, &cq.raw, &home))
        return false;
    status = rdl_resize_cq(s->lab, cq, cqe);
    if (status == RDL_ERR_INVAL && rdl_cq_info(s->lab, cq, &info) == RDL_OK) {
        session_fail(s, step_span(st, "cqe", 0), "%s holds %llu completions, and cqe=%u is less",
                     step_text(st, "cq"), (unsigned long long)(info.completions - info.polled),
                     cqe);
        return diag_remedy(&s->diag, "poll_cq takes them out");
    }
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, st->at, "the device of %s does not offer RESIZE", home.name);
        return verb_absent(s, &home, PV_NO_RESIZE,
                           "RESIZE needs RING_RESET: see features_off= of the host");
    }
    return verb_finish(s, st, &home, status);
}

bool run_resize_qp(struct session *s, const struct step *st)
{
    enum rdl_status status;
    struct home home;
    rdl_qp qp;

    if (!verb_object(s, st, "qp", OBJ_QP, &qp.raw, &home))
        return false;
    status =
        rdl_resize_qp(s->lab, qp, step_has(st, "max_send_wr") ? qp_number(st, "max_send_wr") : 0,
                      step_has(st, "max_recv_wr") ? qp_number(st, "max_recv_wr") : 0);
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, st->at, "the device of %s does not offer RESIZE", home.name);
        return verb_absent(s, &home, PV_NO_RESIZE,
                           "RESIZE needs RING_RESET: see features_off= of the host");
    }
    return verb_finish(s, st, &home, status);
}

bool run_req_notify_cq(struct session *s, const struct step *st)
{
    char path[RDL_VALUE_BYTES];
    struct rdl_value channel;
    struct home home;
    rdl_cq cq = {0};

    if (!verb_object(s, st, "cq", OBJ_CQ, &cq.raw, &home) ||
        !verb_finish(s, st, &home, rdl_req_notify_cq(s->lab, cq, step_has(st, "solicited"))))
        return false;
    rdl_path_of(s->lab, OBJ_CQ, cq.raw, path);
    if (tree_leaf(s->lab, path, LEAF_cq_channel, &channel) && !channel.text[0])
        session_say(s,
                    "%s has no completion channel: it will interrupt, but no program can wait for "
                    "its event (create_cq channel=)\n",
                    path);
    return true;
}

bool run_destroy_qp(struct session *s, const struct step *st)
{
    struct home home;
    rdl_qp qp = {0};

    return verb_object(s, st, "qp", OBJ_QP, &qp.raw, &home) &&
           verb_destroyed(s, st, "qp", OBJ_QP, qp.raw, rdl_destroy_qp(s->lab, qp));
}

bool run_query_qp(struct session *s, const struct step *st)
{
    char name[RDL_VALUE_BYTES];
    struct rdl_qp_info info;
    struct home home;
    rdl_qp qp;

    if (!verb_object(s, st, "qp", OBJ_QP, &qp.raw, &home) ||
        !verb_finish(s, st, &home, rdl_query_qp(s->lab, qp)))
        return false;
    if (rdl_qp_info(s->lab, qp, &info) != RDL_OK)
        return true;
    verb_own_name(s, OBJ_QP, qp.raw, name);
    session_made(s, home.name, "%s state=%s dest_qpn=%u sq_psn=%u rq_psn=%u mtu=%u", name,
                 enum_name(&enum_qp_state, info.attr.state), info.attr.dest_qpn, info.attr.sq_psn,
                 info.attr.rq_psn, mtu_bytes(info.attr.path_mtu));
    return true;
}

bool run_query_port(struct session *s, const struct step *st)
{
    char port[TREE_PATH_BYTES];
    struct rdl_value state;
    struct home home;

    if (!verb_home(s, st, &home) || !verb_finish(s, st, &home, rdl_query_port(s->lab, home.host)))
        return false;
    if (tree_child(s->lab, home.name, CHILD_host_port, port) &&
        tree_leaf(s->lab, port, LEAF_port_state, &state))
        session_made(s, home.name, "port %s", state.text);
    return true;
}

bool run_query_pkey(struct session *s, const struct step *st)
{
    const uint32_t index = (uint32_t)step_number(st, "index");
    enum rdl_status status;
    struct home home;
    uint16_t pkey;

    if (!verb_home(s, st, &home))
        return false;
    status = rdl_query_pkey(s->lab, home.host, index);
    if (status == RDL_ERR_INVAL) {
        session_fail(s, step_span(st, "index", 0), "the P_Key table of %s has no entry %u",
                     home.name, index);
        return diag_remedy(&s->diag, "host ... pkeys= says what is in it");
    }
    if (!verb_finish(s, st, &home, status))
        return false;
    if (rdl_pkey(s->lab, home.host, &pkey) == RDL_OK)
        session_made(s, home.name, "pkey[%u] 0x%04x", index, pkey);
    return true;
}

static bool set_gid(struct session *s, const struct step *st, bool valid)
{
    const uint32_t index = (uint32_t)step_number(st, "index");
    struct home home;

    return verb_home(s, st, &home) &&
           verb_finish(s, st, &home, rdl_set_gid(s->lab, home.host, index, valid));
}

bool run_add_gid(struct session *s, const struct step *st)
{
    return set_gid(s, st, true);
}

bool run_del_gid(struct session *s, const struct step *st)
{
    return set_gid(s, st, false);
}

bool run_create_ah(struct session *s, const struct step *st)
{
    static const struct {
        const char *name;
        uint64_t least, most;
    } ranges[] = {{"sl", 0, 7}, {"flow_label", 0, (1u << 20) - 1}, {"port", 1, 1}};
    struct rdl_ah_attr attr = {
        .sgid_index = (uint8_t)step_number(st, "sgid_index"),
        .hop_limit = (uint8_t)step_number(st, "hop_limit"),
        .traffic_class = (uint8_t)step_number(st, "traffic_class"),
        .sl = (uint8_t)step_number(st, "sl"),
        .flow_label = (uint32_t)step_number(st, "flow_label"),
        .static_rate = (uint8_t)step_number(st, "static_rate"),
        .port = (uint8_t)step_number(st, "port"),
    };
    char name[RDL_VALUE_BYTES], dgid[ADDR_TEXT_MAX], mac[MAC_TEXT_MAX];
    struct text m = text_on(mac, sizeof(mac));
    enum rdl_status status;
    struct home home;
    rdl_pd pd;
    rdl_ah ah;

    if (!verb_object(s, st, "pd", OBJ_PD, &pd.raw, &home) ||
        !verb_address(s, st, "dgid", home.host, 0, &attr))
        return false;
    status = rdl_create_ah(s->lab, pd, &attr, st->as.text, &ah);
    if (status == RDL_ERR_INVAL) {
        for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
            const uint64_t v = step_number(st, ranges[i].name);

            if (v < ranges[i].least || v > ranges[i].most)
                return limit_fail_range(s, st, ranges[i].name, ranges[i].least, ranges[i].most);
        }
        session_fail(s, st->at, "no address handle can be like that");
        return diag_remedy(&s->diag, "dgid= and the GID of sgid_index= are both IPv4 or both IPv6");
    }
    if (!verb_finish(s, st, &home, status) || rdl_ah_info(s->lab, ah, &attr) != RDL_OK)
        return false;
    verb_own_name(s, OBJ_AH, ah.raw, name);
    mac_add(&m, attr.dmac);
    session_made(s, home.name, "%s (%s at %s)", name, addr_text(attr.dgid, dgid), mac);
    return true;
}

/* The device knows nothing of it: it is gone at once. */
bool run_destroy_ah(struct session *s, const struct step *st)
{
    enum rdl_status status;
    struct home home;
    rdl_ah ah;

    if (!verb_object(s, st, "ah", OBJ_AH, &ah.raw, &home))
        return false;
    status = rdl_destroy_ah(s->lab, ah);
    return status == RDL_OK || verb_destroyed(s, st, "ah", OBJ_AH, ah.raw, status);
}

/* attach_mcast, detach_mcast: @call is what they do. */
static bool change_group(struct session *s, const struct step *st,
                         enum rdl_status (*call)(struct rdl_lab *lab, rdl_qp qp,
                                                 const uint8_t gid[16]))
{
    const char *group = step_text(st, "gid");
    uint8_t gid[GID_BYTES] = {0};
    struct rdl_qp_info info;
    enum rdl_status status;
    struct home home;
    rdl_qp qp = {0};

    (void)addr_parse(group, gid); /* the parser has checked it */
    if (!verb_object(s, st, "qp", OBJ_QP, &qp.raw, &home))
        return false;
    if (rdl_qp_info(s->lab, qp, &info) == RDL_OK && info.type != QPT_UD) {
        session_fail(s, step_span(st, "qp", 0), "only ud queue pairs are in multicast groups");
        return diag_remedy(&s->diag, "create_qp type=ud makes one");
    }
    status = call(s->lab, qp, gid);
    if (status == RDL_ERR_INVAL && !gid_is_group(gid)) {
        session_fail(s, step_span(st, "gid", 0), "%s is no multicast address", group);
        return diag_remedy(&s->diag, "those are 224.0.0.0 to 239.255.255.255, and ff00:: and on");
    }
    if (status == RDL_ERR_INVAL) {
        session_fail(s, step_span(st, "gid", 0), "it is not in the group %s", group);
        return diag_remedy(&s->diag, "\"show %s.ip.groups\" lists the groups of the host",
                           home.name);
    }
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, st->at, "the device of %s has no multicast", home.name);
        return verb_absent(s, &home, PV_NO_GROUPS, "it was made without: features_off=mcast");
    }
    return verb_finish(s, st, &home, status);
}

bool run_attach_mcast(struct session *s, const struct step *st)
{
    return change_group(s, st, rdl_attach_mcast);
}

bool run_detach_mcast(struct session *s, const struct step *st)
{
    return change_group(s, st, rdl_detach_mcast);
}
