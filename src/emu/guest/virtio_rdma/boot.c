/* SPDX-License-Identifier: MIT */
/* Boot: initialisation of the device and the first requests.  [virtio 1.2, 3.1.1; virtio-rdma RFC,
 * Device Initialization]
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/log2.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/guest/virtio_rdma/internal.h"

/* The features that this driver can use. */
#define FEATURES_WANTED                                                                            \
    (VIRTIO_FEATURES_ALL | VIRTIO_FEATURE(VF_RING_PACKED) | VIRTIO_FEATURE(VF_SR_IOV) |            \
     (RDMA_FEATURES_OWN & ~VIRTIO_FEATURE(VF_ON_DEMAND)) | RDMA_EXTENSIONS)

/* Bits of device_cap_flags: IB_DEVICE_MEM_MGT_EXTENSIONS, and support of
 * IB_QP_CREATE_BLOCK_SELF_MCAST_LB.
 */
#define CAP_MEM_MGT        ((uint64_t)1 << 21)
#define CAP_BLOCK_MCAST_LB ((uint64_t)1 << 22)

/* Maximum number of times that the configuration is read.  If it changed during each of these
 * reads, the driver gives up.
 */
#define CONFIG_TRIES 8u

/* Boot requests: ADD_GID for each GID, then QUERY_PORT. */
#define BOOT_STEPS (GUEST_GIDS + 1u)

/* Reads one field: in 32-bit accesses if it is aligned, otherwise by bytes.  [virtio 1.2, 4.1.3.1]
 */
static void read_field(const struct virtio_rdma *d, const struct row_field *f, uint8_t *out)
{
    const uint32_t width = f->offset % 4 == 0 && f->bytes % 4 == 0 ? 4 : 1;

    for (uint32_t i = 0; i < f->bytes; i += width) {
        const uint64_t v = virtio_config_read(&d->virtio, f->offset + i, width);

        for (uint32_t k = 0; k < width; k++)
            out[i + k] = (uint8_t)(v >> (8 * k));
    }
}

/* Reads the device configuration except its reserved tail, with all fields of one generation. */
static enum rdl_status read_config(struct virtio_rdma *d)
{
    const struct row_struct *s = rfc_find("config");
    struct raw_config raw = {0};

    RDL_ASSERT(s && s->bytes == sizeof(raw));
    for (unsigned i = 0; i < CONFIG_TRIES; i++) {
        const uint64_t generation = reg_read(&d->virtio, REG_CONFIG_GENERATION, 1);

        for (size_t k = 0; k < s->n_fields; k++) {
            if (strcmp(s->fields[k].name, "reserved") != 0)
                read_field(d, &s->fields[k], (uint8_t *)&raw + s->fields[k].offset);
        }
        if (reg_read(&d->virtio, REG_CONFIG_GENERATION, 1) == generation) {
            rfc_config_get(&d->device, &raw);
            return RDL_OK;
        }
    }
    return RDL_ERR_BROKEN;
}

/* The largest boot ring for CQs and QPs that leaves half of the DMA area to objects. */
static uint32_t choose_boot_size(const struct virtio_rdma *d)
{
    const struct space *space = d->virtio.pci.dma->space;
    const uint64_t budget = (space->dma_end - space->dma_next) / 2;
    const uint32_t wanted = has_many_queues(d) ? GUEST_QUEUE_SIZE_MANY : GUEST_QUEUE_SIZE;
    uint32_t size = d->queue_size_max < wanted ? d->queue_size_max : wanted;

    while (size > 1 && d->n_queues * pow2_ceil(virtqueue_ring_bytes(&d->virtio, size)) > budget)
        size /= 2;
    return size;
}

static enum rdl_status boot_ctrl_queue(struct virtio_rdma *d)
{
    const uint32_t size =
        d->queue_size_max < GUEST_CTRL_QUEUE_SIZE ? d->queue_size_max : GUEST_CTRL_QUEUE_SIZE;
    struct vqd *q = virtio_rdma_vq(d, QUEUE_CTRL);
    enum rdl_status st;

    if (size < 2)
        return RDL_ERR_BROKEN; /* a request needs two descriptors */
    st = virtqueue_place(&d->virtio, &d->queues[QUEUE_CTRL], QUEUE_CTRL, size);
    if (st != RDL_OK)
        return st;
    if (!vqd_init(q, d->arena, d->virtio.pci.ram, q->ring,
                  virtio_has_feature(&d->virtio, VF_EVENT_IDX)))
        return RDL_ERR_NOMEM;
    st = virtqueue_program(&d->virtio, &d->queues[QUEUE_CTRL], ctrl_vector(d));
    if (st != RDL_OK || !d->tables || !virtio_has_feature(&d->virtio, VF_INDIRECT_DESC))
        return st;
    q->tables_gpa = dma_take(d->virtio.pci.dma, size * VQD_TABLE_BYTES);
    return q->tables_gpa ? RDL_OK : RDL_ERR_NOMEM;
}

/* Sets up all queues before DRIVER_OK, as virtio demands. */
static enum rdl_status boot_queues(struct virtio_rdma *d)
{
    const uint32_t end = queue_of_events(d->device.max_cq, d->device.max_qp);
    enum rdl_status st = boot_ctrl_queue(d);

    if (st == RDL_OK && queues_on_demand(d)) {
        st = events_boot(d);
        return st == RDL_OK ? ceq_boot(d) : st;
    }
    for (uint32_t i = 1; st == RDL_OK && i < end; i++)
        st = queue_boot(d, i, d->boot_size,
                        i <= d->device.max_cq ? cq_vector(d, i) : VIRTIO_NO_VECTOR);
    if (st == RDL_OK)
        st = events_boot(d);
    if (st == RDL_OK)
        st = srq_boot(d);
    return st == RDL_OK ? ceq_boot(d) : st;
}

/* The device's limits in the terms of verbs.  A WQE with its inline data fits one page. */
static struct verbs_limits limits_of(const struct virtio_rdma *d)
{
    const struct rfc_config *c = &d->device;

    struct verbs_limits limits = {
        .max_mr_bytes = c->max_mr_size,
        .max_cq = c->max_cq,
        .max_qp = c->max_qp,
        .max_cqe = c->max_cqe,
        .max_qp_wr = c->max_qp_wr,
        .max_send_sge = c->max_send_sge,
        .max_recv_sge = c->max_recv_sge,
        .max_sge_rd = c->max_sge_rd,
        .max_ah = c->max_ah,
        .max_inline_data = RAM_PAGE_BYTES - (uint32_t)sizeof(struct raw_sq_wqe),
        .max_pkeys = c->max_pkeys,
        .max_dest_rd_atomic = c->max_qp_rd_atom,
        .max_rd_atomic = c->max_qp_init_rd_atom,
        .n_ports = c->phys_port_cnt,
        .max_mw = c->max_mw,
        .max_fast_pages = c->device_cap_flags & CAP_MEM_MGT ? c->max_fast_reg_page_list_len : 0,
        .can_rereg = virtio_has_feature(&d->virtio, VF_MW),
        .has_mcast = virtio_has_feature(&d->virtio, VF_MCAST),
        .blocks_mcast_lb = (c->device_cap_flags & CAP_BLOCK_MCAST_LB) != 0,
        .max_srq = d->srqs.max_srq,
        .max_srq_wr = d->srqs.max_srq_wr,
        .max_srq_sge = d->srqs.max_srq_sge,
        .comp_vectors = d->n_ceqs,
        .max_mr = c->max_mr,
        .max_pd = c->max_pd,
        .max_res_rd_atomic = c->max_res_rd_atom,
        .max_groups = c->max_mcast_grp,
        .max_group_qps = c->max_mcast_qp_attach,
        .max_total_group_qps = c->max_total_mcast_qp_attach,
        .vendor_id = c->vendor_id,
        .vendor_part_id = c->vendor_part_id,
        .hw_ver = c->hw_ver,
        .ack_delay = c->local_ca_ack_delay,
    };

    memcpy(limits.guid, c->sys_image_guid, sizeof(limits.guid));
    return limits;
}

/* The numbers of CQs and QPs are fixed at boot.  A device that changes them is treated as broken.
 */
void boot_config_changed(struct virtio_rdma *d)
{
    const struct rfc_config before = d->device;

    if (read_config(d) != RDL_OK || d->device.max_cq != before.max_cq ||
        d->device.max_qp != before.max_qp) {
        d->device = before;
        verbs_broken(d->verbs);
        return;
    }
    d->verbs->limits = limits_of(d);
}

/* Step 7: reads the configuration, allocates the driver's tables, sets up the queues. */
static enum rdl_status set_up(struct virtio_rdma *d)
{
    enum rdl_status st = read_config(d);
    const uint32_t n_cq = d->device.max_cq, n_qp = d->device.max_qp;
    struct verbs_limits limits;
    uint32_t n_queues;

    if (st != RDL_OK)
        return st;
    if (n_cq < 1 || n_cq > DEVICE_OBJECTS_MAX || n_qp < 1 || n_qp > DEVICE_OBJECTS_MAX)
        return RDL_ERR_BROKEN;
    if (!srq_read_limits(d))
        return RDL_ERR_BROKEN;
    n_queues = queue_count(n_cq, n_qp) + virtio_has_feature(&d->virtio, VF_EVENTQ);
    if (srq_queues_end(d) > 0)
        n_queues = srq_queues_end(d);
    if (reg_read(&d->virtio, REG_NUM_QUEUES, 2) < n_queues || !ceq_read_limits(d, n_queues))
        return RDL_ERR_BROKEN;
    if (d->n_ceqs > 0)
        n_queues = d->first_ceq + d->n_ceqs;

    limits = limits_of(d);
    d->queues = arena_alloc(d->arena, n_queues * sizeof(*d->queues));
    if (!d->queues || !verbs_meet(d->verbs, &limits))
        return RDL_ERR_NOMEM;
    d->n_queues = n_queues;

    if (!virtio_map_vector(&d->virtio, REG_CONFIG_MSIX_VECTOR, GUEST_VECTOR_CONFIG))
        return RDL_ERR_BROKEN;
    reg_write(&d->virtio, REG_QUEUE_SELECT, 2, 1);
    d->queue_size_max = (uint32_t)reg_read(&d->virtio, REG_QUEUE_SIZE, 2);
    if (!is_pow2(d->queue_size_max) || d->queue_size_max > VRING_SIZE_MAX)
        return RDL_ERR_BROKEN;
    d->boot_size = queues_on_demand(d) ? 0 : choose_boot_size(d);
    return boot_queues(d);
}

enum rdl_status boot_add_gid(struct virtio_rdma *d, uint16_t index)
{
    struct rfc_add_gid cmd = {.gid_type = GID_TYPE_ROCE_V2, .index = index, .port_num = 1};
    struct raw_add_gid raw;

    memcpy(cmd.gid, d->verbs->config.gid[index], GID_BYTES);
    rfc_add_gid_put(&raw, &cmd);
    return ctrl_send(d, CMD_ADD_GID, &raw, index);
}

static enum rdl_status query_port(struct virtio_rdma *d)
{
    const struct rfc_query_port cmd = {.port = 1};
    struct raw_query_port raw;

    rfc_query_port_put(&raw, &cmd);
    return ctrl_send(d, CMD_QUERY_PORT, &raw, 0);
}

enum rdl_status boot_go_on(struct virtio_rdma *d)
{
    while (d->ctrl.n_under_way == 0 && !d->verbs->up) {
        enum rdl_status st;

        if (d->verbs->broken)
            return RDL_ERR_BROKEN;
        if (d->boot_step > 0 && d->ctrl.rsp != RSP_OK)
            return RDL_ERR_DEVICE;
        if (d->boot_step == BOOT_STEPS) {
            verbs_up(d->verbs);
            break;
        }
        st = d->boot_step < GUEST_GIDS ? boot_add_gid(d, (uint16_t)d->boot_step) : query_port(d);
        if (st != RDL_OK)
            return st;
        d->boot_step++;
    }
    return RDL_OK;
}

enum rdl_status boot_function(void *driver, const struct pci_slot_function *found)
{
    struct virtio_rdma *d = driver;
    enum rdl_status st = virtio_probe(&d->virtio, found);

    RDL_ASSERT(!d->queues);
    if (st != RDL_OK)
        return st;
    st = virtio_negotiate(&d->virtio, d->on_demand ? FEATURES_WANTED | VIRTIO_FEATURE(VF_ON_DEMAND)
                                                   : FEATURES_WANTED);
    if (st == RDL_OK)
        st = set_up(d);
    if (st != RDL_OK) {
        virtio_add_status(&d->virtio, VS_FAILED);
        return st;
    }
    virtio_add_status(&d->virtio, VS_DRIVER_OK); /* step 8 */
    return RDL_OK;
}

enum rdl_status boot_start(void *driver)
{
    struct virtio_rdma *d = driver;

    verbs_boot(d->verbs);
    return boot_go_on(d);
}

enum rdl_status boot_query_port(struct verbs *v)
{
    return query_port(v->driver);
}

void answer_query_port(struct virtio_rdma *d, const uint8_t *data)
{
    struct rfc_port_attr attr;
    struct raw_port_attr raw;
    struct verbs_port port;

    memcpy(&raw, data, sizeof(raw));
    rfc_port_attr_get(&attr, &raw);
    port.active_mtu = attr.active_mtu;
    port.max_msg_sz = attr.max_msg_sz;
    verbs_queried_port(d->verbs, &port);
}
