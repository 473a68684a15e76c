/* SPDX-License-Identifier: MIT */
#include "emu/facts/enum_table.h"

#include <string.h>
#include <strings.h>

#include "emu/base/assert.h"
#include "emu/facts/drops.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/enum/host_phase.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/enum/key_state.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/neighbour.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/packet_class.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/timer.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wire_field.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/opcode.h"
#include "emu/facts/regs.h"
#include "emu/facts/rules.h"
#include "emu/facts/virtio/device_status.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/net_feature.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/facts/virtio/vq_error.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"

_Static_assert(DROP_COUNT <= DROPS_MAX, "there is room for every reason");

#define ENUM_ROW(prefix, nm, val, txt) {#nm, (val), (txt)},
#define TABLE(id, list, words)                                                                     \
    static const struct enum_row rows_##id[] = {list(ENUM_ROW)};                                   \
    const struct enum_table enum_##id = {#id, words, rows_##id, ARRAY_LEN(rows_##id)};

TABLE(qp_state, ENUM_QP_STATE, "QP state")
TABLE(qp_type, ENUM_QP_TYPE, "QP type")
TABLE(qp_attr, ENUM_QP_ATTR, "QP attribute")
TABLE(send_opcode, ENUM_SEND_OPCODE, "work request opcode")
TABLE(wr_opcode, ENUM_WR_OPCODE, "work request opcode")
TABLE(wc_opcode, ENUM_WC_OPCODE, "completion opcode")
TABLE(wc_status, ENUM_WC_STATUS, "completion status")
TABLE(wc_flag, ENUM_WC_FLAG, "completion flag")
TABLE(send_flag, ENUM_SEND_FLAG, "send flag")
TABLE(access, ENUM_ACCESS, "access flag")
TABLE(mtu, ENUM_MTU, "path MTU")
TABLE(ctrl_rsp, ENUM_CTRL_RSP, "control response")
TABLE(syndrome, ENUM_SYNDROME, "AETH syndrome")
TABLE(drop, ENUM_DROP, "drop reason")
TABLE(pkt_act, ENUM_PKT_ACT, "verdict on a packet")
TABLE(timer, ENUM_TIMER, "timer")
TABLE(object, ENUM_OBJECT, "kind of object")
TABLE(fault, ENUM_FAULT, "fault")
TABLE(packet_class, ENUM_PACKET_CLASS, "class of packets")
TABLE(wire_field, ENUM_WIRE_FIELD, "field of a frame")
TABLE(device_status, ENUM_DEVICE_STATUS, "virtio device status bit")
TABLE(feature, ENUM_FEATURE, "virtio feature")
TABLE(vq_error, ENUM_VQ_ERROR, "virtqueue error")
TABLE(ring_format, ENUM_RING_FORMAT, "format of virtqueues")
TABLE(device_type, ENUM_DEVICE_TYPE, "type of RDMA device")
TABLE(reg, ENUM_REG, "virtio register")
TABLE(function, ENUM_FUNCTION, "PCI function")
TABLE(neighbour, ENUM_NEIGHBOUR, "state of a neighbour")
TABLE(net_feature, ENUM_NET_FEATURE, "virtio-net feature")
TABLE(key_kind, ENUM_KEY_KIND, "kind of key")
TABLE(key_state, ENUM_KEY_STATE, "state of a key")
TABLE(async_event, ENUM_ASYNC_EVENT, "asynchronous event")
TABLE(pci_command, ENUM_PCI_COMMAND, "bit of the PCI command register")
TABLE(pci_status, ENUM_PCI_STATUS, "bit of the PCI status register")
TABLE(pci_field, ENUM_PCI_FIELD, "field of PCI configuration space")
TABLE(msix_field, ENUM_MSIX_FIELD, "field of the MSI-X table")
TABLE(held, ENUM_HELD, "reason why an interrupt is held back")
TABLE(host_phase, ENUM_HOST_PHASE, "state of a host")

static const struct enum_row rows_profile[] = {
#define PROFILE_ROW(member, word, value, text) {(word), (value), (text)},
    PROFILES(PROFILE_ROW)
#undef PROFILE_ROW
};
const struct enum_table enum_profile = {"profile", "profile", rows_profile,
                                        ARRAY_LEN(rows_profile)};

static const struct enum_row rows_opcode[] = {
#define OP(code, nm, svc, knd, ps, hd, crr)                                                        \
    {#nm, (code), #knd " on " #svc ", " #ps " packet of a message"},
#include "emu/facts/opcodes.def"
#undef OP
    ENUM_FRAME_KIND(ENUM_ROW) /* kinds of frames without a BTH */
};
const struct enum_table enum_opcode = {"opcode", "BTH opcode", rows_opcode, ARRAY_LEN(rows_opcode)};

static const struct enum_row rows_rule[] = {
#define RULE(nm, number, txt) {#nm, (number), (txt)},
#include "emu/facts/rules.def"
#undef RULE
};
const struct enum_table enum_rule = {"rule", "rule", rows_rule, ARRAY_LEN(rows_rule)};

static const struct enum_row rows_ctrl_cmd[] = {
#define CONTROL(nm, name, number, feature, request, response, txt) {#nm, (number), (txt)},
#include "emu/facts/controls.def"
#undef CONTROL
};
const struct enum_table enum_ctrl_cmd = {"ctrl_cmd", "control command", rows_ctrl_cmd,
                                         ARRAY_LEN(rows_ctrl_cmd)};

const struct enum_table *const enum_tables[] = {
    &enum_wc_status,
    &enum_syndrome,
    &enum_drop,
    &enum_rule,
    &enum_qp_state,
    &enum_qp_type,
    &enum_qp_attr,
    &enum_opcode,
    &enum_wr_opcode,
    &enum_wc_opcode,
    &enum_wc_flag,
    &enum_send_flag,
    &enum_access,
    &enum_mtu,
    &enum_ctrl_cmd,
    &enum_ctrl_rsp,
    &enum_pkt_act,
    &enum_timer,
    &enum_object,
    &enum_fault,
    &enum_vq_error,
    &enum_feature,
    &enum_device_status,
    &enum_reg,
    &enum_function,
    &enum_neighbour,
    &enum_net_feature,
    &enum_profile,
    &enum_async_event,
    &enum_key_kind,
    &enum_key_state,
    &enum_behaviour,
    &enum_finding,
    &enum_pci_command,
    &enum_pci_status,
    &enum_pci_field,
    &enum_msix_field,
    &enum_held,
    &enum_ring_format,
    &enum_device_type,
    &enum_refusal,
    &enum_host_phase,
    NULL,
};

const struct enum_row *enum_by_value(const struct enum_table *t, uint32_t value)
{
    /* Most tables are dense and start at 0: try the value as an index. */
    if (value < t->n_rows && t->rows[value].value == value)
        return &t->rows[value];
    for (size_t i = 0; i < t->n_rows; i++) {
        if (t->rows[i].value == value)
            return &t->rows[i];
    }
    return NULL;
}

const struct enum_row *enum_by_name(const struct enum_table *t, const char *name)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        if (strcasecmp(t->rows[i].name, name) == 0)
            return &t->rows[i];
    }
    return NULL;
}

const char *enum_name(const struct enum_table *t, uint32_t value)
{
    const struct enum_row *row = enum_by_value(t, value);

    return row ? row->name : "?";
}

const char *enum_text(const struct enum_table *t, uint32_t value)
{
    const struct enum_row *row = enum_by_value(t, value);

    return row ? row->text : "";
}
