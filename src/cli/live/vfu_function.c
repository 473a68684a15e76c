/* SPDX-License-Identifier: MIT */
#include "cli/live/vfu_function.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli/live/socket_fds.h"
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/pci_field.h"

#define MSI_ANYWHERE 0xfee00000u /* address of a message in the table; nobody writes there */
#define BAR_BYTES    4u

/* --- Accesses --------------------------------------------------------------------------------- */

static uint64_t access_function(struct vfu_function *f, const struct rdl_vm_access *a)
{
    uint64_t value = 0;

    /* Fails only for a width that there is not; the callers have checked it. */
    (void)!rdl_vm_access(f->lab, f->host, a, &value);
    return value;
}

static uint32_t config_read(struct vfu_function *f, uint32_t offset, uint32_t bytes)
{
    const struct rdl_vm_access a = {
        .function = f->number, .config = true, .bytes = bytes, .addr = offset};

    return (uint32_t)access_function(f, &a);
}

static void config_write(struct vfu_function *f, uint32_t offset, uint32_t bytes, uint32_t value)
{
    const struct rdl_vm_access a = {.function = f->number,
                                    .config = true,
                                    .write = true,
                                    .bytes = bytes,
                                    .addr = offset,
                                    .value = value};

    (void)access_function(f, &a);
}

static uint64_t bar_address(const struct vfu_function *f, uint32_t bar, uint64_t offset)
{
    return (f->bars[bar] & ~(f->bar_bytes[bar] - 1)) + offset;
}

static void bar_write(struct vfu_function *f, uint32_t bar, uint32_t offset, uint32_t value)
{
    const struct rdl_vm_access a = {.function = f->number,
                                    .write = true,
                                    .bytes = 4,
                                    .addr = bar_address(f, bar, offset),
                                    .value = value};

    (void)access_function(f, &a);
}

/* --- The MSI-X table -------------------------------------------------------------------------- */

static void put_vector(struct vfu_function *f, uint32_t vector, bool on)
{
    const uint32_t at = f->msix_offset + MSIX_ENTRY_BYTES * vector;

    if (on) {
        bar_write(f, f->msix_bar, at + MSIX_ADDRESS, MSI_ANYWHERE);
        bar_write(f, f->msix_bar, at + MSIX_ADDRESS_HIGH, 0);
        bar_write(f, f->msix_bar, at + MSIX_DATA, vector);
    }
    bar_write(f, f->msix_bar, at + MSIX_CONTROL, on ? 0 : MSIX_ENTRY_MASK);
    f->in_table[vector] = on;
}

/* Brings the table up to date, if its BAR can be reached.  Otherwise the next call does. */
static void fill_table(struct vfu_function *f)
{
    for (uint32_t v = 0; (f->command & PCI_CMD_MEMORY) && v < f->n_vectors; v++) {
        if (f->in_table[v] != (f->eventfds[v] >= 0))
            put_vector(f, v, f->eventfds[v] >= 0);
    }
}

static void close_eventfd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* --- Beginning, resets, and the end ----------------------------------------------------------- */

/* The function has been reset: nothing is in its table, and its BARs have no addresses. */
static void was_reset(struct vfu_function *f)
{
    memset(f->in_table, 0, sizeof(f->in_table));
    memset(f->bars, 0, sizeof(f->bars));
    f->command = 0;
}

/* A function-level reset that the guest has asked for in configuration space.  The client does not
 * know that the BARs have lost their addresses, and would not write them again.
 */
static void was_reset_by_guest(struct vfu_function *f)
{
    uint32_t bars[PCI_BARS];

    memcpy(bars, f->bars, sizeof(bars));
    was_reset(f);
    for (uint32_t i = 0; i < PCI_BARS; i++) {
        if (f->bar_bytes[i])
            config_write(f, PCI_BAR0 + BAR_BYTES * i, 4, bars[i]);
    }
    memcpy(f->bars, bars, sizeof(bars));
}

/* Sizes the BARs as firmware does: a register that is written with ones reads as the mask. */
static void find_bars(struct vfu_function *f)
{
    for (uint32_t i = 0; i < PCI_BARS; i++) {
        const uint32_t at = PCI_BAR0 + BAR_BYTES * i;
        uint32_t mask;

        config_write(f, at, 4, UINT32_MAX);
        mask = config_read(f, at, 4) & ~PCI_BAR_LOW_BITS;
        config_write(f, at, 4, 0);
        f->bar_bytes[i] = mask ? ~mask + 1 : 0;
    }
}

static void find_msix(struct vfu_function *f, uint32_t at)
{
    const uint32_t place = config_read(f, at + MSIX_AT_TABLE, 4);

    f->n_vectors = (config_read(f, at + MSIX_AT_CONTROL, 2) & MSIX_SIZE_MASK) + 1;
    f->msix_bar = place & MSIX_BAR_MASK;
    f->msix_offset = place & ~MSIX_BAR_MASK;
    RDL_ASSERT(f->msix_bar < PCI_BARS && f->n_vectors <= VFU_VECTORS_MAX);
}

static void find_capabilities(struct vfu_function *f)
{
    uint32_t at = config_read(f, PCI_CAPABILITIES, 1);

    for (uint32_t n = 0; at && n < PCI_CAPS_MAX; n++) {
        const uint32_t id = config_read(f, at, 1);

        if (id == PCI_CAP_ID_MSIX)
            find_msix(f, at);
        else if (id == PCI_CAP_ID_EXPRESS)
            f->express = at;
        at = config_read(f, at + PCI_AT_NEXT, 1);
    }
}

void vfu_function_init(struct vfu_function *f, struct vfu_memory *memory, uint32_t number)
{
    *f = (struct vfu_function){.lab = memory->lab,
                               .host = memory->host,
                               .number = number,
                               .memory = memory,
                               .line_eventfd = -1};
    memset(f->eventfds, 0xff, sizeof(f->eventfds)); /* -1 */
    /* Cannot fail: the host has a virtual machine, and the function. */
    (void)!rdl_vm_reset(f->lab, f->host, number);
    find_bars(f);
    find_capabilities(f);
    f->config_bytes = f->express ? PCI_CONFIG_BYTES_EXPRESS : PCI_CONFIG_BYTES;
    f->has_line = config_read(f, PCI_INTERRUPT_PIN, 1) != 0;
}

static void close_eventfds(struct vfu_function *f)
{
    for (uint32_t v = 0; v < f->n_vectors; v++)
        close_eventfd(&f->eventfds[v]);
    close_eventfd(&f->line_eventfd);
}

void vfu_function_done(struct vfu_function *f)
{
    vfu_memory_unmap_all(f->memory, f->number);
    close_eventfds(f);
    (void)!rdl_vm_reset(f->lab, f->host, f->number);
    was_reset(f);
}

/* --- Interrupts ------------------------------------------------------------------------------- */

static void signal_eventfd(struct vfu_function *f, int fd)
{
    static const uint64_t one = 1;

    /* A counter that is full is as good as one that is higher: the client will read it. */
    if (fd >= 0 && write(fd, &one, sizeof(one)) == sizeof(one))
        f->interrupts++;
}

static void signal_line(struct vfu_function *f)
{
    if (f->line_masked || f->line_eventfd < 0)
        return;
    f->line_masked = true;
    signal_eventfd(f, f->line_eventfd);
}

void vfu_function_interrupt(struct vfu_function *f, uint64_t address, uint32_t data)
{
    if (address == RDL_VM_INTX)
        signal_line(f);
    else if (address == MSI_ANYWHERE && data < f->n_vectors)
        signal_eventfd(f, f->eventfds[data]);
}

static bool line_is_high(struct vfu_function *f)
{
    return (config_read(f, PCI_STATUS, 2) & PCI_STS_INTERRUPT) && !(f->command & PCI_CMD_INTX_OFF);
}

/* Replaces *@to by the eventfd *@fd, which is kept; NULL: by none.  Returns 0, or an errno. */
static int put_eventfd(int *to, int *fd)
{
    if (fd && !socket_fds_is_eventfd(*fd))
        return EINVAL;
    close_eventfd(to);
    if (fd) {
        *to = *fd;
        *fd = -1;
    }
    return 0;
}

static int set_line(struct vfu_function *f, const struct vfu_request *r, int *fds, unsigned n_fds)
{
    if (r->start != 0 || r->count > (f->has_line ? 1u : 0u) || n_fds > r->count)
        return EINVAL;
    if (r->flags & VFU_SET_MASK) {
        f->line_masked = true;
    } else if (r->flags & VFU_SET_UNMASK) {
        if (r->flags & VFU_SET_EVENTFD)
            return ENOTSUP; /* only KVM unmasks by an eventfd */
        f->line_masked = false;
        if (line_is_high(f))
            signal_line(f);
    } else {
        f->line_masked = false;
        return put_eventfd(&f->line_eventfd, n_fds ? fds : NULL);
    }
    return 0;
}

static int set_vectors(struct vfu_function *f, const struct vfu_request *r, int *fds,
                       unsigned n_fds)
{
    const bool all_off = (r->flags & VFU_SET_NONE) && r->count == 0;
    int error = 0;

    if (r->start > f->n_vectors || r->count > f->n_vectors - r->start)
        return EINVAL;
    if (!(r->flags & VFU_SET_TRIGGER) || (n_fds > 0 && n_fds != r->count))
        return EINVAL;
    if (!all_off && !(r->flags & VFU_SET_EVENTFD))
        return ENOTSUP; /* interrupts for which the client asks itself */
    for (uint32_t v = 0; all_off && v < f->n_vectors; v++)
        close_eventfd(&f->eventfds[v]);
    for (uint32_t i = 0; i < r->count && !error; i++)
        error = put_eventfd(&f->eventfds[r->start + i], n_fds ? &fds[i] : NULL);
    fill_table(f);
    return error;
}

static int set_irqs(struct vfu_function *f, const struct vfu_request *r, int *fds, unsigned n_fds)
{
    switch (r->index) {
    case VFU_IRQ_INTX:
        return set_line(f, r, fds, n_fds);
    case VFU_IRQ_MSIX:
        return set_vectors(f, r, fds, n_fds);
    case VFU_IRQ_ERROR: /* no error of the bus is ever reported */
        return 0;
    default:
        return EINVAL;
    }
}

static void reply_irq_info(const struct vfu_function *f, const struct vfu_request *r,
                           struct vfu_reply *ret)
{
    switch (r->index) {
    case VFU_IRQ_INTX:
        vfu_reply_irqs(r, VFU_IRQ_EVENTFD | VFU_IRQ_MASKABLE | VFU_IRQ_AUTOMASKED, f->has_line,
                       ret);
        break;
    case VFU_IRQ_MSIX:
        vfu_reply_irqs(r, VFU_IRQ_EVENTFD | VFU_IRQ_NORESIZE, f->n_vectors, ret);
        break;
    case VFU_IRQ_ERROR: /* without it QEMU warns that errors cannot be recovered from */
        vfu_reply_irqs(r, VFU_IRQ_EVENTFD, 1, ret);
        break;
    default:
        vfu_reply_irqs(r, 0, 0, ret);
    }
}

/* --- Regions ---------------------------------------------------------------------------------- */

static uint32_t region_bytes(const struct vfu_function *f, uint32_t index)
{
    if (index < PCI_BARS)
        return f->bar_bytes[index];
    return index == VFU_REGION_CONFIG ? f->config_bytes : 0;
}

/* Keeps the part of a written value that is in a register of 4 bytes at @at. */
static void keep_register(uint32_t *reg, uint32_t at, uint32_t offset, const uint8_t *data,
                          uint32_t n)
{
    uint8_t bytes[4];

    st_le32(bytes, *reg);
    for (uint32_t i = 0; i < n; i++) {
        if (offset + i >= at && offset + i < at + sizeof(bytes))
            bytes[offset + i - at] = data[i];
    }
    *reg = ld_le32(bytes);
}

/* Keeps what the client has written to configuration space, as far as it is needed here. */
static void config_was_written(struct vfu_function *f, uint32_t offset, const uint8_t *data,
                               uint32_t n)
{
    const bool was_master = (f->command & PCI_CMD_MASTER) != 0;
    const uint32_t control = f->express + EXPRESS_AT_CONTROL;
    uint32_t express_control = 0;

    for (uint32_t i = 0; i < PCI_BARS; i++)
        keep_register(&f->bars[i], PCI_BAR0 + BAR_BYTES * i, offset, data, n);
    keep_register(&f->command, PCI_COMMAND, offset, data, n);
    f->command &= UINT16_MAX;
    if (f->express)
        keep_register(&express_control, control, offset, data, n);
    if (express_control & EXPRESS_CONTROL_RESET)
        was_reset_by_guest(f);
    if (!was_master && (f->command & PCI_CMD_MASTER))
        f->wrong = vfu_memory_obstacle(f->memory, f->number);
    fill_table(f);
}

/* The width of the next access of a transfer that has @left bytes left at @offset: a whole power of
 * two stays one access, anything else is cut into aligned ones.
 */
static uint32_t next_width(uint64_t offset, uint32_t left, bool config)
{
    const uint32_t most = config ? 4 : 8;

    if (left <= most && (left & (left - 1)) == 0 && (!config || offset % left == 0))
        return left;
    for (uint32_t width = most; width > 1; width /= 2) {
        if (width <= left && offset % width == 0)
            return width;
    }
    return 1;
}

static void transfer(struct vfu_function *f, const struct vfu_request *r, uint8_t *data)
{
    struct rdl_vm_access a = {.function = f->number,
                              .config = r->index == VFU_REGION_CONFIG,
                              .write = r->command == VFU_REGION_WRITE};
    uint8_t bytes[8];

    for (uint32_t done = 0; done < r->count; done += a.bytes) {
        const uint64_t offset = r->offset + done;

        a.bytes = next_width(offset, r->count - done, a.config);
        a.addr = a.config ? offset : bar_address(f, r->index, offset);
        memset(bytes, 0, sizeof(bytes));
        if (a.write)
            memcpy(bytes, r->data + done, a.bytes);
        a.value = ld_le64(bytes);
        st_le64(bytes, access_function(f, &a));
        if (!a.write)
            memcpy(data + done, bytes, a.bytes);
        f->accesses++;
    }
}

static void access_region(struct vfu_function *f, const struct vfu_request *r,
                          struct vfu_reply *ret)
{
    const uint32_t bytes = region_bytes(f, r->index);
    uint8_t data[VFU_DATA_MAX];

    if (r->offset > bytes || r->count > bytes - r->offset) {
        vfu_reply_error(r, EINVAL, ret);
        return;
    }
    transfer(f, r, data);
    if (r->command == VFU_REGION_READ) {
        vfu_reply_read(r, data, ret);
        return;
    }
    if (r->index == VFU_REGION_CONFIG)
        config_was_written(f, (uint32_t)r->offset, r->data, r->count);
    vfu_reply_written(r, ret);
}

/* --- Requests --------------------------------------------------------------------------------- */

static int map(struct vfu_function *f, const struct vfu_request *r, const int *fds, unsigned n_fds)
{
    const struct vfu_region_map m = {.gpa = r->address,
                                     .bytes = r->bytes,
                                     .offset = r->offset,
                                     .fd = n_fds > 0 ? fds[0] : -1,
                                     .writable = (r->flags & VFU_MAP_WRITE) != 0};
    const int error = vfu_memory_map(f->memory, f->number, &m);

    f->maps++;
    if (error == EPERM)
        f->wrong = vm_memory_shrinks;
    return error;
}

static int unmap(struct vfu_function *f, const struct vfu_request *r)
{
    if (r->flags & ~(uint32_t)VFU_UNMAP_ALL)
        return ENOTSUP; /* bitmaps of dirty pages */
    if (r->flags & VFU_UNMAP_ALL)
        vfu_memory_unmap_all(f->memory, f->number);
    else
        vfu_memory_unmap(f->memory, f->number, r->address, r->bytes);
    return 0;
}

static void reset(struct vfu_function *f)
{
    (void)!rdl_vm_reset(f->lab, f->host, f->number);
    was_reset(f);
}

static void reply_result(const struct vfu_request *r, int error, struct vfu_reply *ret)
{
    if (error)
        vfu_reply_error(r, error, ret);
    else
        vfu_reply_empty(r, ret);
}

void vfu_function_execute(struct vfu_function *f, const uint8_t *message, int *fds, unsigned n_fds,
                          struct vfu_reply *ret)
{
    struct vfu_request r;
    const int error = vfu_request_read(message, &r);

    if (error) {
        vfu_reply_error(&r, error, ret);
        return;
    }
    switch (r.command) {
    case VFU_VERSION:
        if (r.major == 0)
            vfu_reply_version(&r, ret);
        else
            vfu_reply_error(&r, ENOTSUP, ret);
        break;
    case VFU_DMA_MAP:
        reply_result(&r, map(f, &r, fds, n_fds), ret);
        break;
    case VFU_DMA_UNMAP:
        reply_result(&r, unmap(f, &r), ret);
        break;
    case VFU_DEVICE_GET_INFO:
        vfu_reply_device(&r, ret);
        break;
    case VFU_GET_REGION_INFO:
        vfu_reply_region(&r, region_bytes(f, r.index), ret);
        break;
    case VFU_GET_IRQ_INFO:
        reply_irq_info(f, &r, ret);
        break;
    case VFU_SET_IRQS:
        reply_result(&r, set_irqs(f, &r, fds, n_fds), ret);
        break;
    case VFU_DEVICE_RESET:
        reset(f);
        vfu_reply_empty(&r, ret);
        break;
    default:
        access_region(f, &r, ret);
    }
}
