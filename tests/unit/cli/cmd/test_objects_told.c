/* SPDX-License-Identifier: MIT */
/* Tests of the texts about windows, shared receives, asynchronous events, and queue pairs of each
 * type.
 */
#include "testing.h"

#include "cli/lab_session.h"

#define HOSTS                                                                                      \
    "host h1 h2; link h1 h2 latency=1us rate=100g\n"                                               \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=64k access=lw,rr,rw,mw as mr; create_cq as cq }\n"

#define CONNECTED                                                                                  \
    HOSTS "on h1,h2 { create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                \
          "connect h1.qp h2.qp mtu=1024 sq_psn=100\n"

#define BOUND                                                                                      \
    CONNECTED "alloc_mw h2.pd type=2 as mw\n"                                                      \
              "post_send h2.qp op=bind_mw mw=mw mr=mr[0:4k] access=rw\nrun\n"

#define CLOSED                                                                                     \
    BOUND "post_send h2.qp op=local_inv inv=mw\nrun\n"                                             \
          "post_send h1.qp op=rdma_write sge=mr[0:8] remote=h2.mr[0] rkey=h2.mw signaled\nrun\n"

#define BOUND_ANEW                                                                                 \
    CONNECTED                                                                                      \
    "alloc_mw h2.pd as mw\nbind_mw h2.qp mw=mw mr=mr[0:4k] access=rw\nrun\n"                       \
    "post_send h1.qp op=rdma_write sge=mr[0:8] remote=h2.mr[0] rkey=h2.mw signaled nokick\n"       \
    "bind_mw h2.qp mw=mw mr=mr[0:4k] access=rw\nrun\nkick h1.qp.sq\nrun\n"

static void a_refused_key_is_told_with_what_ended_it(void **state)
{
    (void)state;
    assert_tells("a_refused_key_is_told_with_what_ended_it", CLOSED, "why h1.cq.wc[0]",
                 "KEY_FREE invalidate h2.qp");
    assert_tells("a_refused_key_is_told_with_what_ended_it, anew", BOUND_ANEW, "why h1.cq.wc[0]",
                 "MR_KEY bind h2.qp");
}

/* `why` of a window shows the last change of it. */
static void a_window_can_be_asked_about(void **state)
{
    struct lab l;

    (void)state;
    assert_tells("a_window_can_be_asked_about, bound", BOUND, "why h2.mw", "bind h2.qp fetched");
    assert_tells("a_window_can_be_asked_about, refused", CLOSED, "why h2.mw", "h2.qp KEY_FREE");
    lab_open(&l, false);
    lab_run(&l, BOUND);
    assert_false(lab_try(&l, "why h1.mr")); /* it has no history */
    lab_close(&l);
}

static void a_shared_queue_and_an_event_can_be_asked_about(void **state)
{
    static const char shared[] =
        HOSTS "create_srq h2.pd as srq\ncreate_qp h1.pd send_cq=cq recv_cq=cq as qp\n"
              "create_qp h2.pd send_cq=cq recv_cq=cq srq=srq as qp\n"
              "connect h1.qp h2.qp mtu=1024 sq_psn=100\n"
              "repeat 2 { post_srq_recv h2.srq sge=mr[0:64] }\nmodify_srq h2.srq limit=2\n"
              "post_send h1.qp sge=mr[0:64]\nrun\n";

    (void)state;
    assert_tells("a_shared_queue_and_an_event_can_be_asked_about 1", shared, "why h2.srq",
                 "h2.srq SRQ_LIMIT_REACHED h2.qp h1.qp RC_SEND_ONLY psn=100");
    assert_tells("a_shared_queue_and_an_event_can_be_asked_about 2", shared,
                 "why h2.async.events[1]",
                 "h2.srq SRQ_LIMIT_REACHED h2.qp h1.qp RC_SEND_ONLY psn=100");
}

/* Lines that do not apply to the type are left out. */
static void a_queue_pair_shows_what_its_type_has(void **state)
{
    static const struct {
        const char *type, *has;
        bool acknowledges, connected;
    } rows[] = {
        {"rc", "oldest unacknowledged", true, true},
        {"uc", "rq-psn (expected)", false, true},
        {"ud", "qkey 0x0", false, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;
        char line[128];

        (void)snprintf(line, sizeof(line), "create_qp h1.pd type=%s send_cq=cq recv_cq=cq as qp\n",
                       rows[i].type);
        lab_open(&l, false);
        lab_run(&l, HOSTS);
        lab_run(&l, line);
        lab_run(&l, "modify_qp h1.qp state=RESET\nshow qp h1.qp\n");
        fflush(l.f);
        assert_non_null(strstr(l.out, rows[i].has));
        assert_int_equal(strstr(l.out, "  retry  ") != NULL, rows[i].acknowledges);
        assert_int_equal(strstr(l.out, "  reads  ") != NULL, rows[i].acknowledges);
        assert_int_equal(strstr(l.out, "  timers  ") != NULL, rows[i].acknowledges);
        assert_int_equal(strstr(l.out, "rqpn") != NULL, rows[i].connected);
        lab_close(&l);
    }
}

/* Two messages and no receive: one is sent as a probe until receives are posted. */
static void a_message_without_a_credit_is_a_probe(void **state)
{
    static const char stalled[] = HOSTS "on h1,h2 { create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                                        "connect h1.qp h2.qp sq_psn=100 min_rnr_timer=1 credits\n"
                                        "repeat 2 { post_send h1.qp sge=mr[0:64] }\nrun 3us\n";
    static const char posted[] =
        "repeat 3 { post_recv h2.qp sge=mr[0:64] }\nrun\nexport ladder -\n";

    (void)state;
    assert_tells("a_message_without_a_credit_is_a_probe, page", stalled, "show qp h1.qp",
                 "credits 1, 0");
    assert_tells("a_message_without_a_credit_is_a_probe, why", stalled, "why h1.qp",
                 "probe h1.qp 1 0 fetched");
    assert_tells("a_message_without_a_credit_is_a_probe, drawn", stalled, posted, "1: probe 3");
}

/* Rings of an object are shown on request; the event queue's buffers are for events. */
static void rings_are_shown_when_they_are_asked_for(void **state)
{
    static const char shared[] = HOSTS "create_srq h2.pd max_wr=8 as srq\n";

    (void)state;
    assert_tells("rings_are_shown_when_they_are_asked_for, object", shared, "show srq h2.srq",
                 "h2.srq.rq");
    assert_tells("rings_are_shown_when_they_are_asked_for, events", shared, "show h2.async",
                 "h2.async.queue");
    assert_tells("rings_are_shown_when_they_are_asked_for, ring", shared, "show vq h2.async.queue",
                 "writes");
    assert_tells("rings_are_shown_when_they_are_asked_for, one", shared,
                 "show dump h2.async.queue.desc[0]", "09 00 00 00 type number");
}

/* A driver has overwritten its own ring, here by a WRITE to itself. */
static void a_chain_that_leads_nowhere_is_told_with_its_end(void **state)
{
    static const char own[] = "host h1\nalloc_pd h1 as pd\nreg_mr h1.pd len=4k access=lw as mr\n"
                              "get_dma_mr h1.pd access=lw,rw as dma\ncreate_cq h1 cqe=16 as cq\n"
                              "create_qp h1.pd send_cq=h1.cq recv_cq=h1.cq as qp\n"
                              "create_qp h1.pd send_cq=h1.cq recv_cq=h1.cq as pen\n"
                              "connect h1.qp h1.qp\nconnect h1.pen h1.pen\n"
                              "post_send h1.qp sge=mr[0:64] nokick\n"
                              "expect h1.qp.sq.desc_addr == 155648\n";
    static const struct {
        const char *name, *writes, *words;
    } rows[] = {
        {"a chain that does not end", "write h1.mr[0] hex=01000000\n", "SEND ..."},
        {"a chain to a descriptor that does not exist", "write h1.mr[0] hex=01001000\n",
         "SEND ... 16"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char lines[1024];
        struct text t = text_on(lines, sizeof(lines));

        text_add(&t, own);
        text_add(&t, rows[i].writes);
        text_add(&t, "post_send h1.pen op=rdma_write sge=mr[0:4] remote=h1.dma[155660]\nrun\n");
        assert_tells(rows[i].name, lines, "show vq h1.qp.sq", rows[i].words);
    }
}

/* The driver learns from completions that a queue pair has failed, and requests an impossible
 * transition.
 */
static void a_move_of_a_failed_queue_pair_is_explained(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, CONNECTED "post_send h1.qp sge=mr[0:8] lkey=1\nrun\n");
    assert_false(lab_try(&l, "modify_qp h1.qp state=RTS"));
    assert_non_null(strstr(l.s->diag.remedy, "h1.qp went to ERR, which only a move to RESET ends"));
    lab_close(&l);
}

/* A failed send flushes later ones, also where it leads to SQE. */
static void a_send_that_was_flushed_in_sqe_names_the_one_that_failed(void **state)
{
    static const char flushed[] =
        HOSTS "on h1,h2 { create_qp pd type=uc send_cq=cq recv_cq=cq as qp }\n"
              "connect h1.qp h2.qp\npost_send h1.qp wr_id=1 sge=mr[0:8] lkey=1\n"
              "post_send h1.qp wr_id=2 sge=mr[0:8]\nrun\n";

    (void)state;
    assert_tells("a_send_that_was_flushed_in_sqe_names_the_one_that_failed", flushed,
                 "why h1.cq.wc[1]",
                 "h1.cq wr_id=2 WR_FLUSH_ERR h1.cq wr_id=1 LOC_PROT_ERR h1.qp RTS SQE");
}

/* A datagram that is too long completes with success, but is not sent: `why` without a name finds
 * it.
 */
static void what_is_wrong_with_a_datagram_is_told(void **state)
{
    static const char ready[] =
        HOSTS "create_qp h1.pd type=ud send_cq=cq recv_cq=cq as qp\n"
              "modify_qp h1.qp state=INIT pkey_index=0 port=1 qkey=1\n"
              "modify_qp h1.qp state=RTR\nmodify_qp h1.qp state=RTS sq_psn=7\n"
              "create_ah h1.pd dgid=h2 as ah\n";
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, ready);
    assert_false(lab_try(&l, "post_send h1.qp op=rdma_write sge=mr[0:8] remote=h2.mr[0]"));
    assert_non_null(strstr(l.s->diag.message, "UD queue pairs have no rdma_write"));
    assert_false(lab_try(&l, "destroy_ah h1.cq"));
    assert_non_null(strstr(l.s->diag.message, "not an address handle"));
    lab_run(&l, "post_send h1.qp wr_id=5 sge=mr[0:5k] ah=ah remote_qpn=3 remote_qkey=1\nrun\n");
    lab_close(&l);
    assert_tells("what_is_wrong_with_a_datagram_is_told", ready,
                 "post_send h1.qp wr_id=5 sge=mr[0:5k] ah=ah remote_qpn=3 remote_qkey=1\n"
                 "run\nwhy\n",
                 "h1.qp wr_id=5 SQ_DATAGRAM_LENGTH h1.qp SEND wr_id=5");
}

/* The group has no member: each copy ends where a host's network function receives it. */
static void a_datagram_to_nobody_ends_at_each_host(void **state)
{
    static const char sent[] =
        "host h1 h2 h3; switch s; link h1 s; link h2 s; link h3 s\n"
        "on h1 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq as cq\n"
        "create_qp pd type=ud send_cq=cq recv_cq=cq as qp; create_qp pd send_cq=cq recv_cq=cq as "
        "rc\n"
        "modify_qp qp state=INIT pkey_index=0 port=1 qkey=5; modify_qp qp state=RTR\n"
        "modify_qp qp state=RTS sq_psn=4; create_ah pd dgid=239.1.1.1 as ah\n"
        "post_send qp sge=mr[0:8] ah=ah remote_qpn=0xffffff remote_qkey=5 }\n";
    struct lab l;
    const char *first;

    (void)state;
    assert_tells("a_datagram_to_nobody_ends_at_each_host, told", sent, "run\nshow events last 20",
                 "UD_SEND_ONLY psn=4 2");
    lab_open(&l, false);
    lab_run(&l, sent);
    lab_run(&l, "run");
    lab_run(&l, "export ladder -");
    fflush(l.f);
    assert_null(strstr(l.out, "under way"));
    assert_null(strstr(l.out, "psn=0"));
    assert_null(strstr(l.out, "qpn0"));
    first = strstr(l.out, "dropped: NO_SUCH_GID");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "dropped: NO_SUCH_GID"));
    lab_close(&l);
}

/* Membership reports are the reason of nothing. */
static void why_does_not_stop_at_reports_of_groups(void **state)
{
    static const char failed[] =
        CONNECTED "create_qp h2.pd type=ud send_cq=cq recv_cq=cq as u\n"
                  "post_send h1.qp op=rdma_write sge=mr[0:8] remote=0x10 rkey=0x999\nrun\n"
                  "attach_mcast h2.u gid=239.1.1.1\nrun\n";

    (void)state;
    assert_tells("why_does_not_stop_at_reports_of_groups", failed, "why", "wr_id=0 REM_ACCESS_ERR");
}

static void a_host_shows_its_channels(void **state)
{
    static const char made[] =
        HOSTS "create_srq h1.pd max_wr=8 as srq\ncreate_comp_channel h1 as ch\n"
              "create_cq h1 channel=ch as c2\n";

    (void)state;
    assert_tells("a_host_shows_its_channels, channels", made, "show h1",
                 "channel cqs pending next h1.ch 1 0 max-wr");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refused_key_is_told_with_what_ended_it),
        cmocka_unit_test(a_window_can_be_asked_about),
        cmocka_unit_test(a_shared_queue_and_an_event_can_be_asked_about),
        cmocka_unit_test(a_queue_pair_shows_what_its_type_has),
        cmocka_unit_test(a_datagram_to_nobody_ends_at_each_host),
        cmocka_unit_test(why_does_not_stop_at_reports_of_groups),
        cmocka_unit_test(a_host_shows_its_channels),
        cmocka_unit_test(a_message_without_a_credit_is_a_probe),
        cmocka_unit_test(rings_are_shown_when_they_are_asked_for),
        cmocka_unit_test(a_chain_that_leads_nowhere_is_told_with_its_end),
        cmocka_unit_test(a_move_of_a_failed_queue_pair_is_explained),
        cmocka_unit_test(a_send_that_was_flushed_in_sqe_names_the_one_that_failed),
        cmocka_unit_test(what_is_wrong_with_a_datagram_is_told),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
