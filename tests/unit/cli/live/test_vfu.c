/* SPDX-License-Identifier: MIT */
/* Tests of a host whose guest reaches it by vfio-user.  The client is this program, as in
 * test_vm.c: "test_vfu machine NAME -device {...}" connects to the sockets that are named there.
 */
#define _GNU_SOURCE /* memfd_create() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name \
                                          */
#include "vm_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "cli/live/vfu_memory.h"
#include "cli/live/vfu_wire.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/regs.h"

/* --- The machine ------------------------------------------------------------------------------ */

#define BAR0    0xfe000000u
#define BAR1    0xfe100000u
#define MEMORY  (256u * 4096u)
#define CONFIG  VFU_REGION_CONFIG
#define FDS_MAX 17u /* one more than a message may have */

static int sockets[VFU_FUNCTIONS]; /* of the machine, to the functions */
static uint16_t next_id;

/* Sends a request with descriptors.  Returns its number. */
static uint16_t put(int fd, uint16_t command, uint32_t flags, const uint8_t *body, size_t n,
                    const int *fds, size_t n_fds)
{
    union {
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
        struct cmsghdr aligned;
    } control = {{0}};
    uint8_t out[512] = {0};
    struct iovec data = {out, VM_HEADER_BYTES + n};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};

    st_le16(out, ++next_id);
    st_le16(out + 2, command);
    st_le32(out + 4, (uint32_t)(VM_HEADER_BYTES + n));
    st_le32(out + 8, flags);
    if (n > 0)
        memcpy(out + VM_HEADER_BYTES, body, n);
    if (n_fds > 0) {
        m.msg_control = control.bytes;
        m.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
        *CMSG_FIRSTHDR(&m) = (struct cmsghdr){.cmsg_len = CMSG_LEN(n_fds * sizeof(int)),
                                              .cmsg_level = SOL_SOCKET,
                                              .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&m)), fds, n_fds * sizeof(int));
    }
    must(sendmsg(fd, &m, 0) == (ssize_t)(VM_HEADER_BYTES + n), "a socket");
    return next_id;
}

static void read_all(int fd, uint8_t *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        const ssize_t more = read(fd, to + got, n - got);

        must(more > 0, "a reply");
        got += (size_t)more;
    }
}

/* Reads the reply to request @id.  Returns its errno; the body is in @body, *@ret_n bytes of it. */
static uint32_t get(int fd, uint16_t id, uint8_t body[VFU_REPLY_BYTES], size_t *ret_n)
{
    uint8_t h[VM_HEADER_BYTES];
    uint32_t flags;

    read_all(fd, h, sizeof(h));
    flags = ld_le32(h + 8);
    must(ld_le16(h) == id && (flags & VFU_TYPE) == VFU_REPLY, "the reply to its request");
    *ret_n = ld_le32(h + 4) - VM_HEADER_BYTES;
    must(*ret_n <= VFU_REPLY_BYTES, "a reply that is not too long");
    read_all(fd, body, *ret_n);
    return flags & VFU_ERROR ? ld_le32(h + 12) : 0;
}

/* Sends a request and waits for the reply.  Returns its errno. */
static uint32_t ask(int fd, uint16_t command, const uint8_t *body, size_t n, const int *fds,
                    size_t n_fds, uint8_t ret[VFU_REPLY_BYTES])
{
    size_t n_ret;

    return get(fd, put(fd, command, 0, body, n, fds, n_fds), ret, &n_ret);
}

static void access_body(uint8_t body[24], uint32_t region, uint64_t offset, uint32_t bytes,
                        uint64_t value)
{
    st_le64(body, offset);
    st_le32(body + 8, region);
    st_le32(body + 12, bytes);
    st_le64(body + 16, value);
}

static uint64_t reads(int fd, uint32_t region, uint64_t offset, uint32_t bytes)
{
    uint8_t body[24], ret[VFU_REPLY_BYTES] = {0};

    access_body(body, region, offset, bytes, 0);
    must(ask(fd, VFU_REGION_READ, body, 16, NULL, 0, ret) == 0, "a read");
    return ld_le64(ret + 16) & (UINT64_MAX >> (64 - 8 * bytes));
}

static void writes(int fd, uint32_t region, uint64_t offset, uint32_t bytes, uint64_t value)
{
    uint8_t body[24], ret[VFU_REPLY_BYTES];

    access_body(body, region, offset, bytes, value);
    must(ask(fd, VFU_REGION_WRITE, body, 16 + bytes, NULL, 0, ret) == 0, "a write");
}

static void posts(int fd, uint32_t region, uint64_t offset, uint32_t bytes, uint64_t value)
{
    uint8_t body[24];

    access_body(body, region, offset, bytes, value);
    (void)put(fd, VFU_REGION_WRITE, VFU_NO_REPLY, body, 16 + bytes, NULL, 0);
}

/* Maps @bytes of a file at @gpa; @memory_fd may be -1.  Returns the errno. */
static uint32_t maps(int fd, int memory_fd, uint64_t gpa, uint64_t bytes, uint64_t offset)
{
    uint8_t body[32], ret[VFU_REPLY_BYTES];

    st_le32(body, sizeof(body));
    st_le32(body + 4, VFU_MAP_READ | VFU_MAP_WRITE);
    st_le64(body + 8, offset);
    st_le64(body + 16, gpa);
    st_le64(body + 24, bytes);
    return ask(fd, VFU_DMA_MAP, body, sizeof(body), &memory_fd, memory_fd >= 0, ret);
}

static uint32_t unmaps(int fd, uint32_t flags, uint64_t gpa, uint64_t bytes)
{
    uint8_t body[24], ret[VFU_REPLY_BYTES];

    st_le32(body, sizeof(body));
    st_le32(body + 4, flags);
    st_le64(body + 8, gpa);
    st_le64(body + 16, bytes);
    return ask(fd, VFU_DMA_UNMAP, body, sizeof(body), NULL, 0, ret);
}

static uint32_t sets_irqs(int fd, uint32_t flags, uint32_t index, uint32_t start, uint32_t count,
                          const int *fds, size_t n_fds)
{
    uint8_t body[20], ret[VFU_REPLY_BYTES];

    st_le32(body, sizeof(body));
    st_le32(body + 4, flags);
    st_le32(body + 8, index);
    st_le32(body + 12, start);
    st_le32(body + 16, count);
    return ask(fd, VFU_SET_IRQS, body, sizeof(body), fds, n_fds, ret);
}

static void resets(int fd)
{
    uint8_t ret[VFU_REPLY_BYTES];

    must(ask(fd, VFU_DEVICE_RESET, NULL, 0, NULL, 0, ret) == 0, "a reset");
}

/* Memory of which the firmware has written something. */
static int makes_memory(void)
{
    const int file = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    must(file >= 0 && ftruncate(file, MEMORY) == 0 && pwrite(file, "IVT", 3, 0x400) == 3, "memory");
    return file;
}

static int connects(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    must(connect(fd, (const struct sockaddr *)&at, sizeof(at)) == 0, "a socket that listens");
    return fd;
}

/* Connects to the functions, and asks for the version and the shape of each as QEMU does. */
static void connects_to_all(int argc, char **argv)
{
    static const uint32_t vectors[] = {3, 61};
    static const uint8_t version[] = {0, 0, 0, 0, '{', '}', 0};
    uint8_t ret[VFU_REPLY_BYTES], info[16] = {16}, region[32] = {32};
    uint32_t n = 0;

    for (int i = 0; i < argc; i++) {
        char *path = strstr(argv[i], "\"path\":\"");

        if (!path || n == VFU_FUNCTIONS)
            continue;
        path += strlen("\"path\":\"");
        *strchr(path, '"') = '\0';
        sockets[n++] = connects(path);
    }
    must(n == VFU_FUNCTIONS, "$LAB with two sockets");
    for (uint32_t i = 0; i < n; i++) {
        must(ask(sockets[i], VFU_VERSION, version, 7, NULL, 0, ret) == 0 && ld_le32(ret) == 0,
             "version 0.0");
        must(ask(sockets[i], VFU_DEVICE_GET_INFO, info, 16, NULL, 0, ret) == 0 &&
                 ld_le32(ret + 8) == VFU_REGIONS,
             "regions");
        st_le32(info + 8, VFU_IRQ_MSIX);
        must(ask(sockets[i], VFU_GET_IRQ_INFO, info, 16, NULL, 0, ret) == 0 &&
                 ld_le32(ret + 12) == vectors[i],
             "vectors");
        st_le32(region + 8, CONFIG);
        must(ask(sockets[i], VFU_GET_REGION_INFO, region, 32, NULL, 0, ret) == 0 &&
                 ld_le64(ret + 16) == 256,
             "configuration space");
        st_le32(region + 8, 0);
        must(ask(sockets[i], VFU_GET_REGION_INFO, region, 32, NULL, 0, ret) == 0 &&
                 ld_le64(ret + 16) == 0x20000,
             "a BAR");
    }
}

/* Does what firmware and kernel do first, up to a device that may write to memory. */
static void boots(void)
{
    const int file = makes_memory(), fd = sockets[0];
    uint8_t body[16], ret[VFU_REPLY_BYTES];

    must(maps(fd, file, 0, MEMORY / 2, 0) == 0, "memory");
    must(maps(fd, file, MEMORY, MEMORY / 2, MEMORY / 2) == 0, "more memory of the same file");
    must(maps(fd, -1, 0xfffc0000, 0x40000, 0) == 0, "a flash, which has no descriptor");
    must(reads(fd, CONFIG, 0x00, 4) == 0x10411af4, "virtio-net");
    must(reads(sockets[1], CONFIG, 0x00, 4) == 0x106a1af4, "virtio-rdma");
    st_le64(body, 0);
    st_le32(body + 8, CONFIG);
    st_le32(body + 12, 256);
    must(ask(fd, VFU_REGION_READ, body, 16, NULL, 0, ret) == 0, "configuration space at once");
    must(ld_le32(ret + 16) == 0x10411af4 && ld_le16(ret + 16 + 0x2e) == 0x41, "all of it");
    resets(fd);
    writes(fd, CONFIG, 0x10, 4, BAR0);
    writes(fd, CONFIG, 0x14, 4, BAR1);
    must(reads(fd, 0, REG_NUM_QUEUES, 2) == 0xffff, "a BAR that is off at first");
    writes(fd, CONFIG, 0x04, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    must(reads(fd, 0, REG_NUM_QUEUES, 2) == 2, "two queues");
}

/* Finds the MSI-X capability and enables it. */
static void enables_msix(int fd)
{
    uint64_t cap = reads(fd, CONFIG, 0x34, 1);

    while (cap && reads(fd, CONFIG, cap, 1) != PCI_CAP_ID_MSIX)
        cap = reads(fd, CONFIG, cap + 1, 1);
    must(cap != 0, "MSI-X");
    writes(fd, CONFIG, cap + 2, 2, MSIX_ENABLE);
}

/* Brings the driver of virtio-net up; its changes interrupt by vector 0.  The writes are posted,
 * and a read waits for them.
 */
static void drives(int fd)
{
    for (uint32_t status = 1; status <= 3; status = 2 * status + 1)
        posts(fd, 0, REG_DEVICE_STATUS, 1, status);
    posts(fd, 0, REG_DRIVER_FEATURE_SELECT, 4, 1);
    posts(fd, 0, REG_DRIVER_FEATURE, 4, 1); /* VERSION_1 */
    posts(fd, 0, REG_DRIVER_FEATURE_SELECT, 4, 0);
    posts(fd, 0, REG_DRIVER_FEATURE, 4, 1u << 16); /* STATUS of the link */
    posts(fd, 0, REG_CONFIG_MSIX_VECTOR, 2, 0);
    posts(fd, 0, REG_DEVICE_STATUS, 1, 11);
    posts(fd, 0, REG_DEVICE_STATUS, 1, 15);
    must(reads(fd, 0, REG_DEVICE_STATUS, 1) == 15, "DRIVER_OK");
}

static int makes_eventfd(void)
{
    const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    must(fd >= 0, "an eventfd");
    return fd;
}

/* Tells the lab that it may interrupt, and waits until it does. */
static void says_and_awaits(const char *what, int eventfd)
{
    struct pollfd p = {.fd = eventfd, .events = POLLIN};
    uint64_t n;

    puts(what);
    fflush(stdout);
    must(poll(&p, 1, 30000) == 1 && read(eventfd, &n, sizeof(n)) == sizeof(n) && n == 1,
         "an interrupt");
}

static void is_interrupted(void)
{
    const int fd = sockets[0], first = makes_eventfd(), second = makes_eventfd();
    const int both[] = {first, second};
    uint64_t n;

    must(sets_irqs(fd, 0x24, VFU_IRQ_MSIX, 0, 2, both, 2) == 0, "eventfds before MSI-X");
    enables_msix(fd);
    /* Linux sets the vectors again for each one that it adds. */
    must(sets_irqs(fd, 0x24, VFU_IRQ_MSIX, 0, 1, &second, 1) == 0, "another eventfd");
    drives(fd);
    says_and_awaits("ready", second);
    must(read(first, &n, sizeof(n)) < 0, "an eventfd that was replaced");
    must(sets_irqs(fd, 0x21, VFU_IRQ_MSIX, 0, 0, NULL, 0) == 0, "all eventfds taken away");
    puts("quiet");
    fflush(stdout);
    for (unsigned i = 0; i < 200; i++)
        (void)reads(fd, CONFIG, 0, 4); /* the lab goes on */
    must(read(second, &n, sizeof(n)) < 0, "no interrupt without an eventfd");
}

/* By INTx the lab signals once, until the line is unmasked.  The line is high until ISR is read. */
static void is_interrupted_by_line(void)
{
    const int fd = sockets[0], line = makes_eventfd();
    uint64_t n;

    must(sets_irqs(fd, 0x24, VFU_IRQ_INTX, 0, 1, &line, 1) == 0, "an eventfd of the line");
    drives(fd);
    says_and_awaits("ready", line);
    must(sets_irqs(fd, 0x11, VFU_IRQ_INTX, 0, 1, NULL, 0) == 0, "unmasked");
    must(read(line, &n, sizeof(n)) == sizeof(n), "the line is still high");
    must(reads(fd, 0, 0x100, 1) == 2, "ISR: a change of the configuration");
    must(sets_irqs(fd, 0x11, VFU_IRQ_INTX, 0, 1, NULL, 0) == 0, "unmasked again");
    must(read(line, &n, sizeof(n)) < 0, "the line is low");
    says_and_awaits("low", line);
}

/* A guest that reboots: the same connection, nothing is left. */
static void reboots(void)
{
    const int fd = sockets[0];

    for (unsigned i = 0; i < 2; i++) {
        const int vector = makes_eventfd();

        enables_msix(fd);
        must(sets_irqs(fd, 0x24, VFU_IRQ_MSIX, 0, 1, &vector, 1) == 0, "an eventfd");
        drives(fd);
        says_and_awaits(i == 0 ? "first" : "second", vector);
        must(sets_irqs(fd, 0x21, VFU_IRQ_MSIX, 0, 0, NULL, 0) == 0, "no eventfd");
        resets(fd);
        must(reads(fd, CONFIG, 0x04, 2) == 0 && reads(fd, CONFIG, 0x10, 4) == 0,
             "a fresh function");
        writes(fd, CONFIG, 0x10, 4, BAR0);
        writes(fd, CONFIG, 0x14, 4, BAR1);
        writes(fd, CONFIG, 0x04, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
        must(reads(fd, 0, REG_DEVICE_STATUS, 1) == 0, "a device that was reset");
    }
}

/* Requests that are refused, each with its errno; the connection lives. */
static void asks_for_too_much(void)
{
    const int fd = sockets[0], file = makes_memory(), null = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int vector = makes_eventfd();
    uint8_t body[24] = {0}, ret[VFU_REPLY_BYTES];

    access_body(body, 0, 0x20000 - 2, 4, 0);
    must(ask(fd, VFU_REGION_READ, body, 16, NULL, 0, ret) == EINVAL, "beyond the BAR");
    access_body(body, 0, UINT64_MAX, 4, 0);
    must(ask(fd, VFU_REGION_WRITE, body, 20, NULL, 0, ret) == EINVAL, "an offset that wraps");
    access_body(body, 8, 0, 4, 0);
    must(ask(fd, VFU_REGION_READ, body, 16, NULL, 0, ret) == EINVAL, "no such region");
    access_body(body, UINT32_MAX, 0, 4, 0);
    must(ask(fd, VFU_REGION_READ, body, 16, NULL, 0, ret) == EINVAL, "no such region, either");
    must(ask(fd, 15, body, 24, NULL, 0, ret) == ENOTSUP, "WRITE_MULTI");
    must(ask(fd, VFU_VERSION, (const uint8_t *)"\1\0\0\0", 4, NULL, 0, ret) == ENOTSUP,
         "version 1");
    must(maps(fd, file, 4096, 4096, 0) == EEXIST, "memory where there is some");
    must(maps(fd, file, 1u << 30, MEMORY, 4096) == EINVAL, "more than the file has");
    must(maps(fd, file, 1u << 30, 4096, UINT64_MAX - 4095) == EINVAL, "an offset that wraps");
    must(maps(fd, file, UINT64_MAX - 4095, 4096, 0) == EINVAL, "an address that wraps");
    must(maps(fd, file, 1u << 30, 0, 0) == EINVAL, "no byte");
    must(maps(fd, null, 1u << 30, 4096, 0) == EACCES, "no file");
    must(unmaps(fd, 1, 0, 4096) == ENOTSUP, "dirty pages");
    must(sets_irqs(fd, 0x24, VFU_IRQ_MSIX, 0, 1, &null, 1) == EINVAL, "no eventfd");
    must(sets_irqs(fd, 0x24, VFU_IRQ_MSIX, 3, 1, &vector, 1) == EINVAL, "no such vector");
    must(sets_irqs(fd, 0x24, VFU_IRQ_MSIX, 2, UINT32_MAX, NULL, 0) == EINVAL, "a count that wraps");
    must(sets_irqs(fd, 0x24, VFU_IRQ_MSIX, 0, 2, &vector, 1) == EINVAL, "half of the eventfds");
    must(sets_irqs(fd, 0x24, 1, 0, 1, &vector, 1) == EINVAL, "MSI");
    must(sets_irqs(fd, 0x21, VFU_IRQ_MSIX, 0, 1, NULL, 0) == ENOTSUP, "an interrupt by hand");
    must(sets_irqs(fd, 0x14, VFU_IRQ_INTX, 0, 1, &vector, 1) == ENOTSUP, "unmasking by eventfd");
    must(sets_irqs(fd, 0x24, VFU_IRQ_ERROR, 0, 1, &vector, 1) == 0, "errors, of which none comes");
    for (uint32_t i = 2; i < VFU_MAPS_MAX; i++)
        must(maps(fd, file, (uint64_t)(i + 1) << 30, 4096, 0) == 0, "a region");
    must(maps(fd, file, UINT64_C(1) << 40, 4096, 0) == ENOSPC, "too many regions");
    must(unmaps(fd, 0, UINT64_C(3) << 30, 4096) == 0, "one less");
    must(maps(fd, file, UINT64_C(1) << 40, 4096, 0) == 0, "room again");
    must(reads(fd, 0, REG_NUM_QUEUES, 2) == 2, "a function that works as before");
}

/* Accesses of odd sizes are cut into pieces. */
static void reads_in_pieces(void)
{
    const int fd = sockets[0];
    uint8_t body[24], ret[VFU_REPLY_BYTES];

    access_body(body, CONFIG, 1, 7, 0);
    must(ask(fd, VFU_REGION_READ, body, 16, NULL, 0, ret) == 0, "seven bytes");
    must(memcmp(ret + 16, "\x1a\x41\x10\x06\x00\x10\x00", 7) == 0, "the right ones");
    access_body(body, CONFIG, 0x11, 3, BAR0 >> 8 | 0x20000 >> 8);
    must(ask(fd, VFU_REGION_WRITE, body, 19, NULL, 0, ret) == 0, "a BAR but its first byte");
    must(reads(fd, CONFIG, 0x10, 4) == (BAR0 | 0x20000), "another address");
    must(reads(fd, 0, REG_NUM_QUEUES, 2) == 2, "a BAR that is found there");
}

/* A second client can come when the first one has gone, as a device that is plugged in again. */
static void comes_back(int argc, char **argv)
{
    struct sockaddr_un at;
    socklen_t n = sizeof(at);

    (void)argc;
    (void)argv;
    must(getpeername(sockets[0], (struct sockaddr *)&at, &n) == 0, "a name");
    close(sockets[0]);
    sockets[0] = connects(at.sun_path);
    must(reads(sockets[0], CONFIG, 0x04, 2) == 0, "a function that was reset");
    boots();
}

/* Maps memory that is not the guest's, or that it could shorten. */
static void maps_in_vain(const char *what)
{
    const bool takes_seals = strcmp(what, "has open memory") != 0;
    const int file = memfd_create("guest", takes_seals ? MFD_ALLOW_SEALING : 0);
    const int mapped = strcmp(what, "has no file") == 0 ? -1 : file;

    must(ftruncate(file, MEMORY) == 0, "memory");
    must(maps(sockets[0], mapped, 0, MEMORY, 0) == (takes_seals ? 0 : EPERM), "memory");
    if (takes_seals)
        writes(sockets[0], CONFIG, 0x04, 2, PCI_CMD_MEMORY | PCI_CMD_MASTER);
    pause();
}

static int machine(int argc, char **argv)
{
    const char *what = argv[2];

    if (strcmp(what, "fails") == 0)
        return 3;
    connects_to_all(argc, argv);
    if (strncmp(what, "has ", 4) == 0 && strcmp(what, "has a line") != 0)
        maps_in_vain(what);
    boots();
    if (strcmp(what, "is interrupted") == 0) {
        is_interrupted();
    } else if (strcmp(what, "has a line") == 0) {
        is_interrupted_by_line();
    } else if (strcmp(what, "reboots") == 0) {
        reboots();
    } else if (strcmp(what, "asks for too much") == 0) {
        asks_for_too_much();
    } else if (strcmp(what, "reads in pieces") == 0) {
        reads_in_pieces();
    } else if (strcmp(what, "comes back") == 0) {
        comes_back(argc, argv);
    } else if (strcmp(what, "waits") == 0) {
        puts("waits");
        fflush(stdout);
        pause();
    } else if (strcmp(what, "talks nonsense") == 0) {
        must(write(sockets[1], "HTTP/1.1 200 OK\r\n\r\n", 19) == 19, "a socket");
        pause();
    } else if (strcmp(what, "lets go") == 0) {
        close(sockets[0]);
        close(sockets[1]);
        puts("gone");
        fflush(stdout);
        pause();
    } else if (strcmp(what, "never stops") == 0) {
        for (;;)
            posts(sockets[0], CONFIG, 0x3c, 1, 5);
    }
    puts("the machine is through");
    return 0;
}

/* --- The lab ---------------------------------------------------------------------------------- */

/* Runs the machine @what to its end, which is a good one. */
static void run_through(struct fixture *f, const char *what)
{
    struct live_error error = {.message = ""};

    start(f, what);
    run(f);
    if (live_ops->programs_failed(f->live, &error))
        fail_msg("%s", error.message);
    assert_string_equal(info_of(f).line, "the machine is through");
    expect_switched_off(f);
}

/* Changes the status of the link, which interrupts. */
static void raise_interrupt(struct fixture *f, bool up)
{
    assert_int_equal(rdl_link_raise(f->lab, f->link, up), RDL_OK);
}

static void a_client_finds_its_functions_and_ends(void **state)
{
    struct fixture *f = *state;

    run_through(f, "boots");
    assert_int_equal(info_of(f).maps, 3);
    assert_true(info_of(f).accesses > 64);
    run_through(f, "boots"); /* and again */
}

static void memory_is_the_clients(void **state)
{
    struct fixture *f = *state;
    uint8_t bytes[3];

    start(f, "waits");
    run_to_line(f, "waits");
    assert_int_equal(rdl_ram_read(f->lab, f->h1, 0x400, bytes, sizeof(bytes)), RDL_OK);
    assert_memory_equal(bytes, "IVT", 3);
    assert_int_equal(rdl_ram_read(f->lab, f->h1, MEMORY, bytes, 1), RDL_OK); /* the second region */
    assert_int_equal(rdl_ram_read(f->lab, f->h1, MEMORY / 2, bytes, 1), RDL_ERR_FAULT);
    assert_int_equal(rdl_ram_read(f->lab, f->h1, 0xfffc0000, bytes, 1), RDL_ERR_FAULT);
}

static void an_interrupt_is_an_eventfd(void **state)
{
    struct fixture *f = *state;

    start(f, "is interrupted");
    run_to_line(f, "ready");
    raise_interrupt(f, false);
    run_to_line(f, "quiet");
    raise_interrupt(f, true);
    run(f);
    assert_string_equal(info_of(f).line, "the machine is through");
    assert_int_equal(info_of(f).interrupts, 1);
}

static void a_line_is_signalled_again_while_it_is_high(void **state)
{
    struct fixture *f = *state;

    start(f, "has a line");
    run_to_line(f, "ready");
    raise_interrupt(f, false);
    run_to_line(f, "low");
    raise_interrupt(f, true);
    run(f);
    assert_string_equal(info_of(f).line, "the machine is through");
    assert_int_equal(info_of(f).interrupts, 3);
}

static void a_guest_may_reboot(void **state)
{
    struct fixture *f = *state;

    start(f, "reboots");
    run_to_line(f, "first");
    raise_interrupt(f, false);
    run_to_line(f, "second");
    raise_interrupt(f, true);
    run(f);
    assert_string_equal(info_of(f).line, "the machine is through");
}

static void what_cannot_be_is_refused(void **state)
{
    run_through(*state, "asks for too much");
}

static void an_access_of_an_odd_size_is_several(void **state)
{
    run_through(*state, "reads in pieces");
}

static void a_client_may_come_back(void **state)
{
    run_through(*state, "comes back");
}

/* With share=off QEMU sends a descriptor of a file in which the guest's memory is not. */
static void memory_that_is_not_the_guests_is_noticed(void **state)
{
    struct fixture *f = *state;

    start(f, "has other memory");
    run(f);
    expect_failure(f, "share=on");
    start(f, "has no file");
    run(f);
    expect_failure(f, "in no file");
    start(f, "has open memory");
    run(f);
    expect_failure(f, "can be shortened");
}

static void a_machine_that_never_came_is_told_of(void **state)
{
    struct fixture *f = *state;
    struct live_error error;

    start(f, "fails");
    run(f);
    assert_true(live_ops->programs_failed(f->live, &error));
    assert_non_null(strstr(error.message, "status 3"));
    assert_non_null(strstr(error.remedy, "transport="));
}

static void who_talks_nonsense_is_ended(void **state)
{
    struct fixture *f = *state;

    start(f, "talks nonsense");
    run(f);
    expect_failure(f, "does not speak vfio-user");
}

static void a_client_may_let_go_of_the_lab(void **state)
{
    struct fixture *f = *state;
    uint8_t byte;

    start(f, "lets go");
    run_to_line(f, "gone");
    for (unsigned i = 0; i < 20; i++)
        turn(f);
    assert_true(info_of(f).runs);
    assert_true(info_of(f).maps == 3); /* what it did is still told */
    assert_int_equal(rdl_ram_read(f->lab, f->h1, 0, &byte, 1), RDL_ERR_FAULT);
}

static void who_never_stops_asking_does_not_hold_up_the_lab(void **state)
{
    struct fixture *f = *state;

    start(f, "never stops");
    for (unsigned i = 0; i < 1000; i++)
        turn(f);
    assert_true(info_of(f).runs);
}

/* The lab is not run for a while: the client waits, and nothing is lost. */
static void a_lab_may_be_paused(void **state)
{
    const struct timespec pause = {.tv_nsec = 200000000};
    struct fixture *f = *state;

    start(f, "boots");
    for (unsigned i = 0; i < 5; i++) {
        turn(f);
        nanosleep(&pause, NULL);
    }
    run(f);
    assert_string_equal(info_of(f).line, "the machine is through");
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        T(a_client_finds_its_functions_and_ends),
        T(memory_is_the_clients),
        T(an_interrupt_is_an_eventfd),
        T(a_line_is_signalled_again_while_it_is_high),
        T(a_guest_may_reboot),
        T(what_cannot_be_is_refused),
        T(an_access_of_an_odd_size_is_several),
        T(a_client_may_come_back),
        T(memory_that_is_not_the_guests_is_noticed),
        T(a_machine_that_never_came_is_told_of),
        T(who_talks_nonsense_is_ended),
        T(a_client_may_let_go_of_the_lab),
        T(who_never_stops_asking_does_not_hold_up_the_lab),
        T(a_lab_may_be_paused),
    };

    if (argc > 2 && strcmp(argv[1], "machine") == 0)
        return machine(argc, argv);
    this_program = argv[0];
    return cmocka_run_group_tests_name("vfu", tests, NULL, NULL);
}
