/* SPDX-License-Identifier: MIT */
/* Helpers for tests that read and write scripts. */
#ifndef TESTS_UNIT_CLI_TESTING_H
#define TESTS_UNIT_CLI_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lang/json.h"
#include "cli/lang/line.h"
#include "testing.h"

static inline struct script script_of(const char *text)
{
    return (struct script){.src = source_of(NULL, text)};
}

/* Returns the example of @cmd in a form that a scenario accepts.  @cmd must not be CMD_PROMPT_ONLY.
 */
static inline const char *example_of(const struct cmd *cmd)
{
    return cmd == &cmd_table[CMD_set] ? "set link h1-h2 loss=1% latency=2us" : cmd->example;
}

/* Returns what @write_script writes.  The caller frees it. */
static inline char *written(void (*write_script)(FILE *, const struct script *),
                            const struct script *s)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);

    assert_non_null(f);
    write_script(f, s);
    fclose(f);
    return text;
}

/* Reads the text of @s as lines or JSON.  The test fails if that fails. */
static inline void must_read(struct script *s, bool json)
{
    struct diag d = {.kind = DIAG_NONE};
    const bool ok = json ? json_read_script(s, &d) : line_read_script(s, &d);

    if (!ok)
        fail_msg("%s: %s", s->src.text, d.message);
}

/* Converts a script from lines to JSON or back.  The caller frees the result. */
static inline char *converted(const char *text, bool from_json)
{
    struct script s = script_of(text);
    char *out;

    must_read(&s, from_json);
    out = written(from_json ? line_write_script : json_write_script, &s);
    script_done(&s);
    return out;
}

#endif
