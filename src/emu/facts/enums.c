/* SPDX-License-Identifier: MIT */
#include "emu/facts/enum_table.h"

#include <string.h>
#include <strings.h>

#include "emu/base/assert.h"
#include "emu/facts/drops.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/cm_answered.h"
#include "emu/facts/enum/cm_call.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/cm_option.h"
#include "emu/facts/enum/cm_reason.h"
#include "emu/facts/enum/cm_state.h"
#include "emu/facts/enum/cma_state.h"
#include "emu/facts/enum/device_type.h"
#include "emu/facts/enum/drop.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/frame_kind.h"
#include "emu/facts/enum/host_phase.h"
#include "emu/facts/enum/key_kind.h"
#include "emu/facts/enum/key_state.h"
#include "emu/facts/enum/lnd_stall.h"
#include "emu/facts/enum/lnd_state.h"
#include "emu/facts/enum/lnet_bad.h"
#include "emu/facts/enum/lnet_event_kind.h"
#include "emu/facts/enum/lnet_map.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/enum/lnet_op.h"
#include "emu/facts/enum/lnet_test_op.h"
#include "emu/facts/enum/lnet_why.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/mux.h"
#include "emu/facts/enum/neighbour.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/enum/packet_class.h"
#include "emu/facts/enum/page_size.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/enum/pkt_act.h"
#include "emu/facts/enum/pool_full.h"
#include "emu/facts/enum/pool_lack.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/pv_absent.h"
#include "emu/facts/enum/qp_attr.h"
#include "emu/facts/enum/qp_state.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/rdma_cm_event.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/sidr_status.h"
#include "emu/facts/enum/syndrome.h"
#include "emu/facts/enum/timer.h"
#include "emu/facts/enum/vf_state.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/opcode.h"
#include "emu/facts/pvrdma/regs.h"
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

#define UNLISTED TABLE
#define OTHER(id)
#define UNLISTED_OTHER(id)
#include "emu/facts/enums.def"
#undef TABLE
#undef UNLISTED
#undef OTHER

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

static const struct enum_row rows_pv_cmd[] = {
#define PV_COMMAND(nm, name, number, request, response, ends, txt) {#nm, (number), (txt)},
#include "emu/facts/pvrdma/commands.def"
#undef PV_COMMAND
};
const struct enum_table enum_pv_cmd = {"pv_cmd", "PVRDMA command", rows_pv_cmd,
                                       ARRAY_LEN(rows_pv_cmd)};

static const struct enum_row rows_pv_wr_opcode[] = {
#define PV_SEND(number, nm) {#nm, (number), ""},
#include "emu/facts/pvrdma/opcodes.def"
#undef PV_SEND
};
const struct enum_table enum_pv_wr_opcode = {"pv_wr_opcode", "PVRDMA work request opcode",
                                             rows_pv_wr_opcode, ARRAY_LEN(rows_pv_wr_opcode)};

static const struct enum_row rows_pv_wc_opcode[] = {
#define PV_WC(number, nm) {#nm, (number), ""},
#include "emu/facts/pvrdma/opcodes.def"
#undef PV_WC
};
const struct enum_table enum_pv_wc_opcode = {"pv_wc_opcode", "PVRDMA completion opcode",
                                             rows_pv_wc_opcode, ARRAY_LEN(rows_pv_wc_opcode)};

static const struct enum_row rows_pv_wc_flag[] = {
#define PV_WC_FLAG(number, nm) {#nm, (number), ""},
#include "emu/facts/pvrdma/opcodes.def"
#undef PV_WC_FLAG
};
const struct enum_table enum_pv_wc_flag = {"pv_wc_flag", "PVRDMA completion flag", rows_pv_wc_flag,
                                           ARRAY_LEN(rows_pv_wc_flag)};

const struct enum_table *const enum_tables[] = {
#define TABLE(id, ...) &enum_##id,
#define OTHER(id)      &enum_##id,
#define UNLISTED(id, ...)
#include "emu/facts/enums.def"
#undef TABLE
#undef OTHER
#undef UNLISTED
#undef UNLISTED_OTHER
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
