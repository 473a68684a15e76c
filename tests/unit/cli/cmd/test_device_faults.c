/* SPDX-License-Identifier: MIT */
/* Tests of device faults in a session: how they are shown, how a driver notices them, and travel in
 * both directions of time.
 */
#include "cli/lab_session.h"
#include "rdmalab/trace.h"

#define PAIR_OF(ring)                                                                              \
    "host h1 h2 ring=" ring "; link h1 h2\n"                                                       \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rw,rr as mr; create_cq as cq\n"         \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp sq_psn=0 timeout=4\n"                                                     \
    "repeat 4 { post_recv h2.qp sge=mr[0:64] }\n"
#define PAIR PAIR_OF("split")
#define SEND "post_send h1.qp sge=mr[0:64] signaled\n"

static void faults_say_what_they_will_do(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"lose the 2nd kick of h1.qp.sq", "f1: loses the 2nd kick of h1.qp.sq\n"},
        {"lose every interrupt of h1.cq", "f1: loses every interrupt of h1.cq\n"},
        {"lose the 2nd irq of h1.cq", "f1: loses the 2nd interrupt of h1.cq\n"},
        {"lose doorbell of h1.qp.sq", "f1: loses the next kick of h1.qp.sq\n"},
        {"lose the next 3 kicks of h1", "f1: loses the next 3 kicks of h1\n"},
        {"lose what=kick queue=h1.net.tx nth=2 count=0",
         "f1: loses every kick of h1.net.tx, from number 2 on\n"},
        {"lose what=interrupt queue=h1.ctrl chance=10% count=0",
         "f1: loses every interrupt of h1.ctrl, by chance: 10%\n"},
        {"postpone the data of the 2nd completion of h1.cq by 5us",
         "f1: gives back the 2nd buffer of h1.cq before its bytes are there, 5us later\n"},
        {"stall h1.qp.sq for 20us", "f1: stops at the next buffer of h1.qp.sq, for 20us\n"},
        {"stall the 3rd buffer of h2.qp.rq",
         "f1: stops at the 3rd buffer of h2.qp.rq, until it is cleared\n"},
        {"on h1 { stall qp.sq for 20us }", "f1: stops at the next buffer of h1.qp.sq, for 20us\n"},
        {"invent a completion in h1.cq",
         "f1: invents a completion behind the next completion of h1.cq\n"},
        {"falsify the 2nd answer of h1.ctrl byte 0 flip 1",
         "f1: writes something wrong to the 2nd buffer of h1.ctrl, byte 0, bits 0x1\n"},
        {"falsify the length of the next buffer of h1.net.tx",
         "f1: tells a wrong length of the next buffer of h1.net.tx\n"},
        {"falsify every read of h1", "f1: gives a wrong answer to every read of h1\n"},
        {"invent the 2nd completion of h1.qp.sq id=0 where used_idx > 3",
         "f1: invents a completion behind the 2nd completion of h1.qp.sq, desc 0, where used_idx > "
         "3\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_line_prints(PAIR, rows[i].line, rows[i].says);
}

static void a_register_is_read_wrongly_once(void **state)
{
    (void)state;
    assert_line_prints("host h1\nfalsify the next read of h1 flip 0xf0", "reg_read h1 NUM_QUEUES",
                       "h1: NUM_QUEUES 0xc8\n");
    assert_line_prints("host h1\nfalsify the next read of h1 flip 0xf0\nreg_read h1 NUM_QUEUES",
                       "reg_read h1 NUM_QUEUES", "h1: NUM_QUEUES 0x38\n");
}

/* Otherwise both would count a hit, and the data would not be late. */
static void late_data_are_no_occasion_for_false_data(void **state)
{
    static const char both[] = PAIR "postpone the data of the next completion of h1.cq by 20us\n"
                                    "falsify the next completion of h1.cq\n" SEND "run\n";

    (void)state;
    assert_line_prints(both, "print f1.hits", "f1.hits = 1\n");
    assert_line_prints(both, "print f2.hits", "f2.hits = 0\n");
    assert_line_prints(both, "expect count(late_data) == 1", "ok: count(late_data) == 1");
    assert_line_prints(both, SEND "run; print f2.hits", "f2.hits = 1\n");
}

static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"stall h1.cq for 1us", "h1.cq is a completion queue"},
        {"postpone the data of h1.qp.sq by 1us", "a device only reads the buffers of h1.qp.sq"},
        {"postpone the data of h1.net.tx by 1us", "a device only reads the buffers of h1.net.tx"},
        {"falsify the next buffer of h1.qp.sq", "a device only reads the buffers of h1.qp.sq"},
        {"falsify the next buffer of h1.net.rx", "what h1.net.rx has are frames of the wire"},
        {"falsify the next read of h1.cq", "registers are those of a device, not of h1.cq"},
        {"lose every kick of h1.qp", "more than one virtqueue"},
        {"lose every kick of h1.mr", "more than one virtqueue"},
        {"lose every kick of h1.qqp.sq", "nothing is called"},
        {"lose every kik of h1.qp.sq", "\"kik\" does not fit"},
        {"lose every kick of h1.qp.sq where used_id > 3", "a hit has no field \"used_id\""},
        {"lose every kick of h1.qp.sq where rx(host==h1)", "a condition says how a hit"},
        {"lose every kick of h1.qp.sq where", "the expression ends too early"},
        {"lose the kick of h1.qp.sq as h2", "something is called \"h2\" already"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_line_refused(PAIR, rows[i].line, rows[i].says);
}

/* Sessions with one fault each, in both ring formats. */
static const char *const sessions[] = {
    "lose the next kick of h1.qp.sq as f\n" SEND "run; expect f.hits == 1 and count(tx) == 0\n"
    "kick h1.qp.sq; run; expect count(cqe, host==h1) == 1",
    "lose the next interrupt of h2.cq as f\nreq_notify_cq h2.cq\n" SEND
    "run; expect f.hits == 1 and h2.cq.count == 1 and count(cq_event) == 0",
    "stall h1.qp.sq as f\n" SEND "run; expect f.hits == 1 and count(tx) == 0\n"
    "clear f; run; expect count(queue_goes_on) == 1 and count(cqe, host==h1) == 1",
    "stall h1.qp.sq for 1ms as f\n" SEND SEND "run 500us; expect f.hits == 1 and count(tx) == 0\n"
    "run; expect count(queue_goes_on) == 1 and count(cqe, host==h1) == 2",
    "stall h1.qp.sq as f\n" SEND "run; expect f.hits == 1\n"
    "modify_qp h1.qp state=RESET; expect h1.qp.sq.device.avail_idx == 1 and count(tx) == 0\n"
    "clear f; run; expect count(fetch, host==h1) == 1 and count(tx) == 0 and count(queue_goes_on) "
    "== 1",
    "stall h1.ctrl for 1ms as f; alloc_pd h1 as late; expect count(queue_goes_on) == 1 and "
    "h1.late.pdn > 0",
    "lose the next kick of h1.qp.sq as f\n" SEND "run; expect count(device_fault, qpn==2) == 1",
    "invent a completion of h1.cq id=3 as f\n" SEND
    "run; poll_cq h1.cq max=2; expect f.hits == 1 and count(used_refused) == 0",
    "stall h1.qp.sq for 1ms as f\n" SEND "run; expect t > 1ms and t < 2ms",
    "stall h1.qp.sq as f\n" SEND "run; kick h1.qp.sq; run; expect f.hits == 1 and count(tx) == 0",
    "stall h1.qp.sq as f\nkick h1.qp.sq; run; expect f.seen == 0\n" SEND
    "run; expect f.hits == 1 and count(tx) == 0",
    "stall h1.qp.sq as f\n" SEND "run; create_qp h1.pd send_cq=h1.cq recv_cq=h1.cq as other\n"
    "destroy_qp h1.other; kick h1.qp.sq; run; expect f.hits == 1 and count(tx) == 0",
    "postpone the next data of h1.cq by 9us as f\n"
    "post_send h1.qp wr_id=9 sge=mr[0:64] signaled; run\n"
    "poll_cq h1.cq; expect count(poll, host==h1, wr_id==9) == 1",
    "postpone the next data of h1.cq by 1ms as f\n" SEND "run 100us\n"
    "destroy_qp h1.qp; destroy_cq h1.cq; create_cq h1 cqe=16 as other; run\n"
    "expect f.hits == 1 and count(late_data) == 0",
    "postpone the next data of h1.cq by 9us as f\n" SEND "run 8us\n"
    "expect h1.cq.wc[0].wr_id == 0 and count(late_data) == 0\nrun; expect count(late_data) == 1",
    "invent a completion of h1.cq as f\n" SEND "run; poll_cq h1.cq max=1\n"
    "refused reason=err_broken { poll_cq h1.cq }; expect count(used_refused, desc==16) == 1",
    "invent a completion of h1.net.tx as f\nping h1 to=10.0.0.2\n"
    "refused reason=err_timeout { ping h1 to=10.0.0.2 }; expect count(used_refused, function==NET) "
    "== 1",
    "lose what=kick queue=h1 count=0 chance=50% as f\n"
    "repeat 20 { kick h1.qp.sq; run }; expect f.seen == 20 and f.hits > 2 and f.hits < 18",
    "lose the 2nd kick of h1.qp.sq where avail_idx >= 1 as f\n" SEND "run\n"
    "kick h1.qp.sq; kick h1.qp.sq; run; expect f.seen == 2 and f.hits == 1",
};

static void a_driver_notices_in_both_formats(void **state)
{
    static const char *const pairs[] = {PAIR, PAIR_OF("packed")};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sessions); i++) {
        for (size_t k = 0; k < ARRAY_LEN(pairs); k++) {
            struct lab l;

            lab_open(&l, false);
            lab_run(&l, pairs[k]);
            if (!lab_try(&l, sessions[i]))
                fail_msg("%s: %s", sessions[i], l.s->diag.message);
            lab_close(&l);
        }
    }
}

/* Going to the start and to the end again gives the same hits. */
static void faults_come_back_with_their_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sessions); i++) {
        struct lab l;
        uint64_t hash;

        lab_open(&l, false);
        lab_run(&l, PAIR);
        lab_run(&l, sessions[i]);
        hash = rdl_hash(l.s->lab);
        lab_run(&l, "goto start");
        assert_true(rdl_hash(l.s->lab) != hash);
        lab_run(&l, "goto end");
        assert_true(rdl_hash(l.s->lab) == hash);
        lab_run(&l, "back 3; redo 3");
        assert_true(rdl_hash(l.s->lab) == hash);
        lab_close(&l);
    }
}

static void why_not_says_that_a_kick_was_lost(void **state)
{
    (void)state;
    assert_tells("why_not_says_that_a_kick_was_lost",
                 PAIR "lose the next kick of h1.qp.sq\n" SEND "run", "why not h1.cq.wc[0]", "f1");
    assert_tells("why_not_says_that_a_kick_was_lost, stuck", PAIR "stall h1.qp.sq\n" SEND "run",
                 "why not h1.cq.wc[0]", "f1");
    assert_tells("why_not_says_that_a_kick_was_lost, waits", PAIR "lose the 9th kick of h1.cq\n",
                 "why not f1", "f1 9th");
}

static void why_says_what_a_fault_had_to_do_with_it(void **state)
{
    (void)state;
    assert_tells("why_says_what_a_fault_had_to_do_with_it, lost",
                 PAIR "lose the next kick of h1.qp.sq\n" SEND "run; kick h1.qp.sq; run",
                 "why h1.cq.wc[0]", "kick");
    assert_tells("why_says_what_a_fault_had_to_do_with_it, stopped",
                 PAIR "stall h1.qp.sq for 1ms\n" SEND "run", "why h1.cq.wc[0]", "f1");
    assert_tells("why_says_what_a_fault_had_to_do_with_it, hit",
                 PAIR "lose the next kick of h1.qp.sq\n" SEND "run", "why f1", "LOST_KICK h1");
}

static void a_queue_shows_what_a_fault_made_of_its_kick(void **state)
{
    (void)state;
    assert_tells("a_queue_shows_what_a_fault_made_of_its_kick, lost",
                 PAIR "lose the next kick of h1.qp.sq\n" SEND "run", "show vq h1.qp.sq", "f1 f1");
    assert_tells("a_queue_shows_what_a_fault_made_of_its_kick, stuck",
                 PAIR "stall h1.qp.sq\n" SEND "run", "show vq h1.qp.sq", "f1");
    assert_tells("a_queue_shows_what_a_fault_made_of_its_kick, goes_on",
                 PAIR "lose the next kick of h1.qp.sq\n" SEND "run; kick h1.qp.sq",
                 "show vq h1.qp.sq", "kicked");
}

/* A queue without a vector sends no interrupt, so none can be lost. */
static void nothing_is_lost_of_an_interrupt_that_nobody_would_get(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, PAIR "lose every interrupt of h2.cq as f\n"
                     "reg_write h2 QUEUE_SELECT 1; reg_write h2 QUEUE_MSIX_VECTOR 0xffff\n"
                     "req_notify_cq h2.cq\n" SEND "run\n"
                     "expect h2.cq.count == 1 and f.seen == 0");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_say_what_they_will_do),
        cmocka_unit_test(a_register_is_read_wrongly_once),
        cmocka_unit_test(late_data_are_no_occasion_for_false_data),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_driver_notices_in_both_formats),
        cmocka_unit_test(faults_come_back_with_their_time),
        cmocka_unit_test(why_not_says_that_a_kick_was_lost),
        cmocka_unit_test(why_says_what_a_fault_had_to_do_with_it),
        cmocka_unit_test(a_queue_shows_what_a_fault_made_of_its_kick),
        cmocka_unit_test(nothing_is_lost_of_an_interrupt_that_nobody_would_get),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
