/* SPDX-License-Identifier: MIT */
#include "cli/show/show.h"

#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "cli/lang/suggest.h"
#include "cli/show/show_centre.h"
#include "cli/show/show_dump.h"
#include "cli/show/show_events.h"
#include "cli/show/show_lab.h"
#include "cli/show/show_life.h"
#include "cli/show/show_live.h"
#include "cli/show/show_made.h"
#include "cli/show/show_map.h"
#include "cli/show/show_memory.h"
#include "cli/show/show_objects.h"
#include "cli/show/show_packet.h"
#include "cli/show/show_pvrdma.h"
#include "cli/show/show_rdma.h"
#include "cli/show/show_states.h"
#include "cli/show/show_summary.h"
#include "cli/show/show_vq.h"
#include "cli/show/show_wqe.h"
#include "cli/show/showing.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio_rdma/config.h"
#include "emu/trace/kind.h"
#include "emu/trace/names.h"
#include "print/show_text.h"
#include "tree/tree.h"
#include "tree/tree_json.h"

enum rdl_status showing_refuse(struct showing *s, enum rdl_status st, size_t word, size_t at,
                               const char *fmt, ...)
{
    struct text t;
    va_list args;

    s->err->word = word;
    s->err->at = at;
    t = text_on(s->err->text, sizeof(s->err->text));
    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    return st;
}

const char *showing_word(const struct showing *s, size_t i)
{
    return i < s->rq->n_words ? s->rq->words[i] : NULL;
}

enum rdl_status showing_report_path(struct showing *s, enum rdl_status st, size_t i, size_t at)
{
    const char *path = showing_word(s, i) ? showing_word(s, i) : "";

    if (st == RDL_OK)
        return st;
    if (st == RDL_ERR_NOT_FOUND)
        return showing_refuse(s, st, i, at, "there is no \"%s\"%s%.*s", path + at, at ? " in " : "",
                              (int)(at && path[at - 1] == '.' ? at - 1 : at), path);
    return showing_refuse(s, st, i, at, "%s: %s", path, rdl_status_str(st));
}

static bool is_text(const struct showing *s)
{
    return s->rq->form == SHOW_TEXT;
}

/* Prints everything at @path for programs: a tree as JSON, or a row per leaf in the other forms. */
static enum rdl_status data_of(struct showing *s, const char *path, bool tool_names,
                               size_t *reterr_at)
{
    enum rdl_status st;

    if (s->rq->form != SHOW_JSON)
        return show_leaves(s->out, s->lab, path, s->rq->form, tool_names, reterr_at);
    st = show_json(s->out, s->lab, path, tool_names, reterr_at);
    if (st == RDL_OK)
        fputc('\n', s->out);
    return st;
}

/* Prints every object of @kind at or below @path. */
static enum rdl_status all_of_kind(struct showing *s, const char *path, enum node_kind kind)
{
    return show_kind(s->out, s->lab, path, kind, s->rq->form, "none");
}

/* Prints @path for people, and who made it. */
static enum rdl_status page_of(struct showing *s, const char *path, size_t *reterr_at)
{
    enum rdl_status st = show_path(s->out, s->lab, &s->past, path, reterr_at);

    if (st != RDL_OK)
        return st;
    if (tree_is(s->lab, path, NODE_host))
        return show_all_made(s->out, s->lab, s->rq, path, NULL);
    show_made(s->out, s->lab, s->rq->live_ops, s->rq->live, path, false);
    return RDL_OK;
}

/* Refuses to show something of PVRDMA at @path, and says what the host has instead. */
static enum rdl_status refuse_not_pvrdma(struct showing *s, const char *path, const char *what,
                                         const char *instead)
{
    struct text remedy = text_on(s->err->remedy, sizeof(s->err->remedy));
    char host[RDL_NAME_BYTES];

    tree_host_of(path, host);
    text_addf(&remedy, instead, tree_is(s->lab, path, NODE_cq) ? path : host);
    return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "%s: only PVRDMA has %s", path, what);
}

/* Handles `ring`: a ring of PVRDMA, or one of its slots. */
static enum rdl_status show_one_ring(struct showing *s)
{
    const char *path = showing_word(s, 1);
    struct text remedy = text_on(s->err->remedy, sizeof(s->err->remedy));
    size_t at = 0;
    enum rdl_status st;

    if (!path)
        return showing_refuse(
            s, RDL_ERR_INVAL, 1, 0,
            "which ring? h1.qp.sq, h1.cq, h1.dsr.notes; h1.qp.sq[0] is one of its slots");
    st = show_ring(s->out, s->lab, path, s->rq->form, &at);
    if (st == RDL_OK)
        return st;
    if (!tree_has_pvrdma(s->lab, path) && tree_is(s->lab, path, NODE_queue)) {
        text_addf(&remedy, "type \"show vq %s\"", path);
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0,
                              "%s is a virtqueue: only PVRDMA has rings in pages", path);
    }
    if (st == RDL_ERR_INVAL && !tree_has_pvrdma(s->lab, path))
        return refuse_not_pvrdma(s, path, "rings in pages", "type \"show vq %s.ctrl\"");
    if (st == RDL_ERR_INVAL)
        return showing_refuse(s, st, 1, 0, "%s is no ring; h1.qp.sq, h1.cq and h1.dsr.events are",
                              path);
    if (st == RDL_ERR_FAULT)
        return showing_refuse(s, st, 1, 0, "%s is not in guest RAM", path);
    return showing_report_path(s, st, 1, at);
}

/* Handles `dsr`: the shared region of a PVRDMA device, or the slots of its commands. */
static enum rdl_status show_one_dsr(struct showing *s)
{
    const char *host = showing_word(s, 1), *more = showing_word(s, 2);
    size_t at = 0;
    enum rdl_status st;

    if (!host)
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "of which host? h1");
    if (more && strcmp(more, "commands") != 0)
        return showing_refuse(s, RDL_ERR_INVAL, 2, 0, "only \"commands\" can follow");
    st = show_dsr(s->out, s->lab, host, more != NULL, s->rq->form, &at);
    if (st == RDL_ERR_INVAL)
        return refuse_not_pvrdma(s, host, "a shared region", "type \"show device %s\"");
    if (st == RDL_ERR_NO_DEVICE)
        return showing_refuse(s, st, 1, 0, "the driver of %s shares no region with the device",
                              host);
    return showing_report_path(s, st, 1, at);
}

/* Handles `uar`: the pages of doorbells of a PVRDMA device. */
static enum rdl_status show_one_uar(struct showing *s)
{
    const char *host = showing_word(s, 1);
    size_t at = 0;
    enum rdl_status st;

    if (!host)
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "of which host? h1");
    st = show_uar(s->out, s->lab, &s->past, host, s->rq->form, &at);
    if (st == RDL_ERR_INVAL)
        return refuse_not_pvrdma(s, host, "pages of doorbells",
                                 "type \"show events kinds=kick host=%s\"");
    return showing_report_path(s, st, 1, at);
}

static enum rdl_status show_one_vq(struct showing *s)
{
    const char *path = showing_word(s, 1);
    struct text remedy = text_on(s->err->remedy, sizeof(s->err->remedy));
    size_t at = 0;
    enum rdl_status st;

    if (!path)
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "which virtqueue? h1.qp.sq, h1.cq, h1.ctrl");
    if (tree_has_pvrdma(s->lab, path)) {
        text_addf(&remedy, "type \"show ring %s\"", path);
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "%s: PVRDMA has no virtqueues", path);
    }
    st = show_vq(s->out, s->lab, &s->past, path, &(struct vq_view){s->rq->form, s->rq->looks}, &at);
    if (st == RDL_ERR_INVAL && tree_is(s->lab, path, NODE_queue))
        return showing_refuse(s, st, 1, 0,
                              "%s carries frames, and no requests; \"show %s\" has its rings", path,
                              path);
    if (st == RDL_ERR_INVAL)
        return showing_refuse(s, st, 1, 0, "%s has no virtqueue; h1.qp.sq, h1.cq and h1.ctrl have",
                              path);
    return showing_report_path(s, st, 1, at);
}

/* Prints the objects of a kind, and who made them. */
static enum rdl_status table_of_kind(struct showing *s, const char *path, enum node_kind kind)
{
    const enum rdl_status st = all_of_kind(s, path, kind);

    if (st != RDL_OK || !is_text(s))
        return st;
    return show_all_made(s->out, s->lab, s->rq, path, showing_word(s, 0));
}

/* Handles qp, cq, mr, pd, ah, srq, cm and the like: one object or all. */
static enum rdl_status show_kind_of(struct showing *s)
{
    const char *word = showing_word(s, 0), *path = showing_word(s, 1);
    const enum node_kind kind = node_find(word, strlen(word));
    size_t at = 0;
    enum rdl_status st;

    if (!path)
        return table_of_kind(s, "", kind);
    if (!tree_is(s->lab, path, kind)) {
        struct rdl_value v;

        st = rdl_inspect(s->lab, path, &v, &at);
        if (st != RDL_OK)
            return showing_report_path(s, st, 1, at);
        if (!tree_is(s->lab, path, NODE_host))
            return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "%s is no %s", path, word);
        return table_of_kind(s, path, kind);
    }
    st = is_text(s) ? page_of(s, path, &at) : data_of(s, path, true, &at);
    return showing_report_path(s, st, 1, at);
}

/* Handles plural words such as faults and links, which name a kind of node. */
static enum rdl_status show_plural(struct showing *s)
{
    const char *word = showing_word(s, 0);
    const size_t ending = strcmp(word, "switches") == 0 ? 2 : 1;

    return all_of_kind(s, "", node_find(word, strlen(word) - ending));
}

static enum rdl_status show_all_counters(struct showing *s)
{
    return show_counters(s->out, s->lab, s->rq->form);
}

static bool is_config_field(const char *word)
{
    return row_field_find(rfc_find("config"), word) != NULL;
}

static enum rdl_status refuse_field(struct showing *s, size_t i)
{
    struct text remedy = text_on(s->err->remedy, sizeof(s->err->remedy));
    struct suggestion near = suggestion_for(showing_word(s, i));

    for (size_t k = 0; k < n_config_rows; k++)
        suggest_offer(&near, config_rows[k].field);
    if (near.best)
        text_addf(&remedy, "did you mean \"%s\"?", near.best);
    else
        text_addf(&remedy, "\"show device %s\" lists them", showing_word(s, 1));
    return showing_refuse(s, RDL_ERR_NOT_FOUND, i, 0,
                          "the device configuration has no field \"%s\"", showing_word(s, i));
}

/* Handles `device`: one host or all, one field or all. */
static enum rdl_status show_devices(struct showing *s)
{
    const bool of_all = !showing_word(s, 1) || is_config_field(showing_word(s, 1));
    const char *path = of_all ? "" : showing_word(s, 1), *field = showing_word(s, of_all ? 1 : 2);
    struct rdl_value v;
    size_t at = 0;

    if (path[0] && rdl_inspect(s->lab, path, &v, &at) != RDL_OK)
        return showing_report_path(s, RDL_ERR_NOT_FOUND, 1, at);
    if (path[0] && !tree_is(s->lab, path, NODE_host))
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "%s is no host", path);
    if (of_all && showing_word(s, 2))
        return showing_refuse(s, RDL_ERR_INVAL, 2, 0,
                              "the host stands before the field: show device %s %s",
                              showing_word(s, 2), field);
    if (field && !is_config_field(field))
        return refuse_field(s, 2);
    show_device(s->out, s->lab, path, field, s->rq->form);
    return RDL_OK;
}

/* Handles `memory`: one host or all. */
static enum rdl_status show_all_memory(struct showing *s)
{
    const char *path = showing_word(s, 1) ? showing_word(s, 1) : "";
    struct rdl_value v;
    size_t at = 0;

    if (path[0] && rdl_inspect(s->lab, path, &v, &at) != RDL_OK)
        return showing_report_path(s, RDL_ERR_NOT_FOUND, 1, at);
    if (path[0] && !tree_is(s->lab, path, NODE_host))
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "%s is no host", path);
    return show_memory(s->out, s->lab, &s->past, path, s->rq->form);
}

static enum rdl_status show_all_due(struct showing *s)
{
    return show_due(s->out, s->lab, s->rq->form);
}

/* Handles `tree`: every value at or below a path, or of the whole lab. */
static enum rdl_status show_whole_tree(struct showing *s)
{
    const char *path = showing_word(s, 1) ? showing_word(s, 1) : "";
    size_t at = 0;
    const enum rdl_status st = data_of(s, path, false, &at);

    return showing_report_path(s, st, 1, at);
}

static enum rdl_status show_one_dump(struct showing *s)
{
    const char *path = showing_word(s, 1);
    size_t at = 0;
    enum rdl_status st;

    if (!path)
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "which slot? h1.qp.sq.desc[0]");
    st = s->rq->layout == SHOW_LAYOUT_SPEC
             ? show_dump(s->out, s->lab, path, s->rq->form, &at)
             : show_layout(s->out, s->lab, path, s->rq->layout, s->rq->form, &at);
    if (st == RDL_ERR_UNSUPPORTED)
        return showing_refuse(s, st, 1, 0, "the demonstration has nothing like what is in %s",
                              path);
    if (st == RDL_ERR_INVAL)
        return showing_refuse(s, st, 1, 0, "%s is no slot of a queue; h1.qp.sq.desc[0] is", path);
    if (st == RDL_ERR_FAULT)
        return showing_refuse(s, st, 1, 0, "%s has no buffer in guest RAM", path);
    return showing_report_path(s, st, 1, at);
}

static enum rdl_status show_any_path(struct showing *s)
{
    const char *path = showing_word(s, 0) ? showing_word(s, 0) : "";
    size_t at = 0;
    enum rdl_status st;

    if (!path[0])
        st = show_summary(s->out, s->lab, &s->past, s->rq->form);
    else if (is_text(s))
        st = page_of(s, path, &at);
    else
        st = data_of(s, path, false, &at);
    return showing_report_path(s, st, 0, at);
}

/* Handles `pci`: the PCI functions of a host. */
static enum rdl_status show_one_pci(struct showing *s)
{
    const char *host = showing_word(s, 1);
    char path[TREE_PATH_BYTES];
    size_t at = 0;
    enum rdl_status st;

    if (!host)
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "of which host? h1");
    if (tree_is(s->lab, host, NODE_host) && tree_child(s->lab, host, CHILD_host_pci, path))
        host = path;
    st = is_text(s) ? show_path(s->out, s->lab, &s->past, host, &at) : data_of(s, host, false, &at);
    return showing_report_path(s, st, 1, at);
}

/* Handles `map`: the lab, a host, or an object and its neighbours. */
static enum rdl_status show_one_map(struct showing *s)
{
    const char *path = showing_word(s, 1) ? showing_word(s, 1) : "";
    size_t at = 0;
    const enum rdl_status st = show_map(s->out, s->lab, path, s->rq->form, &at);

    if (st == RDL_ERR_INVAL)
        return showing_refuse(s, st, 1, 0, "%s is no host and no object of one", path);
    return showing_report_path(s, st, 1, at);
}

static enum rdl_status show_states_of(struct showing *s)
{
    const char *path = showing_word(s, 1);
    size_t at = 0;
    enum rdl_status st;

    if (!path)
        return showing_refuse(s, RDL_ERR_INVAL, 1, 0, "of which queue pair? h1.qp");
    st = show_states(s->out, s->lab, &s->past, path, s->rq->form, &at);
    if (st == RDL_ERR_INVAL)
        return showing_refuse(s, st, 1, 0, "%s is no queue pair", path);
    return showing_report_path(s, st, 1, at);
}

static enum rdl_status show_outside(struct showing *s)
{
    if (!s->rq->live)
        return showing_refuse(s, RDL_ERR_NOT_FOUND, 0, 0,
                              "nothing outside the lab is attached to it");
    show_live(s->out, s->lab, s->rq->live_ops, s->rq->live, s->rq->form);
    return RDL_OK;
}

static enum rdl_status show_whole_centre(struct showing *s)
{
    show_centre(s->out, s->lab, s->rq->form);
    return RDL_OK;
}

/* Handles `rdma`: what the tool rdma prints of one host and its guests, or of all. */
static enum rdl_status show_one_rdma(struct showing *s)
{
    const char *view = showing_word(s, 1), *host = showing_word(s, 2);
    struct rdl_value v;
    size_t at = 0;
    enum rdl_status st = host ? rdl_inspect(s->lab, host, &v, &at) : RDL_OK;

    if (st != RDL_OK)
        return showing_report_path(s, st, 2, at);
    if (host && !tree_is(s->lab, host, NODE_host))
        return showing_refuse(s, RDL_ERR_INVAL, 2, 0, "%s is no host", host);
    if (view && show_rdma(s->out, s->lab, view, host ? host : "", s->rq->form))
        return RDL_OK;
    return showing_refuse(s, RDL_ERR_INVAL, 1, 0,
                          "which view of the tool rdma? link, dev or resource, and then a host: "
                          "show rdma link h1");
}

static const struct {
    const char *word;
    size_t words_max; /* maximum, including this one */
    enum rdl_status (*run)(struct showing *s);
    bool of_past; /* works without a lab */
} subjects[] = {
    {"vq", 2, show_one_vq, false},           {"qp", 2, show_kind_of, false},
    {"cq", 2, show_kind_of, false},          {"mr", 2, show_kind_of, false},
    {"mw", 2, show_kind_of, false},          {"pd", 2, show_kind_of, false},
    {"ah", 2, show_kind_of, false},          {"packet", 2, showing_packet, true},
    {"events", 5, showing_events, true},     {"life", 2, showing_life, true},
    {"memory", 2, show_all_memory, false},   {"due", 1, show_all_due, false},
    {"tree", 2, show_whole_tree, false},     {"faults", 1, show_plural, false},
    {"links", 1, show_plural, false},        {"hosts", 1, show_plural, false},
    {"switches", 1, show_plural, false},     {"counters", 1, show_all_counters, false},
    {"link", 2, show_kind_of, false},        {"dump", 2, show_one_dump, false},
    {"wqe", 2, show_one_dump, false},        {"live", 1, show_outside, false},
    {"srq", 2, show_kind_of, false},         {"device", 3, show_devices, false},
    {"pci", 2, show_one_pci, false},         {"map", 2, show_one_map, false},
    {"states", 2, show_states_of, false},    {"ring", 2, show_one_ring, false},
    {"dsr", 3, show_one_dsr, false},         {"uar", 2, show_one_uar, false},
    {"centre", 1, show_whole_centre, false}, {"rdma", 3, show_one_rdma, false},
    {"cm", 2, show_kind_of, false},          {"event_channel", 2, show_kind_of, false},
};

bool show_form_of(const char *word, enum show_form *ret)
{
    const struct enum_row *row = enum_by_name(&words_show_form, word);

    if (row)
        *ret = (enum show_form)row->value;
    return row != NULL;
}

const char *show_subject(size_t i)
{
    return i < ARRAY_LEN(subjects) ? subjects[i].word : NULL;
}

static enum rdl_status answer(struct showing *s)
{
    enum rdl_status (*run)(struct showing *) = show_any_path;
    const struct show_request *rq = s->rq;
    size_t words_max = 1;
    bool of_past = false;

    for (size_t i = 0; i < ARRAY_LEN(subjects) && rq->n_words; i++) {
        if (strcmp(subjects[i].word, rq->words[0]) == 0) {
            run = subjects[i].run;
            words_max = subjects[i].words_max;
            of_past = subjects[i].of_past;
        }
    }
    if (!s->lab && !of_past)
        return showing_refuse(s, RDL_ERR_UNSUPPORTED, 0, 0,
                              "a saved trace has events, and no state");
    if (rq->n_words > words_max)
        return showing_refuse(s, RDL_ERR_INVAL, words_max, 0, "nothing can follow here");
    return run(s);
}

enum rdl_status show(FILE *out, const struct rdl_lab *lab, const struct past *p,
                     const struct show_request *rq, struct show_error *reterr)
{
    struct showing s = {.out = out, .lab = lab, .rq = rq, .err = reterr, .past = *p};

    return answer(&s);
}
