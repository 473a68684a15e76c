/* SPDX-License-Identifier: MIT */
#include "cli/session/seen.h"
#include "cli/session/history.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli_testing.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/trace/event.h"
#include "rdmalab/trace.h"

#define SESSIONS_LEAST 40u /* fewer sessions are not checked */
#define NAMES_MAX      256u

/* The names that objects of a session were given. */
struct names {
    struct {
        uint32_t host;
        char name[RDL_NAME_BYTES];
    } v[NAMES_MAX];
    size_t n;
    bool again;
};

static void add_name(struct names *names, const struct ev *e)
{
    for (size_t i = 0; i < names->n; i++) {
        if (names->v[i].host == e->u.gone.host &&
            strncmp(names->v[i].name, e->u.named.name.s, RDL_NAME_BYTES - 1) == 0)
            names->again = true;
    }
}

static void add_gone(struct names *names, const struct ev *e)
{
    if (names->n == NAMES_MAX)
        return;
    names->v[names->n].host = e->u.gone.host;
    snprintf(names->v[names->n++].name, RDL_NAME_BYTES, "%s", e->u.gone.name.s);
}

static bool was_remade(const struct session *s)
{
    struct names names = {.n = 0};

    for (size_t i = 0; i < rdl_record_count(s->lab); i++) {
        const struct ev *e = rdl_record_at(s->lab, i);

        if (e->kind == EV_gone)
            add_gone(&names, e);
        else if (e->kind == EV_named)
            add_name(&names, e);
    }
    return names.again;
}

void seen_add(struct seen *seen, const struct session *s)
{
    bool done[N_CMDS] = {false}, outcome[LOG_FAILED + 1] = {false}, reset = false, err = false;
    struct log_cursor c;

    for (bool more = log_first(&c, &s->history->journal.log); more; more = log_next(&c)) {
        const struct step *st = c.entry.st;
        const size_t cmd = (size_t)(st->cmd - cmd_table);
        const bool modified = cmd == CMD_modify_qp && c.entry.outcome == LOG_DONE;

        outcome[c.entry.outcome] = true;
        done[cmd] |= c.entry.outcome == LOG_DONE;
        reset |= modified && step_has(st, "state") && step_number(st, "state") == QPS_RESET;
        err |= modified && step_has(st, "state") && step_number(st, "state") == QPS_ERR;
    }
    seen->n_sessions++;
    for (size_t i = 0; i < N_CMDS; i++)
        seen->done[i] += done[i];
    for (unsigned kind = 0; kind < EV_COUNT; kind++)
        seen->event[kind] += rdl_total(s->lab, (enum ev_kind)kind) > 0;
    seen->refused += outcome[LOG_REFUSED];
    seen->failed += outcome[LOG_FAILED];
    seen->cut += outcome[LOG_CUT];
    seen->to_reset += reset;
    seen->to_err += err;
    seen->remade += was_remade(s);
    seen->forgotten += rdl_record_forgotten(s->lab) > 0;
}

void seen_join(struct seen *seen, const struct seen *more)
{
    for (size_t i = 0; i < N_CMDS; i++)
        seen->done[i] += more->done[i];
    for (unsigned kind = 0; kind < EV_COUNT; kind++)
        seen->event[kind] += more->event[kind];
    seen->n_sessions += more->n_sessions;
    seen->refused += more->refused;
    seen->failed += more->failed;
    seen->cut += more->cut;
    seen->to_reset += more->to_reset;
    seen->to_err += more->to_err;
    seen->remade += more->remade;
    seen->forgotten += more->forgotten;
    seen->blocks += more->blocks;
    seen->forks += more->forks;
    seen->hits += more->hits;
    seen->interrupted += more->interrupted;
    seen->limited += more->limited;
    seen->stopped += more->stopped;
}

static const enum cmd_id commands[] = {
    CMD_drop,         CMD_duplicate,  CMD_delay,       CMD_corrupt,       CMD_clear,
    CMD_set,          CMD_destroy_qp, CMD_destroy_cq,  CMD_dereg_mr,      CMD_reg_mr,
    CMD_create_qp,    CMD_create_srq, CMD_destroy_srq, CMD_post_srq_recv, CMD_modify_srq,
    CMD_alloc_mw,     CMD_dealloc_mw, CMD_bind_mw,     CMD_create_ah,     CMD_destroy_ah,
    CMD_attach_mcast, CMD_post_recv,  CMD_post_send,   CMD_connect,       CMD_modify_qp,
    CMD_resize_cq,    CMD_ping,       CMD_run,         CMD_step,          CMD_until,
    CMD_record,
};

static const enum ev_kind events[] = {
    EV_lost, EV_fault, EV_drop,   EV_qp_state, EV_timeout,       EV_retry,       EV_cqe,
    EV_gone, EV_key,   EV_atomic, EV_bind,     EV_post_srq_recv, EV_async_event,
};

static unsigned expect(unsigned n, const char *what)
{
    if (n == 0)
        print_message("no session had: %s\n", what);
    return n == 0;
}

void seen_expect_all(const struct seen *seen, bool with_stops)
{
    unsigned wrong = 0;

    if (seen->n_sessions < SESSIONS_LEAST)
        return;
    for (size_t i = 0; i < ARRAY_LEN(commands); i++)
        wrong += expect(seen->done[commands[i]], cmd_table[commands[i]].name);
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        wrong += expect(seen->event[events[i]], ev_schema(events[i])->name);
    wrong += expect(seen->refused, "a command that was refused");
    wrong += expect(seen->failed, "a command that failed");
    wrong += expect(seen->cut, "a command that was cut");
    wrong += expect(seen->to_reset, "a queue pair that was reset");
    wrong += expect(seen->to_err, "a queue pair that was put into ERR");
    wrong += expect(seen->remade, "an object that was destroyed and made again");
    wrong += expect(seen->forgotten, "a record that has forgotten");
    wrong += expect(seen->blocks, "a block");
    wrong += expect(seen->forks, "a fork");
    wrong += expect(seen->interrupted, "^C");
    wrong += expect(seen->limited, "a limit");
    wrong += expect(seen->stopped, "a stop at a tick");
    if (with_stops)
        wrong += expect(seen->hits, "a break or a watch that was hit");
    assert_int_equal(wrong, 0);
}

bool seeds_chosen(uint64_t n, uint64_t *ret_first, uint64_t *ret_last)
{
    const char *chosen = getenv("TRAVEL_SEEDS"), *dots;

    if (!chosen)
        chosen = getenv("TRAVEL_SEED");
    *ret_first = 1;
    *ret_last = n;
    if (!chosen)
        return false;
    dots = strstr(chosen, "..");
    *ret_first = strtoull(chosen, NULL, 10);
    *ret_last = dots ? strtoull(dots + 2, NULL, 10) : *ret_first;
    return *ret_first == *ret_last;
}
