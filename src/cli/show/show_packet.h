/* SPDX-License-Identifier: MIT */
/* A frame byte by byte, and the verdict of packet_parse() below it. */
#ifndef CLI_SHOW_SHOW_PACKET_H
#define CLI_SHOW_SHOW_PACKET_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/status.h"

/* Prints the frame that event @id is about; @id 0: the frame sent last.  What is different from the
 * packet before it, of the same queue pair and the same direction, is marked and says what it was.
 * Of a past without frames, what the event tells of it.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  no such event, or its frame is not kept
 *	   RDL_ERR_INVAL      the event is not about a frame
 */
RDL_MUST_CHECK enum rdl_status show_packet(FILE *out, const struct past *p, ev_id id,
                                           enum show_form form);

#endif
