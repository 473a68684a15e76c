/* SPDX-License-Identifier: MIT */
/* librdmalab-files.so: files of an adapter that programs look at without libibverbs.
 *
 * UCX takes a device only if it may read and write /dev/infiniband/uverbs0, and reads in sysfs
 * which version of RoCE a GID belongs to.  A machine without an adapter has no such files.  So
 * rdmalab puts this library in front of the C library (LD_PRELOAD).  A program on a host sees
 *
 *	/dev/infiniband/uverbs0         a character device: /dev/null
 *	/sys/class/infiniband/rdl0/...  the text files of the table below
 *
 * and the files of the machine everywhere else.
 *
 * SIMPLIFIED: the directories of these files cannot be listed, and there are only files whose text
 * is the same for all hosts and never changes.  Programs ask libibverbs for the rest.
 */
#undef _FILE_OFFSET_BITS /* it would rename the functions that are defined here */
#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/files/next.h"

#define DEVICE_FILE "/dev/infiniband/uverbs0"
#define SYSFS       "/sys/class/infiniband/rdl0/"
#define NUMBER      '#' /* in a path below: a decimal number */

static const struct {
    const char *path, *text;
} files[] = {
    {"node_type", "1: CA\n"},
    {"ports/1/link_layer", "Ethernet\n"},
    {"ports/1/gid_attrs/types/#", "RoCE v2\n"},
};

/* --- Paths ------------------------------------------------------------------------------------ */

static bool matches(const char *pattern, const char *path)
{
    for (; *pattern && *path; pattern++) {
        if (*pattern == NUMBER && isdigit((unsigned char)*path))
            path += strspn(path, "0123456789");
        else if (*pattern != *path++)
            return false;
    }
    return !*pattern && !*path;
}

/* Returns the path to open for @path: /dev/null for the device, and @path for other files. */
static const char *path_of(const char *path)
{
    return path && strcmp(path, DEVICE_FILE) == 0 && is_on_host() ? "/dev/null" : path;
}

/* Returns the text of the file @path, or NULL if it is not in the table. */
static const char *text_of(const char *path)
{
    const size_t n = sizeof(SYSFS) - 1;

    if (!path || strncmp(path, SYSFS, n) != 0 || !is_on_host())
        return NULL;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (matches(files[i].path, path + n))
            return files[i].text;
    }
    return NULL;
}

/* Opens a file with @text.  Returns its descriptor, or -1 and sets errno. */
static int open_text(const char *text, int flags)
{
    const int fd = memfd_create("rdmalab", flags & O_CLOEXEC ? MFD_CLOEXEC : 0);
    const size_t n = strlen(text);
    int error;

    if (fd < 0 || (write(fd, text, n) == (ssize_t)n && lseek(fd, 0, SEEK_SET) == 0))
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

/* Opens a file with @text, as open() with @flags does: it can only be read. */
static int open_sysfs(const char *text, int flags)
{
    if ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_DIRECTORY))
        return open_text(text, flags);
    errno = flags & O_DIRECTORY ? ENOTDIR : EACCES;
    return -1;
}

/* --- Functions of the C library --------------------------------------------------------------- */

#define FOUND_AT_START(X) X(open) X(open64) X(openat) X(openat64) X(fopen) X(fopen64)
FIND_AT_START(FOUND_AT_START)

/* The argument of open() behind @flags, or 0 if there is none. */
#define MODE_BEHIND(flags, ret)                                                                    \
    do {                                                                                           \
        va_list arguments;                                                                         \
                                                                                                   \
        va_start(arguments, flags);                                                                \
        if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))                                      \
            *(ret) = va_arg(arguments, mode_t);                                                    \
        va_end(arguments);                                                                         \
    } while (0)

#define OPEN(name)                                                                                 \
    PUBLIC int name(const char *path, int flags, ...)                                              \
    {                                                                                              \
        const char *text = text_of(path);                                                          \
        mode_t mode = 0;                                                                           \
        REAL(name, int, const char *, int, ...);                                                   \
                                                                                                   \
        MODE_BEHIND(flags, &mode);                                                                 \
        if (text)                                                                                  \
            return open_sysfs(text, flags);                                                        \
        return real ? real(path_of(path), flags, mode) : -1;                                       \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                               \
    PUBLIC int name(int dir, const char *path, int flags, ...)                                     \
    {                                                                                              \
        const char *text = text_of(path);                                                          \
        mode_t mode = 0;                                                                           \
        REAL(name, int, int, const char *, int, ...);                                              \
                                                                                                   \
        MODE_BEHIND(flags, &mode);                                                                 \
        if (text)                                                                                  \
            return open_sysfs(text, flags);                                                        \
        return real ? real(dir, path_of(path), flags, mode) : -1;                                  \
    }
OPENAT(openat)
OPENAT(openat64)

/* Programs that were compiled with _FORTIFY_SOURCE call these functions. */
PUBLIC int __open_2(const char *path, int flags);
PUBLIC int __open_2(const char *path, int flags)
{
    return open(path, flags);
}

PUBLIC int __open64_2(const char *path, int flags);
PUBLIC int __open64_2(const char *path, int flags)
{
    return open64(path, flags);
}

static FILE *open_stream(const char *text, const char *mode)
{
    const int fd = open_sysfs(text, mode[0] == 'r' && !strchr(mode, '+') ? O_RDONLY : O_RDWR);
    FILE *stream = fd >= 0 ? fdopen(fd, mode) : NULL;

    if (fd >= 0 && !stream)
        close(fd);
    return stream;
}

#define FOPEN(name)                                                                                \
    PUBLIC FILE *name(const char *path, const char *mode)                                          \
    {                                                                                              \
        const char *text = text_of(path);                                                          \
        REAL(name, FILE *, const char *, const char *);                                            \
                                                                                                   \
        if (text)                                                                                  \
            return open_stream(text, mode);                                                        \
        return real ? real(path_of(path), mode) : NULL;                                            \
    }
FOPEN(fopen)
FOPEN(fopen64)

/* The system calls, since the C library had other functions for them before version 2.33.
 *
 * SIMPLIFIED: only where addresses have 64 bits.  There the kernel's structure is that of the C
 * library.
 */
#if __SIZEOF_POINTER__ == 8

static int status_of(int dir, const char *path, void *ret, int flags)
{
    const char *text = text_of(path);
    int fd, result;

    if (!text)
        return (int)syscall(SYS_newfstatat, dir, path_of(path), ret, flags);
    fd = open_text(text, O_CLOEXEC);
    if (fd < 0)
        return -1;
    result = (int)syscall(SYS_newfstatat, fd, "", ret, AT_EMPTY_PATH);
    close(fd);
    return result;
}

#define STAT(name, type, flags)                                                                    \
    PUBLIC int name(const char *path, struct type *ret)                                            \
    {                                                                                              \
        return status_of(AT_FDCWD, path, ret, flags);                                              \
    }
STAT(stat, stat, 0)
STAT(stat64, stat64, 0)
STAT(lstat, stat, AT_SYMLINK_NOFOLLOW)
STAT(lstat64, stat64, AT_SYMLINK_NOFOLLOW)

PUBLIC int fstatat(int dir, const char *path, struct stat *ret, int flags)
{
    return status_of(dir, path, ret, flags);
}

PUBLIC int fstatat64(int dir, const char *path, struct stat64 *ret, int flags)
{
    return status_of(dir, path, ret, flags);
}

PUBLIC int statx(int dir, const char *path, int flags, unsigned mask, struct statx *ret)
{
    const char *text = text_of(path);
    int fd, result;

    if (!text)
        return (int)syscall(SYS_statx, dir, path_of(path), flags, mask, ret);
    fd = open_text(text, O_CLOEXEC);
    if (fd < 0)
        return -1;
    result = (int)syscall(SYS_statx, fd, "", AT_EMPTY_PATH, mask, ret);
    close(fd);
    return result;
}

/* Programs that were linked to a C library before version 2.33 call these functions. */
#define OLD_STAT(name, type, flags)                                                                \
    PUBLIC int name(int version, const char *path, struct type *ret);                              \
    PUBLIC int name(int version, const char *path, struct type *ret)                               \
    {                                                                                              \
        (void)version;                                                                             \
        return status_of(AT_FDCWD, path, ret, flags);                                              \
    }
OLD_STAT(__xstat, stat, 0)
OLD_STAT(__xstat64, stat64, 0)
OLD_STAT(__lxstat, stat, AT_SYMLINK_NOFOLLOW)
OLD_STAT(__lxstat64, stat64, AT_SYMLINK_NOFOLLOW)

#endif

PUBLIC int access(const char *path, int mode)
{
    if (!text_of(path))
        return (int)syscall(SYS_faccessat, AT_FDCWD, path_of(path), mode);
    errno = EACCES;
    return mode & (W_OK | X_OK) ? -1 : 0;
}
