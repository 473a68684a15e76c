/* SPDX-License-Identifier: MIT */
/* The values that a rule compared: what it allows, and what it found.
 *
 * A verdict carries them to the event that tells it, so that whoever reads "by RESP_PSN" sees both
 * PSNs.  compared.def says what the values of each rule are.
 */
#ifndef EMU_FACTS_COMPARED_H
#define EMU_FACTS_COMPARED_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/text.h"

/* A @found between @least and @most says nothing: no rule would object to it.  PSNs go round, and
 * @least may be above @most.
 */
struct compared {
    uint64_t least, most; /* the same if only one value is allowed */
    uint64_t found;
};

static inline struct compared compared_one(uint64_t expected, uint64_t found)
{
    return (struct compared){expected, expected, found};
}

static inline struct compared compared_range(uint64_t least, uint64_t most, uint64_t found)
{
    return (struct compared){least, most, found};
}

static inline struct compared compared_nothing(void)
{
    return (struct compared){0, 0, 0};
}

/* Nothing in particular was expected. */
static inline struct compared compared_found(uint64_t found)
{
    return (struct compared){.found = found};
}

static inline struct compared compared_at_most(uint64_t most, uint64_t found)
{
    return (struct compared){0, most, found};
}

/* A rule that objected, and to what. */
struct objection {
    uint32_t rule; /* enum rule */
    struct compared values;
};

/* Appends ", expected psn=50, found psn=100"; nothing if @c says nothing, or if the rule, or the
 * reason, compares nothing.  Without @say_psn a PSN that was found is left out, for a sentence that
 * has said it.
 */
void compared_add_rule(struct text *t, uint32_t rule, const struct compared *c, bool say_psn);
void compared_add_drop(struct text *t, uint32_t reason, const struct compared *c, bool say_psn);

#endif
