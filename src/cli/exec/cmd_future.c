/* SPDX-License-Identifier: MIT */
/* future: goes to another future of the session, or deletes one. */
#include <string.h>

#include "cli/exec/executing.h"
#include "cli/exec/travel.h"
#include "cli/session/history.h"
#include "cli/session/position.h"
#include "cli/session/remainder.h"

bool run_future(struct session *s, const struct step *st)
{
    const char *name = step_text(st, "name");

    if (!position_may_move(s, st))
        return false;
    if (strcmp(name, futures_current(&s->history->futures)) == 0)
        return session_fail(s, step_span(st, "name", 0), "this is the future where you are");
    if (!futures_find(&s->history->futures, name)) {
        session_fail(s, step_span(st, "name", 0), "no future is called \"%s\"", name);
        return diag_remedy(&s->diag, "\"futures\" lists them, \"fork %s\" begins one", name);
    }
    if (step_has(st, "delete")) {
        futures_delete(&s->history->futures, name);
        session_say(s, "\"%s\" is deleted\n", name);
        return true;
    }
    if (!travel_to_future(s, name, st->at))
        return false;
    session_say(s, "in \"%s\", at #%llu of #%llu\n", name, (unsigned long long)rdl_tick(s->lab),
                (unsigned long long)position_end(s).at.tick);
    remainders_abandon(s);
    return true;
}
