/* SPDX-License-Identifier: MIT */
/* Lines typed at the prompt, executed in a lab one after the other, whatever fails.
 *
 * Checked: no invariant breaks.  The steps of the journal, which `session save` writes, replay in
 * another lab with the same events in the same ticks, even where commands failed, were interrupted,
 * or the session went back and continued differently.  Replay is not checked if memory was full.
 */
#include <string.h>

#include "cli/exec/exec.h"
#include "cli/exec/travel.h"
#include "cli/lang/line.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "confined.h"
#include "fuzz.h"
#include "rdmalab/trace.h"
#include "script_text.h"

#define REPLAY_TIMES 4u /* as many commands: one that failed half-way is put into a block */

/* The script that `session save` would write; to be given to script_done(). */
static struct script saved(const struct session *s)
{
    struct script script = {.first = NULL};

    script.first = journal_steps(&s->history->journal, &script.pool);
    if (s->history->header) {
        script.header = step_copy(&script.pool, s->history->header);
        step_put_number(&script.pool, script.header, "seed", s->lab_info.seed);
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
    ok = exec_script(c.s, &again);
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

/* The text at @from that a prompt would take at once: a line, and more while a block is open.  Ends
 * it with a NUL, and returns where the next begins; NULL: nowhere.
 */
static char *cut(char *from)
{
    struct tokens tokens = {0};
    struct source src = {.text = from};
    char *end = from;
    bool more = true;

    while (more) {
        end = strchr(end, '\n');
        if (!end)
            break;
        end++;
        src.len = (size_t)(end - from);
        lex_rest(&tokens, &src);
        more = lex_wants_more(&tokens, &src);
    }
    lex_free(&tokens);
    if (end)
        end[-1] = '\0';
    return end;
}

/* What it did is what there is at the end of it. */
static void go_to_end(struct session *s)
{
    const struct place end = position_end(s);

    if (s->history->position.in_past)
        FUZZ_CHECK(travel_to(s, &end, (struct span){0, 0}));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char *text = text_of(data, n), *line, *rest = text;
    struct confined c;

    if (n > 0 && memchr(data, '\0', n)) {
        free(text);
        return 0; /* no prompt has such a line */
    }
    confined_open(&c, 1);
    while (rest && !c.interrupted && !c.s->run.quit) {
        struct source src;

        line = rest;
        rest = cut(line);
        src = source_typed(line);
        (void)exec_lines(c.s, &src, true);
    }
    go_to_end(c.s);
    if (rdl_shortage(c.s->lab) == RDL_SHORT_OF_NOTHING)
        replay(&c);
    confined_look(&c);
    confined_close(&c);
    free(text);
    return 0;
}
