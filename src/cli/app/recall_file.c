/* SPDX-License-Identifier: MIT */
#include "cli/app/recall_file.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/app/state_dir.h"
#include "process/out_file.h"

#define NAME_BYTES_MAX 200u /* of a file name, without the checksum: file systems allow 255 */

/* Returns true if the directory, the first @n bytes of @path, has a .git. */
static bool has_git(const char *path, size_t n)
{
    char name[RECALL_PATH_BYTES];
    struct text t = text_on(name, sizeof(name));
    struct stat st;

    text_addn(&t, path, n);
    text_add(&t, "/.git");
    return !t.cut && stat(name, &st) == 0;
}

/* Length of the part of @cwd that is the directory of the project. */
static size_t project_bytes(const char *cwd)
{
    for (size_t n = strlen(cwd); n > 0; n--) {
        if ((cwd[n] == '\0' || cwd[n] == '/') && has_git(cwd, n))
            return n;
    }
    return strlen(cwd);
}

/* Appends the name of the file: the path.  If it is too long, a checksum replaces its beginning. */
static void add_name(struct text *t, const char *path, size_t n)
{
    size_t from = 0;

    if (n > NAME_BYTES_MAX) {
        uint64_t sum = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

        for (size_t i = 0; i < n; i++)
            sum = (sum ^ (unsigned char)path[i]) * UINT64_C(0x100000001b3);
        text_addf(t, "%016llx", (unsigned long long)sum);
        from = n - NAME_BYTES_MAX;
    }
    for (size_t i = from; i < n; i++)
        text_addn(t, path[i] == '/' ? "%" : &path[i], 1);
}

bool recall_file_path(const char *cwd, char ret[RECALL_PATH_BYTES])
{
    struct text t = text_on(ret, RECALL_PATH_BYTES);

    if (!state_dir_add(&t))
        return false;
    text_add(&t, "/history/");
    add_name(&t, cwd, project_bytes(cwd));
    if (!t.cut)
        state_dir_make(ret);
    return !t.cut;
}

/* Writes a text in the format of the file. */
static void put(FILE *f, const struct recalled *one)
{
    fputs(one->failed ? "x " : "+ ", f);
    for (const char *s = one->text; *s; s++) {
        fputc(*s, f);
        if (*s == '\n')
            fputs("| ", f);
    }
    fputc('\n', f);
}

/* Replaces a file that is too long by one with the kept texts only. */
static void write_anew(const char *path, const struct recall *r)
{
    struct out_file o;

    /* The file is there, so the new one is readable for its owner only, too. */
    if (out_file_open(&o, path))
        return;
    for (size_t i = 0; i < r->n; i++)
        put(o.f, &r->v[i]);
    (void)out_file_close(&o);
}

/* A text whose lines are being read. */
struct history_reading {
    char *text;
    size_t len;
    bool failed;
};

static bool add_line(struct history_reading *r, const char *line, size_t n)
{
    char *more = realloc(r->text, r->len + n + 2);

    if (!more)
        return false;
    r->text = more;
    if (r->len)
        r->text[r->len++] = '\n';
    memcpy(r->text + r->len, line, n);
    r->len += n;
    return true;
}

static void end_text(struct history_reading *r, struct recall *ret)
{
    if (r->len)
        (void)recall_add(ret, r->text, r->len, r->failed);
    r->len = 0;
}

void recall_file_read(const char *path, struct recall *ret)
{
    FILE *f = fopen(path, "r");
    struct history_reading one = {NULL, 0, false};
    char *line = NULL;
    size_t cap = 0, n_texts = 0;
    ssize_t n;

    if (!f)
        return;
    while ((n = getline(&line, &cap, f)) > 0) {
        if (line[n - 1] == '\n')
            n--;
        if (n < 2 || line[1] != ' ' || !strchr("+x|", line[0]) || memchr(line, '\0', (size_t)n))
            continue; /* not in our format */
        if (line[0] != '|') {
            end_text(&one, ret);
            one.failed = line[0] == 'x';
            n_texts++;
        }
        if (!add_line(&one, line + 2, (size_t)n - 2))
            break;
    }
    end_text(&one, ret);
    free(one.text);
    free(line);
    fclose(f);
    if (n_texts > RECALL_MAX + RECALL_MAX / 4)
        write_anew(path, ret);
}

void recall_file_append(const char *path, const struct recall *r)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "a");

    if (!f) {
        if (fd >= 0)
            close(fd);
        return;
    }
    put(f, &r->v[r->n - 1]);
    fclose(f);
}
