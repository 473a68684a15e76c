/* SPDX-License-Identifier: MIT */
/* Ladder diagrams: what the hosts of a lab said to each other, drawn from its events alone.
 *
 * Each host is a vertical lifeline, time runs downwards, each packet is an arrow from its sender
 * to where it ended.  The same events give the same bytes, on every machine.
 *
 * A picture of a part of the trace shows what happened in it: each packet that left or ended there,
 * once.  An arrow whose other end is not in the picture is cut, and says where that is.
 *
 *	past -> ladder_new() -> ladder_text() for a terminal
 *				ladder_svg() for everything else
 *
 * ladder_draw() of picture.h does all of it.
 */
#ifndef VIZ_LADDER_H
#define VIZ_LADDER_H

#include "viz/picture.h"

#define LADDER_PACKETS_DEFAULT 200u
#define LADDER_PACKETS_MAX     1000u
#define LADDER_WIDTH_DEFAULT   100u
#define LADDER_WIDTH_MIN       60u
#define LADDER_WIDTH_MAX       240u

struct ladder; /* what there is to draw, before it is known how */

/**
 * ladder_new() - Find what there is to draw in a past
 * @past:	All of it, also when only a part is drawn; not needed any more when this returns
 * @options:	Copied, with the title
 * @ret:	The ladder; free with ladder_free().  Untouched on failure
 *
 * What the past lacks, and packets beyond @options->n_packets, the picture says.
 *
 * Return: RDL_OK, RDL_ERR_NOMEM
 */
RDL_MUST_CHECK enum rdl_status
ladder_new(const struct past *past, const struct picture_options *options, struct ladder **ret);
void ladder_free(struct ladder *l);

/* Lines for a terminal, each ended by a newline.  RDL_OK, RDL_ERR_NOMEM (nothing was put then). */
RDL_MUST_CHECK enum rdl_status ladder_text(const struct ladder *l, const struct viz_sink *sink);

/* One SVG document.  RDL_OK, RDL_ERR_NOMEM (nothing was put then). */
RDL_MUST_CHECK enum rdl_status ladder_svg(const struct ladder *l, const struct viz_sink *sink);

#endif
