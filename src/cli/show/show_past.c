/* SPDX-License-Identifier: MIT */
/* The subjects of `show` that look at the record: frames, events and the lives of work requests. */
#include <string.h>

#include "cli/lang/suggest.h"
#include "cli/show/show_events.h"
#include "cli/show/show_life.h"
#include "cli/show/show_packet.h"
#include "cli/show/showing.h"
#include "emu/base/quantity.h"
#include "emu/trace/kind.h"
#include "emu/trace/names.h"
#include "print/show_text.h"
#include "tree/tree.h"

/* Returns true if a recorded message took the shortcut of a machine. */
static bool has_copied(const struct past *p)
{
    for (size_t i = 0; i < p->n; i++) {
        if (past_is_copied(past_at(p, i)))
            return true;
    }
    return false;
}

/* Reports why the frame of event @id cannot be shown. */
static void refuse_packet(struct showing *s, const char *word, ev_id id)
{
    char why[200];
    struct text t = text_on(why, sizeof(why));
    struct text remedy = text_on(s->err->remedy, sizeof(s->err->remedy));
    const uint64_t frames = id ? 0 : past_frames_forgotten(&s->past);
    const struct ev *e = id ? past_find(&s->past, id) : NULL;

    if (frames) {
        past_add_frames_forgotten(&t, &s->past, frames);
    } else if (!id && has_copied(&s->past)) {
        text_add(&t, "all messages took the shortcut of a machine: none was in a frame");
        text_addf(&remedy, "\"explain shortcut\" says more");
    } else if (!id) {
        text_add(&t, s->past.forgotten || s->past.gap_from ? "no frame is recorded (any more)"
                                                           : "no frame has been sent yet");
    } else if (e && past_is_copied(e)) {
        text_addf(&t, "%s is of a message that took the shortcut: it was in no frame", word);
        text_addf(&remedy, "\"explain shortcut\" says more");
    } else if (e) {
        past_add_frames_forgotten(&t, &s->past, 1);
    } else {
        past_add_not_there(&t, &s->past, id);
        past_add_absence(&remedy, &s->past, id);
        if (remedy.len == 0)
            text_addf(&remedy, "\"%sevents last 20\" lists what has happened",
                      s->lab ? "show " : "");
    }
    (void)showing_refuse(s, RDL_ERR_NOT_FOUND, word ? 1 : 0, 0, "%s", why);
}

enum rdl_status showing_packet(struct showing *s)
{
    const char *word = showing_word(s, 1);
    ev_id id = 0;
    enum rdl_status st;

    if (word && strcmp(word, "last") != 0 && !ev_id_parse(word, &id))
        return showing_refuse(
            s, RDL_ERR_INVAL, 1, 0,
            "which packet? that of an event like #34.3, which \"show events kinds=tx\" "
            "lists, or \"last\"");
    st = show_packet(s->out, &s->past, id, s->rq->form);
    if (st == RDL_ERR_INVAL)
        return showing_refuse(s, st, 1, 0, "%s is about no frame; tx, rx, drop and lost are", word);
    if (st == RDL_ERR_NOT_FOUND)
        refuse_packet(s, word, id);
    return st;
}

/* Reports the unknown event kind at offset @at of the list. */
static enum rdl_status refuse_kind(struct showing *s, size_t at)
{
    char word[64];
    struct text t = text_on(word, sizeof(word));
    struct text remedy = text_on(s->err->remedy, sizeof(s->err->remedy));
    struct suggestion near;
    size_t nth = 0;

    for (size_t i = 0; i < at; i++)
        nth += s->rq->kinds[i] == ',';
    text_addn(&t, s->rq->kinds + at, strcspn(s->rq->kinds + at, ","));
    near = suggestion_for(word);
    for (unsigned k = 0; k < EV_COUNT; k++)
        suggest_offer(&near, ev_schema((enum ev_kind)k)->name);
    if (near.best)
        text_addf(&remedy, "did you mean \"%s\"?", near.best);
    else
        text_add(&remedy, "like tx, rx, cqe, lost; \"show events\" tells the kind of each");
    s->err->key = "kinds";
    return showing_refuse(s, RDL_ERR_INVAL, s->rq->n_words, nth,
                          "no kind of event is called \"%s\"", word);
}

static enum rdl_status refuse_host(struct showing *s)
{
    struct text remedy = text_on(s->err->remedy, sizeof(s->err->remedy));

    text_add(&remedy,
             s->lab ? "\"show hosts\" lists the hosts" : "\"rdmalab show FILE\" lists them");
    s->err->key = "host";
    return showing_refuse(s, RDL_ERR_NOT_FOUND, s->rq->n_words, 0, "no host is called \"%s\"",
                          s->rq->host);
}

/* Returns true if word 1 asks for all events, or for all that belong to the story: those are not
 * folded.
 */
static bool asks_for_all(const struct showing *s)
{
    const char *word = showing_word(s, 1);

    return word && (strcmp(word, "all") == 0 || strcmp(word, "full") == 0);
}

/* Parses the words from 1 on: "all" or "full", "last 10", "#3..#9" or nothing.  Routine events are
 * included after "all", in a range, and if kinds are given.
 */
static enum rdl_status read_range(struct showing *s, struct event_filter *f)
{
    const bool all = showing_word(s, 1) && strcmp(showing_word(s, 1), "all") == 0;
    const size_t i = asks_for_all(s) ? 2 : 1;
    const char *word = showing_word(s, i), *number = showing_word(s, i + 1);
    const bool last = word && strcmp(word, "last") == 0;
    uint64_t n = 10;

    f->story = !all && !s->rq->kinds && (!word || last);
    if (last && number && (quantity_parse(QUANTITY_NUMBER, number, &n) || n == 0))
        return showing_refuse(s, RDL_ERR_INVAL, i + 1, 0, "how many? a number from 1");
    if (last)
        f->last = (size_t)n;
    else if (word && ev_kind_find(word) < EV_COUNT)
        return showing_refuse(s, RDL_ERR_INVAL, i, 0, "events of one kind: show events kinds=%s",
                              word);
    else if (word && !event_filter_range(f, word))
        return showing_refuse(
            s, RDL_ERR_INVAL, i, 0,
            "which? a range like #3..#9, a tick like #3, all, full, last N, or kinds=tx,rx");
    else if (number)
        return showing_refuse(s, RDL_ERR_INVAL, i + 1, 0, "nothing can follow the range");
    if (showing_word(s, i + 2))
        return showing_refuse(s, RDL_ERR_INVAL, i + 2, 0, "nothing can follow here");
    return RDL_OK;
}

static enum rdl_status read_filter(struct showing *s, struct event_filter *f)
{
    const enum rdl_status st = read_range(s, f);
    size_t at;

    if (st != RDL_OK)
        return st;
    if (s->rq->from && !ev_id_parse(s->rq->from, &f->from)) {
        s->err->key = "from";
        return showing_refuse(s, RDL_ERR_INVAL, s->rq->n_words, 0,
                              "from where? an event like #12.3, or a tick like #12");
    }
    if (s->rq->kinds && !event_filter_kinds(f, s->rq->kinds, &at))
        return refuse_kind(s, at);
    if (!s->rq->host)
        return RDL_OK;
    f->host = ev_names_find_host(s->past.names, s->rq->host);
    return f->host == EV_HOST_NONE ? refuse_host(s) : RDL_OK;
}

enum rdl_status showing_events(struct showing *s)
{
    struct event_filter f = event_filter_all();
    const enum rdl_status st = read_filter(s, &f);
    const char *first = showing_word(s, 1);
    const bool all = asks_for_all(s);
    const char *range = all ? showing_word(s, 2) : first;
    char again[SHOW_LINE_BYTES];
    struct text t = text_on(again, sizeof(again));
    const struct event_look look = {
        .form = s->rq->form,
        .colour = s->rq->colour,
        .again = again,
        .from = s->rq->from,
        .folds = !all && (!range || strcmp(range, "last") == 0),
        .lines_max = s->rq->lines_max,
    };

    if (st != RDL_OK)
        return st;
    if (!f.story && !s->rq->kinds)
        text_add(&t, " all");
    else if (all)
        text_addf(&t, " %s", first);
    if (range && strcmp(range, "last") != 0)
        text_addf(&t, " %s", range);
    if (s->rq->kinds)
        text_addf(&t, " kinds=%s", s->rq->kinds);
    if (s->rq->host)
        text_addf(&t, " host=%s", s->rq->host);
    show_events_as(s->out, &s->past, &f, &look);
    return RDL_OK;
}

/* Reports why the life of the requested work request cannot be shown. */
static enum rdl_status refuse_life(struct showing *s, enum rdl_status st, size_t at)
{
    const char *path = showing_word(s, 1);
    struct text remedy = text_on(s->err->remedy, sizeof(s->err->remedy));

    if (st == RDL_ERR_UNSUPPORTED)
        return showing_refuse(s, st, 1, 0, "a saved trace has events, and no state");
    if (st == RDL_ERR_INVAL)
        return showing_refuse(
            s, st, 1, 0,
            "%s is no work request; \"life h1.qp wr_id=1\", \"life h1.cq.wc[0]\" and the "
            "event of a post are",
            path);
    if (st != RDL_ERR_NOT_FOUND)
        return st;
    if (at && path)
        return showing_report_path(s, st, 1, at);
    text_addf(&remedy, "\"%sevents kinds=post_send,post_recv,post_srq_recv\" lists what was posted",
              s->lab ? "show " : "");
    if (s->rq->has_wr_id)
        return showing_refuse(s, st, path ? 1 : 0, 0,
                              "no work request with wr_id=%llu is recorded there",
                              (unsigned long long)s->rq->wr_id);
    return showing_refuse(s, st, path ? 1 : 0, 0, "no such work request is recorded");
}

enum rdl_status showing_life(struct showing *s)
{
    const struct life_target target = {showing_word(s, 1), s->rq->has_wr_id, s->rq->wr_id};
    size_t at = 0;
    const enum rdl_status st = show_life(s->out, s->lab, &s->past, &target, s->rq->form, &at);

    if (st == RDL_ERR_NOT_FOUND && s->lab && target.path && !ev_id_begins(target.path) && at == 0) {
        struct rdl_value v;

        if (!strstr(target.path, ".wc[") &&
            rdl_inspect(s->lab, target.path, &v, &at) == RDL_ERR_NOT_FOUND)
            return showing_report_path(s, st, 1, at);
        at = 0;
    }
    return st == RDL_OK ? st : refuse_life(s, st, at);
}
