/* SPDX-License-Identifier: MIT */
/* Finds a field of a RoCEv2 frame by its name (enum wire_field_id) and changes it in place.
 *
 * A field is a range of bits within at most eight bytes of one header, of a MAD (WF_OF_MAD), or of
 * a message of o2iblnd (WF_OF_LNET). Frames with malformed IP or UDP headers have no fields: see
 * packet_icrc_at().
 */
#ifndef EMU_WIRE_FIELD_H
#define EMU_WIRE_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/enum/wire_field.h"

struct enum_table;

/* The location of a field in a frame. */
struct field_place {
    size_t at;      /* offset of its first byte */
    uint32_t bytes; /* number of bytes that contain it; 0: the frame does not have the field */
    uint64_t mask;  /* bits of the field in these bytes, as one number */
    bool is_little; /* the number is little-endian */
};

/* Returns the location of field @id in @frame.  The member bytes of the result is 0 if the frame
 * has no such field.
 */
struct field_place field_place(enum wire_field_id id, const uint8_t *frame, size_t len);

/* Returns the largest value of field @id, or 0 for WF_NONE. */
uint64_t field_max(enum wire_field_id id);

/* Returns the names of the values of field @id, or NULL if they have none. */
const struct enum_table *field_words(enum wire_field_id id);

/* Return or set the value of the field at @p; p->bytes must not be 0.  field_put() does not update
 * checksums and ICRC.  It ignores bits of @v that do not fit.
 */
uint64_t field_get(const struct field_place *p, const uint8_t *frame);
void field_put(const struct field_place *p, uint8_t *frame, uint64_t v);

/* Inverts the lowest bit of the field at @p; p->bytes must not be 0. */
void field_flip(const struct field_place *p, uint8_t *frame);

/* Recomputes the header checksum of an IPv4 frame.  Other frames are unchanged. */
void field_mend_ip(uint8_t *frame, size_t len);

/* field_is_ip() returns true if the frame contains a complete IPv4 header without options or a
 * complete IPv6 header.  field_mark() sets the ECN field of such a frame to "congestion
 * experienced", and recomputes the IPv4 header checksum.
 */
#define ECN_CE 3u /* congestion experienced  [RFC 3168] */
bool field_is_ip(const uint8_t *frame, size_t len);
void field_mark(uint8_t *frame, size_t len);

#endif
