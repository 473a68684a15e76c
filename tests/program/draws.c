/* SPDX-License-Identifier: MIT */
/* A program that draws random numbers in each way that the library covers, prints them, and gives
 * one to the device.  A child prints, too.  tests/tools/check_exec.py compares several runs.
 */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static void print(const char *who)
{
    uint64_t random[3] = {0}, entropy[2] = {0};

    if (getrandom(random, 17, 0) != 17 || getentropy(entropy, sizeof(entropy)) != 0)
        exit(1);
    printf("%s %016jx %016jx %jx %016jx %016jx", who, (uintmax_t)random[0], (uintmax_t)random[1],
           (uintmax_t)random[2], (uintmax_t)entropy[0], (uintmax_t)entropy[1]);
#if __GLIBC_PREREQ(2, 36)
    printf(" %08x %u", arc4random(), arc4random_uniform(1000000));
#endif
    putchar('\n');
    fflush(stdout);
}

/* Wrong arguments are refused as always. */
static void check_errors(void)
{
    static char bytes[257], *volatile nowhere;

    if (getrandom(bytes, 1, 0xffff) != -1 || getrandom(nowhere, 1, 0) != -1 ||
        getentropy(bytes, sizeof(bytes)) != -1)
        exit(2);
}

int main(void)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    struct ibv_context *context = list && list[0] ? ibv_open_device(list[0]) : NULL;
    struct ibv_srq_init_attr srq = {.attr = {1, 1, 0}};
    struct ibv_pd *pd = context ? ibv_alloc_pd(context) : NULL;
    uint8_t byte;

    check_errors();
    print("program");
    if (fork() == 0) {
        print("child");
        _exit(0);
    }
    wait(NULL);
    if (!pd || getrandom(&byte, 1, 0) != 1)
        return 1;
    srq.attr.max_wr = 1u + byte;
    return !ibv_create_srq(pd, &srq);
}
