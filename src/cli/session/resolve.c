/* SPDX-License-Identifier: MIT */
#include "cli/session/resolve.h"

#include <ctype.h>
#include <string.h>

#include "cli/lang/field_word.h"
#include "cli/lang/suggest.h"
#include "cli/live/live.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/leaf.h"
#include "rdmalab/inspect.h"
#include "tree/tree.h"

/* Copies the first word of @path, up to a dot or bracket. */
static void first_word(const char *path, char *ret, size_t cap)
{
    struct text t = text_on(ret, cap);

    text_addn(&t, path, strcspn(path, ".["));
}

void resolve_host_name(const char *path, char ret[RDL_NAME_BYTES])
{
    first_word(path, ret, RDL_NAME_BYTES);
}

bool resolve_home(const struct rdl_lab *lab, uint32_t kind, uint64_t raw, struct home *ret)
{
    char path[RDL_VALUE_BYTES];

    rdl_path_of(lab, kind, raw, path);
    resolve_host_name(path, ret->name);
    return rdl_find_host(lab, ret->name, &ret->host) == RDL_OK;
}

void resolve_path(const struct scope *in, const char *name, char ret[SESSION_PATH_BYTES])
{
    struct text t = text_on(ret, SESSION_PATH_BYTES);
    struct rdl_value v;
    char word[SESSION_PATH_BYTES];
    size_t at;

    first_word(name, word, sizeof(word));
    if (in->host[0] && rdl_inspect(in->lab, word, &v, &at) != RDL_OK)
        text_addf(&t, "%s.", in->host);
    text_add(&t, name);
}

struct scope resolve_rest(const struct scope *in, const char *name, char host[RDL_NAME_BYTES])
{
    struct scope rest = *in;
    char path[SESSION_PATH_BYTES];

    if (in->host[0])
        return rest;
    resolve_path(in, name, path);
    resolve_host_name(path, host);
    rest.host = host;
    return rest;
}

/* A search for the child of a node that is most similar to a word. */
struct near {
    struct suggestion s;
    char best[SUGGEST_WORD_BYTES];
};

static void offer(void *ctx, const char *key, const struct rdl_value *v)
{
    struct near *n = ctx;

    (void)v;
    (void)suggest_offer_copy(&n->s, key, n->best);
}

/* Returns true if a program of the machine has ended on @host. */
static bool has_ended_program(const struct scope *in, const char *host)
{
    struct live_program_info p;

    for (uint32_t i = 0; in->live && in->live_ops->program_at(in->live, i, &p); i++) {
        if (p.outside && (p.done || p.failed) && strcmp(p.host, host) == 0)
            return true;
    }
    return false;
}

bool resolve_unknown(const struct scope *in, struct span at, const char *path, const char *what,
                     struct diag *reterr)
{
    struct rdl_value v;
    struct near near = {.best = ""};
    char parent[SESSION_PATH_BYTES], word[SESSION_PATH_BYTES];
    struct text t = text_on(parent, sizeof(parent));
    size_t off = 0, ignored;

    if (!reterr)
        return false; /* what else it could be takes long to find */
    diag_set(reterr, DIAG_VALUE, at, "%s is called \"%s\"", what, path);
    reterr->missing = in->host[0] || strpbrk(path, ".[") || strcmp(what, "no host") == 0;
    if (rdl_inspect(in->lab, path, &v, &off) == RDL_OK)
        return false;
    if (off > 0)
        text_addn(&t, path, path[off - 1] == '.' ? off - 1 : off);
    first_word(path + off, word, sizeof(word));
    if (strcmp(word, "lnet") == 0 && off > 0)
        return diag_remedy(reterr, "%s has no node of LNet; \"lnet_start %s\" starts one", parent,
                           parent);
    near.s = suggestion_for(word);
    if (rdl_inspect_list(in->lab, parent, offer, &near, &ignored) == RDL_OK && near.s.best)
        return diag_remedy(reterr, "did you mean \"%s%s%s\"?", parent, off ? "." : "", near.best);
    if (off == 0 && strchr(path, '.'))
        return diag_remedy(reterr, "there is no host \"%s\"; \"host %s\" adds it", word, word);
    if (off == 0 && strncmp(what, "no host", strlen("no host")) == 0)
        return diag_remedy(reterr, "\"host %s\" adds it", word);
    if (off == 0 && !in->host[0])
        return diag_remedy(reterr, "names of objects begin with their host, like h1.qp; \"show\" "
                                   "lists what there is");
    if (has_ended_program(in, parent))
        return diag_remedy(reterr,
                           "a program's objects are gone after its end: count its events, as in "
                           "count(cqe, host==%s)",
                           parent);
    return diag_remedy(reterr, "\"show %s%s\" lists what there is", parent,
                       strchr(parent, '.') ? " json" : "");
}

/* Returns the verb that creates an object of @kind; NULL: there is none. */
static const char *maker_of(enum object_kind kind)
{
    static const struct {
        enum object_kind kind;
        const char *verb;
    } rows[] = {
        {OBJ_PD, "alloc_pd"},
        {OBJ_MR, "reg_mr"},
        {OBJ_CQ, "create_cq"},
        {OBJ_QP, "create_qp"},
        {OBJ_AH, "create_ah"},
        {OBJ_MW, "alloc_mw"},
        {OBJ_SRQ, "create_srq"},
        {OBJ_CHANNEL, "create_comp_channel"},
        {OBJ_EVENT_CHANNEL, "rdma_create_event_channel"},
        {OBJ_CM_ID, "rdma_create_id"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].kind == kind)
            return rows[i].verb;
    }
    return NULL;
}

/* The objects of a kind on a host. */
struct of_kind {
    const struct rdl_lab *lab;
    const char *host;
    enum object_kind kind;
    struct near near; /* the one whose name is like that which was asked for */
    char first[SUGGEST_WORD_BYTES];
};

static void offer_of_kind(void *ctx, const char *key, const struct rdl_value *v)
{
    struct of_kind *o = ctx;
    char path[SESSION_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    uint64_t raw;

    (void)v;
    text_addf(&t, "%s.%s", o->host, key);
    if (rdl_find(o->lab, path, o->kind, &raw) != RDL_OK)
        return;
    (void)suggest_offer_copy(&o->near.s, key, o->near.best);
    if (!o->first[0]) {
        t = text_on(o->first, sizeof(o->first));
        text_add(&t, key);
    }
}

/* Returns true if @name is called like the queue pairs that programs create: "qp2". */
static bool is_of_program(const char *name)
{
    return strncmp(name, "qp", 2) == 0 && name[2] &&
           strspn(name + 2, "0123456789") + 2 == strlen(name);
}

/* Adds a remedy if @path names a host, or nothing on its host, where an object of @kind is
 * expected. Returns false if @path is something else.
 */
static bool add_kind_remedy(const struct scope *in, const char *path, enum object_kind kind,
                            struct diag *reterr)
{
    const char *what = enum_by_value(&enum_object, kind)->text, *dot = strchr(path, '.');
    char host[RDL_NAME_BYTES];
    struct of_kind o = {.lab = in->lab, .host = host, .kind = kind};
    size_t ignored;
    rdl_host found;

    resolve_host_name(path, host);
    if (!maker_of(kind) || (dot && strpbrk(dot + 1, ".[")) ||
        rdl_find_host(in->lab, host, &found) != RDL_OK)
        return false;
    o.near.s = suggestion_for(dot ? dot + 1 : "");
    if (rdl_inspect_list(in->lab, host, offer_of_kind, &o, &ignored) != RDL_OK)
        return false;
    if (!o.first[0] && dot && is_of_program(dot + 1))
        diag_remedy(
            reterr,
            "%s has no %s; a program makes %s when it runs, and a fault for it says from=%s", host,
            what, path, host);
    else if (!o.first[0])
        diag_remedy(reterr, "%s has no %s; \"help %s\" tells how one is made", host, what,
                    maker_of(kind));
    else if (!dot || o.near.s.best)
        diag_remedy(reterr, "did you mean \"%s.%s\"?", host, dot ? o.near.best : o.first);
    else
        diag_remedy(reterr, "%s %s of %s is \"%s.%s\"", text_article(what), what, host, host,
                    o.first);
    return true;
}

static bool wrong_kind(const struct scope *in, struct span at, const char *path,
                       enum object_kind kind, struct diag *reterr)
{
    const struct enum_row *row = enum_by_value(&enum_object, kind);
    char is_text[RDL_VALUE_BYTES];
    struct text is = text_on(is_text, sizeof(is_text));
    struct rdl_value v;
    size_t off;

    if (!reterr)
        return false;
    if (rdl_inspect(in->lab, path, &v, &off) != RDL_OK) {
        resolve_unknown(in, at, path, "nothing", reterr);
        add_kind_remedy(in, path, kind, reterr);
        return false;
    }
    node_add_text(&is, &v);
    diag_set(reterr, DIAG_VALUE, at, "%s is %s, not %s %s", path, is_text, text_article(row->text),
             row->text);
    if (!strchr(path, '.') && add_kind_remedy(in, path, kind, reterr))
        return false;
    return diag_remedy(reterr, "\"show %s\" tells what it is", path);
}

bool resolve_object(const struct scope *in, const struct step *st, const char *param, uint32_t kind,
                    uint64_t *ret_raw, struct diag *reterr)
{
    char path[SESSION_PATH_BYTES];

    resolve_path(in, step_text(st, param), path);
    if (rdl_find(in->lab, path, kind, ret_raw) != RDL_OK)
        return wrong_kind(in, step_span(st, param, 0), path, kind, reterr);
    return true;
}

bool resolve_host(const struct scope *in, const struct step *st, const char *param, rdl_host *ret,
                  struct diag *reterr)
{
    const char *name = step_text(st, param);

    if (!name && !in->host[0]) {
        diag_set(reterr, DIAG_VALUE, st->at, "%s needs a host", st->cmd->name);
        return diag_remedy(reterr, "name it, or use \"on HOST { ... }\"");
    }
    if (rdl_find_host(in->lab, name ? name : in->host, ret) == RDL_OK)
        return true;
    return resolve_unknown(in, step_span(st, param, 0), name ? name : in->host, "no host", reterr);
}

/* The machine whose name is most similar to a word. */
struct near_machine {
    const struct rdl_lab *lab;
    struct near near;
};

static bool is_machine(const struct rdl_lab *lab, const char *host)
{
    char vfs[TREE_PATH_BYTES];

    return tree_is(lab, host, NODE_host) && tree_child(lab, host, CHILD_host_vfs, vfs);
}

static void offer_machine(void *ctx, const char *key, const struct rdl_value *v)
{
    struct near_machine *n = ctx;

    if (is_machine(n->lab, key))
        offer(&n->near, key, v);
}

bool resolve_machine(const struct scope *in, const struct step *st, const char *param,
                     rdl_host *ret, struct diag *reterr)
{
    const char *name = step_text(st, param);
    struct near_machine n = {.lab = in->lab, .near = {.best = ""}};
    struct rdl_value v;
    size_t at;

    if (is_machine(in->lab, name))
        return rdl_find_host(in->lab, name, ret) == RDL_OK;
    if (rdl_inspect(in->lab, name, &v, &at) == RDL_OK) {
        diag_set(reterr, DIAG_VALUE, step_span(st, param, 0), "%s is no machine", name);
        return diag_remedy(reterr, "machine m1 vfs=4 adds one whose adapter has virtual functions");
    }
    diag_set(reterr, DIAG_VALUE, step_span(st, param, 0), "no machine is called \"%s\"", name);
    reterr->missing = true;
    n.near.s = suggestion_for(name);
    if (rdl_inspect_list(in->lab, "", offer_machine, &n, &at) == RDL_OK && n.near.s.best)
        return diag_remedy(reterr, "did you mean \"%s\"?  machine %s vfs=4 adds it", n.near.best,
                           name);
    return diag_remedy(reterr, "machine %s vfs=4 adds it", name);
}

bool resolve_memory_text(const struct scope *in, const char *text, struct span at,
                         struct memory *ret, struct diag *reterr)
{
    struct slice_text slice;
    struct rdl_mr_info info;
    char base[SESSION_PATH_BYTES], path[SESSION_PATH_BYTES], host[RDL_NAME_BYTES];
    struct text t = text_on(base, sizeof(base));
    struct memory m;
    size_t off;
    uint64_t raw;

    if (isdigit((unsigned char)text[0])) {
        m = (struct memory){.has_bytes = false};
        if (quantity_parse(QUANTITY_NUMBER, text, &m.addr) ||
            rdl_find_host(in->lab, in->host, &m.host) != RDL_OK)
            return diag_set(reterr, DIAG_VALUE, at,
                            "a number is an address only where the host is known");
        m.iova = m.addr;
        *ret = m;
        return true;
    }
    if (value_slice(text, &slice, &off))
        return diag_set(reterr, DIAG_VALUE, at, "\"%s\" is no part of a memory region", text);
    text_addn(&t, text, slice.base_bytes);
    resolve_path(in, base, path);
    if (rdl_find(in->lab, path, OBJ_MR, &raw) != RDL_OK)
        return wrong_kind(in, at, path, OBJ_MR, reterr);
    if (rdl_mr_info(in->lab, (rdl_mr){raw}, &info) != RDL_OK)
        return diag_set(reterr, DIAG_FAILED, at, "%s is not there any more", path);
    resolve_host_name(path, host);
    if (rdl_find_host(in->lab, host, &m.host) != RDL_OK)
        return diag_set(reterr, DIAG_VALUE, at, "no host is called \"%s\"", host);
    m.mr.raw = raw;
    m.lkey = info.lkey;
    m.rkey = info.rkey;
    m.from = slice.from;
    m.region_bytes = info.bytes;
    m.addr = info.kind == KEY_DMA_MR ? UINT64_MAX : info.addr + slice.from;
    m.iova = info.iova + slice.from;
    m.has_bytes = slice.has_to || !slice.has_from;
    m.bytes = slice.has_to ? slice.to - slice.from : slice.has_from ? 1 : info.bytes;
    /* A device judges bytes outside of a region.  It does not look at the address of none. */
    if (m.has_bytes && m.bytes == 0 && slice.from > info.bytes && info.kind != KEY_DMA_MR) {
        diag_set(reterr, DIAG_VALUE, at,
                 "%s is empty, and begins behind its region, which has %llu bytes", text,
                 (unsigned long long)info.bytes);
        return diag_remedy(reterr,
                           "an empty slice is inside of its region, or at its end: %s[%llu:%llu]",
                           base, (unsigned long long)info.bytes, (unsigned long long)info.bytes);
    }
    *ret = m;
    return true;
}

bool resolve_memory(const struct scope *in, const struct step *st, const char *param, size_t i,
                    struct memory *ret, struct diag *reterr)
{
    return resolve_memory_text(in, step_arg(st, param)->v[i].text, step_span(st, param, i), ret,
                               reterr);
}

bool resolve_key(const struct scope *in, const struct step *st, const char *param, uint32_t *ret,
                 struct diag *reterr)
{
    const char *name = step_text(st, param);
    char path[SESSION_PATH_BYTES], leaf[SESSION_PATH_BYTES];
    struct text t = text_on(leaf, sizeof(leaf));
    struct rdl_value v;
    size_t off;

    if (isdigit((unsigned char)name[0])) {
        *ret = (uint32_t)step_number(st, param);
        return true;
    }
    resolve_path(in, name, path);
    if (rdl_inspect(in->lab, path, &v, &off) != RDL_OK)
        return resolve_unknown(in, step_span(st, param, 0), path, "nothing", reterr);
    text_addf(&t, "%s.%s", path, leaf_rows[LEAF_mr_rkey].key);
    if (rdl_inspect(in->lab, leaf, &v, &off) != RDL_OK) {
        diag_set(reterr, DIAG_VALUE, step_span(st, param, 0), "%s has no key", path);
        return diag_remedy(reterr, "a memory region has one, or write the number");
    }
    *ret = (uint32_t)v.number;
    return true;
}

bool resolve_qpn(const struct scope *in, const struct step *st, const char *param, uint32_t *ret,
                 struct diag *reterr)
{
    struct rdl_qp_info info;
    rdl_qp qp;

    if (isdigit((unsigned char)step_text(st, param)[0])) {
        *ret = (uint32_t)step_number(st, param);
        return true;
    }
    if (!resolve_object(in, st, param, OBJ_QP, &qp.raw, reterr))
        return false;
    if (rdl_qp_info(in->lab, qp, &info) != RDL_OK)
        return diag_set(reterr, DIAG_FAILED, step_span(st, param, 0), "%s is not there any more",
                        step_text(st, param));
    *ret = info.qpn;
    return true;
}

/* Returns true if @v is a number, and not a word or a text. */
static bool is_number(const struct rdl_value *v)
{
    switch (v->type) {
    case RDL_NUMBER:
    case RDL_HEX:
    case RDL_SIZE:
    case RDL_RATE:
    case RDL_TIME:
        return true;
    default:
        return false;
    }
}

/* Fails: @path exists, but stands for no number here. */
static bool has_no_number(const struct param *p, const char *path, struct span at,
                          const struct rdl_value *v, struct diag *reterr)
{
    char is_text[RDL_VALUE_BYTES];
    struct text is = text_on(is_text, sizeof(is_text));

    node_add_text(&is, v);
    if (p->stands == LEAF_none) {
        diag_set(reterr, DIAG_VALUE, at, "%s: %s is %s, and no number", p->name, path, is_text);
        return diag_remedy(reterr, "write the number, or a path to one like h1.qp.sq_psn");
    }
    diag_set(reterr, DIAG_VALUE, at, "%s: %s is %s, which has no %s", p->name, path, is_text,
             leaf_rows[p->stands].key);
    return diag_remedy(reterr, "%s %s has one, or write the number",
                       text_article(node_rows[leaf_rows[p->stands].node].title),
                       node_rows[leaf_rows[p->stands].node].title);
}

/* Finds the number for value @i of parameter @param, which is a path: the number there, or that of
 * the object there, as the row of the parameter says.
 */
static bool resolve_number(const struct scope *in, const struct step *st, const char *param,
                           size_t i, uint64_t *ret, struct diag *reterr)
{
    const struct param *p = step_param(st, param);
    const struct span at = step_span(st, param, i);
    char path[SESSION_PATH_BYTES], leaf[SESSION_PATH_BYTES];
    struct text t = text_on(leaf, sizeof(leaf));
    struct rdl_value v, number;
    size_t off;

    resolve_path(in, step_arg(st, param)->v[i].text, path);
    if (rdl_inspect(in->lab, path, &v, &off) != RDL_OK)
        return resolve_unknown(in, at, path, "nothing", reterr);
    number = v;
    if (v.type == RDL_NODE && p->stands != LEAF_none && v.row == leaf_rows[p->stands].node) {
        text_addf(&t, "%s.%s", path, leaf_rows[p->stands].key);
        if (rdl_inspect(in->lab, leaf, &number, &off) != RDL_OK)
            number = v;
    }
    if (!is_number(&number))
        return has_no_number(p, path, at, &v, reterr);
    *ret = number.number;
    return true;
}

/* The same, but the value may also be a word of a field. */
static bool find_number(const struct scope *in, const struct step *st, const struct param *p,
                        size_t i, uint64_t *ret, struct diag *reterr)
{
    const struct value *v = &step_arg(st, p->name)->v[i];
    enum field_word word = FIELD_WORD_NOT;
    uint32_t value;

    if (p->of_field && step_has(st, p->of_field))
        word = field_word_find(step_text(st, p->of_field), v->text, v->at, &value, reterr);
    if (word == FIELD_WORD_NOT)
        return resolve_number(in, st, p->name, i, ret, reterr);
    if (word == FIELD_WORD_IS)
        *ret = value;
    return word == FIELD_WORD_IS;
}

/* Finds the host of the first operand of @st, on which the following bare names are looked up. */
static struct scope scope_of_step(const struct scope *in, const struct step *st,
                                  char host[RDL_NAME_BYTES])
{
    const char *first = NULL;

    for (size_t i = 0; i < st->cmd->n_params && !first; i++) {
        const struct param *p = &st->cmd->params[i];

        if ((p->flags & P_OPERAND) && p->kind == VAL_OBJECT && st->args[i].n)
            first = st->args[i].v[0].text;
    }
    return first ? resolve_rest(in, first, host) : *in;
}

const struct step *resolve_numbers(const struct scope *in, const struct step *st, struct pool *p,
                                   struct diag *reterr)
{
    char host[RDL_NAME_BYTES];
    const struct scope rest = scope_of_step(in, st, host);
    struct step *copy = NULL;

    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const struct param *param = &st->cmd->params[i];

        for (size_t k = 0; param->kind == VAL_NUMBER && k < st->args[i].n; k++) {
            const struct value *v = &st->args[i].v[k];
            char text[32];
            struct text t = text_on(text, sizeof(text));
            uint64_t number = 0;

            if (isdigit((unsigned char)v->text[0]))
                continue;
            if (!find_number(&rest, st, param, k, &number, reterr))
                return NULL;
            text_addf(&t, "%llu", (unsigned long long)number);
            if (!value_check(param, text, v->at, reterr))
                return NULL;
            if (!copy)
                copy = step_copy(p, st);
            copy->args[i].v[k].text = pool_copy(p, text, t.len);
        }
    }
    return copy ? copy : st;
}
