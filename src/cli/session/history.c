/* SPDX-License-Identifier: MIT */
#include "cli/session/history.h"

#include <string.h>

bool session_has_begun(const struct session *s)
{
    return s->history->journal.n > 0;
}

const char *session_title(const struct session *s)
{
    return s->history->header ? step_text(s->history->header, "title") : NULL;
}

bool session_has_future(const struct session *s, const char *name)
{
    const struct futures *all = &s->history->futures;
    const size_t n = all->n - all->undecided; /* the last one may turn out to be none */
    bool has = n > 0 && strcmp(futures_current(all), name) == 0;

    for (size_t i = 0; i < n; i++)
        has = has || strcmp(all->v[i].name, name) == 0;
    return has && !s->history->replay.active;
}

struct history_memory session_history_memory(const struct session *s)
{
    const struct snapshots *all = &s->history->snapshots;

    return (struct history_memory){all->bytes, all->bytes_max, all->n};
}

void session_limit_history(struct session *s, size_t bytes_max)
{
    snapshots_limit(&s->history->snapshots, bytes_max);
}
