/* SPDX-License-Identifier: MIT */
/* Drills: many random steps in a small lab of their own, each of which has an outcome that is known
 * exactly.
 *
 * A world (swarm/worlds/world.h) is crowded, and where frames are lost and queue pairs fail much
 * may happen.  A drill is the opposite: nothing disturbs it, so that its model may be strict.  Each
 * kind is about one thing that worlds say little of: keys that are used against their rules, frames
 * that only a stranger sends, rings that only a careless driver makes.
 *
 * A step draws what it needs from a stream of its own, and does whatever can be done where the
 * drill has come to.  So each part of the steps is a drill, too, and one that shows a fault can be
 * made smaller by leaving out steps.
 */
#ifndef SWARM_DRILLS_DRILL_H
#define SWARM_DRILLS_DRILL_H

#include <stdbool.h>
#include <stdio.h>

#include "emu/base/prng.h"
#include "rdmalab/lab.h"

#define DRILL_STEPS_MAX 256u
#define DRILL_HAVE      200u /* bytes of what was seen, in words */

struct drill;
struct ev;

struct drill_kind {
    const char *name;
    size_t bytes;                    /* of what it knows: struct drill's own */
    uint32_t steps;                  /* at most DRILL_STEPS_MAX */
    void (*set_up)(struct drill *d); /* its lab is there, without hosts */
    void (*take)(struct drill *d);   /* one step */
    void (*finish)(struct drill *d); /* looks at what is left; NULL: nothing is */
};

#define DRILL_KINDS 7u
extern const struct drill_kind *const drill_kinds[DRILL_KINDS];

struct drill {
    const struct drill_kind *kind;
    struct rdl_lab *lab;
    struct prng rng; /* of this step */
    uint32_t step;
    void *own;             /* zeroed at first */
    FILE *script;          /* what is done is written there as lines; NULL: it is not */
    uint32_t n_unsaid;     /* steps that no line can say */
    const char *wrong;     /* the rule that was broken, NULL: none */
    char have[DRILL_HAVE]; /* and what was there instead */
};

/* What is asked of a run, and how it ended. */
struct drill_run {
    uint64_t seed;
    const bool *is_left_out;                      /* DRILL_STEPS_MAX steps; NULL: all are taken */
    FILE *script;                                 /* gets the lines of the run; NULL: nobody */
    void (*print)(void *ctx, const struct ev *e); /* hears each event, with the lab; or NULL */
    const char *ret_wrong;                        /* the rule that was broken, NULL: none */
    char ret_have[DRILL_HAVE];
    uint32_t ret_step, ret_unsaid; /* ret_step: in which it broke */
    uint64_t ret_hash;
    bool ret_invariant; /* an invariant of the emulator broke */
};

/* Runs a drill of @kind; false: something went wrong. */
bool drill_run(const struct drill_kind *kind, struct drill_run *run);

/* Leaves out steps as long as the drill goes wrong with the same words, in @runs_max runs at most.
 * @is_left_out has room for DRILL_STEPS_MAX.  Returns how many steps are left.
 */
uint32_t drill_shrink(const struct drill_kind *kind, const struct drill_run *run, uint32_t runs_max,
                      bool *is_left_out);

/* --- For the kinds ---------------------------------------------------------------------------- */

/* Is it @right, as rule @what, a sentence, says?  If not, @format tells what was there instead.
 * After the first that is not nothing else counts: whoever sets up or takes a step returns.
 */
bool drill_expect(struct drill *d, bool right, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Is a call that must succeed carried out?  The same with a request of the device at @host that is
 * awaited.
 */
bool drill_works(struct drill *d, enum rdl_status st, const char *what);
bool drill_is_done(struct drill *d, rdl_host host, enum rdl_status st, const char *what);

/* Waits for the answer of the device at @host; *@ret_rsp: its response. */
enum rdl_status drill_answer(struct drill *d, rdl_host host, uint32_t *ret_rsp);

/* Lets the lab go on until nothing is scheduled. */
bool drill_settle(struct drill *d);

/* Writes a line of the script. */
void drill_say(struct drill *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline uint32_t drill_below(struct drill *d, uint32_t n)
{
    return (uint32_t)prng_below(&d->rng, n);
}

static inline bool drill_one_in(struct drill *d, uint32_t n)
{
    return drill_below(d, n) == 0;
}

#endif
