/* SPDX-License-Identifier: MIT */
#include "cli/app/fault_why.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cmd/why_event.h"
#include "cli/why/why.h"
#include "process/must.h"
#include "tree/lab_past.h"

void fault_why_add(struct text *t, struct session *s, ev_id about, const char *fault)
{
    const struct past past = past_of_lab(s->lab);
    char *answer = NULL;
    size_t bytes, off;
    FILE *out;

    if (!about && why_find(s->lab, &past, fault, &about, &off) != RDL_OK)
        return;
    out = must_memstream(&answer, &bytes);
    (void)why_event_print(s, out, &past, about, NULL);
    must_memstream_end(out, &answer);
    for (const char *line = answer; *line;) {
        const size_t n = strcspn(line, "\n");

        if (t->len + n + 2 > t->cap)
            break;
        text_addn(t, line, n);
        text_add(t, "\n");
        line += n + (line[n] == '\n');
    }
    free(answer);
}
