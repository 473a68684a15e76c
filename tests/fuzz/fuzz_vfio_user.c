/* SPDX-License-Identifier: MIT */
/* A client of vfio-user that sends anything: messages of arbitrary bytes, and such that are right
 * but for some fields, with descriptors of memory, eventfds, and others.
 *
 * Host h1 has a virtual machine, and a client at each of its functions.  The lab is made anew for
 * each input.  An input is a list of actions, each a byte and its operands: a message to a
 * function, a driver that comes up, time.
 *
 * Checked: a reply answers its request, and is there unless it was not wanted; no descriptor is
 * lost or closed twice; the host's memory is that of the client, and is gone with it; the lab goes
 * on.
 */
#define _GNU_SOURCE /* memfd_create() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name \
                                          */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/live/vfu_function.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/regs.h"
#include "fuzz.h"
#include "input.h"
#include "rdmalab/inspect.h"
#include "rdmalab/lab.h"

#define DEEDS_MAX  96u
#define FDS_MAX    4u
#define FILE_BYTES (64u * 4096u)
#define BODY_MAX   96u
#define BAR_AT     0xfe000000u

enum deed { BYTES, ACCESS, MAP, UNMAP, IRQS, DRIVER, WAIT, DEED_COUNT };

static const struct rdl_limits bounded = {.ticks = 10000};

/* The state that an input acts on. */
static struct bed {
    struct rdl_lab *lab;
    rdl_host host;
    rdl_link link;
    bool up; /* the link */
    struct vfu_memory memory;
    struct vfu_function functions[VFU_FUNCTIONS];
    int file, event, null; /* descriptors that are sent as copies */
} bed;

static void on_interrupt(void *ctx, uint32_t function, uint64_t address, uint32_t data)
{
    (void)ctx;
    vfu_function_interrupt(&bed.functions[function], address, data);
}

static void begin(void)
{
    const struct rdl_lab_config config = {.seed = 1};
    const struct rdl_host_config host = {.name = "h1", .external = true};
    const struct rdl_link_config link = {.a = "h1", .b = "s1"};
    rdl_switch sw;

    FUZZ_CHECK(rdl_lab_new(&config, &bed.lab) == RDL_OK);
    FUZZ_CHECK(rdl_host_add(bed.lab, &host, &bed.host) == RDL_OK);
    FUZZ_CHECK(rdl_switch_add(bed.lab, "s1", &sw) == RDL_OK);
    FUZZ_CHECK(rdl_link_add(bed.lab, &link, &bed.link) == RDL_OK);
    FUZZ_CHECK(rdl_vm_listen(bed.lab, bed.host, on_interrupt, NULL) == RDL_OK);
    bed.up = true;
    vfu_memory_init(&bed.memory, bed.lab, bed.host);
    for (uint32_t i = 0; i < VFU_FUNCTIONS; i++)
        vfu_function_init(&bed.functions[i], &bed.memory, i);
}

static void go_on(uint64_t ns)
{
    const enum rdl_status st = rdl_run(bed.lab, rdl_now_ns(bed.lab) + ns, bounded);

    FUZZ_CHECK(st == RDL_OK || st == RDL_ERR_IDLE);
}

/* --- Messages --------------------------------------------------------------------------------- */

static void expect_reply(const uint8_t *message, const struct vfu_reply *r)
{
    const bool wanted = (ld_le32(message + 8) & VFU_NO_REPLY) == 0;

    FUZZ_CHECK((r->n > 0) == wanted);
    if (!wanted)
        return;
    FUZZ_CHECK(r->n <= sizeof(r->bytes) && ld_le32(r->bytes + 4) == r->n);
    FUZZ_CHECK(memcmp(r->bytes, message, 4) == 0); /* number and command */
    FUZZ_CHECK((ld_le32(r->bytes + 8) & VFU_TYPE) == VFU_REPLY);
    FUZZ_CHECK(((ld_le32(r->bytes + 8) & VFU_ERROR) != 0) == (ld_le32(r->bytes + 12) != 0));
}

/* Sends a message, of which the size is entered here, with descriptors that @in selects. */
static void send_message(uint32_t function, uint8_t *message, size_t n, struct input *in)
{
    const int sources[] = {bed.file, bed.event, bed.null};
    const uint8_t which = input_u8(in);
    const unsigned n_fds = which % (FDS_MAX + 1);
    struct vfu_reply reply = {.n = 0};
    int fds[FDS_MAX];
    size_t size = 0;

    st_le32(message + 4, (uint32_t)n);
    if (!vfu_message_size(message, &size))
        return; /* the connection ends */
    FUZZ_CHECK(size == n);
    for (unsigned i = 0; i < n_fds; i++) {
        fds[i] = fcntl(sources[(which / (FDS_MAX + 1) + i) % 3], F_DUPFD_CLOEXEC, 0);
        FUZZ_CHECK(fds[i] >= 0);
    }
    vfu_function_execute(&bed.functions[function], message, fds, n_fds, &reply);
    expect_reply(message, &reply);
    for (unsigned i = 0; i < n_fds; i++)
        FUZZ_CHECK(fds[i] < 0 || close(fds[i]) == 0);
}

static void do_bytes(uint32_t function, struct input *in)
{
    uint8_t message[VM_HEADER_BYTES + BODY_MAX] = {0};
    const size_t n = VM_HEADER_BYTES + input_u8(in) % (BODY_MAX + 1);

    for (size_t i = 0; i < n; i++)
        message[i] = input_u8(in);
    message[3] = 0; /* most commands are unknown otherwise */
    send_message(function, message, n, in);
}

/* Begins a message @command that is right; bits of @how make it posted. */
static uint8_t *begin_message(uint8_t message[VM_HEADER_BYTES + BODY_MAX], uint16_t command,
                              uint8_t how)
{
    memset(message, 0, VM_HEADER_BYTES + BODY_MAX);
    st_le16(message, 7);
    st_le16(message + 2, command);
    st_le32(message + 8, how & 0x80 ? VFU_NO_REPLY : 0);
    return message + VM_HEADER_BYTES;
}

static void put_access(uint32_t function, bool write, uint32_t region, uint64_t offset,
                       uint32_t bytes, uint64_t value, struct input *in)
{
    uint8_t message[VM_HEADER_BYTES + BODY_MAX];
    uint8_t *body =
        begin_message(message, write ? VFU_REGION_WRITE : VFU_REGION_READ, write ? 0x80 : 0);

    st_le64(body, offset);
    st_le32(body + 8, region);
    st_le32(body + 12, bytes);
    st_le64(body + 16, value);
    send_message(function, message,
                 VM_HEADER_BYTES + 16 + (write && bytes < BODY_MAX - 16 ? bytes : 0), in);
}

static void do_access(uint32_t function, struct input *in)
{
    const uint8_t how = input_u8(in);
    const uint32_t region = how & 2 ? VFU_REGION_CONFIG : (how >> 2) % 3;

    put_access(function, how & 1, region, input_u16(in), (how >> 4) + 1, input_u64(in), in);
}

/* Addresses are near each other, so that regions overlap, and some are of another function, too. */
static void do_map(uint32_t function, struct input *in)
{
    uint8_t message[VM_HEADER_BYTES + BODY_MAX];
    const uint8_t how = input_u8(in);
    uint8_t *body = begin_message(message, VFU_DMA_MAP, how);

    st_le32(body, 32);
    st_le32(body + 4, how % 4);
    st_le64(body + 8, (uint64_t)(input_u8(in) % 72) << 12);
    st_le64(body + 16, (uint64_t)input_u8(in) << 12);
    st_le64(body + 24, (uint64_t)input_u8(in) << 12);
    send_message(function, message, VM_HEADER_BYTES + 32, in);
}

static void do_unmap(uint32_t function, struct input *in)
{
    uint8_t message[VM_HEADER_BYTES + BODY_MAX];
    const uint8_t how = input_u8(in);
    uint8_t *body = begin_message(message, VFU_DMA_UNMAP, how);

    st_le32(body, 24);
    st_le32(body + 4, how % 3);
    st_le64(body + 8, (uint64_t)input_u8(in) << 12);
    st_le64(body + 16, how & 0x40 ? UINT64_MAX : (uint64_t)input_u8(in) << 12);
    send_message(function, message, VM_HEADER_BYTES + 24, in);
}

static void do_irqs(uint32_t function, struct input *in)
{
    static const uint8_t flags[] = {0x24, 0x21, 0x11, 0x09, 0x22, 0x14};
    uint8_t message[VM_HEADER_BYTES + BODY_MAX];
    const uint8_t how = input_u8(in);
    uint8_t *body = begin_message(message, VFU_SET_IRQS, how);

    st_le32(body, 20);
    st_le32(body + 4, flags[how % ARRAY_LEN(flags)]);
    st_le32(body + 8, input_u8(in) % (VFU_IRQS + 1));
    st_le32(body + 12, input_u8(in));
    st_le32(body + 16, input_u8(in));
    send_message(function, message, VM_HEADER_BYTES + 20, in);
}

/* A driver of virtio-net that comes up, with rings anywhere, and is interrupted by the link. */
static void do_driver(struct input *in)
{
    const uint8_t how = input_u8(in);

    put_access(0, true, VFU_REGION_CONFIG, PCI_BAR0, 4, BAR_AT, in);
    put_access(0, true, VFU_REGION_CONFIG, PCI_BAR1, 4, BAR_AT + (how & 1 ? 0 : 0x100000), in);
    put_access(0, true, VFU_REGION_CONFIG, PCI_COMMAND, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER, in);
    if (how & 2)
        put_access(0, true, VFU_REGION_CONFIG, PCI_AT_MSIX + 2, 2, MSIX_ENABLE, in);
    for (uint32_t status = 1; status <= 3; status = 2 * status + 1)
        put_access(0, true, 0, REG_DEVICE_STATUS, 1, status, in);
    put_access(0, true, 0, REG_DRIVER_FEATURE_SELECT, 4, 1, in);
    put_access(0, true, 0, REG_DRIVER_FEATURE, 4, 1, in);
    put_access(0, true, 0, REG_CONFIG_MSIX_VECTOR, 2, 0, in);
    put_access(0, true, 0, REG_DEVICE_STATUS, 1, 11, in);
    put_access(0, true, 0, REG_QUEUE_DESC, 8, (uint64_t)input_u8(in) << 12, in);
    put_access(0, true, 0, REG_QUEUE_ENABLE, 2, 1, in);
    put_access(0, true, 0, REG_DEVICE_STATUS, 1, 15, in);
    bed.up = !bed.up;
    FUZZ_CHECK(rdl_link_raise(bed.lab, bed.link, bed.up) == RDL_OK);
}

static void act(struct input *in)
{
    const uint8_t how = input_u8(in);
    const uint32_t function = how & 0x80 ? 1 : 0;

    switch ((enum deed)(how % 0x80 % DEED_COUNT)) {
    case BYTES:
        do_bytes(function, in);
        break;
    case ACCESS:
        do_access(function, in);
        break;
    case MAP:
        do_map(function, in);
        break;
    case UNMAP:
        do_unmap(function, in);
        break;
    case IRQS:
        do_irqs(function, in);
        break;
    case DRIVER:
        do_driver(in);
        break;
    default:
        go_on((uint64_t)input_u8(in) * 1000);
    }
}

/* --- The target ------------------------------------------------------------------------------- */

static void end(void)
{
    uint8_t byte;

    go_on(1000000);
    for (uint32_t i = 0; i < VFU_FUNCTIONS; i++) {
        vfu_function_done(&bed.functions[i]);
        FUZZ_CHECK(bed.functions[i].line_eventfd < 0);
        for (uint32_t v = 0; v < VFU_VECTORS_MAX; v++)
            FUZZ_CHECK(bed.functions[i].eventfds[v] < 0);
    }
    FUZZ_CHECK(bed.memory.files.n_files == 0);
    for (uint64_t gpa = 0; gpa < UINT64_C(512) << 12; gpa += 4096)
        FUZZ_CHECK(rdl_ram_read(bed.lab, bed.host, gpa, &byte, 1) == RDL_ERR_FAULT);
    go_on(1000000);
    vfu_memory_done(&bed.memory);
    rdl_lab_free(bed.lab);
}

static void open_files(void)
{
    bed.file = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    bed.event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    bed.null = open("/dev/null", O_RDWR | O_CLOEXEC);
    FUZZ_CHECK(bed.file >= 0 && bed.event >= 0 && bed.null >= 0);
}

static void close_files(void)
{
    FUZZ_CHECK(close(bed.file) == 0 && close(bed.event) == 0 && close(bed.null) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct input in = {data, n};

    open_files();
    FUZZ_CHECK(ftruncate(bed.file, FILE_BYTES) == 0);
    begin();
    for (unsigned i = 0; i < DEEDS_MAX && in.n > 0; i++)
        act(&in);
    end();
    close_files();
    return 0;
}
