/* SPDX-License-Identifier: MIT */
#include "cli/lang/recall.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "process/must.h"

bool recall_add(struct recall *r, const char *text, size_t len, bool failed)
{
    struct recalled *last = r->n ? &r->v[r->n - 1] : NULL;

    RDL_ASSERT(r->v || r->n == 0);
    if (last && strlen(last->text) == len && memcmp(last->text, text, len) == 0) {
        last->failed = failed;
        return false;
    }
    if (r->n == RECALL_MAX) {
        free(r->v[0].text);
        memmove(r->v, r->v + 1, (r->n - 1) * sizeof(*r->v));
        r->n--;
    }
    r->v = must_grow(r->v, r->n, &r->room, sizeof(*r->v));
    RDL_ASSERT(r->v);
    r->v[r->n] = (struct recalled){must_malloc(len + 1), failed};
    memcpy(r->v[r->n].text, text, len);
    r->v[r->n++].text[len] = '\0';
    return true;
}

void recall_free(struct recall *r)
{
    for (size_t i = 0; i < r->n; i++)
        free(r->v[i].text);
    free(r->v);
    *r = (struct recall){NULL, 0, 0};
}
