/* SPDX-License-Identifier: MIT */
#include "process/std_files.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* The lowest free number is the one that is missing. */
void std_files_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    }
}
