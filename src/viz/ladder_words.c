/* SPDX-License-Identifier: MIT */
#include "viz/ladder_words.h"

#include <string.h>

#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/cm_call.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/timer.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/opcode.h"
#include "emu/facts/wr.h"
#include "emu/past/fate.h"
#include "emu/past/past.h"
#include "emu/past/past_lnet.h"
#include "emu/trace/event.h"

void ladder_add_time(struct text *t, uint64_t at_ns)
{
    text_addf(t, "%llu.%03u", (unsigned long long)(at_ns / 1000), (unsigned)(at_ns % 1000));
}

void ladder_add_gap(struct text *t, const struct ladder_stop *s)
{
    if (s->rounds)
        text_addf(t, "... %llu more such round%s, ", (unsigned long long)s->rounds,
                  plural_s(s->rounds));
    quantity_add_time_short(t, s->gap_ns);
    text_add(t, s->unsure ? " later, not all recorded" : s->idle ? " idle" : " later");
}

size_t ladder_line(const char *s, size_t most)
{
    size_t n = strlen(s);

    while (n > most) {
        size_t shorter = n - 1;

        while (shorter > 0 && s[shorter] != ' ')
            shorter--;
        n = shorter ? shorter : most;
    }
    return n;
}

bool ladder_add_rest(struct text *t, const struct ladder *l)
{
    if (l->n_stops == 0) {
        text_add(t, "nothing that a ladder draws happened here");
        return true;
    }
    if (!l->left.hosts && !l->left.from)
        return false;
    text_add(t, "... ");
    picture_add_left(t, &l->left);
    return true;
}

void picture_add_left(struct text *t, const struct picture_left *left)
{
    if (left->hosts)
        text_addf(t, "only the first %u hosts are drawn%s", LADDER_COLUMNS_MAX,
                  left->from ? "; " : "");
    if (!left->from)
        return;
    if (left->n_packets)
        text_addf(t, "%llu more packet%s", (unsigned long long)left->n_packets,
                  plural_s(left->n_packets));
    else
        text_add(t, "more events");
    text_add(t, ", from ");
    ev_add_id(t, left->from);
    text_addf(t, " on, %s left out", left->n_packets == 1 ? "is" : "are");
}

/* Adds an object's name without its host: "qp". */
static void add_object(struct text *t, uint32_t host, enum object_kind kind, uint32_t number,
                       const struct ev_names *names)
{
    char buf[2 * EV_NAME_BYTES + 16];
    struct text full = text_on(buf, sizeof(buf));
    const char *dot;

    ev_names_object(names, &full, host, kind, number);
    dot = strchr(buf, '.');
    text_add(t, dot ? dot + 1 : buf);
}

/* Adds the name of a queue pair in front of a note: "qp: ". */
static void add_qp(struct text *t, uint32_t host, uint32_t qpn, const struct ev_names *names)
{
    add_object(t, host, OBJ_QP, qpn, names);
    text_add(t, ": ");
}

static void add_by_rule(struct text *t, uint32_t rule)
{
    if (rule)
        text_addf(t, ", by %s", enum_name(&enum_rule, rule));
}

static void add_wr_ids(struct text *t, uint64_t first, const struct ladder_saying *s)
{
    text_addf(t, " wr_id=%llu", (unsigned long long)first);
    if (s->last_wr_id != first)
        text_addf(t, "..%llu", (unsigned long long)s->last_wr_id);
    else if (s->n > 1)
        text_addf(t, " (%u times)", s->n);
}

/* Returns true for operations that send nothing: LOCAL_INV, REG_MR, BIND_MW. */
static bool is_local(uint32_t opcode)
{
    const struct wr_info *row = wr_info(opcode);

    return row && row->local;
}

static void say_post(struct text *t, const struct ladder_saying *s)
{
    const struct ev *e = s->first;
    const bool send = e->kind == EV_post_send;
    const struct ev_field *wr_id = ev_field_find(e->kind, "wr_id");
    const struct ev_field *bytes = ev_field_find(e->kind, "bytes");

    text_addf(t, "post %s", send ? enum_name(&enum_wr_opcode, e->u.post_send.op) : "RECV");
    add_wr_ids(t, ev_field_number(e, wr_id), s);
    if (e->kind == EV_post_srq_recv) {
        text_add(t, " to ");
        add_object(t, e->u.post_srq_recv.host, OBJ_SRQ, e->u.post_srq_recv.number, s->names);
    }
    if (!send || !is_local(e->u.post_send.op)) {
        text_addf(t, ", %u bytes", (unsigned)ev_field_number(e, bytes));
        if (s->n > 1)
            text_add(t, " each");
    }
    if (send && (e->u.post_send.flags & SF_FENCE))
        text_add(t, ", fence");
    if (s->kicked)
        text_add(t, ", kick");
}

static void say_completion(struct text *t, const struct ladder_saying *s)
{
    const struct ev_cqe *c = &s->first->u.cqe;

    text_add(t, "CQE");
    add_wr_ids(t, c->wr_id, s);
    text_addf(t, " %s", enum_name(&enum_wc_status, c->status));
    if (c->status == WCS_SUCCESS)
        text_addf(t, " %s", enum_name(&enum_wc_opcode, c->op));
    if (c->status == WCS_SUCCESS && c->op >= WC_RECV)
        text_addf(t, " %u bytes", c->bytes);
    add_by_rule(t, c->rule);
}

static void say_timeout(struct text *t, const struct ladder_saying *s)
{
    const struct ev_timeout *e = &s->first->u.timeout;

    text_add(t, e->timer == TMR_ACK ? "ACK timeout" : "RNR timer");
    if (s->armed_ns != UINT64_MAX) {
        text_add(t, " ");
        quantity_add_time_short(t, s->first->at_ns - s->armed_ns);
    }
    if (s->armed) {
        text_add(t, ", armed in ");
        ev_add_id(t, s->armed);
    }
    if (e->limit && e->retry > e->limit)
        text_addf(t, ", after %u retries", e->limit);
    else if (e->retry)
        text_addf(t, e->limit ? ", retry %u of %u" : ", retry %u", e->retry, e->limit);
}

static enum ladder_tone say_arrival(struct text *t, const struct ev_rx *e)
{
    const struct enum_row *act = enum_by_value(&enum_pkt_act, e->act);
    const bool goes_without_saying = e->act == ACT_ACCEPT || e->act == ACT_ACKS ||
                                     e->act == ACT_GO_BACK || e->act == ACT_WAIT_RNR ||
                                     e->act == ACT_FAIL || e->act == ACT_CREDITS;
    const bool again = e->act == ACT_DUPLICATE || e->act == ACT_REPLAY;

    if (!act || goes_without_saying) /* the picture shows the consequence */
        return TONE_PLAIN;
    text_add(t, act->text);
    if (!again && e->act != ACT_NAK_SEQUENCE && e->act != ACT_RNR)
        add_by_rule(t, e->rule);
    return again ? TONE_PLAIN : TONE_BAD;
}

static void say_atomic(struct text *t, const struct ev_atomic *e)
{
    text_addf(t, "found %llu, left %llu", (unsigned long long)e->found,
              (unsigned long long)e->left);
}

static enum ladder_tone say_state(struct text *t, const struct ev_qp_state *e)
{
    text_addf(t, "%s -> %s", enum_name(&enum_qp_state, e->from), enum_name(&enum_qp_state, e->to));
    return e->to == QPS_ERR ? TONE_BAD : TONE_STATE;
}

static void say_async(struct text *t, const struct ev_async_event *e, const struct ev_names *names)
{
    text_addf(t, "event %s of ", enum_name(&enum_async_event, e->event));
    add_object(t, e->host, (enum object_kind)e->object, e->number, names);
}

/* Adds how a work request changed a key, or the rule that refused it. */
static enum ladder_tone say_new_key(struct text *t, const struct ev *e)
{
    uint32_t rule;

    switch (e->kind) {
    case EV_bind:
        rule = e->u.bind.rule;
        text_addf(t, "window 0x%llx",
                  (unsigned long long)(rule ? e->u.bind.key : e->u.bind.new_key));
        if (rule)
            text_add(t, " not bound");
        else if (e->u.bind.bytes == 0)
            text_add(t, " shows nothing");
        else
            text_addf(t, " shows %llu bytes", (unsigned long long)e->u.bind.bytes);
        break;
    case EV_reg_mr:
        rule = e->u.reg_mr.rule;
        text_addf(t, "region 0x%llx %sregistered", (unsigned long long)e->u.reg_mr.key,
                  rule ? "not " : "");
        break;
    case EV_invalidate:
        rule = e->u.invalidate.rule;
        text_addf(t, "key 0x%llx %s", (unsigned long long)e->u.invalidate.key,
                  rule ? "stays valid" : "is invalid now");
        break;
    default:
        return TONE_PLAIN; /* not about a key */
    }
    add_by_rule(t, rule);
    return rule ? TONE_BAD : TONE_STATE;
}

static bool is_about_credits(const struct ev *e)
{
    return e->kind == EV_credits || e->kind == EV_probe;
}

/* Adds how many messages a requester may send, or that it sends a probe beyond its credits. */
static enum ladder_tone say_credits(struct text *t, const struct ev *e)
{
    if (e->kind == EV_credits) {
        text_addf(t, "the peer has receives up to message %u", e->u.credits.limit);
        return TONE_STATE;
    }
    text_addf(t, "no credit for message %u: a probe, the others wait", e->u.probe.ssn);
    return TONE_TIMER;
}

/* Adds why a key, a packet or a datagram was refused. */
static void say_refusal(struct text *t, const struct ev *e)
{
    if (e->kind == EV_not_sent)
        text_addf(t, "not sent: %s", enum_name(&enum_rule, e->u.not_sent.rule));
    else if (e->kind == EV_key)
        text_addf(t, "key 0x%llx refused by %s", (unsigned long long)e->u.key.key,
                  enum_name(&enum_rule, e->u.key.rule));
    else
        text_addf(t, "dropped: %s", enum_name(&enum_drop, e->u.drop.reason));
}

/* Adds the effect of a device fault, its end, or the driver's reaction. */
static enum ladder_tone say_device_fault(struct text *t, const struct ev *e)
{
    static const char *const did[] = {
        [FLT_LOST_KICK] = "kick lost",
        [FLT_LOST_INTERRUPT] = "interrupt lost",
        [FLT_LATE_DATA] = "given back without its data",
        [FLT_STUCK_QUEUE] = "queue stands still",
        [FLT_SPURIOUS] = "completion invented",
        [FLT_LOST_CQE] = "completion lost",
        [FLT_FALSE_DATA] = "a wrong byte written",
        [FLT_FALSE_LENGTH] = "given back with a wrong length",
        [FLT_FALSE_READ] = "read of a register answered wrongly",
    };

    switch (e->kind) {
    case EV_device_fault:
        text_addf(t, "%s by %s", did[e->u.device_fault.by], e->u.device_fault.name.s);
        return TONE_BAD;
    case EV_late_data:
        text_addf(t, "late data is there, by %s", e->u.late_data.name.s);
        return TONE_TIMER;
    case EV_queue_goes_on:
        text_addf(t, "queue goes on, stopped by %s", e->u.queue_goes_on.name.s);
        return TONE_TIMER;
    default:
        text_addf(t, "driver refuses desc %u of queue %u", e->u.used_refused.desc,
                  e->u.used_refused.queue);
        return TONE_BAD;
    }
}

/* Adds the queue pair that @e is about.  That of a drop is not always known. */
static void name_qp_of(struct text *t, const struct ev *e, const struct ev_names *names)
{
    const struct ev_field *qpn = ev_field_find(e->kind, "qpn");
    const uint32_t number = qpn ? (uint32_t)ev_field_number(e, qpn) : 0;

    if (number)
        add_qp(t, (uint32_t)ev_field_number(e, ev_field_find(e->kind, "host")), number, names);
}

/* "REQ to :7471, qpn=2, psn=100", "REJ, INVALID_SERVICE_ID"; the packet of the message is beside
 * it.
 */
static enum ladder_tone say_cm_sent(struct text *t, const struct ev_cm_sent *m)
{
    text_add(t, enum_name(&enum_cm_message, m->message));
    if (m->port)
        text_addf(t, " to :%u", m->port);
    if (m->qpn)
        text_addf(t, ", qpn=%u", m->qpn);
    if (m->psn)
        text_addf(t, ", psn=%u", m->psn);
    if (m->reason)
        text_addf(t, ", %s", enum_name(&enum_cm_reason, m->reason));
    return m->reason ? TONE_BAD : TONE_POST;
}

/* "id: event ESTABLISHED": the kernel has it for the program. */
static enum ladder_tone say_cm_event(struct text *t, const struct ev_cm_event *m,
                                     const struct ev_names *names)
{
    add_object(t, m->host, OBJ_CM_ID, m->number, names);
    text_addf(t, ": event %s", enum_name(&enum_rdma_cm_event, m->event));
    if (m->reason)
        text_addf(t, ", %s", enum_name(&enum_cm_reason, m->reason));
    return m->reason || m->error ? TONE_BAD : TONE_STATE;
}

/* "id: REQ_SENT" */
static enum ladder_tone say_cm_state(struct text *t, const struct ev_cm_state *m,
                                     const struct ev_names *names)
{
    add_object(t, m->host, OBJ_CM_ID, m->number, names);
    text_addf(t, ": %s -> %s", enum_name(&enum_cm_state, m->from),
              enum_name(&enum_cm_state, m->to));
    return TONE_STATE;
}

void ladder_add_call(struct text *t, const struct past_call *call, const struct ev_names *names)
{
    const bool takes = call->call == CM_CALL_rdma_get_cm_event;

    text_addf(t, "%s%s", enum_name(&enum_cm_call, call->call), takes ? ": " : "(");
    add_object(t, call->host, OBJ_CM_ID, call->cm_id, names);
    if (takes)
        text_addf(t, " %s", enum_name(&enum_rdma_cm_event, call->event));
    else
        text_add(t, ")");
    if (call->error)
        text_addf(t, ": errno %d", call->error);
}

static enum ladder_tone say_rarely(struct text *t, const struct ev *e, const struct ev_names *names)
{
    if (e->kind == EV_cm_sent)
        return say_cm_sent(t, &e->u.cm_sent);
    if (e->kind == EV_cm_event)
        return say_cm_event(t, &e->u.cm_event, names);
    if (e->kind == EV_cm_state)
        return say_cm_state(t, &e->u.cm_state, names);
    if (e->kind == EV_cm_received) {
        text_addf(t, "gets %s", enum_name(&enum_cm_message, e->u.cm_received.message));
        return TONE_PLAIN;
    }
    if (e->kind == EV_router_post) {
        text_addf(t, "router posts %s wr_id=%llu", enum_name(&enum_wr_opcode, e->u.router_post.op),
                  (unsigned long long)e->u.router_post.wr_id);
        return TONE_POST;
    }
    if (e->kind == EV_router_completion) {
        text_addf(t, "router gets completion wr_id=%llu",
                  (unsigned long long)e->u.router_completion.wr_id);
        return TONE_PLAIN;
    }
    if (e->kind == EV_doorbell) {
        text_addf(t, "doorbell %s", enum_name(&enum_pv_doorbell, e->u.doorbell.rings));
        return TONE_POST;
    }
    if (e->kind == EV_ring_broken) {
        text_addf(t, "producer tail %llu is no index of the ring",
                  (unsigned long long)e->u.ring_broken.tail);
        return TONE_BAD;
    }
    if (e->kind == EV_device_fault || e->kind == EV_late_data || e->kind == EV_queue_goes_on ||
        e->kind == EV_used_refused)
        return say_device_fault(t, e);
    return is_about_credits(e) ? say_credits(t, e) : say_new_key(t, e);
}

enum ladder_tone ladder_say(struct text *t, const struct ladder_saying *s)
{
    const struct ev *e = s->first;
    const size_t start = t->len;
    enum ladder_tone tone = TONE_PLAIN;
    size_t said;

    if (s->name_qp)
        name_qp_of(t, e, s->names);
    said = t->len;
    switch (e->kind) {
    case EV_post_send:
    case EV_post_recv:
    case EV_post_srq_recv:
        say_post(t, s);
        tone = TONE_POST;
        break;
    case EV_kick:
        text_addf(t, "kick queue %u", e->u.kick.queue);
        tone = TONE_POST;
        break;
    case EV_cqe:
        say_completion(t, s);
        tone = e->u.cqe.status == WCS_SUCCESS ? TONE_DONE : TONE_BAD;
        break;
    case EV_qp_state:
        tone = say_state(t, &e->u.qp_state);
        break;
    case EV_timeout:
        say_timeout(t, s);
        tone = TONE_TIMER;
        break;
    case EV_retry:
        text_addf(t, "goes back to psn=%u", e->u.retry.psn);
        tone = TONE_TIMER;
        break;
    case EV_key:
    case EV_drop:
    case EV_not_sent:
        say_refusal(t, e);
        tone = TONE_BAD;
        break;
    case EV_atomic:
        say_atomic(t, &e->u.atomic);
        break;
    case EV_cq_overflow:
        add_object(t, e->u.cq_overflow.host, OBJ_CQ, e->u.cq_overflow.cqn, s->names);
        text_add(t, " overflows: CQ error");
        tone = TONE_BAD;
        break;
    case EV_async_event:
        say_async(t, &e->u.async_event, s->names);
        tone = TONE_STATE;
        break;
    case EV_eth_rx:
        text_add(t, "not for RDMA: to the network function");
        break;
    case EV_rx:
        tone = say_arrival(t, &e->u.rx);
        break;
    default:
        tone = say_rarely(t, e, s->names);
        break;
    }
    if (t->len == said) { /* removes the name if no note follows */
        t->len = start;
        t->buf[start] = '\0';
    }
    return tone;
}

static bool same_kind(const struct ev *first, const struct ev *next)
{
    if (first->kind != next->kind || first->at_ns != next->at_ns)
        return false;
    if (first->kind == EV_post_send) {
        const struct ev_post_send *a = &first->u.post_send;
        const struct ev_post_send *b = &next->u.post_send;

        return a->qpn == b->qpn && a->op == b->op && a->bytes == b->bytes &&
               ((a->flags ^ b->flags) & SF_FENCE) == 0;
    }
    if (first->kind == EV_post_recv) {
        const struct ev_post_recv *a = &first->u.post_recv;
        const struct ev_post_recv *b = &next->u.post_recv;

        return a->qpn == b->qpn && a->bytes == b->bytes;
    }
    if (first->kind == EV_post_srq_recv) {
        const struct ev_post_srq_recv *a = &first->u.post_srq_recv;
        const struct ev_post_srq_recv *b = &next->u.post_srq_recv;

        return a->number == b->number && a->bytes == b->bytes;
    }
    if (first->kind == EV_cqe) {
        const struct ev_cqe *a = &first->u.cqe;
        const struct ev_cqe *b = &next->u.cqe;

        return a->qpn == b->qpn && a->status == b->status && a->op == b->op && a->rule == b->rule &&
               a->status != WCS_SUCCESS;
    }
    return false;
}

bool ladder_say_together(const struct ev *first, uint32_t n, uint64_t last_wr_id,
                         const struct ev *next)
{
    const struct ev_field *f = ev_field_find(first->kind, "wr_id");
    uint64_t from, wr_id;

    if (!f || !same_kind(first, next))
        return false;
    from = ev_field_number(first, f);
    wr_id = ev_field_number(next, f);
    return (last_wr_id - from == n - 1 && wr_id == last_wr_id + 1) ||
           (last_wr_id == from && wr_id == from);
}

/* The fields that tx, rx and other packet events have in common. */
struct packet_words {
    uint32_t host, qpn, opcode, psn, ackreq, syndrome, msn, rnr_timer, attempt;
    uint32_t cm; /* enum cm_message of the connection manager; 0: it is none */
    uint32_t copied, vlan;
};

static struct packet_words packet_words(const struct ev *e)
{
    if (e->kind == EV_tx) {
        const struct ev_tx *p = &e->u.tx;

        return (struct packet_words){p->host,    p->qpn,      p->opcode, p->psn,
                                     p->ackreq,  p->syndrome, p->msn,    p->rnr_timer,
                                     p->attempt, p->cm,       p->copied, p->vlan};
    }
    if (e->kind == EV_rx) {
        const struct ev_rx *p = &e->u.rx;

        return (struct packet_words){.host = p->host,
                                     .qpn = p->qpn,
                                     .opcode = p->opcode,
                                     .psn = p->psn,
                                     .syndrome = p->syndrome,
                                     .msn = p->msn,
                                     .cm = p->cm,
                                     .copied = p->copied};
    }
    if (e->kind == EV_lost)
        return (struct packet_words){.host = e->u.lost.host,
                                     .qpn = e->u.lost.qpn,
                                     .opcode = e->u.lost.opcode,
                                     .psn = e->u.lost.psn,
                                     .cm = e->u.lost.cm};
    if (e->kind == EV_port_out)
        return (struct packet_words){
            .host = e->u.port_out.host, .opcode = e->u.port_out.opcode, .psn = e->u.port_out.psn};
    /* eth_rx has no other fields: the network function receives any frame */
    if (e->kind == EV_eth_rx)
        return (struct packet_words){.host = e->u.eth_rx.host, .opcode = e->u.eth_rx.opcode};
    return (struct packet_words){.host = e->u.drop.host,
                                 .qpn = e->u.drop.qpn,
                                 .opcode = e->u.drop.opcode,
                                 .psn = e->u.drop.psn,
                                 .cm = e->u.drop.cm};
}

/* Adds an opcode without the service "RC_": "SEND_ONLY". */
static void add_opcode(struct text *t, uint32_t opcode)
{
    const char *name = enum_name(&enum_opcode, opcode);

    text_add(t, strncmp(name, "RC_", 3) == 0 ? name + 3 : name);
}

/* Adds the message of o2iblnd: " PUT_REQ credits=1 cookie=0x2a". */
static void add_lnet(struct text *t, const struct ev *e, const struct past *past)
{
    char buf[PAST_LNET_BYTES];
    struct text words = text_on(buf, sizeof(buf));

    if (past_add_lnet(&words, past, e, true))
        text_addf(t, " %s", buf);
}

void ladder_add_label(struct text *t, const struct ev *e, bool name_qp, const struct past *past)
{
    const struct packet_words p = packet_words(e);
    const bool acknowledge = p.opcode == OP_RC_ACKNOWLEDGE && p.syndrome != SYN_NONE;

    if (name_qp && p.qpn && !p.cm)
        add_qp(t, p.host, p.qpn, past->names);
    if (acknowledge)
        text_add(t, enum_name(&enum_syndrome, p.syndrome));
    else if (p.cm)
        text_add(t, enum_name(&enum_cm_message, p.cm));
    else
        add_opcode(t, p.opcode);
    if (e->kind != EV_eth_rx && !p.cm) /* all are datagrams, whose PSN means nothing */
        text_addf(t, " psn=%u", p.psn);
    if (p.vlan)
        text_addf(t, " vlan=%u", p.vlan);
    if (p.copied)
        text_addf(t, " copied=%u", p.copied);
    if (p.ackreq)
        text_add(t, " ackreq");
    if (p.syndrome != SYN_NONE && !acknowledge)
        text_addf(t, " %s", enum_name(&enum_syndrome, p.syndrome));
    if (p.syndrome != SYN_NONE)
        text_addf(t, " msn=%u", p.msn);
    if (p.syndrome == SYN_RNR_NAK && e->kind == EV_tx) {
        text_add(t, " wait ");
        quantity_add_time_short(t, rnr_timer_ns((uint8_t)(p.rnr_timer & 31u)));
    }
    if (p.attempt > 1) {
        text_add(t, " ");
        text_add_ordinal(t, p.attempt);
    }
    if (e->kind == EV_tx && op_info((uint8_t)p.opcode)->kind == OPK_READ)
        text_addf(t, ", %u bytes", e->u.tx.length);
    add_lnet(t, e, past);
}

void ladder_add_fault(struct text *t, const struct ev_fault *f)
{
    if (f->by == FLT_DELAY) {
        text_add(t, ", delayed ");
        quantity_add_time_short(t, f->delay);
        text_addf(t, " by %s", f->name.s);
    } else {
        text_addf(t, ", %s by %s", fate_fault_done(f->by), f->name.s);
    }
}

enum ladder_tone ladder_packet_tone(uint32_t opcode, uint32_t syndrome)
{
    if (syndrome != SYN_NONE && syndrome != SYN_ACK)
        return TONE_NAK;
    return op_is_response(op_info((uint8_t)opcode)) ? TONE_ANSWER : TONE_REQUEST;
}
