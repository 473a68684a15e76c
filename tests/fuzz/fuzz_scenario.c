/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a scenario in JSON: read, converted, and run.
 *
 * Checked: a scenario is written as lines and as JSON; both read as the same scenario, and are
 * written the same again, byte for byte.  Run with little memory, few events and no files it ends
 * without a broken invariant.
 */
#include <string.h>

#include "cli/exec/exec.h"
#include "cli/lang/json.h"
#include "cli/lang/line.h"
#include "confined.h"
#include "fuzz.h"
#include "script_text.h"

typedef bool script_read(struct script *s, struct diag *d);

/* @text, which was written of @s, reads as @s, and is written as @json and as @lines. */
static void check_form(const struct script *s, script_read *read, const char *text,
                       const char *json, const char *lines)
{
    struct script again = {.src = source_of(NULL, text)};
    struct diag d = {.kind = DIAG_NONE};
    char *as_json, *as_lines;

    FUZZ_CHECK(read(&again, &d));
    FUZZ_CHECK(script_equal(s, &again));
    as_json = script_written(json_write_script, &again);
    as_lines = script_written(line_write_script, &again);
    FUZZ_CHECK(strcmp(as_json, json) == 0);
    FUZZ_CHECK(strcmp(as_lines, lines) == 0);
    free(as_json);
    free(as_lines);
    script_done(&again);
}

static void convert(const struct script *s)
{
    char *json = script_written(json_write_script, s);
    char *lines = script_written(line_write_script, s);

    check_form(s, json_read_script, json, json, lines);
    check_form(s, line_read_script, lines, json, lines);
    free(json);
    free(lines);
}

static void carry_out(const struct script *s)
{
    struct confined c;

    confined_open(&c, 1);
    (void)exec_script(c.s, s);
    confined_look(&c);
    confined_close(&c);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    json_use_memory();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = text_of(data, n);
    struct script s = {.src = {.text = text, .len = n}};
    struct diag d = {.kind = DIAG_NONE};

    if (json_read_script(&s, &d)) {
        convert(&s);
        carry_out(&s);
    } else {
        FUZZ_CHECK(d.kind != DIAG_NONE && d.at.at <= n);
    }
    script_done(&s);
    free(text);
    return 0;
}
