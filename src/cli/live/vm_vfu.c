/* SPDX-License-Identifier: MIT */
/* The transport of QEMU 10.1 and later: its device vfio-user-pci connects to a socket of each
 * function, where the lab listens.
 *
 * The sockets are in a directory that only this user can read, and that is removed at the end.  A
 * client that has gone may be followed by another one, as a device that is plugged in again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/live/live_internal.h"
#include "cli/live/vfu_function.h"
#include "cli/live/vm_transport.h"
#include "emu/base/assert.h"
#include "process/leftovers.h"

_Static_assert(VM_FUNCTIONS == VFU_FUNCTIONS, "each function has memory");

struct vfu {
    struct vm_transport transport;
    char directory[64];
    struct vfu_memory memory;
    struct vfu_port {
        int listener;            /* -1: none */
        struct vm_socket socket; /* .fd is -1 while no client is connected */
        struct vfu_function function;
    } ports[VM_FUNCTIONS];
    struct vm_counts before; /* of clients that have gone */
};

static struct vfu *vfu_of(struct vm_transport *t)
{
    return (struct vfu *)t; /* its first member */
}

/* Names the directory: below $TMPDIR, if its path can be a part of a word of a shell and of JSON,
 * otherwise below /tmp.
 */
static void name_directory(struct vfu *v)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+";
    static const char last[] = "/rdmalab-vm-XXXXXX";
    const char *tmp = getenv("TMPDIR");

    if (!tmp || tmp[0] != '/' || tmp[strspn(tmp, letters)] != '\0' ||
        strlen(tmp) + sizeof(last) > sizeof(v->directory))
        tmp = "/tmp";
    snprintf(v->directory, sizeof(v->directory), "%s%s", tmp, last);
}

static void path_of(const struct vfu *v, uint32_t function, struct sockaddr_un *ret)
{
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    snprintf(ret->sun_path, sizeof(ret->sun_path), "%s/%u", v->directory, function);
}

static bool listen_for(struct vfu *v, uint32_t function)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_un path;

    path_of(v, function, &path);
    v->ports[function].listener = fd;
    return fd >= 0 && bind(fd, (const struct sockaddr *)&path, sizeof(path)) == 0 &&
           listen(fd, 1) == 0;
}

/* Writes the value of $LAB.  It has no space in a word, since a shell splits it there.  QEMU must
 * never stop waiting for a reply: a lab can be paused for hours.
 */
static void write_options(const struct vfu *v, struct vm_launch *ret)
{
    size_t n = strlen(ret->options);

    for (uint32_t i = 0; i < VM_FUNCTIONS; i++) {
        const struct vm_function *f = &v->transport.functions[i];
        struct sockaddr_un path;

        if (!f->exists)
            continue;
        path_of(v, i, &path);
        n += (size_t)snprintf(
            ret->options + n, sizeof(ret->options) - n,
            "-device {\"driver\":\"vfio-user-pci\",\"id\":\"lab%u\",\"bus\":\"pcie.0\","
            "\"addr\":\"%u.%u\",\"multifunction\":%s,\"socket\":{\"type\":\"unix\","
            "\"path\":\"%s\"},%s\"x-msg-timeout\":%d} ",
            i, VM_SLOT, i, i == 0 ? "true" : "false", path.sun_path,
            f->is.waits_for_writes ? "\"x-no-posted-writes\":true," : "", INT32_MAX);
        RDL_ASSERT(n < sizeof(ret->options));
    }
}

/* Ends the connection of @function, if there is one. */
static void vfu_disconnect(struct vm_transport *t, uint32_t function)
{
    struct vfu *v = vfu_of(t);
    struct vfu_port *p = &v->ports[function];

    if (p->socket.fd < 0)
        return;
    v->before.accesses += p->function.accesses;
    v->before.maps += p->function.maps;
    v->before.interrupts += p->function.interrupts;
    vm_socket_done(&p->socket);
    vfu_function_done(&p->function);
}

static void vfu_close(struct vm_transport *t)
{
    struct vfu *v = vfu_of(t);

    for (uint32_t i = 0; i < VM_FUNCTIONS; i++) {
        struct sockaddr_un path;

        vfu_disconnect(t, i);
        if (v->ports[i].listener < 0)
            continue;
        path_of(v, i, &path);
        close(v->ports[i].listener);
        unlink(path.sun_path);
    }
    vfu_memory_done(&v->memory);
    rmdir(v->directory);
    leftovers_forget(v->directory);
    free(v);
}

static struct vm_transport *vfu_prepare(struct rdl_lab *lab, rdl_host host, struct vm_launch *ret,
                                        struct live_error *reterr)
{
    struct vfu *v = calloc(1, sizeof(*v));
    bool good = v != NULL;

    if (v) {
        vm_transport_init(&v->transport, &vm_vfu_ops, lab, host);
        vfu_memory_init(&v->memory, lab, host);
        name_directory(v);
        for (uint32_t i = 0; i < VM_FUNCTIONS; i++)
            v->ports[i].listener = v->ports[i].socket.fd = -1;
        good = leftovers_create_directory(v->directory);
    }
    for (uint32_t i = 0; good && i < VM_FUNCTIONS; i++)
        good = !v->transport.functions[i].exists || listen_for(v, i);
    if (!good) {
        live_error_set(reterr, "no sockets for a virtual machine", strerror(errno),
                       "$TMPDIR, or /tmp, must be a directory in which you may write");
        if (v)
            vfu_close(&v->transport);
        return NULL;
    }
    write_options(v, ret);
    return &v->transport;
}

/* Takes the next client of @p; clients of other functions have one each, too. */
static void accept_client(struct vfu *v, uint32_t function)
{
    struct vfu_port *p = &v->ports[function];
    const int fd = accept(p->listener, NULL, NULL);

    if (fd < 0)
        return;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    vm_socket_init(&p->socket, fd, vfu_message_size);
    vfu_function_init(&p->function, &v->memory, function);
}

static enum vm_got vfu_receive(struct vm_transport *t, uint32_t function)
{
    struct vfu *v = vfu_of(t);
    struct vfu_port *p = &v->ports[function];

    if (p->socket.fd < 0 && p->listener >= 0)
        accept_client(v, function);
    return p->socket.fd < 0 ? VM_NOTHING : vm_socket_read(&p->socket);
}

static const char *vfu_execute(struct vm_transport *t, uint32_t function)
{
    struct vfu_port *p = &vfu_of(t)->ports[function];
    struct vfu_reply reply;

    vfu_function_execute(&p->function, p->socket.in, p->socket.fds, p->socket.n_fds, &reply);
    if (reply.n > 0 && !vm_socket_send(&p->socket, reply.bytes, reply.n))
        vfu_disconnect(t, function);
    return p->function.wrong;
}

static void vfu_interrupt(struct vm_transport *t, uint32_t function, uint64_t address,
                          uint32_t data)
{
    struct vfu_port *p = &vfu_of(t)->ports[function];

    if (p->socket.fd >= 0)
        vfu_function_interrupt(&p->function, address, data);
}

static const char *vfu_flush(struct vm_transport *t)
{
    (void)t; /* nothing is ever queued: an eventfd counts */
    return NULL;
}

static unsigned vfu_fds(const struct vm_transport *t, struct pollfd *ret)
{
    const struct vfu *v = (const struct vfu *)t;
    unsigned n = 0;

    for (uint32_t i = 0; i < VM_FUNCTIONS; i++) {
        const struct vfu_port *p = &v->ports[i];

        if (!t->functions[i].exists)
            continue;
        ret[n++] =
            (struct pollfd){.fd = p->socket.fd >= 0 ? p->socket.fd : p->listener, .events = POLLIN};
    }
    return n;
}

static void vfu_count(const struct vm_transport *t, struct vm_counts *ret)
{
    const struct vfu *v = (const struct vfu *)t;

    *ret = v->before;
    for (uint32_t i = 0; i < VM_FUNCTIONS; i++) {
        const struct vfu_port *p = &v->ports[i];

        if (p->socket.fd < 0)
            continue;
        ret->accesses += p->function.accesses;
        ret->maps += p->function.maps;
        ret->interrupts += p->function.interrupts;
    }
}

const struct vm_transport_ops vm_vfu_ops = {
    .speaks = "vfio-user",
    .prepare = vfu_prepare,
    .close = vfu_close,
    .receive = vfu_receive,
    .execute = vfu_execute,
    .disconnect = vfu_disconnect,
    .interrupt = vfu_interrupt,
    .flush = vfu_flush,
    .fds = vfu_fds,
    .count = vfu_count,
};
