/* SPDX-License-Identifier: MIT */
/* `why not` of connections by rdma_cm: what an ID waits for, and what its other side does.  The
 * facts are the state of the kernels' IDs, and the events of their messages.
 */
#include <string.h>

#include "cli/why/why_not_answer.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/facts/cm_waits.h"
#include "emu/facts/cma_calls.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/roce.h"
#include "emu/trace/event.h"
#include "emu/wire/addr.h"
#include "rdmalab/cm.h"
#include "rdmalab/trace.h"

/* An ID that can be looked at. */
struct cm_view {
    const char *path; /* "h1.id" */
    char host_name[RDL_NAME_BYTES];
    uint32_t host, number;         /* numbers in events */
    char channel[RDL_VALUE_BYTES]; /* path of its event channel */
    char peer[ADDR_TEXT_MAX];
    struct rdl_cm_id_info info;
};

/* States in which a program has to act.  In @command, %s is the ID; with @needs_qp it needs a queue
 * pair.
 */
static const struct {
    enum cm_state state;
    const char *text, *command;
    bool needs_qp;
} todo[] = {
    {CMS_REQ_RCVD, "has the request, and its program has not answered", "rdma_accept %s", true},
    {CMS_MRA_REQ_SENT, "has the request, and its program has not answered", "rdma_accept %s", true},
    {CMS_REP_RCVD, "has the reply, and its program has not established", "", false},
    {CMS_MRA_REP_SENT, "has the reply, and its program has not established", "", false},
    {CMS_DREQ_RCVD, "knows that its peer disconnects, and its program has not done so",
     "rdma_disconnect %s", false},
    {CMS_SIDR_REQ_RCVD, "has the request, and its program has not answered", "rdma_accept %s",
     true},
};

static bool read_id(const struct why_not *w, const char *path, struct cm_view *ret)
{
    uint64_t raw;

    *ret = (struct cm_view){.path = path};
    if (rdl_find(w->lab, path, OBJ_CM_ID, &raw) != RDL_OK ||
        rdl_cm_id_info(w->lab, (rdl_cm_id){raw}, &ret->info) != RDL_OK)
        return false;
    tree_host_of(path, ret->host_name);
    ret->host = ev_names_find_host(w->past->names, ret->host_name);
    ret->number = (uint32_t)tree_number(w->lab, path, LEAF_cm_id_number);
    rdl_path_of(w->lab, OBJ_EVENT_CHANNEL, ret->info.channel.raw, ret->channel);
    (void)addr_text(ret->info.peer.gid, ret->peer);
    return true;
}

/* --- What has happened ------------------------------------------------------------------------ */

/* The last event of rdma_cm for @v of kind @event, or of any kind if that is WHY_NOT_ANY_EVENT;
 * NULL: there is none in the record.
 */
static const struct ev *last_event(const struct why_not *w, const struct cm_view *v, uint32_t event)
{
    for (size_t i = w->past->n; i > 0; i--) {
        const struct ev *e = past_at(w->past, i - 1);

        if (e->kind == EV_cm_event && e->u.cm_event.host == v->host &&
            e->u.cm_event.number == v->number &&
            (event == WHY_NOT_ANY_EVENT || e->u.cm_event.event == event))
            return e;
    }
    return NULL;
}

/* The frame with which the message of event @sent left, or NULL. */
static const struct ev *frame_of(const struct why_not *w, size_t sent)
{
    const struct ev *s = past_at(w->past, sent);
    uint64_t wr_id = 0;
    bool is_posted = false;

    for (size_t i = sent + 1; i < w->past->n; i++) {
        const struct ev *e = past_at(w->past, i);

        if (e->kind == EV_post_send && e->cause == s->id) {
            wr_id = e->u.post_send.wr_id;
            is_posted = true;
        }
        if (is_posted && e->kind == EV_tx && e->u.tx.host == s->u.cm_sent.host &&
            e->u.tx.qpn == QPN_GSI && e->u.tx.wr_id == wr_id)
            return e;
    }
    return NULL;
}

/* Returns true if @e sent a @message from @v to its peer.  Events name a queue pair in a REQ and a
 * REP alone, so that others may be those of another connection between the two.
 */
static bool is_sent_by(const struct cm_view *v, enum cm_message message, const struct ev *e)
{
    return e->kind == EV_cm_sent && e->u.cm_sent.host == v->host &&
           e->u.cm_sent.message == (uint32_t)message && strcmp(e->u.cm_sent.addr.s, v->peer) == 0 &&
           (e->u.cm_sent.qpn == 0 || e->u.cm_sent.qpn == v->info.qpn);
}

/* Prints what became of the last @message from @v to its peer. */
static void say_fate(struct why_not *w, const struct cm_view *v, enum cm_message message)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    const struct ev *tx;
    size_t i = w->past->n;

    while (i > 0 && !is_sent_by(v, message, past_at(w->past, i - 1)))
        i--;
    if (i == 0)
        return;
    tx = frame_of(w, i - 1);
    ev_add_id(&t, past_at(w->past, i - 1)->id);
    text_addf(&t, ", the last %s to it, ", enum_name(&enum_cm_message, message));
    if (tx)
        fate_add(&t, w->index, tx);
    else
        text_add(&t, "has not left yet");
    w->indent += 2;
    why_not_say(w, "%s.", buf);
    w->indent -= 2;
}

static void say_event(struct why_not *w, const struct ev *e)
{
    char buf[EV_TEXT_BYTES], id[64];
    struct text t = text_on(buf, sizeof(buf)), n = text_on(id, sizeof(id));

    ev_add_line(&t, e, w->past->names);
    show_wrap(w->out, w->indent + 2, buf);
    if (e->u.cm_event.reason)
        why_not_say(w, "Reason %u: %s.", (unsigned)e->u.cm_event.reason,
                    enum_by_value(&enum_cm_reason, e->u.cm_event.reason)
                        ? enum_by_value(&enum_cm_reason, e->u.cm_event.reason)->text
                        : "an unknown one");
    ev_add_id(&n, e->id);
    why_not_try(w, "why %s", id);
}

/* Advises to carry out @command.  What belongs to a program cannot be moved by commands: then the
 * calls of librdmacm in @command are named, "rdma_create_qp(), then rdma_accept()".
 */
static void advise(struct why_not *w, const struct cm_view *v, const char *command)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    size_t n;

    if (!v->info.of_program) {
        why_not_try(w, "%s", command);
        return;
    }
    for (const char *at = command; *at; at += n + strspn(at + n, ", ")) {
        n = strcspn(at, ", ");
        if (strncmp(at, "rdma_", strlen("rdma_")) == 0)
            text_addf(&t, "%.*s()", (int)n, at);
        else if ((n == 2 && strncmp(at, "or", n) == 0) || (n == 4 && strncmp(at, "then", n) == 0))
            text_addf(&t, ", %.*s ", (int)n, at);
    }
    why_not_try(w, "%s in the program of %s", buf, v->path);
}

/* The same for a @command with the path of the ID in it, at each %s. */
static void advise_of(struct why_not *w, const struct cm_view *v, const char *command)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    const char *at = command, *hole;

    while ((hole = strstr(at, "%s"))) {
        text_addn(&t, at, (size_t)(hole - at));
        text_add(&t, v->path);
        at = hole + strlen("%s");
    }
    text_add(&t, at);
    advise(w, v, buf);
}

static void advise_event(struct why_not *w, const struct cm_view *v)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "rdma_get_cm_event %s", v->channel);
    advise(w, v, buf);
}

/* Prints that the channel of the ID has events that no program has taken. */
static void say_pending(struct why_not *w, const struct cm_view *v)
{
    const unsigned pending = rdl_cm_pending(w->lab, v->info.channel);

    if (pending == 0)
        return;
    why_not_say(w, "%s has %u event%s that no program has taken.", v->channel, pending,
                plural_s(pending));
    advise_event(w, v);
}

/* --- The state of one side -------------------------------------------------------------------- */

/* Prints that a message waits for its answer, and for how long.  Returns false if none does. */
static bool say_wait(struct why_not *w, const struct cm_view *v)
{
    const struct cm_wait *wait = cm_wait(v->info.ib_state);
    char due[64];
    struct text t = text_on(due, sizeof(due));

    if (!wait)
        return false;
    why_not_say(w, "%s has sent a %s to %s, port %u, and waits for %s.", v->path,
                enum_name(&enum_cm_message, wait->sent), v->peer, (unsigned)v->info.peer.port,
                wait->answer);
    say_fate(w, v, (enum cm_message)wait->sent);
    quantity_add_time_short(&t, v->info.due_ns);
    if (v->info.retries)
        why_not_say(w, "Without an answer it is sent again at t=%s, and at most %u times.", due,
                    (unsigned)v->info.retries);
    else
        why_not_say(w,
                    "Without an answer it ends at t=%s with %s: it was sent as often as it may be.",
                    due, enum_name(&enum_rdma_cm_event, wait->else_event));
    return true;
}

/* Prints that a program has to act.  Returns false if none has. */
static bool say_todo(struct why_not *w, const struct cm_view *v)
{
    for (size_t i = 0; i < ARRAY_LEN(todo); i++) {
        if (v->info.ib_state != (uint32_t)todo[i].state)
            continue;
        why_not_say(w, "%s %s.", v->path, todo[i].text);
        if (rdl_cm_pending(w->lab, v->info.channel) > 0 || !todo[i].command[0])
            advise_event(w, v);
        else if (todo[i].needs_qp && v->info.qp.raw == 0)
            advise_of(w, v, "rdma_create_qp %s ..., then rdma_accept %s");
        else
            advise_of(w, v, todo[i].command);
        return true;
    }
    return false;
}

static bool say_call(struct why_not *w, const struct cm_view *v)
{
    const struct cma_step *step = cma_step(v->info.state);

    if (step) {
        why_not_say(w, "%s %s.", v->path, step->text);
        if (v->info.state == CMA_ROUTE_RESOLVED && v->info.qp.raw == 0)
            advise_of(w, v, "rdma_create_qp %s ..., then rdma_connect %s");
        else
            advise_of(w, v, step->command);
        return true;
    }
    if (v->info.state != CMA_ADDR_QUERY)
        return false;
    why_not_say(w, "%s asks for the MAC of %s, and no station has answered.", v->path, v->peer);
    return true;
}

static void say_timewait(struct why_not *w, const struct cm_view *v)
{
    char due[64];
    struct text t = text_on(due, sizeof(due));

    quantity_add_time_short(&t, v->info.due_ns);
    why_not_say(w, "The connection of %s is over; until t=%s packets of it may still be under way.",
                v->path, due);
}

/* --- The other side --------------------------------------------------------------------------- */

struct search {
    struct why_not *w;
    const struct cm_view *of;
    char host[RDL_NAME_BYTES];
    bool has_address, found;     /* @host has the peer's address, and the other side */
    char other[TREE_PATH_BYTES]; /* listens at the peer's port, perhaps for another address */
    size_t n_ids;                /* that were looked at, for why_not_cm_ids() */
};

static bool is_same(const struct rdl_cm_addr *a, const struct rdl_cm_addr *b)
{
    return a->version == b->version && a->port == b->port &&
           memcmp(a->gid, b->gid, sizeof(a->gid)) == 0;
}

static bool is_other_side(const struct cm_view *v, const struct cm_view *o)
{
    return v->info.space == o->info.space && is_same(&v->info.local, &o->info.peer) &&
           is_same(&v->info.peer, &o->info.local) && o->info.state != CMA_LISTEN;
}

/* Prints that @l gets the requests. */
static void say_listener(const struct search *s, const struct cm_view *l)
{
    if (l->info.backlog == 0)
        why_not_say(s->w,
                    "%s listens there, and its backlog is full: the kernel of %s is silent until "
                    "its program takes a request.",
                    l->path, s->host);
    else
        why_not_say(s->w, "%s listens there.", l->path);
    say_pending(s->w, l);
}

/* Prints that @l listens at the port, for another address. */
static void say_other_listener(const struct search *s, const struct cm_view *l)
{
    static const uint8_t none[GID_BYTES];
    const uint8_t *gid = l->info.local.gid;
    char at[ADDR_TEXT_MAX];

    if (gid_is_ipv4(gid) ? memcmp(gid + GID_BYTES - 4, none, 4) == 0
                         : memcmp(gid, none, GID_BYTES) == 0)
        snprintf(at, sizeof(at), "IPv%u", (unsigned)l->info.local.version);
    else
        (void)addr_text(gid, at);
    why_not_say(s->w, "%s listens at port %u of %s, but for %s alone: it will refuse.", l->path,
                (unsigned)s->of->info.peer.port, s->host, at);
}

static void say_service(const struct search *s)
{
    const struct rdl_cm_id_info *info = &s->of->info;
    char path[RDL_VALUE_BYTES];
    struct cm_view l;
    rdl_cm_id id;
    rdl_host host;

    if (rdl_find_host(s->w->lab, s->host, &host) == RDL_OK &&
        rdl_cm_listener(s->w->lab, host, info->space, &info->peer, &id) == RDL_OK) {
        rdl_path_of(s->w->lab, OBJ_CM_ID, id.raw, path);
        if (read_id(s->w, path, &l))
            say_listener(s, &l);
    } else if (s->other[0] && read_id(s->w, s->other, &l)) {
        say_other_listener(s, &l);
    } else {
        why_not_say(s->w, "Nobody listens at port %u of %s: it will refuse.",
                    (unsigned)info->peer.port, s->host);
    }
}

/* Handles one object of a host that has the peer's address. */
static void each_object(void *ctx, const char *key, const struct rdl_value *value)
{
    struct search *s = ctx;
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct cm_view o;

    if (!tree_value_is(value, NODE_cm_id))
        return;
    tree_join(&t, s->host, key);
    if (!read_id(s->w, path, &o))
        return;
    if (is_other_side(s->of, &o)) {
        s->found = true;
        if (!say_todo(s->w, &o) && !say_wait(s->w, &o))
            why_not_say(s->w, "At the other side %s is in state %s.", path,
                        enum_name(&enum_cm_state, o.info.ib_state));
    } else if (o.info.state == CMA_LISTEN && o.info.space == s->of->info.space &&
               o.info.local.port == s->of->info.peer.port) {
        t = text_on(s->other, sizeof(s->other));
        text_add(&t, path);
    }
}

static bool has_address(const struct why_not *w, const char *host, const uint8_t gid[GID_BYTES])
{
    uint8_t own[GID_BYTES], mac[MAC_BYTES];
    rdl_host h;

    if (rdl_find_host(w->lab, host, &h) != RDL_OK)
        return false;
    for (uint32_t i = 0; i < 2; i++) {
        if (rdl_host_address(w->lab, h, i, own, mac) == RDL_OK && memcmp(own, gid, GID_BYTES) == 0)
            return true;
    }
    return false;
}

static void each_host(void *ctx, const char *key, const struct rdl_value *value)
{
    struct search *s = ctx;
    struct text t;
    size_t at;

    if (!tree_value_is(value, NODE_host) || s->has_address ||
        !has_address(s->w, key, s->of->info.peer.gid))
        return;
    s->has_address = true;
    t = text_on(s->host, sizeof(s->host));
    text_add(&t, key);
    if (rdl_inspect_list(s->w->lab, key, each_object, s, &at) != RDL_OK)
        s->found = true; /* nothing can be said */
}

/* Prints what the other side does, or why there is none. */
static void say_other_side(struct why_not *w, const struct cm_view *v)
{
    struct search s = {.w = w, .of = v};
    size_t at;

    if (rdl_inspect_list(w->lab, "", each_host, &s, &at) != RDL_OK)
        return;
    if (!s.has_address)
        why_not_say(w, "No host of the lab has the address %s.", v->peer);
    if (!s.has_address || s.found ||
        (v->info.ib_state != CMS_REQ_SENT && v->info.ib_state != CMS_SIDR_REQ_SENT))
        return;
    say_service(&s);
}

/* --- The answer ------------------------------------------------------------------------------- */

/* Handles an ID that asks nobody any more. */
static void say_over(struct why_not *w, const struct cm_view *v)
{
    const struct ev *e = last_event(w, v, WHY_NOT_ANY_EVENT);

    w->never = true;
    why_not_say(w, "%s has no connection any more.%s", v->path, e ? " The last event was" : "");
    if (e)
        say_event(w, e);
    else
        why_not_say_forgotten(w);
}

static void say_state(struct why_not *w, const struct cm_view *v)
{
    if (v->info.state == CMA_LISTEN) {
        why_not_say(w, "%s waits for requests at port %u.", v->path, (unsigned)v->info.local.port);
        if (v->info.backlog == 0)
            why_not_say(w, "Its backlog is full: further requests are dropped without an answer.");
    } else if (say_call(w, v) || say_todo(w, v)) {
        return;
    } else if (say_wait(w, v)) {
        say_other_side(w, v);
    } else if (v->info.ib_state == CMS_ESTABLISHED) {
        why_not_say(w, "%s is connected.", v->path);
        w->never = true;
    } else if (v->info.ib_state == CMS_TIMEWAIT) {
        say_timewait(w, v);
    } else {
        say_over(w, v);
    }
}

void why_not_cm_id(struct why_not *w, const char *path, uint32_t event)
{
    const struct ev *e;
    struct cm_view v;

    if (!read_id(w, path, &v))
        return;
    e = event == WHY_NOT_ANY_EVENT ? NULL : last_event(w, &v, event);
    if (e) {
        w->never = true;
        why_not_say(w, "It has come:");
        say_event(w, e);
    } else {
        if (event != WHY_NOT_ANY_EVENT &&
            !(event == RDMA_CM_EVENT_ESTABLISHED && v.info.ib_state == CMS_ESTABLISHED))
            why_not_say(w, "%s has had no %s.", path, enum_name(&enum_rdma_cm_event, event));
        say_state(w, &v);
    }
    say_pending(w, &v);
}

/* Counts the IDs in s->n_ids. */
static void say_id(void *ctx, const char *key, const struct rdl_value *value)
{
    struct search *s = ctx;
    char path[TREE_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct cm_view v;

    if (!tree_value_is(value, NODE_cm_id))
        return;
    tree_join(&t, s->host, key);
    if (!read_id(s->w, path, &v))
        return;
    s->n_ids++;
    say_state(s->w, &v);
}

static void say_ids(void *ctx, const char *key, const struct rdl_value *value)
{
    struct search *s = ctx;
    struct text t = text_on(s->host, sizeof(s->host));
    size_t at;

    if (!tree_value_is(value, NODE_host))
        return;
    text_add(&t, key);
    if (rdl_inspect_list(s->w->lab, key, say_id, s, &at) != RDL_OK)
        why_not_say(s->w, "The IDs of %s cannot be read.", key);
}

bool why_not_cm_ids(struct why_not *w, const char *host)
{
    const struct rdl_value is_host = {.type = RDL_NODE, .row = NODE_host};
    struct search s = {.w = w};
    size_t at;

    if (host[0])
        say_ids(&s, host, &is_host);
    else if (rdl_inspect_list(w->lab, "", say_ids, &s, &at) != RDL_OK)
        why_not_say(w, "The hosts cannot be read.");
    return s.n_ids > 0;
}
