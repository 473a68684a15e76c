/* SPDX-License-Identifier: MIT */
#include "emu/facts/virtio_rdma/config.h"

#include "emu/base/assert.h"

const struct config_row config_rows[] = {
#define CONFIG(name, form, text, keeper) {#name, text, keeper},
#include "emu/facts/virtio_rdma/config.def"
#undef CONFIG
};
const size_t n_config_rows = ARRAY_LEN(config_rows);

const struct cap_row cap_rows[] = {
#define CAP(nm, number, depends, text) {#nm, number, CAP_##depends, text},
#include "emu/facts/virtio_rdma/caps.def"
#undef CAP
};
const size_t n_cap_rows = ARRAY_LEN(cap_rows);

uint64_t cap_flags(unsigned when)
{
    uint64_t flags = 0;

    for (size_t i = 0; i < ARRAY_LEN(cap_rows); i++) {
        const enum cap_when needs = cap_rows[i].when;

        if (needs == CAP_ALWAYS || (needs != CAP_NEVER && (when & 1u << needs)))
            flags |= (uint64_t)1 << cap_rows[i].bit;
    }
    return flags;
}
