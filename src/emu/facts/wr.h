/* SPDX-License-Identifier: MIT */
/* What becomes of a work request: which queue pairs take it, what its WQE says, the opcodes of its
 * packets, what its completion is called.
 */
#ifndef EMU_FACTS_WR_H
#define EMU_FACTS_WR_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/opcode.h"

/* What the union of a send WQE says, RFC_WR_* of facts/rfc.h. */
enum wr_form {
    WR_FORM_NONE,
    WR_FORM_RDMA,
    WR_FORM_ATOMIC,
    WR_FORM_REG,
    WR_FORM_BIND,
    WR_FORM_UD /* whatever is posted to a UD queue pair */
};

#define WR_TYPES 5u /* types of queue pairs, enum qp_type */

/* What a work request does with its SGEs. */
enum wr_data {
    WR_DATA_NONE,  /* it has none */
    WR_DATA_TAKES, /* the message is taken from there, or from the WQE itself */
    WR_DATA_FILLS  /* what comes back goes there */
};

struct wr_info {
    uint32_t opcode; /* enum wr_opcode */
    enum wc_opcode wc;
    enum wr_form form; /* on RC and UC */
    enum wr_data data;
    bool imm;         /* carries immediate data */
    bool invalidates; /* has a key to invalidate in the place of immediate data */
    bool local;       /* nothing is sent: it has no codes */
    unsigned types;   /* that take it, a set of 1u << enum qp_type */
    /* BTH opcodes by type and position in the message; a READ and an atomic are ONLY. */
    uint8_t code[WR_TYPES][OPP_ONLY + 1];
};

/* The row of @opcode; NULL if there is no such WR opcode. */
const struct wr_info *wr_info(uint32_t opcode);

/* Has a queue pair of @type, an enum qp_type, such an operation?  @opcode may be anything. */
bool wr_is_of_type(uint32_t type, uint32_t opcode);

/* What the union of a WQE with @opcode says on a queue pair of @type; nothing if it is unknown. */
enum wr_form wr_form(uint32_t type, uint32_t opcode);

/* What a completion of a WR with @opcode is called; of an unknown one, WC_SEND. */
enum wc_opcode wr_completes_as(uint32_t opcode);

#endif
