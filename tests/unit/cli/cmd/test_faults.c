/* SPDX-License-Identifier: MIT */
/* Tests of faults in a session: how they are shown, their conditions in both directions of time,
 * links, and injected packets.
 */
#include "cli/lab_session.h"
#include "rdmalab/trace.h"

#define PAIR                                                                                       \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw,rw,rr as mr; create_cq as cq\n"         \
    "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"                                               \
    "connect h1.qp h2.qp sq_psn=0 timeout=4\n"

static void faults_say_what_they_will_do(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"drop the 2nd READ response of h1.qp",
         "f1: drops the 2nd READ response for the work of h1.qp\n"},
        {"delay every ACK from h2 by 5us", "f1: delays every ACK that h2 sends, by 5us\n"},
        {"drop next from=h1", "f1: drops the next frame that h1 sends\n"},
        {"drop psn=7 count=3", "f1: drops the next 3 frames with psn=7 that anybody sends\n"},
        {"drop nth=2 count=0",
         "f1: drops every frame that anybody sends, from match number 2 on\n"},
        {"drop every 3rd packet from h1", "f1: drops every 3rd frame that h1 sends\n"},
        {"delay every=2 nth=5 count=3 by=5us", "f1: delays every 2nd frame that anybody sends, "
                                               "from match number 5 on, 3 times, by 5us\n"},
        {"drop the 1st transmission of psn 5 of h1.qp on=1", NULL},
        {"reorder the next SEND from h1 behind 2 frames within 1us",
         "f1: holds the next SEND that h1 sends, until 2 frames have overtaken it, 1us at most\n"},
        {"forge the next ACK: set psn to 0x10",
         "f1: forges the next ACK that anybody sends: PSN becomes 16\n"},
        {"drop where bytes > 100",
         "f1: drops the next frame that anybody sends, where bytes > 100\n"},
        {"drop the 2nd transmission of psn 5 of h1.qp on h1-h2",
         "f1: drops the next frame with psn=5 for the work of h1.qp, sent for the 2nd time, on "
         "h1-h2\n"},
        {"drop where syndrome == ack",
         "f1: drops the next frame that anybody sends, where syndrome == ack\n"},
        {"drop where bytes == 0 and not syndrome == nak_remote_access ack",
         "f1: drops the next ACK frame that anybody sends, where bytes == 0 and not syndrome == "
         "nak_remote_access\n"},
        {"truncate the next packet to h2 to 60 bytes",
         "f1: cuts the next frame to h2, to 60 bytes\n"},
        {"drop the 2nd REP from h2", "f1: drops the 2nd REP that h2 sends\n"},
        {"drop the first 3 REQs to h2", "f1: drops the next 3 REQs to h2\n"},
        {"forge the next REJ: set reason to STALE_CONN",
         "f1: forges the next REJ that anybody sends: rej_reason becomes 10\n"},
        {"forge next field=REJ_reason value=STALE_CONN",
         "f1: forges the next frame that anybody sends: rej_reason becomes 10\n"},
        {"forge next field=lnet_rd_key value=7",
         "f1: forges the next frame that anybody sends: lnet_rd_key becomes 7\n"},
        {"corrupt next field=lnet_done_cookie",
         "f1: corrupts the next frame that anybody sends, in the lowest bit of lnet_done_cookie\n"},
        {"forge next field=psn value=h1.qp.qpn",
         "f1: forges the next frame that anybody sends: PSN becomes 2\n"},
        {"drop where cm == REQ and req_retry_count > 3 and ttl == 64",
         "f1: drops the next frame that anybody sends, where cm == REQ and req_retry_count > 3 and "
         "ttl == 64\n"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].says)
            assert_line_prints(PAIR, rows[i].line, rows[i].says);
        else
            assert_line_refused(PAIR, rows[i].line, NULL);
    }
}

/* Of ten packets of h1 a fault hits the ones that it names. */
static void each_nth_match_is_hit(void **state)
{
    static const struct {
        const char *fault;
        const char *hits; /* the numbers of the packets, from 0 */
    } rows[] = {
        {"drop every 3rd packet from h1", "258"},
        {"drop every=3 nth=1 from=h1", "0369"},
        {"drop every 4th packet from h1 count=1", "3"},
        {"drop every=2 nth=4 count=2 from=h1", "35"},
        {"drop every=1 from=h1", "0123456789"},
        {"drop every 20th packet from h1 optional", ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (unsigned k = 0; k < 10; k++) {
            const bool hit = strchr(rows[i].hits, (int)('0' + k)) != NULL;
            char story[2048];
            struct text t = text_on(story, sizeof(story));

            text_addf(&t, PAIR "%s\n", rows[i].fault);
            for (unsigned psn = 0; psn < 10; psn++)
                text_addf(&t, "inject from=h1 dest_qpn=h2.qp opcode=RC_ACKNOWLEDGE psn=%u\n", psn);
            text_addf(&t, "run\nexpect count(lost, psn==%u) == %d\n", k, hit);
            assert_line_prints(story, "print h1.qp.state", "h1.qp.state");
        }
    }
    assert_line_prints(PAIR "lose every 2nd kick of h1.qp.sq\nrepeat 4 { post_send h1.qp "
                            "op=rdma_write sge=mr[0:8] remote=h2.mr[0]; run; kick h1.qp.sq; run }\n"
                            "expect f1.hits == 4",
                       "print f1.seen", "f1.seen = 8");
}

static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *line, *says;
    } rows[] = {
        {"drop where", "where what?"},
        {"drop where opcode == RC_SEND_ONYL", "no BTH opcode is called"},
        {"drop where byte > 100", "a packet has no field \"byte\""},
        {"drop where h1.qp.staet == RTS", "staet"},
        {"drop the 2nd message", "the messages of which queue pair?"},
        {"drop where syndrome ==", "the expression ends too early"},
        {"host h3; link h3 h3 burst_frames=4", "this link would have no bursts"},
        {"drop next on h1-h3", "no link is called \"h1-h3\""},
        {"drop next to h3", "h3"},
        {"drop next of h1.mr", "h1.mr"},
        {"forge next field=ackreq value=2", "value: 2 is out of range"},
        {"corrupt next field=psn bit=3", "a bit of the frame, or of a field?"},
        {"set link h1-h2 from=h3 loss=1%", "h3 is no end of h1-h2"},
        {"set link h1-h2 burst_frames=9", "there are no bursts in this direction"},
        {"set link h1-h2 from=h1 down", "a plug is pulled for both directions"},
        {"inject from=h1 opcode=RC_SEND_ONLY", "to which host?"},
        {"inject from=h1 to=h2 opcode=ARP_REQUEST", "is no packet of RoCEv2"},
        {"inject from=h1 to=h2 opcode=RC_SEND_ONLY text=\"a\" hex=00", "a packet has one payload"},
        {"clear f9", "no fault"},
        {"drop where cm == REPP", "no message of the connection manager is called \"REPP\""},
        {"drop where rej_reson == STALE_CONN", "a packet has no field \"rej_reson\""},
        {"drop where rej_reason == HUNGRY", "no reason of a REJ is called \"HUNGRY\""},
        {"drop where lnet_type == PUT_DONNE", "no message of o2iblnd is called \"PUT_DONNE\""},
        {"forge next field=rep_starting_psn value=0x1000000", "out of range"},
        {"forge next field=REJ_reason value=HUNGRY", "no reason of a REJ is called \"HUNGRY\""},
        {"forge next field=psn value=h1.qp.state", "h1.qp.state is a value, and no number"},
        {"inject from=h1 to=h2", "a packet needs an opcode"},
        {"inject from=h1 to=h2 opcode=RC_SEND_ONLY set=reason=3", "only a message has fields"},
        {"inject from=h1 to=h2 cm=REJ text=\"a\"", "a packet has one payload"},
        {"inject from=h1 to=h2 cm=LAP", "the fields of a LAP are not known"},
        {"inject from=h1 to=h2 cm=REJ set=reazon=3", "a CM REJ has no field \"reazon\""},
        {"inject from=h1 to=h2 cm=REJ set=reason", "is no FIELD=VALUE"},
        {"inject from=h1 to=h2 cm=REJ set=reason=HUNGRY", "\"HUNGRY\" is no value"},
        {"inject from=h1 to=h2 cm=REJ set=info_length=128", "\"128\" is no value"},
        {"inject from=h1 to=h2 cm=REJ set=local_comm_id=h1.qp.state", "is no value"},
        {"inject from=h1 to=h2 cm=REQ set=local_gid=nowhere", "is no address"},
        {"inject from=h1 to=h2 cm=RTU set=rdma_cm_port=3", "has no field"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_line_refused(PAIR, rows[i].line, rows[i].says);
}

static void clear_all_removes_every_fault(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, PAIR "drop next; mark every packet as ce; drop the next ACK on h1-h2; clear all\n"
                     "expect count(fault_gone) == 3\nshow faults");
    fflush(l.f);
    assert_non_null(strstr(l.out, "3 faults removed\n"));
    lab_run(&l, "clear all"); /* without faults this is not an error */
    lab_close(&l);
}

/* After going back, the fault with its condition exists again and hits the same packets. */
static void a_condition_comes_back_with_its_fault(void **state)
{
    struct lab l;
    uint64_t hash;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, PAIR "repeat 4 { post_recv h2.qp sge=mr[0:1k] }\n"
                     "drop where bytes > 100 and h2.qp.state == RTS as big\n"
                     "repeat 2 { post_send h1.qp sge=mr[0:64]; post_send h1.qp sge=mr[0:200] }\n"
                     "run\nexpect big.hits == 1\nclear big\npost_recv h2.qp; run");
    hash = rdl_hash(l.s->lab);
    lab_run(&l, "goto start");
    assert_true(rdl_hash(l.s->lab) != hash);
    lab_run(&l, "goto end");
    assert_true(rdl_hash(l.s->lab) == hash);
    lab_run(&l, "back 4; run; expect big.hits == 1");
    lab_close(&l);
}

/* The condition of a link fault refers to how the frame was sent.  That is not known of a frame
 * that was in flight before the fault was added.  It is known of the next one, behind the switch
 * and as a copy that another fault has changed.
 */
static void a_fault_of_a_link_asks_what_left_behind_it(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, "host h1 h2; switch s1; link h1 s1; link h2 s1\n"
                "on h1,h2 { alloc_pd as pd; reg_mr pd len=4k access=lw as mr; create_cq as cq\n"
                "  create_qp pd send_cq=cq recv_cq=cq as qp }\n"
                "connect h1.qp h2.qp sq_psn=0 timeout=4\n"
                "repeat 2 { post_recv h2.qp sge=mr[0:64] }\n"
                "post_send h1.qp sge=mr[0:64]; until count(tx, host==h1, psn==0) == 1\n"
                "drop psn=0 qp=h1.qp transmission=1 link=h2-s1 as late\n"
                "run; expect late.seen == 0 and count(lost) == 0; clear late\n"
                "mark psn=1 as ce\n"
                "drop psn=1 qp=h1.qp transmission=1 link=h2-s1 where bytes == 64 as asks\n"
                "post_send h1.qp sge=mr[0:64]; run\n"
                "expect ce.hits == 1 and asks.hits == 1 and count(lost, psn==1) == 1\n"
                "expect count(cqe, host==h2, status==SUCCESS) == 2");
    lab_close(&l);
}

static void a_packet_by_hand_takes_the_way_of_any_other(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, PAIR "post_recv h2.qp sge=mr[0:1k]; post_recv h2.qp sge=mr[0:1k]\n"
                     "drop the next SEND from h1 as gone\n"
                     "inject from=h1 dest_qpn=h2.qp opcode=RC_SEND_ONLY psn=0 text=\"lost\"\n"
                     "run; expect gone.hits == 1 and count(lost, psn==0) == 1\n"
                     "inject from=h1 dest_qpn=h2.qp opcode=RC_RDMA_WRITE_ONLY psn=0 rkey=h2.mr "
                     "va=0x7f0000000008 text=\"here\" ackreq\n"
                     "run; expect h2.mr[8:12] == \"here\" and count(tx, host==h2, psn==0) == 1\n"
                     "set link h1-h2 down\n"
                     "inject from=h1 dest_qpn=h2.qp opcode=RC_SEND_ONLY psn=1\n"
                     "run; expect count(drop, reason==NO_ROUTE) == 1");
    lab_close(&l);
}

#define CONNECTING                                                                                 \
    "host h1 h2; switch s1; link h1 s1; link h2 s1\n"                                              \
    "on h1,h2 { alloc_pd as pd; create_cq as cq; rdma_create_event_channel as ch }\n"              \
    "rdma_create_id h2.ch as listener; rdma_bind_addr h2.listener port=7471\n"                     \
    "rdma_listen h2.listener; rdma_create_id h1.ch as id\n"                                        \
    "rdma_resolve_addr h1.id dst=h2 port=7471; rdma_get_cm_event h1.ch wait\n"                     \
    "rdma_resolve_route h1.id; rdma_get_cm_event h1.ch wait\n"                                     \
    "rdma_create_qp h1.id pd=pd send_cq=cq recv_cq=cq as qp\n"

/* A message and its fields are known where a frame leaves its host, on a link, and in events. */
static void messages_are_met_by_name(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, CONNECTING
            "drop the next REQ from h1 as gone\n"
            "drop the next packet on h2-s1 where req_retry_count == 7 and cm == REQ as second\n"
            "drop every REP where rep_starting_psn == 5 optional as never\n"
            "mark the next packet where rdma_cm_port == h1.id.local_port as header\n"
            "forge the next REQ on h2-s1: set initiator_depth to 3\n"
            "rdma_connect h1.id initiator_depth=1; rdma_get_cm_event h2.ch wait as id\n"
            "expect gone.hits == 1 and second.hits == 1 and never.hits == 0 and header.hits == 1\n"
            "expect count(tx, cm==REQ) == 3 and count(lost, cm==REQ) == 2\n"
            "expect count(rx, cm==REQ) == 1 and count(rx, cm!=REQ) == 0\n"
            "expect count(fault_cm, message==REQ) == 2 and gone.cm == REQ\n"
            "expect count(fault, cm==REQ, by==FORGE) == 1\n"
            "rdma_create_qp h2.id pd=pd send_cq=cq recv_cq=cq as qp\n"
            "rdma_accept h2.id responder_resources=3\n"
            "run 1us; expect h1.qp.state == INIT\n"
            "rdma_get_cm_event h1.ch wait\n"
            "expect h1.id.remote_comm_id == h2.id.comm_id and h1.id.comm_id != 0");
    lab_close(&l);
}

/* The wrong communication ID is of no connection; the right one ends it. */
static void a_message_by_hand_has_the_fields_that_it_was_given(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, true);
    lab_run(&l, CONNECTING
            "mark the next REJ where rej_reason > 9 and rej_reason == STALE_CONN as ten\n"
            "mark every REJ where rej_reason == 9 optional as nine\n"
            "drop the next REQ; rdma_connect h1.id\n"
            "inject from=h2 to=h1 cm=REJ set=reason=10,answered=REQ,remote_comm_id=1,"
            "private_data=\"no\"\n"
            "expect ten.hits == 1 and nine.hits == 0\n"
            "run 1ms; expect count(inject, cm==REJ) == 1 and h1.id.ib_state == REQ_SENT\n"
            "inject from=h2 to=h1 cm=REJ set=reason=STALE_CONN,answered=REQ,"
            "remote_comm_id=h1.id.comm_id\n"
            "rdma_get_cm_event h1.ch wait\n"
            "expect count(cm_event, host==h1, event==REJECTED, reason==STALE_CONN) == 1\n"
            "expect count(cm_received, host==h1, message==REJ, reason==STALE_CONN) == 2\n"
            "inject from=h1 to=h2 cm=SIDR_REQ set=request_id=9,service_id=0x1110007,"
            "rdma_cm_source=10.0.0.1,rdma_cm_ip_version=4,mad_tid=0x1234 gid_index=1\n"
            "run 1ms; expect count(tx, host==h2, cm==SIDR_REP) == 1");
    lab_close(&l);
}

static void why_not_says_what_a_fault_waits_for(void **state)
{
    (void)state;
    assert_tells("why_not_says_what_a_fault_waits_for",
                 PAIR "post_recv h2.qp sge=mr[0:1k]; drop the READ response of h1.qp\n"
                      "post_send h1.qp sge=mr[0:64]; run",
                 "why not f1", "f1 h1.qp");
}

static void ways_of_a_link_are_set_apart(void **state)
{
    struct lab l;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, PAIR "set link h1-h2 from=h2 latency=9us loss=2%\n"
                     "expect h1-h2.there.latency == 1us and h1-h2.back.latency == 9us\n"
                     "expect h1-h2.back.loss_ppm == 20000 and h1-h2.there.loss_ppm == 0\n"
                     "set link h1-h2 rate=1g\n" /* keeps the other values of both directions */
                     "expect h1-h2.back.latency == 9us and h1-h2.back.rate == 1000000000\n"
                     "expect h1-h2.there.latency == 1us and h1-h2.there.rate == 1000000000\n"
                     "expect count(link_way) == 3 and count(link_set) == 0\n"
                     "set link h1-h2 from=h1 burst=1%");
    /* Not possible for both directions, so applied to none. */
    assert_false(lab_try(&l, "set link h1-h2 burst_frames=7"));
    lab_run(&l, "expect h1-h2.there.burst_frames == 4");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_say_what_they_will_do),
        cmocka_unit_test(each_nth_match_is_hit),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(clear_all_removes_every_fault),
        cmocka_unit_test(a_condition_comes_back_with_its_fault),
        cmocka_unit_test(a_fault_of_a_link_asks_what_left_behind_it),
        cmocka_unit_test(a_packet_by_hand_takes_the_way_of_any_other),
        cmocka_unit_test(messages_are_met_by_name),
        cmocka_unit_test(a_message_by_hand_has_the_fields_that_it_was_given),
        cmocka_unit_test(why_not_says_what_a_fault_waits_for),
        cmocka_unit_test(ways_of_a_link_are_set_apart),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
