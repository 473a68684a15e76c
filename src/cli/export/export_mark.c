/* SPDX-License-Identifier: MIT */
#include "cli/export/export_mark.h"

#include <string.h>

#include "cli/export/export.h"
#include "cli/trace_file/trace_file_header.h"
#include "emu/base/assert.h"
#include "viz/svg.h"

/* One of both. */
struct export_mark {
    const char *text; /* the file begins with it */
    bool (*is_ours)(const uint8_t *begin, size_t n);
};

static const struct export_mark marks[] = {
#define PICTURE(NAME, name, text) [EXPORT_##NAME] = {NAME##_SVG_MARK, NULL},
#include "viz/pictures.def"
#undef PICTURE
    [EXPORT_PCAPNG] = {NULL, pcapng_is_ours},  [EXPORT_EVENTS] = {TRACE_FILE_MARK, NULL},
    [EXPORT_TIMELINE] = {TIMELINE_MARK, NULL}, [EXPORT_VQ] = {VQ_SVG_MARK, NULL},
    [EXPORT_MAP] = {SVG_MARK("map"), NULL},    [EXPORT_STATES] = {SVG_MARK("states"), NULL},
    [EXPORT_WHY] = {SVG_MARK("why"), NULL},
};

/* The marks of graphs as DOT. */
static const struct export_mark dot_marks[ARRAY_LEN(marks)] = {
    [EXPORT_MAP] = {DOT_MARK("map"), NULL},
    [EXPORT_STATES] = {DOT_MARK("states"), NULL},
    [EXPORT_WHY] = {DOT_MARK("why"), NULL},
};

const struct export_mark *export_mark_of(enum export_form form, const char *name)
{
    RDL_ASSERT(form < ARRAY_LEN(marks));
    if (export_is_text(name))
        return NULL;
    return export_is_dot(name) && dot_marks[form].text ? &dot_marks[form] : &marks[form];
}

bool export_mark_fits(const struct export_mark *m, const uint8_t *begin, size_t n)
{
    if (m->is_ours)
        return m->is_ours(begin, n);
    return n >= strlen(m->text) && memcmp(begin, m->text, strlen(m->text)) == 0;
}
