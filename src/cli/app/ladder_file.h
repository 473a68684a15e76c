/* SPDX-License-Identifier: MIT */
/* The options --ladder and --timeline of the modes that read a file, with --from, --to and
 * --packets.
 */
#ifndef CLI_APP_LADDER_FILE_H
#define CLI_APP_LADDER_FILE_H

#include "cli/app/options.h"
#include "cli/export/export.h"
#include "emu/past/past.h"

/* The values of the options; NULL: not given.  @file is that of --ladder. */
struct ladder_request {
    const char *file, *timeline, *from, *to, *packets;
};

/* The rows of these options, for options_take(). */
#define LADDER_OPTIONS(rq)                                                                         \
    {.name = "--ladder",                                                                           \
     .value = &(rq).file,                                                                          \
     .output = OPTION_WRITES,                                                                      \
     .wants_suffix = export_ladder_suffix},                                                        \
        {.name = "--timeline",                                                                     \
         .value = &(rq).timeline,                                                                  \
         .output = OPTION_WRITES,                                                                  \
         .wants_suffix = export_timeline_suffix},                                                  \
        {.name = "--from", .value = &(rq).from, .words = ""},                                      \
        {.name = "--to", .value = &(rq).to, .words = ""},                                          \
    {                                                                                              \
        .name = "--packets", .value = &(rq).packets, .words = ""                                   \
    }

/* Returns true if a file is wanted. */
static inline bool ladder_is_wanted(const struct ladder_request *rq)
{
    return rq->file || rq->timeline;
}

/* Returns true if an option is given that has no meaning without a file, and none is wanted. */
static inline bool ladder_lacks_file(const struct ladder_request *rq)
{
    return !ladder_is_wanted(rq) && (rq->from || rq->to || rq->packets);
}

/* Draws the past @p to the files that @rq wants; "-" is the standard output, where a ladder is
 * text.  @title may be NULL.  @no_bytes is that of struct timeline_options.  Prints errors to
 * stderr, and returns the exit status.
 */
int ladder_file(const struct past *p, const char *title, const char *no_bytes,
                const struct ladder_request *rq);

#endif
