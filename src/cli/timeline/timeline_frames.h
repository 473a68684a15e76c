/* SPDX-License-Identifier: MIT */
/* The packets of a timeline: their bytes, and the fields that `show packet` finds in them.
 *
 * Packets of one kind have the same headers.  The fields of a kind are written once, and of each
 * packet the values and bytes that differ from the packet before of its kind.
 */
#ifndef CLI_TIMELINE_TIMELINE_FRAMES_H
#define CLI_TIMELINE_TIMELINE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Bytes of a field that are written; of longer ones, which are payload, the rest is left out. */
#define TIMELINE_FIELD_BYTES 256u
/* The same in a page with more than TIMELINE_FRAMES_MANY packets. */
#define TIMELINE_FIELD_BYTES_MANY 64u
#define TIMELINE_FRAMES_MANY      2000u

struct timeline_packet;

struct timeline_frames {
    FILE *out;
    uint32_t field_bytes; /* one of the above */
    uint32_t n;           /* number of packets written */
    uint32_t n_cut;       /* of them, packets that are not written whole */
    const char **words;   /* names of headers and fields */
    size_t n_words, cap_words;
    struct timeline_packet *kinds; /* the newest packet of each kind */
    size_t n_kinds, cap_kinds;
};

/* Begin and end the member "frames", which is an array of
 *
 *	[kind, bytes, values, places, at, left]
 *
 * @bytes is base64 of the length in three bytes, and then of pairs: a number of bytes that are
 * those of the packet before, and a number of other bytes, which follow.  What is behind the last
 * pair is as in the packet before.  @values is [row, value, ...], @places [row, offset, bytes,
 *...]. Of a packet that is not whole, @left bytes at offset @at are missing.
 *
 * timeline_frames_end() writes the members "words" and "formats", too: for each kind its fields, as
 * [word of the header, word of the name, mask, ...].
 */
void timeline_frames_begin(struct timeline_frames *f, FILE *out, uint32_t n_packets);
void timeline_frames_end(struct timeline_frames *f);

/* Writes a packet.  Returns its number. */
uint32_t timeline_frame_put(struct timeline_frames *f, const uint8_t *bytes, size_t n);

#endif
