/* SPDX-License-Identifier: MIT */
/* Moving queue pairs through their states: modify_qp, connect. */
#include <stddef.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/limit.h"
#include "cli/cmd/qp_moves.h"
#include "cli/cmd/verb.h"
#include "cli/lang/line.h"
#include "cli/session/advance.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/qp_fsm.h"
#include "emu/wire/addr.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

#define LINE_BYTES 256u

/* Keys that set one number of the attributes. */
static const struct {
    const char *key;
    unsigned bit; /* enum qp_attr_bit */
    size_t offset;
} numbers[] = {
#define ROW(key, bit, member)                                                                      \
    {                                                                                              \
        key, QPA_##bit, offsetof(struct rdl_qp_attr, member)                                       \
    }
    ROW("state", STATE, state),
    ROW("cur_state", CUR_STATE, cur_state),
    ROW("pkey_index", PKEY_INDEX, pkey_index),
    ROW("port", PORT, port),
    ROW("mtu", PATH_MTU, path_mtu),
    ROW("rq_psn", RQ_PSN, rq_psn),
    ROW("sq_psn", SQ_PSN, sq_psn),
    ROW("max_rd_atomic", MAX_QP_RD_ATOMIC, max_rd_atomic),
    ROW("max_dest_rd_atomic", MAX_DEST_RD_ATOMIC, max_dest_rd_atomic),
    ROW("min_rnr_timer", MIN_RNR_TIMER, min_rnr_timer),
    ROW("timeout", TIMEOUT, timeout),
    ROW("retry_cnt", RETRY_CNT, retry_cnt),
    ROW("rnr_retry", RNR_RETRY, rnr_retry),
    ROW("qkey", QKEY, qkey),
#undef ROW
};

static bool read_ah(struct session *s, const struct step *st, rdl_host from,
                    struct rdl_qp_attr *attr)
{
    attr->ah.sgid_index = (uint8_t)step_number(st, "gid_index");
    attr->ah.hop_limit = 64;
    return verb_address(s, st, "ah", from, attr->dest_qpn, &attr->ah);
}

static bool read_attributes(struct session *s, const struct scope *rest, const struct step *st,
                            rdl_host own, struct rdl_qp_attr *attr, uint32_t *mask)
{
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        uint32_t v;

        if (!step_has(st, numbers[i].key))
            continue;
        v = (uint32_t)step_number_or(st, numbers[i].key, 0);
        memcpy((char *)attr + numbers[i].offset, &v, sizeof(v));
        *mask |= numbers[i].bit;
    }
    if (step_has(st, "access")) {
        attr->access = step_set(st, "access");
        *mask |= QPA_ACCESS_FLAGS;
    }
    if (step_has(st, "en_sqd_async_notify")) {
        attr->en_sqd_async_notify = 1;
        *mask |= QPA_EN_SQD_ASYNC_NOTIFY;
    }
    if (step_has(st, "credits")) {
        attr->credits = 1;
        *mask |= QPA_CREDITS;
    }
    if (step_has(st, "dest_qpn")) {
        *mask |= QPA_DEST_QPN;
        if (!resolve_qpn(rest, st, "dest_qpn", &attr->dest_qpn, &s->diag))
            return false;
    }
    if (!step_has(st, "ah"))
        return true;
    *mask |= QPA_AV;
    return read_ah(s, st, own, attr);
}

/* Appends the names of the attributes in @set. */
static void add_attributes(struct text *t, const char *lead, uint32_t set)
{
    bool first = true;

    for (size_t i = 0; i < enum_qp_attr.n_rows; i++) {
        if (!(set & enum_qp_attr.rows[i].value))
            continue;
        text_addf(t, "%s%s", first ? lead : ", ", enum_qp_attr.rows[i].text);
        first = false;
    }
}

/* Returns the place of the first attribute of @set in the line. */
static struct span span_of(const struct step *st, uint32_t set)
{
    for (size_t i = 0; i < enum_qp_attr.n_rows; i++) {
        const struct param *p = cmd_param(st->cmd, enum_qp_attr.rows[i].text);

        if ((set & enum_qp_attr.rows[i].value) && p)
            return step_span(st, p->name, 0);
    }
    return step_span(st, "state", 0);
}

/* The path MTU of @qp is more than its port carries: @message, and how much that is, and why. */
static bool fail_mtu(struct session *s, const struct step *st, rdl_qp qp, const char *message)
{
    char port[TREE_PATH_BYTES];
    struct home home;

    if (!resolve_home(s->lab, OBJ_QP, qp.raw, &home) ||
        !tree_child(s->lab, home.name, CHILD_host_port, port))
        return session_fail(s, step_span(st, "mtu", 0), "%s", message);
    session_fail(s, step_span(st, "mtu", 0), "%s; the port of %s carries at most %u", message,
                 home.name, (unsigned)tree_number(s->lab, port, LEAF_port_mtu));
    return diag_remedy(&s->diag,
                       "its device knows path MTUs up to %u, and the MTU of its Ethernet "
                       "is %u",
                       (unsigned)tree_number(s->lab, port, LEAF_port_max_mtu),
                       (unsigned)tree_number(s->lab, port, LEAF_port_phys_mtu));
}

/* Fails because no move leads from one state of @e to the other. */
static bool fail_move(struct session *s, const struct step *st, uint32_t type,
                      const struct rdl_modify_error *e)
{
    char sources[DIAG_REMEDY_BYTES];
    struct text t = text_on(sources, sizeof(sources));

    qp_moves_add_sources(&t, type, (enum qp_state)e->to);
    session_fail(s, step_span(st, "state", 0), "a queue pair cannot go from %s to %s",
                 enum_name(&enum_qp_state, e->from), enum_name(&enum_qp_state, e->to));
    return diag_remedy(&s->diag,
                       "%s; RESET -> INIT -> RTR -> RTS, and RESET or ERR from anywhere; \"explain "
                       "qp-states\"",
                       sources);
}

/* Appends the attributes out of range, with their ranges, behind @lead. */
static void add_ranges(struct text *t, const char *lead, const struct rdl_modify_error *e)
{
    uint32_t others = e->bad;

    for (uint32_t i = 0; i < e->n_ranges; i++) {
        text_add(t, i ? ", " : lead);
        qp_moves_add_range(t, &e->range[i]);
        others &= ~e->range[i].attr;
    }
    add_attributes(t, e->n_ranges ? ", " : lead, others);
}

/* Gives the remedy: at which moves attributes are taken, which limit of the device was exceeded. */
static void remedy_of_modify(struct session *s, rdl_qp qp, uint32_t type,
                             const struct rdl_modify_error *e)
{
    char remedy[DIAG_REMEDY_BYTES], path[RDL_VALUE_BYTES];
    struct text t = text_on(remedy, sizeof(remedy));
    struct home home;

    rdl_path_of(s->lab, OBJ_QP, qp.raw, path);
    qp_moves_add_takes(&t, type, (enum qp_state)e->from, e->extra, path);
    for (uint32_t i = 0; i < e->n_ranges && resolve_home(s->lab, OBJ_QP, qp.raw, &home); i++)
        limit_add_attribute(&t, s, home.name, e->range[i].attr);
    diag_remedy(&s->diag, "%s%sthe state stays %s; \"help modify_qp\" tells what each key means",
                remedy, t.len ? "; " : "", enum_name(&enum_qp_state, e->from));
}

static bool tell_modify(struct session *s, const struct step *st, rdl_qp qp, enum rdl_status status,
                        const struct rdl_modify_error *e)
{
    char message[DIAG_MESSAGE_BYTES];
    struct text t = text_on(message, sizeof(message));
    struct rdl_qp_info info;

    if (rdl_qp_info(s->lab, qp, &info) != RDL_OK)
        return session_fail_status(s, st->at, "modify_qp", RDL_ERR_STALE);
    if (status == RDL_ERR_STATE)
        return fail_move(s, st, info.type, e);
    if (status != RDL_ERR_INVAL || !(e->missing | e->extra | e->bad))
        return session_fail_status(s, st->at, "modify_qp", status);
    text_addf(&t, "%s -> %s", enum_name(&enum_qp_state, e->from), enum_name(&enum_qp_state, e->to));
    add_attributes(&t, " also needs: ", e->missing);
    add_attributes(&t, e->missing ? "; and takes no: " : " takes no: ", e->extra);
    if (e->bad == QPA_PATH_MTU && !(e->missing | e->extra)) {
        text_add(&t, ": out of range: mtu");
        return fail_mtu(s, st, qp, message);
    }
    add_ranges(&t, e->missing | e->extra ? "; out of range: " : ": out of range: ", e);
    session_fail(s, span_of(st, e->bad ? e->bad : e->extra), "%s", message);
    remedy_of_modify(s, qp, info.type, e);
    return false;
}

/* Fails because modify_qp returned @status. */
static bool explain_modify(struct session *s, const struct step *st, rdl_qp qp,
                           enum rdl_status status, const struct rdl_modify_error *e)
{
    tell_modify(s, st, qp, status, e);
    return diag_reason(&s->diag, (uint32_t)status);
}

/* Explains why the device refused the request, by the state of its queue pair @path: the response
 * has one code for all reasons.
 */
static void explain_refused_modify(struct session *s, const char *path)
{
    char state[RDL_NAME_BYTES];
    struct text t = text_on(state, sizeof(state));

    tree_add(&t, s->lab, path, LEAF_qp_state);
    if (tree_number(s->lab, path, LEAF_qp_sq_draining) != 0)
        diag_remedy(&s->diag, "%s still drains its send queue; \"until %s.sq_draining == 0\" waits",
                    path, path);
    else if (strcmp(state, enum_name(&enum_qp_state, QPS_ERR)) == 0)
        diag_remedy(&s->diag,
                    "%s went to ERR, which only a move to RESET ends; a program learns it from "
                    "completions that it polls",
                    path);
}

/* Waits for the response of the device, which may refuse the request. */
static bool finish_modify(struct session *s, const struct step *st, rdl_qp qp)
{
    char path[RDL_VALUE_BYTES];
    struct home home;
    struct rdl_response rsp;

    if (!resolve_home(s->lab, OBJ_QP, qp.raw, &home))
        return false;
    if (advance_wait(s, home.host, st->at).end == ADVANCE_DONE)
        return true;
    rdl_path_of(s->lab, OBJ_QP, qp.raw, path);
    if (rdl_answer(s->lab, home.host, &rsp) == RDL_ERR_DEVICE)
        explain_refused_modify(s, path);
    return false;
}

bool run_modify_qp(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "qp"), host);
    struct rdl_qp_attr attr = {0};
    struct rdl_modify_error e = {0};
    uint32_t mask = 0;
    enum rdl_status status;
    struct home home;
    rdl_qp qp;

    if (!verb_object(s, st, "qp", OBJ_QP, &qp.raw, &home) ||
        !read_attributes(s, &rest, st, home.host, &attr, &mask))
        return false;
    status = rdl_modify_qp(s->lab, qp, &attr, mask, step_has(st, "unchecked"), &e);
    if (status != RDL_OK)
        return explain_modify(s, st, qp, status, &e);
    return finish_modify(s, st, qp);
}

/* Prints the line @line, which is a modify_qp, unless @st is quiet, and carries it out.  A failure
 * is reported at @st, which is a `connect`.
 */
static bool run_modify_line(struct session *s, const struct step *st, const char *line)
{
    struct script script = {.src = source_of(NULL, line)};
    struct line_reader r = {.script = &script};
    struct step *made = NULL;
    bool ok;

    if (!step_has(st, "quiet"))
        session_say(s, "  %s\n", line);
    ok = line_next(&r, &made, &s->diag) == LINE_STEP;
    ok = ok && run_modify_qp(s, made);
    script_done(&script);
    if (!ok) {
        s->diag.at = st->at;
        diag_note(&s->diag, "  in: %s", line);
    }
    return ok;
}

struct end {
    char path[SESSION_PATH_BYTES];
    char host[RDL_NAME_BYTES];
    struct rdl_qp_info info;
    uint64_t sq_psn;
};

static bool find_end(struct session *s, const struct scope *in, const struct step *st,
                     const char *param, const char *psn, struct end *e)
{
    rdl_qp qp;

    resolve_path(in, step_text(st, param), e->path);
    if (!resolve_object(in, st, param, OBJ_QP, &qp.raw, &s->diag))
        return false;
    if (rdl_qp_info(s->lab, qp, &e->info) != RDL_OK)
        return session_fail(s, step_span(st, param, 0), "%s is not there any more", e->path);
    if (qp_type_is_datagram(e->info.type)) {
        session_fail(s, step_span(st, param, 0),
                     "%s is %s, which has no connection: each datagram says where it goes", e->path,
                     enum_name(&enum_qp_type, e->info.type));
        return diag_remedy(&s->diag,
                           "modify_qp to INIT with pkey_index= port= qkey=, to RTR, to RTS with "
                           "sq_psn=; then create_ah, and post_send with ah=, remote_qpn= and "
                           "remote_qkey=; scenarios/185-ud-grh-ipv4.json does so");
    }
    if (e->info.attr.state != QPS_RESET) {
        /* The device may have gone on since the driver has asked. */
        const char *known = enum_name(&enum_qp_state, e->info.attr.state);
        struct rdl_value state;

        session_fail(s, step_span(st, param, 0), "%s is in %s; connect needs both ends in RESET",
                     e->path,
                     tree_leaf(s->lab, e->path, LEAF_qp_state, &state) ? state.text : known);
        return diag_remedy(&s->diag, "modify_qp %s state=RESET", e->path);
    }
    resolve_host_name(e->path, e->host);
    e->sq_psn = step_number_or(st, psn, 0);
    return true;
}

#define ACCESS_REMOTE (uint32_t)(ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC)

/* "rr,rw": the short forms of a set. */
static void add_set(struct text *t, const struct enum_table *of, uint32_t set)
{
    const char *comma = "";

    for (size_t i = 0; i < of->n_rows; i++) {
        if (!(set & of->rows[i].value))
            continue;
        text_addf(t, "%s%s", comma, of->rows[i].text);
        comma = ",";
    }
}

/* Appends the attributes that a transition needs, by their bits. */
static void add_needed(struct text *t, const struct step *st, const struct end *own,
                       const struct end *peer, unsigned need)
{
    const unsigned gid = (unsigned)step_number(st, "gid_index");
    const struct {
        unsigned bit;
        const char *key;
        unsigned value;
    } rows[] = {
        {QPA_PKEY_INDEX, "pkey_index", (unsigned)step_number(st, "pkey_index")},
        {QPA_PORT, "port", 1},
        {QPA_PATH_MTU, "mtu", mtu_bytes((uint32_t)step_number(st, "mtu"))},
        {QPA_DEST_QPN, "dest_qpn", peer->info.qpn},
        {QPA_RQ_PSN, "rq_psn", (unsigned)peer->sq_psn},
        {QPA_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", (unsigned)step_number(st, "rd_atomic")},
        {QPA_MIN_RNR_TIMER, "min_rnr_timer", (unsigned)step_number(st, "min_rnr_timer")},
        {QPA_SQ_PSN, "sq_psn", (unsigned)own->sq_psn},
        {QPA_TIMEOUT, "timeout", (unsigned)step_number(st, "timeout")},
        {QPA_RETRY_CNT, "retry_cnt", (unsigned)step_number(st, "retry_cnt")},
        {QPA_RNR_RETRY, "rnr_retry", (unsigned)step_number(st, "rnr_retry")},
        {QPA_MAX_QP_RD_ATOMIC, "max_rd_atomic", (unsigned)step_number(st, "rd_atomic")},
    };

    if (need & QPA_AV)
        text_addf(t, " ah=%s", peer->host);
    if ((need & QPA_AV) && gid)
        text_addf(t, " gid_index=%u", gid);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (need & rows[i].bit)
            text_addf(t, " %s=%u", rows[i].key, rows[i].value);
    }
    if ((need & QPA_RQ_PSN) && step_has(st, "credits"))
        text_add(t, " credits");
    if (need & QPA_ACCESS_FLAGS) {
        text_add(t, " access=");
        add_set(t, &enum_access, step_has(st, "access") ? step_set(st, "access") : ACCESS_REMOTE);
    }
}

/* Carries out the three transitions of one end. */
static bool bring_up(struct session *s, const struct step *st, const struct end *own,
                     const struct end *peer)
{
    const enum qp_type type = (enum qp_type)own->info.type;

    for (int to = QPS_INIT; to <= QPS_RTS; to++) {
        char line[LINE_BYTES];
        struct text t = text_on(line, sizeof(line));

        text_addf(&t, "modify_qp %s state=%s", own->path, enum_name(&enum_qp_state, (uint32_t)to));
        add_needed(&t, st, own, peer, qp_fsm_needs(type, (enum qp_state)to));
        RDL_ASSERT(!t.cut);
        if (!run_modify_line(s, st, line))
            return false;
    }
    return true;
}

bool run_connect(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "a"), host);
    struct end a, b;

    if (!find_end(s, &in, st, "a", "sq_psn", &a) || !find_end(s, &rest, st, "b", "peer_psn", &b))
        return false;
    if (strcmp(a.path, b.path) == 0) { /* its own peer */
        if (!bring_up(s, st, &a, &a))
            return false;
    } else if (!bring_up(s, st, &a, &b) || !bring_up(s, st, &b, &a)) {
        return false;
    }
    if (step_has(st, "quiet"))
        session_say(s, "%s and %s are connected\n", a.path, b.path);
    return true;
}
