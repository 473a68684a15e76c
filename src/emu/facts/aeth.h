/* SPDX-License-Identifier: MIT */
/* The AETH syndrome byte and the RNR NAK timer codes. */
#ifndef EMU_FACTS_AETH_H
#define EMU_FACTS_AETH_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/cold.h"
#include "emu/facts/enum/syndrome.h"

#define AETH_NO_CREDITS 0x1fu /* credit field of an ACK: no end-to-end credits */

/* What a syndrome byte says, apart. */
struct aeth_word {
    enum syndrome kind;
    uint8_t value; /* ACK: credit code; RNR_NAK: timer code; NAK: its code */
};

/* Is it a positive acknowledge?  The upper three bits are 0. */
static inline bool aeth_is_ack(uint8_t syndrome)
{
    return syndrome >> 5 == 0;
}

/* What aeth_unpack() says of any other syndrome. */
RDL_COLD struct aeth_word aeth_unpack_nak(uint8_t syndrome);

static inline struct aeth_word aeth_unpack(uint8_t syndrome)
{
    return aeth_is_ack(syndrome) ? (struct aeth_word){SYN_ACK, syndrome & 0x1fu}
                                 : aeth_unpack_nak(syndrome);
}

/* The inverse; @kind is not SYN_NONE.  @value is ignored for the NAKs that have a name. */
uint8_t aeth_pack(enum syndrome kind, uint8_t value);

/* End-to-end credits: how many messages code @code (0..30) allows, and the code that allows the
 * most of at most @n.  [IBTA1 9.7.7.2]
 */
uint32_t aeth_credits(uint8_t code);
uint8_t aeth_credit_code(uint32_t n);

/* The time that RNR timer code @code (0..31) means: 0 is 655.36 ms, 1 is 10 us, 31 is 491.52 ms. */
uint64_t rnr_timer_ns(uint8_t code);

/* Local ACK timeout code @code (0..31): 4.096 us x 2^code, 0 is never (UINT64_MAX). */
uint64_t ack_timeout_ns(uint8_t code);

#endif
