/* SPDX-License-Identifier: MIT */
/* A client of librdmacm that makes one mistake of beginners, whose name is its argument.  It fails,
 * or hangs as it would on Linux.  tests/tools/check_exec.py compares what the lab says about it.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <rdma/rdma_cma.h>
#include <string.h>

#define MISTAKE 3 /* the exit status if the mistake was refused with EINVAL */

static void take_event(struct rdma_event_channel *events, int acknowledge)
{
    struct rdma_cm_event *e;

    if (rdma_get_cm_event(events, &e) != 0)
        err(1, "rdma_get_cm_event");
    if (acknowledge)
        rdma_ack_cm_event(e);
}

/* A listener at any address has no device. */
static struct ibv_pd *use_listener(struct rdma_event_channel *events)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(7471)};
    struct rdma_cm_id *id;

    if (rdma_create_id(events, &id, NULL, RDMA_PS_TCP) != 0 ||
        rdma_bind_addr(id, (struct sockaddr *)&any) != 0 || rdma_listen(id, 1) != 0)
        err(1, "rdma_listen");
    return ibv_alloc_pd(id->verbs);
}

int main(int argc, char **argv)
{
    const char *mistake = argc > 1 ? argv[1] : "";
    struct sockaddr_in peer = {.sin_family = AF_INET, .sin_port = htons(7471)};
    struct rdma_event_channel *events = rdma_create_event_channel();
    struct rdma_conn_param param = {.retry_count = 7};
    static const char data[100];
    struct rdma_cm_id *id;
    int result = 0;

    peer.sin_addr.s_addr = inet_addr("10.0.0.2");
    if (!events || rdma_create_id(events, &id, NULL, RDMA_PS_TCP) != 0 ||
        rdma_resolve_addr(id, NULL, (struct sockaddr *)&peer, 1000) != 0)
        err(1, "rdma_resolve_addr");
    if (strcmp(mistake, "early") == 0) /* it ends by SIGSEGV */
        return ibv_alloc_pd(id->verbs) != NULL;
    if (strcmp(mistake, "any") == 0) {
        rdma_destroy_id(id);
        return use_listener(events) != NULL; /* the same */
    }
    take_event(events, strcmp(mistake, "unacknowledged") != 0);
    if (strcmp(mistake, "unacknowledged") == 0)
        return rdma_destroy_id(id); /* it does not return */
    if (strcmp(mistake, "nobody") == 0) {
        rdma_destroy_id(id); /* without a mistake, and no event comes */
        take_event(events, 1);
    }
    if (strcmp(mistake, "notify") == 0)
        return rdma_notify(id, IBV_EVENT_COMM_EST) != 0 && errno == EINVAL ? MISTAKE : 0;
    if (strcmp(mistake, "route") != 0 && rdma_resolve_route(id, 1000) == 0)
        take_event(events, 1);
    if (strcmp(mistake, "data") == 0) {
        param.private_data = data;
        param.private_data_len = sizeof(data);
    }
    result = rdma_connect(id, &param);
    if (strcmp(mistake, "again") == 0 && result == 0)
        result = rdma_connect(id, &param);
    return result != 0 && errno == EINVAL ? MISTAKE : 0;
}
