/* SPDX-License-Identifier: MIT */
#include "cli/show/show_dump.h"

#include "cli/show/show_columns.h"
#include "cli/show/show_wqe.h"

/* A row of the table for programs. */
static void add_row(void *rows, const struct rfc_row *row)
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
    const struct rfc_sink programs = {add_row, &r};
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
