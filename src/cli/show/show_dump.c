/* SPDX-License-Identifier: MIT */
#include "cli/show/show_dump.h"

#include <string.h>

#include "cli/explain/rfc_dump.h"
#include "cli/show/show_columns.h"
#include "cli/show/show_wqe.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/virtio_rdma/layout.h"

void dump_add_row(void *rows, const struct rfc_row *row)
{
    char hex[3 * WQE_BYTES_MAX], value[2 * SHOW_LINE_BYTES];
    struct text h = text_on(hex, sizeof(hex)), v = text_on(value, sizeof(value));

    if (rfc_is_blank(row))
        text_addf(&h, "00, %zu times", row->bytes);
    else
        rfc_add_bytes(&h, row, 0, row->bytes);
    text_add(&v, row->value);
    text_addf(&v, row->value[0] && row->meaning[0] ? "; %s" : "%s", row->meaning);
    rows_number(rows, row->offset);
    rows_text(rows, hex);
    rows_text(rows, row->name);
    rows_text(rows, value);
}

enum rdl_status show_dump(FILE *out, const struct rdl_lab *lab, const char *path,
                          enum show_form form, size_t *reterr_at)
{
    const struct rfc_sink people = {rfc_print_row, out};
    struct rows r;
    const struct rfc_sink programs = {dump_add_row, &r};
    struct wqe_reader reader;
    struct wqe_buffer b;
    struct wqe_bytes bytes;
    enum rdl_status st = wqe_at(lab, path, &reader, &b, reterr_at);

    if (st != RDL_OK)
        return st;
    if (form == SHOW_TEXT)
        fprintf(out, "%s   %u bytes at 0x%llx\n", path, b.bytes, (unsigned long long)b.addr);
    st = wqe_read(&reader, &b, &bytes);
    if (st != RDL_OK)
        goto out;
    if (form == SHOW_TEXT) {
        wqe_dump(&people, &reader, &b, &bytes);
        if (bytes.n < b.bytes)
            fprintf(out, "  ....  %zu more bytes\n", b.bytes - bytes.n);
    } else {
        rows_begin_table(&r, out, form, TABLE_DUMP);
        wqe_dump(&programs, &reader, &b, &bytes);
        rows_end(&r, NULL);
    }
out:
    wqe_reader_done(&reader);
    return st;
}

/* --- The demonstration's layout --------------------------------------------------------------- */

#define HEX_BYTES_MAX 8u /* of a field; a longer one is cut */
#define SGES_MAX      32u

/* Output state: both layouts of one buffer. */
struct layout_pair {
    struct rows rows;
    bool both;
    const uint8_t *spec;
    size_t n_spec;
    uint8_t demo[WQE_BYTES_MAX];
};

/* A structure in both layouts: its offset in each, and a prefix for the names of its fields. */
struct layout_part {
    const char *name, *prefix;
    size_t spec_at, demo_at;
    enum wr_form form;
};

static void cell_bytes(struct layout_pair *p, const uint8_t *bytes, size_t n)
{
    char hex[64];
    struct text t = text_on(hex, sizeof(hex));

    rfc_add_bytes(&t, &(struct rfc_row){.at = bytes, .bytes = n}, 0, HEX_BYTES_MAX);
    text_add(&t, n > HEX_BYTES_MAX ? " ..." : "");
    rows_text(&p->rows, hex);
}

static void cells(struct layout_pair *p, const uint8_t *bytes, size_t at, const struct row_field *f)
{
    if (!f) {
        rows_none(&p->rows);
        rows_none(&p->rows);
        return;
    }
    rows_number(&p->rows, at + f->offset);
    cell_bytes(p, bytes + at + f->offset, f->bytes);
}

/* Adds a row for a field: @f in the RFC's structure, @g in the demonstration's.  One of them may be
 * NULL.
 */
static void add_field(struct layout_pair *p, const struct layout_part *part,
                      const struct row_field *f, const struct row_field *g)
{
    const struct row_struct *s = rfc_laid_out(part->name, f ? LAYOUT_SPEC : LAYOUT_DEMO);
    char name[64], value[SHOW_LINE_BYTES];
    struct text n = text_on(name, sizeof(name)), v = text_on(value, sizeof(value));

    if (!p->both && !g)
        return;
    text_addf(&n, "%s%s", part->prefix, f ? f->name : g->name);
    rfc_field_add(&v, s, f ? f : g, f ? p->spec + part->spec_at : p->demo + part->demo_at);
    if (p->both)
        cells(p, p->spec, part->spec_at, f);
    cells(p, p->demo, part->demo_at, g);
    rows_text(&p->rows, name);
    rows_text(&p->rows, value);
}

static void add_padding(struct layout_pair *p, size_t at, size_t n)
{
    if (p->both) {
        rows_none(&p->rows);
        rows_none(&p->rows);
    }
    rows_number(&p->rows, at);
    cell_bytes(p, p->demo + at, n);
    rows_text(&p->rows, "(padding)");
    rows_text(&p->rows, "");
}

/* Returns the structure inside field @f of @part.  Its name is NULL if the field contains none. */
static struct layout_part inner_of(const struct layout_part *part, const struct row_field *f,
                                   const struct row_field *g)
{
    const char *name =
        f ? rfc_inner_name(rfc_laid_out(part->name, LAYOUT_SPEC), f, part->form) : NULL;

    if (!name || !rfc_laid_out(name, LAYOUT_DEMO))
        return (struct layout_part){.name = NULL};
    return (struct layout_part){.name = name,
                                .prefix = strcmp(part->name, "sq_wqe") == 0 ? "wr." : part->prefix,
                                .spec_at = part->spec_at + f->offset,
                                .demo_at = part->demo_at + g->offset};
}

/* Adds the fields of @part in the demonstration's order, with nested structures in place, then the
 * fields that the demonstration lacks.
 */
static void add_part(struct layout_pair *p, const struct layout_part *part)
{
    const struct row_struct *spec = rfc_laid_out(part->name, LAYOUT_SPEC),
                            *demo = rfc_laid_out(part->name, LAYOUT_DEMO);
    size_t end = 0;

    for (size_t i = 0; i < demo->n_fields; i++) {
        const struct row_field *g = &demo->fields[i], *f = row_field_find(spec, g->name);
        const struct layout_part inner = inner_of(part, f, g);

        if (g->offset > end)
            add_padding(p, part->demo_at + end, g->offset - end);
        end = g->offset + g->bytes;
        if (inner.name)
            add_part(p, &inner);
        else
            add_field(p, part, f, g);
    }
    if (demo->bytes > end)
        add_padding(p, part->demo_at + end, demo->bytes - end);
    for (size_t i = 0; i < spec->n_fields; i++) {
        if (!row_field_find(demo, spec->fields[i].name))
            add_field(p, part, &spec->fields[i], NULL);
    }
}

/* Returns the structure of the buffer.  Its name is NULL if the demonstration has no such
 * structure.
 */
static struct layout_part head_of(const struct wqe_reader *r, const struct wqe_buffer *b,
                                  const struct wqe_bytes *bytes)
{
    const struct row_struct *s = NULL;
    struct layout_part part = {.prefix = ""};

    switch (b->role) {
    case RING_SQ:
        s = rfc_find("sq_wqe");
        if (bytes->n >= s->bytes)
            part.form = wr_form(r->type, ld_le32(bytes->v + offsetof(struct raw_sq_wqe, opcode)));
        break;
    case RING_RQ:
        s = rfc_find("rq_wqe");
        break;
    case RING_CQ:
        s = rfc_find("cqe");
        break;
    case RING_CTRL:
        s = b->writable ? rfc_ctrl(b->command)->response : rfc_ctrl(bytes->v[0])->request;
        /* In the demonstration, the command byte before it is in a buffer of its own. */
        part.spec_at = 1;
        break;
    default:
        break;
    }
    if (s && rfc_laid_out(s->name, LAYOUT_DEMO) && bytes->n >= part.spec_at + s->bytes)
        part.name = s->name;
    return part;
}

/* Adds the SGEs after the head of a WQE.  Their layout is the same in both. */
static void add_sges(struct layout_pair *p, const struct layout_part *head, uint32_t n)
{
    const size_t spec = rfc_laid_out(head->name, LAYOUT_SPEC)->bytes,
                 demo = rfc_laid_out(head->name, LAYOUT_DEMO)->bytes;

    for (uint32_t i = 0; i < n && i < SGES_MAX; i++) {
        char prefix[24];
        struct text t = text_on(prefix, sizeof(prefix));
        const struct layout_part sge = {"sge", prefix, spec + i * sizeof(struct raw_sge),
                                        demo + i * sizeof(struct raw_sge), WR_FORM_NONE};

        if (sge.spec_at + sizeof(struct raw_sge) > p->n_spec)
            return;
        text_addf(&t, "sge[%u].", i);
        memcpy(p->demo + sge.demo_at, p->spec + sge.spec_at, sizeof(struct raw_sge));
        add_part(p, &sge);
    }
}

static bool is_inline(const struct wqe_buffer *b, const uint8_t *wqe)
{
    return b->role == RING_SQ &&
           (ld_le32(wqe + offsetof(struct raw_sq_wqe, send_flags)) & SF_INLINE) != 0;
}

enum rdl_status show_layout(FILE *out, const struct rdl_lab *lab, const char *path,
                            enum show_layout layout, enum show_form form, size_t *reterr_at)
{
    struct layout_pair p = {.both = layout == SHOW_LAYOUT_BOTH};
    struct wqe_reader reader;
    struct wqe_buffer b;
    struct wqe_bytes bytes;
    struct layout_part head;
    enum rdl_status st = wqe_at(lab, path, &reader, &b, reterr_at);

    if (st != RDL_OK)
        return st;
    st = wqe_read(&reader, &b, &bytes);
    if (st != RDL_OK)
        goto out;
    head = head_of(&reader, &b, &bytes);
    if (!head.name) {
        st = RDL_ERR_UNSUPPORTED;
        goto out;
    }
    p.spec = bytes.v;
    p.n_spec = bytes.n;
    rfc_relay(head.name, head.form, LAYOUT_SPEC, bytes.v + head.spec_at, LAYOUT_DEMO, p.demo);
    if (form == SHOW_TEXT)
        fprintf(out, "%s   %s: %zu bytes, in the demonstration %zu\n", path, head.name,
                rfc_laid_out(head.name, LAYOUT_SPEC)->bytes,
                rfc_laid_out(head.name, LAYOUT_DEMO)->bytes);
    rows_begin_table(&p.rows, out, form, p.both ? TABLE_LAYOUT : TABLE_DUMP);
    add_part(&p, &head);
    if ((b.role == RING_SQ || b.role == RING_RQ) && !is_inline(&b, bytes.v))
        add_sges(&p, &head, ld_le32(bytes.v + offsetof(struct raw_sq_wqe, num_sge)));
    rows_end(&p.rows, NULL);
out:
    wqe_reader_done(&reader);
    return st;
}
