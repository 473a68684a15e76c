/* SPDX-License-Identifier: MIT */
/* The fields of a RoCEv2 frame by name: finds a field in a frame and changes it in place.
 *
 * A field is a range of bits within at most eight bytes of one header.  Frames with malformed IP or
 * UDP headers have no fields: see packet_icrc_at().
 */
#ifndef EMU_WIRE_FIELD_H
#define EMU_WIRE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/enum/wire_field.h"

/* The location of a field in a frame. */
struct field_place {
    size_t at;      /* offset of its first byte */
    uint32_t bytes; /* bytes that contain it; 0: the frame does not have the field */
    uint64_t mask;  /* bits of the field in these bytes, as one big-endian number */
};

struct field_place field_place(enum wire_field_id id, const uint8_t *frame, size_t len);

/* Returns the largest value of the field; 0 if there is no such field. */
uint64_t field_max(enum wire_field_id id);

uint64_t field_get(const struct field_place *p, const uint8_t *frame);
void field_put(const struct field_place *p, uint8_t *frame, uint64_t v);

/* Inverts the lowest bit of the field. */
void field_flip(const struct field_place *p, uint8_t *frame);

/* Recomputes the header checksum of an IPv4 frame; leaves other frames unchanged. */
void field_mend_ip(uint8_t *frame, size_t len);

/* field_is_ip() returns true for an IP packet, RoCEv2 or not.  field_mark() sets the ECN field of
 * an IP packet to "congestion experienced".
 */
#define ECN_CE 3u /* [RFC 3168] */
bool field_is_ip(const uint8_t *frame, size_t len);
void field_mark(uint8_t *frame, size_t len);

#endif
