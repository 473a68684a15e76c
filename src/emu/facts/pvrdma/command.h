/* SPDX-License-Identifier: MIT */
/* The commands of PVRDMA: commands.def has a row for each. */
#ifndef EMU_FACTS_PVRDMA_COMMAND_H
#define EMU_FACTS_PVRDMA_COMMAND_H

#include <stdint.h>

enum pv_command {
#define PV_COMMAND(nm, name, number, ...) PV_CMD_##nm = (number),
#include "emu/facts/pvrdma/commands.def"
#undef PV_COMMAND
};

/* The way in which the driver learns that a command has ended. */
enum pv_end {
    PV_END_UNWAITED, /* from ERR; it must not be interrupted */
    PV_END_WAITED,   /* from ERR if it was refused, else by the interrupt */
    PV_END_ANSWERED  /* by the interrupt: the response says whether it was refused */
};

struct pv_command_info {
    const char *name;
    uint16_t request_bytes, response_bytes; /* with their headers; the latest version */
    const char *request, *response;         /* names of the bodies, for pv_struct_find() */
    enum pv_end end;
    const char *text;
};

/* Returns the row of @command, or NULL if the number is unknown. */
const struct pv_command_info *pv_command_info(uint32_t command);

#endif
