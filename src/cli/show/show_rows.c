/* SPDX-License-Identifier: MIT */
#include "cli/show/show_rows.h"

#include <string.h>

#include "emu/base/json.h"
#include "print/print_json.h"
#include "tree/tree.h"

/* Type of a cell in JSON. */
enum cell_type { CELL_TEXT, CELL_NUMBER, CELL_FLAG, CELL_NONE };

bool rows_are_flat(enum show_form form)
{
    return form == SHOW_NDJSON || form == SHOW_CSV || form == SHOW_MARKDOWN;
}

void rows_key(const struct row_column *c, char *ret)
{
    struct text t = text_on(ret, RDL_NAME_BYTES);

    text_add(&t, c->key ? c->key : c->name);
    for (char *s = ret; *s; s++) {
        if (*s == ' ')
            *s = '-';
    }
}

void print_csv_field(FILE *out, const char *s)
{
    if (!strpbrk(s, ",\"\r\n")) {
        fputs(s, out);
        return;
    }
    fputc('"', out);
    for (; *s; s++)
        fprintf(out, *s == '"' ? "\"\"" : "%c", *s);
    fputc('"', out);
}

/* Prints a Markdown cell with the characters escaped that would end the cell or the line. */
static void print_markdown_cell(FILE *out, const char *s)
{
    fputs("| ", out);
    for (; *s; s++) {
        if (*s == '|' || *s == '\\')
            fputc('\\', out);
        fputc(*s == '\n' || *s == '\r' ? ' ' : *s, out);
    }
    fputc(' ', out);
}

static void print_headings(struct rows *r)
{
    char key[RDL_NAME_BYTES];

    for (unsigned i = 0; i < r->n_columns; i++) {
        rows_key(&r->columns[i], key);
        if (r->form == SHOW_CSV) {
            fputs(i ? "," : "", r->out);
            print_csv_field(r->out, key);
        } else {
            print_markdown_cell(r->out, key);
        }
    }
    if (r->form == SHOW_CSV) {
        fputs("\r\n", r->out);
        return;
    }
    fputs("|\n", r->out);
    for (unsigned i = 0; i < r->n_columns; i++)
        fputs(r->columns[i].right ? "| ---: " : "| --- ", r->out);
    fputs("|\n", r->out);
}

void rows_begin(struct rows *r, FILE *out, enum show_form form, const struct row_column *columns,
                unsigned n_columns)
{
    uint32_t right = 0;
    unsigned n = 0;

    *r = (struct rows){.out = out, .form = form, .columns = columns, .n_columns = n_columns};
    for (unsigned i = 0; i < n_columns; i++) {
        if (!columns[i].data)
            right |= (uint32_t)columns[i].right << n++;
    }
    grid_init(&r->grid, n, right);
    if (form == SHOW_JSON)
        fputc('[', out);
    else if (form == SHOW_CSV || form == SHOW_MARKDOWN)
        print_headings(r);
    for (unsigned i = 0; form == SHOW_TEXT && i < n_columns; i++) {
        if (!columns[i].data)
            grid_cell(&r->grid, columns[i].name);
    }
}

static void print_json_cell(struct rows *r, const char *raw, enum cell_type type)
{
    char key[RDL_NAME_BYTES];

    rows_key(&r->columns[r->at], key);
    if (r->at == 0)
        fputs(r->form == SHOW_JSON && r->n ? ",\n{" : "{", r->out);
    else
        fputc(',', r->out);
    print_json_string(r->out, key);
    fputc(':', r->out);
    if (type == CELL_NONE)
        fputs("null", r->out);
    else if (type == CELL_TEXT)
        print_json_string(r->out, raw);
    else
        fputs(raw, r->out);
    if (r->at + 1 == r->n_columns)
        fputs(r->form == SHOW_NDJSON ? "}\n" : "}", r->out);
}

/* Adds the next cell: programs get @raw, people @text. */
static void cell(struct rows *r, const char *raw, const char *text, enum cell_type type)
{
    const bool last = r->at + 1 == r->n_columns;

    switch (r->form) {
    case SHOW_TEXT:
        if (!r->columns[r->at].data)
            grid_cell(&r->grid, text);
        break;
    case SHOW_JSON:
    case SHOW_NDJSON:
        print_json_cell(r, raw, type);
        break;
    case SHOW_CSV:
        fputs(r->at ? "," : "", r->out);
        print_csv_field(r->out, type == CELL_NONE ? "" : raw);
        fputs(last ? "\r\n" : "", r->out);
        break;
    case SHOW_MARKDOWN:
        print_markdown_cell(r->out, text);
        fputs(last ? "|\n" : "", r->out);
        break;
    }
    r->at = last ? 0 : r->at + 1;
    r->n += last;
}

void rows_text(struct rows *r, const char *s)
{
    cell(r, s, s, CELL_TEXT);
}

void rows_text_as(struct rows *r, const char *raw, const char *text)
{
    cell(r, raw, text, CELL_TEXT);
}

void rows_number_as(struct rows *r, uint64_t v, const char *text)
{
    char raw[32];
    struct text t = text_on(raw, sizeof(raw));

    text_addf(&t, "%llu", (unsigned long long)v);
    cell(r, raw, text, v > JSON_EXACT_MAX ? CELL_TEXT : CELL_NUMBER);
}

void rows_number(struct rows *r, uint64_t v)
{
    char text[32];
    struct text t = text_on(text, sizeof(text));

    text_addf(&t, "%llu", (unsigned long long)v);
    rows_number_as(r, v, text);
}

void rows_hex(struct rows *r, uint64_t v)
{
    char text[32];
    struct text t = text_on(text, sizeof(text));

    text_addf(&t, "0x%llx", (unsigned long long)v);
    rows_number_as(r, v, text);
}

void rows_time(struct rows *r, uint64_t ns)
{
    char text[32];
    struct text t = text_on(text, sizeof(text));

    quantity_add_time_short(&t, ns);
    rows_number_as(r, ns, text);
}

void rows_none(struct rows *r)
{
    cell(r, "", "-", CELL_NONE);
}

void rows_value(struct rows *r, const struct rdl_value *v)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    tree_add_value(&t, v);
    switch (v->type) {
    case RDL_FLAG:
        cell(r, v->number ? "true" : "false", buf, CELL_FLAG);
        break;
    case RDL_TIME:
        if (v->number == RDL_NEVER)
            cell(r, "", buf, CELL_NONE);
        else
            rows_number_as(r, v->number, buf);
        break;
    case RDL_NUMBER:
    case RDL_HEX:
    case RDL_SIZE:
    case RDL_RATE:
        rows_number_as(r, v->number, buf);
        break;
    case RDL_NODE:
    case RDL_WORD:
    case RDL_TEXT:
        cell(r, v->text, buf, CELL_TEXT);
        break;
    }
}

void rows_leaf(struct rows *r, const struct rdl_lab *lab, const char *node, enum leaf_id leaf,
               enum quantity unit)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    struct rdl_value v;

    if (!tree_leaf(lab, node, leaf, &v)) {
        rows_none(r);
    } else if (unit != QUANTITY_NUMBER) {
        quantity_add(&t, unit, v.number);
        rows_number_as(r, v.number, buf);
    } else {
        rows_value(r, &v);
    }
}

void rows_end(struct rows *r, const char *none)
{
    if (r->form == SHOW_JSON)
        fputs(r->is_inside ? "]" : "]\n", r->out);
    else if (r->form == SHOW_TEXT && r->n)
        grid_print(&r->grid, r->out, 0);
    else if (r->form == SHOW_TEXT && none)
        fprintf(r->out, "%s\n", none);
    grid_done(&r->grid);
}
