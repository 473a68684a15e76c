/* SPDX-License-Identifier: MIT */
#include "cli/live/vm_net.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli/live/live_internal.h"
#include "cli/live/vm_transport.h"
#include "rdmalab/ip.h"
#include "rdmalab/vm.h"

static void on_frame(void *ctx, const void *frame, size_t bytes)
{
    struct vm_net *n = ctx;

    if (send(n->fd, frame, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes)
        n->out_frames++;
    else
        n->out_dropped++;
}

/* Linux's vmw_pvrdma looks for its Ethernet interface by the IDs of vmxnet3 in function 0 of its
 * own slot.  Without romfile= QEMU would want a file for booting over the network.
 */
static void add_options(const struct vm_net *n, struct vm_launch *launch, unsigned fd)
{
    uint8_t gid[16], mac[6] = {0};
    const size_t at = strlen(launch->options);

    /* Cannot fail: a host has two addresses and a MAC. */
    (void)!rdl_host_address(n->lab, n->host, 0, gid, mac);
    snprintf(launch->options + at, sizeof(launch->options) - at,
             "-netdev dgram,id=labnet,local.type=fd,local.str=%u "
             "-device vmxnet3,id=labeth,netdev=labnet,mac=%02x:%02x:%02x:%02x:%02x:%02x,bus=pcie.0,"
             "addr=%u.0,multifunction=on,romfile= ",
             fd, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5], VM_SLOT);
}

bool vm_net_open(struct vm_net *n, struct rdl_lab *lab, rdl_host host, struct vm_launch *launch,
                 struct live_error *reterr)
{
    enum rdl_status st;
    int pair[2];

    *n = (struct vm_net){.lab = lab, .host = host, .fd = -1};
    st = rdl_vm_ethernet(lab, host, on_frame, n);
    if (st == RDL_ERR_UNSUPPORTED)
        return true;
    n->exists = st == RDL_OK;
    if (st != RDL_OK || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) {
        live_error_set(reterr, "no socket for the machine's Ethernet frames",
                       st != RDL_OK ? rdl_status_str(st) : strerror(errno),
                       st != RDL_OK ? rdl_status_remedy(st)
                                    : "\"ulimit -n\" tells how many files there may be");
        return false;
    }
    n->fd = pair[0];
    add_options(n, launch, VM_FDS_FIRST + launch->n_fds);
    launch->fds[launch->n_fds++] = pair[1];
    return true;
}

void vm_net_close(struct vm_net *n)
{
    if (n->exists)
        (void)!rdl_vm_ethernet(n->lab, n->host, NULL, NULL);
    if (n->fd >= 0)
        close(n->fd);
    n->fd = -1;
}

size_t vm_net_read(struct vm_net *n, uint8_t *frame, size_t size)
{
    const ssize_t got = n->fd < 0 ? -1 : recv(n->fd, frame, size, MSG_DONTWAIT);

    return got > 0 ? (size_t)got : 0;
}

void vm_net_send(struct vm_net *n, const uint8_t *frame, size_t bytes)
{
    if (rdl_vm_send(n->lab, n->host, frame, bytes) == RDL_OK)
        n->in_frames++;
    else
        n->in_dropped++;
}
