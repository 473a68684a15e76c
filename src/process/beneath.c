/* SPDX-License-Identifier: MIT */
#include "process/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"

const char beneath_out[] = "this leads out of the directory";
const char beneath_link[] = "this is a symbolic link, which may lead anywhere";
const char beneath_hidden[] = "a name that begins with a dot belongs to another program";
const char beneath_special[] = "this is no regular file";
const char beneath_exists[] = "this file is there already";

bool beneath_forbids(const char *why)
{
    return why == beneath_out || why == beneath_link || why == beneath_hidden ||
           why == beneath_special || why == beneath_exists;
}

/* Judges the names of the path without looking at any file. */
static const char *check_names(const char *path)
{
    if (path[0] == '\0')
        return strerror(ENOENT);
    if (path[0] == '/')
        return beneath_out;
    for (const char *name = path; *name; name += strcspn(name, "/")) {
        size_t n;

        name += strspn(name, "/");
        n = strcspn(name, "/");
        if (n == 2 && strncmp(name, "..", n) == 0)
            return beneath_out;
        if (n > 1 && name[0] == '.')
            return beneath_hidden;
    }
    return path[strlen(path) - 1] == '/' ? strerror(EISDIR) : NULL;
}

/* Opens the directory @name in @dir, which must be on the file system @on. */
static const char *enter(int dir, const char *name, bool make, dev_t on, int *ret)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat info;
    int fd, why;

    if (make && mkdirat(dir, name, 0777) != 0 && errno != EEXIST)
        return strerror(errno);
    fd = openat(dir, name, flags);
    if (fd < 0) {
        why = errno;
        if (fstatat(dir, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode))
            return beneath_link;
        return strerror(why);
    }
    if (fstat(fd, &info) == 0 && info.st_dev == on) {
        *ret = fd;
        return NULL;
    }
    close(fd);
    return beneath_out;
}

/* Opens @top. */
static const char *open_top(const char *top, bool make, int *ret, dev_t *ret_on)
{
    /* A directory that is made is the program's own: nobody has linked it elsewhere. */
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (make ? O_NOFOLLOW : 0);
    struct stat info;
    int fd;

    if (make && mkdir(top, 0777) != 0 && errno != EEXIST)
        return strerror(errno);
    fd = open(top, flags);
    if (fd < 0)
        return make && lstat(top, &info) == 0 && S_ISLNK(info.st_mode) ? beneath_link
                                                                       : strerror(errno);
    if (fstat(fd, &info) != 0) {
        close(fd);
        return strerror(EIO);
    }
    *ret = fd;
    *ret_on = info.st_dev;
    return NULL;
}

const char *beneath_directory(const char *top, const char *name, bool make, int *ret_dir,
                              const char **ret_last)
{
    const char *why = check_names(name), *last = strrchr(name, '/');
    int dir = -1;
    dev_t on = 0;

    why = why ? why : open_top(top, make, &dir, &on);
    last = last ? last + 1 : name;
    while (!why && name < last) {
        const size_t n = strcspn(name, "/");
        char part[NAME_MAX + 1];
        struct text t = text_on(part, sizeof(part));
        int next = -1;

        text_addn(&t, name, n);
        if (t.cut)
            why = strerror(ENAMETOOLONG);
        else if (n > 0 && strcmp(part, ".") != 0)
            why = enter(dir, part, make, on, &next);
        if (!why && next >= 0) {
            close(dir);
            dir = next;
        }
        name += n + strspn(name + n, "/");
    }
    if (why) {
        if (dir >= 0)
            close(dir);
        return why;
    }
    *ret_dir = dir;
    *ret_last = last;
    return NULL;
}

const char *beneath_open(const char *top, const char *name, int *ret_fd)
{
    const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const char *last, *why;
    struct stat info;
    int dir, fd = -1;

    why = beneath_directory(top, name, false, &dir, &last);
    if (why)
        return why;
    /* The look before the open is for devices, which opening may change. */
    if (fstatat(dir, last, &info, AT_SYMLINK_NOFOLLOW) != 0)
        why = strerror(errno);
    else if (S_ISLNK(info.st_mode))
        why = beneath_link;
    else if (S_ISDIR(info.st_mode))
        why = strerror(EISDIR);
    else if (!S_ISREG(info.st_mode))
        why = beneath_special;
    else if ((fd = openat(dir, last, flags)) < 0)
        why = errno == ELOOP ? beneath_link : strerror(errno);
    close(dir);
    if (why)
        return why;
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        close(fd);
        return beneath_special;
    }
    *ret_fd = fd;
    return NULL;
}

const char *beneath_make(const char *top, const char *name, bool again, int *ret_fd)
{
    const int flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    const char *last, *why;
    struct stat info;
    int dir, fd;

    why = beneath_directory(top, name, false, &dir, &last);
    if (why)
        return why;
    fd = openat(dir, last, flags | (again ? 0 : O_EXCL), 0666);
    if (fd < 0)
        why = errno == EEXIST ? beneath_exists : errno == ELOOP ? beneath_link : strerror(errno);
    close(dir);
    if (why)
        return why;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        *ret_fd = fd;
        return NULL;
    }
    close(fd);
    return beneath_special;
}
