/* SPDX-License-Identifier: MIT */
/* Makes the lengths and sums of a frame right, so that chance gets past the checks in front. */
#ifndef TESTS_FUZZ_FRAME_REPAIR_H
#define TESTS_FUZZ_FRAME_REPAIR_H

#include <stddef.h>
#include <stdint.h>

/* What of it: a set of bits. */
enum repair_bit {
    REPAIR_LENGTHS = 1u << 0, /* of IP and UDP, to the end of the frame */
    REPAIR_SUMS = 1u << 1,    /* of IPv4, ICMP and ICMPv6 */
    REPAIR_ICRC = 1u << 2
};

/* Any bytes will do; what has no such fields is left alone. */
void frame_repair(uint8_t *frame, size_t n, unsigned what);

#endif
