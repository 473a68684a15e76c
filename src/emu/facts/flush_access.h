/* SPDX-License-Identifier: MIT */
/* The access flags for FLUSH that objects may have on a host.  Its driver and its device check
 * them.
 *
 * No region allows a FLUSH for persistence, because the RAM of a guest loses its contents with the
 * power.  rxe refuses such a region, too.
 */
#ifndef EMU_FACTS_FLUSH_ACCESS_H
#define EMU_FACTS_FLUSH_ACCESS_H

#include "emu/facts/enum/access.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/profile.h"

static inline unsigned flush_access_of_qp(enum profile p)
{
    return profile_has(p, TRAIT_PLACEMENT_OFFERED) ? ACCESS_FLUSH : 0;
}

static inline unsigned flush_access_of_mr(enum profile p)
{
    return flush_access_of_qp(p) & ACC_FLUSH_GLOBAL;
}

#endif
