/* SPDX-License-Identifier: MIT */
/* Splits a frame into the fields of its headers, with the value of each as text.
 *
 * It is for display only and accepts damaged frames: it shows what it can.  packet_parse() decides
 * whether a frame is valid.
 */
#ifndef CLI_SHOW_PACKET_ROWS_H
#define CLI_SHOW_PACKET_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "emu/base/text.h"

/* One field of a header. */
struct packet_row {
    const char *header;   /* "BTH" */
    const char *name;     /* "destination QPN" */
    uint32_t item;        /* of a list: the number of its item, from 1; 0: of no list */
    size_t offset, bytes; /* offset in the frame, and length */
    uint32_t mask;        /* bits that belong to the field; 0: all */
    char value[96];       /* the value as text */
};

/* Appends the name of the field, in a list with its number from 0: "address [3]". */
void packet_row_add_name(struct text *t, const struct packet_row *row);

/* Calls @each for every field of the @len bytes at @frame, in order. */
void packet_rows(const uint8_t *frame, size_t len,
                 void (*each)(void *ctx, const struct packet_row *row), void *ctx);

#endif
