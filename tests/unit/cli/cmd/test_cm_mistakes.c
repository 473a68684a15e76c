/* SPDX-License-Identifier: MIT */
/* Mistakes of beginners with the commands of rdma_cm: the error says why, and its remedy what to do
 * next.
 */
#include <string.h>

#include "cli/lab_session.h"

#define LISTENS                                                                                    \
    "host h1 h2; link h1 h2\n"                                                                     \
    "on h1,h2 { alloc_pd as pd; create_cq as cq; rdma_create_event_channel as ch }\n"              \
    "rdma_create_id h2.ch as listener; rdma_bind_addr h2.listener port=7471\n"                     \
    "rdma_listen h2.listener\n"
#define ID "rdma_create_id h1.ch as id\n"
#define ADDRESS                                                                                    \
    ID "rdma_resolve_addr h1.id dst=h2 port=7471\n"                                                \
       "rdma_get_cm_event h1.ch wait; rdma_ack_cm_event h1.ch\n"
#define ROUTE                                                                                      \
    ADDRESS                                                                                        \
    "rdma_resolve_route h1.id; rdma_get_cm_event h1.ch wait\n"                                     \
    "rdma_ack_cm_event h1.ch\n"
#define QP        "pd=pd send_cq=cq recv_cq=cq as qp\n"
#define CONNECTS  ROUTE "rdma_create_qp h1.id " QP "rdma_connect h1.id\n"
#define REQUESTED CONNECTS "rdma_get_cm_event h2.ch wait as id\n"

/* @says is in the message, and @next in the remedy. */
static const struct {
    const char *story, *line, *says, *next;
} rows[] = {
    {LISTENS ID, "rdma_connect h1.id", "is in state IDLE", "next: rdma_resolve_addr h1.id"},
    {LISTENS ID, "rdma_resolve_route h1.id", "must be in ADDR_RESOLVED", "rdma_resolve_addr h1.id"},
    {LISTENS ADDRESS, "rdma_connect h1.id", "must be in ROUTE_RESOLVED",
     "next: rdma_resolve_route h1.id"},
    {LISTENS ROUTE, "rdma_connect h1.id", "h1.id has no queue pair", "rdma_create_qp"},
    {LISTENS CONNECTS, "rdma_connect h1.id", "is in state CONNECT", "rdma_create_id"},
    {LISTENS ID "rdma_resolve_addr h1.id dst=10.0.0.9 port=1\n", "rdma_resolve_route h1.id",
     "is in state ADDR_QUERY", "why not h1.id"},
    {LISTENS, "rdma_accept h2.listener", "is in state LISTEN", "CONNECT_REQUEST"},
    {LISTENS, "rdma_create_qp h2.listener " QP, "listens", "CONNECT_REQUEST"},
    {LISTENS ROUTE, "rdma_reject h1.id", "must be in CONNECT", "CONNECT_REQUEST"},
    {LISTENS REQUESTED "rdma_create_qp h2.id " QP "rdma_accept h2.id\n", "rdma_accept h2.id",
     "the connection of h2.id is in state REP_SENT", "why not h2.id"},
    {LISTENS CONNECTS "run for=1ms\n", "dial h1 h2", "h1 already has a \"id\"",
     "dial h1 h2 id=id2"},
    {LISTENS CONNECTS "run for=1ms\n", "dial h1 h2 id=b qp=c", "h2.ch has an event",
     "rdma_get_cm_event h2.ch"},
    {LISTENS, "dial h1 h2 port=7472", "listens at port 7471", "dial h1 h2 port=7471"},
    {LISTENS "rdma_create_id h1.ch as listener\n", "dial h2 h1", "h1.listener does not listen",
     "rdma_listen h1.listener"},
    {LISTENS, "dial h1 h1", "are the same host", "help cm"},
};

static void an_error_says_why_and_its_remedy_what_is_next(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct lab l;

        lab_open(&l, false);
        lab_run(&l, rows[i].story);
        assert_false(lab_try(&l, rows[i].line));
        if (!strstr(l.s->diag.message, rows[i].says) || !strstr(l.s->diag.remedy, rows[i].next))
            fail_msg("%s, behind\n%s\nsays %s; %s", rows[i].line, rows[i].story, l.s->diag.message,
                     l.s->diag.remedy);
        lab_close(&l);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_says_why_and_its_remedy_what_is_next),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
