/* SPDX-License-Identifier: MIT */
/* The shared region: its address comes by registers, its content is the driver's, and the device
 * writes the capabilities into it.
 */
#include <string.h>

#include "emu/base/log2.h"
#include "emu/base/min.h"
#include "emu/device/pvrdma/internal.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/pvrdma.h"

#define FIRMWARE     14u
#define VENDOR_ID    0x52444du /* "RDM"; not assigned by the IEEE */
#define HW_VERSION   1u
#define PAGE_SIZES   0x1000u    /* 4096 only */
#define MEM_MGT_CAP  (1u << 21) /* device_cap_flags: the memory management extensions */
#define ATOMIC_SIZES 8u
#define ATOMIC_CAS   1u
#define ATOMIC_ADD   2u

/* The largest power of two up to @v, which is not 0: drivers round up to powers of two. */
static uint32_t pow2_floor(uint32_t v)
{
    return 1u << ilog2(v);
}

static uint8_t gid_type_of(const struct pvrdma *d)
{
    return d->version < PV_VERSION_ROCE_V2 ? PV_GID_ROCE_V1 : PV_GID_ROCE_V2;
}

static struct pv_caps capabilities(const struct pvrdma *d)
{
    const struct hca_limits *l = &d->nic.hca.limits;
    const uint32_t sge = pow2_floor(min_u32(l->max_send_sge, l->max_recv_sge));
    struct pv_caps c = {
        .fw_ver = FIRMWARE,
        .max_mr_size = l->max_mr_bytes,
        .page_size_cap = PAGE_SIZES,
        .atomic_arg_sizes = ATOMIC_SIZES,
        .vendor_id = VENDOR_ID,
        .vendor_part_id = PV_PCI_DEVICE,
        .hw_ver = HW_VERSION,
        .max_qp = l->max_qp + 1, /* handles are smaller */
        .max_qp_wr = pow2_floor(l->max_qp_wr),
        .device_cap_flags = rnic_has_mem_mgt(&d->nic) ? MEM_MGT_CAP : 0,
        .max_sge = sge,
        .max_sge_rd = min_u32(sge, l->max_sge_rd),
        .max_cq = l->max_cq,
        .max_cqe = pow2_floor(l->max_cqe),
        .max_mr = l->max_mr,
        .max_pd = l->max_pd,
        .max_qp_rd_atom = l->max_dest_rd_atomic,
        .max_res_rd_atom = l->max_res_rd_atom,
        .max_qp_init_rd_atom = l->max_rd_atomic,
        .max_ah = d->nic.limits.max_ah,
        .max_srq = l->max_srq,
        .max_srq_wr = l->max_srq > 0 ? pow2_floor(l->max_qp_wr) : 0,
        .max_srq_sge = l->max_srq > 0 ? sge : 0,
        .max_uar = PV_UAR_PAGES,
        .gid_tbl_len = HCA_GIDS,
        .max_pkeys = (uint16_t)d->nic.hca.pkeys.n,
        .phys_port_cnt = HCA_PORT,
        .mode = PV_MODE_ROCE,
        .atomic_ops = ATOMIC_CAS | ATOMIC_ADD,
        .bmme_flags = rnic_has_mem_mgt(&d->nic) ? PV_BMME_ALL : 0,
        .gid_types = gid_type_of(d),
        .max_fast_reg_page_list_len = min_u32(PV_FAST_PAGES_MAX, l->max_fast_pages),
    };

    memcpy(c.node_guid, d->config.nic.guid, sizeof(c.node_guid));
    memcpy(c.sys_image_guid, d->config.nic.guid, sizeof(c.sys_image_guid));
    return c;
}

/* Reads the description @raw of a ring of entries of @entry_bytes, and its pages. */
static enum refusal_reason share_ring(struct pvrdma *d, const uint8_t raw[16], uint32_t entry_bytes,
                                      struct pv_shared_ring *ret)
{
    struct pv_raw_ring_pages bytes;
    struct pv_ring_pages said;
    enum refusal_reason why;
    uint32_t n;

    memcpy(&bytes, raw, sizeof(bytes));
    pv_ring_pages_get(&said, &bytes);
    if (said.pages < 2 || said.pages > PV_PAGES_MAX)
        return hca_refuse(&d->nic.hca, REF_PAGE_LIST_LENGTH,
                          compared_range(2, PV_PAGES_MAX, said.pages));
    n = pv_shared_slots(said.pages, entry_bytes);
    why = pv_pages_read(&d->nic.hca, &(struct pv_directory){said.pdir, said.pages, said.pages},
                        &ret->pages);
    if (why != REF_NONE)
        return why;
    ret->ring = (struct pv_ring){.pages = &ret->pages,
                                 .state_at = PV_RING_RX,
                                 .first_page = 1,
                                 .n = n,
                                 .slot_bytes = entry_bytes,
                                 .most = n - 1};
    return REF_NONE;
}

static bool is_slot(const struct pvrdma *d, uint64_t gpa)
{
    return gpa % PV_PAGE_BYTES == 0 && ram_holds(d->nic.ram, gpa, PV_PAGE_BYTES);
}

static enum refusal_reason take_region(struct pvrdma *d, const struct pv_dsr *dsr)
{
    struct hca *h = &d->nic.hca;
    enum refusal_reason why;

    if (!is_slot(d, dsr->command_slot))
        return hca_refuse(h, REF_PAGE_MEMORY, compared_found(dsr->command_slot));
    if (!is_slot(d, dsr->response_slot) || dsr->response_slot == dsr->command_slot)
        return hca_refuse(h, REF_PAGE_MEMORY, compared_found(dsr->response_slot));
    why = share_ring(d, dsr->async, PV_BYTES_async_event, &d->events);
    if (why == REF_NONE)
        why = share_ring(d, dsr->cq, PV_BYTES_cq_note, &d->notes);
    d->command_slot = dsr->command_slot;
    d->response_slot = dsr->response_slot;
    return why;
}

/* Reads the region at @gpa into *@ret, and takes what it says. */
static enum refusal_reason read_region(struct pvrdma *d, uint64_t gpa, struct pv_dsr *ret)
{
    struct pv_raw_dsr raw;
    enum refusal_reason why;

    if (!fn_is_master(&d->fn) || !ram_read(d->nic.ram, gpa, &raw, sizeof(raw)))
        return hca_refuse(&d->nic.hca, REF_PAGE_MEMORY, compared_found(gpa));
    pv_dsr_get(ret, &raw);
    why = take_region(d, ret);
    if (why != REF_NONE)
        return why;
    d->region = gpa;
    d->version =
        min_u32(d->config.pvrdma.version,
                ret->driver_version < PV_VERSION_LEAST ? PV_VERSION_LEAST : ret->driver_version);
    d->nic.hca.grh_is_global = d->version < PV_VERSION_ROCE_V2;
    return REF_NONE;
}

static void write_capabilities(struct pvrdma *d, uint64_t gpa)
{
    const struct pv_caps caps = capabilities(d);
    struct pv_raw_caps raw;

    pv_caps_put(&raw, &caps);
    (void)ram_write(d->nic.ram, gpa + offsetof(struct pv_raw_dsr, caps), &raw, sizeof(raw));
}

enum refusal_reason pv_share(struct pvrdma *d, uint64_t gpa)
{
    struct refused *refused = &d->nic.hca.refused;
    struct pv_dsr dsr = {.driver_version = 0};
    enum refusal_reason why;

    *refused = (struct refused){.why = REF_NONE};
    why = read_region(d, gpa, &dsr);
    TRACE(d->nic.trace, region, .host = d->config.nic.host, .addr = gpa,
          .driver = dsr.driver_version, .version = d->version, .refusal = (uint32_t)why,
          .least = refused->values.least, .most = refused->values.most,
          .found = refused->values.found);
    if (why != REF_NONE)
        return why;
    write_capabilities(d, gpa);
    pv_set_phase(d, PV_SHARED);
    return REF_NONE;
}
