/* SPDX-License-Identifier: MIT */
/* A driver that accesses its functions arbitrarily: configuration space, both BARs, every offset
 * and width.
 *
 * It is the driver of h1 in the lab of hostile_host.h, which the first byte of an input selects.
 * The rest is a list of actions: accesses anywhere, or to the registers of a queue and of the
 * device status; moves of queues to any address; kicks, work and time.
 *
 * Checked: what hostile_host.h lists.  An access is refused only because of its place; the value
 * read fits the width; configuration space reads the same as without the access.
 */
#include "emu/facts/enum/pci_field.h"
#include "hostile_host.h"
#include "rdmalab/inspect.h"
#include "rdmalab/pci.h"

#define DEEDS_MAX    96u
#define BAR_OFFSETS  0x7fffu /* masks: behind the ends of both BARs, too */
#define CONFIG_BYTES 0x1ffu  /* and of configuration space */
#define ZONE_OFFSETS 0xeff0u
#define WINDOW_AT    (PCI_AT_ACCESS + VIRTIO_AT_ACCESS_DATA)
#define WINDOW_BYTES 4u

enum deed { READ, WRITE, LIFE, QUEUE, KICK, WAIT, POST, DEED_COUNT };

static const uint32_t widths[] = {1, 2, 4, 8};

static struct rdl_pci_place place(struct input *in)
{
    const uint8_t how = input_u8(in);
    const struct rdl_pci_place p = {.number = how & 1,
                                    .space = (enum rdl_pci_space)((how >> 1) % 3),
                                    .offset = input_u16(in),
                                    .width = widths[(how >> 4) & 3]};
    struct rdl_pci_place in_space = p;

    in_space.offset &= p.space == RDL_PCI_CONFIG ? CONFIG_BYTES : BAR_OFFSETS;
    return in_space;
}

static bool is_window(const struct rdl_pci_place *p)
{
    return p->offset < WINDOW_AT + WINDOW_BYTES && p->offset + p->width > WINDOW_AT;
}

static void look(const struct hostile_lab *h, struct input *in)
{
    const struct rdl_pci_place p = place(in);
    uint64_t before = 0, value = 0;
    const bool is_config = p.space == RDL_PCI_CONFIG;
    const enum rdl_status peeked =
        is_config ? rdl_pci_peek(h->lab, h->host, &p, &before) : RDL_ERR_INVAL;
    const enum rdl_status st = rdl_pci_read(h->lab, h->host, &p, &value);

    FUZZ_CHECK(st == RDL_OK || st == RDL_ERR_INVAL);
    FUZZ_CHECK(!is_config || st == peeked);
    if (st != RDL_OK)
        return;
    FUZZ_CHECK(p.width == 8 || value >> (8 * p.width) == 0);
    /* The window in configuration space reads a BAR when it is read; all else is as it was. */
    FUZZ_CHECK(!is_config || is_window(&p) || value == before);
}

static void put(const struct hostile_lab *h, struct input *in)
{
    const struct rdl_pci_place p = place(in);
    const enum rdl_status st = rdl_pci_write(h->lab, h->host, &p, input_u64(in));

    FUZZ_CHECK(st == RDL_OK || st == RDL_ERR_INVAL);
}

/* Status bits, features, and the command register. */
static void live(const struct hostile_lab *h, struct input *in)
{
    const uint8_t how = input_u8(in);
    const enum pci_function f = how & 1 ? FN_RDMA : FN_NET;
    const struct rdl_pci_place command = {
        .number = (uint32_t)f, .space = RDL_PCI_CONFIG, .offset = PCI_COMMAND, .width = 2};
    enum rdl_status st;

    switch ((how >> 1) % 4) {
    case 0:
        hostile_put(h, f, REG_DEVICE_STATUS, 1, input_u8(in));
        break;
    case 1:
        hostile_put(h, f, REG_DRIVER_FEATURE_SELECT, 4, input_u8(in) % 3);
        hostile_put(h, f, REG_DRIVER_FEATURE, 4, input_u32(in));
        break;
    case 2:
        st = rdl_pci_write(h->lab, h->host, &command, input_u8(in));
        FUZZ_CHECK(st == RDL_OK);
        break;
    default:
        hostile_put(h, f, REG_CONFIG_MSIX_VECTOR, 2, input_u16(in));
    }
}

/* One register of one queue, or all of them. */
static void queue(struct hostile_lab *h, struct input *in)
{
    static const struct {
        enum reg reg;
        uint32_t width;
    } regs[] = {{REG_QUEUE_SIZE, 2}, {REG_QUEUE_MSIX_VECTOR, 2}, {REG_QUEUE_ENABLE, 2},
                {REG_QUEUE_DESC, 8}, {REG_QUEUE_DRIVER, 8},      {REG_QUEUE_DEVICE, 8},
                {REG_QUEUE_RESET, 2}};
    const enum hostile_ring ring = hostile_ring_of(in);
    const enum pci_function f = hostile_function(ring);
    const uint8_t how = input_u8(in);
    const unsigned i = how % (ARRAY_LEN(regs) + 1);
    const uint64_t value = input_u16(in);

    if (i == ARRAY_LEN(regs)) {
        struct vring to = {.size = 1u << (how >> 3) % 9, .desc = h->zone + (value & ZONE_OFFSETS)};

        to.avail = h->zone + (input_u16(in) & ZONE_OFFSETS);
        to.used = h->zone + (input_u16(in) & ZONE_OFFSETS);
        hostile_move(h, ring, &to);
        return;
    }
    hostile_put(h, f, REG_QUEUE_SELECT, 2, how & 0x80 ? value : hostile_queue(h, ring));
    hostile_put(h, f, (uint32_t)regs[i].reg, regs[i].width,
                regs[i].width == 8 && how & 0x40 ? input_u64(in) : value);
}

static void do_deed(struct hostile_lab *h, struct input *in)
{
    switch (input_u8(in) % DEED_COUNT) {
    case READ:
        look(h, in);
        break;
    case WRITE:
        put(h, in);
        break;
    case LIFE:
        live(h, in);
        break;
    case QUEUE:
        queue(h, in);
        break;
    case KICK:
        hostile_do_kick(h, in);
        break;
    case WAIT:
        hostile_do_wait(h, in);
        break;
    default:
        hostile_do_post(h, in);
    }
}

const struct hostile_target hostile_target = {.deeds_max = DEEDS_MAX, .deed = do_deed};
