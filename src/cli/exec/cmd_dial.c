/* SPDX-License-Identifier: MIT */
/* A connection by rdma_cm in one line, for learners: each step is executed, and shown, as the line
 * of a file that is sourced.
 */
#include <string.h>

#include "cli/exec/exec.h"
#include "cli/exec/executing.h"
#include "cli/exec/step_line.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/port_space.h"
#include "rdmalab/cm.h"
#include "rdmalab/inspect.h"

#define LINE_BYTES 256u

/* The steps.  C is the client's host, S the server's, P the port, I and Q the names of ID and queue
 * pair.  A step with a kind of object is left out if its host has an object of that kind and name.
 */
static const struct {
    const char *text;
    enum object_kind makes; /* OBJ_NONE: an object that is new, or none */
} steps[] = {
    {"alloc_pd S as pd", OBJ_PD},
    {"create_cq S as cq", OBJ_CQ},
    {"rdma_create_event_channel S as ch", OBJ_EVENT_CHANNEL},
    {"rdma_create_id S.ch as listener", OBJ_CM_ID},
    {"rdma_bind_addr S.listener port=P", OBJ_NONE},
    {"rdma_listen S.listener", OBJ_NONE},
    {"alloc_pd C as pd", OBJ_PD},
    {"create_cq C as cq", OBJ_CQ},
    {"rdma_create_event_channel C as ch", OBJ_EVENT_CHANNEL},
    {"rdma_create_id C.ch as I", OBJ_NONE},
    {"rdma_resolve_addr C.I dst=S port=P", OBJ_NONE},
    {"rdma_get_cm_event C.ch wait", OBJ_NONE},
    {"rdma_ack_cm_event C.ch", OBJ_NONE},
    {"rdma_resolve_route C.I", OBJ_NONE},
    {"rdma_get_cm_event C.ch wait", OBJ_NONE},
    {"rdma_ack_cm_event C.ch", OBJ_NONE},
    {"rdma_create_qp C.I pd=pd send_cq=cq recv_cq=cq as Q", OBJ_NONE},
    {"rdma_connect C.I", OBJ_NONE},
    {"rdma_get_cm_event S.ch wait as I", OBJ_NONE},
    {"rdma_ack_cm_event S.ch", OBJ_NONE},
    {"rdma_create_qp S.I pd=pd send_cq=cq recv_cq=cq as Q", OBJ_NONE},
    {"rdma_accept S.I", OBJ_NONE},
    {"rdma_get_cm_event C.ch wait", OBJ_NONE},
    {"rdma_ack_cm_event C.ch", OBJ_NONE},
    {"rdma_get_cm_event S.ch wait", OBJ_NONE},
    {"rdma_ack_cm_event S.ch", OBJ_NONE},
};

/* The parameters of a call. */
struct dialled {
    const char *client, *server, *id, *qp;
    uint32_t port;
};

/* Appends the text of a step.  A capital letter that is a word of its own stands for a name. */
static void add_step(struct text *t, const struct dialled *d, const char *text)
{
    for (const char *c = text; *c; c++) {
        const bool begins = c == text || strchr(" =.", c[-1]);
        const bool ends = strchr(" .", c[1]) != NULL; /* also at the end of the text */

        if (*c == 'C' && begins && ends)
            text_add(t, d->client);
        else if (*c == 'S' && begins && ends)
            text_add(t, d->server);
        else if (*c == 'I' && begins && ends)
            text_add(t, d->id);
        else if (*c == 'Q' && begins && ends)
            text_add(t, d->qp);
        else if (*c == 'P' && begins && ends)
            text_addf(t, "%u", d->port);
        else
            text_addf(t, "%c", *c);
    }
}

/* Returns true if the object that step @i makes is there. */
static bool is_there(const struct session *s, const struct dialled *d, size_t i)
{
    const char *host = strchr(steps[i].text, ' ') + 1, *name = strstr(steps[i].text, " as ");
    char path[RDL_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    uint64_t raw;

    if (!steps[i].makes)
        return false;
    text_addf(&t, "%s.%s", *host == 'C' ? d->client : d->server, name + strlen(" as "));
    return rdl_find(s->lab, path, steps[i].makes, &raw) == RDL_OK;
}

/* A listener that is there already has its port. */
static bool is_left_out(const struct session *s, const struct dialled *d, size_t i,
                        bool *ret_listens)
{
    if (is_there(s, d, i)) {
        *ret_listens = *ret_listens || steps[i].makes == OBJ_CM_ID;
        return true;
    }
    return *ret_listens && strstr(steps[i].text, "S.listener") != NULL;
}

/* --- What prevents a connection --------------------------------------------------------------- */

/* Returns false with an error if @host has something that is called @name. */
static bool name_is_free(struct session *s, const struct step *st, const char *host,
                         const char *name, const char *param)
{
    char path[RDL_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct rdl_value v;
    size_t at;

    text_addf(&t, "%s.%s", host, name);
    if (rdl_inspect(s->lab, path, &v, &at) != RDL_OK)
        return true;
    session_fail(s, step_span(st, param, 0), "%s already has a \"%s\"", host, name);
    return diag_remedy(&s->diag, "choose another name: %s %s %s %s=%s2", st->cmd->name,
                       step_text(st, "client"), step_text(st, "server"), param, name);
}

/* Returns false with an error if the channel of @host has an event already: the steps would take it
 * for that of their own connection.
 */
static bool channel_is_empty(struct session *s, const struct step *st, const char *host)
{
    char path[RDL_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    rdl_cm_channel ch;

    text_addf(&t, "%s.ch", host);
    if (rdl_find(s->lab, path, OBJ_EVENT_CHANNEL, &ch.raw) != RDL_OK ||
        rdl_cm_pending(s->lab, ch) == 0)
        return true;
    session_fail(s, st->at, "%s has an event of something else that no program has taken", path);
    return diag_remedy(&s->diag, "rdma_get_cm_event %s; rdma_ack_cm_event %s", path, path);
}

/* Returns false with an error if the server's `listener` does not listen at the port. */
static bool listener_fits(struct session *s, const struct step *st, const struct dialled *d)
{
    char path[RDL_PATH_BYTES];
    char channel[RDL_PATH_BYTES];
    struct text t = text_on(path, sizeof(path)), c = text_on(channel, sizeof(channel));
    struct rdl_cm_id_info info;
    uint64_t ch;
    rdl_cm_id id;

    text_addf(&t, "%s.listener", d->server);
    if (rdl_find(s->lab, path, OBJ_CM_ID, &id.raw) != RDL_OK ||
        rdl_cm_id_info(s->lab, id, &info) != RDL_OK)
        return true;
    if (info.state != CMA_LISTEN) {
        session_fail(s, st->at, "%s does not listen", path);
        return diag_remedy(&s->diag, "rdma_listen %s, or destroy it", path);
    }
    text_addf(&c, "%s.ch", d->server);
    if (info.space != PORT_SPACE_TCP ||
        rdl_find(s->lab, channel, OBJ_EVENT_CHANNEL, &ch) != RDL_OK || ch != info.channel.raw) {
        session_fail(s, st->at, "%s is not for connections, or not in %s", path, channel);
        return diag_remedy(&s->diag, "rdma_destroy_id %s, and dial makes another one", path);
    }
    if (info.local.port == d->port)
        return true;
    session_fail(s, step_span(st, "port", 0), "%s listens at port %u", path,
                 (unsigned)info.local.port);
    return diag_remedy(&s->diag, "dial %s %s port=%u", d->client, d->server,
                       (unsigned)info.local.port);
}

/* Returns false with an error if a step would fail, or take an event of another connection. */
static bool can_dial(struct session *s, const struct step *st, const struct dialled *d)
{
    if (strcmp(d->client, d->server) == 0) {
        session_fail(s, step_span(st, "server", 0), "the client and the server are the same host");
        return diag_remedy(&s->diag, "take the steps one by one: \"help cm\"");
    }
    return name_is_free(s, st, d->client, d->id, "id") &&
           name_is_free(s, st, d->server, d->id, "id") &&
           name_is_free(s, st, d->client, d->qp, "qp") &&
           name_is_free(s, st, d->server, d->qp, "qp") && channel_is_empty(s, st, d->client) &&
           channel_is_empty(s, st, d->server) && listener_fits(s, st, d);
}

/* --- The command ------------------------------------------------------------------------------ */

static bool take_steps(struct session *s, const struct step *st, const struct dialled *d)
{
    bool listens = false;

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        char line[LINE_BYTES];
        struct text t = text_on(line, sizeof(line));

        if (is_left_out(s, d, i, &listens))
            continue;
        add_step(&t, d, steps[i].text);
        if (!exec_step_line(s, st, line))
            return false;
    }
    return true;
}

bool run_dial(struct session *s, const struct step *st)
{
    const struct dialled d = {step_text(st, "client"), step_text(st, "server"),
                              step_text_or_standard(st, "id"), step_text_or_standard(st, "qp"),
                              (uint32_t)step_number(st, "port")};
    bool ok;

    if (!can_dial(s, st, &d))
        return false;
    if (step_has(st, "full"))
        return take_steps(s, st, &d);
    s->display.shown.connects = true;
    ok = take_steps(s, st, &d);
    s->display.shown.connects = false;
    if (ok)
        session_say(s, "the packets, and what the devices did: show events\n");
    return ok;
}
