/* SPDX-License-Identifier: MIT */
/* The connection manager: the operations that are calls of librdmacm. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include "lnetd/device.h"

#define NS_PER_MS 1000000u

/* The parameters of both sides.  Nobody uses RDMA READ, so that no resources are asked for. */
static struct rdma_conn_param parameters(const void *data, uint8_t bytes)
{
    return (struct rdma_conn_param){.private_data = data,
                                    .private_data_len = bytes,
                                    .flow_control = 1,
                                    .retry_count = LND_RETRY_COUNT,
                                    .rnr_retry_count = LND_RNR_RETRY_COUNT};
}

/* The source address is this node's: the peer must see the address of its NID.  The CM thread
 * resolves the route when ADDR_RESOLVED has come.
 *
 * SIMPLIFIED: any source port.  Lustre takes one below 1024 (use_privileged_port), which a peer
 * needs to see only with require_privileged_port, and that is off.
 */
int device_resolve(void *ctx, struct lnd_link *l, uint32_t ip, uint16_t service,
                   uint64_t timeout_ns)
{
    struct lnetd_device *d = ctx;
    struct sockaddr_in me = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(d->ip)};
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(service), .sin_addr.s_addr = htonl(ip)};
    struct rdma_cm_id *id;

    if (rdma_create_id(d->cm_channel, &id, l, RDMA_PS_TCP))
        return device_failed(d, "rdma_create_id", errno);
    if (rdma_resolve_addr(id, (struct sockaddr *)&me, (struct sockaddr *)&to,
                          (int)(timeout_ns / NS_PER_MS))) {
        const int error = errno;

        rdma_destroy_id(id);
        return device_failed(d, "rdma_resolve_addr", error);
    }
    l->id = (uintptr_t)id;
    d->live.ids++;
    return 0;
}

int device_connect(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    struct rdma_conn_param p = parameters(data, bytes);

    return rdma_connect(device_id_of(l), &p) ? device_failed(ctx, "rdma_connect", errno) : 0;
}

void device_adopt(void *ctx, struct lnd_link *l)
{
    (void)ctx;
    device_id_of(l)->context = l;
}

int device_accept(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    struct rdma_conn_param p = parameters(data, bytes);

    return rdma_accept(device_id_of(l), &p) ? device_failed(ctx, "rdma_accept", errno) : 0;
}

int device_reject(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    return rdma_reject(device_id_of(l), data, bytes) ? device_failed(ctx, "rdma_reject", errno) : 0;
}

/* Work requests are flushed in each case, also if there was no connection yet. */
int device_disconnect(void *ctx, struct lnd_link *l)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    (void)ctx;
    (void)rdma_disconnect(device_id_of(l)); /* refused if there is no connection */
    (void)ibv_modify_qp(device_id_of(l)->qp, &attr, IBV_QP_STATE);
    return 0;
}

int device_destroy_id(void *ctx, struct lnd_link *l)
{
    struct lnetd_device *d = ctx;
    struct rdma_cm_id *id = device_id_of(l);

    l->id = 0;
    id->context = NULL;
    d->live.ids--;
    if (d->is_in_event) { /* that of a request which was rejected */
        d->dying = id;
        return 0;
    }
    return rdma_destroy_id(id) ? device_failed(d, "rdma_destroy_id", errno) : 0;
}
