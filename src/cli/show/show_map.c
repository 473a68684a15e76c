/* SPDX-License-Identifier: MIT */
#include "cli/show/show_map.h"

#include "cli/graph/map.h"
#include "cli/show/show_columns.h"
#include "cli/show/show_rows.h"
#include "print/show_text.h"

#define NAME_COLUMNS 10u /* of the names of objects, with their indentation */

struct map_print {
    FILE *out;
    const struct map *m;
    struct rows rows;
    bool any_held;
};

static void add_part(struct text *t, const char *lead, const char *part)
{
    if (part[0])
        text_addf(t, "%s%s%s", t->len ? "; " : "", lead, part);
}

/* Prints "    qp    RC, QPN 2, RTS; uses cq (send, recv); peer h2.qp". */
static void print_object(void *ctx, uint32_t i, unsigned depth)
{
    struct map_print *p = ctx;
    const struct map_object *o = &p->m->objects[i];
    char buf[2 * SHOW_LINE_BYTES], lead[RDL_PATH_BYTES + 8], part[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf)), l = text_on(lead, sizeof(lead)),
                s = text_on(part, sizeof(part));

    text_addf(&l, "%*s%s  ", (int)(2 * depth), "", map_name(p->m, o));
    add_part(&t, "", o->about);
    map_add_uses(&s, p->m, i);
    add_part(&t, "uses ", part);
    s = text_on(part, sizeof(part));
    map_add_peers(&s, p->m, i);
    add_part(&t, "peer ", part);
    add_part(&t, "", o->held);
    if (o->kind == NODE_switch)
        add_part(&t, "", "a switch");
    if (o->kind == NODE_external_port)
        add_part(&t, "", "a port to the outside");
    add_part(&t, "", t.len ? "" : node_rows[o->kind].title);
    p->any_held = p->any_held || o->held[0];
    show_wrap_behind(p->out, lead, NAME_COLUMNS, buf);
}

static void print_rests(const struct map_print *p)
{
    for (size_t k = 0; k < p->m->n_rests; k++) {
        const struct map_rest *r = &p->m->rests[k];
        char line[SHOW_LINE_BYTES];
        struct text t = text_on(line, sizeof(line));

        if (!p->m->objects[r->host].shown)
            continue;
        map_add_rest(&t, p->m, r, ": ");
        fprintf(p->out, "%s has %s\n", p->m->objects[r->host].path, line);
    }
}

static const char *name_of(const struct map *m, uint32_t i)
{
    return i == MAP_NONE ? "?" : m->objects[i].path;
}

static void print_links(const struct map_print *p)
{
    for (size_t k = 0; k < p->m->n_ties; k++) {
        const struct map_tie *tie = &p->m->ties[k];
        char lead[2 * RDL_PATH_BYTES];
        struct text l = text_on(lead, sizeof(lead));

        if (!map_has_link(p->m, tie))
            continue;
        text_addf(&l, "%s-%s  ", name_of(p->m, tie->a), name_of(p->m, tie->b));
        show_wrap_behind(p->out, lead, NAME_COLUMNS, tie->text);
    }
}

static void print_text(struct map_print *p)
{
    map_walk(p->m, print_object, p);
    if (p->m->n_objects == 0)
        fputs("there are no hosts\n", p->out);
    print_rests(p);
    print_links(p);
    if (p->any_held)
        show_wrap(p->out, 0,
                  "what is in use, attached, or has events that are not acknowledged cannot be "
                  "destroyed now");
}

/* --- Rows ------------------------------------------------------------------------------------- */

static void add_row(void *ctx, uint32_t i, unsigned depth)
{
    struct map_print *p = ctx;
    const struct map_object *o = &p->m->objects[i];
    char uses[SHOW_LINE_BYTES], peers[SHOW_LINE_BYTES];
    struct text u = text_on(uses, sizeof(uses)), s = text_on(peers, sizeof(peers));

    (void)depth;
    map_add_uses(&u, p->m, i);
    map_add_peers(&s, p->m, i);
    rows_text(&p->rows, o->path);
    rows_text(&p->rows, node_rows[o->kind].title);
    rows_text(&p->rows, o->about);
    if (o->home == MAP_NONE)
        rows_none(&p->rows);
    else
        rows_text(&p->rows, p->m->objects[o->home].path);
    rows_text(&p->rows, uses);
    rows_text(&p->rows, peers);
    rows_text(&p->rows, o->held);
}

static void add_links(struct map_print *p)
{
    for (size_t k = 0; k < p->m->n_ties; k++) {
        const struct map_tie *tie = &p->m->ties[k];
        char name[2 * RDL_PATH_BYTES];
        struct text t = text_on(name, sizeof(name));

        if (!map_has_link(p->m, tie))
            continue;
        text_addf(&t, "%s-%s", name_of(p->m, tie->a), name_of(p->m, tie->b));
        rows_text(&p->rows, name);
        rows_text(&p->rows, node_rows[NODE_link].title);
        rows_text(&p->rows, tie->text);
        rows_none(&p->rows);
        rows_text(&p->rows, "");
        rows_text(&p->rows, "");
        rows_text(&p->rows, "");
    }
}

enum rdl_status show_map(FILE *out, const struct rdl_lab *lab, const char *path,
                         enum show_form form, size_t *reterr_at)
{
    struct map m;
    struct map_print p = {.out = out, .m = &m};
    const enum rdl_status st = map_make(&m, lab, path, reterr_at);

    if (st == RDL_OK && form == SHOW_TEXT) {
        print_text(&p);
    } else if (st == RDL_OK) {
        rows_begin_table(&p.rows, out, form, TABLE_MAP);
        map_walk(&m, add_row, &p);
        add_links(&p);
        rows_end(&p.rows, NULL);
    }
    map_done(&m);
    return st;
}
