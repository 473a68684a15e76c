/* SPDX-License-Identifier: MIT */
/* Ladder diagrams: the packets between the hosts of a lab, drawn from recorded events.
 *
 * Each host is a vertical lifeline, time runs downwards, and each packet is an arrow from its
 * sender to the place where it ended.  The same events give the same bytes on every machine.
 *
 * A picture of a part of the trace shows each packet that was sent or ended in that part, once.  An
 * arrow whose other end lies outside is cut, with a text that says where that end is.
 *
 *	past -> ladder_new() -> ladder_text() for a terminal
 *				ladder_svg() for everything else
 *
 * ladder_draw() of picture.h does both steps.
 */
#ifndef VIZ_LADDER_H
#define VIZ_LADDER_H

#include "viz/picture.h"

#define LADDER_PACKETS_DEFAULT 200u  /* packets in one picture */
#define LADDER_PACKETS_MAX     1000u /* that a user may ask for */
#define LADDER_COLUMNS_MAX     12u   /* hosts in one picture */
#define LADDER_WIDTH_DEFAULT   100u  /* columns of a ladder as text */
#define LADDER_WIDTH_MIN       60u
#define LADDER_WIDTH_MAX       240u

struct ladder; /* content of a ladder, independent of the output format */

/**
 * ladder_new() - Build a ladder from a past
 * @past:	The whole past, even if only a part is drawn.  It may change after the call
 * @options:	Copied, with the title
 * @ret:	The ladder; free with ladder_free().  Untouched on failure
 *
 * If events of the part are missing, the picture contains a text about them.  If it has more than
 * @options->n_packets packets, the picture contains the number of the packets that are left out.
 *
 * Return: RDL_OK, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status
ladder_new(const struct past *past, const struct picture_options *options, struct ladder **ret);
void ladder_free(struct ladder *l);

/* Writes lines for a terminal, each ended by a newline, to @sink.  Returns RDL_OK, or RDL_ERR_NOMEM
 * before any output.
 */
RDL_MUST_CHECK enum rdl_status ladder_text(const struct ladder *l, const struct viz_sink *sink);

/* Writes one SVG document to @sink.  Returns RDL_OK, or RDL_ERR_NOMEM before any output. */
RDL_MUST_CHECK enum rdl_status ladder_svg(const struct ladder *l, const struct viz_sink *sink);

#endif
