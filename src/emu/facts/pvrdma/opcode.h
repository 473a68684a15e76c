/* SPDX-License-Identifier: MIT */
/* Translation between the opcodes and flags of PVRDMA and those of verbs: opcodes.def. */
#ifndef EMU_FACTS_PVRDMA_OPCODE_H
#define EMU_FACTS_PVRDMA_OPCODE_H

#include <stdint.h>

/* In place of an opcode: there is none.  It is no opcode of verbs either. */
#define PV_NO_OPCODE 0xffffffffu

/* Flag of a completion: network_hdr_type is valid; and its values. */
#define PV_WC_NETWORK_HDR_TYPE 64u
#define PV_NETWORK_IPV4        1u
#define PV_NETWORK_IPV6        2u

/* pv_send_opcode() returns the enum wr_opcode of the request @opcode of a send queue, or
 * PV_NO_OPCODE if the device does not offer it.  pv_send_number() is the inverse.
 */
uint32_t pv_send_opcode(uint32_t opcode);
uint32_t pv_send_number(uint32_t wr_opcode);

/* Return the number of the completion opcode @wc_opcode (enum wc_opcode), and the inverse; or
 * PV_NO_OPCODE.
 */
uint32_t pv_wc_number(uint32_t wc_opcode);
uint32_t pv_wc_opcode(uint32_t number);

/* Return the bits of the completion flags @flags (set of enum wc_flag_bit), and the inverse.  Bits
 * without a row are dropped.
 */
uint32_t pv_wc_flag_bits(uint32_t flags);
uint32_t pv_wc_flags(uint32_t bits);

#endif
