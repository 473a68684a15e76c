/* SPDX-License-Identifier: MIT */
/* The PCI function of PVRDMA: registers, phases, interrupts, reset; and the device for its host. */
#include <errno.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/device/pvrdma/internal.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/pvrdma.h"

#define AT_EXPRESS 0x40u
#define AT_MSIX    0x80u

/* --- Phases ----------------------------------------------------------------------------------- */

void pv_set_phase(struct pvrdma *d, enum pv_phase to)
{
    if (d->phase == to)
        return;
    TRACE(d->nic.trace, pv_phase, .host = d->config.nic.host, .from = d->phase, .to = to);
    d->phase = to;
}

/* Frees the pages of all rings.  The objects are gone. */
static void forget_rings(struct pvrdma *d)
{
    const struct rnic_config *c = &d->config.nic;
    struct hca *h = &d->nic.hca;

    for (uint32_t i = 0; i <= c->max_qp; i++) {
        const bool due[] = {d->qps[i].wq[0].due, d->qps[i].wq[1].due};

        pv_pages_free(h, &d->qps[i].pages);
        d->qps[i] = (struct pv_qp){.wq = {{.due = due[0]}, {.due = due[1]}}}; /* it will arrive */
    }
    for (uint32_t i = 0; i <= c->max_cq; i++) {
        pv_pages_free(h, &d->cqs[i].pages);
        d->cqs[i] = (struct pv_cq){.note_due = false};
    }
    for (uint32_t i = 0; i <= c->max_srq; i++) {
        pv_pages_free(h, &d->srqs[i].pages);
        d->srqs[i] = (struct pv_srq){.ring = {.pages = NULL}};
    }
    pv_pages_free(h, &d->events.pages);
    pv_pages_free(h, &d->notes.pages);
    d->events = d->notes = (struct pv_shared_ring){.ring = {.pages = NULL}};
}

/* Enters PV_RESET: no object, no region, no interrupt.  IMR keeps its value. */
static void reset(struct pvrdma *d)
{
    pv_set_phase(d, PV_RESET); /* from here on nothing is written to memory */
    rnic_reset(&d->nic);
    forget_rings(d);
    memset(d->pd_uc, 0, (d->config.nic.limits.max_pd + 1) * sizeof(*d->pd_uc));
    memset(d->ucs, 0, PV_UAR_PAGES * sizeof(*d->ucs));
    d->ucs[0].used = true;
    d->unquiesced = false;
    d->version = d->dsr_low = d->err = d->icr = d->n_notes_due = 0;
    d->region = d->command_slot = d->response_slot = 0;
    d->count = (struct pv_counters){0};
    d->late.due = false;
    fn_forget_pending(&d->fn);
}

/* DSRHIGH was written: the address is complete. */
static void share(struct pvrdma *d, uint32_t high)
{
    const uint64_t gpa = (uint64_t)high << 32 | d->dsr_low;
    enum refusal_reason why;

    reset(d);
    d->dsr_low = (uint32_t)gpa;
    why = pv_share(d, gpa);
    d->err = (uint32_t)refusal_errno(refusal_kind(why));
    if (why != REF_NONE)
        forget_rings(d);
}

static void control(struct pvrdma *d, uint32_t value)
{
    if (value == PV_CTL_RESET) {
        reset(d);
        return;
    }
    if (value == PV_CTL_ACTIVATE && d->phase == PV_SHARED) {
        pv_set_phase(d, PV_ACTIVE);
        d->err = 0;
    } else if (value == PV_CTL_UNQUIESCE && d->phase == PV_ACTIVE) {
        d->unquiesced = true;
        d->err = 0;
    } else if (d->err == 0) {
        d->err = EINVAL;
    }
}

/* --- Interrupts ------------------------------------------------------------------------------- */

/* Raises the reasons of ICR that IMR does not hold back.  With MSI-X they are then gone. */
static void raise_held(struct pvrdma *d)
{
    if (!d->fn.msix_enabled) {
        fn_reason_changed(&d->fn);
        return;
    }
    for (uint32_t v = 0; v < PV_VECTORS; v++) {
        if ((d->icr & ~d->imr & 1u << v) == 0)
            continue;
        d->icr &= ~(1u << v);
        fn_raise(&d->fn, v, v);
    }
}

/* The ring with the number @queue, or NULL if it has none. */
static const struct pv_ring *ring_of(const struct pvrdma *d, uint32_t queue)
{
    const uint32_t first_srq = pv_srq_queue(d, 0), first_cq = pv_cq_queue(d, 0);

    if (queue == PV_QUEUE_EVENTS)
        return &d->events.ring;
    if (queue == PV_QUEUE_COMMANDS || queue > first_cq + d->config.nic.max_cq)
        return NULL;
    if (queue > first_cq)
        return &d->cqs[queue - first_cq].ring;
    if (queue > first_srq)
        return &d->srqs[queue - first_srq].ring;
    return &d->qps[queue / 2].wq[queue % 2 ? WQ_RECV : WQ_SEND].ring;
}

struct device_fault *pv_fault_hits(struct pvrdma *d, uint32_t kind, uint32_t queue)
{
    const struct pv_ring *r = ring_of(d, queue);
    const struct fault_place place = {.sim = d->fn.sim,
                                      .host = d->config.nic.host,
                                      .function = FN_RDMA,
                                      .queue = queue,
                                      .taken = r ? r->idx : 0,
                                      .returned = r ? r->over : 0};

    return d->faults ? device_fault_hits(&d->faults, kind, &place) : NULL;
}

void pv_raise(struct pvrdma *d, enum pv_vector vector, uint32_t queue)
{
    if (d->nic.booting || !fn_can_raise(&d->fn, (uint32_t)vector))
        return;
    if (pv_fault_hits(d, FLT_LOST_INTERRUPT, queue))
        return;
    d->count.interrupts++;
    if (d->imr & 1u << vector)
        d->icr |= 1u << vector;
    else
        fn_raise(&d->fn, (uint32_t)vector, (uint32_t)vector);
}

/* An interrupt without MSI-X: @queue is its enum pv_vector. */
static void interrupt(void *dev, uint32_t queue)
{
    struct pvrdma *d = dev;

    if (queue < PV_VECTORS)
        d->icr |= 1u << queue;
}

static bool has_reason(const void *dev)
{
    const struct pvrdma *d = dev;

    return (d->icr & ~d->imr) != 0;
}

/* --- Registers -------------------------------------------------------------------------------- */

static uint32_t take_icr(struct pvrdma *d)
{
    const uint32_t icr = d->icr;

    d->icr = 0;
    return icr;
}

static uint32_t read_reg(struct pvrdma *d, uint32_t offset)
{
    const uint8_t *mac = d->config.nic.mac;

    switch (offset) {
    case PVR_VERSION:
        return d->config.pvrdma.version;
    case PVR_ERR:
        return d->err;
    case PVR_ICR:
        return take_icr(d);
    case PVR_IMR:
        return d->imr;
    case PVR_MACL:
        return ld_le32(mac);
    case PVR_MACH:
        return ld_le16(mac + 4);
    default:
        return 0;
    }
}

static void write_reg(struct pvrdma *d, uint32_t offset, uint32_t value)
{
    switch (offset) {
    case PVR_DSRLOW:
        d->dsr_low = value;
        break;
    case PVR_DSRHIGH:
        share(d, value);
        break;
    case PVR_CTL:
        control(d, value);
        break;
    case PVR_REQUEST:
        if (value == 0)
            pv_command_run(d);
        else
            d->err = EINVAL;
        break;
    case PVR_IMR:
        d->imr = value;
        raise_held(d);
        break;
    default:
        break;
    }
}

static bool is_reg(uint32_t offset)
{
    return offset <= PVR_MACH && offset % 4 == 0;
}

/* Writes a register.  All that follows has this event as its cause. */
static void traced_write(struct pvrdma *d, uint32_t offset, uint32_t value)
{
    struct trace *t = d->nic.trace;
    ev_id write, cause;

    if (!is_reg(offset))
        return;
    TRACE_ID(t, write, pv_write, .host = d->config.nic.host, .reg = offset, .value = value);
    cause = trace_because(t, write);
    write_reg(d, offset, value);
    trace_because(t, cause);
}

static uint64_t bar_read(void *dev, uint32_t bar, uint32_t offset, uint32_t width)
{
    struct pvrdma *d = dev;
    uint32_t value;

    if (bar != PV_BAR_REGS || width != 4 || offset % 4 != 0)
        return UINT64_MAX >> (64 - 8 * width);
    d->count.regs_reads++;
    value = read_reg(d, offset);
    if (is_reg(offset))
        TRACE(d->nic.trace, pv_read, .host = d->config.nic.host, .reg = offset, .value = value);
    return value;
}

static void bar_write(void *dev, uint32_t bar, uint32_t offset, uint32_t width, uint64_t value)
{
    struct pvrdma *d = dev;

    if (width != 4 || offset % 4 != 0)
        return;
    if (bar == PV_BAR_UAR) {
        pv_uar_write(d, offset, (uint32_t)value);
    } else if (bar == PV_BAR_REGS) {
        d->count.regs_writes++;
        traced_write(d, offset, (uint32_t)value);
    }
}

static uint32_t reg_bytes(uint32_t bar, uint32_t offset)
{
    if (bar == PV_BAR_REGS)
        return is_reg(offset) ? 4 : 0;
    return bar == PV_BAR_UAR && offset % PV_UAR_BYTES <= PV_UAR_AT_SRQ && offset % 4 == 0 ? 4 : 0;
}

/* --- Calls of function, RNIC and host --------------------------------------------------------- */

static void mastering(void *dev, bool on)
{
    struct pvrdma *d = dev;

    if (!on || d->phase != PV_ACTIVE)
        return;
    if (!d->late.timer) /* its time came while the device could not write to memory */
        pv_late_response(d, false);
    pv_notes_flush(d);
    rnic_go_on(&d->nic);
    pv_release_held(d);
    rnic_pump(&d->nic);
}

static void on_reset(void *dev)
{
    struct pvrdma *d = dev;

    reset(d);
    d->imr = 0;
}

static const struct pci_fn_ops fn_ops = {
    .bar_read = bar_read,
    .bar_write = bar_write,
    .reg_bytes = reg_bytes,
    .mastering = mastering,
    .reset = on_reset,
    .interrupt = interrupt,
    .has_reason = has_reason,
    .doorbell = pv_on_doorbell,
};

static const struct pci_place places[] = {
    FN_PLACES_EXPRESS(AT_EXPRESS, AT_MSIX),
    FN_PLACES_MSIX(AT_MSIX, 0),
};

static bool is_driven(const void *ctx)
{
    const struct pvrdma *d = ctx;

    return d->phase == PV_ACTIVE;
}

static bool is_running(const void *ctx)
{
    return pv_is_running(ctx);
}

/* Without its network interface the port is down, whatever the link does: nothing changes. */
static bool has_interface(const void *ctx)
{
    const struct pvrdma *d = ctx;

    return d->unquiesced;
}

static const struct rnic_ops rnic_ops = {
    .is_driven = is_driven,
    .has_interface = has_interface,
    .is_running = is_running,
    .fetch_send = pv_fetch_send,
    .fetch_recv = pv_fetch_recv,
    .receives = pv_receives,
    .sends_wait = pv_sends_wait,
    .event = pv_event,
    .release = pv_release,
    .complete = pv_complete,
    .completed = pv_completed,
};

static void timer(void *dev, uint64_t arg)
{
    struct pvrdma *d = dev;

    rnic_timer(&d->nic, arg, !fn_is_master(&d->fn));
}

static uint32_t shared_receives(const void *dev, uint32_t srqn)
{
    const struct pvrdma *d = dev;

    return pv_ring_waiting(d->nic.ram, &d->srqs[srqn].ring);
}

/* Its limits cannot change: the driver reads them once.  It has no state that only a reset mends.
 */
const struct rdma_device_ops pvrdma_device_ops = {.timer = timer,
                                                  .shared_receives = shared_receives};

static void init_function(struct pvrdma *d, const struct rnic_env *env)
{
    const struct fn_config fn = {
        .host = d->config.nic.host,
        .function = FN_RDMA,
        .slot = d->config.slot,
        .vendor = PV_PCI_VENDOR,
        .device = PV_PCI_DEVICE,
        .subsystem_vendor = PV_PCI_VENDOR,
        .subsystem = PV_PCI_DEVICE,
        .class_code = PCI_CLASS_NETWORK_OTHER,
        .config_bytes = PCI_CONFIG_BYTES_EXPRESS,
        .bar_bytes = {[PV_BAR_REGS] = PV_REG_BYTES, [PV_BAR_UAR] = PV_UAR_PAGES * PV_UAR_BYTES},
        .msix_bar = PV_BAR_MSIX,
        .n_vectors = d->config.pvrdma.vectors,
        .places = places,
        .n_places = ARRAY_LEN(places),
    };

    fn_init(&d->fn, env->arena, env->sim, &fn, &fn_ops, d);
}

/* Allocates the tables of @d.  Returns false if the arena is full. */
static bool init_tables(struct pvrdma *d, struct arena *arena)
{
    const struct rnic_config *c = &d->config.nic;

    d->qps = arena_alloc(arena, (c->max_qp + 1) * sizeof(*d->qps));
    d->cqs = arena_alloc(arena, (c->max_cq + 1) * sizeof(*d->cqs));
    d->srqs = arena_alloc(arena, (c->max_srq + 1) * sizeof(*d->srqs));
    d->pd_uc = arena_alloc(arena, (c->limits.max_pd + 1) * sizeof(*d->pd_uc));
    d->ucs = arena_alloc(arena, PV_UAR_PAGES * sizeof(*d->ucs));
    if (!d->qps || !d->cqs || !d->srqs || !d->pd_uc || !d->ucs)
        return false;
    d->ucs[0].used = true;
    return true;
}

bool pvrdma_new(struct rdma_device *ret, const struct rnic_env *env,
                const struct rdma_device_config *config)
{
    struct pvrdma *d = arena_alloc(env->arena, sizeof(*d));
    struct rdma_device_config *c;

    if (!d)
        return false;
    d->config = *config;
    c = &d->config;
    if (c->nic.max_qp > PV_QPS_MAX)
        c->nic.max_qp = PV_QPS_MAX;
    if (c->nic.first_qpn > c->nic.max_qp)
        c->nic.first_qpn = HCA_QPN_USER;
    c->nic.has_mw = true; /* fast registration; the format has no windows */
    c->pvrdma.version = c->pvrdma.version ? c->pvrdma.version : PV_VERSION_MOST;
    c->pvrdma.vectors = c->pvrdma.vectors ? c->pvrdma.vectors : PV_VECTORS;
    RDL_ASSERT(c->pvrdma.version >= PV_VERSION_LEAST && c->pvrdma.version <= PV_VERSION_MOST);
    RDL_ASSERT(c->pvrdma.vectors <= PV_VECTORS);
    *ret = (struct rdma_device){.ops = &pvrdma_device_ops, .dev = d, .nic = &d->nic, .fn = &d->fn};
    if (!rnic_init(&d->nic, env, &c->nic, &rnic_ops, d) || !init_tables(d, env->arena))
        return false;
    init_function(d, env);
    return true;
}

struct pvrdma *pvrdma_of(const struct rdma_device *d)
{
    return d->ops == &pvrdma_device_ops ? d->dev : NULL;
}
