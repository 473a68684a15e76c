/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a saved trace, and every query about what was read.
 *
 * Checked: anything that is no trace is refused with a reason; every trace is shown and drawn,
 * whatever its events contain; its exported events form a trace again with the same number of
 * events.
 */
#include <string.h>

#include "cli/export/export.h"
#include "cli/lang/json.h"
#include "cli/show/show.h"
#include "cli/show/show_trace_file.h"
#include "cli/timeline/timeline.h"
#include "cli/trace_file/trace_file.h"
#include "cli/why/why.h"
#include "emu/trace/event.h"
#include "fuzz.h"
#include "viz/picture.h"

/* Of so many events it is asked why; what led to them is behind them. */
#define ASKED_MAX 64u

static picture_draw *const pictures[] = {
#define PICTURE(NAME, name, text) name##_draw,
#include "viz/pictures.def"
#undef PICTURE
};

static struct trace_file *read_trace(const void *bytes, size_t n)
{
    struct trace_file_error err = {0};
    struct trace_file *s = NULL;
    FILE *in = fmemopen((void *)(uintptr_t)bytes, n, "r");
    enum rdl_status st;

    FUZZ_CHECK(in);
    st = trace_file_read(in, &s, &err);
    FUZZ_CHECK((st == RDL_OK) == (s != NULL) && (s || err.text[0]));
    fclose(in);
    return s;
}

static void show_all(FILE *out, const struct past *p)
{
    static const char *const events[] = {"events"}, *const packet[] = {"packet", "last"};
    const struct show_request requests[] = {
        {.words = events, .n_words = 1},
        {.words = events, .n_words = 1, .form = SHOW_JSON},
        {.words = packet, .n_words = 2},
        {.words = packet, .n_words = 2, .form = SHOW_JSON},
    };
    struct show_error e;

    for (size_t i = 0; i < ARRAY_LEN(requests); i++)
        (void)show(out, NULL, p, &requests[i], &e);
}

static void ask_why(FILE *out, const struct past *p)
{
    const size_t n = p->n < ASKED_MAX ? p->n : ASKED_MAX;
    ev_id id;
    size_t at;

    for (size_t i = 0; i < n; i++)
        FUZZ_CHECK(why(out, p, past_at(p, p->n - 1 - i)->id) == RDL_OK);
    if (why_find(NULL, p, NULL, &id, &at) == RDL_OK)
        (void)why(out, p, id);
}

static void draw(FILE *out, const struct past *p)
{
    const struct picture_options options = {.title = "fuzz"};
    const struct timeline_options page = {.title = "fuzz"};

    FUZZ_CHECK(timeline_write(out, p, &page) == RDL_OK);
    for (size_t i = 0; i < ARRAY_LEN(pictures); i++) {
        FUZZ_CHECK(export_picture(out, pictures[i], p, &options, false) == RDL_OK);
        FUZZ_CHECK(export_picture(out, pictures[i], p, &options, true) == RDL_OK);
    }
}

static void read_again(const struct past *p, const struct trace_file_info *info)
{
    const struct past_about about = {.title = info->title, .seed = info->seed};
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    struct trace_file *again;

    FUZZ_CHECK(f);
    FUZZ_CHECK(export_events(f, p, &about) == RDL_OK);
    FUZZ_CHECK(fclose(f) == 0);
    again = read_trace(text, n);
    FUZZ_CHECK(again && trace_file_past(again).n == p->n);
    trace_file_free(again);
    free(text);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    json_use_memory();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct trace_file *s = n ? read_trace(data, n) : NULL;
    struct past p;
    FILE *out;

    if (!s)
        return 0;
    out = fopen("/dev/null", "w");
    FUZZ_CHECK(out);
    p = trace_file_past(s);
    show_trace_file(out, s);
    show_trace_file_notes(out, "note: ", s);
    show_all(out, &p);
    ask_why(out, &p);
    draw(out, &p);
    read_again(&p, trace_file_info(s));
    fclose(out);
    trace_file_free(s);
    return 0;
}
