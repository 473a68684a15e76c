/* SPDX-License-Identifier: MIT */
/* The rows are read off the lines that people get, so that neither has a field that the other has
 * not: offset, bytes, name and text stand in columns, and a line without an offset goes on with the
 * field above it.
 */
#include "cli/show/show_dump.h"

#include <stdlib.h>
#include <string.h>

#include "cli/print/must.h"
#include "cli/show/show_columns.h"

enum { COLUMN_OFFSET = 2, COLUMN_HEX = 8, COLUMN_NAME = 33, COLUMN_TEXT = 54 };

struct field {
    bool any;
    char offset[8];
    char hex[SHOW_LINE_BYTES], name[SHOW_LINE_BYTES], text[2 * SHOW_LINE_BYTES];
};

/* Appends what stands from column @from up to @to to @ret: for one blank one, for several, which
 * part a value from what it means, "; ".
 */
static void add_part(const char *line, size_t from, size_t to, char *ret, size_t cap)
{
    struct text t = text_on(ret + strlen(ret), cap - strlen(ret));
    unsigned blanks = ret[0] != '\0';

    for (size_t i = 0; i < to && line[i]; i++) {
        if (i < from)
            continue;
        if (line[i] == ' ') {
            blanks++;
            continue;
        }
        if (blanks && ret[0])
            text_add(&t, blanks > 1 && t.len ? "; " : " ");
        text_addf(&t, "%c", line[i]);
        blanks = 0;
    }
}

static void end_field(struct rows *r, struct field *f)
{
    if (f->any) {
        rows_number(r, strtoul(f->offset, NULL, 16));
        rows_text(r, f->hex);
        rows_text(r, f->name);
        rows_text(r, f->text);
    }
    *f = (struct field){.any = false};
}

static void take_line(struct rows *r, struct field *f, const char *line)
{
    const size_t len = strlen(line);

    if (len <= COLUMN_OFFSET)
        return;
    if (line[COLUMN_OFFSET] != ' ' && len > COLUMN_NAME) {
        end_field(r, f);
        f->any = true;
        add_part(line, COLUMN_OFFSET, COLUMN_HEX, f->offset, sizeof(f->offset));
    }
    add_part(line, COLUMN_HEX, COLUMN_NAME, f->hex, sizeof(f->hex));
    add_part(line, COLUMN_NAME, COLUMN_TEXT, f->name, sizeof(f->name));
    add_part(line, COLUMN_TEXT, SIZE_MAX, f->text, sizeof(f->text));
}

enum rdl_status show_dump_rows(FILE *out, const struct rdl_lab *lab, const char *path,
                               enum show_form form, size_t *reterr_at)
{
    char *lines = NULL;
    size_t bytes = 0;
    FILE *f = must_memstream(&lines, &bytes);
    struct field field = {.any = false};
    enum rdl_status st;
    struct rows r;

    st = show_dump(f, lab, path, reterr_at);
    if (fclose(f) != 0)
        must_fail();
    if (st == RDL_OK) {
        char *line = strchr(lines, '\n'); /* behind the heading */

        rows_begin_table(&r, out, form, TABLE_DUMP);
        while (line && *++line) {
            char *end = line + strcspn(line, "\n");
            const bool more = *end != '\0';

            *end = '\0';
            take_line(&r, &field, line);
            line = more ? end : NULL;
        }
        end_field(&r, &field);
        rows_end(&r, NULL);
    }
    free(lines);
    return st;
}
