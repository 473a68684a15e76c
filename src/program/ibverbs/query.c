/* SPDX-License-Identifier: MIT */
/* Properties of the device and its port, which has number 1. */
#include "program/ibverbs/internal.h"

#define PORT             1u
#define COMPAT_PORT_ATTR offsetof(struct ibv_port_attr, port_cap_flags2)
#define WIDTH_4X         2
#define SPEED_25G        32 /* of one lane */
#define PHYS_LINK_UP     5
#define PHYS_DISABLED    3
#define CLOCK_KHZ        1000000u /* of completion timestamps: nanoseconds */
#define PAGE_SIZES       0xfffff000u
#define GIDS_MAX         4096u

/* The values of enum ibv_gid_type_sysfs, which is private to rdma-core. */
#define GID_TYPE_SYSFS_ROCE_V2 1

static unsigned capabilities(const struct program_device *d)
{
    unsigned flags = IBV_DEVICE_BAD_PKEY_CNTR | IBV_DEVICE_BAD_QKEY_CNTR |
                     IBV_DEVICE_UD_AV_PORT_ENFORCE | IBV_DEVICE_CURR_QP_STATE_MOD |
                     IBV_DEVICE_PORT_ACTIVE_EVENT | IBV_DEVICE_SYS_IMAGE_GUID |
                     IBV_DEVICE_RC_RNR_NAK_GEN;

    if (d->max_mw > 0)
        flags |= IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
    if (d->max_fast_pages > 0)
        flags |= IBV_DEVICE_MEM_MGT_EXTENSIONS;
    return flags;
}

static void device_attr(const struct program_device *d, struct ibv_device_attr *a)
{
    memset(a, 0, sizeof(*a));
    memcpy(&a->node_guid, d->guid, sizeof(a->node_guid));
    memcpy(&a->sys_image_guid, d->guid, sizeof(a->sys_image_guid));
    a->max_mr_size = d->max_mr_size;
    a->page_size_cap = PAGE_SIZES;
    a->vendor_id = d->vendor_id;
    a->vendor_part_id = d->vendor_part_id;
    a->hw_ver = d->hw_ver;
    a->max_qp = (int)d->max_qp;
    a->max_qp_wr = (int)d->max_qp_wr;
    a->device_cap_flags = capabilities(d);
    a->max_sge = (int)(d->max_send_sge < d->max_recv_sge ? d->max_send_sge : d->max_recv_sge);
    a->max_sge_rd = (int)d->max_sge_rd;
    a->max_cq = (int)d->max_cq;
    a->max_cqe = (int)d->max_cqe;
    a->max_mr = (int)d->max_mr;
    a->max_pd = (int)d->max_pd;
    a->max_qp_rd_atom = (int)d->max_dest_rd_atomic;
    a->max_res_rd_atom = (int)d->max_res_rd_atomic;
    a->max_qp_init_rd_atom = (int)d->max_rd_atomic;
    a->atomic_cap = IBV_ATOMIC_HCA;
    a->max_mw = (int)d->max_mw;
    a->max_mcast_grp = (int)d->max_mcast_grp;
    a->max_mcast_qp_attach = (int)d->max_mcast_qp_attach;
    a->max_total_mcast_qp_attach = (int)d->max_total_mcast_qp_attach;
    a->max_ah = (int)d->max_ah;
    a->max_srq = (int)d->max_srq;
    a->max_srq_wr = (int)d->max_srq_wr;
    a->max_srq_sge = (int)d->max_srq_sge;
    a->max_pkeys = (uint16_t)d->max_pkeys;
    a->local_ca_ack_delay = (uint8_t)d->ack_delay;
    a->phys_port_cnt = (uint8_t)d->n_ports;
}

/* ibv_query_device(3).  Returns 0 or an errno value. */
int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
    const struct context *x = context_of(context);
    const int error = connection_state(&x->c);

    if (!error)
        device_attr(&x->c.device, attr);
    return error;
}

int query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
                    struct ibv_device_attr_ex *attr, size_t bytes)
{
    const struct context *x = context_of(context);
    const int error = connection_state(&x->c);
    struct ibv_device_attr_ex all = {.completion_timestamp_mask = UINT64_MAX,
                                     .hca_core_clock = CLOCK_KHZ};

    if (error)
        return error;
    if (input && input->comp_mask)
        return EINVAL;
    device_attr(&x->c.device, &all.orig_attr);
    all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
    all.phys_port_cnt_ex = x->c.device.n_ports;
    memset(attr, 0, bytes);
    memcpy(attr, &all, bytes < sizeof(all) ? bytes : sizeof(all));
    return 0;
}

int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t bytes)
{
    struct context *x = context_of(context);
    struct ibv_port_attr all = {.gid_tbl_len = (int)x->c.device.n_gids,
                                .port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS,
                                .pkey_tbl_len = (uint16_t)x->c.device.max_pkeys,
                                .max_vl_num = 1,
                                .active_width = WIDTH_4X,
                                .active_speed = SPEED_25G,
                                .link_layer = IBV_LINK_LAYER_ETHERNET};
    struct program_call call;
    struct program_answer answer;
    int error;

    if (port != PORT)
        return EINVAL;
    call_init(&call, PROGRAM_QUERY_PORT);
    call.u.query_port.port = port;
    error = connection_call(&x->c, &call, &answer, NULL);
    if (error)
        return error;
    all.state = answer.u.query_port.up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
    all.phys_state = answer.u.query_port.up ? PHYS_LINK_UP : PHYS_DISABLED;
    all.active_mtu = answer.u.query_port.active_mtu;
    all.max_mtu = answer.u.query_port.max_mtu;
    all.max_msg_sz = answer.u.query_port.max_msg_sz;
    memset(attr, 0, bytes);
    memcpy(attr, &all, bytes < sizeof(all) ? bytes : sizeof(all));
    return 0;
}

/* ibv_query_port(3) of programs that were compiled before the structure grew.  Returns 0 or an
 * errno value.
 */
int ibv_query_port(struct ibv_context *context, uint8_t port_num,
                   struct _compat_ibv_port_attr *port_attr)
{
    return query_port(context, port_num, (struct ibv_port_attr *)port_attr, COMPAT_PORT_ATTR);
}

static int query_gid(struct context *x, uint32_t port, uint32_t index, union ibv_gid *ret)
{
    struct program_call call;
    struct program_answer answer;
    int error;

    if (port != PORT || index >= x->c.device.n_gids)
        return EINVAL;
    call_init(&call, PROGRAM_QUERY_GID);
    call.u.query_gid.index = index;
    error = connection_call(&x->c, &call, &answer, NULL);
    if (!error)
        memcpy(ret->raw, answer.u.query_gid.gid, sizeof(ret->raw));
    return error;
}

/* ibv_query_gid(3).  Returns 0, or -1 and sets errno. */
int ibv_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
    const int error = query_gid(context_of(context), port_num, (uint32_t)index, gid);

    return error ? minus_1_because(error) : 0;
}

static int query_entry(struct context *x, uint32_t port, uint32_t index, struct ibv_gid_entry *ret)
{
    static const union ibv_gid none;
    int error;

    memset(ret, 0, sizeof(*ret));
    error = query_gid(x, port, index, &ret->gid);
    if (!error && memcmp(&ret->gid, &none, sizeof(none)) == 0)
        error = ENODATA;
    ret->gid_index = index;
    ret->port_num = port;
    ret->gid_type = IBV_GID_TYPE_ROCE_V2;
    return error;
}

/* ibv_query_gid_ex(3).  Returns 0, ENODATA for an empty entry, or another errno value. */
int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t gid_index,
                      struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size)
{
    struct ibv_gid_entry all;
    int error;

    if (flags)
        return EOPNOTSUPP;
    if (entry_size < sizeof(all))
        return EINVAL;
    error = query_entry(context_of(context), port_num, gid_index, &all);
    if (!error) {
        memset(entry, 0, entry_size);
        memcpy(entry, &all, sizeof(all));
    }
    return error;
}

/* ibv_query_gid_table(3).  Returns the number of entries, or a negative errno value. */
ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
                             size_t max_entries, uint32_t flags, size_t entry_size)
{
    struct context *x = context_of(context);
    struct ibv_gid_entry one;
    size_t n = 0;
    int error;

    if (flags)
        return -EOPNOTSUPP;
    if (entry_size < sizeof(one))
        return -EINVAL;
    for (uint32_t i = 0; i < x->c.device.n_gids && i < GIDS_MAX; i++) {
        error = query_entry(x, PORT, i, &one);
        if (error == ENODATA)
            continue;
        if (!error && n == max_entries)
            error = EINVAL;
        if (error)
            return -error;
        memset((char *)entries + n * entry_size, 0, entry_size);
        memcpy((char *)entries + n * entry_size, &one, sizeof(one));
        n++;
    }
    return (ssize_t)n;
}

/* For librdmacm and ibv_devinfo.  Returns 0, or -1 and sets errno. */
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
                       unsigned *type);
int ibv_query_gid_type(struct ibv_context *context, uint8_t port_num, unsigned int index,
                       unsigned *type)
{
    const struct context *x = context_of(context);

    if (port_num != PORT || index >= x->c.device.n_gids)
        return minus_1_because(EINVAL);
    *type = GID_TYPE_SYSFS_ROCE_V2;
    return 0;
}

/* ibv_query_pkey(3).  Returns 0, or -1 and sets errno. */
int ibv_query_pkey(struct ibv_context *context, uint8_t port_num, int index, __be16 *pkey)
{
    struct context *x = context_of(context);
    struct program_call call;
    struct program_answer answer;
    int error = EINVAL;

    call_init(&call, PROGRAM_QUERY_PKEY);
    call.u.query_pkey.index = (uint32_t)index;
    if (port_num == PORT && index >= 0 && (uint32_t)index < x->c.device.max_pkeys)
        error = connection_call(&x->c, &call, &answer, NULL);
    if (error)
        return minus_1_because(error);
    *pkey = htobe16((uint16_t)answer.u.query_pkey.pkey);
    return 0;
}

/* ibv_get_pkey_index(3).  Returns the index, or -1 and sets errno. */
int ibv_get_pkey_index(struct ibv_context *context, uint8_t port_num, __be16 pkey)
{
    __be16 found;

    for (int i = 0;; i++) {
        if (ibv_query_pkey(context, port_num, i, &found) != 0)
            return -1;
        if (found == pkey)
            return i;
    }
}
