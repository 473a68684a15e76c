/* SPDX-License-Identifier: MIT */
/* Tests of `show`, `why` and `export` on a running lab: every form answers, fits the width, and is
 * JSON if requested.
 */
#include "testing.h"

#include <cjson/cJSON.h>

#include "cli/export/export.h"
#include "cli/printed.h"
#include "cli/show/show.h"
#include "cli/show/show_events.h"
#include "cli/trace_file/trace_file.h"
#include "cli/why/why.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/send_flag.h"
#include "golden.h"
#include "testbed/testbed.h"
#include "tree/lab_past.h"

#define TICKS_MAX 100000u

static void rig_make(struct testbed *r, uint64_t seed)
{
    const struct testbed_config config = {
        .seed = seed,
        .check_invariants = true,
        .record = true,
        .mr_bytes = 8192,
        .max_wr = 16,
        .path_mtu = MTU_1024,
        .sq_psn = {100, 0},
        .timeout = 4,
        .retry_cnt = 3,
        .rnr_retry = 1,
        .min_rnr_timer = 1,
        .latency_ns = 1000,
    };

    assert_int_equal(testbed_init(r, &config), RDL_OK);
}

static void run(struct testbed *r)
{
    const struct rdl_limits limits = {.ticks = TICKS_MAX};

    assert_int_equal(rdl_run(r->lab, rdl_now_ns(r->lab) + 1000000000u, limits), RDL_OK);
}

static void drop(struct testbed *r, uint32_t psn, uint32_t count)
{
    const struct rdl_fault_config config = {
        .name = "f1",
        .about = "drops what it is told",
        .kind = FLT_DROP,
        .from = r->side[0].host,
        .opcode = RDL_ANY,
        .syndrome = RDL_ANY,
        .psn = psn,
        .dest_qpn = RDL_ANY,
        .nth = 1,
        .count = count,
    };
    rdl_fault fault;

    assert_int_equal(rdl_fault_add(r->lab, &config, &fault), RDL_OK);
}

/* @line: the words after `show`, with a blank between them. */
static enum rdl_status ask(struct printed *p, const struct testbed *r, const char *line, bool json,
                           struct show_error *err)
{
    char buf[128];
    const char *words[8];
    struct show_request rq = {.words = words, .form = json ? SHOW_JSON : SHOW_TEXT};
    struct text t = text_on(buf, sizeof(buf));
    struct past past;
    enum rdl_status st;

    text_add(&t, line);
    for (char *s = buf; *s;) {
        words[rq.n_words++] = s;
        s += strcspn(s, " ");
        if (*s)
            *s++ = '\0';
    }
    past = past_of_lab(r->lab);
    st = show(printed_begin(p)->out, r->lab, &past, &rq, err);
    printed_text(p);
    return st;
}

static void assert_shows(const struct testbed *r, const char *line, const char *part)
{
    struct show_error err = {0};
    struct printed p;

    if (ask(&p, r, line, false, &err) != RDL_OK)
        fail_msg("show %s: %s", line, err.text);
    assert_prints(&p, part);
    assert_lines_fit(&p);
    printed_end(&p);
}

static void assert_shows_json(const struct testbed *r, const char *line)
{
    struct show_error err = {0};
    struct printed p;
    cJSON *j;

    assert_int_equal(ask(&p, r, line, true, &err), RDL_OK);
    j = cJSON_Parse(printed_text(&p));
    if (!j)
        fail_msg("show %s is not JSON:\n%s", line, printed_text(&p));
    cJSON_Delete(j);
    printed_end(&p);
}

static void every_form_answers(void **state)
{
    static const struct {
        const char *line, *part;
    } rows[] = {
        {"", "h1-h2"},
        {"h1", "10.0.0.1"},
        {"h1.device", "VERSION_1"},
        {"h1.port", "sent_frames"},
        {"h1.qp", "oldest unacknowledged"},
        {"h1.qp.state", "h1.qp.state = RTS"},
        {"h1.qp.sq.driver", "avail_idx"},
        {"h1.net.tx", "used_addr"},
        {"h1.qp.sq.desc", "[0]"},
        {"qp", "unacked-psn"},
        {"qp h1", "h1.qp"},
        {"qp h1.qp", "counters"},
        {"cq", "h2.cq"},
        {"cq h1.cq", "wc[0]"},
        {"mr", "lkey"},
        {"pd", "h1.pd"},
        {"vq h1.qp.sq", "driver   device"},
        {"vq h1.qp", "h1.qp.rq   queue"},
        {"vq h1.cq", "room for a CQE"},
        {"vq h1", "h1.ctrl   queue 0"},
        {"dump h1.qp.sq.desc[0]", "sge[0].lkey"},
        {"dump h2.qp.rq.desc[0]", "wr_id                7"},
        {"dump h1.cq.queue.desc[0]", "SUCCESS"},
        {"dump h1.ctrl.desc[0]", "MODIFY_QP"},
        {"dump h1.ctrl.desc[1]", "response"},
        {"packet", "RC_ACKNOWLEDGE"},
        {"packet last", "correct"},
        {"events", "host_up"},
        {"events last 3", "cqe"},
        {"faults", "drops what it is told"},
        {"links", "100g"},
        {"hosts", "h2"},
        {"counters", "h1.qp.counters.timeouts"},
    };
    struct testbed r;

    (void)state;
    rig_make(&r, 1);
    drop(&r, 100, 1);
    assert_int_equal(testbed_recv(&r, 1, 7, 0, 1024), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    run(&r);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_shows(&r, rows[i].line, rows[i].part);
        assert_shows_json(&r, rows[i].line);
    }
    testbed_done(&r);
}

/* A value of 15 characters is followed by one blank. */
static void a_value_does_not_run_into_its_meaning(void **state)
{
    const char *const together = "FENCE, SIGNALED; send flags";
    struct show_error err = {0};
    struct printed p;
    struct testbed r;

    (void)state;
    rig_make(&r, 1);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED | SF_FENCE), RDL_OK);
    for (int json = 0; json < 2; json++) {
        assert_int_equal(ask(&p, &r, "dump h1.qp.sq.desc[0]", json == 1, &err), RDL_OK);
        assert_prints(&p, together);
        printed_end(&p);
    }
    testbed_done(&r);
}

static void a_wrong_word_is_pointed_at(void **state)
{
    static const struct {
        const char *line;
        enum rdl_status st;
        size_t word, at;
    } rows[] = {
        {"h9", RDL_ERR_NOT_FOUND, 0, 0},     {"h1.qq", RDL_ERR_NOT_FOUND, 0, 3},
        {"qp h1.cq", RDL_ERR_INVAL, 1, 0},   {"qp h1.qpp", RDL_ERR_NOT_FOUND, 1, 3},
        {"vq", RDL_ERR_INVAL, 1, 0},         {"vq h1.mr", RDL_ERR_INVAL, 1, 0},
        {"dump h1.qp", RDL_ERR_INVAL, 1, 0}, {"dump h1.qp.sq.desc[99]", RDL_ERR_NOT_FOUND, 1, 13},
        {"packet x3", RDL_ERR_INVAL, 1, 0},  {"packet #999", RDL_ERR_NOT_FOUND, 1, 0},
        {"events x3", RDL_ERR_INVAL, 1, 0},  {"events last x", RDL_ERR_INVAL, 2, 0},
        {"faults now", RDL_ERR_INVAL, 1, 0},
    };
    struct testbed r;

    (void)state;
    rig_make(&r, 1);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct show_error err = {.word = 9, .at = 9};
        struct printed p;

        assert_int_equal(ask(&p, &r, rows[i].line, false, &err), rows[i].st);
        assert_int_equal(err.word, rows[i].word);
        assert_int_equal(err.at, rows[i].at);
        assert_true(err.text[0] != '\0');
        printed_end(&p);
    }
    testbed_done(&r);
}

static void a_posted_request_waits_for_its_kick(void **state)
{
    struct testbed r;
    struct printed p;
    struct show_error err;

    (void)state;
    rig_make(&r, 1);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(ask(&p, &r, "vq h1.qp.sq", false, &err), RDL_OK);
    assert_in_order(printed_text(&p), "h1.qp.sq 19 16 avail.idx 1 0 kicked SEND wr_id=1 mr[0:64]");
    assert_golden("a queue that was kicked", printed_text(&p));
    printed_end(&p);
    /* The device requests no second kick before it has looked, and will find this request, too. */
    assert_int_equal(testbed_send(&r, 0, 2, 0, 64, SF_SIGNALED), RDL_OK);
    assert_int_equal(ask(&p, &r, "vq h1.qp.sq", false, &err), RDL_OK);
    assert_in_order(printed_text(&p), "avail.idx 2 0 kicked");
    assert_golden("a queue that was kicked before the last post", printed_text(&p));
    printed_end(&p);
    testbed_done(&r);
}

/* Fails unless `why TARGET` prints the golden section @name and each of @words in order. */
static void assert_why(const char *name, const struct testbed *r, const char *target,
                       const char *words)
{
    const struct past past = past_of_lab(r->lab);
    struct printed p;
    ev_id id = 0;
    size_t at;

    assert_int_equal(why_find(r->lab, &past, target, &id, &at), RDL_OK);
    assert_int_equal(why(printed_begin(&p)->out, &past, id), RDL_OK);
    assert_in_order(printed_text(&p), words);
    assert_lines_fit(&p);
    assert_golden(name, printed_text(&p));
    printed_end(&p);
}

static void a_message_that_does_not_fit_is_explained_from_both_ends(void **state)
{
    struct testbed r;

    (void)state;
    rig_make(&r, 1);
    assert_int_equal(testbed_recv(&r, 1, 7, 0, 32), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    run(&r);
    assert_why("a message that does not fit, at the sender", &r, "h1.cq.wc[0]",
               "REM_INV_REQ_ERR NAK_INVALID_REQUEST psn=100 h2.qp 32 64");
    assert_why("a message that does not fit, at the receiver", &r, "h2.cq.wc[0]",
               "LOC_LEN_ERR RECV, RESP_RECV_LENGTH, 32");
    testbed_done(&r);
}

static void no_receive_is_explained_by_its_rnr_naks(void **state)
{
    struct testbed r;

    (void)state;
    rig_make(&r, 1);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    run(&r);
    assert_why("no receive", &r, NULL, "RNR_RETRY_EXC_ERR 2, arrived RESP_RECV_WQE");
    testbed_done(&r);
}

static void a_fault_tells_what_it_hit(void **state)
{
    struct testbed r;

    (void)state;
    rig_make(&r, 1);
    drop(&r, RDL_ANY, 1);
    assert_int_equal(testbed_recv(&r, 1, 7, 0, 1024), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 64, SF_SIGNALED), RDL_OK);
    run(&r);
    assert_why("a fault", &r, "f1", "lost RC_SEND_ONLY psn=100, f1 h1.qp RC_SEND_ONLY psn=100");
    assert_why("a queue pair after a timeout", &r, "h1.qp", "timeout");
    testbed_done(&r);
}

/* Prints everything that can be computed from events alone. */
static void print_all(FILE *out, const struct past *past)
{
    const struct picture_options options = {.title = "the same"};
    const struct event_filter all = event_filter_all();

    show_events(out, past, &all, false, false);
    for (size_t i = 0; i < past->n; i++)
        assert_int_equal(why(out, past, past_at(past, i)->id), RDL_OK);
    assert_int_equal(export_picture(out, ladder_draw, past, &options, true), RDL_OK);
    assert_int_equal(export_picture(out, ladder_draw, past, &options, false), RDL_OK);
}

static void a_saved_trace_gives_the_same_answers(void **state)
{
    const struct past_about about = {.seed = 1};
    struct trace_file_error err;
    struct trace_file *saved;
    struct printed live, again;
    struct past past;
    struct testbed r;
    FILE *f = tmpfile();

    (void)state;
    assert_non_null(f);
    rig_make(&r, 1);
    drop(&r, 101, 1);
    assert_int_equal(testbed_recv(&r, 1, 7, 0, 4096), RDL_OK);
    assert_int_equal(testbed_send(&r, 0, 1, 0, 3000, SF_SIGNALED), RDL_OK);
    run(&r);
    past = past_of_lab(r.lab);
    assert_int_equal(export_events(f, &past, &about), RDL_OK);
    print_all(printed_begin(&live)->out, &past);
    testbed_done(&r);

    rewind(f);
    assert_int_equal(trace_file_read(f, &saved, &err), RDL_OK);
    past = trace_file_past(saved);
    print_all(printed_begin(&again)->out, &past);
    assert_string_equal(printed_text(&live), printed_text(&again));
    printed_end(&live);
    printed_end(&again);
    trace_file_free(saved);
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_answers),
        cmocka_unit_test(a_value_does_not_run_into_its_meaning),
        cmocka_unit_test(a_wrong_word_is_pointed_at),
        cmocka_unit_test(a_posted_request_waits_for_its_kick),
        cmocka_unit_test(a_message_that_does_not_fit_is_explained_from_both_ends),
        cmocka_unit_test(no_receive_is_explained_by_its_rnr_naks),
        cmocka_unit_test(a_fault_tells_what_it_hit),
        cmocka_unit_test(a_saved_trace_gives_the_same_answers),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
