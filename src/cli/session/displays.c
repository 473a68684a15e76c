/* SPDX-License-Identifier: MIT */
#include "cli/session/displays.h"

#include <string.h>

#include "cli/session/session.h"
#include "emu/base/text.h"
#include "tree/tree.h"

static size_t find(const struct displays *d, const char *path)
{
    size_t i = 0;

    while (i < d->n && strcmp(d->path[i], path) != 0)
        i++;
    return i;
}

bool displays_add(struct displays *d, const char *path)
{
    struct text t;

    if (find(d, path) < d->n)
        return true;
    if (d->n == DISPLAYS_MAX)
        return false;
    t = text_on(d->path[d->n], RDL_PATH_BYTES);
    text_add(&t, path);
    d->n++;
    return true;
}

bool displays_remove(struct displays *d, const char *path)
{
    const size_t i = path ? find(d, path) : 0;

    if (!path) {
        d->n = 0;
        return true;
    }
    if (i == d->n)
        return false;
    d->n--;
    memmove(d->path[i], d->path[i + 1], (d->n - i) * sizeof(d->path[0]));
    return true;
}

void displays_print(struct session *s)
{
    const struct displays *d = &s->display.displays;

    for (size_t i = 0; i < d->n; i++) {
        char value[RDL_VALUE_BYTES];
        struct text t = text_on(value, sizeof(value));
        struct rdl_value v;
        size_t at;

        if (rdl_inspect(s->lab, d->path[i], &v, &at) == RDL_OK)
            tree_add_value(&t, &v);
        else
            text_add(&t, "-");
        session_say(s, "  %s = %s\n", d->path[i], value);
    }
}
