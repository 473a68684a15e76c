/* SPDX-License-Identifier: MIT */
/* Pictures: the options and the interface of all of them.  Each picture is a row of pictures.def.
 *
 * A picture is drawn from a past only: the same past gives the same bytes on every machine.
 */
#ifndef VIZ_PICTURE_H
#define VIZ_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/trace/id.h"
#include "rdmalab/status.h"

/* Receives the output piece by piece. */
struct viz_sink {
    void (*put)(void *ctx, const char *bytes, size_t n); /* writes the @n bytes @bytes */
    void *ctx;
};

struct text; /* emu/base/text.h */

/* The packets that a picture has, and the part of the history that it does not have because of its
 * limits.
 */
struct picture_left {
    uint64_t n_drawn;   /* packets that are drawn */
    uint64_t n_packets; /* packets that are not drawn */
    ev_id from;         /* nothing is drawn from this event on; 0: all is */
    bool hosts;         /* some hosts have no place */
};

/* Appends what a picture has left out: "only the first 12 hosts are drawn; 3 more packets, from
 * #9.1 on, are left out".  Appends nothing if it has everything.
 */
void picture_add_left(struct text *t, const struct picture_left *left);

/* The contents and the form of a picture.  A zeroed struct has the defaults. */
struct picture_options {
    const char *title;   /* NULL: none */
    const char *failure; /* sentence below the title: what failed in the run; NULL: nothing */
    /* First and last event to draw; 0: no limit.  @to with row 0 ("#12") means the whole tick. */
    ev_id from, to;
    /* Maximum number of packets; 0: LADDER_PACKETS_DEFAULT. */
    uint32_t n_packets;
    uint32_t width;                /* text: columns of the terminal; 0: LADDER_WIDTH_DEFAULT */
    bool colour;                   /* text: ANSI colours */
    bool all_rounds;               /* do not leave out rounds of equal events (emu/past/fold.h) */
    bool ascii;                    /* text: no character outside ASCII */
    struct picture_left *ret_left; /* set by the function that draws; NULL: of no interest */
};

struct past; /* emu/past/past.h */

/* Draws a picture to @sink: with @svg one SVG document, otherwise lines for a terminal, each ended
 * by a newline.  Returns RDL_OK, or RDL_ERR_NOMEM before any output.
 */
typedef enum rdl_status picture_draw(const struct past *past, const struct picture_options *options,
                                     bool svg, const struct viz_sink *sink);

#define PICTURE(NAME, name, text)                                                                  \
    RDL_MUST_CHECK enum rdl_status name##_draw(const struct past *past,                            \
                                               const struct picture_options *options, bool svg,    \
                                               const struct viz_sink *sink);
#include "viz/pictures.def"
#undef PICTURE

#endif
