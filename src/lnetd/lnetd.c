/* SPDX-License-Identifier: MIT */
/* A node of LNet over RDMA, as an ordinary program of libibverbs and librdmacm.
 *
 * On hosts of a lab:
 *
 *	rdmalab exec h1 -- lnetd --nid 10.0.0.1@o2ib serve --for 10 : \
 *	             h2 -- lnetd --nid 10.0.0.2@o2ib write 10.0.0.1@o2ib --size 1m --count 100
 *
 * On Linux, as root, with rxe or an adapter (modules rdma_rxe, rdma_ucm):
 *
 *	rdma link add rxe0 type rxe netdev eth0; ulimit -l unlimited
 *	lnetd --nid 192.168.1.1@o2ib serve
 *
 * device.h has the threads.  The driver and LNet are in src/lnet.
 */
#include <stdio.h>

#include "lnetd/node.h"

static int run(struct lnetd_node *n)
{
    switch (n->options->command) {
    case CMD_SERVE:
        return command_serve(n);
    case CMD_PING:
        return command_ping(n);
    case CMD_READ:
    case CMD_WRITE:
        return command_bulk(n);
    case CMD_BATCH:
        return command_batch(n);
    default:
        return command_put_or_get(n);
    }
}

int main(int argc, char **argv)
{
    enum options_end end;
    struct options o;
    struct lnetd_node n;
    int status = 1;

    if (!options_parse(argc, argv, &o, &end)) {
        if (end == OPTIONS_HELP)
            options_print_help();
        else if (end == OPTIONS_VERSION)
            puts("lnetd " RDMALAB_VERSION);
        return end == OPTIONS_USAGE ? 2 : 0;
    }
    if (node_start(&n, &o)) {
        pthread_mutex_lock(&n.device.lock);
        status = run(&n);
        pthread_mutex_unlock(&n.device.lock);
    }
    node_stop(&n);
    return status;
}
