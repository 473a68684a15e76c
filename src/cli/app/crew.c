/* SPDX-License-Identifier: MIT */
/* The runner sleeps in poll() on the pipes of its processes.  So it waits only for those, not for
 * other children that it may have inherited.
 */
#include "cli/app/crew.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "process/signals.h"

/* Interval of checking for signals.  A signal that arrives just before poll() does not interrupt
 * it.
 */
#define LOOK_MS 100

struct crew {
    struct suite *su;
    const struct test_options *o;
    size_t jobs;
    size_t next;    /* next case to start */
    size_t told;    /* cases reported */
    size_t running; /* processes */
    struct test_process p[CREW_MAX];
};

static void start_one(struct crew *crew, struct test_process *slot)
{
    struct test_case *c = &crew->su->cases[crew->next++];
    const char *why;

    if (c->ended)
        return;
    why = test_start(c, crew->o, slot);
    if (why) {
        struct text t = text_on(c->result.message, TEST_MESSAGE_BYTES);

        text_addf(&t, "%s: no process could be started: %s\n", c->file->name, why);
        c->result.status = EXIT_FAILED;
        c->ended = true;
        return;
    }
    crew->running++;
}

/* Starts as many processes as possible. */
static void start(struct crew *crew)
{
    for (size_t i = 0; i < crew->jobs; i++) {
        while (crew->p[i].pid == 0 && crew->next < crew->su->n_cases)
            start_one(crew, &crew->p[i]);
    }
}

/* Kills processes that exceed their time; after a signal, all. */
static void kill_some(struct crew *crew)
{
    const bool all = *signals_interrupted() != 0;
    const uint64_t now = test_now_us();

    for (size_t i = 0; i < crew->jobs; i++) {
        struct test_process *p = &crew->p[i];

        if (p->pid != 0 && all)
            test_kill(p, EXIT_INTERRUPTED);
        else if (p->pid != 0 && crew->o->timeout_s &&
                 (now - p->started_us) / 1000000 >= crew->o->timeout_s)
            test_kill(p, EXIT_TIMEOUT);
    }
}

/* Waits until a process has a result, and collects all available results. */
static void collect(struct crew *crew)
{
    struct pollfd fds[CREW_MAX];

    for (size_t i = 0; i < crew->jobs; i++)
        fds[i] = (struct pollfd){.fd = crew->p[i].pid ? crew->p[i].pipe : -1, .events = POLLIN};
    if (poll(fds, crew->jobs, LOOK_MS) <= 0)
        return; /* timeout, or a signal */
    for (size_t i = 0; i < crew->jobs; i++) {
        if (crew->p[i].pid == 0 || fds[i].revents == 0)
            continue;
        test_collect(&crew->p[i]);
        crew->running--;
    }
}

static int report_one(const struct test_case *c, struct report *r, int status)
{
    if (r->form)
        report_case(r, c);
    return c->result.status == EXIT_SKIPPED ? status : exit_worse(status, c->result.status);
}

int crew_run(struct suite *su, const struct test_options *o, size_t jobs, struct report *r)
{
    struct crew crew = {.su = su, .o = o, .jobs = jobs};
    int status = EXIT_PASSED;

    while (crew.told < su->n_cases && (!*signals_interrupted() || crew.running > 0)) {
        if (!*signals_interrupted())
            start(&crew);
        kill_some(&crew);
        if (crew.running > 0)
            collect(&crew);
        while (crew.told < su->n_cases && su->cases[crew.told].ended)
            status = report_one(&su->cases[crew.told++], r, status);
    }
    /* After a signal, some cases have not ended. */
    for (; crew.told < su->n_cases; crew.told++) {
        if (su->cases[crew.told].ended)
            status = report_one(&su->cases[crew.told], r, status);
        else
            r->not_run++;
    }
    return r->not_run ? exit_worse(signals_exit_status(), status) : status;
}
