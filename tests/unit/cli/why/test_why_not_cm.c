/* SPDX-License-Identifier: MIT */
/* Tests of `why not` for connections by rdma_cm: who waits for which message, and what the other
 * side does.
 */
#include "cli/lab_session.h"
#include "emu/facts/enum/port_space.h"
#include "rdmalab/cm.h"
#include "rdmalab/inspect.h"
#include "rdmalab/program.h"

#define HOSTS                                                                                      \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; create_cq as cq; rdma_create_event_channel as ch }\n"
#define LISTENER(more_)                                                                            \
    "rdma_create_id h2.ch as listener; rdma_bind_addr h2.listener port=7471\n"                     \
    "rdma_listen h2.listener" more_ "\n"
#define LISTENER_AT(options_, where_)                                                              \
    "rdma_create_id h2.ch as listener; " options_ "rdma_bind_addr h2.listener port=7471 " where_   \
    "\nrdma_listen h2.listener\n"
#define CLIENT(name_)                                                                              \
    "rdma_create_id h1.ch as " name_ "\n"                                                          \
    "rdma_resolve_addr h1." name_ " dst=h2 port=7471\n"                                            \
    "rdma_get_cm_event h1.ch wait; rdma_ack_cm_event h1.ch\n"                                      \
    "rdma_resolve_route h1." name_ "\n"                                                            \
    "rdma_get_cm_event h1.ch wait; rdma_ack_cm_event h1.ch\n"                                      \
    "rdma_create_qp h1." name_ " pd=pd send_cq=cq recv_cq=cq as q_" name_ "\n"
#define READY HOSTS LISTENER("") CLIENT("id")
#define ASKED READY "rdma_connect h1.id; run 1ms\n"
#define TAKEN ASKED "rdma_get_cm_event h2.ch as id; rdma_ack_cm_event h2.ch\n"
#define ACCEPTED                                                                                   \
    TAKEN "rdma_create_qp h2.id pd=pd send_cq=cq recv_cq=cq as qp\nrdma_accept h2.id; run 1ms\n"
#define CONNECTED                                                                                  \
    ACCEPTED "rdma_get_cm_event h1.ch; rdma_ack_cm_event h1.ch; run 1ms\n"                         \
             "rdma_get_cm_event h2.ch; rdma_ack_cm_event h2.ch\n"
#define NEXT_LOST "drop from=h1 nth=1 class=send next as thief\n"

static void what_a_connection_waits_for_is_said(void **state)
{
    static const struct {
        const char *lines, *asked;
        const char *name, *words; /* name of the golden section, and what it must contain */
    } rows[] = {
        {HOSTS "rdma_create_id h1.ch as id\n", "why not h1.id", "an ID without an address",
         "no address rdma_resolve_addr"},
        {HOSTS "rdma_create_id h1.ch as id\nrdma_resolve_addr h1.id dst=10.0.0.9 port=7471\n",
         "why not h1.id == ADDR_RESOLVED", "an address that nobody has",
         "no ADDR_RESOLVED MAC of 10.0.0.9 no station"},
        {READY, "why not h1.id == ESTABLISHED", "an ID that has not asked",
         "no ESTABLISHED try: rdma_connect h1.id"},
        {READY NEXT_LOST "rdma_connect h1.id; run 1ms\n", "why not h1.id", "a REQ that was lost",
         "REQ lost by thief t=6.14s 15 times h2.listener listens there"},
        {ASKED, "why not h1.id", "a request that nobody has taken",
         "REQ arrived h2.ch has 1 event try: rdma_get_cm_event h2.ch"},
        {TAKEN, "why not h1.id", "a request that nobody has answered",
         "REQ h2.id has the request try: rdma_create_qp h2.id"},
        {HOSTS CLIENT("id") "rdma_connect h1.id\n", "why not h1.id", "nobody listens",
         "REQ has not left Nobody listens at port 7471 of h2"},
        {HOSTS CLIENT("id") "rdma_connect h1.id; run 1ms\n", "why not h1.id == ESTABLISHED",
         "a refusal", "no ESTABLISHED REJECTED Reason 8 nobody listens why #"},
        {HOSTS LISTENER(" backlog=1") CLIENT("id")
             CLIENT("second") "rdma_connect h1.id; run 1ms; rdma_connect h1.second; run 1ms\n",
         "why not h1.second", "a full backlog",
         "REQ arrived h2.listener backlog is full the kernel of h2 is silent"},
        {ACCEPTED, "why not h2.id == ESTABLISHED", "a reply that nobody has taken",
         "h2.id has sent a REP RTU h1.id has the reply rdma_get_cm_event h1.ch"},
        {CONNECTED, "why not h1.id == ESTABLISHED", "a connection", "h1.id is connected"},
        {CONNECTED, "why not h2.id == ESTABLISHED", "an event that has come", "It has come"},
        {CONNECTED "rdma_disconnect h1.id; run 1ms\n", "why not h1.id == DISCONNECTED",
         "a peer that has not disconnected", "DREQ DREP h2.id disconnect"},
        {CONNECTED "rdma_disconnect h1.id; run 1ms; rdma_disconnect h2.id; run 1ms\n",
         "why not h1.id == TIMEWAIT_EXIT", "the time after a connection",
         "no TIMEWAIT_EXIT over; until t=2.0"},
        {ASKED "until h1.id.retries == 0 timeout=4000s\n", "why not h1.id.ib_state == ESTABLISHED",
         "the last retry", "UNREACHABLE as often as it may be"},
        {ASKED, "why not cm_event(host==h1, event==ESTABLISHED)", "an event of any ID",
         "ROUTE_RESOLVED h1.id has sent a REQ"},
        {ASKED, "why not", "nothing is asked, and an ID waits",
         "h1.id: REQ to 10.0.0.2 waits for a REP, a REJ or a MRA; due t=6.14s"},
        {HOSTS "rdma_create_id h1.ch as id\nrdma_resolve_addr h1.id dst=10.0.0.9 port=7471\n",
         "why not h1", "a host whose ID has no MAC", "h1.id: waits for the MAC of 10.0.0.9"},
        {HOSTS LISTENER_AT("", "addr=\"fe80::ff:fe00:2\"") CLIENT("id") "rdma_connect h1.id\n",
         "why not h1.id", "a listener at another address",
         "h2.listener listens at port 7471 of h2, but for fe80::ff:fe00:2 alone: it will refuse"},
        {HOSTS LISTENER_AT("", "addr=\"::\"") CLIENT("id") "rdma_connect h1.id\n", "why not h1.id",
         "a listener at all addresses", "h2.listener listens there"},
        {HOSTS LISTENER_AT("rdma_set_option h2.listener option=AFONLY value=1; ", "addr=\"::\"")
             CLIENT("id") "rdma_connect h1.id\n",
         "why not h1.id", "a listener of another IP version",
         "h2.listener listens at port 7471 of h2, but for IPv6 alone: it will refuse"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_tells(rows[i].name, rows[i].lines, rows[i].asked, rows[i].words);
}

static bool no_memory(void *ctx, uint64_t addr, void *out, size_t n)
{
    (void)ctx;
    (void)addr;
    memset(out, 0, n);
    return false;
}

static bool no_memory_to_write(void *ctx, uint64_t addr, const void *in, size_t n)
{
    (void)ctx;
    (void)addr;
    (void)in;
    return n == 0;
}

/* The user cannot make the calls of a program by typing commands. */
static void what_a_program_must_call_is_said(void **state)
{
    const struct rdl_program_memory memory = {no_memory, no_memory_to_write, NULL};
    rdl_cm_channel channel;
    rdl_program program;
    struct lab l;
    rdl_cm_id id;
    rdl_host h2;

    (void)state;
    lab_open(&l, false);
    lab_run(&l, HOSTS);
    assert_int_equal(rdl_find_host(l.s->lab, "h2", &h2), RDL_OK);
    assert_int_equal(rdl_program_add(l.s->lab, h2, &memory, &program), RDL_OK);
    rdl_program_calls(l.s->lab, program);
    assert_int_equal(rdl_cm_create_channel(l.s->lab, h2, "of_program", &channel), RDL_OK);
    assert_int_equal(rdl_cm_create_id(l.s->lab, channel, PORT_SPACE_TCP, "listener", &id), RDL_OK);
    rdl_program_called(l.s->lab, program);
    lab_run(&l, "why not h2.listener\n"
                "rdma_bind_addr h2.listener port=7471; rdma_listen h2.listener\n" CLIENT(
                    "id") "rdma_connect h1.id; run 1ms; why not h1.id");
    fflush(l.f);
    assert_in_order(l.out, "h2.listener has no address yet. try: rdma_resolve_addr(), or "
                           "rdma_bind_addr() in the program of h2.listener h2.of_program has 1 "
                           "event try: rdma_get_cm_event() in the program of h2.listener");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_connection_waits_for_is_said),
        cmocka_unit_test(what_a_program_must_call_is_said),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests_name("why_not_cm", tests, NULL, NULL);
}
