/* SPDX-License-Identifier: MIT */
/* Random numbers of a program in virtual time, which are the same in each run.
 *
 * In a program that is linked to libibverbs.so.1 itself, this library precedes the C library.  So
 * the functions here are called in place of those of the C library, which ask the kernel.  Draw
 * number n of the program depends on the seed that the lab has chosen for it, and on n.
 *
 * Processes that the program has started draw as usual: two that begin alike must not get the same
 * numbers.  The C library's own draws, /dev/urandom, the processor's instructions and programs that
 * seed a generator by the clock are not reached.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/base/prng.h"
#include "program/ibverbs/internal.h"

#define ENTROPY_MAX 256u /* getentropy(3) */

/* Exported as of the C library, whose headers may not declare all of them. */
ssize_t getrandom(void *buf, size_t n, unsigned flags);
int getentropy(void *buf, size_t n);
uint32_t arc4random(void);
void arc4random_buf(void *buf, size_t n);
uint32_t arc4random_uniform(uint32_t bound);

static uint64_t seed;
static pid_t program;            /* its process; 0: it has no seed */
static _Atomic uint64_t n_draws; /* of this process */

__attribute__((constructor)) static void read_seed(void)
{
    const char *text = getenv(PROGRAM_ENV_SEED);
    char *end;
    long pid = text ? strtol(text, &end, 10) : 0;

    if (pid <= 0 || *end != ' ' || getppid() != (pid_t)pid)
        return;
    seed = strtoull(end, NULL, 16);
    program = getpid();
}

/* Replaces @n drawn bytes, but not in a child of the program. */
static void replace(void *buf, size_t n)
{
    struct prng draws;
    uint64_t word;

    if (program == 0 || getpid() != program)
        return;
    draws = prng_stream(seed, atomic_fetch_add(&n_draws, 1));
    for (size_t i = 0; i < n; i += sizeof(word)) {
        word = prng_next(&draws);
        memcpy((char *)buf + i, &word, n - i < sizeof(word) ? n - i : sizeof(word));
    }
}

/* Asks the kernel for all of @n bytes. */
static int fill(void *buf, size_t n)
{
    for (size_t done = 0; done < n;) {
        const long got = syscall(SYS_getrandom, (char *)buf + done, n - done, 0);

        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}

/* getrandom(2): the kernel judges the arguments. */
ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
    const ssize_t got = syscall(SYS_getrandom, buf, n, flags);

    if (got > 0)
        replace(buf, (size_t)got);
    return got;
}

/* getentropy(3) */
int getentropy(void *buf, size_t n)
{
    if (n > ENTROPY_MAX)
        return minus_1_because(EIO);
    if (fill(buf, n) != 0)
        return -1;
    replace(buf, n);
    return 0;
}

/* arc4random(3), of glibc from 2.36 on, has no error. */
void arc4random_buf(void *buf, size_t n)
{
    if (fill(buf, n) != 0)
        abort();
    replace(buf, n);
}

uint32_t arc4random(void)
{
    uint32_t word;

    arc4random_buf(&word, sizeof(word));
    return word;
}

uint32_t arc4random_uniform(uint32_t bound)
{
    uint32_t word, uneven;

    if (bound < 2)
        return 0;
    uneven =
        -bound % bound; /* words below it are drawn again: small numbers would be more frequent */
    do
        word = arc4random();
    while (word < uneven);
    return word % bound;
}
