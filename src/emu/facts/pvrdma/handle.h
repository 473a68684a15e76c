/* SPDX-License-Identifier: MIT */
/* Handles of PVRDMA and numbers of the lab.  The handle of a completion queue or of a shared
 * receive queue is below the maximum, so it begins at 0; numbers of the lab begin at 1.  The handle
 * of any other object is its number.
 */
#ifndef EMU_FACTS_PVRDMA_HANDLE_H
#define EMU_FACTS_PVRDMA_HANDLE_H

#include <stdint.h>

#include "emu/facts/enum/object.h"

/* The difference between the number and the handle of an object of @kind. */
static inline uint32_t pv_handle_gap(enum object_kind kind)
{
    return kind == OBJ_CQ || kind == OBJ_SRQ ? 1 : 0;
}

static inline uint32_t pv_number_of(enum object_kind kind, uint32_t handle)
{
    return handle + pv_handle_gap(kind);
}

static inline uint32_t pv_handle_of(enum object_kind kind, uint32_t number)
{
    return number - pv_handle_gap(kind);
}

#endif
