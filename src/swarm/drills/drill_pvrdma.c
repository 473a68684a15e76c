/* SPDX-License-Identifier: MIT */
/* The drill of pvrdma: access to the device, commands, the shared region, and the choice of steps.
 */
#include "swarm/drills/drill_pvrdma.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum_table.h"
#include "rdmalab/control.h"
#include "rdmalab/inspect.h"
#include "rdmalab/pci.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/kinds.h"

#define STEPS      96u
#define RAM_BYTES  ((uint64_t)16 << 20)
#define AREA_PAGES (HOSTILE_PAGES + 2)
#define POISON     0xeeu /* in the response slot before each command */
#define SMALLEST   2u    /* pages of a ring of the shared region */
/* Pages of the drill; those of the host's driver are lower. */
#define ZONE_AT ((uint64_t)12 << 20)

/* --- Access ----------------------------------------------------------------------------------- */

static struct rdl_pci_place place_of(uint32_t bar, uint32_t offset)
{
    return (struct rdl_pci_place){.number = pci_number_of(FN_RDMA),
                                  .space = RDL_PCI_BAR0 + (enum rdl_pci_space)bar,
                                  .offset = offset,
                                  .width = 4};
}

static void write_bar(struct drill *d, uint32_t bar, uint32_t offset, uint32_t value)
{
    const struct rdl_pci_place place = place_of(bar, offset);

    (void)drill_works(d, rdl_pci_write(d->lab, hostile_of(d)->host, &place, value),
                      "a register can be written");
}

void hostile_out(struct drill *d, enum pv_reg reg, uint32_t value)
{
    write_bar(d, PV_BAR_REGS, (uint32_t)reg, value);
}

void hostile_doorbell(struct drill *d, uint32_t page, uint32_t at, uint32_t value)
{
    struct rdl_pci_place place = place_of(PV_BAR_UAR, page * PV_UAR_BYTES + at);

    if (at <= PV_UAR_AT_SRQ && at % 4 == 0)
        place.width = 0; /* that of the doorbell there */
    (void)drill_works(d, rdl_pci_write(d->lab, hostile_of(d)->host, &place, value),
                      "a doorbell can be written");
}

uint32_t hostile_in(struct drill *d, enum pv_reg reg)
{
    const struct rdl_pci_place place = place_of(PV_BAR_REGS, (uint32_t)reg);
    uint64_t v = 0;

    (void)drill_works(d, rdl_pci_read(d->lab, hostile_of(d)->host, &place, &v),
                      "a register can be read");
    return (uint32_t)v;
}

bool hostile_put(struct drill *d, uint64_t at, const void *bytes, size_t n)
{
    return drill_works(d, rdl_ram_write(d->lab, hostile_of(d)->host, at, bytes, n),
                       "RAM can be written");
}

bool hostile_get(struct drill *d, uint64_t at, void *bytes, size_t n)
{
    return drill_works(d, rdl_ram_read(d->lab, hostile_of(d)->host, at, bytes, n),
                       "RAM can be read");
}

bool hostile_put32(struct drill *d, uint64_t at, uint32_t v)
{
    uint8_t le[4];

    st_le32(le, v);
    return hostile_put(d, at, le, sizeof(le));
}

uint32_t hostile_get32(struct drill *d, uint64_t at)
{
    uint8_t le[4] = {0};

    (void)hostile_get(d, at, le, sizeof(le));
    return ld_le32(le);
}

uint64_t hostile_no_page(struct drill *d)
{
    const uint64_t at = (uint64_t)PV_PAGE_BYTES * (1 + drill_below(d, 64));

    switch (drill_below(d, 4)) {
    case 0:
        return at + 1 + drill_below(d, PV_PAGE_BYTES - 1); /* no multiple of a page */
    case 1:
        return hostile_of(d)->ram_bytes + at - PV_PAGE_BYTES;
    case 2:
        return UINT64_MAX - (PV_PAGE_BYTES - 1);
    default:
        return (uint64_t)1 << (32 + drill_below(d, 32));
    }
}

static bool put_address(struct drill *d, uint64_t at, uint64_t v)
{
    uint8_t le[8];

    st_le64(le, v);
    return hostile_put(d, at, le, sizeof(le));
}

bool hostile_directory(struct drill *d, const struct hostile_directory *p, uint32_t n, bool lie,
                       uint64_t *ret_at, uint32_t *ret_why)
{
    static const uint8_t zeros[PV_PAGE_BYTES];
    const uint32_t wrong = lie ? drill_below(d, n + 2) : n + 2;

    RDL_ASSERT(n <= HOSTILE_PAGES);
    *ret_at = wrong == n ? hostile_no_page(d) : p->dir;
    *ret_why = !lie ? REF_NONE : wrong < n ? REF_PAGE_MEMORY : REF_PAGE_LIST_MEMORY;
    if (!put_address(d, p->dir, wrong == n + 1 && lie ? hostile_no_page(d) : p->table))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!put_address(d, p->table + 8 * (uint64_t)i,
                         i == wrong ? hostile_no_page(d) : p->page[i]) ||
            !hostile_put(d, p->page[i], zeros, sizeof(zeros)))
            return false;
    }
    return true;
}

/* Gives @p pages of its own, the area number @area of the zone, in any order. */
static void place(struct drill *d, struct hostile_directory *p, uint32_t area)
{
    uint64_t at[AREA_PAGES];

    for (uint32_t i = 0; i < AREA_PAGES; i++)
        at[i] = ZONE_AT + (uint64_t)PV_PAGE_BYTES * (area * AREA_PAGES + i);
    for (uint32_t i = AREA_PAGES - 1; i > 0; i--) {
        const uint32_t k = drill_below(d, i + 1);
        const uint64_t other = at[k];

        at[k] = at[i];
        at[i] = other;
    }
    p->dir = at[0];
    p->table = at[1];
    memcpy(p->page, at + 2, sizeof(p->page));
}

/* --- Commands --------------------------------------------------------------------------------- */

static bool interrupts_are_right(struct drill *d)
{
    return drill_number_is(d, "h1.device.info.interrupts", hostile_of(d)->n_interrupts,
                           "a driver is interrupted for each answer that it waits for, each event "
                           "and each notification, and for nothing else");
}

static bool response_is(struct drill *d, const struct hostile_command *c, uint64_t id, void *ret,
                        size_t n)
{
    const struct pv_command_info *info = pv_command_info(c->number);
    const uint32_t error = (uint32_t)refusal_errno(refusal_kind(c->why));
    const uint32_t bytes = error ? PV_HEADER_BYTES : info->response_bytes;
    uint8_t have[PV_RESPONSE_BYTES_MAX + 8];
    struct pv_raw_response raw;
    struct pv_response r;

    if (!hostile_get(d, hostile_of(d)->response, have, sizeof(have)))
        return false;
    memcpy(&raw, have, sizeof(raw));
    pv_response_get(&r, &raw);
    if (!drill_expect(d, r.response == id && r.ack == (c->number | PV_ACK) && r.err == error,
                      "a response names its request, its command and its error",
                      "request 0x%" PRIx64 ", acknowledged 0x%x, error %u and not %u", r.response,
                      r.ack, r.err, error))
        return false;
    for (uint32_t i = bytes; i < sizeof(have); i++) {
        if (!drill_expect(d, have[i] == POISON, "a device writes a response and nothing behind it",
                          "byte %u of the response of command %u", i, c->number))
            return false;
    }
    if (ret && !error)
        memcpy(ret, have + PV_HEADER_BYTES, n);
    return true;
}

static bool reason_is(struct drill *d, const struct hostile_command *c, uint32_t err)
{
    const struct pv_command_info *info = pv_command_info(c->number);
    const bool answered = info && info->end == PV_END_ANSWERED;
    const uint32_t error = (uint32_t)refusal_errno(refusal_kind(c->why));
    struct rdl_refusal r;

    return drill_works(d, rdl_last_refusal(d->lab, hostile_of(d)->host, &r),
                       "a device has a last refusal") &&
           drill_expect(d, err == (answered ? 0 : error) && r.reason == c->why,
                        "a command is refused for its lie, and otherwise carried out",
                        "command %u: ERR %u and %s, and not %u and %s", c->number, err,
                        enum_name(&enum_refusal, r.reason), answered ? 0 : error,
                        enum_name(&enum_refusal, c->why));
}

bool hostile_ask(struct drill *d, const struct hostile_command *c, void *ret, size_t n)
{
    struct hostile_driver *s = hostile_of(d);
    const struct pv_command_info *info = pv_command_info(c->number);
    const struct pv_request header = {.response = prng_next(&d->rng), .cmd = c->number};
    uint8_t request[PV_REQUEST_BYTES_MAX] = {0}, poison[PV_RESPONSE_BYTES_MAX + 8];
    struct pv_raw_request raw;
    bool told;

    RDL_ASSERT(PV_HEADER_BYTES + c->bytes <= sizeof(request));
    memset(poison, POISON, sizeof(poison));
    pv_request_put(&raw, &header);
    memcpy(request, &raw, sizeof(raw));
    if (c->bytes > 0)
        memcpy(request + PV_HEADER_BYTES, c->body, c->bytes);
    if (!hostile_put(d, s->command, request, sizeof(request)) ||
        !hostile_put(d, s->response, poison, sizeof(poison)))
        return false;
    hostile_out(d, PVR_REQUEST, 0);
    told = info && (info->end == PV_END_ANSWERED || (info->end == PV_END_WAITED && !c->why));
    s->n_interrupts += told;
    return reason_is(d, c, hostile_in(d, PVR_ERR)) && response_is(d, c, header.response, ret, n) &&
           (c->has_effects || interrupts_are_right(d));
}

/* --- The shared region ------------------------------------------------------------------------ */

static void forget_objects(struct hostile_driver *s)
{
    for (uint32_t kind = 0; kind < HOSTILE_KINDS; kind++) {
        for (uint32_t i = 0; i < HOSTILE_SLOTS; i++) {
            const struct hostile_directory pages = s->object[kind][i].pages;

            s->object[kind][i] = (struct hostile_object){.handle = HOSTILE_NOTHING, .pages = pages};
        }
    }
    s->object[HOSTILE_UC][0].handle = 0; /* the kernel's, which nobody creates */
    s->object[HOSTILE_UC][0].users = 1;  /* nor destroys */
    memset(s->gid, 0, sizeof(s->gid));
    s->n_interrupts = s->n_bad = 0;
}

/* Describes a ring of the shared region in @raw. */
static bool describe(struct drill *d, const struct hostile_directory *p, uint32_t entry_bytes,
                     bool lie, uint8_t raw[16], struct hostile_ring *ret, uint32_t *ret_why)
{
    const uint32_t n = SMALLEST + drill_below(d, HOSTILE_PAGES - SMALLEST + 1);
    const bool of_count = lie && drill_one_in(d, 3);
    struct pv_ring_pages said = {.pages = n};
    struct pv_raw_ring_pages bytes;

    if (!hostile_directory(d, p, n, lie && !of_count, &said.pdir, ret_why))
        return false;
    if (of_count) {
        said.pages = drill_one_in(d, 2) ? drill_below(d, SMALLEST) : PV_PAGES_MAX + 1;
        *ret_why = REF_PAGE_LIST_LENGTH;
    }
    pv_ring_pages_put(&bytes, &said);
    memcpy(raw, &bytes, sizeof(bytes));
    *ret = (struct hostile_ring){.state = p->page[0] + PV_RING_RX,
                                 .first_page = 1,
                                 .n = pv_slots_used((n - 1) * PV_PAGE_BYTES / entry_bytes),
                                 .slot_bytes = entry_bytes};
    return true;
}

/* Fills @ret, the shared region.  If @lie, one of its fields is wrong: *@ret_why says why. */
static bool make_region(struct drill *d, bool lie, struct pv_dsr *ret, uint32_t *ret_why)
{
    struct hostile_driver *s = hostile_of(d);
    const uint32_t wrong = lie ? drill_below(d, 4) : 4;
    uint32_t why[2];

    *ret = (struct pv_dsr){.driver_version = PV_VERSION_LEAST - 1 + drill_below(d, 6),
                           .response_slot = s->response,
                           .uar_pfn = s->uar_pfn};
    ret->command_slot = wrong == 2 ? hostile_no_page(d) : s->command;
    if (wrong == 3)
        ret->response_slot = drill_one_in(d, 2) ? hostile_no_page(d) : ret->command_slot;
    if (!describe(d, &s->event_pages, PV_BYTES_async_event, wrong == 0, ret->async, &s->events,
                  &why[0]) ||
        !describe(d, &s->note_pages, PV_BYTES_cq_note, wrong == 1, ret->cq, &s->notes, &why[1]))
        return false;
    *ret_why = wrong >= 2 ? lie ? REF_PAGE_MEMORY : REF_NONE : why[wrong];
    s->version = ret->driver_version < PV_VERSION_LEAST ? PV_VERSION_LEAST : ret->driver_version;
    if (s->version > s->device_version)
        s->version = s->device_version;
    return true;
}

static bool err_is(struct drill *d, uint32_t want, const char *what)
{
    const uint32_t have = hostile_in(d, PVR_ERR);

    return drill_expect(d, have == want, what, "ERR is %u, and not %u", have, want);
}

static bool capabilities_are_right(struct drill *d)
{
    const struct hostile_driver *s = hostile_of(d);
    struct pv_raw_caps raw;
    struct pv_caps c;

    if (!hostile_get(d, s->region + offsetof(struct pv_raw_dsr, caps), &raw, sizeof(raw)))
        return false;
    pv_caps_get(&c, &raw);
    return drill_expect(
        d,
        c.gid_types == hostile_gid_type(s) && c.max_qp == s->max_qp + 1 && c.max_cq == s->max_cq &&
            c.max_srq == s->max_srq && c.max_pd == s->max_pd && c.max_mr == s->max_mr &&
            c.max_cqe == s->max_cqe && c.max_qp_wr == s->max_qp_wr && c.max_sge == s->max_sge,
        "a device tells its driver what it has", "GID type %u, %u QPs, %u CQs", c.gid_types,
        c.max_qp, c.max_cq);
}

/* Shares the region with one lie, or none, and checks what the device makes of it. */
static bool share(struct drill *d, bool lie)
{
    struct hostile_driver *s = hostile_of(d);
    static const uint8_t nothing[sizeof(struct pv_raw_caps)];
    const uint64_t caps = s->region + offsetof(struct pv_raw_dsr, caps);
    struct pv_raw_dsr raw;
    struct pv_dsr dsr;
    uint8_t have[sizeof(nothing)];
    uint32_t why;

    if (!make_region(d, lie, &dsr, &why))
        return false;
    pv_dsr_put(&raw, &dsr);
    if (!hostile_put(d, s->region, &raw, sizeof(raw)))
        return false;
    hostile_out(d, PVR_DSRLOW, (uint32_t)s->region);
    hostile_out(d, PVR_DSRHIGH, (uint32_t)(s->region >> 32));
    forget_objects(s);
    if (!err_is(d, (uint32_t)refusal_errno(refusal_kind(why)),
                "a device refuses a region for a lie in it, and takes any other"))
        return false;
    if (!lie)
        return capabilities_are_right(d);
    if (!hostile_get(d, caps, have, sizeof(have)) ||
        !drill_expect(d, memcmp(have, nothing, sizeof(have)) == 0,
                      "a device writes nothing into a region that it refuses",
                      "it wrote capabilities"))
        return false;
    hostile_out(d, PVR_CTL, PV_CTL_ACTIVATE);
    hostile_out(d, PVR_REQUEST, 0);
    return err_is(d, EIO, "a device without a region executes no command");
}

/* A new driver: reset, region, activation.  Nothing of before is left. */
static void step_driver(struct drill *d)
{
    if (drill_one_in(d, 2))
        hostile_out(d, PVR_CTL, PV_CTL_RESET);
    if (drill_one_in(d, 2) && !share(d, true))
        return;
    if (!share(d, false))
        return;
    hostile_out(d, PVR_CTL, PV_CTL_ACTIVATE);
    if (!err_is(d, 0, "a device that has a region can be activated"))
        return;
    if (drill_one_in(d, 2)) {
        hostile_out(d, PVR_CTL, PV_CTL_ACTIVATE + 3 * (1 + drill_below(d, 5)));
        if (!err_is(d, EINVAL, "a device refuses a value of CTL that is none"))
            return;
    }
    hostile_out(d, PVR_CTL, PV_CTL_UNQUIESCE);
    (void)err_is(d, 0, "a device that is active can be unquiesced");
}

/* --- Setup and steps -------------------------------------------------------------------------- */

static bool add_host(struct drill *d)
{
    struct hostile_driver *s = hostile_of(d);
    const struct rdl_host_config h1 = {.name = "h1",
                                       .device = DEVICE_pvrdma,
                                       .version = s->device_version,
                                       .ram_bytes = s->ram_bytes,
                                       .max_qp = s->max_qp,
                                       .max_cq = s->max_cq,
                                       .max_srq = s->max_srq,
                                       .limits = {.max_pd = s->max_pd,
                                                  .max_mr = s->max_mr,
                                                  .max_qp_wr = s->max_qp_wr,
                                                  .max_cqe = s->max_cqe,
                                                  .max_send_sge = s->max_sge,
                                                  .max_recv_sge = s->max_sge,
                                                  .max_sge_rd = 1}};
    const struct rdl_host_config h2 = {.name = "h2", .device = drill_device(d, 1)};
    const struct rdl_link_config link = {.a = "h1", .b = "h2", .latency_ns = 1000};
    rdl_host other;
    rdl_link made;

    return drill_works(d, rdl_host_add(d->lab, &h1, &s->host), "a host can be added") &&
           drill_works(d, rdl_host_add(d->lab, &h2, &other), "a host can be added") &&
           drill_works(d, rdl_link_add(d->lab, &link, &made), "a link can be added") &&
           drill_works(d, rdl_host_address(d->lab, s->host, 0, s->own_gid, s->mac),
                       "a host has an address") &&
           drill_settle(d);
}

static bool find_doorbells(struct drill *d)
{
    struct hostile_driver *s = hostile_of(d);
    struct rdl_pci_place bar = {.number = pci_number_of(FN_RDMA),
                                .space = RDL_PCI_CONFIG,
                                .offset = PCI_BAR0 + 4 * PV_BAR_UAR,
                                .width = 4};
    uint64_t v = 0;

    if (!drill_works(d, rdl_pci_read(d->lab, s->host, &bar, &v), "a BAR can be read"))
        return false;
    s->uar_pfn = (uint32_t)v / PV_PAGE_BYTES;
    return true;
}

static void set_up(struct drill *d)
{
    struct hostile_driver *s = hostile_of(d);
    uint32_t area = 1;

    s->ram_bytes = RAM_BYTES;
    s->device_version = PV_VERSION_LEAST + drill_below(d, 4);
    s->max_qp = 3 + drill_below(d, 4);
    s->max_cq = 2 + drill_below(d, 4);
    s->max_srq = 1 + drill_below(d, 3);
    s->max_pd = 2 + drill_below(d, 4);
    s->max_mr = 2 + drill_below(d, 4);
    s->max_qp_wr = 4u << drill_below(d, 3);
    s->max_cqe = 16u << drill_below(d, 3);
    s->max_sge = 1u << drill_below(d, 3);
    s->region = ZONE_AT;
    s->command = ZONE_AT + PV_PAGE_BYTES;
    s->response = s->command + PV_PAGE_BYTES;
    d->n_unsaid++;
    place(d, &s->event_pages, area++);
    place(d, &s->note_pages, area++);
    for (uint32_t kind = 0; kind < HOSTILE_KINDS; kind++) {
        for (uint32_t i = 0; i < HOSTILE_SLOTS; i++)
            place(d, &s->object[kind][i].pages, area++);
    }
    if (!add_host(d) || !find_doorbells(d))
        return;
    step_driver(d);
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {
        hostile_step_object, hostile_step_object, hostile_step_object, hostile_step_object,
        hostile_step_object, hostile_step_object, hostile_step_gid,    hostile_step_query,
        hostile_step_query,  hostile_step_flush,  hostile_step_flush,  hostile_step_flush,
        hostile_step_send,   hostile_step_send,   hostile_step_send,   hostile_step_doorbell,
    };

    d->n_unsaid++;
    if (drill_one_in(d, 24))
        step_driver(d);
    else
        steps[drill_below(d, ARRAY_LEN(steps))](d);
    if (!d->wrong)
        (void)hostile_is_quiet(d);
}

/* A new driver finds the device as after power-on, after any steps. */
static void finish(struct drill *d)
{
    uint32_t qp;

    step_driver(d);
    if (!d->wrong && hostile_make_qp(d, QPT_RC, &qp))
        (void)drill_expect(d, qp < HOSTILE_SLOTS, "a new driver can make a queue pair",
                           "it cannot");
}

const struct drill_kind drill_of_pvrdma = {.name = "pvrdma",
                                           .bytes = sizeof(struct hostile_driver),
                                           .steps = STEPS,
                                           .set_up = set_up,
                                           .take = take,
                                           .finish = finish,
                                           .any_device = true};
