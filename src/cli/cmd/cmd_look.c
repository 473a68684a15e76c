/* SPDX-License-Identifier: MIT */
/* Looking: show, why, explain, export, help. */
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/export_graph.h"
#include "cli/cmd/why_bytes.h"
#include "cli/cmd/why_event.h"
#include "cli/cmd/why_not.h"
#include "cli/explain/explain.h"
#include "cli/explain/explain_asked.h"
#include "cli/export/export.h"
#include "cli/help/help.h"
#include "cli/lang/suggest.h"
#include "cli/lang/words.h"
#include "cli/lessons/scenarios.h"
#include "cli/session/files.h"
#include "cli/session/resolve.h"
#include "cli/show/show.h"
#include "cli/show/show_pvrdma.h"
#include "cli/show/show_vq.h"
#include "cli/timeline/timeline.h"
#include "cli/why/why.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/trace/event.h"
#include "emu/trace/kind.h"
#include "emu/trace/schema.h"
#include "print/show_text.h"
#include "print/utf8.h"
#include "process/out_file.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "tree/lab_past.h"

#define SHOW_WORDS_MAX 8u

/* Puts the words of a list into one with commas. */
static const char *joined(const struct arg *a, char *buf, size_t cap)
{
    struct text t = text_on(buf, cap);

    for (size_t i = 0; i < a->n; i++)
        text_addf(&t, i ? ",%s" : "%s", a->v[i].text);
    return a->n ? buf : NULL;
}

/* Fails: says why it cannot be shown, and what can. */
static bool explain_show(struct session *s, const struct arg *what, const struct show_request *rq,
                         const struct show_error *e, struct span at, enum rdl_status status)
{
    const struct scope in = session_scope(s);
    struct suggestion near = {0};
    const char *leads;

    if (status == RDL_ERR_NOT_FOUND && e->at > 0 && e->word < rq->n_words) {
        const char *path = rq->words[e->word];

        resolve_unknown(&in, at, path, "nothing", &s->diag);
        return strchr(path, ':') && diag_remedy(&s->diag, "\"read %s\" shows bytes", path);
    }
    session_fail(s, at, "%s", e->text);
    if (e->remedy[0])
        return diag_remedy(&s->diag, "%s", e->remedy);
    if (status != RDL_ERR_NOT_FOUND || e->word != 0 || what->n == 0)
        return false;
    leads = suggest_operand("show", what->v[0].text);
    if (leads)
        return diag_remedy(&s->diag, "%s", leads);
    near = suggestion_for(what->v[0].text);
    for (size_t i = 0; show_subject(i); i++)
        suggest_offer(&near, show_subject(i));
    if (near.best && strcmp(near.best, what->v[0].text) == 0)
        return false; /* it was meant, and there is none of it */
    if (near.best)
        return diag_remedy(&s->diag, "did you mean \"%s\"?", near.best);
    return diag_remedy(&s->diag, "\"show\" lists the hosts, \"help show\" what can be shown");
}

/* Returns true if @word is a name on the host of the scope, and writes its path to @ret.  Subjects,
 * which stand @first, and words like `last` are no names.
 */
static bool names_own(const struct scope *in, bool first, const char *word,
                      char ret[SESSION_PATH_BYTES])
{
    struct rdl_value v;
    size_t at;

    if (!in->host[0])
        return false;
    for (size_t i = 0; first && show_subject(i); i++) {
        if (strcmp(show_subject(i), word) == 0)
            return false;
    }
    resolve_path(in, word, ret);
    return strchr(word, '.') || rdl_inspect(in->lab, ret, &v, &at) == RDL_OK;
}

bool run_show(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    const struct arg *what = step_arg(st, "what");
    char kinds[512], paths[SHOW_WORDS_MAX][SESSION_PATH_BYTES];
    const char *words[SHOW_WORDS_MAX];
    const struct past past = past_of_lab(s->lab);
    struct show_error e = {0};
    struct show_request rq = {
        .words = words,
        .n_words = what->n,
        .kinds = joined(step_arg(st, "kinds"), kinds, sizeof(kinds)),
        .host = step_text(st, "host"),
        .from = step_text(st, "from"),
        .has_wr_id = step_has(st, "wr_id"),
        .wr_id = step_number_or(st, "wr_id", 0),
        .form = (enum show_form)step_number(st, "format"),
        .layout = (enum show_layout)step_number(st, "layout"),
        .colour = s->config.colour,
        /* At a prompt only: what a pipe or a script prints is never cut. */
        .lines_max = s->prompt.at_terminal && s->run.block && s->run.block->n_sources == 0
                         ? show_lines_of_terminal(s->config.out)
                         : 0,
        .looks = &s->display.vq_looks,
        .live_ops = s->config.live_ops,
        .live = s->outside.live,
    };
    enum rdl_status status;
    struct span at;

    if (what->n > SHOW_WORDS_MAX)
        return session_fail(s, what->v[SHOW_WORDS_MAX].at, "too many words");
    for (size_t i = 0; i < what->n; i++) {
        words[i] = what->v[i].text;
        if (names_own(&in, i == 0, words[i], paths[i]))
            words[i] = paths[i];
    }
    /* "show qp json" is what people type who know such commands. */
    if (rq.n_words > 0 && show_form_of(what->v[rq.n_words - 1].text, &rq.form))
        rq.n_words--;
    status = show(s->config.out, s->lab, &past, &rq, &e);
    if (status == RDL_OK)
        return true;
    at = e.key ? step_span(st, e.key, e.at) : e.word < what->n ? what->v[e.word].at : st->at;
    if (e.word < what->n && e.at < at.len) {
        at.at += e.at;
        at.len -= e.at;
    }
    return explain_show(s, what, &rq, &e, at, status);
}

/* The recorded events do not answer what was asked about event @id, or about none if that is 0: the
 * remedy says what is missing of them, or @otherwise.
 */
static bool remedy_of_missing(struct session *s, ev_id id, const char *otherwise)
{
    const struct past past = past_of_lab(s->lab);
    char missing[SHOW_LINE_BYTES];
    struct text t = text_on(missing, sizeof(missing));

    if (id)
        past_add_absence(&t, &past, id);
    else
        past_add_missing(&t, &past, 0, 0);
    return diag_remedy(&s->diag, "%s", t.len ? missing : otherwise);
}

/* Adds how to ask about a completion status, the last completion with it if one is recorded. */
static bool remedy_of_status(struct session *s, const struct past *past, const struct enum_row *row)
{
    char id[64];
    struct text t = text_on(id, sizeof(id));

    const ev_id last = why_last_with_status(past, row->value);

    if (!last)
        return diag_remedy(&s->diag, "\"explain %s\" tells its meaning", row->name);
    ev_add_id(&t, last);
    return diag_remedy(
        &s->diag,
        "\"explain %s\" tells its meaning, \"why %s\" asks about the last completion "
        "with it",
        row->name, id);
}

/* Fails because nothing is called @target: a completion that does not exist yet, a completion
 * status, a kind of event, or a wrong name.
 */
static bool tell_unknown(struct session *s, const struct past *past, struct span at,
                         const char *target)
{
    const struct enum_row *status = enum_by_name(&enum_wc_status, target);
    const struct scope in = session_scope(s);
    const uint32_t kind = ev_kind_find(target);
    char cq[TREE_PATH_BYTES];
    uint64_t n;

    if (tree_completion(s->lab, target, cq, &n)) {
        session_fail(s, at, "%s is not there yet", target);
        return diag_remedy(&s->diag, "why not %s", target);
    }
    if (status) {
        session_fail(s, at, "%s is the status of a completion, not its name", status->name);
        return remedy_of_status(s, past, status);
    }
    resolve_unknown(&in, at, target, "nothing", &s->diag);
    if (kind < EV_COUNT)
        return diag_remedy(&s->diag,
                           "\"show events kinds=%s\" lists these events, \"why #12.3\" asks "
                           "about one",
                           target);
    return false;
}

bool look_find_event(struct session *s, const struct step *st, const struct past *past, ev_id *ret)
{
    const struct scope in = session_scope(s);
    const char *target = step_text(st, "target");
    char path[SESSION_PATH_BYTES];
    struct span at = step_span(st, "target", 0);
    char why_not[64];
    struct text t = text_on(why_not, sizeof(why_not));
    struct rdl_value v;
    size_t off = 0;

    if (target && !ev_id_begins(target)) {
        resolve_path(&in, target, path);
        target = path;
    }
    switch (why_find(s->lab, past, target, ret, &off)) {
    case RDL_OK:
        return true;
    case RDL_ERR_INVAL:
        if (off < at.len) {
            at.at += off;
            at.len -= off;
        }
        session_fail(s, at, "this names no event and no object");
        return diag_remedy(&s->diag, "for example: why #12.3, why h1.cq.wc[0], why h1.qp, why "
                                     "h1.lnet.event[0]");
    default:
        if (!target)
            return session_fail(s, at, "nothing has happened yet");
        if (!ev_id_begins(target) && rdl_inspect(s->lab, target, &v, &off) != RDL_OK)
            return tell_unknown(s, past, at, target);
        if (ev_id_parse(target, ret)) {
            past_add_not_there(&t, past, *ret);
            session_fail(s, at, "%s", why_not);
        } else if (past->forgotten || past->gap_from) {
            session_fail(s, at, "nothing that needs a reason is recorded of %s (any more)", target);
        } else {
            session_fail(s, at, "nothing has happened to %s that needs a reason", target);
            if (tree_is(s->lab, target, NODE_mr))
                return diag_remedy(&s->diag,
                                   "\"read %s[0:16]\" prints its bytes, \"why %s[0:16]\" tells "
                                   "who wrote them",
                                   target, target);
        }
        return remedy_of_missing(s, *ret, "\"show events last 20\" lists what has happened");
    }
}

/* `why h1.mr[0:16]`: who wrote these bytes. */
static bool why_memory(struct session *s, const struct step *st, const struct past *past)
{
    const struct scope in = session_scope(s);
    const struct span at = step_span(st, "target", 0);
    char path[SESSION_PATH_BYTES];
    const struct ev *e;
    struct memory m;

    if (!value_slice_check("memory", VAL_BYTES, step_text(st, "target"), at, &s->diag))
        return false;
    resolve_path(&in, step_text(st, "target"), path);
    if (!resolve_memory_text(&in, path, at, &m, &s->diag))
        return false;
    if (m.from >= m.region_bytes || m.bytes > m.region_bytes - m.from)
        return session_fail(s, at, "%s ends behind its region, which has %llu bytes", path,
                            (unsigned long long)m.region_bytes);
    if (m.iova != m.addr) {
        session_fail(s, at, "the writes to %s cannot be told from those to other memory", path);
        return diag_remedy(&s->diag, "its iova is not its address in the program; \"show events "
                                     "kinds=dma_write\" lists what devices wrote");
    }
    if (m.bytes == 0) {
        fprintf(s->config.out, "nothing: %s is 0 bytes long\n", path);
        return true;
    }
    e = why_bytes_print(s, s->config.out, past, path, &m);
    if (e && e->kind != EV_mem_write)
        (void)why_event_print(s, s->config.out, past, e->id, NULL);
    return true;
}

bool run_why(struct session *s, const struct step *st)
{
    const struct past past = past_of_lab(s->lab);
    const struct scope in = session_scope(s);
    const char *target = step_text(st, "target");
    const struct span at = step_span(st, "target", 0);
    ev_id id = 0;

    if (step_has(st, "not") && target) {
        session_fail(s, at, "either why %s or why not", target);
        return diag_remedy(&s->diag, "put not before what is missing");
    }
    if (step_has(st, "not"))
        return why_not_run(s, step_text(st, "not"), step_span(st, "not", 0));
    if (target && why_bytes_is_memory(&in, target))
        return why_memory(s, st, &past);
    if (!look_find_event(s, st, &past, &id))
        return false;
    if (!target)
        why_tell_choice(s->config.out, &past, id);
    if (!why_event_print(s, s->config.out, &past, id, target)) {
        session_fail(s, at, "this event is not recorded (any more)");
        return remedy_of_missing(s, id, "\"show events\" lists those that are");
    }
    return true;
}

bool run_apropos(struct session *s, const struct step *st)
{
    const char *word = step_text(st, "word");

    if (scenarios_apropos(s->config.out, word))
        return true;
    session_fail(s, step_span(st, "word", 0), "nothing has to do with \"%s\"", word);
    return diag_remedy(&s->diag, "a part of the word may find more; \"help\" lists the commands");
}

/* Appends what was asked as one text: the word, and those behind it. */
static void add_words(struct text *t, const struct step *st)
{
    const struct arg *more = step_arg(st, "more");

    text_add(t, step_text(st, "word"));
    for (size_t i = 0; i < more->n; i++)
        text_addf(t, " %s", more->v[i].text);
}

bool run_explain(struct session *s, const struct step *st)
{
    const bool source = step_has(st, "source");
    char asked[EXPLAIN_ASKED_BYTES], near[DIAG_REMEDY_BYTES];
    struct text a = text_on(asked, sizeof(asked)), t = text_on(near, sizeof(near));
    struct rdl_value v;
    size_t off;
    ev_id id;

    if (!step_has(st, "word")) {
        explain_subjects(s->config.out);
        return true;
    }
    add_words(&a, st);
    if (explain_asked(s->config.out, s->lab, asked, source))
        return true;
    /* Every named object of the lab is of a known kind. */
    if (rdl_inspect(s->lab, asked, &v, &off) == RDL_OK && v.type == RDL_NODE &&
        explain_asked(s->config.out, s->lab, v.text, source))
        return true;
    session_fail(s, step_span(st, "word", 0), "nothing is known of \"%s\"", asked);
    if (asked[0] == '#' && ev_id_parse(asked, &id))
        return diag_remedy(&s->diag, "\"why %s\" tells what led to it", asked);
    if (suggest_other_word(asked))
        return diag_remedy(&s->diag, "%s", suggest_other_word(asked));
    explain_near(&t, asked);
    return diag_remedy(&s->diag, "%s", near);
}

bool run_record(struct session *s, const struct step *st)
{
    const struct rdl_record_limits now = rdl_record_limits(s->lab);

    if (step_has(st, "keep") || step_has(st, "frames")) {
        rdl_record_bound(s->lab, (size_t)step_number_or(st, "keep", now.events),
                         (size_t)step_number_or(st, "frames", now.frame_bytes));
    } else if (!step_has(st, "state")) {
        char kept[96];
        struct text t = text_on(kept, sizeof(kept));

        text_add(&t, "keep=");
        quantity_add(&t, QUANTITY_SIZE, now.events);
        text_add(&t, " frames=");
        quantity_add(&t, QUANTITY_SIZE, now.frame_bytes);
        session_fail(s, st->at, "record: what is to change? It is at %s", kept);
        return diag_remedy(&s->diag, "record off, record on, record keep=4m frames=1g");
    }
    if (!step_has(st, "state"))
        return true;
    if (step_number_or(st, "state", RECORD_on) == RECORD_off)
        rdl_record_pause(s->lab);
    else
        rdl_record_resume(s->lab);
    return true;
}

/* Reads the event that @key names; 0: not given. */
static bool read_event(struct session *s, const struct step *st, const char *key, ev_id *ret)
{
    const char *text = step_text(st, key);

    *ret = 0;
    if (!text || ev_id_parse(text, ret))
        return true;
    session_fail(s, step_span(st, key, 0), "%s: \"%s\" is no event", key, text);
    return diag_remedy(&s->diag,
                       "an event is like #34.3, a tick like #34; \"show events last 20\"");
}

/* Warns if the export does not have all events: the file is read later. */
static void warn_of_missing(struct session *s, const struct step *st, const struct past *past,
                            const struct picture_options *options)
{
    const bool is_capture = step_number(st, "form") == EXPORT_PCAPNG;
    const uint64_t frames = is_capture ? past_frames_forgotten(past) : 0;
    char missing[SHOW_LINE_BYTES];
    struct text t = text_on(missing, sizeof(missing));

    if (!is_capture || past->forgotten_frames || past->gap_from)
        past_add_missing(&t, past, options->from, options->to);
    if (t.len && frames)
        text_add(&t, "; ");
    if (frames)
        past_add_frames_forgotten(&t, past, frames);
    if (t.len)
        fprintf(s->config.err, "%s: %s\n", SHOWN_NAME(step_text(st, "file")), missing);
}

/* Warns if a picture does not have all packets and hosts because of its limits. */
static void warn_of_left(struct session *s, const struct step *st,
                         const struct picture_options *options)
{
    char left[SHOW_LINE_BYTES];
    struct text t = text_on(left, sizeof(left));

    export_add_left(&t, options->ret_left, options->n_packets, "from=", "packets=");
    if (t.len)
        fprintf(s->config.err, "%s: %s\n", SHOWN_NAME(step_text(st, "file")), left);
}

/* Exports the picture of a virtqueue, which shows its state and not events. */
static bool export_queue(struct session *s, FILE *f, const struct step *st, bool as_text)
{
    const struct past past = past_of_lab(s->lab);
    const struct vq_view view = {SHOW_TEXT, NULL};
    const struct scope in = session_scope(s);
    char path[SESSION_PATH_BYTES];
    enum rdl_status status;
    size_t at = 0;

    resolve_path(&in, step_text(st, "queue"), path);
    if (tree_has_pvrdma(s->lab, path))
        status = as_text ? show_ring(f, s->lab, path, SHOW_TEXT, &at)
                         : export_ring(f, s->lab, path, &at);
    else
        status = as_text ? show_vq(f, s->lab, &past, path, &view, &at)
                         : export_vq(f, s->lab, &past, path, &at);
    if (status == RDL_OK)
        return true;
    if (status == RDL_ERR_NOT_FOUND)
        return resolve_unknown(&in, step_span(st, "queue", 0), path, "nothing", &s->diag);
    if (status != RDL_ERR_INVAL)
        return session_fail_status(s, st->at, "export", status);
    if (tree_is(s->lab, path, NODE_queue)) {
        session_fail(s, step_span(st, "queue", 0), "%s carries frames, and no requests", path);
        return diag_remedy(&s->diag, "\"show %s\" has its rings", path);
    }
    session_fail(s, step_span(st, "queue", 0), "%s has no virtqueue", path);
    return diag_remedy(&s->diag, "h1.qp.sq, h1.cq and h1.ctrl have");
}

/* Writes the export @st to @f.  *@ret_n is the number of its parts: see export_add_written(). */
static bool export_to(struct session *s, FILE *f, const struct step *st, bool terminal,
                      uint64_t *ret_n)
{
    static picture_draw *const pictures[] = {
#define PICTURE(NAME, name, text) [EXPORT_##NAME] = name##_draw,
#include "viz/pictures.def"
#undef PICTURE
    };
    const enum export_form form = (enum export_form)step_number(st, "form");
    const bool picture = form < ARRAY_LEN(pictures);
    char heading[2 * DIAG_MESSAGE_BYTES];
    struct text page = text_on(heading, sizeof(heading));
    const struct past past = past_of_lab(s->lab);
    const struct past_about about = {
        .title = session_title(s),
        .seed = s->lab_info.seed,
    };
    struct picture_left left = {0};
    struct picture_options options = {.title = about.title ? SHOWN_LINE(about.title) : NULL,
                                      .failure = s->failure,
                                      .ret_left = &left,
                                      .n_packets = (uint32_t)step_number_or(st, "packets", 0),
                                      .all_rounds = step_has(st, "full"),
                                      .colour = terminal && s->config.colour};
    enum rdl_status status;

    *ret_n = EXPORT_UNCOUNTED;
    if (export_is_graph(form))
        return export_graph(s, f, st, terminal || export_is_text(step_text(st, "file")), ret_n);
    if (form == EXPORT_VQ)
        return export_queue(s, f, st, terminal || export_is_text(step_text(st, "file")));
    if (!read_event(s, st, "from", &options.from) || !read_event(s, st, "to", &options.to))
        return false;
    if (options.to && options.from > ev_id_last(options.to)) {
        session_fail(s, step_span(st, "from", 0), "from=%s is after to=%s", step_text(st, "from"),
                     step_text(st, "to"));
        return diag_remedy(&s->diag, "the earlier one comes first");
    }
    if (s->failure)
        text_addf(&page, "%s%s%s", s->failure, options.title ? ": " : "",
                  options.title ? options.title : "");
    if (form == EXPORT_TIMELINE)
        status =
            timeline_write(f, &past,
                           &(struct timeline_options){.title = page.len ? heading : options.title,
                                                      .from = options.from,
                                                      .to = options.to,
                                                      .n_packets = options.n_packets,
                                                      .ret_left = &left});
    else if (picture)
        status = export_picture(f, pictures[form], &past, &options,
                                !terminal && !export_is_text(step_text(st, "file")));
    else if (form == EXPORT_PCAPNG)
        status = export_pcapng(f, &past, &about, ret_n);
    else
        status = export_events(f, &past, &about);
    if (status != RDL_OK)
        return session_fail_status(s, st->at, "export", status);
    if (form != EXPORT_PCAPNG)
        *ret_n = form == EXPORT_EVENTS ? past.n : left.n_drawn;
    if (!terminal || !picture)
        warn_of_missing(s, st, &past, &options);
    if ((picture || form == EXPORT_TIMELINE) && !terminal)
        warn_of_left(s, st, &options);
    return true;
}

/* Returns an example of the operand behind the file, with a blank before it; "": none is needed. */
static const char *example_of(enum export_form form)
{
    if (form == EXPORT_VQ)
        return " h1.qp.sq";
    return form == EXPORT_STATES ? " h1.qp" : "";
}

bool run_export(struct session *s, const struct step *st)
{
    const char *name = step_text(st, "file");
    const bool terminal = strcmp(name, "-") == 0;
    struct out_file o = {.f = s->config.out};
    const char *suffix, *why_not = NULL;
    char written[SHOW_LINE_BYTES];
    struct text t = text_on(written, sizeof(written));
    uint64_t n;
    bool ok;

    if (terminal)
        return export_to(s, o.f, st, true, &n);
    suffix = export_wants_suffix((enum export_form)step_number(st, "form"), name);
    if (suffix) {
        session_fail(s, step_span(st, "file", 0), "%s: the name must end in %s", name, suffix);
        return diag_remedy(&s->diag, "for example: export %s drop%.*s%s", step_text(st, "form"),
                           (int)strcspn(suffix, " ,"), suffix,
                           example_of((enum export_form)step_number(st, "form")));
    }
    if (!gate_write(s, st, "file", export_mark_of((enum export_form)step_number(st, "form"), name),
                    &o))
        return false;
    ok = export_to(s, o.f, st, false, &n);
    if (ok)
        why_not = out_file_close(&o);
    else
        out_file_drop(&o);
    if (why_not)
        return session_fail(s, step_span(st, "file", 0), "%s: %s", name, why_not);
    if (!ok)
        return false;
    export_add_written(&t, (enum export_form)step_number(st, "form"), SHOWN_NAME(name), n);
    session_say(s, "%s\n", written);
    return true;
}

/* A parameter of a command, or a word that may stand behind it. */
static bool help_with_part(struct session *s, const struct step *st, const char *topic,
                           const char *part)
{
    if (!cmd_find(topic, false)) {
        session_fail(s, step_span(st, "topic", 0), "\"%s\" is no command", topic);
        return diag_remedy(&s->diag, "\"help\" lists the commands");
    }
    if (!help_part(s->config.out, topic, part) &&
        !explain_asked(s->config.out, s->lab, part, false)) {
        session_fail(s, step_span(st, "part", 0), "no help for \"%s\" behind %s", part, topic);
        return diag_remedy(&s->diag, "\"help %s\" lists what it takes", topic);
    }
    fprintf(s->config.out, "\"help %s\" tells all that it takes\n", topic);
    return true;
}

bool run_help(struct session *s, const struct step *st)
{
    const char *topic = step_text(st, "topic");
    const char *near;

    if (!topic) {
        help_overview(s->config.out);
        return true;
    }
    if (step_text(st, "part"))
        return help_with_part(s, st, topic, step_text(st, "part"));
    if (help_topic(s->config.out, topic) || explain_asked(s->config.out, s->lab, topic, false))
        return true;
    near = help_suggest(topic);
    session_fail(s, step_span(st, "topic", 0), "no help for \"%s\"", topic);
    if (suggest_other_word(topic))
        return diag_remedy(&s->diag, "%s", suggest_other_word(topic));
    if (near)
        return diag_remedy(&s->diag, "did you mean \"%s\"?", near);
    return diag_remedy(&s->diag, "\"help\" lists the commands");
}
