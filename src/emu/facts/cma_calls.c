/* SPDX-License-Identifier: MIT */
#include "emu/facts/cma_calls.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum_table.h"

#define IN(state) (1u << CMA_##state)
#define IB(state) (1u << CMS_##state)

static const struct cma_call_row {
    const char *function;
    unsigned states, ib_states; /* sets of enum cma_state and of enum cm_state */
} calls[] = {
#define CMA_CALL(call, function, states, ib_states)                                                \
    [CMA_CALL_##call] = {(function), (states), (ib_states)},
#include "emu/facts/cma_calls.def"
#undef CMA_CALL
};

bool cma_call_is_permitted(enum cma_call call, uint32_t state)
{
    return calls[call].states >> state & 1;
}

static const struct cma_call_row *find(const char *function)
{
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        if (strcmp(calls[i].function, function) == 0)
            return &calls[i];
    }
    return NULL;
}

const struct cma_step *cma_step(uint32_t state)
{
    static const struct cma_step steps[] = {
        [CMA_IDLE] = {"has no address yet",
                      "rdma_resolve_addr %s dst=HOST port=N, or rdma_bind_addr"},
        [CMA_ADDR_BOUND] = {"has an address, and neither listens nor asks for a peer",
                            "rdma_listen %s, or rdma_resolve_addr"},
        [CMA_ADDR_RESOLVED] = {"knows its peer's address, and no route", "rdma_resolve_route %s"},
        [CMA_ROUTE_RESOLVED] = {"knows the way to its peer, and has not asked it",
                                "rdma_connect %s"},
    };

    return state < ARRAY_LEN(steps) && steps[state].text ? &steps[state] : NULL;
}

bool cma_call_needs_state(const char *function)
{
    return find(function) != NULL;
}

bool cma_call_is_early_or_late(const char *function, uint32_t state, uint32_t ib_state)
{
    const struct cma_call_row *c = find(function);

    return c && (!(c->states >> state & 1) || (c->ib_states && !(c->ib_states >> ib_state & 1)));
}

/* Appends the states of @t in @set. */
static void add_states(struct text *out, const struct enum_table *t, unsigned set)
{
    const char *lead = ", and must be in ";

    for (size_t i = 0; i < t->n_rows; i++) {
        if (!(set >> t->rows[i].value & 1))
            continue;
        text_addf(out, "%s%s", lead, t->rows[i].name);
        lead = " or ";
    }
}

void cma_call_add_reason(struct text *t, const char *function, const char *id, uint32_t state,
                         uint32_t ib_state)
{
    const struct cma_call_row *c = find(function);

    if (!c)
        return;
    if (!(c->states >> state & 1)) {
        text_addf(t, "%s is in state %s (%s)", id, enum_name(&enum_cma_state, state),
                  enum_text(&enum_cma_state, state));
        add_states(t, &enum_cma_state, c->states);
    } else {
        text_addf(t, "the connection of %s is in state %s (%s); no request waits for its answer",
                  id, enum_name(&enum_cm_state, ib_state), enum_text(&enum_cm_state, ib_state));
    }
}
