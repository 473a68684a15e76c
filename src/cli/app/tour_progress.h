/* SPDX-License-Identifier: MIT */
/* The reader's progress in the tour, kept in the file "tour" of the state directory (state_dir.h).
 *
 * Each line of the file is a lesson, the one that was read last at the end:
 *
 *	SCREEN N_SCREENS NAME
 *
 * SCREEN counts from 0, and is N_SCREENS when the lesson is over.  NAME is the name of a lesson of
 * the program, or the absolute path of a file.
 */
#ifndef CLI_APP_TOUR_PROGRESS_H
#define CLI_APP_TOUR_PROGRESS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define TOUR_PROGRESS_MAX 64u /* the lessons read longest ago are forgotten */

struct tour_read_lesson {
    char name[PATH_MAX];
    size_t screen, n_screens;
};

struct tour_progress {
    struct tour_read_lesson *v; /* owned */
    size_t n, room;
    char path[PATH_MAX]; /* of the file; "": none can be written */
};

/* Reads the file.  A line in another form is ignored. */
void tour_progress_read(struct tour_progress *p);
void tour_progress_done(struct tour_progress *p);

/* Returns the entry of the lesson @name, or NULL if it was never read. */
const struct tour_read_lesson *tour_progress_find(const struct tour_progress *p, const char *name);

/* Returns the lesson that was read last; NULL: none. */
const struct tour_read_lesson *tour_progress_last(const struct tour_progress *p);

/* Notes that the reader is at @screen of @n_screens, and writes the file.  Returns NULL, or why it
 * cannot be written; then nothing more is written.
 */
const char *tour_progress_note(struct tour_progress *p, const char *name, size_t screen,
                               size_t n_screens);

#endif
