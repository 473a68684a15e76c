/* SPDX-License-Identifier: MIT */
#include "process/own_path.h"

#include <sys/types.h>
#include <unistd.h>

bool own_path(char *ret, size_t room)
{
    const ssize_t n = readlink("/proc/self/exe", ret, room - 1);
    const bool ok = n > 0 && (size_t)n < room - 1;

    ret[ok ? n : 0] = '\0';
    return ok;
}
