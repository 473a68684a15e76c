/* SPDX-License-Identifier: MIT */
#include "emu/facts/pvrdma/command.h"

#include <stddef.h>

#include "emu/base/assert.h"
#include "emu/facts/pvrdma/structs.h"

static const struct pv_command_info commands[] = {
#define PV_COMMAND(nm, lower, number, req, rsp, ends, what)                                        \
    [number] = {.name = #nm,                                                                       \
                .request_bytes = PV_HEADER_BYTES + (unsigned)PV_BYTES_##req,                       \
                .response_bytes = PV_HEADER_BYTES + (unsigned)PV_BYTES_##rsp,                      \
                .request = "pv_" #req,                                                             \
                .response = "pv_" #rsp,                                                            \
                .end = PV_END_##ends,                                                              \
                .text = what},
#include "emu/facts/pvrdma/commands.def"
#undef PV_COMMAND
};

const struct pv_command_info *pv_command_info(uint32_t command)
{
    return command < ARRAY_LEN(commands) ? &commands[command] : NULL;
}
