/* SPDX-License-Identifier: MIT */
/* The drill of connections reaches all that it is for: each rule for a message in a state, each
 * event and each reason that programs can cause.
 */
#include <string.h>

#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum_table.h"
#include "emu/trace/event.h"
#include "rdmalab/cm.h"
#include "swarm/drills/kinds.h"
#include "testing.h"

#define SEEDS 400u
#define HOSTS 2u

static const char *const rules[] = {
#define CM_RULE(message, state, verdict, next) #message " in " #state,
#include "emu/facts/cm_rules.def"
#undef CM_RULE
};

/* Rules to which no call of rdma_cm leads, and the tests that they have instead. */
static const struct {
    const char *rule, *why;
} cannot[] = {
    {"REJ in REQ_RCVD", "rdma_cm prepares a MRA at once; guest/cm/test_ib_cm_messages.c"},
    {"REJ in REP_RCVD", "rdma_cm prepares a MRA at once; guest/cm/test_ib_cm_messages.c"},
};

static const uint32_t events[] = {
    RDMA_CM_EVENT_ADDR_RESOLVED,   RDMA_CM_EVENT_ADDR_ERROR,       RDMA_CM_EVENT_ROUTE_RESOLVED,
    RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_UNREACHABLE,
    RDMA_CM_EVENT_REJECTED,        RDMA_CM_EVENT_ESTABLISHED,      RDMA_CM_EVENT_DISCONNECTED,
    RDMA_CM_EVENT_TIMEWAIT_EXIT,
};

static const uint32_t reasons[] = {CM_REASON_TIMEOUT, CM_REASON_INVALID_SERVICE_ID,
                                   CM_REASON_STALE_CONN, CM_REASON_CONSUMER_DEFINED};

static struct {
    uint64_t rules, events, reasons; /* sets */
} seen;

static void hear(void *ctx, const struct ev *e)
{
    struct rdl_cm_counts n;

    if (e->kind == EV_cm_event)
        seen.events |= (uint64_t)1 << e->u.cm_event.event;
    if (e->kind == EV_cm_sent)
        seen.reasons |= (uint64_t)1 << e->u.cm_sent.reason;
    for (uint32_t h = 1; e->kind == EV_cm_event && h <= HOSTS; h++) {
        if (rdl_cm_counts(ctx, (rdl_host){h}, &n) == RDL_OK)
            seen.rules |= n.rules;
    }
}

static void check_rules(void)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        bool excepted = false;

        for (size_t k = 0; k < ARRAY_LEN(cannot); k++)
            excepted |= strcmp(cannot[k].rule, rules[i]) == 0 && cannot[k].why[0];
        if ((seen.rules >> i & 1) == excepted)
            fail_msg("%s: %s", rules[i], excepted ? "cannot be, and was" : "never");
    }
}

static void check_values(const struct enum_table *table, const uint32_t *want, size_t n,
                         uint64_t have)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        const uint32_t value = table->rows[i].value;
        bool is_wanted = false;

        for (size_t k = 0; k < n; k++)
            is_wanted |= want[k] == value;
        if ((have >> value & 1) != is_wanted)
            fail_msg("%s: %s", table->rows[i].name, is_wanted ? "never" : "is not expected");
    }
}

static void every_rule_event_and_reason_occurs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct drill_run run = {.seed = seed, .print = hear};

        if (!drill_run(&drill_of_connections, &run))
            fail_msg("seed %u: %s, but: %s", (unsigned)seed, run.ret_wrong, run.ret_have);
    }
    check_rules();
    check_values(&enum_rdma_cm_event, events, ARRAY_LEN(events), seen.events);
    check_values(&enum_cm_reason, reasons, ARRAY_LEN(reasons), seen.reasons);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule_event_and_reason_occurs)};

    return cmocka_run_group_tests_name("connections", tests, NULL, NULL);
}
