/* SPDX-License-Identifier: MIT */
/* Helpers for tests of session files as text.  The test must run in a directory of its own. */
#ifndef TESTS_UNIT_CLI_SESSION_SESSION_FILES_H
#define TESTS_UNIT_CLI_SESSION_SESSION_FILES_H

#include "cli/session/random_session.h"
#include "cli/session_file/session_file.h"
#include "print/version.h"

#define HISTORY_BYTES ((size_t)64 << 20)

/* Parts of the text of calm_session(). */
#define VERSION  "\"rdmalab\": \"" RDMALAB_VERSION "\""
#define ANOTHER  "\"rdmalab\": \"0.0.1\""
#define PING     "\"do\": \"ping\", \"host\": \"h1\", \"to\": \"h2\", \"count\": 2"
#define LATENCY  "\"latency\": \"1us\""
#define ANOTHER1 "\"latency\": \"2us\""

/* Returns the contents of a file.  The caller frees them. */
char *bytes_of(const char *name);

/* Replaces the session of @l by that of @text.  Its output goes to l->out. */
int enter_text(struct lab *l, const char *text);

/* Open a session file as a new one in @l.  The caller closes it. */
int open_text(struct lab *l, const char *text);
int open_file(struct lab *l, const char *name);

/* Returns @text with all of @old replaced by @new.  The caller frees it. */
char *replaced(const char *text, const char *old, const char *new);

/* Fails unless opening the changed text ends with @status and prints @says. */
void assert_says(const char *text, const char *old, const char *new, int status, const char *says);

/* Returns the file of a session that did a bit of everything.  The caller frees it. */
char *calm_session(void);

int session_files_leave_directory(void **state);

#endif
