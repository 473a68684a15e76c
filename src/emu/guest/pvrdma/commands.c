/* SPDX-License-Identifier: MIT */
/* The command slot: one command is under way at a time.
 *
 * The device executes a command within the write of REQUEST, and ERR says whether that failed.  For
 * some commands this is the answer.  The response of the others is taken when vector 0 comes, as
 * Linux does it, or at once while the kernel starts.
 */
#include <errno.h>

#include "emu/base/assert.h"
#include "emu/guest/pvrdma/internal.h"

/* The handler of each command's response. */
static pvd_answered *const answered[] = {
    [PV_CMD_QUERY_PORT] = pvd_port_queried, [PV_CMD_QUERY_PKEY] = pvd_pkey_queried,
    [PV_CMD_CREATE_PD] = pvd_pd_created,    [PV_CMD_DESTROY_PD] = pvd_destroyed,
    [PV_CMD_CREATE_MR] = pvd_mr_created,    [PV_CMD_DESTROY_MR] = pvd_destroyed,
    [PV_CMD_CREATE_CQ] = pvd_cq_created,    [PV_CMD_DESTROY_CQ] = pvd_destroyed,
    [PV_CMD_CREATE_QP] = pvd_qp_created,    [PV_CMD_MODIFY_QP] = pvd_qp_modified,
    [PV_CMD_QUERY_QP] = pvd_qp_queried,     [PV_CMD_DESTROY_QP] = pvd_destroyed,
    [PV_CMD_CREATE_BIND] = pvd_gid_set,     [PV_CMD_DESTROY_BIND] = pvd_gid_set,
    [PV_CMD_CREATE_SRQ] = pvd_srq_created,  [PV_CMD_MODIFY_SRQ] = pvd_srq_modified,
    [PV_CMD_QUERY_SRQ] = pvd_srq_queried,   [PV_CMD_DESTROY_SRQ] = pvd_destroyed,
};

static struct guest_object *asked_about(const struct pvrdma_guest *d)
{
    return d->verbs->request.object;
}

/* The device has refused the command with the errno @error. */
static void refused(struct pvrdma_guest *d, uint32_t error)
{
    d->waits = false;
    if (!d->verbs->up) {
        d->refused = true;
        return;
    }
    if (d->verbs->request.kind == VERBS_CREATE)
        pvd_give_memory(d, asked_about(d));
    verbs_refused(d->verbs, (int)error, error);
}

void pvd_created(struct pvrdma_guest *d, struct guest_object *o, uint32_t number)
{
    if (verbs_is_free(d->verbs, o->kind, number))
        verbs_created(o, number);
    else
        refused(d, EIO);
}

static void done(struct pvrdma_guest *d, const uint8_t *body)
{
    d->waits = false;
    answered[d->command](d, asked_about(d), body);
}

void pvd_answer(struct pvrdma_guest *d)
{
    const struct pv_command_info *info = pv_command_info(d->command);
    uint8_t bytes[PV_RESPONSE_BYTES_MAX] = {0};

    if (!d->waits || !ram_read(d->pci.ram, d->response_slot, bytes, info->response_bytes))
        return;
    PVD_TAKE(bytes, response, header);
    if (header.response != d->n_commands || header.ack != (d->command | PV_ACK))
        return; /* that of an earlier command, whose interrupt was late */
    if (header.err)
        refused(d, header.err);
    else
        done(d, bytes + PV_HEADER_BYTES);
}

/* Writes the request to its slot. */
static bool put_request(const struct pvrdma_guest *d, const struct pv_command_info *info,
                        const void *body)
{
    const struct pv_request header = {.response = d->n_commands, .cmd = d->command};
    struct pv_raw_request raw;

    pv_request_put(&raw, &header);
    return ram_write(d->pci.ram, d->command_slot, &raw, sizeof(raw)) &&
           ram_write(d->pci.ram, d->command_slot + PV_HEADER_BYTES, body,
                     info->request_bytes - PV_HEADER_BYTES);
}

enum rdl_status pvd_send(struct pvrdma_guest *d, enum pv_command command, const void *body)
{
    const struct pv_command_info *info = pv_command_info(command);
    uint32_t error;

    RDL_ASSERT(info && answered[command]);
    if (d->waits)
        return RDL_ERR_BUSY;
    d->command = command;
    d->n_commands++;
    if (!put_request(d, info, body))
        return RDL_ERR_NOMEM;
    d->waits = true;
    pvd_write(d, PVR_REQUEST, 0);
    error = pvd_read(d, PVR_ERR);
    if (error)
        refused(d, error);
    else if (info->end == PV_END_UNWAITED)
        done(d, NULL);
    else if (d->verbs->must_poll)
        pvd_answer(d);
    return RDL_OK;
}
