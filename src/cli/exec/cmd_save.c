/* SPDX-License-Identifier: MIT */
/* save: writes the whole session to a file.  It may have to go to the end of the history and back,
 * to learn the hash of the events there.
 */
#include <string.h>

#include "cli/exec/executing.h"
#include "cli/exec/travel.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session_file/session_file.h"
#include "emu/facts/enum/device_type.h"
#include "rdmalab/trace.h"

/* Returns the number of stops that the prompt has made. */
static size_t n_stops(const struct session *s)
{
    size_t n = 0;

    for (const struct stop *stop = s->stops.first; stop; stop = stop->next)
        n += stop->owner == STOP_OF_PROMPT;
    return n;
}

bool run_save(struct session *s, const struct step *st)
{
    const char *file = step_text(st, "file");
    const struct span at = step_span(st, "file", 0);
    struct out_file o;
    const char *why;
    uint64_t hash = 0;

    if (s->run.block->outer)
        return session_fail(s, st->at, "%s does not work in a block or a sourced file",
                            st->cmd->name);
    if (strcmp(file, "-") == 0)
        return session_fail(s, at, "a world is a file, and needs a name");
    if (s->history->journal.n == 0 && s->history->futures.n == 0) {
        session_fail(s, st->at, "there is nothing to save: nothing was done yet");
        return diag_remedy(&s->diag, "commands that only look, like show, are not saved");
    }
    if (s->outside.was_used) {
        session_fail(s, st->at,
                     "this lab cannot be saved as a world: it has or had a live port or a program");
        return diag_remedy(&s->diag, "what came from outside does not come again");
    }
    if (s->config.devices.device != DEVICE_virtio || s->config.devices.extensions)
        return session_fail(s, st->at,
                            "this lab cannot be saved as a world: --%s has chosen its devices",
                            s->config.devices.extensions ? "extensions" : "device");
    if (!position_can_go_back(s, st->at))
        return false;
    why = session_file_obstacle(s);
    if (!why && !travel_hash_at_end(s, &hash))
        return false;
    if (!why && !gate_write(s, st, "file", NULL, &o))
        return false;
    if (!why)
        why = session_file_save(s, hash, &o);
    if (why)
        return session_fail(s, at, "%s: %s", file, why);
    session_say(s, "\"rdmalab open %s\" goes on here\n", file);
    if (n_stops(s) > 0 || s->run.macros.list.first)
        session_say(s, "  breaks, watches and macros are not in it\n");
    return true;
}
