/* SPDX-License-Identifier: MIT */
/* Probe: BARs, version, shared region, capabilities, in Linux's order. */
#include "emu/guest/pvrdma/internal.h"

#define OS_LINUX   (1u << 2) /* of guest_info */
#define OS_64_BITS 2u
#define IMR_NONE   0u

/* Allocates what the region names, and writes it. */
static bool write_region(struct pvrdma_guest *d)
{
    struct pv_dsr dsr = {.driver_version = PV_VERSION_MOST, .guest_info = OS_LINUX | OS_64_BITS};
    struct pv_raw_ring_pages raw_ring;
    struct pv_raw_dsr raw;

    d->region = dma_take(d->pci.dma, sizeof(raw));
    d->command_slot = dma_take(d->pci.dma, PV_PAGE_BYTES);
    d->response_slot = dma_take(d->pci.dma, PV_PAGE_BYTES);
    if (!d->region || !d->command_slot || !d->response_slot ||
        !pvd_events_init(d, &d->events, PV_BYTES_async_event) ||
        !pvd_events_init(d, &d->notes, PV_BYTES_cq_note))
        return false;
    dsr.command_slot = d->command_slot;
    dsr.response_slot = d->response_slot;
    pv_ring_pages_put(&raw_ring, &(struct pv_ring_pages){.pages = d->events.pages.n,
                                                         .pdir = d->events.pages.gpa});
    memcpy(dsr.async, &raw_ring, sizeof(raw_ring));
    pv_ring_pages_put(
        &raw_ring, &(struct pv_ring_pages){.pages = d->notes.pages.n, .pdir = d->notes.pages.gpa});
    memcpy(dsr.cq, &raw_ring, sizeof(raw_ring));
    dsr.uar_pfn = d->uar / PV_UAR_BYTES;
    pv_dsr_put(&raw, &dsr);
    return ram_write(d->pci.ram, d->region, &raw, sizeof(raw));
}

/* Reads the capabilities, and checks what Linux insists on. */
static enum rdl_status read_caps(struct pvrdma_guest *d)
{
    struct pv_raw_dsr raw;
    struct pv_dsr dsr;
    uint32_t type;

    if (!ram_read(d->pci.ram, d->region, &raw, sizeof(raw)))
        return RDL_ERR_BROKEN;
    pv_dsr_get(&dsr, &raw);
    pv_caps_get(&d->caps, (const struct pv_raw_caps *)dsr.caps);
    type = d->version < PV_VERSION_ROCE_V2 ? PV_GID_ROCE_V1 : d->caps.gid_types;
    if (d->caps.mode != PV_MODE_ROCE || d->caps.gid_types != type ||
        (type != PV_GID_ROCE_V1 && type != PV_GID_ROCE_V2) || d->caps.max_qp < 2)
        return RDL_ERR_UNSUPPORTED;
    return RDL_OK;
}

/* The bytes of a work request behind its head, which is how much inline data it could have. */
#define WQE_ROOM (PV_PAGE_BYTES - (uint32_t)PV_BYTES_sq_wqe)

/* Tells the verbs the limits.  The format has no windows, no REREG_MR and no groups.  It has no
 * limit of inline data either: the device refuses a queue pair that asks for too much.
 */
static bool meet(struct pvrdma_guest *d)
{
    const struct pv_caps *c = &d->caps;
    struct verbs_limits limits = {
        .max_mr_bytes = c->max_mr_size,
        .max_cq = c->max_cq,
        .max_qp = c->max_qp - 1, /* the largest number: handles are below max_qp */
        .max_cqe = c->max_cqe,
        .max_qp_wr = c->max_qp_wr,
        .max_send_sge = c->max_sge,
        .max_recv_sge = c->max_sge,
        .max_sge_rd = c->max_sge_rd,
        .max_inline_data = WQE_ROOM,
        .max_ah = c->max_ah,
        .max_pkeys = c->max_pkeys,
        .max_dest_rd_atomic = c->max_qp_rd_atom,
        .max_rd_atomic = c->max_qp_init_rd_atom,
        .n_ports = c->phys_port_cnt,
        .max_fast_pages =
            (c->bmme_flags & PV_BMME_ALL) == PV_BMME_ALL ? c->max_fast_reg_page_list_len : 0,
        .max_srq = c->max_srq,
        .max_srq_wr = c->max_srq_wr,
        .max_srq_sge = c->max_srq_sge,
        .max_mr = c->max_mr,
        .max_pd = c->max_pd,
        .max_res_rd_atomic = c->max_res_rd_atom,
        .vendor_id = c->vendor_id,
        .vendor_part_id = c->vendor_part_id,
        .hw_ver = c->hw_ver,
        .ack_delay = c->local_ca_ack_delay,
    };

    memcpy(limits.guid, c->sys_image_guid, sizeof(limits.guid));
    return verbs_meet(d->verbs, &limits);
}

enum rdl_status pvd_boot(void *driver, const struct pci_slot_function *found)
{
    struct pvrdma_guest *d = driver;
    enum rdl_status st;

    pci_probe(&d->pci, found, NULL, NULL);
    d->regs = pci_bar_place(&d->pci, PV_BAR_REGS, 0, PV_REG_BYTES);
    d->uar = pci_bar_place(&d->pci, PV_BAR_UAR, 0, PV_UAR_BYTES);
    if (!d->regs || !d->uar)
        return RDL_ERR_UNSUPPORTED;
    d->version = pvd_read(d, PVR_VERSION);
    if (d->version < PV_VERSION_LEAST)
        return RDL_ERR_UNSUPPORTED;
    pci_enable(&d->pci);
    if (!write_region(d))
        return RDL_ERR_NOMEM;
    pvd_write(d, PVR_DSRLOW, (uint32_t)d->region);
    pvd_write(d, PVR_DSRHIGH, (uint32_t)(d->region >> 32)); /* even if it is 0 */
    st = read_caps(d);
    if (st != RDL_OK)
        return st;
    pvd_write(d, PVR_IMR, IMR_NONE);
    pvd_write(d, PVR_CTL, PV_CTL_ACTIVATE);
    if (pvd_read(d, PVR_ERR) != 0)
        return RDL_ERR_BROKEN;
    return meet(d) ? RDL_OK : RDL_ERR_NOMEM;
}

/* The Ethernet function's interface comes up, with its addresses. */
enum rdl_status pvd_start(void *driver)
{
    struct pvrdma_guest *d = driver;
    enum rdl_status st = RDL_OK;

    verbs_boot(d->verbs);
    pvd_write(d, PVR_CTL, PV_CTL_UNQUIESCE);
    if (pvd_read(d, PVR_ERR) != 0)
        return RDL_ERR_BROKEN;
    for (uint32_t i = 0; st == RDL_OK && i < GUEST_GIDS; i++)
        st = pvd_set_gid(d->verbs, i, true);
    if (st == RDL_OK)
        st = pvd_query_port(d->verbs);
    if (st != RDL_OK)
        return st;
    if (d->refused || d->waits)
        return RDL_ERR_DEVICE;
    verbs_up(d->verbs);
    return RDL_OK;
}
