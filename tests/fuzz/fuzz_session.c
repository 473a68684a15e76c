/* SPDX-License-Identifier: MIT */
/* Lines as somebody types them at the prompt, carried out in a lab, each after the other whatever
 * fails.
 *
 * Promised is: no invariant breaks, and the steps of the journal, which are what `session save`
 * writes, replay in another lab with the same events in the same ticks, also where commands failed
 * or were cut short.  The last is not asked of a lab whose memory was full.
 */
#include <string.h>

#include "cli/lang/line.h"
#include "confined.h"
#include "fuzz.h"
#include "rdmalab/trace.h"
#include "script_text.h"

#define REPLAY_TIMES 4u /* as many commands: one that failed half-way is put into a block */

/* The script that `session save` would write; to be given to script_done(). */
static struct script saved(const struct session *s)
{
    struct script script = {.first = NULL};

    script.first = journal_steps(&s->history.journal, &script.pool);
    if (s->history.header) {
        script.header = step_copy(&script.pool, s->history.header);
        step_put_number(&script.pool, script.header, "seed", s->seed);
    }
    return script;
}

static void replay(const struct confined *done)
{
    struct script script = saved(done->s), again;
    char *text = script_written(line_write_script, &script);
    struct diag d = {.kind = DIAG_NONE};
    struct confined c;
    bool ok;

    again = (struct script){.src = source_of(NULL, text)};
    FUZZ_CHECK(line_read_script(&again, &d) && script_equal(&script, &again));
    confined_open(&c, REPLAY_TIMES);
    ok = session_script(c.s, &again);
    if (!c.interrupted) {
        FUZZ_CHECK(ok);
        FUZZ_CHECK(rdl_tick(c.s->lab) == rdl_tick(done->s->lab));
        FUZZ_CHECK(rdl_now_ns(c.s->lab) == rdl_now_ns(done->s->lab));
        FUZZ_CHECK(rdl_hash(c.s->lab) == rdl_hash(done->s->lab));
    }
    confined_close(&c);
    script_done(&script);
    script_done(&again);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = text_of(data, n), *line, *rest = text;
    struct confined c;

    if (memchr(data, '\0', n)) {
        free(text);
        return 0; /* no prompt has such a line */
    }
    confined_open(&c, 1);
    /* One paragraph is one input of the prompt; an empty line ends it. */
    while (rest && !c.interrupted && !c.s->quit) {
        line = rest;
        rest = strstr(line, "\n\n");
        if (rest) {
            *rest = '\0';
            rest += 2;
        }
        (void)session_lines(c.s, &(struct source){.text = line, .len = strlen(line)}, true);
    }
    if (rdl_shortage(c.s->lab) == RDL_SHORT_OF_NOTHING)
        replay(&c);
    confined_look(&c);
    confined_close(&c);
    free(text);
    return 0;
}
