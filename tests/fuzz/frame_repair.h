/* SPDX-License-Identifier: MIT */
/* Corrects the lengths and checksums of a frame, so that random frames pass the first checks. */
#ifndef TESTS_FUZZ_FRAME_REPAIR_H
#define TESTS_FUZZ_FRAME_REPAIR_H

#include <stddef.h>
#include <stdint.h>

/* The fields to correct: a set of bits. */
enum repair_bit {
    REPAIR_LENGTHS = 1u << 0, /* of IP and UDP, up to the end of the frame */
    REPAIR_SUMS = 1u << 1,    /* of IPv4, ICMP and ICMPv6 */
    REPAIR_ICRC = 1u << 2
};

/* Accepts any bytes; fields that the frame does not have are skipped. */
void frame_repair(uint8_t *frame, size_t n, unsigned what);

#endif
