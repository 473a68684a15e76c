/* SPDX-License-Identifier: MIT */
/* Tests of `why not` for connections by rdma_cm: who waits for which message, and what the other
 * side does.
 */
#include "cli/lab_session.h"

#define HOSTS                                                                                      \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; create_cq as cq; rdma_create_event_channel as ch }\n"
#define LISTENER(more_)                                                                            \
    "rdma_create_id h2.ch as listener; rdma_bind_addr h2.listener port=7471\n"                     \
    "rdma_listen h2.listener" more_ "\n"
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
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_tells(rows[i].name, rows[i].lines, rows[i].asked, rows[i].words);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_connection_waits_for_is_said),
        cmocka_unit_test(every_golden_text_is_used),
    };

    return cmocka_run_group_tests_name("why_not_cm", tests, NULL, NULL);
}
