/* SPDX-License-Identifier: MIT */
/* The symbols of libibverbs.so.1 that a device without a kernel cannot have.
 *
 * Providers such as libmlx5 are linked to the private ones, and register themselves: there is no
 * device for them.  The functions have other parameters in libibverbs.  They are called as
 * functions without parameters, which is the same on all machines of Linux, because they use none.
 */
#include "program/ibverbs/internal.h"

/* Functions that return an errno value. */
#define ERRNO_STUBS(X)                                                                             \
    X(execute_ioctl)                                                                               \
    X(ibv_cmd_advise_mr)                                                                           \
    X(ibv_cmd_alloc_dm)                                                                            \
    X(ibv_cmd_alloc_mw)                                                                            \
    X(ibv_cmd_alloc_pd)                                                                            \
    X(ibv_cmd_attach_mcast)                                                                        \
    X(ibv_cmd_close_xrcd)                                                                          \
    X(ibv_cmd_create_ah)                                                                           \
    X(ibv_cmd_create_counters)                                                                     \
    X(ibv_cmd_create_cq)                                                                           \
    X(ibv_cmd_create_cq_ex)                                                                        \
    X(ibv_cmd_create_flow)                                                                         \
    X(ibv_cmd_create_flow_action_esp)                                                              \
    X(ibv_cmd_create_qp)                                                                           \
    X(ibv_cmd_create_qp_ex)                                                                        \
    X(ibv_cmd_create_qp_ex2)                                                                       \
    X(ibv_cmd_create_rwq_ind_table)                                                                \
    X(ibv_cmd_create_srq)                                                                          \
    X(ibv_cmd_create_srq_ex)                                                                       \
    X(ibv_cmd_create_wq)                                                                           \
    X(ibv_cmd_dealloc_mw)                                                                          \
    X(ibv_cmd_dealloc_pd)                                                                          \
    X(ibv_cmd_dereg_mr)                                                                            \
    X(ibv_cmd_destroy_ah)                                                                          \
    X(ibv_cmd_destroy_counters)                                                                    \
    X(ibv_cmd_destroy_cq)                                                                          \
    X(ibv_cmd_destroy_flow)                                                                        \
    X(ibv_cmd_destroy_flow_action)                                                                 \
    X(ibv_cmd_destroy_qp)                                                                          \
    X(ibv_cmd_destroy_rwq_ind_table)                                                               \
    X(ibv_cmd_destroy_srq)                                                                         \
    X(ibv_cmd_destroy_wq)                                                                          \
    X(ibv_cmd_detach_mcast)                                                                        \
    X(ibv_cmd_free_dm)                                                                             \
    X(ibv_cmd_get_context)                                                                         \
    X(ibv_cmd_modify_cq)                                                                           \
    X(ibv_cmd_modify_flow_action_esp)                                                              \
    X(ibv_cmd_modify_qp)                                                                           \
    X(ibv_cmd_modify_qp_ex)                                                                        \
    X(ibv_cmd_modify_srq)                                                                          \
    X(ibv_cmd_modify_wq)                                                                           \
    X(ibv_cmd_open_qp)                                                                             \
    X(ibv_cmd_open_xrcd)                                                                           \
    X(ibv_cmd_post_recv)                                                                           \
    X(ibv_cmd_post_send)                                                                           \
    X(ibv_cmd_post_srq_recv)                                                                       \
    X(ibv_cmd_query_context)                                                                       \
    X(ibv_cmd_query_device_any)                                                                    \
    X(ibv_cmd_query_mr)                                                                            \
    X(ibv_cmd_query_port)                                                                          \
    X(ibv_cmd_query_qp)                                                                            \
    X(ibv_cmd_query_srq)                                                                           \
    X(ibv_cmd_read_counters)                                                                       \
    X(ibv_cmd_reg_dm_mr)                                                                           \
    X(ibv_cmd_reg_dmabuf_mr)                                                                       \
    X(ibv_cmd_reg_mr)                                                                              \
    X(ibv_cmd_req_notify_cq)                                                                       \
    X(ibv_cmd_rereg_mr)                                                                            \
    X(ibv_cmd_resize_cq)                                                                           \
    X(verbs_init_cq)

/* Functions that return -1 and set errno, and those that return NULL and do. */
#define MINUS_1_STUBS(X) X(ibv_cmd_poll_cq) X(ibv_read_ibdev_sysfs_file)
#define NULL_STUBS(X)    X(_verbs_init_and_alloc_context) X(verbs_open_device)

/* Functions without a result. */
#define VOID_STUBS(X)                                                                              \
    X(__verbs_log) X(verbs_register_driver_34) X(verbs_set_ops) X(verbs_uninit_context)

#define ERRNO_STUB(name)                                                                           \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return EOPNOTSUPP;                                                                         \
    }
#define MINUS_1_STUB(name)                                                                         \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        return minus_1_because(EOPNOTSUPP);                                                        \
    }
#define NULL_STUB(name)                                                                            \
    void *name(void);                                                                              \
    void *name(void)                                                                               \
    {                                                                                              \
        return null_because(EOPNOTSUPP);                                                           \
    }
#define VOID_STUB(name)                                                                            \
    void name(void);                                                                               \
    void name(void)                                                                                \
    {                                                                                              \
    }
ERRNO_STUBS(ERRNO_STUB)
MINUS_1_STUBS(MINUS_1_STUB)
NULL_STUBS(NULL_STUB)
VOID_STUBS(VOID_STUB)

/* The number of attributes of a command for the kernel. */
unsigned __ioctl_final_num_attrs(unsigned num_attrs, const void *link);
unsigned __ioctl_final_num_attrs(unsigned num_attrs, const void *link)
{
    (void)link;
    return num_attrs;
}

/* Providers read it. */
extern bool verbs_allow_disassociate_destroy;
bool verbs_allow_disassociate_destroy;

/* --- Public functions ------------------------------------------------------------------------- */

/* ibv_import_device(3).  Returns NULL and sets errno to EOPNOTSUPP. */
struct ibv_context *ibv_import_device(int cmd_fd)
{
    (void)cmd_fd;
    return null_because(EOPNOTSUPP);
}

/* ibv_import_pd(3).  Returns NULL and sets errno to EOPNOTSUPP. */
struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
    (void)context;
    (void)pd_handle;
    return null_because(EOPNOTSUPP);
}

/* ibv_import_pd(3) */
void ibv_unimport_pd(struct ibv_pd *pd)
{
    (void)pd;
}

/* ibv_import_mr(3).  Returns NULL and sets errno to EOPNOTSUPP. */
struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
    (void)pd;
    (void)mr_handle;
    return null_because(EOPNOTSUPP);
}

/* ibv_import_mr(3) */
void ibv_unimport_mr(struct ibv_mr *mr)
{
    (void)mr;
}

/* ibv_import_dm(3).  Returns NULL and sets errno to EOPNOTSUPP. */
struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle)
{
    (void)context;
    (void)dm_handle;
    return null_because(EOPNOTSUPP);
}

/* ibv_import_dm(3) */
void ibv_unimport_dm(struct ibv_dm *dm)
{
    (void)dm;
}

/* ibv_reg_mr(3).  Returns NULL and sets errno to EOPNOTSUPP. */
struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
                                 int fd, int access)
{
    (void)pd;
    (void)offset;
    (void)length;
    (void)iova;
    (void)fd;
    (void)access;
    return null_because(EOPNOTSUPP);
}

/* ibv_set_ece(3).  Returns EOPNOTSUPP, and sets errno as libibverbs does. */
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    (void)ece;
    errno = EOPNOTSUPP;
    return EOPNOTSUPP;
}

/* ibv_query_ece(3).  Returns EOPNOTSUPP. */
int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    (void)ece;
    errno = EOPNOTSUPP;
    return EOPNOTSUPP;
}

/* The lab resolves addresses itself.  Returns EOPNOTSUPP. */
int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr,
                                uint8_t eth_mac[ETHERNET_LL_SIZE], uint16_t *vid)
{
    (void)context;
    (void)attr;
    (void)eth_mac;
    (void)vid;
    errno = EOPNOTSUPP;
    return EOPNOTSUPP;
}

/* --- fork() ----------------------------------------------------------------------------------- */

/* The lab reads and writes the memory of the process that has opened the device, whose pages a
 * fork() does not exchange.
 */

/* ibv_fork_init(3) */
int ibv_fork_init(void)
{
    return 0;
}

/* ibv_is_fork_initialized(3) */
enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void *base, size_t size);
int ibv_dontfork_range(void *base, size_t size)
{
    (void)base;
    (void)size;
    return 0;
}

int ibv_dofork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size)
{
    (void)base;
    (void)size;
    return 0;
}
