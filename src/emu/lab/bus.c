/* SPDX-License-Identifier: MIT */
#include "emu/lab/bus.h"

#include "emu/base/cursor.h"
#include "emu/pci/vf.h"
#include "emu/trace/emit.h"
#include "emu/trace/event.h"
#include "rdmalab/vm.h"

struct pci_fn *host_function(struct host *h, uint32_t number)
{
    return number < h->n_functions ? h->functions[number] : NULL;
}

bool host_vf(const struct host *h, uint32_t number, struct pci_fn **ret_pf, uint32_t *ret_vf)
{
    for (uint32_t i = 0; i < h->n_functions; i++) {
        struct pci_fn *f = h->functions[i];

        if (f && f->sriov && sriov_find(f->sriov, number, ret_vf)) {
            *ret_pf = f;
            return true;
        }
    }
    return false;
}

void host_plug(struct host *h, struct pci_fn *f)
{
    const uint32_t number = f->config.slot.number;

    h->functions[number] = f;
    if (h->n_functions <= number)
        h->n_functions = number + 1;
}

static uint32_t config_read(void *ctx, uint32_t number, uint32_t offset, uint32_t width)
{
    struct pci_fn *f = host_function(ctx, number);
    uint32_t vf;

    if (f)
        return fn_config_read(f, offset, width);
    return host_vf(ctx, number, &f, &vf) ? vf_config_read(f, vf, offset, width) : UINT32_MAX;
}

static void config_write(void *ctx, uint32_t number, uint32_t offset, uint32_t width,
                         uint32_t value)
{
    struct pci_fn *f = host_function(ctx, number);
    uint32_t vf;

    if (f)
        fn_config_write(f, offset, width, value);
    else if (host_vf(ctx, number, &f, &vf))
        vf_config_write(f, vf, offset, width, value);
}

/* The function whose BAR contains @gpa, or NULL.  Of BARs that overlap, that of the last function
 * answers.
 */
static struct pci_fn *decode(struct host *h, uint64_t gpa, uint32_t *ret_bar, uint32_t *ret_offset)
{
    for (uint32_t i = h->n_functions; i > 0; i--) {
        struct pci_fn *f = h->functions[i - 1];

        if (f && fn_decode(f, gpa, ret_bar, ret_offset))
            return f;
    }
    return NULL;
}

static void nobody(struct host *h, uint64_t gpa, uint32_t width, bool write)
{
    TRACE(h->port.trace, no_answer, .host = h->index, .addr = gpa, .width = width,
          .written = write);
}

static uint64_t mem_read(void *ctx, uint64_t gpa, uint32_t width)
{
    uint32_t bar, offset;
    struct host *h = ctx;
    struct pci_fn *f = decode(h, gpa, &bar, &offset);

    h->n_reads += f && f == h->device.fn;
    if (f)
        return fn_bar_read(f, bar, offset, width);
    nobody(ctx, gpa, width, false);
    return UINT64_MAX >> (64 - 8 * width);
}

static void mem_write(void *ctx, uint64_t gpa, uint32_t width, uint64_t value)
{
    uint32_t bar, offset;
    struct host *h = ctx;
    struct pci_fn *f = decode(h, gpa, &bar, &offset);

    h->n_writes += f && f == h->device.fn;
    if (f)
        fn_bar_write(f, bar, offset, width, value);
    else
        nobody(ctx, gpa, width, true);
}

const struct guest_bus host_bus = {config_read, config_write, mem_read, mem_write};

/* Delivers a message.  Outside the interrupt address range it is an ordinary 4-byte write to
 * memory.
 */
static void message(struct host *h, const struct fn_message *m)
{
    uint8_t data[4];

    if ((m->address & ~(uint64_t)~MSI_ADDRESS_MASK) == MSI_ADDRESS) {
        guest_message(&h->guest, m->address, m->data);
        return;
    }
    st_le32(data, m->data);
    (void)ram_write(&h->ram, m->address, data, sizeof(data));
}

/* Handles the asserted INTx of @f.  INTx is level triggered: it interrupts again while asserted. */
static void line(struct lab_state *w, struct host *h, struct pci_fn *f)
{
    ev_id id;

    if (h->guest.line_is_off || !fn_line_is_high(f))
        return;           /* handled with the other function, or masked */
    if (h->is_external) { /* no event: its receiver may have no INTx */
        const struct fn_message risen = {.address = RDL_VM_INTX};

        vm_interrupt(w, h, &risen, f->config.slot.number);
        return;
    }
    TRACE_ID(&w->trace, id, intx, .host = h->index, .function = f->config.function);
    trace_because(&w->trace, id);
    if (!guest_line(&h->guest)) {
        TRACE(&w->trace, intx_off, .host = h->index);
        return;
    }
    for (uint32_t i = h->n_functions; i-- > 0;) {
        if (h->functions[i])
            fn_reason_changed(h->functions[i]);
    }
}

void host_interrupt(struct lab_state *w, struct host *h, struct fn_irq irq)
{
    struct pci_fn *f = h->functions[irq.number];
    struct fn_message m;
    ev_id id;

    if (!fn_take_message(f, irq, &m)) {
        line(w, h, f);
        return;
    }
    TRACE_ID(&w->trace, id, irq, .host = h->index, .function = f->config.function,
             .vector = irq.vector, .queue = irq.queue);
    trace_because(&w->trace, id);
    if (h->is_external)
        vm_interrupt(w, h, &m, f->config.slot.number);
    else
        message(h, &m);
}
