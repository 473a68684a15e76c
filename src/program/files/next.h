/* SPDX-License-Identifier: MIT */
/* Shared by the files of the preloaded library: the functions of the C library, or of another
 * preloaded library, behind those that are defined here.
 */
#ifndef PROGRAM_FILES_NEXT_H
#define PROGRAM_FILES_NEXT_H

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "program/on_host.h"

#ifndef RTLD_NEXT /* glibc declares it for _GNU_SOURCE alone */
#define RTLD_NEXT ((void *)-1L)
#endif

#define PUBLIC __attribute__((visibility("default")))

/* Finds the next function @name, or returns NULL and sets errno. */
static inline void *next_of(_Atomic(void *) *known, const char *name)
{
    void *found = atomic_load_explicit(known, memory_order_relaxed);

    if (!found) { /* also before the constructor, in that of another library */
        found = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(known, found, memory_order_relaxed);
    }
    if (!found)
        errno = ENOSYS;
    return found;
}

#define KNOWN(name) static _Atomic(void *) known_##name;
#define FIND(name)  (void)next_of(&known_##name, #name);

/* Functions are found at the start, since dlsym() may not be called in a signal handler or behind
 * fork().  @LIST is X(open) X(close) and so on.
 */
#define FIND_AT_START(LIST)                                                                        \
    LIST(KNOWN)                                                                                    \
    __attribute__((constructor)) static void find_all(void)                                        \
    {                                                                                              \
        const int before = errno;                                                                  \
                                                                                                   \
        LIST(FIND)                                                                                 \
        errno = before;                                                                            \
    }

/* Declares @real, a pointer to the next function @name. */
#define REAL(name, result, ...)                                                                    \
    void *const found = next_of(&known_##name, #name);                                             \
    result (*real)(__VA_ARGS__);                                                                   \
                                                                                                   \
    memcpy(&real, &found, sizeof(real))

#endif
