/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a capture file: checked against the rules, reported in both formats and drawn.
 *
 * The first byte selects what is known in addition to the file; the rest is the file.  Frames with
 * a wrong ICRC are checked like others if no host has a correct one, so inputs need no repair.
 * Checked: anything that is no capture is refused with a reason; every capture is reported,
 * whatever its frames contain; the findings are counted correctly and are in the order of the
 * frames.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/check.h"
#include "capture/drawn.h"
#include "cli/export/export.h"
#include "cli/timeline/timeline.h"
#include "fuzz.h"
#include "viz/picture.h"

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

/* What the bits of @byte say: where it was captured, and which attributes are known. */
static struct check_known known_by(uint8_t byte)
{
    static const uint8_t ips[2][4] = {{10, 0, 0, 1}, {10, 0, 0, 2}};
    struct check_known known = {
        .limits = {byte & 4 ? 1 : EXACT_UNKNOWN, byte & 8 ? 1 : EXACT_UNKNOWN,
                   byte & 16 ? 1 : EXACT_UNKNOWN, byte & 32 ? 1 : EXACT_UNKNOWN}};

    for (unsigned i = 0; i < 2; i++) {
        if (byte & 1u << i)
            gid_from_ipv4(known.at.at[known.at.n_at++], ips[i]);
    }
    /* Connections between these hosts, or the worst one. */
    known.choice.by_ends = byte & 64 && choice_parse("10.0.0.1-10.0.0.2", known.choice.ends);
    known.choice.worst = byte & 128 ? 1 : 0;
    return known;
}

/* The file as two ends of a connection. */
static void parse_ends(const uint8_t *data, size_t n)
{
    struct choice_end ends[2];
    char text[64];

    if (n >= sizeof(text))
        return;
    memcpy(text, data, n);
    text[n] = '\0';
    if (choice_parse(text, ends))
        FUZZ_CHECK(ends[0].has_host || ends[0].has_qpn);
}

static void judge_findings(const struct check *c)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < FIND_COUNT; i++)
        n += c->found.count[i];
    FUZZ_CHECK(n == c->found.n && c->n_shown <= c->n);
    FUZZ_CHECK(c->record.n_copies <= c->record.n);
    for (uint32_t i = 0; i < c->found.n; i++) {
        const struct found *f = &c->found.v[i];

        FUZZ_CHECK(i == 0 || c->found.v[i - 1].frame <= f->frame);
        FUZZ_CHECK(f->flow == FOUND_NOWHERE || f->flow < c->record.n_flows);
        FUZZ_CHECK(f->frame >= 1 && f->frame <= c->record.n_frames);
    }
}

static void draw(FILE *out, const struct check *c, FILE *in)
{
    bool *flows = c->is_chosen ? choice_flows(c) : NULL;
    const struct picture_options options = {.title = "fuzz"};
    const struct timeline_options page = {.title = "fuzz", .no_bytes = "a reason"};
    struct drawn d;
    struct past p;

    drawn_init(&d, &c->record, flows);
    free(flows);
    drawn_keep(&d, in, 0, 0, TIMELINE_PACKETS_MAX);
    p = drawn_past(&d);
    FUZZ_CHECK(timeline_write(out, &p, &page) == RDL_OK);
    FUZZ_CHECK(export_picture(out, ladder_draw, &p, &options, false) == RDL_OK);
    FUZZ_CHECK(export_picture(out, ladder_draw, &p, &options, true) == RDL_OK);
    drawn_done(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct check_known known;
    struct check c;
    FILE *in, *out;

    if (n < 2)
        return 0;
    known = known_by(data[0]);
    parse_ends(data + 1, n - 1);
    in = fmemopen((void *)(uintptr_t)(data + 1), n - 1, "r");
    out = fopen("/dev/null", "w");
    FUZZ_CHECK(in && out);
    if (check_file(&c, in, &known)) {
        judge_findings(&c);
        check_text(out, &c, "fuzz", 1);
        check_json(out, &c, "fuzz");
        draw(out, &c, in);
    } else {
        FUZZ_CHECK(c.capture.wrong[0]);
    }
    check_done(&c);
    fclose(in);
    fclose(out);
    return 0;
}
