/* SPDX-License-Identifier: MIT */
/* The drill of a machine: a virtual machine with two PCI functions.  The drill is its processor and
 * its driver.  Here are the driver, the features that it is offered, and the steps.
 */
#include "swarm/drills/drill_machine.h"

#include <inttypes.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/regs.h"
#include "emu/facts/virtio/device_status.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/net.h"
#include "emu/facts/virtio/net_feature.h"
#include "rdmalab/port.h"
#include "rdmalab/verbs.h"
#include "swarm/drills/kinds.h"

#define STEPS       48u
#define BASE_STATUS (VS_ACKNOWLEDGE | VS_DRIVER)

struct machine *machine_of(struct drill *d)
{
    return d->own;
}

/* --- The driver ------------------------------------------------------------------------------- */

static uint64_t offered(struct drill *d, uint32_t function)
{
    uint64_t low;

    machine_reg_put(d, function, REG_DEVICE_FEATURE_SELECT, 4, 0);
    low = machine_reg(d, function, REG_DEVICE_FEATURE, 4);
    machine_reg_put(d, function, REG_DEVICE_FEATURE_SELECT, 4, 1);
    return low | machine_reg(d, function, REG_DEVICE_FEATURE, 4) << 32;
}

static void reset_device(struct drill *d, uint32_t function)
{
    struct machine *m = machine_of(d);

    machine_reg_put(d, function, REG_DEVICE_STATUS, 1, 0);
    machine_device_reset(&m->f[function]);
    if (function == MACHINE_NET) {
        machine_learn_flags(m);
        m->is_driven = m->is_broken = m->fault.is_stuck = false;
    }
}

/* Draws a number for a register that has the number of a vector.  Returns what it reads as. */
static uint32_t put_vector(struct drill *d, uint32_t at)
{
    const struct machine_function *f = &machine_of(d)->f[MACHINE_NET];
    const uint32_t n = drill_below(d, f->n_vectors + 2);

    machine_reg_put(d, MACHINE_NET, at, 2, n);
    return n < f->n_vectors ? n : VIRTIO_NO_VECTOR;
}

static void accept(struct drill *d, uint64_t features)
{
    machine_reg_put(d, MACHINE_NET, REG_DRIVER_FEATURE_SELECT, 4, 0);
    machine_reg_put(d, MACHINE_NET, REG_DRIVER_FEATURE, 4, (uint32_t)features);
    machine_reg_put(d, MACHINE_NET, REG_DRIVER_FEATURE_SELECT, 4, 1);
    machine_reg_put(d, MACHINE_NET, REG_DRIVER_FEATURE, 4, features >> 32);
}

/* Places the parts of the receive queue in the first chunk, and empties it. */
static void place_queue(struct drill *d)
{
    static const uint8_t zeros[MACHINE_QUEUE];
    struct machine *m = machine_of(d);

    m->size = 2 * MACHINE_CHAINS;
    m->desc = m->chunks[0].gpa + 16 * (1 + (uint64_t)drill_below(d, 8)); /* not at 0 */
    m->avail = m->desc + 16 * (uint64_t)m->size + 2 * (uint64_t)drill_below(d, 8);
    m->used = (m->avail + 6 + 2 * (uint64_t)m->size + 3) / 4 * 4 + 4 * (uint64_t)drill_below(d, 8);
    m->avail_idx = m->used_idx = 0;
    machine_cpu_put(m, m->chunks[0].gpa, zeros, MACHINE_QUEUE);
}

/* Sets up the receive queue, which must be selected and disabled. */
static bool set_up_queue(struct drill *d)
{
    struct machine *m = machine_of(d);
    struct machine_function *f = &m->f[MACHINE_NET];

    place_queue(d);
    machine_reg_put(d, MACHINE_NET, REG_QUEUE_SIZE, 2, m->size);
    f->rx_vector = put_vector(d, REG_QUEUE_MSIX_VECTOR);
    machine_reg_put(d, MACHINE_NET, REG_QUEUE_DESC, 8, m->desc);
    machine_reg_put(d, MACHINE_NET, REG_QUEUE_DRIVER, 8, m->avail);
    machine_reg_put(d, MACHINE_NET, REG_QUEUE_DEVICE, 8, m->used);
    machine_reg_put(d, MACHINE_NET, REG_QUEUE_ENABLE, 2, 1);
    return drill_expect(d, machine_reg(d, MACHINE_NET, REG_QUEUE_MSIX_VECTOR, 2) == f->rx_vector,
                        "a vector that the device has not reads as no vector", "another was read");
}

void machine_drive(struct drill *d)
{
    const uint32_t ready = BASE_STATUS | VS_FEATURES_OK | VS_DRIVER_OK;
    struct machine *m = machine_of(d);
    struct machine_function *f = &m->f[MACHINE_NET];
    uint32_t status;

    if (!machine_enable(d, MACHINE_NET))
        return;
    reset_device(d, MACHINE_NET);
    f->config_vector = put_vector(d, REG_CONFIG_MSIX_VECTOR);
    machine_reg_put(d, MACHINE_NET, REG_DEVICE_STATUS, 1, BASE_STATUS);
    m->merges = (f->offered & VIRTIO_FEATURE(NF_MRG_RXBUF)) && !drill_one_in(d, 3);
    m->resets = (f->offered & VIRTIO_FEATURE(VF_RING_RESET)) && !drill_one_in(d, 3);
    accept(d, VIRTIO_FEATURE(VF_VERSION_1) | (m->merges ? VIRTIO_FEATURE(NF_MRG_RXBUF) : 0) |
                  (m->resets ? VIRTIO_FEATURE(VF_RING_RESET) : 0));
    machine_reg_put(d, MACHINE_NET, REG_DEVICE_STATUS, 1, BASE_STATUS | VS_FEATURES_OK);
    machine_reg_put(d, MACHINE_NET, REG_QUEUE_SELECT, 2, NET_QUEUE_RX);
    if (!set_up_queue(d))
        return;
    machine_reg_put(d, MACHINE_NET, REG_DEVICE_STATUS, 1, ready);
    m->is_driven = true;
    status = (uint32_t)machine_reg(d, MACHINE_NET, REG_DEVICE_STATUS, 1);
    if (drill_expect(d, machine_reg(d, MACHINE_NET, REG_CONFIG_MSIX_VECTOR, 2) == f->config_vector,
                     "a vector that the device has not reads as no vector", "another was read"))
        (void)drill_expect(d, status == ready, "a driver can begin to use the device",
                           "the status is 0x%02x", status);
}

/* Resets the receive queue, and sets it up anew.  [virtio 1.2, 2.6.1] */
void machine_reset_queue(struct drill *d)
{
    struct machine *m = machine_of(d);

    if (!m->is_driven || m->is_broken || !m->resets)
        return;
    machine_reg_put(d, MACHINE_NET, REG_QUEUE_RESET, 2, 1);
    machine_learn_flags(m);
    m->fault.is_stuck = false;
    if (drill_expect(d,
                     machine_reg(d, MACHINE_NET, REG_QUEUE_RESET, 2) == 0 &&
                         machine_reg(d, MACHINE_NET, REG_QUEUE_ENABLE, 2) == 0,
                     "a queue is not enabled after its reset", "it is") &&
        drill_expect(d, machine_reg(d, MACHINE_NET, REG_QUEUE_MSIX_VECTOR, 2) == VIRTIO_NO_VECTOR,
                     "a queue has no vector after its reset", "it has one"))
        (void)set_up_queue(d);
}

/* The machine gets other memory.  Its driver starts again from reset, as after suspend. */
static void remap(struct drill *d)
{
    reset_device(d, MACHINE_NET);
    machine_draw_chunks(d);
    if (machine_map(d))
        machine_drive(d);
}

/* --- Features --------------------------------------------------------------------------------- */

static bool check_offered(struct drill *d, uint32_t function)
{
    const struct machine_function *f = &machine_of(d)->f[function];
    const uint64_t have = offered(d, function);

    return drill_expect(
        d, have == f->offered, "a function offers all that it can but what is switched off",
        "function %u offers 0x%" PRIx64 ", and not 0x%" PRIx64, function, have, f->offered);
}

/* Switches features off, and checks what the functions offer after a reset. */
static void offer(struct drill *d)
{
    static const uint32_t ring[] = {VF_INDIRECT_DESC, VF_EVENT_IDX, VF_VERSION_1, VF_RING_RESET};
    static const uint32_t net[] = {NF_MAC, NF_MTU, NF_STATUS, NF_MRG_RXBUF};
    struct machine *m = machine_of(d);
    uint64_t rings_off = 0, net_off = 0,
             lost = VIRTIO_FEATURE(VF_RESIZE) | VIRTIO_FEATURE(VF_ON_DEMAND);

    for (size_t i = 0; i < ARRAY_LEN(ring); i++)
        rings_off |= drill_one_in(d, 3) ? VIRTIO_FEATURE(ring[i]) : 0;
    for (size_t i = 0; i < ARRAY_LEN(net); i++)
        net_off |= drill_one_in(d, 3) ? VIRTIO_FEATURE(net[i]) : 0;
    d->n_unsaid++;
    if (!drill_works(d, rdl_vm_offer(d->lab, m->host, rings_off, net_off),
                     "a machine can be offered less"))
        return;
    rings_off &= ~VIRTIO_FEATURE(VF_VERSION_1); /* cannot be switched off */
    m->f[MACHINE_NET].offered = m->f[MACHINE_NET].possible & ~(rings_off | net_off);
    m->f[MACHINE_RDMA].offered =
        m->f[MACHINE_RDMA].possible &
        ~(rings_off | (rings_off & VIRTIO_FEATURE(VF_RING_RESET) ? lost : 0));
    reset_device(d, MACHINE_NET);
    reset_device(d, MACHINE_RDMA);
    if (check_offered(d, MACHINE_NET) && check_offered(d, MACHINE_RDMA))
        machine_drive(d);
}

/* Resets a function as power-on does. */
static void power_on(struct drill *d)
{
    const uint32_t function = drill_below(d, MACHINE_FUNCTIONS);
    struct machine *m = machine_of(d);

    d->n_unsaid++;
    if (!drill_works(d, rdl_vm_reset(d->lab, m->host, function), "a function can be reset"))
        return;
    machine_power_on(&m->f[function]);
    if (function == MACHINE_RDMA)
        return;
    machine_learn_flags(m);
    m->is_driven = m->is_broken = m->fault.is_stuck = false;
    if (drill_one_in(d, 2))
        machine_drive(d);
}

/* The link goes down or up, which is a change of the device's configuration. */
static void change_link(struct drill *d)
{
    struct machine *m = machine_of(d);

    m->link_is_up = !m->link_is_up;
    if (!drill_works(d, rdl_link_raise(d->lab, m->link, m->link_is_up),
                     "a link can be taken down and up"))
        return;
    if (m->is_driven)
        machine_raise_config(d, MACHINE_NET);
    (void)drill_settle(d);
}

/* Reads where no function answers. */
static void read_nowhere(struct drill *d)
{
    static const uint32_t widths[] = {1, 2, 4, 8};
    const uint32_t bytes = widths[drill_below(d, ARRAY_LEN(widths))];
    const struct machine *m = machine_of(d);
    const struct rdl_vm_access a = {.bytes = bytes, .addr = 0x10000000u + drill_below(d, 1u << 30)};
    uint64_t v = 0;

    d->n_unsaid++;
    if (drill_works(d, rdl_vm_access(d->lab, m->host, &a, &v), "a machine can read anywhere"))
        (void)drill_expect(d, v == UINT64_MAX >> (64 - 8 * bytes),
                           "what nobody answers reads as all ones", "0x%" PRIx64, v);
}

/* --- Setup and steps -------------------------------------------------------------------------- */

static void on_interrupt(void *ctx, uint32_t function, uint64_t address, uint32_t data)
{
    struct machine *m = ctx;

    if (address == RDL_VM_INTX)
        return; /* the model knows only messages */
    if (m->n_got < MACHINE_MESSAGES)
        m->got[m->n_got] = (struct machine_message){function, data, address};
    m->n_got++;
}

static bool add_port(struct drill *d)
{
    const struct rdl_link_config link = {.a = "m1", .b = "out", .latency_ns = 100};
    const struct rdl_port_config port = {.name = "out"};
    struct machine *m = machine_of(d);

    m->link_is_up = true;
    return drill_works(d, rdl_port_add(d->lab, &port, &m->port), "a port can be added") &&
           drill_works(d, rdl_link_add(d->lab, &link, &m->link), "a link can be added") &&
           drill_settle(d);
}

/* Learns from the device what the model cannot know: sizes, and what it offers. */
static bool learn(struct drill *d, uint32_t function)
{
    struct machine_function *f = &machine_of(d)->f[function];

    machine_power_on(f);
    for (uint32_t bar = 0; bar < 2; bar++) {
        machine_config_put(d, function, PCI_BAR0 + 4 * bar, 4, UINT32_MAX);
        f->bar_bytes[bar] = 0 - machine_config(d, function, PCI_BAR0 + 4 * bar, 4);
    }
    f->n_vectors = 1 + (machine_config(d, function, PCI_MSIX_CONTROL, 2) & MSIX_SIZE_MASK);
    if (!machine_enable(d, function))
        return false;
    f->possible = f->offered = offered(d, function);
    return drill_expect(d, f->offered & VIRTIO_FEATURE(VF_VERSION_1), "a device offers VERSION_1",
                        "it does not");
}

static void set_up(struct drill *d)
{
    const struct rdl_host_config host = {
        .name = "m1", .external = true, .extensions = VIRTIO_FEATURE(EXT_NONE)};
    struct machine *m = machine_of(d);
    uint8_t gid[16];

    drill_say(d, "host m1 vm extensions=none");
    if (!drill_works(d, rdl_host_add(d->lab, &host, &m->host), "a host can be added") ||
        !drill_works(d, rdl_host_address(d->lab, m->host, 0, gid, m->mac), "a host has a MAC") ||
        !add_port(d) ||
        !drill_works(d, rdl_vm_listen(d->lab, m->host, on_interrupt, m),
                     "a machine can hear its interrupts") ||
        !learn(d, MACHINE_NET) || !learn(d, MACHINE_RDMA))
        return;
    machine_draw_chunks(d);
    if (machine_map(d))
        machine_drive(d);
}

static void take(struct drill *d)
{
    static void (*const steps[])(struct drill *) = {
        machine_receive,
        machine_receive,
        machine_receive,
        machine_receive,
        change_link,
        change_link,
        remap,
        offer,
        power_on,
        machine_drive,
        read_nowhere,
        machine_change_config,
        machine_change_command,
        machine_change_vector,
        machine_change_vector,
        machine_change_vector,
        machine_change_msix,
        machine_change_msix,
        machine_change_fault,
        machine_change_fault,
        machine_reset_queue,
    };

    steps[drill_below(d, ARRAY_LEN(steps))](d);
    if (machine_check_interrupts(d))
        (void)machine_memory_holds(d);
}

const struct drill_kind drill_of_machine = {.name = "machine",
                                            .bytes = sizeof(struct machine),
                                            .steps = STEPS,
                                            .set_up = set_up,
                                            .take = take};
