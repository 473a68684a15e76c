/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

bool exec_memory_is_sound(int fd)
{
    struct statfs fs;
    struct stat st;
    const int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) == O_RDWR && fstatfs(fd, &fs) == 0 &&
           fs.f_type == PROC_SUPER_MAGIC && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

bool exec_memory_read(int fd, uint64_t addr, void *out, size_t n)
{
    char *to = out;

    while (n > 0) {
        const ssize_t done = pread(fd, to, n, (off_t)addr);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        to += done;
        addr += (uint64_t)done;
        n -= (size_t)done;
    }
    return true;
}

bool exec_memory_write(int fd, uint64_t addr, const void *in, size_t n)
{
    const char *from = in;

    while (n > 0) {
        const ssize_t done = pwrite(fd, from, n, (off_t)addr);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        from += done;
        addr += (uint64_t)done;
        n -= (size_t)done;
    }
    return true;
}
