/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_listens.h"

#include "cli/live/exec_proc.h"
#include "cli/live/exec_tcp.h"

/* A look at a process and those that it has started. */
struct listen_look {
    bool one_listens;
    struct exec_sockets unknown; /* of processes that do not tell by themselves */
};

static bool look_at(void *ctx, int pid)
{
    struct listen_look *k = ctx;
    const enum exec_told told = exec_tcp_listens(pid);

    k->one_listens = told == EXEC_ONE;
    if (told == EXEC_UNKNOWN)
        exec_sockets_add(&k->unknown, pid);
    return !k->one_listens;
}

static bool does_listen(const struct exec_tcp *t)
{
    return t->listens;
}

bool exec_listens(int pid)
{
    struct listen_look k = {.one_listens = false};

    (void)exec_proc_tree(pid, look_at, &k);
    return k.one_listens || exec_sockets_any(&k.unknown, pid, does_listen);
}
