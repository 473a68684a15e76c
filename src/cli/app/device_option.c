/* SPDX-License-Identifier: MIT */
#include "cli/app/device_option.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/device_type.h"
#include "print/utf8.h"

bool device_option_read(const char *text, struct session_devices *ret)
{
    static const struct {
        const char *word;
        struct session_devices devices;
    } rows[] = {
        {"virtio", {DEVICE_virtio, false}},
        {"pvrdma", {DEVICE_pvrdma, false}},
        {"mixed", {DEVICE_pvrdma, true}},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (text && strcmp(text, rows[i].word) != 0)
            continue;
        *ret = rows[i].devices;
        return true;
    }
    fprintf(stderr, "rdmalab: --device %s: there are virtio, pvrdma, mixed\n", SHOWN_NAME(text));
    return false;
}
