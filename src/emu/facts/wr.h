/* SPDX-License-Identifier: MIT */
/* What each WR opcode is: the packets that it is sent as, and what its completion is called. */
#ifndef EMU_FACTS_WR_H
#define EMU_FACTS_WR_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/enums.h"
#include "emu/facts/opcode.h"

struct wr_info {
    enum wr_opcode opcode;
    enum wc_opcode wc;
    bool local;                 /* nothing is sent */
    uint8_t code[OPP_ONLY + 1]; /* or the BTH opcode by position; a READ and an atomic are ONLY */
};

/* The row of @opcode; NULL if there is no such WR opcode. */
const struct wr_info *wr_info(uint32_t opcode);

/* Is a WR with @opcode, which may be anything, carried out? */
bool wr_is_carried(uint32_t opcode);

/* What a completion of a WR with @opcode is called; of an unknown one, WC_SEND. */
enum wc_opcode wr_completes_as(uint32_t opcode);

#endif
