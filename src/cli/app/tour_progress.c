/* SPDX-License-Identifier: MIT */
#include "cli/app/tour_progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/app/state_dir.h"
#include "emu/base/text.h"
#include "process/must.h"
#include "process/out_file.h"

#define SCREENS_MAX 1000u /* more than a lesson has */

/* Moves the entry of @name to the end, where it is made if there is none. */
static struct tour_read_lesson *latest(struct tour_progress *p, const char *name)
{
    struct tour_read_lesson one = {.screen = 0};
    struct text t = text_on(one.name, sizeof(one.name));
    size_t i = 0;

    text_add(&t, name);
    while (i < p->n && strcmp(p->v[i].name, name) != 0)
        i++;
    if (i == p->n && p->n == TOUR_PROGRESS_MAX)
        i = 0;
    if (i < p->n) {
        memmove(&p->v[i], &p->v[i + 1], (p->n - i - 1) * sizeof(*p->v));
        p->n--;
    }
    p->v = must_grow(p->v, p->n, &p->room, sizeof(*p->v));
    p->v[p->n] = one;
    return &p->v[p->n++];
}

static void read_line(struct tour_progress *p, char *line)
{
    struct tour_read_lesson *one;
    unsigned long screen, n_screens;
    int n = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%lu %lu %n", &screen, &n_screens, &n) != 2 || n == 0 || !line[n] ||
        screen > n_screens || n_screens > SCREENS_MAX || strlen(line + n) >= PATH_MAX)
        return;
    one = latest(p, line + n);
    one->screen = screen;
    one->n_screens = n_screens;
}

void tour_progress_read(struct tour_progress *p)
{
    struct text t = text_on(p->path, sizeof(p->path));
    char *line = NULL;
    size_t cap = 0;
    FILE *f;

    p->v = NULL;
    p->n = p->room = 0;
    if (!state_dir_add(&t)) {
        p->path[0] = '\0';
        return;
    }
    text_add(&t, "/tour");
    if (t.cut)
        p->path[0] = '\0';
    f = t.cut ? NULL : fopen(p->path, "r");
    while (f && getline(&line, &cap, f) > 0)
        read_line(p, line);
    free(line);
    if (f)
        fclose(f);
}

void tour_progress_done(struct tour_progress *p)
{
    free(p->v);
    p->v = NULL;
    p->n = p->room = 0;
}

const struct tour_read_lesson *tour_progress_find(const struct tour_progress *p, const char *name)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->v[i].name, name) == 0)
            return &p->v[i];
    }
    return NULL;
}

const struct tour_read_lesson *tour_progress_last(const struct tour_progress *p)
{
    return p->n ? &p->v[p->n - 1] : NULL;
}

static const char *write_all(const struct tour_progress *p)
{
    struct out_file o;
    char path[PATH_MAX];
    const char *why;

    memcpy(path, p->path, sizeof(path));
    state_dir_make(path);
    why = out_file_open(&o, path);
    if (why)
        return why;
    for (size_t i = 0; i < p->n; i++)
        fprintf(o.f, "%zu %zu %s\n", p->v[i].screen, p->v[i].n_screens, p->v[i].name);
    return out_file_close(&o);
}

const char *tour_progress_note(struct tour_progress *p, const char *name, size_t screen,
                               size_t n_screens)
{
    struct tour_read_lesson *one;
    const char *why;

    if (strchr(name, '\n'))
        return NULL; /* the file has no form for it */
    one = latest(p, name);
    one->screen = screen;
    one->n_screens = n_screens;
    if (!p->path[0])
        return NULL;
    why = write_all(p);
    if (why)
        p->path[0] = '\0';
    return why;
}
