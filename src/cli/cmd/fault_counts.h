/* SPDX-License-Identifier: MIT */
/* The matches that a fault hits, as its parameters nth, every and count say. */
#ifndef CLI_CMD_FAULT_COUNTS_H
#define CLI_CMD_FAULT_COUNTS_H

#include "cli/lang/script.h"
#include "rdmalab/fault.h"

/* The members of the same name of struct rdl_fault_config. */
struct fault_counts {
    uint32_t nth, every, count;
};

/* Reads the counts of the fault @st.  With every=3 alone it hits the matches 3, 6, 9 and so on. */
static inline struct fault_counts fault_counts_of(const struct step *st)
{
    const bool periodic = step_has(st, "every");
    const uint32_t every = (uint32_t)step_number_or(st, "every", 1);
    const uint32_t count =
        periodic ? (uint32_t)step_number_or(st, "count", 0) : (uint32_t)step_number(st, "count");

    return (struct fault_counts){
        .nth = periodic ? (uint32_t)step_number_or(st, "nth", every)
                        : (uint32_t)step_number(st, "nth"),
        .every = every,
        .count = count ? count : RDL_ANY,
    };
}

#endif
