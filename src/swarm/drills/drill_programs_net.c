/* SPDX-License-Identifier: MIT */
/* The drill of programs: pings, neighbours that are forgotten, and virtio-net without bus
 * mastering.
 */
#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/pci_field.h"
#include "rdmalab/ip.h"
#include "rdmalab/pci.h"
#include "swarm/drills/drill_programs.h"

#define PINGS        32u
#define NET          0u /* number of the PCI function */
#define SECOND       UINT64_C(1000000000)
#define VALID_NS     (60 * SECOND) /* for which a neighbour is known */
#define ROUND_TRIP   (50 * UINT64_C(1000))
#define TIMEOUT_STEP 10000u
#define TIGHT_BELOW  ((uint64_t)64 << 20) /* with less RAM the queues are short */

struct program_ping {
    rdl_ping_id id;
    uint64_t due_ns; /* when it is lost */
    uint32_t bytes;
};

/* --- Neighbours ------------------------------------------------------------------------------- */

static bool sent_frames(struct drill *d, uint64_t *ret)
{
    return drill_number(d, "h1.ip.sent_frames", ret);
}

/* Sends a ping to @address, which must end with @want and take @frames frames.  *@ret_ns: the time
 * until its end.
 */
static bool ping_once(struct drill *d, const uint8_t address[16], enum rdl_status want,
                      uint32_t frames)
{
    struct programs *s = programs_of(d);
    struct rdl_ping_config c = {.bytes = drill_below(d, 100)};
    const struct rdl_limits limits = {.ticks = 100000};
    struct rdl_ping_result r = {0};
    uint64_t before, after;
    enum rdl_status st;
    rdl_ping_id id;

    memcpy(c.address, address, sizeof(c.address));
    if (!sent_frames(d, &before) ||
        !drill_works(d, rdl_ping(d->lab, s->host, &c, &id), "a host can send a ping") ||
        !drill_works(d, rdl_ping_wait(d->lab, id, limits), "a ping ends"))
        return false;
    st = rdl_ping_result(d->lab, id, &r);
    return drill_expect(d, st == want && r.bytes == c.bytes,
                        "a ping is answered by who is there, and lost otherwise",
                        "%s, and not %s; %u bytes", rdl_status_name(st), rdl_status_name(want),
                        r.bytes) &&
           sent_frames(d, &after) &&
           drill_expect(d, after - before == frames,
                        "a host asks for an address that it does not know, or no longer",
                        "%" PRIu64 " frames, and not %u", after - before, frames);
}

/* A neighbour is known for a minute after it was heard.  Nobody has the third address. */
void programs_neighbours(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t family = drill_below(d, 2);
    const uint8_t *gid = s->other_gid[family];
    uint8_t nobody[16];
    uint64_t begun;

    if (!s->is_up)
        return;
    if (!drill_run_for(d, VALID_NS) || !ping_once(d, gid, RDL_OK, s->arp ? 2 : 1))
        return;
    /* It answered a few microseconds ago, and pings do not count as hearing. */
    if (!drill_run_for(d, VALID_NS - 10 * ROUND_TRIP) || !ping_once(d, gid, RDL_OK, 1) ||
        !drill_run_for(d, 10 * ROUND_TRIP) || !ping_once(d, gid, RDL_OK, s->arp ? 2 : 1))
        return;
    memcpy(nobody, gid, 16);
    nobody[15] ^= 0x20;
    begun = rdl_now_ns(d->lab);
    if (!ping_once(d, nobody, RDL_ERR_TIMEOUT, 1) || !drill_settle(d))
        return;
    begun = rdl_now_ns(d->lab) - begun;
    (void)drill_expect(d, begun == 3 * SECOND, "a host asks three times, once a second",
                       "%" PRIu64 " ns", begun);
}

/* --- Many pings ------------------------------------------------------------------------------- */

static bool set_master(struct drill *d, bool on)
{
    const struct rdl_pci_place place = {
        .number = NET, .space = RDL_PCI_CONFIG, .offset = PCI_COMMAND, .width = 2};
    struct programs *s = programs_of(d);
    uint64_t v;

    return drill_works(d, rdl_pci_read(d->lab, s->host, &place, &v), "a register can be read") &&
           drill_works(d,
                       rdl_pci_write(d->lab, s->host, &place,
                                     on ? v | PCI_CMD_MASTER : v & ~(uint64_t)PCI_CMD_MASTER),
                       "a register can be written");
}

/* Sends @n pings to the other host. */
static bool send_pings(struct drill *d, struct program_ping *p, uint32_t n, uint64_t least_ns)
{
    struct programs *s = programs_of(d);

    for (uint32_t i = 0; i < n; i++) {
        struct rdl_ping_config c = {.bytes = drill_below(d, 1400),
                                    .timeout_ns = least_ns + drill_below(d, 100) * TIMEOUT_STEP};

        memcpy(c.address, s->other_gid[drill_below(d, 2)], sizeof(c.address));
        p[i].due_ns = rdl_now_ns(d->lab) + c.timeout_ns;
        p[i].bytes = c.bytes;
        if (!drill_works(d, rdl_ping(d->lab, s->host, &c, &p[i].id), "a host can send a ping"))
            return false;
    }
    return true;
}

/* Checks that ping @p is in the state @want. */
static bool ping_is(struct drill *d, const struct program_ping *p, enum rdl_status want,
                    uint64_t least_ns)
{
    struct rdl_ping_result r = {0};
    const enum rdl_status st = rdl_ping_result(d->lab, p->id, &r);

    return drill_expect(d, st == want && r.bytes == p->bytes && r.rtt_ns >= least_ns,
                        "a ping is answered, or lost when its time is over",
                        "%s, and not %s; %u bytes, %" PRIu64 " ns", rdl_status_name(st),
                        rdl_status_name(want), r.bytes, r.rtt_ns);
}

/* Returns the most pings that the queue of virtio-net has room for. */
static uint32_t most_at_a_time(const struct programs *s)
{
    return s->ram_bytes < TIGHT_BELOW ? 6 : PINGS / 2;
}

/* Makes both addresses of the other host known. */
static bool meet(struct drill *d)
{
    struct programs *s = programs_of(d);

    for (uint32_t i = 0; i < 2; i++) {
        struct rdl_ping_config c = {.bytes = 1};
        rdl_ping_id id;

        memcpy(c.address, s->other_gid[i], sizeof(c.address));
        if (!drill_works(d, rdl_ping(d->lab, s->host, &c, &id), "a host can send a ping") ||
            !drill_settle(d))
            return false;
    }
    return true;
}

/* Pings that virtio-net may not send yet wait until it may. */
void programs_master(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t n = 1 + drill_below(d, most_at_a_time(s)), early = drill_below(d, n + 1);
    const uint64_t off_ns = 1 + drill_below(d, 100000);
    struct program_ping p[PINGS];

    if (!s->is_up || !meet(d) || !send_pings(d, p, early, SECOND) || !set_master(d, false) ||
        !send_pings(d, p + early, n - early, SECOND) || !drill_run_for(d, off_ns))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!ping_is(d, &p[i], RDL_ERR_BUSY, 0))
            return;
    }
    if (!set_master(d, true) || !drill_settle(d))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!ping_is(d, &p[i], RDL_OK, off_ns))
            return;
    }
}

/* Pings of which some are answered, while the others are lost, each at its own time. */
void programs_timeouts(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t answered = drill_below(d, most_at_a_time(s)),
                   lost = 1 + drill_below(d, PINGS - answered - 1);
    struct program_ping p[PINGS];

    if (!s->is_up || !meet(d) || !send_pings(d, p + lost, answered, ROUND_TRIP) ||
        !drill_run_for(d, ROUND_TRIP - TIMEOUT_STEP) ||
        !drill_works(d, rdl_link_raise(d->lab, s->link, false), "a link goes down") ||
        !send_pings(d, p, lost, ROUND_TRIP))
        return;
    for (uint32_t i = 0; i < answered; i++) {
        if (!ping_is(d, &p[lost + i], RDL_OK, 1))
            return;
    }
    for (uint32_t left = lost; left > 0; left--) {
        uint32_t next = 0;

        for (uint32_t i = 1; i < left; i++)
            next = p[i].due_ns < p[next].due_ns ? i : next;
        if (p[next].due_ns > rdl_now_ns(d->lab) &&
            (!drill_run_until(d, p[next].due_ns - 1) || !ping_is(d, &p[next], RDL_ERR_BUSY, 0)))
            return;
        if (!drill_run_until(d, p[next].due_ns) || !ping_is(d, &p[next], RDL_ERR_TIMEOUT, 0))
            return;
        p[next] = p[left - 1];
    }
    if (drill_works(d, rdl_link_raise(d->lab, s->link, true), "a link goes up"))
        (void)drill_settle(d);
}
