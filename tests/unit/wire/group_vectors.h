/* SPDX-License-Identifier: MIT */
/* Multicast membership reports and queries, built with Scapy: tests/oracle/groups.py. */
#ifndef WIRE_GROUP_VECTORS_H
#define WIRE_GROUP_VECTORS_H

#include <stdio.h>
#include <string.h>

#include "emu/wire/mld.h"
#include "testing.h"

#define GROUP_FRAME_MAX 128u

static const struct {
    enum group_record record;
    const char *src, *group, *digits;
} reports[] = {
#define REPORT(record, src, group, digits) {GROUP_##record, src, group, digits},
#define QUERY(group, ms, digits)
#include "../../oracle/vectors/groups.def"
#undef REPORT
#undef QUERY
};

static const struct {
    const char *group;
    uint32_t ms;
    const char *digits;
} queries[] = {
#define REPORT(record, src, group, digits)
#define QUERY(group, ms, digits) {group, ms, digits},
#include "../../oracle/vectors/groups.def"
#undef REPORT
#undef QUERY
};

/* Decodes the hexadecimal @digits of a vector into @frame.  Returns the length of the frame. */
static size_t frame_of(const char *digits, uint8_t frame[GROUP_FRAME_MAX])
{
    const size_t n = strlen(digits) / 2;

    assert_true(n <= GROUP_FRAME_MAX);
    for (size_t i = 0; i < n; i++) {
        unsigned byte;

        assert_int_equal(sscanf(digits + 2 * i, "%2x", &byte), 1);
        frame[i] = (uint8_t)byte;
    }
    return n;
}

#endif
