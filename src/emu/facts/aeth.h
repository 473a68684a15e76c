/* SPDX-License-Identifier: MIT */
/* The AETH syndrome byte and the RNR NAK timer codes. */
#ifndef EMU_FACTS_AETH_H
#define EMU_FACTS_AETH_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cold.h"
#include "emu/facts/enum/syndrome.h"

#define AETH_NO_CREDITS 0x1fu /* credit code of an ACK: no end-to-end credits in use */

/* The decoded syndrome byte. */
struct aeth_word {
    enum syndrome kind;
    uint8_t value; /* low 5 bits.  ACK: credit code; RNR_NAK: timer code; NAK: NAK code */
};

/* Returns true if @syndrome is a positive acknowledge: its upper three bits are 0. */
static inline bool aeth_is_ack(uint8_t syndrome)
{
    return syndrome >> 5 == 0;
}

/* Like aeth_unpack(), for a @syndrome for which aeth_is_ack() returns false. */
RDL_COLD struct aeth_word aeth_unpack_nak(uint8_t syndrome);

/* Decodes @syndrome.  The kind is SYN_NAK_RESERVED for an undefined NAK code, for the reserved
 * class 2, and if bit 7 is set.  It is never SYN_NONE.
 */
static inline struct aeth_word aeth_unpack(uint8_t syndrome)
{
    return aeth_is_ack(syndrome) ? (struct aeth_word){SYN_ACK, syndrome & 0x1fu}
                                 : aeth_unpack_nak(syndrome);
}

/* Returns the syndrome byte for @kind, which must not be SYN_NONE.  @value (0..31) is the credit
 * code of an ACK, the timer code of an RNR NAK, or the NAK code of SYN_NAK_RESERVED.  Other NAKs
 * ignore it.
 */
uint8_t aeth_pack(enum syndrome kind, uint8_t value);

/* Returns the number of messages that credit code @code (0..30) allows.  [IBTA1 9.7.7.2] */
uint32_t aeth_credits(uint8_t code);

/* Returns the largest credit code (0..30) that allows at most @n messages. */
uint8_t aeth_credit_code(uint32_t n);

/* Returns the delay in ns for RNR timer code @code (0..31).  Code 0 means 655.36 ms, 1 means 10 us,
 * 31 means 491.52 ms.
 */
uint64_t rnr_timer_ns(uint8_t code);

/* Returns the timeout in ns for local ACK timeout code @code (0..31): 4.096 us x 2^code.  Code 0
 * means no timeout: UINT64_MAX.
 */
uint64_t ack_timeout_ns(uint8_t code);

#endif
