/* SPDX-License-Identifier: MIT */
#include "cli/live/vm_wire.h"

#include <string.h>

#include "emu/base/cursor.h"

/* Length of the body of each command, and whether QEMU waits for an answer. */
static const struct {
    uint8_t body;
    bool answer;
} kinds[VM_CMDS] = {
    [VM_SYNC_SYSMEM] = {VM_BODY_MAX, false},
    [VM_RET] = {8, false},
    [VM_CFGWRITE] = {12, true},
    [VM_CFGREAD] = {12, true},
    [VM_BAR_WRITE] = {24, true},
    [VM_BAR_READ] = {24, true},
    [VM_SET_IRQFD] = {0, false},
    [VM_DEVICE_RESET] = {0, true},
};

bool vm_header_read(const uint8_t h[VM_HEADER_BYTES], enum vm_cmd *ret, size_t *ret_body)
{
    const uint32_t cmd = ld_le32(h); /* followed by padding with arbitrary content */
    const uint64_t body = ld_le64(h + 8);

    if (cmd >= VM_CMDS || cmd == VM_RET || body != kinds[cmd].body)
        return false;
    *ret = (enum vm_cmd)cmd;
    *ret_body = kinds[cmd].body;
    return true;
}

static bool is_width(uint32_t bytes, uint32_t most)
{
    return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && bytes <= most;
}

bool vm_body_read(enum vm_cmd cmd, const uint8_t *body, struct vm_request *ret)
{
    *ret = (struct vm_request){.cmd = cmd};
    switch (cmd) {
    case VM_SYNC_SYSMEM:
        for (size_t i = 0; i < VM_PARTS_MAX; i++) {
            ret->parts[i] = (struct vm_part){
                .gpa = ld_le64(body + 8 * i),
                .bytes = ld_le64(body + 8 * (VM_PARTS_MAX + i)),
                .offset = ld_le64(body + 8 * (2 * (size_t)VM_PARTS_MAX + i)),
            };
        }
        return true;
    case VM_CFGWRITE:
    case VM_CFGREAD:
        ret->addr = ld_le32(body);
        ret->value = ld_le32(body + 4);
        ret->bytes = ld_le32(body + 8);
        return is_width(ret->bytes, 4);
    case VM_BAR_WRITE:
    case VM_BAR_READ:
        ret->addr = ld_le64(body);
        ret->value = ld_le64(body + 8);
        ret->bytes = ld_le32(body + 16);
        return is_width(ret->bytes, 8);
    default:
        return true;
    }
}

bool vm_wire_size(const uint8_t header[VM_HEADER_BYTES], size_t *ret)
{
    enum vm_cmd cmd;
    size_t body;

    if (!vm_header_read(header, &cmd, &body))
        return false;
    *ret = VM_HEADER_BYTES + body;
    return true;
}

bool vm_request_read(const uint8_t *message, struct vm_request *ret)
{
    enum vm_cmd cmd;
    size_t body;

    return vm_header_read(message, &cmd, &body) &&
           vm_body_read(cmd, message + VM_HEADER_BYTES, ret);
}

bool vm_wants_answer(enum vm_cmd cmd)
{
    return kinds[cmd].answer;
}

void vm_answer_write(uint64_t value, uint8_t out[VM_RET_BYTES])
{
    memset(out, 0, VM_RET_BYTES);
    st_le32(out, VM_RET);
    st_le64(out + 8, 8);
    st_le64(out + 16, value);
}
