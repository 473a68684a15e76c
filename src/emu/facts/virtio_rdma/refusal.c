/* SPDX-License-Identifier: MIT */
#include "emu/facts/virtio_rdma/refusal.h"

#include "emu/base/assert.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"

static const struct enum_row rows[] = {
#define REFUSAL(nm, number, rsp, lead, tail, form, txt) {#nm, (number), (txt)},
#include "emu/facts/virtio_rdma/refusals.def"
#undef REFUSAL
};
const struct enum_table enum_refusal = {"refusal", "reason to refuse a control request", rows,
                                        ARRAY_LEN(rows)};

static const struct {
    enum ctrl_refusal why;
    enum ctrl_rsp rsp;
} responses[] = {
#define REFUSAL(nm, number, response, lead, tail, form, txt) {REF_##nm, RSP_##response},
#include "emu/facts/virtio_rdma/refusals.def"
#undef REFUSAL
};

uint32_t refusal_rsp(uint32_t why)
{
    for (size_t i = 0; i < ARRAY_LEN(responses); i++) {
        if ((uint32_t)responses[i].why == why)
            return responses[i].rsp;
    }
    assert_fail("every reason has a row", __FILE__, __LINE__);
}
