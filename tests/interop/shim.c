/* SPDX-License-Identifier: MIT */
/* Preloaded into the pingpongs of rdma-core: two things that they have no option for, taken from
 * the environment.
 *
 * FIRST_PSN is the first PSN, which the program gets from lrand48().
 *
 * LINGER_MS is how long the queue pair stays after the end.  The program destroys it as soon as it
 * has all that it waits for itself.  If the last ACK that it sent was lost, nobody is left then to
 * answer the retransmission, and the peer never ends.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

struct ibv_qp;

long lrand48(void);
int ibv_destroy_qp(struct ibv_qp *qp);

long lrand48(void)
{
    const char *psn = getenv("FIRST_PSN");
    long (*original)(void) = NULL;

    *(void **)&original = dlsym(RTLD_NEXT, "lrand48");
    return psn ? strtol(psn, NULL, 0) : original();
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    const char *ms = getenv("LINGER_MS");
    int (*original)(struct ibv_qp *) = NULL;

    *(void **)&original = dlsym(RTLD_NEXT, "ibv_destroy_qp");
    if (ms)
        usleep((useconds_t)strtoul(ms, NULL, 0) * 1000);
    return original(qp);
}
