/* SPDX-License-Identifier: MIT */
/* Configurable device limits of a host, except its numbers of queues: one row for each limit.
 *
 * The rows generate the fields of struct rdl_device_limits and the parameters of the command
 * `host`.  All but max_inline_data are fields of the RFC's device configuration, under the same
 * names.
 */
#ifndef RDMALAB_LIMITS_H
#define RDMALAB_LIMITS_H

#include <stdint.h>

/* Most virtual functions of a device: rdl_host_config.vfs. */
#define RDL_VFS_MAX 126u

/* Size in bytes of a receive buffer of the guest's virtio-net driver: rdl_host_config.rx_buffer. */
#define RDL_RX_BUFFER_MIN 64u
#define RDL_RX_BUFFER_MAX 4096u

/* Largest size of a virtqueue of the virtio-rdma device: rdl_host_config.queue_size. */
#define RDL_QUEUE_SIZE_MIN 2u
#define RDL_QUEUE_SIZE_MAX 32768u
#define RDL_QUEUE_SIZE_VM  1024u /* the default of a host with a virtual machine */

/* L(name, minimum, maximum, default, text) */
#define RDL_DEVICE_LIMITS(L)                                                                       \
    L(max_mr_size, 4096, 1073741824, 1073741824, "bytes of a memory region")                       \
    L(max_qp_wr, 1, 32768, 4096, "work requests in a work queue")                                  \
    L(max_send_sge, 1, 32, 32, "elements of a send")                                               \
    L(max_recv_sge, 1, 32, 32, "elements of a receive")                                            \
    L(max_cqe, 1, 32768, 32768, "entries of a completion queue")                                   \
    L(max_mr, 1, 1048576, 4096, "memory regions")                                                  \
    L(max_pd, 1, 65536, 1024, "protection domains")                                                \
    L(max_mw, 1, 1048576, 4096, "memory windows")                                                  \
    L(max_qp_rd_atom, 1, 128, 16, "READs and atomics of its peer that a queue pair can hold")      \
    L(max_qp_init_rd_atom, 1, 128, 16, "READs and atomics that a queue pair can have outstanding") \
    L(max_mcast_grp, 1, 4096, 64, "multicast groups")                                              \
    L(max_mcast_qp_attach, 1, 16384, 64, "queue pairs in a multicast group")                       \
    L(max_total_mcast_qp_attach, 1, 1048576, 1024, "queue pairs in all multicast groups")          \
    L(max_ah, 1, 1048576, 65536, "address handles; its driver counts them")                        \
    L(max_fast_reg_page_list_len, 1, 512, 512, "pages of a region for fast registration")          \
    L(max_inline_data, 1, 512, 256, "bytes that a send can carry in itself")

/* D(name, minimum, maximum, the default in words, text): limits whose default follows from others.
 */
#define RDL_DEVICE_LIMITS_DERIVED(D)                                                               \
    D(max_sge_rd, 1, 32, "max_send_sge", "elements of a READ, at most max_send_sge")               \
    D(max_res_rd_atom, 1, 2097152, "max_qp_rd_atom for each queue pair",                           \
      "READs and atomics of peers that the device can hold")

/* N(name): limits that can change while the device runs: down, and up again to the configured
 * value.  Objects that exist already keep their sizes.
 */
#define RDL_DEVICE_LIMITS_LIVE(N)                                                                  \
    N(max_mr_size)                                                                                 \
    N(max_qp_wr)                                                                                   \
    N(max_cqe)                                                                                     \
    N(max_mr)                                                                                      \
    N(max_pd)                                                                                      \
    N(max_mw)                                                                                      \
    N(max_qp_init_rd_atom)                                                                         \
    N(max_mcast_grp)                                                                               \
    N(max_mcast_qp_attach)                                                                         \
    N(max_total_mcast_qp_attach)                                                                   \
    N(max_ah)                                                                                      \
    N(max_fast_reg_page_list_len)

/* Q(name): limits that the size of a virtqueue bounds, because each entry takes a descriptor. */
#define RDL_DEVICE_LIMITS_QUEUED(Q)                                                                \
    Q(max_qp_wr)                                                                                   \
    Q(max_cqe)

/* The minimum, maximum and default of each limit: RDL_LEAST_max_mr, RDL_MOST_max_mr and
 * RDL_USUAL_max_mr for max_mr.
 */
enum rdl_limit_least {
#define RDL_LIMIT(name, least, ...) RDL_LEAST_##name = (least),
    RDL_DEVICE_LIMITS(RDL_LIMIT) RDL_DEVICE_LIMITS_DERIVED(RDL_LIMIT)
#undef RDL_LIMIT
};
enum rdl_limit_most {
#define RDL_LIMIT(name, least, most, ...) RDL_MOST_##name = (most),
    RDL_DEVICE_LIMITS(RDL_LIMIT) RDL_DEVICE_LIMITS_DERIVED(RDL_LIMIT)
#undef RDL_LIMIT
};
enum rdl_limit_usual {
#define RDL_LIMIT(name, least, most, usual, text) RDL_USUAL_##name = (usual),
    RDL_DEVICE_LIMITS(RDL_LIMIT)
#undef RDL_LIMIT
};

/* The limits of one device.  0 selects the default. */
struct rdl_device_limits {
#define RDL_LIMIT(name, ...) uint32_t name;
    RDL_DEVICE_LIMITS(RDL_LIMIT)
    RDL_DEVICE_LIMITS_DERIVED(RDL_LIMIT)
#undef RDL_LIMIT
};

#endif
