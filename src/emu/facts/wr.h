/* SPDX-License-Identifier: MIT */
/* The properties of work requests by opcode: the types of queue pairs that accept them, the form of
 * their WQE, the opcodes of their packets and of their completions.
 */
#ifndef EMU_FACTS_WR_H
#define EMU_FACTS_WR_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/enum/wc_opcode.h"
#include "emu/facts/opcode.h"

/* The member that is valid in the union of a send WQE: one of the structures RFC_WR_* of
 * facts/rfc.h.
 */
enum wr_form {
    WR_FORM_NONE,
    WR_FORM_RDMA,
    WR_FORM_ATOMIC,
    WR_FORM_REG,
    WR_FORM_BIND,
    WR_FORM_UD /* every request on a queue pair of datagrams */
};

#define WR_TYPES 5u /* number of queue pair types, enum qp_type */

/* The use of a work request's SGEs. */
enum wr_data {
    WR_DATA_NONE,  /* the request has no SGEs */
    WR_DATA_TAKES, /* the SGEs contain the message, unless it is inline in the WQE */
    WR_DATA_FILLS  /* the response is written to the SGEs */
};

struct wr_info {
    uint32_t opcode;   /* enum wr_opcode */
    enum wc_opcode wc; /* opcode of the completion */
    enum wr_form form; /* form on RC and UC; that of datagrams is always WR_FORM_UD */
    enum wr_data data;
    bool imm;         /* carries immediate data */
    bool invalidates; /* the field for immediate data is a key to invalidate */
    bool local;       /* the device sends no packet: @code is not used */
    unsigned types;   /* types that accept the opcode, a set of 1u << enum qp_type */
    /* BTH opcodes by queue pair type and position (enum op_position) in the message.  A READ and an
     * atomic have only OPP_ONLY.
     */
    uint8_t code[WR_TYPES][OPP_ONLY + 1];
};

/* Returns the row of @opcode, or NULL if it is not an opcode of a send queue. */
const struct wr_info *wr_info(uint32_t opcode);

/* Returns true if a queue pair of @type (enum qp_type) accepts @opcode.  Returns false if the
 * opcode is unknown.
 */
bool wr_is_of_type(uint32_t type, uint32_t opcode);

/* Returns true if a request with @opcode consumes a receive of the peer, and completes it.  Returns
 * false if the opcode is unknown.
 */
bool wr_takes_receive(uint32_t opcode);

/* Returns the valid member in the union of a WQE with @opcode on a queue pair of @type, or
 * WR_FORM_NONE if the opcode is unknown.
 */
enum wr_form wr_form(uint32_t type, uint32_t opcode);

/* Returns the opcode of the completion of a work request with @opcode, or WC_SEND if @opcode is
 * unknown.
 */
enum wc_opcode wr_completes_as(uint32_t opcode);

#endif
