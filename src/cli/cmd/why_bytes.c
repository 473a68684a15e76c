/* SPDX-License-Identifier: MIT */
/* Bytes are followed back from the memory that was asked about to that of its writer, and so on, as
 * far as devices wrote them.
 */
#include "cli/cmd/why_bytes.h"

#include <string.h>

#include "cli/lang/values.h"
#include "cli/live/live.h"
#include "cli/session/places.h"
#include "cli/why/bytes_source.h"
#include "cli/why/fate_text.h"
#include "cli/why/work_text.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/trace/event.h"
#include "print/show_text.h"
#include "tree/tree.h"
#include "tree/tree_memory.h"

#define COPIES_MAX 4u /* copies of the bytes that are followed back */

/* The answer that is being printed. */
struct bytes_answer {
    struct session *s;
    FILE *out;
    const struct past *p;
    struct past_index *x;
};

/* The search for the region that has certain bytes. */
struct range_owner {
    rdl_host host;
    uint64_t iova, bytes;
    bool found;
    char path[TREE_PATH_BYTES];
    struct rdl_mr_info info;
};

bool why_bytes_is_memory(const struct scope *in, const char *target)
{
    char base[SESSION_PATH_BYTES], path[SESSION_PATH_BYTES];
    struct text t = text_on(base, sizeof(base));
    const char *open = strrchr(target, '[');
    uint64_t raw;

    if (!open)
        return false;
    text_addn(&t, target, (size_t)(open - target));
    resolve_path(in, base, path);
    return !t.cut && rdl_find(in->lab, path, OBJ_MR, &raw) == RDL_OK;
}

static void look_at(void *ctx, const char *path, rdl_host host, const struct rdl_mr_info *info)
{
    struct range_owner *r = ctx;
    struct text t;

    if (r->found || host.raw != r->host.raw || r->iova < info->iova ||
        r->iova - info->iova >= info->bytes || r->bytes > info->bytes - (r->iova - info->iova))
        return;
    r->found = true;
    t = text_on(r->path, sizeof(r->path));
    text_add(&t, path);
    r->info = *info;
}

/* Appends the name of the bytes that @o names, "h2.mr[2k:2064]", and fills in *@ret. */
static void add_range(const struct bytes_answer *a, struct text *t, const struct bytes_origin *o,
                      struct byte_range *ret)
{
    struct range_owner r = {.iova = o->iova, .bytes = o->bytes};
    char host[RDL_NAME_BYTES];
    struct text name = text_on(host, sizeof(host));

    ev_names_host(a->p->names, &name, o->host);
    if (rdl_find_host(a->s->lab, host, &r.host) == RDL_OK)
        tree_each_region(a->s->lab, look_at, &r);
    *ret = (struct byte_range){o->host, o->iova, o->iova, o->bytes};
    if (!r.found) {
        text_addf(t, "%llu bytes of %s at 0x%llx", (unsigned long long)o->bytes, host,
                  (unsigned long long)o->iova);
        return;
    }
    ret->addr = o->iova - r.info.iova + r.info.addr;
    text_addf(t, "%s[", r.path);
    quantity_add(t, QUANTITY_SIZE, o->iova - r.info.iova);
    text_add(t, ":");
    quantity_add(t, QUANTITY_SIZE, o->iova - r.info.iova + o->bytes);
    text_add(t, "]");
}

/* Appends " (a.lab:7)", the place of the command behind @tick, if it is known. */
static void add_place(const struct bytes_answer *a, struct text *t, uint64_t tick)
{
    const char *place = places_find(a->s, tick);

    if (place[0])
        text_addf(t, " (%s)", place);
}

/* Appends " in #50.2, by h1.qp's RDMA_READ wr_id=2 (a.lab:7)". */
static void add_writer(const struct bytes_answer *a, struct text *t, const struct ev *e)
{
    const struct ev *work = e->kind == EV_dma_write ? bytes_work(a->x, e) : NULL;
    const struct ev *post = work ? past_post_of(a->x, work) : NULL;

    text_add(t, " in ");
    ev_add_id(t, e->id);
    if (e->kind == EV_mem_write) {
        text_add(t, ", by a command");
        add_place(a, t, ev_tick(e->id));
    } else if (work) {
        text_add(t, ", by ");
        ev_names_object(a->p->names, t, work->u.fetch.host, OBJ_QP, work->u.fetch.qpn);
        text_addf(t, "'s %s wr_id=%llu", enum_name(&enum_wr_opcode, work->u.fetch.op),
                  (unsigned long long)work->u.fetch.wr_id);
        if (post)
            add_place(a, t, ev_tick(post->id));
    } else {
        text_addf(t, ", by the device (%s)", ev_schema(e->kind)->name);
    }
}

/* Returns true if a program runs on the host: the lab does not see the stores of its processor. */
static bool is_unseen(const struct bytes_answer *a, uint32_t host)
{
    const struct session_outside *outside = &a->s->outside;
    char name[RDL_NAME_BYTES];
    struct text t = text_on(name, sizeof(name));
    struct live_exec_info info;

    ev_names_host(a->p->names, &t, host);
    for (uint32_t i = 0; outside->live && a->s->config.live_ops->exec_at(outside->live, i, &info);
         i++) {
        if (strcmp(info.host, name) == 0)
            return true;
    }
    return false;
}

/* Appends that nobody wrote to memory of @host, as far as that is known. */
static void add_nobody(const struct bytes_answer *a, struct text *t, uint32_t host)
{
    if (is_unseen(a, host))
        text_add(t, "no device wrote there; what its program stores there itself is not recorded");
    else if (a->p->forgotten || a->p->gap_from)
        text_add(t, "no write to it is recorded (any more)");
    else
        text_add(t, "nobody wrote there");
}

/* Appends @lead, and the part of @r that @w wrote if it did not write all of it. */
static void add_part(const struct bytes_answer *a, struct text *t, const char *lead,
                     const struct ev *w, const struct byte_range *r, const struct bytes_origin *o)
{
    const uint64_t addr = w->u.dma_write.addr;
    const struct bytes_origin part = {
        .host = r->host, .iova = r->iova > addr ? r->iova : addr, .bytes = o->bytes};
    struct byte_range ignored;

    text_add(t, lead);
    if (o->bytes >= r->bytes)
        return;
    text_add(t, " of ");
    add_range(a, t, &part, &ignored);
}

/* Tells the origin of those bytes of @r that @w wrote.  Returns the last write to the origin before
 * they were read, and *@ret, its memory; NULL: it is not known.
 */
static const struct ev *tell_origin(const struct bytes_answer *a, const struct ev *w,
                                    const struct byte_range *r, const char *lead,
                                    struct byte_range *ret)
{
    char buf[2 * SHOW_LINE_BYTES], name[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf)), n = text_on(name, sizeof(name));
    const struct ev *before, *later;
    struct bytes_origin o;

    if (w->kind != EV_dma_write || !bytes_find_origin(a->x, w, r, &o))
        return NULL;
    add_range(a, &n, &o, ret);
    add_part(a, &t, lead, w, r, &o);
    text_addf(&t, " came from %s, which were read in ", name);
    ev_add_id(&t, o.read);
    before = bytes_last_write(a->p, ret, o.read);
    later = bytes_next_write(a->p, ret, o.read);
    if (before) {
        text_add(&t, " and had been written");
        add_writer(a, &t, before);
    } else {
        text_add(&t, ": ");
        add_nobody(a, &t, ret->host);
    }
    if (later) {
        text_addf(&t, ". %s was written later,", name);
        add_writer(a, &t, later);
    }
    text_add(&t, ".");
    show_wrap(a->out, 2, buf);
    return before;
}

const struct ev *why_bytes_print(struct session *s, FILE *out, const struct past *p,
                                 const char *name, const struct memory *m)
{
    const struct bytes_answer a = {s, out, p, fate_index(p)};
    char buf[2 * SHOW_LINE_BYTES], host[RDL_NAME_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    const struct ev *last, *w;
    struct byte_range r;

    tree_host_of(name, host);
    r = (struct byte_range){ev_names_find_host(p->names, host), m->iova, m->addr, m->bytes};
    last = w = bytes_last_write(p, &r, 0);
    text_addf(&t, "%s: ", name);
    if (last) {
        text_add(&t, "written last");
        add_writer(&a, &t, last);
        text_add(&t, ".");
    } else {
        add_nobody(&a, &t, r.host);
        text_add(&t, ".");
    }
    show_wrap(out, 0, buf);
    for (unsigned i = 0; i < COPIES_MAX && w; i++) {
        const struct byte_range to = r;

        w = tell_origin(&a, w, &to, i == 0 ? "The bytes" : "Those", &r);
    }
    past_index_free(a.x);
    return last;
}
