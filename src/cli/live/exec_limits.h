/* SPDX-License-Identifier: MIT */
/* Sizes of queues that a program asks for, and the limits of its device. */
#ifndef CLI_LIVE_EXEC_LIMITS_H
#define CLI_LIVE_EXEC_LIMITS_H

#include "cli/live/exec_client.h"

struct exec_limit {
    const char *name; /* of the size, as libibverbs calls it; NULL: there is none */
    uint32_t found, most;
};

/* Returns the first size of c->call, a CREATE_QP or CREATE_SRQ, that exceeds the device's limit.
 * Its name is NULL if none does, and for other calls.
 */
struct exec_limit exec_limit_exceeded(const struct exec_client *c);

#endif
