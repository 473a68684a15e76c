/* SPDX-License-Identifier: MIT */
/* Worlds as text, for tests in a directory of their own. */
#ifndef TESTS_UNIT_CLI_SESSION_WORLDS_H
#define TESTS_UNIT_CLI_SESSION_WORLDS_H

#include "cli/session/random_session.h"
#include "cli/session_file/session_file.h"
#include "print/version.h"

#define HISTORY_BYTES ((size_t)64 << 20)

/* What is in calm_world(). */
#define VERSION  "\"rdmalab\": \"" RDMALAB_VERSION "\""
#define ANOTHER  "\"rdmalab\": \"0.0.1\""
#define PING     "\"do\": \"ping\", \"host\": \"h1\", \"to\": \"h2\", \"count\": 2"
#define LATENCY  "\"latency\": \"1us\""
#define ANOTHER1 "\"latency\": \"2us\""

/* What is in a file; to be freed. */
char *bytes_of(const char *name);

/* The session becomes that of @text; what it says is its output. */
int enter_text(struct lab *l, const char *text);

/* Opens it in a session of its own, which is to be closed. */
int open_text(struct lab *l, const char *text);
int open_file(struct lab *l, const char *name);

/* @text with all of @old replaced by @new; to be freed. */
char *replaced(const char *text, const char *old, const char *new);

/* Opening that ends with @status, and @says that. */
void assert_says(const char *text, const char *old, const char *new, int status, const char *says);

/* The file of a session that did a bit of everything; to be freed. */
char *calm_world(void);

int worlds_leave_directory(void **state);

#endif
