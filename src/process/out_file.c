/* SPDX-License-Identifier: MIT */
#include "process/out_file.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/text.h"

static const char leads_out[] = "a test writes only below its directory of artifacts; \"rdmalab "
                                "test --no-sandbox\" lets it write anywhere";

/* Creates the directory @path unless it exists.  A symbolic link is refused, because it may lead
 * anywhere.
 */
static const char *make_directory(const char *path)
{
    struct stat info;

    if (mkdir(path, 0777) == 0)
        return NULL;
    if (errno != EEXIST || lstat(path, &info) != 0)
        return strerror(errno);
    if (S_ISLNK(info.st_mode))
        return leads_out;
    return S_ISDIR(info.st_mode) ? NULL : strerror(ENOTDIR);
}

/* Builds the path of @name in the directory @below, and creates its directories. */
static const char *path_below(const char *below, const char *name, char ret[PATH_MAX])
{
    struct text t = text_on(ret, PATH_MAX);
    struct stat info;
    const char *why = NULL;

    if (name[0] == '/')
        return leads_out;
    text_add(&t, below);
    why = make_directory(ret);
    if (why)
        return why;
    for (;;) {
        const size_t n = strcspn(name, "/");

        if (n == 2 && strncmp(name, "..", n) == 0)
            return leads_out;
        text_addf(&t, "/%.*s", (int)n, name);
        if (t.cut)
            return strerror(ENAMETOOLONG);
        name += n + strspn(name + n, "/");
        if (name[0] == '\0')
            break;
        why = make_directory(ret);
        if (why)
            return why;
    }
    return lstat(ret, &info) == 0 && S_ISLNK(info.st_mode) ? leads_out : NULL;
}

/* Returns the permissions of a new file. */
static mode_t mode_of_new(void)
{
    const mode_t mask = umask(0);

    umask(mask);
    return 0666 & ~mask;
}

/* Creates a temporary file next to o->name with the permissions @mode. */
static FILE *open_part(struct out_file *o, mode_t mode)
{
    const size_t room = strlen(o->name) + sizeof(".XXXXXX");
    FILE *f = NULL;
    int fd;

    o->part = malloc(room);
    if (!o->part)
        return NULL;
    snprintf(o->part, room, "%s.XXXXXX", o->name);
    fd = mkstemp(o->part);
    if (fd >= 0 && fchmod(fd, mode) == 0)
        f = fdopen(fd, "wb");
    if (f)
        return f;
    if (fd >= 0) {
        close(fd);
        unlink(o->part);
    }
    free(o->part);
    o->part = NULL;
    return NULL;
}

/* Opens o->name for writing.  It is not a symbolic link. */
static const char *open_name(struct out_file *o)
{
    struct stat info;
    const bool there = stat(o->name, &info) == 0;

    if (there && S_ISDIR(info.st_mode))
        return strerror(EISDIR);
    if (there && access(o->name, W_OK) != 0)
        return strerror(errno);
    if (!there || S_ISREG(info.st_mode))
        o->f = open_part(o, there ? info.st_mode & 07777 : mode_of_new());
    /* Also if no file can be created in the directory. */
    if (!o->f && there)
        o->f = fopen(o->name, "wb");
    return o->f ? NULL : strerror(errno);
}

const char *out_file_open(struct out_file *o, const char *name, const char *below)
{
    char path[PATH_MAX];
    const char *why = below ? path_below(below, name, path) : NULL;

    *o = (struct out_file){.f = NULL};
    if (why)
        return why;
    if (!below) {
        /* Through a symbolic link the target is written, and the link stays. */
        o->name = realpath(name, NULL);
        name = o->name ? o->name : name;
    }
    if (!o->name)
        o->name = strdup(below ? path : name);
    why = o->name ? open_name(o) : strerror(ENOMEM);
    if (why)
        free(o->name);
    return why;
}

static void done(struct out_file *o)
{
    free(o->name);
    free(o->part);
    *o = (struct out_file){.f = NULL};
}

const char *out_file_close(struct out_file *o)
{
    const bool lost = ferror(o->f) != 0;
    const char *why = fclose(o->f) != 0 || lost ? "write error" : NULL;

    if (o->part && why)
        unlink(o->part);
    else if (o->part && rename(o->part, o->name) != 0)
        why = strerror(errno);
    done(o);
    return why;
}

void out_file_drop(struct out_file *o)
{
    fclose(o->f);
    if (o->part)
        unlink(o->part);
    done(o);
}
