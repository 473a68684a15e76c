/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_hint.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "cli/live/exec_cm.h"
#include "cli/live/exec_names.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/sidr_status.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/addr.h"

/* --- Completion queues ------------------------------------------------------------------------ */

void exec_hint_overflow(struct exec_client *c, struct exec_cq *q)
{
    char path[EXEC_NAME_BYTES], line[EXEC_HINT_BYTES];
    struct text t = text_on(line, sizeof(line));
    struct rdl_cq_info info = {.cqe = 0};

    if (q->overflowed)
        return;
    q->overflowed = true;
    exec_name_of_object(c->lab, PROGRAM_CQ, q->handle, path);
    (void)!rdl_cq_info(c->lab, (rdl_cq){q->handle}, &info);
    text_addf(&t,
              "completion queue %s of %u entries has overflowed: it was full when a completion "
              "came, so that completions are lost",
              path, info.cqe);
    if (c->account)
        memcpy(c->account->overflow, line, sizeof(line));
    fprintf(c->out, "%s: the %s (process %d)\n", c->host_name, line, c->pid);
}

/* --- Connections ------------------------------------------------------------------------------ */

/* Ways in which a connection often fails.  The peer stands between @lead and @tail. */
static const struct ending {
    uint32_t event; /* enum rdma_cm_event */
    int status;
    bool has_port; /* the port of the peer is of interest */
    const char *lead, *tail;
} endings[] = {
    {RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, false, "no station has answered for ", ""},
    {RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, true, "no answer has come from ", ""},
    {RDMA_CM_EVENT_UNREACHABLE, SIDR_UNSUPPORTED, true, "nobody listened for datagrams at ", ""},
    {RDMA_CM_EVENT_UNREACHABLE, SIDR_REJECT, true, "the program at ", " has refused"},
    {RDMA_CM_EVENT_REJECTED, CM_REASON_INVALID_SERVICE_ID, true, "nobody listened at ", ""},
    {RDMA_CM_EVENT_REJECTED, CM_REASON_CONSUMER_DEFINED, true, "the program at ",
     " has refused, or has ended"},
    {RDMA_CM_EVENT_REJECTED, CM_REASON_STALE_CONN, false, "",
     " still had a connection of this queue pair; a second try succeeds"},
};

static const struct ending *ending_of(const struct rdl_cm_event *e)
{
    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        if (endings[i].event == e->kind && endings[i].status == e->status)
            return &endings[i];
    }
    return NULL;
}

/* Appends "port 7471 of h2 (10.0.0.2)". */
static void add_peer(struct text *t, const struct rdl_lab *lab, const struct rdl_cm_addr *peer,
                     bool has_port)
{
    char addr[ADDR_TEXT_MAX], host[RDL_NAME_BYTES];

    if (has_port)
        text_addf(t, "port %u of ", (unsigned)peer->port);
    (void)addr_text(peer->gid, addr);
    if (exec_name_of_host(lab, peer->gid, host))
        text_addf(t, "%s (%s)", host, addr);
    else
        text_addf(t, "%s, which no host of the lab has", addr);
}

void exec_hint_cm_event(const struct exec_client *c, const struct rdl_cm_event *e)
{
    const struct ending *ending = ending_of(e);
    const bool rejected = e->kind == RDMA_CM_EVENT_REJECTED;
    struct rdl_cm_id_info info;
    struct text t;

    if (!c->account)
        return;
    t = text_on(c->account->ending, sizeof(c->account->ending));
    if ((!ending && !rejected) || rdl_cm_id_info(c->lab, e->id, &info) != RDL_OK)
        return;
    text_addf(&t, "its last event of rdma_cm was %s: ", enum_name(&enum_rdma_cm_event, e->kind));
    if (ending) {
        text_add(&t, ending->lead);
        add_peer(&t, c->lab, &info.peer, ending->has_port);
        text_add(&t, ending->tail);
    } else {
        const struct enum_row *reason = enum_by_value(&enum_cm_reason, (uint32_t)e->status);

        text_addf(&t, "reason %d, %s", e->status, reason ? reason->text : "an unknown one");
    }
}

/* Looks at the ID @id of a program. */
static void note_device(const struct exec_client *c, const struct exec_cm_id *id)
{
    struct rdl_cm_id_info info;
    struct text t;

    if (!id->file || id->is_placed || rdl_cm_id_info(c->lab, id->id, &info) != RDL_OK)
        return;
    t = text_on(c->account->placeless, sizeof(c->account->placeless));
    if (info.state == CMA_LISTEN)
        text_add(&t, "an ID of it listened at any address, so that its verbs, pd and qp were NULL: "
                     "the ID that comes with CONNECT_REQUEST has them");
    else
        text_add(&t, "an ID of it had no device, so that its verbs, pd and qp were NULL: "
                     "rdma_get_cm_event() must return ADDR_RESOLVED first");
}

void exec_hint_ids(const struct exec_client *c)
{
    for (size_t i = 0; c->cm && c->account && i < c->cm->n_ids; i++)
        note_device(c, &c->cm->ids[i]);
}

/* --- The whole -------------------------------------------------------------------------------- */

void exec_hint_add(struct text *t, const struct exec_account *a, int signal)
{
    const struct {
        const char *lead, *text;
    } parts[] = {
        {"the lab had refused ", a->refused},
        {"its ", a->overflow},
        {"", a->ending},
        {"", signal == SIGSEGV ? a->placeless : ""},
    };
    const char *separator = "";

    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        if (!parts[i].text[0])
            continue;
        text_addf(t, "%s%s%s", separator, parts[i].lead, parts[i].text);
        separator = "; ";
    }
}
