/* SPDX-License-Identifier: MIT */
/* The command `export`: writes recorded data in formats that other tools read.
 *
 * Each function writes to @out.  The caller opens and closes it, and detects write errors with
 * ferror() and fclose().
 */
#ifndef CLI_EXPORT_EXPORT_H
#define CLI_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/base/text.h"
#include "emu/past/past.h"
#include "rdmalab/status.h"
#include "viz/picture.h"

/* A timeline begins so (cli/timeline/timeline.h). */
#define TIMELINE_MARK "<!doctype html>\n<!-- rdmalab export timeline -->\n"

/* Returns NULL if a file with content of @form may be called @name.  Otherwise returns the required
 * suffix: ".svg or .txt".  A device or pipe may have any name.
 */
const char *export_wants_suffix(enum export_form form, const char *name);

/* export_wants_suffix() for one form. */
const char *export_ladder_suffix(const char *name);
const char *export_pcapng_suffix(const char *name);
const char *export_events_suffix(const char *name);
const char *export_timeline_suffix(const char *name);

/* Returns true for the forms that are a graph: DOT, SVG or text. */
bool export_is_graph(enum export_form form);

/* export_is_text() returns true if a picture in the file @name is text, export_is_dot() if a graph
 * in it is DOT.  Otherwise it is SVG.
 */
bool export_is_text(const char *name);
bool export_is_dot(const char *name);

#define EXPORT_UNCOUNTED UINT64_MAX /* the parts of a file have no number */

/* Adds the sentence about the file @name that `export` wrote: "wrote drop.svg: 3 packets".  @n is
 * the number of packets, events, frames or boxes in it, or EXPORT_UNCOUNTED.
 */
void export_add_written(struct text *t, enum export_form form, const char *name, uint64_t n);

/* Writes a pcapng file.  Frames that a host sends or receives are on its interface "h1.rdma0",
 * outbound and inbound.  Frames that a link lost are on "wire.lost".  Returns RDL_OK, with the
 * number of frames in the file in *@ret_frames, or RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status export_pcapng(FILE *out, const struct past *p,
                                             const struct past_about *about, uint64_t *ret_frames);

/* Draws a picture with @draw, a function of viz/pictures.def, as SVG or as text for a terminal.
 * @options->width 0 means the width of the terminal at @out.  Writes nothing if it returns
 * RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status export_picture(FILE *out, picture_draw *draw, const struct past *p,
                                              const struct picture_options *options, bool svg);

/* Adds what a picture of at most @n_packets packets (0: the default) has left out, and how to see
 * it.  @from and @packets are the names of these options: "--from ".  Adds nothing if it has
 * everything.
 */
void export_add_left(struct text *t, const struct picture_left *left, uint32_t n_packets,
                     const char *from, const char *packets);

/* Writes a header and the events, one JSON object per line, as trace_file_read() reads them.
 * Writes nothing if it returns RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status export_events(FILE *out, const struct past *p,
                                             const struct past_about *about);

#endif
