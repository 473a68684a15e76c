/* SPDX-License-Identifier: MIT */
/* The values that a rule of the protocol (rules.def) compared: the allowed range and the value
 * found.
 *
 * The event that reports a refusal contains these values.  The event therefore shows the expected
 * and the received PSN in addition to "by RESP_PSN".  compared.def describes the values of each
 * rule.
 */
#ifndef EMU_FACTS_COMPARED_H
#define EMU_FACTS_COMPARED_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/text.h"

/* The structure contains no values if @found is in the range @least .. @most, because no rule
 * refuses an allowed value.  PSNs wrap, so @least may be larger than @most.
 */
struct compared {
    uint64_t least, most; /* the same if only one value is allowed */
    uint64_t found;
};

/* Returns the values of a rule that allows only @expected. */
static inline struct compared compared_one(uint64_t expected, uint64_t found)
{
    return (struct compared){expected, expected, found};
}

/* Returns the values of a rule that allows @least .. @most. */
static inline struct compared compared_range(uint64_t least, uint64_t most, uint64_t found)
{
    return (struct compared){least, most, found};
}

/* Returns the structure without values, for a rule that compares none. */
static inline struct compared compared_nothing(void)
{
    return (struct compared){0, 0, 0};
}

/* Returns the values of a rule that has no expected value and reports @found alone. */
static inline struct compared compared_found(uint64_t found)
{
    return (struct compared){.found = found};
}

/* Returns the values of a rule that allows 0 .. @most. */
static inline struct compared compared_at_most(uint64_t most, uint64_t found)
{
    return (struct compared){0, most, found};
}

/* A rule that refused something, and the values that it compared. */
struct objection {
    uint32_t rule; /* enum rule */
    struct compared values;
};

/* Append the values @c of @rule (enum rule) or of @reason (enum drop_reason) to @t: ", expected
 * psn=50, found psn=100".  Append nothing if compared.def has no row for the rule or reason, or if
 * c->found is allowed.  If @say_psn is false, omit the part ", found psn=100", because the text
 * before it already contains the PSN.
 */
void compared_add_rule(struct text *t, uint32_t rule, const struct compared *c, bool say_psn);
void compared_add_drop(struct text *t, uint32_t reason, const struct compared *c, bool say_psn);

/* Appends the values @c that the reason @why (enum refusal_reason) compared: ", expected at most 16
 * entries, found 17".  Appends nothing for a reason that compares no values.
 */
void compared_add_refusal(struct text *t, uint32_t why, const struct compared *c);

/* Appends a set of enum access_bit in short: "lw,rw"; "none" if it is empty. */
void compared_add_access(struct text *t, uint64_t set);

#endif
