/* SPDX-License-Identifier: MIT */
/* Asynchronous events and completion channels. */
#include "rdmalab/events.h"

#include "cli/cmd/commands.h"
#include "cli/cmd/verb.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "rdmalab/inspect.h"

bool run_get_async_event(struct session *s, const struct step *st)
{
    char path[RDL_VALUE_BYTES];
    struct rdl_async_event e;
    enum rdl_status status;
    struct home home;
    size_t n = 0;

    if (!verb_home(s, st, &home))
        return false;
    status = rdl_get_async_event(s->lab, home.host, &e, &n);
    if (status != RDL_OK)
        return session_fail_status(s, st->at, st->cmd->name, status);
    if (n == 0) {
        session_say(s, "no asynchronous event\n");
        return true;
    }
    if (e.object != OBJ_NONE) {
        rdl_path_of(s->lab, e.object, e.raw, path);
        session_say(s, "%s %s\n", enum_name(&enum_async_event, e.type), path);
    } else {
        session_say(s, "%s %s\n", enum_name(&enum_async_event, e.type), home.name);
    }
    return true;
}

/* Finds the object at @path, if events can be about it. */
static bool find_about(const struct session *s, const char *path, struct rdl_async_event *ret)
{
    static const enum object_kind kinds[] = {OBJ_QP, OBJ_CQ, OBJ_SRQ};

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        ret->object = (uint32_t)kinds[i];
        if (rdl_find(s->lab, path, ret->object, &ret->raw) == RDL_OK)
            return true;
    }
    return false;
}

bool run_ack_async_event(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    const uint64_t count = step_number(st, "count");
    char path[SESSION_PATH_BYTES];
    struct rdl_async_event e = {0};
    struct rdl_users users;

    resolve_path(&in, step_text(st, "object"), path);
    if (!find_about(s, path, &e) || rdl_users_of(s->lab, e.object, e.raw, &users) != RDL_OK)
        return resolve_unknown(&in, step_span(st, "object", 0), path,
                               "no queue pair, completion queue or shared receive queue", &s->diag);
    if (count > users.async_events) {
        session_fail(s, st->at, "asynchronous events of %s that wait to be acknowledged: %u", path,
                     users.async_events);
        return diag_remedy(&s->diag, "get_async_event takes one");
    }
    for (uint64_t i = 0; i < count; i++) {
        const enum rdl_status status = rdl_ack_async_event(s->lab, &e);

        if (status != RDL_OK)
            return session_fail_status(s, st->at, st->cmd->name, status);
    }
    return true;
}

bool run_create_comp_channel(struct session *s, const struct step *st)
{
    char name[RDL_VALUE_BYTES];
    struct home home;
    rdl_channel ch;

    if (!verb_home(s, st, &home) ||
        !verb_sent(s, st, &home, rdl_create_comp_channel(s->lab, home.host, st->as.text, &ch)))
        return false;
    verb_own_name(s, OBJ_CHANNEL, ch.raw, name);
    session_made(s, home.name, "%s", name);
    return true;
}

bool run_destroy_comp_channel(struct session *s, const struct step *st)
{
    enum rdl_status status;
    struct home home;
    rdl_channel ch;

    if (!verb_object(s, st, "channel", OBJ_CHANNEL, &ch.raw, &home))
        return false;
    status = rdl_destroy_comp_channel(s->lab, ch);
    return status == RDL_OK || verb_destroyed(s, st, "channel", OBJ_CHANNEL, ch.raw, status);
}

bool run_get_cq_event(struct session *s, const struct step *st)
{
    char path[RDL_VALUE_BYTES];
    enum rdl_status status;
    struct home home;
    rdl_channel ch;
    size_t n = 0;
    rdl_cq cq;

    if (!verb_object(s, st, "channel", OBJ_CHANNEL, &ch.raw, &home))
        return false;
    status = rdl_get_cq_event(s->lab, ch, &cq, &n);
    if (status != RDL_OK)
        return session_fail_status(s, st->at, st->cmd->name, status);
    if (n == 0) {
        rdl_path_of(s->lab, OBJ_CHANNEL, ch.raw, path);
        session_say(s, "no completion event\n  try: why not %s\n", path);
        return true;
    }
    rdl_path_of(s->lab, OBJ_CQ, cq.raw, path);
    session_say(s, "completion event of %s\n", path);
    return true;
}

bool run_ack_cq_events(struct session *s, const struct step *st)
{
    struct rdl_users users = {0};
    enum rdl_status status;
    struct home home;
    rdl_cq cq;

    if (!verb_object(s, st, "cq", OBJ_CQ, &cq.raw, &home))
        return false;
    status = rdl_ack_cq_events(s->lab, cq, (uint32_t)step_number(st, "count"));
    if (status != RDL_ERR_STATE || rdl_users_of(s->lab, OBJ_CQ, cq.raw, &users) != RDL_OK)
        return status == RDL_OK || session_fail_status(s, st->at, st->cmd->name, status);
    session_fail(s, st->at, "completion events of %s that wait to be acknowledged: %u",
                 step_text(st, "cq"), users.completion_events);
    return diag_remedy(&s->diag, "get_cq_event takes one");
}
