/* SPDX-License-Identifier: MIT */
/* The values that a rule compared: the allowed range and the value found.
 *
 * A verdict carries them into the event that reports it.  The event therefore shows the expected
 * and the received PSN in addition to "by RESP_PSN".  compared.def describes the values of each
 * rule.
 */
#ifndef EMU_FACTS_COMPARED_H
#define EMU_FACTS_COMPARED_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/text.h"

/* If @found is between @least and @most, there are no values: no rule refuses such a value.  PSNs
 * wrap, so @least may be larger than @most.
 */
struct compared {
    uint64_t least, most; /* the same if only one value is allowed */
    uint64_t found;
};

/* The rule allows only the value @expected. */
static inline struct compared compared_one(uint64_t expected, uint64_t found)
{
    return (struct compared){expected, expected, found};
}

/* The rule allows the values from @least to @most. */
static inline struct compared compared_range(uint64_t least, uint64_t most, uint64_t found)
{
    return (struct compared){least, most, found};
}

/* The rule compares no values. */
static inline struct compared compared_nothing(void)
{
    return (struct compared){0, 0, 0};
}

/* The rule has no expected value and reports @found alone. */
static inline struct compared compared_found(uint64_t found)
{
    return (struct compared){.found = found};
}

/* The rule allows the values from 0 to @most. */
static inline struct compared compared_at_most(uint64_t most, uint64_t found)
{
    return (struct compared){0, most, found};
}

/* A rule that refused something, and the values that it compared. */
struct objection {
    uint32_t rule; /* enum rule */
    struct compared values;
};

/* Append the values @c of a rule (enum rule) or of a drop reason (enum drop_reason): ", expected
 * psn=50, found psn=100".  Append nothing if compared.def has no row for it, or if c->found is
 * allowed.  Without @say_psn the part ", found psn=100" is omitted, for a sentence that has already
 * named the PSN.
 */
void compared_add_rule(struct text *t, uint32_t rule, const struct compared *c, bool say_psn);
void compared_add_drop(struct text *t, uint32_t reason, const struct compared *c, bool say_psn);

#endif
