/* SPDX-License-Identifier: MIT */
/* The word of an address vector that has service level, traffic class and flow label, in the
 * requests of both devices: bits 31..28, 27..20 and 19..0.
 */
#ifndef EMU_FACTS_PATH_WORD_H
#define EMU_FACTS_PATH_WORD_H

#include <stdint.h>

#include "emu/facts/roce.h"

#define PATH_WORD_SL     28u
#define PATH_WORD_TCLASS 20u

/* Packs the three, each of which must fit its bits. */
static inline uint32_t path_word(uint8_t sl, uint8_t tclass, uint32_t flow_label)
{
    return (uint32_t)sl << PATH_WORD_SL | (uint32_t)tclass << PATH_WORD_TCLASS | flow_label;
}

/* Return the parts of @word. */
static inline uint8_t path_word_sl(uint32_t word)
{
    return (uint8_t)(word >> PATH_WORD_SL);
}

static inline uint8_t path_word_tclass(uint32_t word)
{
    return (uint8_t)(word >> PATH_WORD_TCLASS);
}

static inline uint32_t path_word_flow_label(uint32_t word)
{
    return word & FLOW_LABEL_MAX;
}

#endif
