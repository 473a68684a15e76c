/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* renameat2() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "process/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/text.h"
#include "process/beneath.h"
#include "process/fd_name.h"
#include "process/leftovers.h"

#define PART_LETTERS 6u
#define PART_TRIES   100u

#define GIVE_BACK_TRIES 100u

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

/* Makes room for the temporary name, in o->part: o->name and PART_LETTERS letters. */
static bool make_part(struct out_file *o)
{
    const size_t n = strlen(o->name);

    o->part = calloc(1, n + sizeof(".") + PART_LETTERS);
    if (!o->part)
        return false;
    memcpy(o->part, o->name, n);
    o->part[n] = '.';
    return true;
}

static void draw_part(const struct out_file *o)
{
    draw_letters(o->part + strlen(o->name) + 1);
}

/* Creates a temporary file with the name o->part.  Returns its descriptor, or -1. */
static int create_part(const struct out_file *o)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    int fd = -1;

    for (unsigned i = 0; i < PART_TRIES && fd < 0 && (i == 0 || errno == EEXIST); i++) {
        draw_part(o);
        fd = leftovers_create(o->dir, o->part, flags);
    }
    return fd;
}

/* Gives the temporary file @fd, which has no name, one.  Returns 0, or an errno. */
static int name_part(struct out_file *o, int fd)
{
    int error = EEXIST;

    for (unsigned i = 0; i < PART_TRIES && error == EEXIST; i++) {
        draw_part(o);
        error = leftovers_link(fd, o->dir, o->part);
    }
    o->is_unnamed = error != 0;
    return error;
}

/* Creates a temporary file next to o->name, if possible without a name.  It gets the permissions of
 * the file @like, or those of a new file if @like is NULL.
 */
static FILE *open_part(struct out_file *o, const struct stat *like)
{
    FILE *f = NULL;
    int fd;

    if (!make_part(o))
        return NULL;
    fd = fd_unnamed(o->dir, o->name);
    o->is_unnamed = fd >= 0;
    if (fd < 0)
        fd = create_part(o);
    if (fd >= 0 && (!like || fchmod(fd, like->st_mode & 07777) == 0))
        f = fdopen(fd, "wb");
    if (f)
        return f;
    if (fd >= 0) {
        close(fd);
        if (!o->is_unnamed)
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

/* Returns true if @a and @b are of one file, which nobody has written to or linked in between.  The
 * time of the last change of the file's names is not compared: a new name sets it.
 */
static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_mode == b->st_mode &&
           a->st_nlink == b->st_nlink && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Opens o->name in the directory o->dir.  Whatever it is, it is not written to: a temporary file
 * takes its place.
 */
static const char *open_in(struct out_file *o, const struct out_file_place *place)
{
    struct stat info;
    const bool there = fstatat(o->dir, o->name, &info, AT_SYMLINK_NOFOLLOW) == 0;

    if (there && S_ISLNK(info.st_mode))
        return beneath_link;
    if (there && S_ISDIR(info.st_mode))
        return strerror(EISDIR);
    if (there && !S_ISREG(info.st_mode))
        return beneath_special;
    if (there && !place->replaces && !(place->over && is_same(&info, place->over)))
        return beneath_exists;
    o->is_over = there && !place->replaces;
    o->is_new = !place->replaces && !o->is_over;
    if (o->is_over)
        o->old = *place->over;
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
    why = o->name ? open_in(o, place) : strerror(ENOMEM);
    if (why)
        done(o);
    return why;
}

/* Exchanges the names of the temporary file and of the file @name.  Returns 0, or an errno. */
static int exchange(const struct out_file *o)
{
#ifdef RENAME_EXCHANGE
    return renameat2(o->dir, o->part, o->dir, o->name, RENAME_EXCHANGE) == 0 ? 0 : errno;
#else
    (void)o;
    return ENOSYS;
#endif
}

static bool is_old(const struct out_file *o, const char *name)
{
    struct stat info;

    return fstatat(o->dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && is_same(&info, &o->old);
}

/* The temporary name is that of somebody else's file, which gets its name back.  It keeps the
 * temporary one if others go on exchanging files.
 */
static void give_back(const struct out_file *o)
{
    for (unsigned i = 0; i < GIVE_BACK_TRIES && exchange(o) != 0; i++) {
        /* There is no file of that name any more. */
        if (linkat(o->dir, o->part, o->dir, o->name, 0) == 0) {
            (void)unlinkat(o->dir, o->part, 0);
            return;
        }
    }
}

/* Gives the complete temporary file the name of o->old, and removes that.  The names are exchanged
 * first, which no one can come in between, and then it is seen which file had the name.  If it was
 * another one, it gets its name back.  Returns 0, or an errno; EEXIST: it was another one.
 */
static int settle_over(const struct out_file *o)
{
    int error;

    if (!is_old(o, o->name))
        return EEXIST;
    /* The temporary name may become that of a file of the user, which must not be removed. */
    leftovers_forget(o->part);
    error = exchange(o);
    if (error == EINVAL || error == ENOSYS) /* the system or the file system cannot do that */
        return renameat(o->dir, o->part, o->dir, o->name) == 0 ? 0 : errno;
    if (error)
        return error == ENOENT ? EEXIST : error;
    if (is_old(o, o->part))
        return unlinkat(o->dir, o->part, 0) == 0 ? 0 : errno;
    give_back(o);
    return EEXIST;
}

/* Gives the complete temporary file, which has a name, that of o->name.  Returns 0, or an errno. */
static int settle_named(struct out_file *o)
{
    struct stat info;

    if (o->is_over)
        return settle_over(o);
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

/* The same of any temporary file.  One without a name is @fd.  It needs a temporary name only to
 * take the place of another file.
 */
static int settle(struct out_file *o, int fd)
{
    int error;

    if (o->is_unnamed && !o->is_over) {
        error = fd_link(fd, o->dir, o->name);
        if (error != EEXIST || o->is_new)
            return error;
    }
    error = o->is_unnamed ? name_part(o, fd) : 0;
    return error ? error : settle_named(o);
}

/* Removes the temporary file, unless its name is by now that of another file. */
static void remove_part(const struct out_file *o, const struct stat *mine)
{
    struct stat info;

    if (o->is_unnamed)
        return;
    if (!o->is_over || (fstatat(o->dir, o->part, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                        info.st_dev == mine->st_dev && info.st_ino == mine->st_ino))
        unlinkat(o->dir, o->part, 0);
}

const char *out_file_close(struct out_file *o)
{
    struct stat mine;
    const int fd = o->is_unnamed ? fcntl(fileno(o->f), F_DUPFD_CLOEXEC, 0) : -1;
    const bool lost = fstat(fileno(o->f), &mine) != 0 || ferror(o->f) != 0;
    const char *why = fclose(o->f) != 0 || lost || (o->is_unnamed && fd < 0) ? "write error" : NULL;
    sigset_t held, before;
    int error;

    /* No signal ends the program while it is open which of two files has which name. */
    sigemptyset(&held);
    if (o->is_over)
        sigfillset(&held);
    sigprocmask(SIG_BLOCK, &held, &before);
    error = o->part && !why ? settle(o, fd) : 0;
    if (error)
        why = o->is_over && error == EEXIST ? "somebody has changed this file meanwhile; try again"
                                            : strerror(error);
    if (o->part && why)
        remove_part(o, &mine);
    if (fd >= 0)
        close(fd); /* the end of a file that has no name */
    done(o);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return why;
}

void out_file_drop(struct out_file *o)
{
    fclose(o->f);
    if (o->part && !o->is_unnamed)
        unlinkat(o->dir, o->part, 0);
    done(o);
}
