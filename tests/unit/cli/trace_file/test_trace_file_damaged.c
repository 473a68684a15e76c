/* SPDX-License-Identifier: MIT */
/* Tests of damaged traces: each is read, or refused with a line.  Every command works on what was
 * read.
 */
#include "testing.h"

#include <ctype.h>

#include "cli/export/export.h"
#include "cli/printed.h"
#include "cli/show/show_events.h"
#include "cli/show/show_packet.h"
#include "cli/show/show_trace_file.h"
#include "cli/trace_file/trace_file.h"
#include "cli/why/why.h"
#include "emu/base/prng.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/trace/event.h"
#include "rounds.h"
#include "testbed/testbed.h"
#include "tree/lab_past.h"

#define ROUNDS      n_rounds(150)
#define DAMAGES_MAX 3u
#define EXTRA_BYTES 64u /* maximum that one damage may add */
#define TICKS_MAX   100000u
#define WHY_MAX     40u /* events examined in each round */

/* Writes a trace whose start was dropped, with losses and retransmissions. */
static void write_trace(struct printed *out)
{
    const struct past_about about = {.title = "damaged", .seed = 3};
    const struct rdl_limits limits = {.ticks = TICKS_MAX};
    const struct testbed_config config = {
        .seed = 3,
        .record = true,
        .mr_bytes = 8192,
        .max_wr = 16,
        .path_mtu = MTU_1024,
        .timeout = 4,
        .retry_cnt = 7,
        .rnr_retry = 7,
        .latency_ns = 1000,
        .loss_ppm = 200000,
    };
    struct past past;
    struct testbed r;

    assert_int_equal(testbed_init(&r, &config), RDL_OK);
    rdl_record_bound(r.lab, 1024, 1024);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(testbed_recv(&r, 1, i, 0, 4096), RDL_OK);
        assert_int_equal(testbed_send(&r, 0, i, 0, 3000, SF_SIGNALED), RDL_OK);
    }
    assert_int_equal(rdl_run(r.lab, RDL_NEVER, limits), RDL_OK);
    past = past_of_lab(r.lab);
    assert_true(past.forgotten > 0 && past.n > 100);
    assert_int_equal(export_events(printed_begin(out)->out, &past, &about), RDL_OK);
    testbed_done(&r);
}

/* Replaces the @gone bytes at @at by @with. */
static void replace(char *text, size_t at, size_t gone, const char *with)
{
    const size_t n = strlen(with);

    memmove(text + at + n, text + at + gone, strlen(text + at + gone) + 1);
    memcpy(text + at, with, n);
}

/* Damages one place, often in a way that leaves a valid trace. */
static void damage(struct prng *r, char *text)
{
    static const char *const numbers[] = {
        "0",  "1",   "4294967295", "4294967296", "9007199254740992", "18446744073709551615",
        "-1", "1e18"};
    static const char *const words[] = {
        "\"",   "none",         "h1", "h2", "host4000000000", "\\u0000", "\xff", "}",
        "[[[[", "RC_SEND_ONLY", "tx", "rx", ",\"hosts\":[]"};
    size_t at = (size_t)prng_below(r, strlen(text)), end;

    switch (prng_below(r, 5)) {
    case 0: /* a number */
        while (text[at] && !isdigit((unsigned char)text[at]))
            at++;
        end = at + strspn(text + at, "0123456789");
        replace(text, at, end - at, numbers[prng_below(r, ARRAY_LEN(numbers))]);
        break;
    case 1: /* a word */
        while (text[at] && !isalpha((unsigned char)text[at]))
            at++;
        for (end = at; isalnum((unsigned char)text[end]) || text[end] == '_';)
            end++;
        replace(text, at, end - at, words[prng_below(r, ARRAY_LEN(words))]);
        break;
    case 2: /* a field */
        at += strcspn(text + at, ",");
        end = at + (text[at] ? 1 + strcspn(text + at + 1, ",}") : 0);
        replace(text, at, end - at, "");
        break;
    case 3: /* many lines */
        at += strcspn(text + at, "\n");
        end = at + (size_t)prng_below(r, strlen(text + at) + 1);
        end += strcspn(text + end, "\n");
        replace(text, at, end - at, "");
        break;
    default: /* the end */
        text[strlen(text) - strlen(text + at) / 8] = '\0';
        break;
    }
}

static void ask_everything(struct prng *r, const struct trace_file *s)
{
    const struct event_filter all = event_filter_all();
    const struct past p = trace_file_past(s);
    const struct picture_options options = {.title = trace_file_info(s)->title};
    struct printed out;
    ev_id id;
    size_t off;

    show_trace_file(printed_begin(&out)->out, s);
    show_events(out.out, &p, &all, false, false);
    show_events(out.out, &p, &all, true, false);
    assert_int_equal(export_picture(out.out, ladder_draw, &p, &options, true), RDL_OK);
    assert_int_equal(export_picture(out.out, ladder_draw, &p, &options, false), RDL_OK);
    for (size_t i = 0; i < WHY_MAX && p.n; i++) {
        id = past_at(&p, (size_t)prng_below(r, p.n))->id;
        assert_int_equal(why(out.out, &p, id), RDL_OK);
        (void)!show_packet(out.out, &p, id, i % 2 == 0);
    }
    if (why_find(NULL, &p, NULL, &id, &off) == RDL_OK)
        assert_int_equal(why(out.out, &p, id), RDL_OK);
    assert_true(printed_text(&out)[0] != '\0');
    printed_end(&out);
}

/* Returns true if the damaged @text was still a trace. */
static bool try_one(struct prng *r, const char *text)
{
    struct trace_file_error err;
    struct trace_file *s = NULL;
    FILE *f = tmpfile();
    enum rdl_status st;

    assert_non_null(f);
    assert_int_equal(fputs(text, f) >= 0, 1);
    rewind(f);
    st = trace_file_read(f, &s, &err);
    fclose(f);
    if (st == RDL_OK) {
        ask_everything(r, s);
        trace_file_free(s);
        return true;
    }
    assert_null(s);
    assert_true(st == RDL_ERR_INVAL || st == RDL_ERR_LIMIT);
    assert_true(err.text[0] != '\0');
    return false;
}

static void damaged_traces_are_refused_or_answer(void **state)
{
    struct printed original;
    unsigned n_taken = 0;

    (void)state;
    write_trace(&original);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct prng r = prng_stream(1, round);
        const size_t cap = strlen(printed_text(&original)) + DAMAGES_MAX * EXTRA_BYTES + 1;
        char *text = malloc(cap);

        assert_non_null(text);
        memcpy(text, original.text, original.bytes + 1);
        for (uint64_t n = prng_below(&r, DAMAGES_MAX + 1); n > 0 && text[0]; n--)
            damage(&r, text);
        n_taken += try_one(&r, text);
        free(text);
    }
    printed_end(&original);
    assert_in_range(n_taken, ROUNDS / 10, ROUNDS - ROUNDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damaged_traces_are_refused_or_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
