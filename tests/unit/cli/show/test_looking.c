/* SPDX-License-Identifier: MIT */
/* Tests of `show` in a session: the lab on one screen, memory, changes since the last look, and
 * names that stand for numbers.
 */
#include "looking.h"

#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"

/* Returns the number of lines; *@ret_widest is the width of the longest. */
static size_t lines_of(const char *text, size_t *ret_widest)
{
    size_t n = 0;

    *ret_widest = 0;
    for (; *text; n++) {
        const size_t width = strcspn(text, "\n");

        *ret_widest = width > *ret_widest ? width : *ret_widest;
        text += width + (text[width] == '\n');
    }
    return n;
}

static void the_lab_fits_a_screen(void **state)
{
    size_t widest;
    struct lab l;
    char *text;

    (void)state;
    lab_open(&l, false);
    assert_page(&l, "an empty lab", "show", "host h1 h2 t=0");
    lab_run(&l, CONNECTED "post_recv h2.qp wr_id=7 sge=mr[0:1k]; drop next from=h1 as f1\n"
                          "post_send h1.qp wr_id=1 sge=mr[0:64] signaled; step packet");
    assert_page(&l, "a frame under way", "show",
                "h1-h2 f1 rqpn under way: 1 2 h1.qp: SEND wr_id=1 psn=100 h2.qp h2.qp: 1 "
                "RC_SEND_ONLY psn=100 h1 ACK h1.qp");
    text = lab_answer(&l, "show");
    assert_true(lines_of(text, &widest) <= 23);
    assert_true(widest <= 80);
    free(text);
    lab_run(&l, "run");
    assert_page(&l, "an idle lab", "show", "under way: nothing idle");
    lab_close(&l);

    lab_open(&l, false);
    lab_run(&l, "switch s1 s2 s3");
    for (unsigned i = 0; i < 40; i++) {
        char line[64];

        snprintf(line, sizeof(line), "host h%u; link h%u s1", i, i);
        lab_run(&l, line);
    }
    assert_page(&l, "a lab of many hosts", "show",
                "38 more: show hosts 2 more: show switches 38 more: show links");
    text = lab_answer(&l, "show");
    assert_true(lines_of(text, &widest) <= 23);
    free(text);
    lab_close(&l);
}

static void a_refused_access_is_told_by_how_much_it_is_outside(void **state)
{
    static const struct {
        const char *remote, *name, *words;
    } rows[] = {
        {"h2.mr[4090]", "an access that ends behind the region", "h2 58"},
        {"139637976731648", "an access behind the region", "h2 64"},
        {"139637976727536", "an access that begins before the region", "h2 16"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char line[160];
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, CONNECTED);
        assert_page(&l, "no access was refused", "show memory", "mrlen h2.mr lw,rw,rr");
        snprintf(line, sizeof(line),
                 "post_send h1.qp op=rdma_write sge=mr[0:64] remote=%s rkey=h2.mr signaled; run",
                 rows[i].remote);
        lab_run(&l, line);
        assert_page(&l, rows[i].name, "show memory", rows[i].words);
        lab_run(&l, "rereg_mr h2.mr access=lw");
        assert_answers(&l, "show memory", "h2.mr");
        assert_int_equal(records_of(&l, "memory h1", "ndjson"), 1); /* h2 refused it */
        assert_int_equal(records_of(&l, "memory h2", "ndjson"), 2);
        lab_close(&l);
    }
}

static void what_changed_since_the_last_look_is_marked(void **state)
{
    struct lab l;
    uint64_t hash;
    char *text;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECTED "post_recv h2.qp wr_id=7 sge=mr[0:1k]");
    hash = rdl_hash(l.s->lab);
    text = lab_answer(&l, "show vq h1.qp.sq");
    assert_has(text, "  free     16 of 16 descriptors, the driver's\n"); /* the first look */
    free(text);
    assert_int_equal(rdl_hash(l.s->lab), hash); /* looking changes nothing */
    lab_run(&l, "post_send h1.qp wr_id=1 sge=mr[0:64] signaled nokick");
    assert_page(&l, "a posted descriptor", "show vq h1.qp.sq",
                "* avail.idx 0 * desc 0 desc 0, kick * #");
    text = lab_answer(&l, "show vq h1.qp.sq");
    assert_has_not(text, "\n*"); /* now it is known */
    free(text);
    lab_run(&l, "kick h1.qp.sq; run");
    assert_page(&l, "a used descriptor", "show vq h1.qp.sq", "* used.idx desc 0, poll_cq");
    assert_page(&l, "a used descriptor of a completion queue", "show vq h1.cq", "poll_cq");
    text = lab_answer(&l, "show vq h1.qp.sq csv");
    assert_has(text, "queue,entry,owner,changed,addr,bytes,device,what,not-free\r\n");
    assert_has(text, "h1.qp.sq,desc 0,driver,false,");
    free(text);
    lab_close(&l);
}

static void a_packet_is_compared_with_the_one_before(void **state)
{
    struct lab l;
    cJSON *j, *field;
    bool found = false;
    char *text;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECTED "post_recv h2.qp wr_id=7 sge=mr[0:1k]; post_recv h2.qp sge=mr[0:1k]\n"
                          "post_send h1.qp wr_id=1 sge=mr[0:64]; step packet");
    text = lab_answer(&l, "show packet");
    assert_has_not(text, "was");
    free(text);
    lab_run(&l, "run; post_send h1.qp wr_id=2 sge=mr[0:64]; step packet");
    assert_page(&l, "a packet and the one before", "show packet",
                "* 0033 00 00 65 PSN 101 100 * #");
    j = json_of(&l, "packet", "json");
    assert_non_null(cJSON_GetObjectItem(j, "before"));
    cJSON_ArrayForEach(field, cJSON_GetObjectItem(j, "fields"))
    {
        if (strcmp(cJSON_GetObjectItem(field, "name")->valuestring, "PSN") == 0) {
            assert_string_equal(cJSON_GetObjectItem(field, "was")->valuestring, "100");
            found = true;
        }
    }
    assert_true(found);
    cJSON_Delete(j);
    lab_close(&l);
}

static void events_are_the_story_unless_all_are_asked_for(void **state)
{
    struct lab l;
    char *story, *all, *later;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    story = lab_answer(&l, "show events");
    all = lab_answer(&l, "show events all");
    assert_has(story, "post_send");
    assert_has(story, "RC_SEND_ONLY psn=100");
    assert_has_not(story, "reg_write");
    assert_has(story, "... 25");
    assert_has(story, "show events all\n");
    assert_has(all, "reg_write");
    assert_true(strlen(all) > 10 * strlen(story));
    later = lab_answer(&l, "show events from=#54");
    assert_has(later, "timeout");
    assert_has_not(later, "post_send");
    free(later);
    later = lab_answer(&l, "show events #1");
    assert_has(later, "reg_write"); /* a tick has everything */
    free(later);
    later = lab_answer(&l, "show events host=h1 from=#50");
    assert_has(later, ": show events all host=h1 from=#50\n"); /* the options are kept */
    free(later);
    free(story);
    free(all);
    assert_false(lab_try(&l, "show events from=x"));
    assert_has(l.s->diag.message, "from where?");
    lab_close(&l);
}

/* The text of a response of the control queue is in every form. */
static void a_response_is_read_in_rows_as_well(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1; break ctrl_execute once; create_cq h1 as cq");
    assert_answers(&l, "show vq h1.ctrl", "OK cqn=1");
    assert_answers(&l, "show vq h1.ctrl csv", "OK cqn=1");
    lab_close(&l);
}

/* In a block on a host, too, where words may be names on that host. */
static void words_of_a_question_stay_words(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, STORY);
    assert_answers(&l, "on h1 { show events last 3 }", "cqe");
    assert_answers(&l, "on h1 { show life qp }", "SEND wr_id=1");
    assert_answers(&l, "on h1 { show qp qp json }", "\"lqpn\":2");
    assert_answers(&l, "show qp h1 json", "[{\"qp\":\"h1.qp\"");
    lab_close(&l);
}

static void names_stand_for_numbers(void **state)
{
    struct rdl_value v;
    struct lab l;
    size_t at;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; link h1 h2\n"
                "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rr,rw as mr\n"
                "  reg_mr pd len=4k as other; create_cq as cq\n"
                "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                "modify_qp h1.qp state=INIT pkey_index=0 port=1 access=rw\n"
                "modify_qp h1.qp state=RTR ah=h2 mtu=1024 dest_qpn=h2.qp rq_psn=77 "
                "max_dest_rd_atomic=1 min_rnr_timer=12\n"
                "modify_qp h1.qp state=RTS sq_psn=55 timeout=4 retry_cnt=7 rnr_retry=7 "
                "max_rd_atomic=1\n"
                "modify_qp h2.qp state=INIT pkey_index=0 port=1 access=rw\n"
                "modify_qp h2.qp state=RTR ah=h1 mtu=1024 dest_qpn=h1.qp rq_psn=h1.qp "
                "max_dest_rd_atomic=1 min_rnr_timer=12\n"
                "modify_qp h2.qp state=RTS sq_psn=h1.qp.rq_psn timeout=4 retry_cnt=7 rnr_retry=7 "
                "max_rd_atomic=1\n"
                "post_recv h2.qp sge=mr[0:1k] lkey=mr\n"
                "post_send h1.qp sge=mr[0:64] lkey=h1.mr signaled; run");
    assert_int_equal(rdl_inspect(l.s->lab, "h2.qp.rq_psn", &v, &at), RDL_OK);
    assert_int_equal(v.number, 56);
    assert_int_equal(rdl_inspect(l.s->lab, "h2.qp.sq_psn", &v, &at), RDL_OK);
    assert_int_equal(v.number, 77);
    assert_answers(&l, "show cq h1.cq", "SUCCESS");
    assert_false(lab_try(&l, "post_send h1.qp sge=mr[0:64] lkey=h1.cq"));
    assert_has(l.s->diag.message, "lkey: h1.cq is a completion queue, which has no lkey");
    assert_false(lab_try(&l, "post_send h1.qp sge=mr[0:64] lkey=h1.mrr"));
    assert_has(l.s->diag.remedy, "did you mean \"h1.mr\"?");
    assert_false(lab_try(&l, "modify_qp h1.qp sq_psn=h1"));
    lab_run(&l, "post_send h1.qp sge=mr[0:64] lkey=other signaled; run");
    assert_answers(&l, "show cq h1.cq", "LOC_PROT_ERR");
    lab_close(&l);
}

/* The regions of setup are as large as the user says. */
static void setup_makes_regions_of_a_size(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "setup mr=16k; setup c d");
    assert_answers(&l, "show h2.mr.bytes", "16384");
    assert_answers(&l, "show d.mr.bytes", "4096");
    lab_close(&l);
}

/* A time at which a timer runs out is no duration. */
static void a_timer_is_printed_with_the_time_when_it_is_due(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "setup quiet; post_send h1.qp sge=mr[0:64]; run 500ns");
    assert_answers(&l, "show h1.qp", "ack timer due t=");
    assert_answers(&l, "show h2.qp", "ack timer off");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lab_fits_a_screen),
        cmocka_unit_test(a_refused_access_is_told_by_how_much_it_is_outside),
        cmocka_unit_test(what_changed_since_the_last_look_is_marked),
        cmocka_unit_test(a_packet_is_compared_with_the_one_before),
        cmocka_unit_test(events_are_the_story_unless_all_are_asked_for),
        cmocka_unit_test(a_response_is_read_in_rows_as_well),
        cmocka_unit_test(words_of_a_question_stay_words),
        cmocka_unit_test(names_stand_for_numbers),
        cmocka_unit_test(setup_makes_regions_of_a_size),
        cmocka_unit_test(a_timer_is_printed_with_the_time_when_it_is_due),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
