/* SPDX-License-Identifier: MIT */
/* Interrupts of a PCI function: MSI-X and the line INTx. */
#include "emu/pci/interrupt.h"

#include "emu/base/assert.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/registers.h"

/* Layout of the argument of SIM_IRQ, from the low bits on: queue, vector, slot, number of the
 * function. */
#define IRQ_VECTOR_BIT 17u
#define IRQ_SLOT_BIT   33u
#define IRQ_NUMBER_BIT 60u
#define IRQ_SLOT_MASK  ((1u << (IRQ_NUMBER_BIT - IRQ_SLOT_BIT)) - 1)

_Static_assert(FN_QUEUES_MAX == (1u << IRQ_VECTOR_BIT) - 1, "the largest number says no queue");

struct fn_irq fn_irq_of(uint64_t arg)
{
    const uint32_t queue = (uint32_t)arg & FN_QUEUES_MAX;

    return (struct fn_irq){
        .number = (uint32_t)(arg >> IRQ_NUMBER_BIT),
        .vector = (uint32_t)(arg >> IRQ_VECTOR_BIT & 0xffffu),
        .queue = queue == FN_QUEUES_MAX ? FN_NO_QUEUE : queue,
        .slot = (uint32_t)(arg >> IRQ_SLOT_BIT) & IRQ_SLOT_MASK,
    };
}

uint64_t fn_irq_arg(struct fn_irq irq)
{
    RDL_ASSERT(irq.slot <= IRQ_SLOT_MASK);
    RDL_ASSERT(irq.queue < FN_QUEUES_MAX || irq.queue == FN_NO_QUEUE);
    return (uint64_t)irq.number << IRQ_NUMBER_BIT | (uint64_t)irq.slot << IRQ_SLOT_BIT |
           (uint64_t)irq.vector << IRQ_VECTOR_BIT | (irq.queue & FN_QUEUES_MAX);
}

static uint32_t count(const struct pci_fn *f)
{
    return f->config.n_vectors;
}

static void clear_vector(struct fn_vector *v)
{
    *v = (struct fn_vector){.masked = true};
}

/* The MSI-X table, allocated on first use.  Returns NULL if the arena is full. */
static struct fn_vector *table(struct pci_fn *f)
{
    if (f->vectors)
        return f->vectors;
    f->vectors = arena_alloc_raw(f->arena, count(f) * sizeof(*f->vectors));
    for (uint32_t i = 0; f->vectors && i < count(f); i++)
        clear_vector(&f->vectors[i]);
    return f->vectors;
}

void fn_irq_reset(struct pci_fn *f)
{
    f->msix_enabled = f->msix_masked = false;
    f->n_pending = 0;
    for (uint32_t i = 0; f->vectors && i < count(f); i++)
        clear_vector(&f->vectors[i]);
}

/* Allocates an entry for a message in flight.  Returns false if the arena is full. */
static bool take_slot(struct pci_fn *f, uint32_t *ret)
{
    if (f->unused == 0) {
        const uint32_t used = f->sent_cap;
        struct fn_sent *sent =
            arena_extend(f->arena, f->sent, &f->sent_cap, used, used + 1, sizeof(*sent));

        if (!sent)
            return false;
        f->sent = sent;
        for (uint32_t i = f->sent_cap; i > used; i--) {
            sent[i - 1].unused = f->unused;
            f->unused = i;
        }
    }
    *ret = f->unused - 1;
    f->unused = f->sent[*ret].unused;
    return true;
}

static void schedule(const struct pci_fn *f, struct fn_irq irq)
{
    irq.number = f->config.slot.number;
    sim_enqueue(f->sim, sim_now(f->sim) + FN_IRQ_NS, SIM_IRQ, f->config.host, fn_irq_arg(irq));
}

static void send(struct pci_fn *f, uint32_t vector)
{
    const struct fn_vector *v = &f->vectors[vector];
    uint32_t slot;

    if (!take_slot(f, &slot))
        return; /* the arena is full, and the lab ends */
    f->sent[slot] = (struct fn_sent){.message = v->message};
    schedule(f, (struct fn_irq){.vector = vector, .queue = v->queue, .slot = slot});
}

/* Returns true if @v can send its message now.  Otherwise *@ret_by is the reason. */
static bool may_send(const struct pci_fn *f, const struct fn_vector *v, enum held *ret_by)
{
    if (v->masked)
        *ret_by = HELD_VECTOR;
    else if (f->msix_masked)
        *ret_by = HELD_FUNCTION;
    else
        *ret_by = HELD_BUS_MASTER;
    return !v->masked && !f->msix_masked && fn_is_master(f);
}

static void raise_message(struct pci_fn *f, uint32_t vector, uint32_t queue)
{
    const struct fn_config *c = &f->config;
    struct fn_vector *v = &f->vectors[vector];
    enum held by;

    v->queue = queue;
    if (may_send(f, v, &by)) {
        send(f, vector);
        return;
    }
    f->n_pending += !v->pending;
    v->pending = true;
    TRACE(f->sim->trace, irq_held, .host = c->host, .function = c->function, .vector = vector,
          .queue = queue, .by = by);
}

bool fn_line_is_high(const struct pci_fn *f)
{
    return !f->msix_enabled && !(f->command & PCI_CMD_INTX_OFF) && f->ops->has_reason(f->dev);
}

void fn_reason_changed(struct pci_fn *f)
{
    if (!fn_line_is_high(f) || f->line_rising)
        return;
    f->line_rising = true;
    schedule(f, (struct fn_irq){.vector = FN_LINE});
}

bool fn_can_raise(const struct pci_fn *f, uint32_t vector)
{
    return !f->msix_enabled || vector < count(f);
}

void fn_raise(struct pci_fn *f, uint32_t vector, uint32_t queue)
{
    if (!fn_can_raise(f, vector))
        return;
    if (f->msix_enabled) {
        raise_message(f, vector, queue);
        return;
    }
    f->ops->interrupt(f->dev, queue);
    fn_reason_changed(f);
}

bool fn_take_message(struct pci_fn *f, struct fn_irq irq, struct fn_message *ret)
{
    if (irq.vector == FN_LINE) {
        f->line_rising = false;
        return false;
    }
    RDL_ASSERT(irq.slot < f->sent_cap);
    *ret = f->sent[irq.slot].message;
    f->sent[irq.slot].unused = f->unused;
    f->unused = irq.slot + 1;
    return true;
}

/* Sends the message of @vector if it is pending and can be sent now. */
static void settle_vector(struct pci_fn *f, uint32_t vector)
{
    struct fn_vector *v = &f->vectors[vector];
    enum held by;

    if (!v->pending || !f->msix_enabled || !may_send(f, v, &by))
        return;
    v->pending = false;
    f->n_pending--;
    send(f, vector);
}

void fn_irq_settle(struct pci_fn *f)
{
    for (uint32_t i = 0; f->n_pending > 0 && i < count(f); i++)
        settle_vector(f, i);
    fn_reason_changed(f);
}

void fn_msix_control(struct pci_fn *f, bool enabled, bool masked)
{
    f->msix_enabled = enabled && table(f);
    f->msix_masked = masked;
    fn_irq_settle(f);
}

static void trace_access(const struct pci_fn *f, bool write, enum msix_field field, uint32_t vector,
                         uint32_t value)
{
    const struct fn_config *c = &f->config;
    struct trace *t = f->sim->trace;

    if (write)
        TRACE(t, msix_write, .host = c->host, .function = c->function, .field = field,
              .vector = vector, .value = value);
    else
        TRACE(t, msix_read, .host = c->host, .function = c->function, .field = field,
              .vector = vector, .value = value);
}

static uint32_t get_word(const struct fn_vector *v, enum msix_field field)
{
    switch (field) {
    case MSIX_ADDRESS:
        return (uint32_t)v->message.address;
    case MSIX_ADDRESS_HIGH:
        return (uint32_t)(v->message.address >> 32);
    case MSIX_DATA:
        return v->message.data;
    default:
        return v->masked ? MSIX_ENTRY_MASK : 0;
    }
}

static void put_word(struct fn_vector *v, enum msix_field field, uint32_t value)
{
    switch (field) {
    case MSIX_ADDRESS: /* a multiple of 4 */
        v->message.address = (v->message.address & ~(uint64_t)UINT32_MAX) | (value & ~3u);
        break;
    case MSIX_ADDRESS_HIGH:
        v->message.address = (uint64_t)value << 32 | (uint32_t)v->message.address;
        break;
    case MSIX_DATA:
        v->message.data = value;
        break;
    default:
        v->masked = (value & MSIX_ENTRY_MASK) != 0;
    }
}

/* The pending bits of 32 vectors from @first on; bit 0 is that of @first. */
static uint32_t pending_bits(const struct pci_fn *f, uint32_t first)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; f->vectors && i < 32 && first + i < count(f); i++)
        bits |= (uint32_t)f->vectors[first + i].pending << i;
    return bits;
}

/* The word at @offset, which is a multiple of 4. */
static uint32_t read_word(struct pci_fn *f, uint32_t offset)
{
    static const struct fn_vector fresh = {.masked = true};
    const uint32_t vector = offset / MSIX_ENTRY_BYTES, half = f->bar_bytes[f->config.msix_bar] / 2;
    const enum msix_field field = (enum msix_field)(offset % MSIX_ENTRY_BYTES);
    uint32_t value;

    if (vector < count(f)) {
        value = get_word(f->vectors ? &f->vectors[vector] : &fresh, field);
        trace_access(f, false, field, vector, value);
        return value;
    }
    if (offset < half || 8 * (offset - half) >= count(f))
        return 0;
    value = pending_bits(f, 8 * (offset - half));
    trace_access(f, false, MSIX_PENDING, 8 * (offset - half), value);
    return value;
}

static void write_word(struct pci_fn *f, uint32_t offset, uint32_t value)
{
    const uint32_t vector = offset / MSIX_ENTRY_BYTES;
    const enum msix_field field = (enum msix_field)(offset % MSIX_ENTRY_BYTES);

    if (vector >= count(f) || !table(f))
        return; /* the rest of the BAR, pending bits included, is read-only */
    trace_access(f, true, field, vector, value);
    put_word(&f->vectors[vector], field, value);
    settle_vector(f, vector);
}

static bool is_access(uint32_t offset, uint32_t width)
{
    return (width == 4 || width == 8) && offset % 4 == 0;
}

uint64_t fn_msix_read(struct pci_fn *f, uint32_t offset, uint32_t width)
{
    uint64_t out;

    if (!is_access(offset, width))
        return 0;
    out = read_word(f, offset);
    return width == 8 ? out | (uint64_t)read_word(f, offset + 4) << 32 : out;
}

void fn_msix_write(struct pci_fn *f, uint32_t offset, uint32_t width, uint64_t value)
{
    if (!is_access(offset, width))
        return;
    write_word(f, offset, (uint32_t)value);
    if (width == 8)
        write_word(f, offset + 4, (uint32_t)(value >> 32));
}
