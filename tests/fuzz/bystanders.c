/* SPDX-License-Identifier: MIT */
#include "bystanders.h"

#include "emu/facts/enum/wc_status.h"

void bystanders_add_hosts(struct rdl_lab *lab, const struct rdl_host_config *h1,
                          rdl_host ret[BYSTANDER_HOSTS])
{
    const struct rdl_host_config hosts[BYSTANDER_HOSTS] = {
        *h1,
        {.name = "h2", .ram_bytes = h1->ram_bytes},
        {.name = "h3", .ram_bytes = h1->ram_bytes}};
    struct rdl_link_config link = {.b = "sw", .latency_ns = 1000};
    rdl_switch sw;
    rdl_link made;

    must(rdl_switch_add(lab, "sw", &sw));
    for (unsigned i = 0; i < BYSTANDER_HOSTS; i++) {
        must(rdl_host_add(lab, &hosts[i], &ret[i]));
        link.a = hosts[i].name;
        must(rdl_link_add(lab, &link, &made));
    }
}

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
