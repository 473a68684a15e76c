/* SPDX-License-Identifier: MIT */
/* Arbitrary bytes as a session file (`save world`): read, continued, saved and opened again.
 *
 * Checked: anything that is no session file is refused with a reason and a position.  Otherwise
 * nothing reaches outside the lab and no invariant breaks.  If everything goes as the file says,
 * the session is saved as a file that can be read again: its labs have the same events in the same
 * ticks, and it resumes at the same point.
 *
 * Each future contains a hash of all its events, which random mutation cannot find.  The target
 * removes the hash after reading, so that later checks are reached.  Memory and work are bounded as
 * in confined.h, whatever the file says.
 */
#include <string.h>

#include "cli/exec/resume.h"
#include "cli/exec/travel.h"
#include "cli/lang/json.h"
#include "cli/session_file/session_file.h"
#include "confined.h"
#include "fuzz.h"
#include "rdmalab/trace.h"
#include "script_text.h"

#define ENTER_TIMES                                                                                \
    4u /* as many commands: what was done is done again, and the ways back are, too */
#define AGAIN_TIMES 16u /* what went that way once does so again */

static bool read_file(const char *text, size_t n, FILE *nowhere, struct session_file *ret)
{
    struct source src = {.name = "session", .text = text, .len = n};
    struct diag d = {.kind = DIAG_NONE};
    const bool ok = session_file_read(&src, NULL, ret, nowhere, &d);

    FUZZ_CHECK(ok || (d.kind != DIAG_NONE && d.message[0] && d.at.at <= n));
    return ok;
}

/* @s is where it says, and says all of it. */
static char *saved(struct session *s)
{
    char *text = NULL;
    size_t n = 0;
    uint64_t hash;
    FILE *f;

    if (session_file_obstacle(s) || !travel_hash_at_end(s, &hash))
        return NULL;
    f = open_memstream(&text, &n);
    FUZZ_CHECK(f);
    session_file_write(s, hash, f);
    FUZZ_CHECK(fclose(f) == 0);
    return text;
}

/* The file that @done saves opens again, and the opened session is at the same place as @done. */
static void open_again(struct confined *done, const char *text)
{
    struct confined c;
    struct session_file w;
    char *again;

    confined_open(&c, AGAIN_TIMES);
    FUZZ_CHECK(read_file(text, strlen(text), c.nowhere, &w));
    if (resume_session(c.s, &w, "again", c.nowhere) == EXIT_PASSED) {
        FUZZ_CHECK(rdl_tick(c.s->lab) == rdl_tick(done->s->lab));
        FUZZ_CHECK(rdl_now_ns(c.s->lab) == rdl_now_ns(done->s->lab));
        FUZZ_CHECK(rdl_hash(c.s->lab) == rdl_hash(done->s->lab));
        again = saved(c.s);
        FUZZ_CHECK(c.interrupted || (again && strcmp(again, text) == 0));
        free(again);
    } else {
        FUZZ_CHECK(c.interrupted);
    }
    session_file_done(&w);
    confined_close(&c);
}

static void go_on(struct session_file *w)
{
    struct confined c;
    char *text = NULL;

    for (size_t i = 0; i < w->n; i++)
        w->v[i].hash = 0;
    if (w->memory_bytes == 0 || w->memory_bytes > CONFINED_BYTES)
        w->memory_bytes = CONFINED_BYTES;
    confined_open(&c, ENTER_TIMES);
    if (resume_session(c.s, w, "session", c.nowhere) == EXIT_PASSED &&
        rdl_shortage(c.s->lab) == RDL_SHORT_OF_NOTHING)
        text = saved(c.s);
    if (text && !c.interrupted)
        open_again(&c, text);
    free(text);
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
    FILE *nowhere = fopen("/dev/null", "w");
    struct session_file w;

    FUZZ_CHECK(nowhere);
    if (read_file(text, n, nowhere, &w))
        go_on(&w);
    session_file_done(&w);
    fclose(nowhere);
    free(text);
    return 0;
}
