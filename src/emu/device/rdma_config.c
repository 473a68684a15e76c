/* SPDX-License-Identifier: MIT */
/* The device configuration, struct virtio_rdma_config.  The device enforces each limit in it,
 * except max_ah, which the driver enforces: see facts/virtio_rdma/config.def.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/device/internal.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio_rdma/config.h"

#define VENDOR_ID    0x52444du /* "RDM"; not assigned by the IEEE */
#define HW_VERSION   1u
#define ATOMIC_HCA   1u /* atomic with respect to this device */
#define CA_ACK_DELAY 0u /* answers take no time */

static uint64_t capabilities(const struct rdma *d)
{
    return cap_flags((virtio_has(&d->pci, VF_MW) ? 1u << CAP_MW : 0) |
                     (rnic_has_mem_mgt(&d->nic) ? 1u << CAP_MEM_MGT : 0) |
                     (virtio_has(&d->pci, VF_MCAST) && rdma_blocks_mcast_lb(&d->config)
                          ? 1u << CAP_MCAST_LB
                          : 0));
}

bool rdma_config_fill(struct rdma *d)
{
    const struct hca_limits *l = &d->nic.hca.limits;
    struct rfc_config c = {
        .phys_port_cnt = 1,
        .vendor_id = VENDOR_ID,
        .hw_ver = HW_VERSION,
        .max_mr_size = l->max_mr_bytes,
        .page_size_cap = l->page_sizes,
        .max_qp = l->max_qp,
        .max_qp_wr = l->max_qp_wr,
        .device_cap_flags = capabilities(d),
        .max_send_sge = l->max_send_sge,
        .max_recv_sge = l->max_recv_sge,
        .max_sge_rd = l->max_sge_rd,
        .max_cq = l->max_cq,
        .max_cqe = l->max_cqe,
        .max_mr = l->max_mr,
        .max_pd = l->max_pd,
        .max_qp_rd_atom = l->max_dest_rd_atomic,
        .max_res_rd_atom = l->max_res_rd_atom,
        .max_qp_init_rd_atom = l->max_rd_atomic,
        .atomic_cap = ATOMIC_HCA,
        .max_mw = virtio_has(&d->pci, VF_MW) ? l->max_mw : 0,
        .max_ah = d->nic.limits.max_ah,
        .max_fast_reg_page_list_len = l->max_fast_pages,
        .max_pkeys = (uint16_t)d->nic.hca.pkeys.n,
        .local_ca_ack_delay = CA_ACK_DELAY,
    };
    const struct rfc_srq_limits srqs = {l->max_srq, l->max_qp_wr, l->max_recv_sge};
    struct raw_config raw;
    bool changed;

    if (virtio_has(&d->pci, VF_MCAST)) {
        c.max_mcast_grp = l->max_mcast_grp;
        c.max_mcast_qp_attach = l->max_mcast_qp_attach;
        c.max_total_mcast_qp_attach = l->max_total_mcast_qp_attach;
    }
    if (!virtio_has(&d->pci, VF_EVENTQ))
        st_le64(c.reserved, d->nic.events.raised); /* counter of events, see rdma_events.c */
    if (virtio_has(&d->pci, VF_SRQ))
        rfc_srq_limits_put((struct raw_srq_limits *)(c.reserved + SRQ_LIMITS_AT), &srqs);
    if (virtio_has(&d->pci, VF_CEQ))
        rfc_ceq_limits_put((struct raw_ceq_limits *)(c.reserved + CEQ_LIMITS_AT),
                           &(struct rfc_ceq_limits){d->n_ceqs});
    memcpy(c.sys_image_guid, d->config.nic.guid, sizeof(c.sys_image_guid));
    rfc_config_put(&raw, &c);
    RDL_ASSERT(d->pci.config.config_bytes == sizeof(raw));
    changed = d->pci.status != 0 && memcmp(d->pci.device_config, &raw, sizeof(raw)) != 0;
    memcpy(d->pci.device_config, &raw, sizeof(raw));
    return changed;
}
