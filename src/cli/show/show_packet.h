/* SPDX-License-Identifier: MIT */
/* A frame byte by byte: which bytes are which field of which header, and what they say.
 *
 * This is for eyes only: it shows damaged frames as well, as far as they go.  Whether a frame is
 * acceptable is packet_parse()'s to say, whose verdict is printed below.
 */
#ifndef CLI_SHOW_SHOW_PACKET_H
#define CLI_SHOW_SHOW_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/past/past.h"
#include "rdmalab/status.h"

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

/* Prints all fields, the payload, the ICRC with its verdict. */
void show_frame(FILE *out, const uint8_t *frame, size_t len);
void show_frame_json(FILE *out, const uint8_t *frame, size_t len);

/* Prints the frame that event @id is about; @id 0: the frame sent last.  Of a past without frames,
 * what the event tells of it.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  no such event, or its frame is not kept
 *	   RDL_ERR_INVAL      the event is not about a frame
 */
RDL_MUST_CHECK enum rdl_status show_packet(FILE *out, const struct past *p, ev_id id, bool json);

#endif
