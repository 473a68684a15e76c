/* SPDX-License-Identifier: MIT */
#include "cli/show/show_made.h"

#include <inttypes.h>
#include <string.h>

#include "cli/live/live.h"
#include "cli/show/show.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"
#include "print/show_text.h"
#include "rdmalab/inspect.h"

/* The kinds of objects that programs make, in the order of `show h1`. */
static const struct {
    const char *node;
    enum object_kind object;
} kinds[] = {
    {"pd", OBJ_PD}, {"mr", OBJ_MR}, {"mw", OBJ_MW},   {"channel", OBJ_CHANNEL},
    {"cq", OBJ_CQ}, {"qp", OBJ_QP}, {"srq", OBJ_SRQ}, {"ah", OBJ_AH},
};

static void add_program(struct text *t, const struct live_maker *m)
{
    if (m->pid)
        text_addf(t, "process %d", m->pid);
    if (m->pid && m->number)
        text_add(t, " of ");
    if (m->number)
        text_addf(t, "program %" PRIu32 " (%s)", m->number, m->program);
}

/* Appends "2nd ibv_create_qp, server.c:71", or "2nd to 9th ibv_create_qp" of several. */
static void add_call(struct text *t, const struct live_maker *m, uint32_t last)
{
    text_add_ordinal(t, m->nth);
    if (last != m->nth) {
        text_add(t, " to ");
        text_add_ordinal(t, last);
    }
    text_addf(t, " %s", m->call);
    if (m->where[0])
        text_addf(t, ", %s", m->where);
}

/* --- One object ------------------------------------------------------------------------------- */

static bool maker_of(const struct rdl_lab *lab, const struct live_ops *ops, const struct live *live,
                     const char *path, struct live_maker *ret)
{
    struct rdl_value v;
    uint64_t raw;
    size_t at;

    if (rdl_inspect(lab, path, &v, &at) != RDL_OK || v.type != RDL_NODE)
        return false;
    for (size_t i = 0; live && i < ARRAY_LEN(kinds); i++) {
        if (strcmp(v.text, kinds[i].node) == 0)
            return rdl_find(lab, path, kinds[i].object, &raw) == RDL_OK &&
                   ops->maker(live, kinds[i].object, raw, ret);
    }
    return false;
}

void show_made(FILE *out, const struct rdl_lab *lab, const struct live_ops *ops,
               const struct live *live, const char *path, bool named)
{
    char buf[2 * SHOW_LINE_BYTES], object[RDL_PATH_BYTES], lead[RDL_PATH_BYTES + 32];
    struct text t = text_on(buf, sizeof(buf)), o = text_on(object, sizeof(object)),
                l = text_on(lead, sizeof(lead));
    const size_t host = strcspn(path, ".");
    struct live_maker m;

    text_addn(&o, path,
              path[host] && named ? host + 1 + strcspn(path + host + 1, ".") : strlen(path));
    if (!maker_of(lab, ops, live, object, &m))
        return;
    if (named)
        text_addf(&l, "  %s was made by ", object);
    else
        text_add(&l, "  made by");
    add_program(&t, &m);
    text_add(&t, ", its ");
    add_call(&t, &m, m.nth);
    show_wrap_behind(out, lead, 10, buf);
}

/* --- All of a host ---------------------------------------------------------------------------- */

/* Objects that follow each other and were made by one call. */
struct made_run {
    FILE *out;
    const struct rdl_lab *lab;
    const struct live_ops *ops;
    const struct live *live;
    const char *node; /* the kind of objects now, and as an enum object_kind */
    enum object_kind object;
    const char *only;                                 /* kind of all objects; NULL: all kinds */
    const char *host;                                 /* now */
    bool with_host;                                   /* objects are printed with their hosts */
    enum rdl_status end;                              /* the first error */
    char first[RDL_PATH_BYTES], last[RDL_PATH_BYTES]; /* "": there is no object in it */
    struct live_maker maker;                          /* of the first */
    uint32_t last_nth;
    struct live_maker above; /* the program of the last heading; call NULL: none yet */
};

static void end_run(struct made_run *r)
{
    char buf[2 * SHOW_LINE_BYTES], lead[2 * RDL_PATH_BYTES];
    struct text t = text_on(buf, sizeof(buf)), l = text_on(lead, sizeof(lead));
    const size_t host = r->with_host ? 0 : strlen(r->host) + 1;

    if (!r->first[0])
        return;
    if (!r->above.call || r->above.pid != r->maker.pid || r->above.number != r->maker.number) {
        add_program(&t, &r->maker);
        fprintf(r->out, "%smade by %s, its\n", r->above.call ? "" : "\n", buf);
        r->above = r->maker;
        t = text_on(buf, sizeof(buf));
    }
    text_addf(&l, "  %s", r->first + host);
    if (strcmp(r->first, r->last) != 0)
        text_addf(&l, " to %s", r->last + host);
    text_add(&l, " "); /* a long name reaches the text */
    add_call(&t, &r->maker, r->last_nth);
    show_wrap_behind(r->out, lead, r->with_host ? 24 : 18, buf);
    r->first[0] = '\0';
}

static bool goes_on(const struct made_run *r, const struct live_maker *m)
{
    return r->first[0] && m->number == r->maker.number && m->pid == r->maker.pid &&
           m->call == r->maker.call && m->nth == r->last_nth + 1 &&
           strcmp(m->where, r->maker.where) == 0;
}

static void add_to_run(void *ctx, const char *key, const struct rdl_value *v)
{
    struct made_run *r = ctx;
    char path[RDL_PATH_BYTES];
    struct text t = text_on(path, sizeof(path));
    struct live_maker m;
    uint64_t raw;

    if (v->type != RDL_NODE || strcmp(v->text, r->node) != 0)
        return;
    text_addf(&t, "%s.%s", r->host, key);
    if (rdl_find(r->lab, path, r->object, &raw) != RDL_OK ||
        !r->ops->maker(r->live, r->object, raw, &m)) {
        end_run(r);
        return;
    }
    if (!goes_on(r, &m)) {
        end_run(r);
        r->maker = m;
        (void)snprintf(r->first, sizeof(r->first), "%s", path);
    }
    r->last_nth = m.nth;
    (void)snprintf(r->last, sizeof(r->last), "%s", path);
}

static void add_host(struct made_run *r, const char *host)
{
    size_t at;

    r->host = host;
    for (size_t i = 0; i < ARRAY_LEN(kinds) && r->end == RDL_OK; i++) {
        if (r->only && strcmp(r->only, kinds[i].node) != 0)
            continue;
        r->node = kinds[i].node;
        r->object = kinds[i].object;
        r->end = rdl_inspect_list(r->lab, host, add_to_run, r, &at);
        end_run(r);
    }
}

static void add_if_host(void *ctx, const char *key, const struct rdl_value *v)
{
    if (v->type == RDL_NODE && strcmp(v->text, "host") == 0)
        add_host(ctx, key);
}

enum rdl_status show_all_made(FILE *out, const struct rdl_lab *lab, const struct show_request *rq,
                              const char *host, const char *node)
{
    struct made_run r = {.out = out,
                         .lab = lab,
                         .ops = rq->live_ops,
                         .live = rq->live,
                         .only = node,
                         .with_host = !host[0],
                         .end = RDL_OK};
    enum rdl_status st = RDL_OK;
    size_t at;

    if (!rq->live)
        return RDL_OK;
    if (host[0])
        add_host(&r, host);
    else
        st = rdl_inspect_list(lab, "", add_if_host, &r, &at);
    return st == RDL_OK ? r.end : st;
}
