/* SPDX-License-Identifier: MIT */
/* Tests of events that the recorder does not have: every command that needs them says so, and what
 * to do.
 */
#include "tree/lab_past.h"

#include <stdlib.h>
#include <string.h>

#include "cli/lab_session.h"
#include "cli/printed.h"
#include "emu/base/quantity.h"
#include "emu/past/past.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"
#include "viz/ladder.h"

/* Some thousand events, of which the recorder keeps the last; it keeps fewer frames. */
static const char long_story[] =
    "record keep=2k frames=4k; host h1 h2; link h1 h2\n"
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=64k access=lw as mr; create_cq cqe=128 as cq\n"
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
    "connect h1.qp h2.qp sq_psn=100 timeout=14\n"
    "repeat 60 { post_recv h2.qp sge=mr[0:4k]; post_send h1.qp sge=mr[0:4k] signaled; run }\n";

/* Recording is off while two packets are sent and two others arrive. */
static const char gap_story[] =
    "host h1 h2; link h1 h2 latency=10us\n"
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=64k access=lw as mr; create_cq cqe=128 as cq\n"
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
    "connect h1.qp h2.qp sq_psn=100 timeout=14\n"
    "post_recv h2.qp sge=mr[0:4k]; post_send h1.qp sge=mr[0:4k] signaled\n"
    "step packet; step packet; record off; step packet; step packet; step packet; step packet\n"
    "record on; run\n";

static const char frameless_story[] = "record frames=0; host h1 h2; link h1 h2; ping h1 h2\n";

/* Fails unless the text of a parameter has @words followed by @n in the form shown to users. */
static void assert_says(const char *text, const char *words, uint64_t n)
{
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));

    text_add(&t, words);
    quantity_add(&t, QUANTITY_SIZE, n);
    if (!strstr(text, buf))
        fail_msg("\"%s\" does not say \"%s\"", text, buf);
}

static void the_help_has_the_defaults_of_the_engine(void **state)
{
    const struct cmd *record = &cmd_table[CMD_record];
    struct rdl_record_limits limits;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    limits = rdl_record_limits(l.s->lab);
    assert_says(cmd_param(record, "keep")->otherwise, "at first ", limits.events);
    assert_says(cmd_param(record, "frames")->otherwise, "at first ", limits.frame_bytes);
    assert_says(cmd_param(record, "keep")->help, "Each takes ", sizeof(struct ev));
    assert_says(cmd_param(&cmd_table[CMD_export], "packets")->standard, "", LADDER_PACKETS_DEFAULT);
    lab_close(&l);
}

static void the_record_can_be_told_how_much_to_keep(void **state)
{
    static const struct {
        const char *line;
        size_t events, frame_bytes;
        bool changed;
    } rows[] = {{"note \"nothing was said\"", 1u << 20, 256u << 20, false},
                {"record keep=4m frames=1g", 4u << 20, 1u << 30, true},
                {"record keep=64k", 1u << 16, 256u << 20, true},
                {"record frames=0", 1u << 20, 0, true},
                {"record off keep=2048", 2048, 256u << 20, true}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rdl_record_limits limits;
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, rows[i].line);
        limits = rdl_record_limits(l.s->lab);
        assert_int_equal(limits.events, rows[i].events);
        assert_int_equal(limits.frame_bytes, rows[i].frame_bytes);
        assert_int_equal(limits.changed, rows[i].changed);
        assert_int_equal(rdl_record_gap(l.s->lab).to == RDL_NEVER,
                         strstr(rows[i].line, "off") != NULL);
        lab_close(&l);
    }
}

/* The command in the message keeps what was dropped. */
static void the_remedy_helps(void **state)
{
    char story[1024];
    struct text t = text_on(story, sizeof(story));
    struct past past;
    struct lab l;

    (void)state;
    lab_open(&l, false);
    text_addf(&t, "record keep=8k frames=1m%s", strchr(long_story, ';'));
    lab_run(&l, story);
    past = past_of_lab(l.s->lab);
    assert_int_equal(past.forgotten, 0);
    assert_int_equal(past_frames_forgotten(&past), 0);
    lab_close(&l);
}

static void what_is_missing_is_said_where_it_is_looked_for(void **state)
{
    static const struct {
        const char *story, *line;
        bool ok;
        const char *says; /* part of the output, or of the message and its remedy */
    } rows[] = {
        {long_story, "why #12", false,
         "#12 is forgotten\nthe record has the last 1308 events, from #246.1 on; \"record "
         "keep=8k\" as the first line of the lab file keeps more"},
        {long_story, "why h1.qp", false, "nothing that needs a reason is recorded of h1.qp"},
        {long_story, "why 99999", false, "there is no event #99999"},
        {long_story, "show packet #12", false,
         "#12 is forgotten\nthe record has the last 1308 events, from #246.1 on"},
        {long_story, "show packet #99999", false,
         "there is no event #99999\n\"show events last 20\" lists what has happened"},
        {long_story, "show packet 99999", false, "there is no event #99999\n"},
        {long_story, "show packet #268.1", false,
         "the bytes of a frame are forgotten; \"record frames=16k\" as the first line of the lab "
         "file keeps more"},
        {frameless_story, "show packet last", false,
         "the bytes of 2 frames are forgotten; \"record frames=1m\" as the first line of the lab "
         "file keeps more"},
        {long_story, "show events #3..#9", true,
         "... 3072 older events are forgotten\n    #3 is one of them: the record has the last"},
        {long_story, "export ladder -", true,
         "the 3072 oldest events are forgotten, this is complete from #246.1 on; \"record "
         "keep=8k\""},
        {long_story, "export ladder - to=#200", true, "nothing that a ladder draws happened here"},
        {long_story, "export ladder - from=#100 to=#20", false,
         "from=#100 is after to=#20\nthe earlier one comes first"},
        {long_story, "export ladder - packets=4", true, "... 216 more packets, from #249.6 on"},
        {long_story, "export ladder /dev/null packets=4", true, "next part, packets=220 all of it"},
        {long_story, "export ladder /dev/null", true, "/dev/null: the 3072 oldest events are"},
        {long_story, "export pcapng /dev/null", true,
         "keeps more; the bytes of 212 frames are forgotten; \"record frames=16k\""},
        {long_story, "record", false, "change? It is at keep=2k frames=4k\nrecord off, record on"},
        {long_story, "record keep=12", false, "keep: 12 is out of range"},
        {long_story, "record keep=x", false, "keep: \"x\" is not a number: 500, 64k, 4m"},
        {gap_story, "why #51", false,
         "#51 was not recorded\nrecording was off at times from #51 to #55"},
        {gap_story, "show packet #55", false,
         "#55 was not recorded\nrecording was off at times from #51 to #55"},
        {gap_story, "why #57.1", true, "it was sent in #52.1, which was not recorded"},
        {gap_story, "export ladder -", true, "where it ends was not recorded"},
        {gap_story, "export ladder -", true, "sent in #52.1, which was not recorded"},
        {gap_story, "export pcapng /dev/null", true,
         "/dev/null: recording was off at times from #51 to #55: what happened then is missing"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char refusal[1024];
        struct text t = text_on(refusal, sizeof(refusal));
        const char *said = refusal;
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, rows[i].story);
        assert_int_equal(lab_try(&l, rows[i].line), rows[i].ok);
        fflush(l.f);
        if (rows[i].ok)
            said = l.out;
        else
            text_addf(&t, "%s\n%s", l.s->diag.message, l.s->diag.remedy);
        if (!strstr(said, rows[i].says))
            fail_msg("%s says: %s", rows[i].line, said);
        lab_close(&l);
    }
}

/* A picture of a complete part does not mention what is missing elsewhere. */
static void what_is_complete_is_not_complained_of(void **state)
{
    static const char *const lines[] = {"export ladder /dev/null from=#300 to=#310",
                                        "export ladder - from=#300"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, long_story);
        lab_run(&l, lines[i]);
        fflush(l.f);
        assert_null(strstr(l.out, "forgotten"));
        assert_null(strstr(l.out, "host0"));
        lab_close(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_help_has_the_defaults_of_the_engine),
        cmocka_unit_test(the_record_can_be_told_how_much_to_keep),
        cmocka_unit_test(the_remedy_helps),
        cmocka_unit_test(what_is_missing_is_said_where_it_is_looked_for),
        cmocka_unit_test(what_is_complete_is_not_complained_of),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
