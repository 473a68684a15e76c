/* SPDX-License-Identifier: MIT */
/* Reasons why calls of librdmacm are refused. */
#include "testing.h"

#include "emu/facts/cma_calls.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/cma_state.h"

/* Each row: a call in the state of an ID and of its connection, and the reason; "": neither is. */
static const struct {
    const char *function;
    enum cma_state state;
    enum cm_state ib_state;
    const char *reason;
} cases[] = {
    {"rdma_connect", CMA_ROUTE_RESOLVED, CMS_IDLE, ""},
    {"rdma_connect", CMA_ADDR_RESOLVED, CMS_IDLE,
     "id is in state ADDR_RESOLVED (the peer's address is known), and must be in ROUTE_RESOLVED"},
    {"rdma_listen", CMA_ADDR_BOUND, CMS_IDLE, ""},
    {"rdma_listen", CMA_LISTEN, CMS_IDLE,
     "id is in state LISTEN (waits for requests), and must be in IDLE or ADDR_BOUND"},
    {"rdma_accept", CMA_CONNECT, CMS_REQ_RCVD, ""},
    {"rdma_accept", CMA_CONNECT, CMS_SIDR_REQ_RCVD, ""},
    {"rdma_accept", CMA_LISTEN, CMS_LISTEN,
     "id is in state LISTEN (waits for requests), and must be in CONNECT"},
    {"rdma_accept", CMA_CONNECT, CMS_REP_SENT,
     "the connection of id is in state REP_SENT (passive: waits for the RTU); no request waits for "
     "its answer"},
    {"rdma_get_cm_event", CMA_IDLE, CMS_IDLE, ""}, /* possible in every state */
};

static void a_reason_names_the_state_and_those_that_are_needed(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char buf[256];
        struct text t = text_on(buf, sizeof(buf));
        const bool is_reason =
            cma_call_is_early_or_late(cases[i].function, cases[i].state, cases[i].ib_state);

        if (is_reason)
            cma_call_add_reason(&t, cases[i].function, "id", cases[i].state, cases[i].ib_state);
        assert_string_equal(buf, cases[i].reason);
    }
}

static void an_id_without_a_connection_has_a_next_step(void **state)
{
    (void)state;
    assert_string_equal(cma_step(CMA_ADDR_RESOLVED)->command, "rdma_resolve_route %s");
    assert_string_equal(cma_step(CMA_ROUTE_RESOLVED)->command, "rdma_connect %s");
    assert_null(cma_step(CMA_ADDR_QUERY));
    assert_null(cma_step(CMA_CONNECT));
    assert_null(cma_step(UINT32_MAX));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reason_names_the_state_and_those_that_are_needed),
        cmocka_unit_test(an_id_without_a_connection_has_a_next_step),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
