/* SPDX-License-Identifier: MIT */
/* The options --allow and --no-sandbox, and the question to the user: what texts may do that he has
 * not typed (session/gate.h).
 */
#ifndef CLI_APP_ALLOW_H
#define CLI_APP_ALLOW_H

#include <stdbool.h>

#include "cli/lang/permit.h"
#include "emu/base/text.h"

struct session_config;

/* Values of the options of a mode; zeroed at first. */
struct allow {
    const char *text; /* of --allow */
    bool all;         /* --no-sandbox: everything is allowed */
};

/* The rows of the options, for the table of a mode.  @a is a struct allow. */
#define ALLOW_OPTIONS(a)                                                                           \
    {.name = "--allow", .value = &(a).text, .words = PERMIT_WORDS, .list = true},                  \
    {                                                                                              \
        .name = "--no-sandbox", .flag = &(a).all                                                   \
    }

/* Sets *@ret to the set of enum permit that @a allows.  Prints an error and returns false if a word
 * of --allow is unknown.
 */
bool allow_read(const struct allow *a, unsigned *ret);

/* Appends the options as they were given, to a command line. */
void allow_add(struct text *t, const struct allow *a);

/* Appends --allow with the permissions in @set, a set of enum permit; nothing if it is empty. */
void allow_add_set(struct text *t, unsigned set);

/* Lets the user of @config be asked, if there is a terminal to ask at. */
void allow_ask(struct session_config *config);

#endif
