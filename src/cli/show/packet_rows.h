/* SPDX-License-Identifier: MIT */
/* Which bytes of a frame are which field of which header, and what they say.
 *
 * This is for eyes only: it shows damaged frames as well, as far as they go.  Whether a frame is
 * acceptable is packet_parse()'s to say.
 */
#ifndef CLI_SHOW_PACKET_ROWS_H
#define CLI_SHOW_PACKET_ROWS_H

#include <stddef.h>
#include <stdint.h>

struct packet_row {
    const char *header; /* "BTH" */
    const char *name;   /* "destination QPN" */
    size_t offset, bytes;
    uint32_t mask; /* of the bits that are meant; 0: all */
    char value[96];
};

/* Calls @each for every field of the @len bytes at @frame, in their order. */
void packet_rows(const uint8_t *frame, size_t len,
                 void (*each)(void *ctx, const struct packet_row *row), void *ctx);

#endif
