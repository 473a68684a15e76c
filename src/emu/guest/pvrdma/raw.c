/* SPDX-License-Identifier: MIT */
/* Commands whose bytes the program supplies: rdl_control_send().  One is under way at a time, as
 * the slot has room for one; the verbs' own commands use the same slot.
 */
#include "emu/base/cursor.h"
#include "emu/guest/pvrdma/internal.h"

/* In responses to raw commands, instead of the number of a command of the verbs. */
#define RAW_RESPONSE ((uint64_t)1 << 63)

static bool is_plain(const struct rdl_control *r)
{
    return !r->is_empty && r->n_cuts == 0 && r->n_room_cuts == 0 &&
           r->bytes <= PV_REQUEST_BYTES_MAX - PV_HEADER_BYTES;
}

static enum rdl_status send(void *driver, const struct rdl_control *request, bool kick,
                            uint32_t *ret_id)
{
    struct pvrdma_guest *d = driver;
    const struct pv_request header = {.response = RAW_RESPONSE | (d->raw.id + 1),
                                      .cmd = request->command};
    uint8_t bytes[PV_REQUEST_BYTES_MAX] = {0};

    if (d->verbs->broken || !d->region)
        return RDL_ERR_BROKEN;
    if (d->waits)
        return RDL_ERR_BUSY;
    if (!is_plain(request))
        return RDL_ERR_INVAL;
    pv_request_put((struct pv_raw_request *)bytes, &header);
    if (request->bytes > 0)
        memcpy(bytes + PV_HEADER_BYTES, request->data, request->bytes);
    if (!ram_write(d->pci.ram, d->command_slot, bytes, sizeof(bytes)))
        return RDL_ERR_NOMEM;
    d->raw.id++;
    d->raw.command = request->command;
    d->raw.error = 0;
    d->raw.sent = kick;
    *ret_id = d->raw.id;
    if (!kick)
        return RDL_OK;
    pvd_write(d, PVR_REQUEST, 0);
    d->raw.error = pvd_read(d, PVR_ERR);
    return RDL_OK;
}

/* The answer is the response slot.  If ERR says that the command failed, the answer is a header
 * with that error.
 */
static enum rdl_status answer(const void *driver, uint32_t id, struct rdl_control_answer *ret)
{
    const struct pvrdma_guest *d = driver;
    const struct pv_command_info *info = pv_command_info(d->raw.command);
    struct rdl_control_answer a = {.command = (uint8_t)d->raw.command, .written = PV_HEADER_BYTES};
    struct pv_response header = {.response = RAW_RESPONSE | id,
                                 .ack = d->raw.command | PV_ACK,
                                 .err = (uint8_t)d->raw.error};

    if (id != d->raw.id)
        return RDL_ERR_NOT_FOUND;
    if (!d->raw.sent)
        return RDL_ERR_BUSY;
    if (header.err == 0 && info) {
        if (!ram_read(d->pci.ram, d->response_slot, a.response, PV_RESPONSE_BYTES_MAX))
            return RDL_ERR_BUSY;
        pv_response_get(&header, (const struct pv_raw_response *)a.response);
        if (header.response != (RAW_RESPONSE | id))
            return RDL_ERR_BUSY; /* it comes later */
        a.written = header.err ? PV_HEADER_BYTES : info->response_bytes;
    } else {
        pv_response_put((struct pv_raw_response *)a.response, &header);
    }
    *ret = a;
    return RDL_OK;
}

static uint32_t under_way(const void *driver)
{
    const struct pvrdma_guest *d = driver;
    struct rdl_control_answer ignored;

    return d->raw.sent && answer(d, d->raw.id, &ignored) == RDL_ERR_BUSY;
}

const struct rdma_control_ops pvd_control_ops = {
    .send = send, .answer = answer, .under_way = under_way};
