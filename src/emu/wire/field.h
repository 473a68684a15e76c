/* SPDX-License-Identifier: MIT */
/* The fields of a RoCEv2 frame by name: where each is, and how to change it in place.
 *
 * A field is a run of bits, at most eight bytes long, in one header.  Only a frame whose IP and UDP
 * headers are sound has any: see packet_icrc_at().
 */
#ifndef EMU_WIRE_FIELD_H
#define EMU_WIRE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/enums.h"

/* Where a field is in a frame. */
struct field_place {
    size_t at;      /* offset of its first byte */
    uint32_t bytes; /* that it is in; 0: the frame has not this field */
    uint64_t mask;  /* its bits in these bytes, read as one big-endian number */
};

struct field_place field_place(enum wire_field_id id, const uint8_t *frame, size_t len);

/* The largest value that fits; 0: there is no such field. */
uint64_t field_max(enum wire_field_id id);

uint64_t field_get(const struct field_place *p, const uint8_t *frame);
void field_put(const struct field_place *p, uint8_t *frame, uint64_t v);

/* Flips the lowest bit of the field. */
void field_flip(const struct field_place *p, uint8_t *frame);

/* Makes the checksum of an IPv4 header right again, of a frame that has one. */
void field_mend_ip(uint8_t *frame, size_t len);

/* Is it an IP packet, RoCEv2 or not?  Of one that is, sets ECN to "congestion experienced". */
#define ECN_CE 3u /* [RFC 3168] */
bool field_is_ip(const uint8_t *frame, size_t len);
void field_mark(uint8_t *frame, size_t len);

#endif
