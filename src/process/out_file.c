/* SPDX-License-Identifier: MIT */
#include "process/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/text.h"
#include "process/beneath.h"
#include "process/leftovers.h"

#define PART_LETTERS 6u
#define PART_TRIES   100u

/* Writes PART_LETTERS random letters to @ret. */
static void draw_letters(char *ret)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    uint8_t random[PART_LETTERS] = {0};

    if (getentropy(random, sizeof(random)) != 0)
        memset(random, 0, sizeof(random));
    for (size_t i = 0; i < PART_LETTERS; i++)
        ret[i] = letters[random[i] % (sizeof(letters) - 1)];
}

/* Creates a temporary file next to o->name.  It gets the permissions of the file @like, or those of
 * a new file if @like is NULL.
 */
static FILE *open_part(struct out_file *o, const struct stat *like)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const size_t n = strlen(o->name);
    FILE *f = NULL;
    int fd = -1;

    o->part = malloc(n + sizeof(".") + PART_LETTERS);
    if (!o->part)
        return NULL;
    memcpy(o->part, o->name, n);
    memset(o->part + n, 0, sizeof(".") + PART_LETTERS);
    o->part[n] = '.';
    for (unsigned i = 0; i < PART_TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        draw_letters(o->part + n + 1);
        fd = leftovers_create(o->dir, o->part, flags);
    }
    if (fd >= 0 && (!like || fchmod(fd, like->st_mode & 07777) == 0))
        f = fdopen(fd, "wb");
    if (f)
        return f;
    if (fd >= 0) {
        close(fd);
        unlinkat(o->dir, o->part, 0);
        leftovers_forget(o->part);
    }
    free(o->part);
    o->part = NULL;
    return NULL;
}

static void done(struct out_file *o)
{
    if (o->part)
        leftovers_forget(o->part);
    if (o->dir >= 0)
        close(o->dir);
    free(o->name);
    free(o->part);
    *o = (struct out_file){.f = NULL, .dir = AT_FDCWD};
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
        o->f = open_part(o, there ? &info : NULL);
    /* Also if no file can be created in the directory. */
    if (!o->f && there)
        o->f = fopen(o->name, "wb");
    return o->f ? NULL : strerror(errno);
}

const char *out_file_open(struct out_file *o, const char *name)
{
    const char *why;

    *o = (struct out_file){.f = NULL, .dir = AT_FDCWD};
    /* Through a symbolic link the target is written, and the link stays. */
    o->name = realpath(name, NULL);
    if (!o->name)
        o->name = strdup(name);
    why = o->name ? open_name(o) : strerror(ENOMEM);
    if (why)
        done(o);
    return why;
}

const char *out_file_judge(const char *name)
{
    char directory[PATH_MAX];
    struct text t = text_on(directory, sizeof(directory));
    const char *slash = strrchr(name, '/');
    struct stat info;

    if (name[0] == '\0')
        return "the name is empty";
    if (stat(name, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return strerror(EISDIR);
        return access(name, W_OK) == 0 ? NULL : strerror(errno);
    }
    if (errno != ENOENT)
        return strerror(errno);
    if (slash && slash[1] == '\0')
        return strerror(EISDIR);
    text_addn(&t, slash ? name : ".", slash ? (size_t)(slash - name) + 1 : 1);
    if (t.cut)
        return strerror(ENAMETOOLONG);
    return access(directory, W_OK | X_OK) == 0 ? NULL : strerror(errno);
}

/* Opens o->name in the directory o->dir.  Whatever it is, it is not written to: a temporary file
 * takes its place.
 */
static const char *open_in(struct out_file *o, bool replaces)
{
    struct stat info;
    const bool there = fstatat(o->dir, o->name, &info, AT_SYMLINK_NOFOLLOW) == 0;

    if (there && S_ISLNK(info.st_mode))
        return beneath_link;
    if (there && S_ISDIR(info.st_mode))
        return strerror(EISDIR);
    if (there && !S_ISREG(info.st_mode))
        return beneath_special;
    if (there && !replaces)
        return beneath_exists;
    o->is_new = !replaces;
    o->f = open_part(o, there ? &info : NULL);
    return o->f ? NULL : strerror(errno);
}

const char *out_file_open_below(struct out_file *o, const char *name,
                                const struct out_file_place *place)
{
    const char *last, *why;
    int dir;

    *o = (struct out_file){.f = NULL, .dir = AT_FDCWD};
    why = beneath_directory(place->below, name, place->makes, &dir, &last);
    if (why)
        return why;
    o->dir = dir;
    o->name = strdup(last);
    why = o->name ? open_in(o, place->replaces) : strerror(ENOMEM);
    if (why)
        done(o);
    return why;
}

/* Gives the complete temporary file its name.  Returns 0, or an errno. */
static int settle(const struct out_file *o)
{
    struct stat info;

    if (o->is_new) {
        /* A link is never made over a file, as a new name would be. */
        if (linkat(o->dir, o->part, o->dir, o->name, 0) == 0)
            return unlinkat(o->dir, o->part, 0) == 0 ? 0 : errno;
        if (errno == EEXIST)
            return errno;
        /* The file system has no links. */
        if (fstatat(o->dir, o->name, &info, AT_SYMLINK_NOFOLLOW) == 0)
            return EEXIST;
    }
    return renameat(o->dir, o->part, o->dir, o->name) == 0 ? 0 : errno;
}

const char *out_file_close(struct out_file *o)
{
    const bool lost = ferror(o->f) != 0;
    const char *why = fclose(o->f) != 0 || lost ? "write error" : NULL;
    const int error = o->part && !why ? settle(o) : 0;

    if (error)
        why = strerror(error);
    if (o->part && why)
        unlinkat(o->dir, o->part, 0);
    done(o);
    return why;
}

void out_file_drop(struct out_file *o)
{
    fclose(o->f);
    if (o->part)
        unlinkat(o->dir, o->part, 0);
    done(o);
}
