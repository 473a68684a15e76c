/* SPDX-License-Identifier: MIT */
/* The transport of QEMU 7.2: its device x-pci-proxy-dev for accesses and memory, and its qtest for
 * interrupts (vm_wire.h, vm_qtest.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/live/live_internal.h"
#include "cli/live/vm_memory.h"
#include "cli/live/vm_qtest.h"
#include "cli/live/vm_transport.h"
#include "cli/live/vm_wire.h"
#include "rdmalab/vm.h"

#define PROTOCOL "the protocol of QEMU 7.2's x-pci-proxy-dev"

/* Value of $LAB: descriptors 3 and 4 are the functions, 5 is qtest. */
static const char lab_options[] =
    "-device x-pci-proxy-dev,id=lab0,fd=3,bus=pcie.0,addr=5.0,multifunction=on "
    "-device x-pci-proxy-dev,id=lab1,fd=4,bus=pcie.0,addr=5.1 "
    "-chardev socket,id=labq,fd=5 -object qtest,id=labirq,chardev=labq,log=/dev/null ";

_Static_assert(VM_SLOT == 5 && VM_FDS_FIRST == 3 && VM_FUNCTIONS == 2, "as lab_options says");

struct proxy {
    struct vm_transport transport;
    struct vm_socket functions[VM_FUNCTIONS];
    struct vm_qtest qtest;
    struct vm_memory memory;
    uint64_t accesses, maps;
};

static struct proxy *proxy_of(struct vm_transport *t)
{
    return (struct proxy *)t; /* its first member */
}

/* Creates socket pairs.  This process's ends are not inherited. */
static bool make_pairs(int ours[VM_FDS], int theirs[VM_FDS])
{
    for (unsigned i = 0; i < VM_FDS; i++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
            while (i-- > 0) {
                close(ours[i]);
                close(theirs[i]);
            }
            return false;
        }
        ours[i] = pair[0];
        theirs[i] = pair[1];
    }
    return true;
}

static struct vm_transport *proxy_prepare(struct rdl_lab *lab, rdl_host host, struct vm_launch *ret,
                                          struct live_error *reterr)
{
    struct rdl_vm_function net;
    struct proxy *p;
    int ours[VM_FDS];

    if (rdl_vm_function(lab, host, 0, &net) != RDL_OK) {
        live_error_set(reterr, "QEMU 7.2", "its proxy cannot have PVRDMA, which needs vfio-user",
                       "QEMU 10.1 and later have vfio-user-pci");
        return NULL;
    }
    p = calloc(1, sizeof(*p));
    if (!p || !make_pairs(ours, ret->fds)) {
        live_error_set(reterr, "no sockets", strerror(errno),
                       "\"ulimit -n\" tells how many files there may be");
        free(p);
        return NULL;
    }
    vm_transport_init(&p->transport, &vm_proxy_ops, lab, host);
    for (uint32_t i = 0; i < VM_FUNCTIONS; i++)
        vm_socket_init(&p->functions[i], ours[i], vm_wire_size);
    vm_qtest_init(&p->qtest, ours[VM_FUNCTIONS]);
    ret->n_fds = VM_FDS;
    snprintf(ret->options, sizeof(ret->options), "%s", lab_options);
    return &p->transport;
}

static void proxy_close(struct vm_transport *t)
{
    struct proxy *p = proxy_of(t);

    vm_memory_done(&p->memory, t->lab, t->host);
    for (uint32_t i = 0; i < VM_FUNCTIONS; i++) {
        vm_socket_done(&p->functions[i]);
        /* Cannot fail: the host has a virtual machine. */
        (void)!rdl_vm_reset(t->lab, t->host, i);
    }
    vm_qtest_done(&p->qtest);
    free(p);
}

static enum vm_got proxy_receive(struct vm_transport *t, uint32_t function)
{
    struct vm_socket *s = &proxy_of(t)->functions[function];

    return s->fd < 0 ? VM_NOTHING : vm_socket_read(s);
}

/* Executes request @r of function @function; *@ret is the answer.  Returns NULL, or an error. */
static const char *carry_out(struct proxy *p, uint32_t function, const struct vm_request *r,
                             uint64_t *ret)
{
    const struct vm_transport *t = &p->transport;
    const struct vm_socket *s = &p->functions[function];
    const struct rdl_vm_access access = {
        .function = function,
        .config = r->cmd == VM_CFGREAD || r->cmd == VM_CFGWRITE,
        .write = r->cmd == VM_CFGWRITE || r->cmd == VM_BAR_WRITE,
        .bytes = r->bytes,
        .addr = r->addr,
        .value = r->value,
    };
    enum rdl_status st = RDL_OK;

    switch (r->cmd) {
    case VM_SYNC_SYSMEM:
        p->maps++;
        if (s->n_fds > VM_PARTS_MAX)
            return "it sends more descriptors than there are parts of its memory";
        return vm_memory_set(&p->memory, t->lab, t->host, r->parts, s->fds, s->n_fds);
    case VM_SET_IRQFD:
        return NULL; /* only KVM uses it, and MSI-X needs none */
    case VM_DEVICE_RESET:
        st = rdl_vm_reset(t->lab, t->host, function);
        break;
    default:
        p->accesses++;
        st = rdl_vm_access(t->lab, t->host, &access, ret);
        break;
    }
    return st == RDL_OK ? NULL : rdl_status_str(st);
}

static const char *proxy_execute(struct vm_transport *t, uint32_t function)
{
    struct proxy *p = proxy_of(t);
    struct vm_socket *s = &p->functions[function];
    uint8_t answer[VM_RET_BYTES];
    struct vm_request r;
    const char *wrong;
    uint64_t value = 0;

    if (!vm_request_read(s->in, &r))
        return "it does not speak " PROTOCOL;
    wrong = carry_out(p, function, &r, &value);
    if (wrong || !vm_wants_answer(r.cmd))
        return wrong;
    vm_answer_write(value, answer);
    if (!vm_socket_send(s, answer, sizeof(answer)))
        vm_socket_done(s);
    return NULL;
}

static void proxy_disconnect(struct vm_transport *t, uint32_t function)
{
    vm_socket_done(&proxy_of(t)->functions[function]);
}

static void proxy_interrupt(struct vm_transport *t, uint32_t function, uint64_t address,
                            uint32_t data)
{
    (void)function;
    if (address != RDL_VM_INTX) /* the protocol has INTx for KVM alone */
        vm_qtest_send(&proxy_of(t)->qtest, address, data);
}

static const char *proxy_flush(struct vm_transport *t)
{
    return vm_qtest_go(&proxy_of(t)->qtest);
}

static unsigned proxy_fds(const struct vm_transport *t, struct pollfd *ret)
{
    const struct proxy *p = (const struct proxy *)t;

    for (uint32_t i = 0; i < VM_FUNCTIONS; i++)
        ret[i] = (struct pollfd){.fd = p->functions[i].fd, .events = POLLIN};
    ret[VM_FUNCTIONS] = (struct pollfd){.fd = p->qtest.fd, .events = POLLIN};
    return VM_FUNCTIONS + 1;
}

static void proxy_count(const struct vm_transport *t, struct vm_counts *ret)
{
    const struct proxy *p = (const struct proxy *)t;

    *ret = (struct vm_counts){p->accesses, p->maps, p->qtest.sent, p->qtest.merged};
}

const struct vm_transport_ops vm_proxy_ops = {
    .speaks = PROTOCOL,
    .prepare = proxy_prepare,
    .close = proxy_close,
    .receive = proxy_receive,
    .execute = proxy_execute,
    .disconnect = proxy_disconnect,
    .interrupt = proxy_interrupt,
    .flush = proxy_flush,
    .fds = proxy_fds,
    .count = proxy_count,
};
