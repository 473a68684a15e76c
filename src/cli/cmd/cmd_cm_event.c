/* SPDX-License-Identifier: MIT */
/* The events of librdmacm.  It takes a CONNECT_RESPONSE itself if the ID has a queue pair. */
#include <string.h>

#include "cli/cmd/cm_calls.h"
#include "cli/cmd/commands.h"
#include "cli/cmd/waiting.h"
#include "emu/base/text.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/sidr_status.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/addr.h"

#define SHOWN_BYTES 64u  /* bytes of private data that are shown */
#define FAILED_CALL (-1) /* status of an event for which a call of librdmacm has failed */

static void add_data(struct text *t, const struct rdl_cm_param *p)
{
    size_t n = p->private_bytes;

    while (n > 0 && p->private_data[n - 1] == 0)
        n--;
    if (n == 0)
        return;
    text_add(t, ", data '");
    for (size_t i = 0; i < n && i < SHOWN_BYTES; i++) {
        const uint8_t c = p->private_data[i];

        if (c >= ' ' && c < 0x7f && c != '\\')
            text_addf(t, "%c", c);
        else
            text_addf(t, "\\x%02x", c);
    }
    text_add(t, n > SHOWN_BYTES ? "'..." : "'");
}

static void add_status(struct text *t, const struct rdl_cm_event *e, uint32_t space)
{
    if (e->status == 0)
        return;
    text_addf(t, ", status %d", e->status);
    if (e->kind == RDMA_CM_EVENT_REJECTED)
        text_addf(t, " (%s)", enum_name(&enum_cm_reason, (uint32_t)e->status));
    else if (e->kind == RDMA_CM_EVENT_UNREACHABLE && space == PORT_SPACE_UDP && e->status > 0)
        text_addf(t, " (%s)", enum_name(&enum_sidr_status, (uint32_t)e->status));
    else if (e->status < 0 && e->status != FAILED_CALL)
        text_addf(t, " (%s)", strerror(-e->status));
}

static void say_event(struct session *s, const struct rdl_cm_event *e)
{
    char buf[512], path[RDL_VALUE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct rdl_cm_id_info info = {0};

    rdl_path_of(s->lab, OBJ_CM_ID, e->id.raw, path);
    if (rdl_cm_id_info(s->lab, e->id, &info) != RDL_OK)
        return;
    text_addf(&t, "%s %s", path, enum_name(&enum_rdma_cm_event, e->kind));
    add_status(&t, e, info.space);
    if (e->param.qpn != 0 &&
        (e->kind == RDMA_CM_EVENT_CONNECT_REQUEST || e->kind == RDMA_CM_EVENT_CONNECT_RESPONSE))
        text_addf(&t, ", qpn %u", e->param.qpn);
    if (e->kind == RDMA_CM_EVENT_ESTABLISHED && info.space == PORT_SPACE_UDP)
        text_addf(&t, ", qpn %u, Q_Key 0x%x", e->param.qpn, e->param.qkey);
    if (e->kind == RDMA_CM_EVENT_MULTICAST_JOIN)
        text_addf(&t, " of %s", addr_text(e->ah.dgid, path));
    add_data(&t, &e->param);
    session_say(s, "%s\n", buf);
}

/* Moves the queue pair of the event's ID to ERR, if it has one that can be moved. */
static void give_up_qp(struct session *s, const struct step *st, const struct home *home,
                       const struct rdl_cm_id_info *info)
{
    const struct diag before = s->diag;

    if (!cm_move_to_err(s, st, home, info))
        s->diag = before;
}

/* librdmacm establishes a connection itself if the ID has a queue pair, and tells the program that
 * it is ESTABLISHED.  If that fails, the queue pair goes to ERR, and the program is told
 * CONNECT_ERROR.  No message tells the peer: it is told when the program destroys the ID.
 */
static bool establish(struct session *s, const struct step *st, const struct home *home,
                      rdl_cm_channel ch, struct rdl_cm_event *e, const struct rdl_cm_id_info *info)
{
    enum rdl_status status;
    bool ok = cm_move_to_rts(s, st, home, e->id, info->qp, NULL);
    int error;

    if (ok) {
        status = rdl_cm_accept(s->lab, e->id, NULL, &error);
        ok = cm_called(s, st, status, error);
    }
    if (!ok && s->diag.kind != DIAG_FAILED)
        return false;
    if (!ok) {
        session_say(s, "  librdmacm could not establish it: %s\n", s->diag.message);
        s->diag = (struct diag){.kind = DIAG_NONE};
        give_up_qp(s, st, home, info);
    }
    e->kind = ok ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
    e->status = ok ? 0 : FAILED_CALL;
    return cm_called(s, st, rdl_cm_turn_event(s->lab, ch, e->kind, e->status), 0);
}

/* Does what librdmacm does with an event before the program has it. */
static bool respond(struct session *s, const struct step *st, const struct home *home,
                    rdl_cm_channel ch, struct rdl_cm_event *e)
{
    struct rdl_cm_id_info info;

    if (rdl_cm_id_info(s->lab, e->id, &info) != RDL_OK || !cm_has_qp(s, &info))
        return true;
    if (e->kind == RDMA_CM_EVENT_CONNECT_RESPONSE)
        return establish(s, st, home, ch, e, &info);
    if (e->kind == RDMA_CM_EVENT_REJECTED)
        give_up_qp(s, st, home, &info);
    if (e->kind == RDMA_CM_EVENT_MULTICAST_JOIN && !e->sends_only)
        return verb_finish(s, st, home, rdl_attach_mcast(s->lab, info.qp, e->ah.dgid)) &&
               cm_called(s, st, rdl_cm_set_attached(s->lab, e->id, e->group), 0);
    return true;
}

static bool has_event(struct waiting *w, struct session *s, bool *ret)
{
    *ret = rdl_cm_pending(s->lab, *(const rdl_cm_channel *)w->ctx) > 0;
    return true;
}

/* Returns false, with the error in s->diag, if no event came. */
static bool wait_for_event(struct session *s, const struct step *st, rdl_cm_channel *ch)
{
    struct waiting w = {.look = has_event, .ctx = ch};

    if (!waiting_go_on(s, st, &w))
        return false;
    if (w.held || w.stopped)
        return true;
    session_fail(s, st->at, "no event came%s",
                 w.idle ? ", and nothing is left to happen" : " in time");
    return diag_remedy(&s->diag, "\"show cm\" shows what each ID waits for");
}

bool run_rdma_get_cm_event(struct session *s, const struct step *st)
{
    struct rdl_cm_event e;
    enum rdl_status status;
    rdl_cm_channel ch;
    struct home home;
    size_t n = 0;

    if (!cm_find_channel(s, st, &ch, &home) ||
        (step_has(st, "wait") && !wait_for_event(s, st, &ch)))
        return false;
    status = rdl_cm_get_event(s->lab, ch, st->as.text, &e, &n);
    if (status == RDL_ERR_INVAL) {
        session_fail(s, st->at, "the oldest event has no new ID that could be called %s",
                     st->as.text);
        return diag_remedy(&s->diag, "only a CONNECT_REQUEST has one; \"show %s\" names the event",
                           step_text(st, "channel"));
    }
    if (!verb_sent(s, st, &home, status))
        return false;
    if (n == 0) {
        if (!step_has(st, "wait"))
            session_say(s, "no event\n");
        return true;
    }
    if (!respond(s, st, &home, ch, &e))
        return false;
    rdl_cm_event_told(s->lab, ch);
    say_event(s, &e);
    return true;
}

bool run_rdma_ack_cm_event(struct session *s, const struct step *st)
{
    enum rdl_status status;
    rdl_cm_channel ch;
    struct home home;

    if (!cm_find_channel(s, st, &ch, &home))
        return false;
    status = rdl_cm_ack_event(s->lab, ch);
    if (status != RDL_ERR_STATE)
        return cm_called(s, st, status, 0);
    session_fail(s, st->at, "no event of %s waits to be acknowledged", step_text(st, "channel"));
    return diag_remedy(&s->diag, "rdma_get_cm_event takes one");
}
