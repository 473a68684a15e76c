/* SPDX-License-Identifier: MIT */
/* The types of queue pairs that exchange datagrams. */
#ifndef EMU_FACTS_DATAGRAM_H
#define EMU_FACTS_DATAGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/enum/qp_type.h"

/* Returns true if queue pairs of @type (enum qp_type) exchange datagrams: UD, and the GSI, which is
 * a queue pair of UD with a number and a Q_Key of its own.  Each of their sends names its
 * destination.
 */
static inline bool qp_type_is_datagram(uint32_t type)
{
    return type == QPT_UD || type == QPT_GSI;
}

#endif
