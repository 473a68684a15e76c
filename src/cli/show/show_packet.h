/* SPDX-License-Identifier: MIT */
/* `show packet`: a frame byte by byte, followed by the verdict of packet_parse(). */
#ifndef CLI_SHOW_SHOW_PACKET_H
#define CLI_SHOW_SHOW_PACKET_H

#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/status.h"

/* Prints the frame of event @id, or the frame sent last if @id is 0.  Fields that differ from the
 * previous packet of the same queue pair and direction are marked, with their previous value.  If
 * the past has no frames, prints the fields of the event.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  no such event, or its frame was not kept
 *	   RDL_ERR_INVAL      the event has no frame
 */
RDL_MUST_CHECK enum rdl_status show_packet(FILE *out, const struct past *p, ev_id id,
                                           enum show_form form);

#endif
