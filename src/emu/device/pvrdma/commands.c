/* SPDX-License-Identifier: MIT */
/* The command slot, and the commands of ports, protection domains, user contexts and GIDs. */
#include <errno.h>

#include "emu/base/assert.h"
#include "emu/device/pvrdma/internal.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/pvrdma/command.h"
#include "emu/facts/roce.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/faults.h"
#include "emu/trace/events/pvrdma.h"

#define PORT_STATE_DOWN    1u
#define PORT_STATE_ACTIVE  4u
#define PORT_PHYS_DISABLED 3u
#define PORT_PHYS_LINK_UP  5u
#define PORT_VLS_ONE       1u /* the code of virtual lane 0 alone */
#define PORT_WIDTH_4X      2u
#define PORT_SPEED_EDR     32u /* 4 x 25 Gbit/s */

static enum refusal_reason refuse_port(struct pv_call *c, uint32_t port)
{
    return pv_refuse(c, REF_PORT_NUMBER, compared_one(HCA_PORT, port));
}

enum refusal_reason pv_cmd_query_port(struct pv_call *c)
{
    const struct pvrdma *d = c->d;
    const bool up = d->unquiesced && eth_port_is_up(d->nic.port);

    PV_TAKE(c, query_port, r);
    if (r.port != HCA_PORT)
        return refuse_port(c, r.port);
    PV_ANSWER(c, port_attr, .state = up ? PORT_STATE_ACTIVE : PORT_STATE_DOWN,
              .max_mtu = (uint32_t)d->config.nic.max_mtu,
              .active_mtu = (uint32_t)rnic_active_mtu(&d->nic), .gid_tbl_len = HCA_GIDS,
              .port_cap_flags = PV_PORT_IP_BASED_GIDS, .max_msg_sz = rnic_message_max(&d->nic),
              .bad_pkey_cntr = d->nic.bad_pkeys, .qkey_viol_cntr = d->nic.bad_qkeys,
              .pkey_tbl_len = (uint16_t)d->nic.hca.pkeys.n, .max_vl_num = PORT_VLS_ONE,
              .active_width = PORT_WIDTH_4X, .active_speed = PORT_SPEED_EDR,
              .phys_state = up ? PORT_PHYS_LINK_UP : PORT_PHYS_DISABLED);
    return REF_NONE;
}

enum refusal_reason pv_cmd_query_pkey(struct pv_call *c)
{
    const struct hca *h = &c->d->nic.hca;
    uint16_t pkey;

    PV_TAKE(c, query_pkey, r);
    if (r.port != HCA_PORT)
        return refuse_port(c, r.port);
    if (hca_pkey(h, r.index, &pkey) != REF_NONE)
        return pv_refuse(c, REF_PKEY_INDEX, compared_at_most(h->pkeys.n - 1, r.index));
    PV_ANSWER(c, pkey, .pkey = pkey);
    return REF_NONE;
}

/* --- User contexts and protection domains ----------------------------------------------------- */

struct pv_uc *pv_uc_at(struct pvrdma *d, uint32_t handle)
{
    return handle < PV_UAR_PAGES && d->ucs[handle].used ? &d->ucs[handle] : NULL;
}

/* Finds the page of BAR 2 with the page frame number @pfn. */
static bool uar_page(const struct pvrdma *d, uint64_t pfn, uint32_t *ret)
{
    const uint64_t first = d->fn.bar[PV_BAR_UAR] / PV_UAR_BYTES;

    if (pfn < first || pfn - first >= PV_UAR_PAGES)
        return false;
    *ret = (uint32_t)(pfn - first);
    return true;
}

enum refusal_reason pv_cmd_create_uc(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    uint32_t page, handle = 1;

    PV_TAKE(c, create_uc, r);
    if (d->version < PV_VERSION_PFN_64)
        r.pfn = (uint32_t)r.pfn;
    if (!uar_page(d, r.pfn, &page))
        return pv_refuse(c, REF_UC_PAGE, compared_found(r.pfn));
    while (handle < PV_UAR_PAGES && d->ucs[handle].used)
        handle++;
    if (handle == PV_UAR_PAGES)
        return pv_refuse(c, REF_UC_LIMIT, compared_at_most(PV_UAR_PAGES - 1, PV_UAR_PAGES));
    d->ucs[handle] = (struct pv_uc){.used = true, .page = page};
    PV_ANSWER(c, handle, .handle = handle);
    return REF_NONE;
}

enum refusal_reason pv_cmd_destroy_uc(struct pv_call *c)
{
    struct pv_uc *uc;

    PV_TAKE(c, handle, r);
    uc = r.handle ? pv_uc_at(c->d, r.handle) : NULL;
    if (!uc)
        return pv_refuse(c, REF_UC_HANDLE, compared_found(r.handle));
    if (uc->users > 0)
        return pv_refuse(c, REF_UC_IN_USE, compared_at_most(0, uc->users));
    *uc = (struct pv_uc){.used = false};
    return REF_NONE;
}

enum refusal_reason pv_cmd_create_pd(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    enum refusal_reason why;
    struct pv_uc *uc;
    struct pd *pd;

    PV_TAKE(c, handle, r);
    uc = pv_uc_at(d, r.handle);
    if (!uc)
        return pv_refuse(c, REF_UC_HANDLE, compared_found(r.handle));
    why = hca_pd_create(&d->nic.hca, &pd);
    if (why != REF_NONE)
        return why;
    uc->users++;
    d->pd_uc[pd->pdn] = r.handle;
    PV_ANSWER(c, handle, .handle = pd->pdn);
    return REF_NONE;
}

enum refusal_reason pv_cmd_destroy_pd(struct pv_call *c)
{
    struct pvrdma *d = c->d;
    enum refusal_reason why;

    PV_TAKE(c, handle, r);
    why = hca_pd_destroy(&d->nic.hca, r.handle);
    if (why == REF_NONE)
        d->ucs[d->pd_uc[r.handle]].users--;
    return why;
}

/* --- GIDs ------------------------------------------------------------------------------------- */

/* The device raises no GID_CHANGE: the driver knows what it binds, and tells its users itself.
 * When Linux removes its driver, it takes the GIDs back last, and an event would be queued behind
 * that.
 */

enum refusal_reason pv_cmd_create_bind(struct pv_call *c)
{
    static const uint8_t none[GID_BYTES];
    const uint32_t type = c->d->version < PV_VERSION_ROCE_V2 ? PV_GID_ROCE_V1 : PV_GID_ROCE_V2;

    PV_TAKE(c, create_bind, r);
    if (r.type != type)
        return pv_refuse(c, REF_GID_TYPE, compared_one(type, r.type));
    if (memcmp(r.gid, none, sizeof(none)) == 0 || gid_is_group(r.gid))
        return pv_refuse(c, REF_GID_ADDRESS, compared_nothing());
    return rnic_gid_bind(&c->d->nic, r.index, r.gid);
}

enum refusal_reason pv_cmd_destroy_bind(struct pv_call *c)
{
    struct hca *h = &c->d->nic.hca;

    PV_TAKE(c, destroy_bind, r);
    if (r.index < HCA_GIDS &&
        (!h->gids[r.index].valid || memcmp(h->gids[r.index].raw, r.gid, sizeof(r.gid)) != 0))
        return pv_refuse(c, REF_GID_OTHER, compared_nothing());
    return rnic_gid_bind(&c->d->nic, r.index, NULL);
}

/* --- The slot --------------------------------------------------------------------------------- */

static enum refusal_reason (*const commands[])(struct pv_call *c) = {
#define PV_COMMAND(nm, name, number, ...) [number] = pv_cmd_##name,
#include "emu/facts/pvrdma/commands.def"
#undef PV_COMMAND
};

_Static_assert(PV_HEADER_BYTES + PV_BYTES_modify_qp == PV_REQUEST_BYTES_MAX, "the largest request");
_Static_assert(PV_HEADER_BYTES + PV_BYTES_qp_attr == PV_RESPONSE_BYTES_MAX, "the largest response");

/* Makes the response: its header before the body.  Returns its length: without the body if the
 * command was refused.
 */
static uint32_t head_of_response(const struct pv_request *to, uint32_t error,
                                 uint8_t rsp[PV_RESPONSE_BYTES_MAX])
{
    const struct pv_response header = {
        .response = to->response, .ack = to->cmd | PV_ACK, .err = (uint8_t)error};
    const uint32_t bytes = error ? PV_HEADER_BYTES : pv_command_info(to->cmd)->response_bytes;

    pv_response_put((struct pv_raw_response *)rsp, &header);
    return bytes;
}

/* Writes the @n bytes of a response into the slot, and interrupts the driver if @told. */
static void deliver(struct pvrdma *d, const uint8_t *rsp, uint32_t n, bool told)
{
    (void)ram_write(d->nic.ram, d->response_slot, rsp, n);
    ram_fence(d->nic.ram);
    if (told)
        pv_raise(d, PV_VECTOR_RESPONSE, PV_QUEUE_COMMANDS);
}

void pv_late_response(struct pvrdma *d, bool timer)
{
    struct pv_late *l = &d->late;
    ev_id id, cause;

    if (timer)
        l->timer = false;
    if (!l->due || !pv_is_running(d))
        return;
    l->due = false;
    TRACE_ID(d->nic.trace, id, late_data, .host = d->config.nic.host, .function = FN_RDMA,
             .queue = PV_QUEUE_COMMANDS, .bytes = l->n, .fault = l->fault, .name = l->name);
    cause = trace_because(d->nic.trace, id);
    deliver(d, l->bytes, l->n, l->told);
    trace_because(d->nic.trace, cause);
}

/* Delivers a response now, or later if a fault hits it.  An answer that no driver waits for is no
 * occasion, nor is one while another is delayed: that one is then delivered first.
 */
static void answer(struct pvrdma *d, const uint8_t *rsp, uint32_t n, bool told)
{
    struct pv_late *l = &d->late;
    const struct device_fault *f =
        told && !l->timer ? pv_fault_hits(d, FLT_LATE_DATA, PV_QUEUE_COMMANDS) : NULL;
    ev_id cause;

    if (!f) {
        pv_late_response(d, false);
        deliver(d, rsp, n, told);
        return;
    }
    *l = (struct pv_late){
        .due = true, .told = told, .timer = true, .n = n, .fault = f->number, .name = f->name};
    memcpy(l->bytes, rsp, n);
    cause = trace_because(d->nic.trace, f->hit);
    fn_ring_doorbell(&d->fn, PV_QUEUE_COMMANDS, f->time_ns);
    trace_because(d->nic.trace, cause);
}

/* The handle that command @c is about: that of the object that it made, or that it names. */
static uint32_t handle_of(const struct pv_request *header, const struct pv_call *c)
{
    switch (header->cmd) {
    case PV_CMD_QUERY_PORT:
    case PV_CMD_QUERY_PKEY:
        return 0;
    case PV_CMD_CREATE_BIND:
        return ld_le32(c->req + offsetof(struct pv_raw_create_bind, index));
    case PV_CMD_CREATE_PD:
    case PV_CMD_CREATE_MR:
    case PV_CMD_CREATE_CQ:
    case PV_CMD_CREATE_QP:
    case PV_CMD_CREATE_UC:
    case PV_CMD_CREATE_SRQ:
        return ld_le32(c->rsp); /* the first field of each of these responses; 0: refused */
    default:
        return ld_le32(c->req); /* the first field of all other requests */
    }
}

static ev_id trace_command(const struct pvrdma *d, const struct pv_request *header,
                           const struct pv_call *c, enum refusal_reason why)
{
    const struct compared values = d->nic.hca.refused.values;
    ev_id id;

    TRACE_ID(d->nic.trace, id, command, .host = d->config.nic.host, .cmd = header->cmd,
             .handle = handle_of(header, c), .error = (uint32_t)refusal_errno(refusal_kind(why)),
             .refusal = (uint32_t)why, .least = why ? values.least : 0,
             .most = why ? values.most : 0, .found = why ? values.found : 0);
    return id;
}

static void execute(struct pvrdma *d, const uint8_t req[PV_REQUEST_BYTES_MAX])
{
    uint8_t rsp[PV_RESPONSE_BYTES_MAX] = {0};
    struct pv_call call = {d, req + PV_HEADER_BYTES, rsp + PV_HEADER_BYTES};
    struct hca *h = &d->nic.hca;
    const struct pv_command_info *info;
    struct pv_raw_request raw;
    struct pv_request header;
    enum refusal_reason why;
    uint32_t error;
    ev_id cause;

    memcpy(&raw, req, sizeof(raw));
    pv_request_get(&header, &raw);
    info = pv_command_info(header.cmd);
    h->refused.why = REF_NONE;
    why = info ? commands[header.cmd](&call)
               : hca_refuse(h, REF_COMMAND_UNKNOWN, compared_found(header.cmd));
    RDL_ASSERT(why == h->refused.why); /* hca_refuse() has been told of each refusal */
    error = (uint32_t)refusal_errno(refusal_kind(why));
    cause = trace_because(d->nic.trace, trace_command(d, &header, &call, why));
    rnic_settle(&d->nic);
    rnic_control(&d->nic);
    if (why != REF_NONE)
        d->count.commands_err++;
    d->err = info && info->end == PV_END_ANSWERED ? 0 : error;
    answer(d, rsp, head_of_response(&header, error, rsp),
           d->err == 0 && info && info->end != PV_END_UNWAITED);
    trace_because(d->nic.trace, cause);
}

void pv_command_run(struct pvrdma *d)
{
    uint8_t req[PV_REQUEST_BYTES_MAX];

    d->count.commands++;
    if (!pv_is_running(d) || !ram_read(d->nic.ram, d->command_slot, req, sizeof(req))) {
        d->count.commands_err++;
        d->err = EIO;
        return;
    }
    rnic_control(&d->nic);
    execute(d, req);
    pv_notes_flush(d);
    rnic_pump(&d->nic);
}
