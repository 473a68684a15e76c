/* SPDX-License-Identifier: MIT */
#ifndef EMU_BASE_TURN_H
#define EMU_BASE_TURN_H

#include <stdbool.h>
#include <stdint.h>

/* Of occasions that are counted from 1: returns true if number @seen is a turn.  Turn number 1 is
 * occasion @nth, and from there on each @every-th one is a turn; @every 0 and 1: all of them.
 */
static inline bool turn_has_come(uint32_t seen, uint32_t nth, uint32_t every)
{
    return seen >= nth && (every <= 1 || (seen - nth) % every == 0);
}

#endif
