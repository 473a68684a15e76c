/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_listens.h"

#include "cli/live/exec_diag.h"
#include "cli/live/exec_proc.h"

static bool add_sockets(void *ctx, int pid)
{
    exec_sockets_add(ctx, pid);
    return true;
}

static bool does_listen(const struct exec_tcp *t)
{
    return t->listens;
}

bool exec_listens(int pid)
{
    struct exec_sockets all = {.n = 0};
    bool any;

    (void)exec_proc_tree(pid, add_sockets, &all);
    if (all.n == 0)
        return false;
    if (exec_proc_has_our_network(pid) && exec_diag_listens(&all, &any))
        return any;
    return exec_sockets_any(&all, pid, does_listen);
}
