/* SPDX-License-Identifier: MIT */
/* Tests of exported captures: each frame is on the interface where it was seen, with comments that
 * say what happened to it.
 */
#include "testing.h"

#include <stdlib.h>

#include "cli/export/export.h"
#include "cli/export/export_mark.h"
#include "cli/printed.h"
#include "cli/timeline/timeline.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/trace/event.h"
#include "viz/graph.h"
#include "viz/ring.h"

#define BLOCK_INTERFACE 1u
#define BLOCK_NAMES     4u
#define BLOCK_PACKET    6u

enum { H1, H2, LOST }; /* interfaces */

static const uint8_t frame[64] = {0x02};

/* One frame is lost, then refused as a duplicate, then dropped by a switch. */
static const struct ev events[] = {
    WRITTEN_HOST(1, 0, "h1", "10.0.0.1"),
    WRITTEN_HOST(2, 1, "h2", "10.0.0.2"),
    {.id = ID(3, 1),
     .kind = EV_tx,
     .u.tx = {.host = 0, .qpn = 2, .opcode = 4, .wr_id = 9, .attempt = 2}},
    {.id = ID(3, 2),
     .kind = EV_fault,
     .u.fault = {.by = FLT_DELAY, .name = {"f2"}, .delay = 5000, .tx = ID(3, 1)}},
    {.id = ID(4, 1), .kind = EV_lost, .u.lost = {.by = FLT_DROP, .name = {"f1"}, .tx = ID(3, 1)}},
    {.id = ID(5, 1),
     .kind = EV_rx,
     .u.rx = {.host = 1, .qpn = 3, .act = ACT_DROP, .rule = 9, .tx = ID(3, 1)}},
    {.id = ID(5, 2),
     .kind = EV_drop,
     .u.drop = {.host = 1, .reason = DROP_OUT_OF_SEQUENCE, .tx = ID(3, 1)}},
    {.id = ID(6, 1),
     .kind = EV_drop,
     .u.drop = {.host = EV_HOST_NONE, .reason = DROP_NO_ROUTE, .tx = ID(3, 1)}},
    /* Its bytes are not kept. */
    {.id = ID(7, 1), .kind = EV_rx, .u.rx = {.host = 1, .tx = ID(2, 9)}},
};

static const struct written all = {events, ARRAY_LEN(events), ID(3, 1), frame, sizeof(frame)};

static const uint8_t *block(const struct printed *p, uint32_t type, unsigned n);

/* Exports all events, and checks that the capture consists of whole blocks. */
static void export_all(struct printed *p, uint64_t forgotten)
{
    const struct past_about about = {.title = "three fates", .seed = 7};
    struct ev_names *names = ev_names_new();
    struct past past = past_of_written(&all, names);
    uint64_t n = 0;

    past.forgotten = past.forgotten_frames = forgotten;
    assert_int_equal(export_pcapng(printed_begin(p)->out, &past, &about, &n), RDL_OK);
    fflush(p->out);
    assert_true(n > 0);
    assert_non_null(block(p, BLOCK_PACKET, (unsigned)n - 1));
    assert_null(block(p, BLOCK_PACKET, (unsigned)n));
    ev_names_free(names);
}

/* Returns the block number @n of @type, or NULL. */
static const uint8_t *block(const struct printed *p, uint32_t type, unsigned n)
{
    const uint8_t *at = (const uint8_t *)p->text, *end = at + p->bytes;

    while (at < end) {
        const uint32_t bytes = ld_le32(at + 4);

        assert_true(bytes >= 12 && bytes <= (size_t)(end - at));
        assert_int_equal(ld_le32(at + bytes - 4), bytes);
        if (ld_le32(at) == type && n-- == 0)
            return at;
        at += bytes;
    }
    return NULL;
}

static bool block_says(const uint8_t *at, const char *text)
{
    const size_t bytes = ld_le32(at + 4), n = strlen(text);

    for (size_t i = 0; i + n <= bytes; i++) {
        if (memcmp(at + i, text, n) == 0)
            return true;
    }
    return false;
}

static void each_host_has_an_interface_and_the_wire_has_one(void **state)
{
    static const char *const names[] = {"h1.rdma0", "h2.rdma0", "wire.lost"};
    struct printed p;

    (void)state;
    export_all(&p, 0);
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        assert_true(block_says(block(&p, BLOCK_INTERFACE, i), names[i]));
    assert_null(block(&p, BLOCK_INTERFACE, 3));
    assert_true(block_says(block(&p, BLOCK_NAMES, 0), "h2"));
    printed_end(&p);
}

static void each_frame_is_once_where_it_was_seen(void **state)
{
    static const struct {
        uint32_t interface;
        const char *comments[3];
    } rows[] = {
        {H1, {"h1.qpn2 wr_id=9 SEND, #3.1", "attempt 2", "lost on the wire, by f1"}},
        {LOST, {"wr_id=9", "DELAY by f2, 5us", "lost on the wire, by f1"}},
        {H2, {"wr_id=9", "attempt 2", "dropped: OUT_OF_SEQUENCE"}},
        {LOST, {"wr_id=9", "attempt 2", "dropped: NO_ROUTE"}},
    };
    struct printed p;

    (void)state;
    export_all(&p, 0);
    for (unsigned i = 0; i < ARRAY_LEN(rows); i++) {
        const uint8_t *at = block(&p, BLOCK_PACKET, i);

        assert_non_null(at);
        assert_int_equal(ld_le32(at + 8), rows[i].interface);
        assert_memory_equal(at + 28, frame, sizeof(frame));
        for (size_t k = 0; k < ARRAY_LEN(rows[i].comments); k++) {
            if (!block_says(at, rows[i].comments[k]))
                fail_msg("packet %u does not say \"%s\"", i, rows[i].comments[k]);
        }
    }
    assert_null(block(&p, BLOCK_PACKET, ARRAY_LEN(rows)));
    printed_end(&p);
}

static void the_section_says_what_was_run(void **state)
{
    struct printed p;

    (void)state;
    export_all(&p, 12);
    assert_true(block_says((const uint8_t *)p.text, "three fates"));
    assert_true(block_says((const uint8_t *)p.text, "seed 7"));
    assert_true(block_says((const uint8_t *)p.text,
                           "the 12 oldest events are forgotten, this is complete from #1.1 on"));
    assert_false(block_says((const uint8_t *)p.text, "the bytes of"));
    printed_end(&p);
}

/* Names and addresses outlive the events that set them.  Missing frames are counted. */
static void what_is_forgotten_is_said_and_names_are_kept(void **state)
{
    static const struct written rest = {.events = events + 2, .n = ARRAY_LEN(events) - 2};
    const struct past_about about = {.seed = 7};
    struct ev_names *names = ev_names_new();
    struct past past = past_of_written(&rest, names);
    struct printed p;
    uint64_t n = 1;

    (void)state;
    for (size_t i = 0; i < 2; i++)
        ev_names_learn(names, &events[i]);
    past.forgotten = 2;
    past.frame_bytes_max = 1u << 20;
    assert_int_equal(export_pcapng(printed_begin(&p)->out, &past, &about, &n), RDL_OK);
    fflush(p.out);
    assert_true(block_says((const uint8_t *)p.text,
                           "the bytes of a frame are forgotten; \"record frames=4m\" as the first "
                           "line of the lab file keeps more: they are not in this file"));
    assert_true(block_says(block(&p, BLOCK_INTERFACE, H2), "h2.rdma0"));
    assert_true(block_says(block(&p, BLOCK_NAMES, 0), "h2"));
    assert_null(block(&p, BLOCK_PACKET, 0));
    assert_int_equal(n, 0);
    printed_end(&p);
    ev_names_free(names);
}

static void put_printed(void *ctx, const char *bytes, size_t n)
{
    fwrite(bytes, 1, n, ctx);
}

/* Writes an empty graph of the form, as DOT or as SVG. */
static void write_graph(enum export_form form, const char *title, bool dot,
                        const struct viz_sink *sink)
{
    struct graph g;

    graph_init(&g, form == EXPORT_MAP ? "map" : form == EXPORT_STATES ? "states" : "why", title);
    assert_int_equal(dot ? graph_dot(&g, sink) : graph_svg(&g, sink), RDL_OK);
    graph_done(&g);
}

/* Writes an export of @form, as a file has it, to @p. */
static void write_form(struct printed *p, enum export_form form, const char *title)
{
    static picture_draw *const pictures[] = {
#define PICTURE(NAME, name, text) [EXPORT_##NAME] = name##_draw,
#include "viz/pictures.def"
#undef PICTURE
    };
    static const struct ring_slot slot;
    static const struct ring_entry entry;
    const struct ring_picture ring = {
        .title = title, .size = 1, .slots = &slot, .avail = &entry, .used = &entry};
    const struct viz_sink sink = {put_printed, printed_begin(p)->out};
    const struct past_about about = {.title = title, .seed = 7};
    const struct picture_options options = {.title = title};
    struct ev_names *names = ev_names_new();
    const struct past past = past_of_written(&all, names);
    uint64_t n;

    if (form < ARRAY_LEN(pictures))
        assert_int_equal(export_picture(p->out, pictures[form], &past, &options, true), RDL_OK);
    else if (form == EXPORT_PCAPNG)
        assert_int_equal(export_pcapng(p->out, &past, &about, &n), RDL_OK);
    else if (form == EXPORT_EVENTS)
        assert_int_equal(export_events(p->out, &past, &about), RDL_OK);
    else if (form == EXPORT_TIMELINE)
        assert_int_equal(timeline_write(p->out, &past, &(struct timeline_options){.title = title}),
                         RDL_OK);
    else if (form == EXPORT_VQ)
        assert_int_equal(ring_draw(&ring, &sink), RDL_OK);
    else
        write_graph(form, title, false, &sink);
    fflush(p->out);
    ev_names_free(names);
}

static bool fits(enum export_form form, const void *bytes, size_t n)
{
    return export_mark_fits(export_mark_of(form, "x"), bytes,
                            n < EXPORT_MARK_BYTES ? n : EXPORT_MARK_BYTES);
}

/* The bytes are copied to a block of just their size, so that a check of addresses finds reads
 * behind them.
 */
static bool fits_cut(enum export_form form, const char *bytes, size_t n)
{
    char *cut = malloc(n ? n : 1);
    bool ret;

    assert_non_null(cut);
    memcpy(cut, bytes, n);
    ret = fits(form, cut, n);
    free(cut);
    return ret;
}

static void every_form_has_a_mark_that_is_its_own(void **state)
{
    char longest[600] = "";

    (void)state;
    memset(longest, 'x', sizeof(longest) - 1);
    for (size_t i = 0; i < words_export.n_rows; i++) {
        const enum export_form form = (enum export_form)words_export.rows[i].value;
        const char *titles[] = {"", "rdmalab", "--> <svg>", longest};

        assert_null(export_mark_of(form, "x.txt"));
        for (size_t t = 0; t < ARRAY_LEN(titles); t++) {
            struct printed p;

            write_form(&p, form, titles[t]);
            for (size_t k = 0; k < words_export.n_rows; k++) {
                const enum export_form other = (enum export_form)words_export.rows[k].value;

                assert_int_equal(fits(other, p.text, p.bytes), other == form);
            }
            printed_end(&p);
        }
    }
}

static void graphs_have_marks_of_their_own_as_dot(void **state)
{
    static const enum export_form forms[] = {EXPORT_MAP, EXPORT_STATES, EXPORT_WHY};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct printed p;
        struct viz_sink sink = {put_printed, printed_begin(&p)->out};

        write_graph(forms[i], "\n// rdmalab export map\n", true, &sink);
        fflush(p.out);
        assert_null(export_wants_suffix(forms[i], "x.dot"));
        for (size_t k = 0; k < ARRAY_LEN(forms); k++)
            assert_int_equal(export_mark_fits(export_mark_of(forms[k], "x.dot"),
                                              (const uint8_t *)p.text, EXPORT_MARK_BYTES),
                             k == i);
        assert_false(fits(forms[i], p.text, p.bytes));
        printed_end(&p);
    }
}

static void a_mark_that_is_cut_or_changed_is_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < words_export.n_rows; i++) {
        const enum export_form form = (enum export_form)words_export.rows[i].value;
        struct printed p;
        size_t n = 0;

        write_form(&p, form, "t");
        while (n < p.bytes && !fits_cut(form, p.text, n))
            n++;
        assert_in_range(n, 20, 200); /* as many bytes make the mark */
        assert_true(n < p.bytes && fits_cut(form, p.text, n));
        for (size_t k = 0; k < 20; k++) {
            p.text[k] ^= 1;
            assert_false(fits_cut(form, p.text, p.bytes));
            p.text[k] ^= 1;
        }
        printed_end(&p);
    }
}

/* A file of another application, whose comment has the bytes of ours. */
static void a_comment_is_no_application(void **state)
{
    struct printed p;
    char *application;

    (void)state;
    write_form(&p, EXPORT_PCAPNG, "\4aa\7aardmalab");
    application = p.text;
    while (memcmp(application, "\4\0\7\0rdmalab", 11) != 0) {
        application++;
        assert_true(application + 11 < p.text + p.bytes);
    }
    memcpy(application + 4, "dumpcap", 7);
    assert_false(fits(EXPORT_PCAPNG, p.text, p.bytes));
    printed_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_host_has_an_interface_and_the_wire_has_one),
        cmocka_unit_test(each_frame_is_once_where_it_was_seen),
        cmocka_unit_test(the_section_says_what_was_run),
        cmocka_unit_test(what_is_forgotten_is_said_and_names_are_kept),
        cmocka_unit_test(every_form_has_a_mark_that_is_its_own),
        cmocka_unit_test(graphs_have_marks_of_their_own_as_dot),
        cmocka_unit_test(a_mark_that_is_cut_or_changed_is_none),
        cmocka_unit_test(a_comment_is_no_application),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
