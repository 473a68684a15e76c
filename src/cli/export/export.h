/* SPDX-License-Identifier: MIT */
/* The command `export`: what was recorded, as files that other tools read.
 *
 * Each function writes to @out and leaves it to the caller to open it, and to ask ferror() and
 * fclose() whether all of it arrived.
 */
#ifndef CLI_EXPORT_EXPORT_H
#define CLI_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/lang/words.h"
#include "emu/past/past.h"
#include "rdmalab/status.h"
#include "viz/picture.h"

/* May a file of @form be called @name?  NULL, or what its name must end in: ".svg or .txt".  A
 * device or pipe may have any name.
 */
const char *export_wants_suffix(enum export_form form, const char *name);

/* Is a picture that goes to the file @name text, not SVG? */
bool export_is_text(const char *name);

/* A pcapng file.  Frames that a host sends or receives are on its interface "h1.rdma0", outbound
 * and inbound; frames that a link lost are on "wire.lost".  RDL_ERR_NOMEM.
 */
RDL_MUST_CHECK enum rdl_status export_pcapng(FILE *out, const struct past *p,
                                             const struct past_about *about);

/* A picture as SVG or as text for a terminal; @draw is one that viz/picture.h declares.
 * RDL_ERR_NOMEM: nothing was written.
 */
RDL_MUST_CHECK enum rdl_status export_picture(FILE *out, picture_draw *draw, const struct past *p,
                                              const struct picture_options *options, bool svg);

/* A header and the events, one JSON object a line; trace_file_read() reads it back.  RDL_ERR_NOMEM:
 * nothing was written.
 */
RDL_MUST_CHECK enum rdl_status export_events(FILE *out, const struct past *p,
                                             const struct past_about *about);

#endif
