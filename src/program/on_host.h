/* SPDX-License-Identifier: MIT */
/* Shared by the libraries of a program. */
#ifndef PROGRAM_ON_HOST_H
#define PROGRAM_ON_HOST_H

#include <stdbool.h>
#include <stdlib.h>

#include "program/protocol.h"

/* Returns true if this program is on a host of a lab. */
static inline bool is_on_host(void)
{
    const char *socket = getenv(PROGRAM_ENV_SOCKET);

    return socket && socket[0];
}

#endif
