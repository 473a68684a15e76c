/* SPDX-License-Identifier: MIT */
/* Prints a row for each region and window, sorted by host and by the address that its key uses.  A
 * further row is for the last access that a device refused.  The reason of the refusal is computed
 * with the current regions, not those of that time.
 */
#include "cli/show/show_memory.h"

#include <stdlib.h>
#include <string.h>

#include "cli/show/show_columns.h"
#include "cli/show/show_objects.h"
#include "cli/show/show_rows.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/facts/rules.h"
#include "emu/trace/event.h"
#include "print/show_text.h"
#include "process/must.h"
#include "tree/tree.h"

/* A region or a bound window. */
struct region_piece {
    char path[TREE_PATH_BYTES], host[RDL_NAME_BYTES];
    bool is_window;
    uint64_t from, bytes, lkey, rkey;
};

struct pieces {
    const struct rdl_lab *lab;
    struct region_piece *v;
    size_t n, room;
};

static struct region_piece *append(struct pieces *p, const char *path)
{
    struct region_piece *new;
    struct text t;

    p->v = must_grow(p->v, p->n, &p->room, sizeof(*p->v));
    new = &p->v[p->n++];
    *new = (struct region_piece){.is_window = false};
    t = text_on(new->path, sizeof(new->path));
    text_add(&t, path);
    tree_host_of(path, new->host);
    return new;
}

static void add_region(void *ctx, const char *path)
{
    struct pieces *p = ctx;
    struct region_piece *new = append(p, path);

    new->from = tree_number(p->lab, path, LEAF_mr_iova);
    new->bytes = tree_number(p->lab, path, LEAF_mr_bytes);
    new->lkey = tree_number(p->lab, path, LEAF_mr_lkey);
    new->rkey = tree_number(p->lab, path, LEAF_mr_rkey);
}

static void add_window(void *ctx, const char *path)
{
    struct pieces *p = ctx;
    struct region_piece *new = append(p, path);
    struct rdl_value v;

    new->is_window = true;
    new->from = tree_number(p->lab, path, LEAF_mw_addr);
    new->bytes = tree_number(p->lab, path, LEAF_mw_bytes);
    new->rkey = tree_leaf(p->lab, path, LEAF_mw_device_rkey, &v)
                    ? v.number
                    : tree_number(p->lab, path, LEAF_mw_rkey);
}

/* Sorts by host, then by address.  A window follows the region that contains it. */
static int compare(const void *a, const void *b)
{
    const struct region_piece *x = a, *y = b;
    const int hosts = strcmp(x->host, y->host);

    if (hosts)
        return hosts;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->is_window != y->is_window)
        return x->is_window ? 1 : -1;
    return strcmp(x->path, y->path);
}

/* A set of access rights.  People get the short words that `access=` takes. */
static void access_cell(struct rows *r, const struct rdl_lab *lab, const char *path,
                        enum leaf_id id)
{
    char buf[RDL_VALUE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct rdl_value v;

    if (!tree_leaf(lab, path, id, &v)) {
        rows_none(r);
        return;
    }
    for (const char *s = v.text; *s;) {
        const size_t n = strcspn(s, ",");

        for (size_t i = 0; i < enum_access.n_rows; i++) {
            const struct enum_row *row = &enum_access.rows[i];

            if (strlen(row->name) == n && memcmp(row->name, s, n) == 0)
                text_addf(&t, "%s%s", t.len ? "," : "", row->text);
        }
        s += n + (s[n] == ',');
    }
    rows_text_as(r, v.text, t.len ? buf : "-");
}

static void add_piece(struct rows *r, const struct rdl_lab *lab, const struct region_piece *p)
{
    rows_text(r, p->path);
    rows_hex(r, p->from);
    rows_hex(r, p->from + p->bytes);
    rows_number(r, p->bytes);
    if (p->is_window)
        rows_none(r);
    else
        rows_hex(r, p->lkey);
    rows_hex(r, p->rkey);
    access_cell(r, lab, p->path, p->is_window ? LEAF_mw_access : LEAF_mr_access);
    rows_leaf(r, lab, p->path, p->is_window ? LEAF_mw_state : LEAF_mr_state, QUANTITY_NUMBER);
    rows_leaf(r, lab, p->path, p->is_window ? LEAF_mw_mr : LEAF_mr_pd, QUANTITY_NUMBER);
}

/* Returns the last event of a refused key, at @host or at any host if it is "".  Returns NULL if
 * there is none.
 */
static const struct ev *last_refusal(const struct past *p, const char *host)
{
    const uint32_t number = host[0] ? ev_names_find_host(p->names, host) : EV_HOST_NONE;

    for (size_t i = p->n; i > 0; i--) {
        const struct ev *e = past_at(p, i - 1);

        if (e->kind == EV_key && e->u.key.rule != RULE_NONE &&
            (!host[0] || e->u.key.host == number))
            return e;
    }
    return NULL;
}

/* Appends how far [@addr, @addr + @bytes) is outside: "it ends 16 bytes behind the end of h2.mr".
 */
static void add_outside(struct text *t, const struct region_piece *p, uint64_t addr, uint64_t bytes)
{
    const unsigned long long before = addr < p->from ? p->from - addr : 0;
    const uint64_t at = addr - p->from; /* wraps around if @addr is before the region */
    unsigned long long behind = 0;

    if (!before && at > p->bytes)
        behind = at - p->bytes + bytes;
    else if (!before && bytes > p->bytes - at)
        behind = bytes - (p->bytes - at);
    if (before)
        text_addf(t, "it begins %llu byte%s before %s does", before, plural_s(before), p->path);
    else if (behind)
        text_addf(t, "it ends %llu byte%s behind the end of %s", behind, plural_s(behind), p->path);
    else
        text_addf(t, "it is inside %s: the addresses are not what was wrong", p->path);
}

/* Appends the reason of the refusal according to the current keys. */
static void add_reason(struct text *t, const struct pieces *all, const struct ev *e,
                       const char *host)
{
    const uint64_t key = e->u.key.key;
    const struct region_piece *p = NULL;
    bool old = false;

    for (size_t i = 0; i < all->n && (!p || old); i++) {
        const struct region_piece *each = &all->v[i];
        const uint64_t own = each->is_window ? each->rkey : each->lkey;

        if (strcmp(each->host, host) != 0 || own >> 8 != key >> 8)
            continue;
        p = each;
        old = own != key;
    }
    if (!p)
        text_addf(t, "nothing at %s has the key 0x%llx", host, (unsigned long long)key);
    else if (old)
        text_addf(t, "the key of %s is another one now: 0x%llx", p->path,
                  (unsigned long long)(p->is_window ? p->rkey : p->lkey));
    else
        add_outside(t, p, e->u.key.addr, e->u.key.bytes);
}

struct last_refusal {
    const struct ev *e; /* NULL: no access was refused */
    char host[EV_NAME_BYTES], id[EV_NAME_BYTES], reason[SHOW_LINE_BYTES];
};

static void read_refusal(struct last_refusal *ret, const struct pieces *all, const struct past *p,
                         const char *path)
{
    struct text host = text_on(ret->host, sizeof(ret->host)),
                id = text_on(ret->id, sizeof(ret->id)),
                t = text_on(ret->reason, sizeof(ret->reason));

    ret->e = last_refusal(p, path);
    if (!ret->e)
        return;
    ev_names_host(p->names, &host, ret->e->u.key.host);
    ev_add_id(&id, ret->e->id);
    add_reason(&t, all, ret->e, ret->host);
}

/* Adds the refusal as a row of the same table, for programs. */
static void add_refusal(struct rows *r, const struct last_refusal *f)
{
    const struct ev *e = f->e;

    rows_text(r, "refused");
    rows_hex(r, e->u.key.addr);
    rows_hex(r, e->u.key.addr + e->u.key.bytes);
    rows_number(r, e->u.key.bytes);
    rows_hex(r, e->u.key.key);
    rows_hex(r, e->u.key.key);
    rows_text(r, f->reason);
    rows_text(r, enum_name(&enum_rule, e->u.key.rule));
    rows_text(r, f->id);
}

static void print_refusal(FILE *out, const struct past *p, const struct last_refusal *f)
{
    const struct ev *e = f->e;
    char buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (!e) {
        fputs(p->forgotten || p->gap_from ? "no access that is recorded was refused\n"
                                          : "no access was refused\n",
              out);
        return;
    }
    text_addf(&t, "refused last, in %s at %s: %llu bytes at 0x%llx with key 0x%llx; ", f->id,
              f->host, (unsigned long long)e->u.key.bytes, (unsigned long long)e->u.key.addr,
              (unsigned long long)e->u.key.key);
    text_add(&t, f->reason);
    text_addf(&t, "; explain %s", enum_name(&enum_rule, e->u.key.rule));
    show_hanging(out, 2, buf);
}

enum rdl_status show_memory(FILE *out, const struct rdl_lab *lab, const struct past *p,
                            const char *path, enum show_form form)
{
    struct pieces all = {.lab = lab};
    struct last_refusal refusal;
    struct rows r;
    enum rdl_status st = show_each(lab, path, NODE_mr, add_region, &all);

    if (st == RDL_OK)
        st = show_each(lab, path, NODE_mw, add_window, &all);
    if (st == RDL_OK) {
        if (all.n)
            qsort(all.v, all.n, sizeof(*all.v), compare);
        read_refusal(&refusal, &all, p, path);
        rows_begin_table(&r, out, form, TABLE_MEMORY);
        for (size_t i = 0; i < all.n; i++)
            add_piece(&r, lab, &all.v[i]);
        if (refusal.e && form != SHOW_TEXT)
            add_refusal(&r, &refusal);
        rows_end(&r, "no memory is registered");
        if (form == SHOW_TEXT)
            print_refusal(out, p, &refusal);
    }
    free(all.v);
    return st;
}
