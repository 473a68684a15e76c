/* SPDX-License-Identifier: MIT */
/* Drills: random tests whose every step has exactly one correct outcome.
 *
 * A random world (swarm/worlds/world.h) loses frames and breaks queue pairs, so its model must
 * accept several outcomes.  A drill runs in a small lab of its own without such disturbances, so
 * its model is exact.  Each kind of drill covers one subject that worlds test little: keys that are
 * used against their rules, frames that no correct host sends, rings that no correct driver makes.
 *
 * Each step draws from its own PRNG stream and acts on the state that it finds.  Any subset of the
 * steps is therefore a valid drill, and a failing drill can be reduced by leaving out steps
 * (drill_shrink()).
 */
#ifndef SWARM_DRILLS_DRILL_H
#define SWARM_DRILLS_DRILL_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/base/prng.h"
#include "rdmalab/lab.h"
#include "swarm/draw/extend.h"

#define DRILL_STEPS_MAX 256u
#define DRILL_HAVE      200u /* bytes of the text that describes wrong behaviour */

struct drill;
struct ev;
struct ev_names;

/* A kind of drill: its name and its functions. */
struct drill_kind {
    const char *name;
    size_t bytes;                    /* size of its state, drill.own */
    uint32_t steps;                  /* number of steps of a drill, at most DRILL_STEPS_MAX */
    void (*set_up)(struct drill *d); /* adds hosts and objects to the empty lab */
    void (*take)(struct drill *d);   /* takes one step */
    void (*finish)(struct drill *d); /* checks the state after the last step; NULL: no check */
    void (*done)(struct drill *d);   /* frees what its state refers to; NULL: nothing */
    /* The extensions of virtio-rdma that it takes, a set of 1 << enum extension: drill_extend() */
    uint64_t extensions;
    bool any_device;                /* asks of a device only what all have, see drill_device() */
    void (*close)(struct drill *d); /* frees what its state has outside of the lab; NULL: nothing */
};

/* X(name) for each kind, in the order in which they run. */
#define DRILLS(X)                                                                                  \
    X(messages)                                                                                    \
    X(datagrams)                                                                                   \
    X(peers)                                                                                       \
    X(keys)                                                                                        \
    X(frames)                                                                                      \
    X(rings)                                                                                       \
    X(verbs)                                                                                       \
    X(device)                                                                                      \
    X(wires)                                                                                       \
    X(aims)                                                                                        \
    X(oneway)                                                                                      \
    X(shared)                                                                                      \
    X(machine)                                                                                     \
    X(programs)                                                                                    \
    X(connections)                                                                                 \
    X(pvrdma)                                                                                      \
    X(mux)                                                                                         \
    X(shortcut)                                                                                    \
    X(rogue)                                                                                       \
    X(lnet)

#define DRILL_COUNT(name) +1u
#define DRILL_KINDS       (0u DRILLS(DRILL_COUNT))
extern const struct drill_kind *const drill_kinds[DRILL_KINDS];

/* A running drill. */
struct drill {
    const struct drill_kind *kind;
    struct rdl_lab *lab;
    struct prng rng; /* PRNG stream of this step */
    bool devices;    /* draws the RDMA device of each host */
    bool extensions; /* draws extensions of virtio-rdma for each host */
    uint64_t seed;
    uint32_t step;          /* number of the running step, from 0 */
    void *own;              /* state of the kind, kind->bytes long, zeroed at the start */
    FILE *script;           /* receives the steps as script lines; NULL: no script */
    struct ev_names *names; /* those that events have told so far; NULL: nobody has asked */
    uint64_t n_names_heard; /* events that @names knows */
    uint32_t n_unsaid;      /* number of actions that no script line can express */
    /* Messages that were judged and bytes that were compared, of a kind that counts them. */
    uint64_t n_messages, n_bytes;
    const char *wrong;     /* the rule that was broken; NULL: none */
    char have[DRILL_HAVE]; /* the behaviour that broke it, as text */
};

/* One run: its inputs, and how it ended. */
struct drill_run {
    uint64_t seed;
    bool devices;            /* drill.devices */
    bool extensions;         /* drill.extensions */
    const bool *is_left_out; /* a flag per step, true: not taken; NULL: all steps are taken */
    FILE *script;            /* receives the run as script lines; NULL: no script */
    /* Called for each event; @ctx is the lab.  NULL: not called. */
    void (*print)(void *ctx, const struct ev *e);
    const char *ret_wrong;     /* the rule that was broken; NULL: none */
    char ret_have[DRILL_HAVE]; /* the behaviour that broke it, as text */
    /* ret_step: index of the step that broke the rule.  ret_unsaid: drill.n_unsaid at the end. */
    uint32_t ret_step, ret_unsaid;
    uint64_t ret_messages, ret_bytes; /* drill.n_messages and .n_bytes at the end */
    uint64_t ret_hash;                /* hash of all events */
    bool ret_invariant;               /* an invariant of the emulator broke */
};

/* Runs one drill of @kind.  Returns false if it broke a rule; the rule is in @run->ret_wrong. */
bool drill_run(const struct drill_kind *kind, struct drill_run *run);

/* Returns the drill of @run without the steps of @is_left_out, and without output and results. */
struct drill_run drill_again(const struct drill_run *run, const bool *is_left_out);

/* Reduces the failed drill @run: leaves out steps while the drill still breaks the same rule.
 * Makes at most @runs_max runs.  Sets the elements of @is_left_out, which has DRILL_STEPS_MAX: true
 * for a step that is not needed.  Returns the number of steps that are left.
 */
uint32_t drill_shrink(const struct drill_kind *kind, const struct drill_run *run, uint32_t runs_max,
                      bool *is_left_out);

/* --- For the kinds ---------------------------------------------------------------------------- */

/* Checks a rule.  If @right is false, the drill fails: it keeps @what, a sentence that states the
 * rule, and the text of @format, which describes the actual behaviour.  Only the first failure is
 * kept.  Returns @right; the caller returns from its step if it is false.
 */
bool drill_expect(struct drill *d, bool right, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* drill_works() checks that @st, the result of a call, is RDL_OK.  drill_is_done() also waits for
 * the answer of the device of @host to the control request that the call sent; it must be success.
 * The drill fails with the rule @what otherwise.  They return true if the check passed.
 */
bool drill_works(struct drill *d, enum rdl_status st, const char *what);
bool drill_is_done(struct drill *d, rdl_host host, enum rdl_status st, const char *what);

/* Reads the number that the tree has at @path, for example "h1.port.bad_pkeys".  Returns false, and
 * the drill fails, if nothing is there.
 */
bool drill_number(struct drill *d, const char *path, uint64_t *ret);

/* Checks the rule @what: the tree has the number @want at @path.  Returns false if the drill
 * failed.
 */
bool drill_number_is(struct drill *d, const char *path, uint64_t want, const char *what);

/* Returns the RDMA device of host number @host, from 0: enum device_type.  Does not depend on other
 * draws.
 */
uint32_t drill_device(const struct drill *d, uint32_t host);

/* Sets the extensions of @c, the configuration of host number @host, from 0.  Writes the parameters
 * of the command `host` that say so, with a space in front, and returns them.  Does not depend on
 * other draws.
 */
const char *drill_extend(const struct drill *d, uint32_t host, struct rdl_host_config *c,
                         char words[EXTEND_WORDS_BYTES]);

/* Runs the lab until the device of @host has answered the pending control request.  Returns the
 * status of rdl_wait().
 */
enum rdl_status drill_answer(struct drill *d, rdl_host host);

/* Runs the lab until nothing is scheduled.  Returns false, and the drill fails, if that does not
 * succeed.
 */
bool drill_settle(struct drill *d);

/* drill_run_until() runs the lab until @until_ns, drill_run_for() for @ns, or until nothing is
 * scheduled.  They return false, and the drill fails, if that does not succeed.
 */
bool drill_run_until(struct drill *d, uint64_t until_ns);
bool drill_run_for(struct drill *d, uint64_t ns);

/* drill_events() returns the number of trace events so far.  drill_event() returns the next
 * recorded event of @kind (enum ev_kind) from event number *@at on, counted from 0, and sets *@at
 * to the number behind it.  It returns NULL if there is none; *@at is then the number of all
 * events.
 */
uint64_t drill_events(const struct drill *d);
const struct ev *drill_event(const struct drill *d, uint32_t kind, uint64_t *at);

/* Like drill_event() for completion events: sets *@ret_cqn to the number of the CQ.  Returns false
 * if there is none.
 */
bool drill_cq_event(const struct drill *d, uint64_t *at, uint32_t *ret_cqn);

/* Checks that the events so far call the object of @kind (enum object_kind) with @number of @host
 * @name.  It must be called while the lab still has the events since the last call.
 */
bool drill_is_named(struct drill *d, rdl_host host, uint32_t kind, uint32_t number,
                    const char *name);

/* Writes a line to the script, if there is one. */
void drill_say(struct drill *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Draw from d->rng: drill_below() a number less than @n, drill_one_in() true with chance 1 in @n.
 */
static inline uint32_t drill_below(struct drill *d, uint32_t n)
{
    return (uint32_t)prng_below(&d->rng, n);
}

static inline bool drill_one_in(struct drill *d, uint32_t n)
{
    return drill_below(d, n) == 0;
}

#endif
