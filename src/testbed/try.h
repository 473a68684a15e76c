/* SPDX-License-Identifier: MIT */
#ifndef TESTBED_TRY_H
#define TESTBED_TRY_H

#include "rdmalab/status.h"

/* TRY(call): returns from the function if the call failed. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const enum rdl_status try_st = (call);                                                     \
                                                                                                   \
        if (try_st != RDL_OK)                                                                      \
            return try_st;                                                                         \
    } while (0)

#endif
