/* SPDX-License-Identifier: MIT */
#include "cli/live/vfu_wire.h"

#include <errno.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"

/* Bytes of the bodies, or of their constant parts. */
#define VERSION_BYTES  4u
#define MAP_BYTES      32u
#define UNMAP_BYTES    24u
#define INFO_BYTES     16u /* of the device, and of an interrupt index */
#define REGION_BYTES   32u
#define SET_IRQS_BYTES 20u
#define ACCESS_BYTES   16u

_Static_assert(VFU_REPLY_BYTES <= VM_MESSAGE_MAX, "what may be read may be written, too");

static const struct {
    uint8_t body; /* constant part of a request's body; @more: other bytes may follow */
    bool known, more;
} kinds[VFU_COMMANDS] = {
    [VFU_VERSION] = {VERSION_BYTES, true, true},
    [VFU_DMA_MAP] = {MAP_BYTES, true, false},
    [VFU_DMA_UNMAP] = {UNMAP_BYTES, true, false},
    [VFU_DEVICE_GET_INFO] = {INFO_BYTES, true, false},
    [VFU_GET_REGION_INFO] = {REGION_BYTES, true, false},
    [VFU_GET_IRQ_INFO] = {INFO_BYTES, true, false},
    [VFU_SET_IRQS] = {SET_IRQS_BYTES, true, true},
    [VFU_REGION_READ] = {ACCESS_BYTES, true, false},
    [VFU_REGION_WRITE] = {ACCESS_BYTES, true, true},
    [VFU_DEVICE_RESET] = {0, true, false},
};

/* --- Requests --------------------------------------------------------------------------------- */

bool vfu_message_size(const uint8_t header[VM_HEADER_BYTES], size_t *ret)
{
    const uint32_t size = ld_le32(header + 4), flags = ld_le32(header + 8);

    if ((flags & (VFU_TYPE | VFU_ERROR)) != 0 || size < VM_HEADER_BYTES || size > VM_MESSAGE_MAX)
        return false;
    *ret = size;
    return true;
}

/* The capabilities are a string; nothing in it changes what the server does. */
static int read_version(const uint8_t *body, size_t n, struct vfu_request *ret)
{
    ret->major = ld_le16(body);
    return n == VERSION_BYTES || body[n - 1] == '\0' ? 0 : EINVAL;
}

static int read_map(const uint8_t *body, struct vfu_request *ret)
{
    ret->flags = ld_le32(body + 4);
    ret->offset = ld_le64(body + 8);
    ret->address = ld_le64(body + 16);
    ret->bytes = ld_le64(body + 24);
    return ld_le32(body) == MAP_BYTES ? 0 : EINVAL;
}

static int read_unmap(const uint8_t *body, struct vfu_request *ret)
{
    ret->flags = ld_le32(body + 4);
    ret->address = ld_le64(body + 8);
    ret->bytes = ld_le64(body + 16);
    return ld_le32(body) == UNMAP_BYTES ? 0 : EINVAL;
}

/* Data are a byte for each interrupt, or descriptors, which are not in the body. */
static int read_set_irqs(const uint8_t *body, size_t n, struct vfu_request *ret)
{
    const size_t n_data = n - SET_IRQS_BYTES;
    unsigned data;

    ret->flags = ld_le32(body + 4);
    ret->index = ld_le32(body + 8);
    ret->start = ld_le32(body + 12);
    ret->count = ld_le32(body + 16);
    data = ret->flags & (VFU_SET_NONE | VFU_SET_BOOL | VFU_SET_EVENTFD);
    if (data != VFU_SET_NONE && data != VFU_SET_BOOL && data != VFU_SET_EVENTFD)
        return EINVAL;
    return n_data == (data == VFU_SET_BOOL ? ret->count : 0) ? 0 : EINVAL;
}

static int read_access(const uint8_t *body, size_t n, struct vfu_request *ret)
{
    ret->offset = ld_le64(body);
    ret->index = ld_le32(body + 8);
    ret->count = ld_le32(body + 12);
    ret->data = body + ACCESS_BYTES;
    if (ret->count == 0 || ret->count > VFU_DATA_MAX)
        return EINVAL;
    return n == ACCESS_BYTES + (ret->command == VFU_REGION_WRITE ? ret->count : 0) ? 0 : EINVAL;
}

static int read_body(const uint8_t *body, size_t n, struct vfu_request *ret)
{
    switch (ret->command) {
    case VFU_VERSION:
        return read_version(body, n, ret);
    case VFU_DMA_MAP:
        return read_map(body, ret);
    case VFU_DMA_UNMAP:
        return read_unmap(body, ret);
    case VFU_GET_REGION_INFO:
    case VFU_GET_IRQ_INFO:
        ret->index = ld_le32(body + 8);
        return 0;
    case VFU_SET_IRQS:
        return read_set_irqs(body, n, ret);
    case VFU_REGION_READ:
    case VFU_REGION_WRITE:
        return read_access(body, n, ret);
    default: /* DEVICE_GET_INFO, DEVICE_RESET */
        return 0;
    }
}

int vfu_request_read(const uint8_t *message, struct vfu_request *ret)
{
    const size_t n = ld_le32(message + 4) - VM_HEADER_BYTES;
    uint16_t command;

    *ret = (struct vfu_request){
        .id = ld_le16(message),
        .command = ld_le16(message + 2),
        .posted = (ld_le32(message + 8) & VFU_NO_REPLY) != 0,
    };
    command = ret->command;
    if (command >= VFU_COMMANDS || !kinds[command].known)
        return ENOTSUP;
    if (n < kinds[command].body || (n > kinds[command].body && !kinds[command].more))
        return EINVAL;
    return read_body(message + VM_HEADER_BYTES, n, ret);
}

/* --- Replies ---------------------------------------------------------------------------------- */

/* Writes the header of a reply with a body of @n_body bytes, and clears the body.  Returns the
 * body.
 */
static uint8_t *reply(const struct vfu_request *r, size_t n_body, struct vfu_reply *ret)
{
    RDL_ASSERT(n_body <= sizeof(ret->bytes) - VM_HEADER_BYTES);
    memset(ret->bytes, 0, VM_HEADER_BYTES + n_body);
    st_le16(ret->bytes, r->id);
    st_le16(ret->bytes + 2, r->command);
    st_le32(ret->bytes + 4, (uint32_t)(VM_HEADER_BYTES + n_body));
    st_le32(ret->bytes + 8, VFU_REPLY);
    ret->n = r->posted ? 0 : VM_HEADER_BYTES + n_body;
    return ret->bytes + VM_HEADER_BYTES;
}

void vfu_reply_empty(const struct vfu_request *r, struct vfu_reply *ret)
{
    (void)reply(r, 0, ret);
}

void vfu_reply_error(const struct vfu_request *r, int error, struct vfu_reply *ret)
{
    (void)reply(r, 0, ret);
    st_le32(ret->bytes + 8, VFU_REPLY | VFU_ERROR);
    st_le32(ret->bytes + 12, (uint32_t)error);
}

/* Version 0.0: all that QEMU speaks.  A client does not accept a minor version above its own. */
void vfu_reply_version(const struct vfu_request *r, struct vfu_reply *ret)
{
    static const char capabilities[] =
        "{\"capabilities\":{\"max_msg_fds\":16,\"max_data_xfer_size\":4096}}";
    uint8_t *body = reply(r, VERSION_BYTES + sizeof(capabilities), ret);

    _Static_assert(VM_FDS_MAX == 16 && VFU_DATA_MAX == 4096, "as the capabilities say");
    memcpy(body + VERSION_BYTES, capabilities, sizeof(capabilities));
}

void vfu_reply_device(const struct vfu_request *r, struct vfu_reply *ret)
{
    uint8_t *body = reply(r, INFO_BYTES, ret);

    st_le32(body, INFO_BYTES);
    st_le32(body + 4, 1 | 2); /* it has a reset, and is a PCI device */
    st_le32(body + 8, VFU_REGIONS);
    st_le32(body + 12, VFU_IRQS);
}

void vfu_reply_region(const struct vfu_request *r, uint64_t bytes, struct vfu_reply *ret)
{
    uint8_t *body = reply(r, REGION_BYTES, ret);

    st_le32(body, REGION_BYTES);
    st_le32(body + 4, bytes ? VFU_REGION_READS | VFU_REGION_WRITES : 0);
    st_le32(body + 8, r->index);
    st_le64(body + 16, bytes);
}

void vfu_reply_irqs(const struct vfu_request *r, uint32_t flags, uint32_t count,
                    struct vfu_reply *ret)
{
    uint8_t *body = reply(r, INFO_BYTES, ret);

    st_le32(body, INFO_BYTES);
    st_le32(body + 4, flags);
    st_le32(body + 8, r->index);
    st_le32(body + 12, count);
}

static uint8_t *reply_access(const struct vfu_request *r, size_t n_data, struct vfu_reply *ret)
{
    uint8_t *body = reply(r, ACCESS_BYTES + n_data, ret);

    st_le64(body, r->offset);
    st_le32(body + 8, r->index);
    st_le32(body + 12, r->count);
    return body + ACCESS_BYTES;
}

void vfu_reply_read(const struct vfu_request *r, const uint8_t *data, struct vfu_reply *ret)
{
    memcpy(reply_access(r, r->count, ret), data, r->count);
}

void vfu_reply_written(const struct vfu_request *r, struct vfu_reply *ret)
{
    (void)reply_access(r, 0, ret);
}
