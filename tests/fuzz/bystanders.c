/* SPDX-License-Identifier: MIT */
#include "bystanders.h"

#include "emu/facts/enum/wc_status.h"

#define END_NS 20000000u

static bool messages_are_done(struct rdl_lab *lab, const struct testbed_side sides[2],
                              uint32_t messages, uint32_t done[2])
{
    struct rdl_wc wc[4];
    size_t n;

    for (unsigned side = 0; side < 2; side++) {
        must(rdl_poll_cq(lab, sides[side].cq, ARRAY_LEN(wc), wc, &n));
        for (size_t i = 0; i < n; i++)
            FUZZ_CHECK(wc[i].status == WCS_SUCCESS);
        done[side] += (uint32_t)n;
    }
    return done[0] == 2 * messages && done[1] == 2 * messages; /* sends and receives */
}

void bystanders_finish(struct rdl_lab *lab, const struct testbed_side sides[2], uint32_t messages,
                       bool (*tick)(const void *h, uint64_t until_ns), const void *h)
{
    const uint64_t until_ns = rdl_now_ns(lab) + END_NS;
    uint32_t done[2] = {0, 0};
    bool due = true;

    for (uint32_t i = 0; !messages_are_done(lab, sides, messages, done); i++) {
        FUZZ_CHECK(due && i < BYSTANDER_TICKS);
        due = tick(h, until_ns);
    }
}
