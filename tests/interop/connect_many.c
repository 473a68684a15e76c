/* SPDX-License-Identifier: MIT */
/* Many connections of rdma_cm, one after the other, each with a queue pair of its own.
 *
 *	connect_many ADDRESS N accept		a server, which takes N connections at the address
 *	connect_many ADDRESS N connect		its client
 *	connect_many ADDRESS N reject		a server, which rejects N requests with private data
 *	connect_many ADDRESS N rejected		its client
 *
 * The address of a server may be the one that stands for all.
 *
 * Nothing is sent.  An ID and a queue pair are destroyed at once, so that their numbers come again.
 */
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *call, int result)
{
    errno = result > 0 ? result : errno;
    if (result != 0)
        err(1, "%s", call);
}

static struct rdma_cm_id *expect(struct rdma_event_channel *events, enum rdma_cm_event_type wanted)
{
    struct rdma_cm_event *e;
    struct rdma_cm_id *id;

    do {
        check("rdma_get_cm_event", rdma_get_cm_event(events, &e));
        if (e->event == RDMA_CM_EVENT_REJECTED)
            printf("client: rejected with status %d and \"%s\"\n", e->status,
                   (const char *)e->param.conn.private_data);
        if (e->event != wanted && e->event != RDMA_CM_EVENT_TIMEWAIT_EXIT)
            errx(1, "%s instead of %s, status %d", rdma_event_str(e->event), rdma_event_str(wanted),
                 e->status);
        id = e->event == wanted ? e->id : NULL;
        check("rdma_ack_cm_event", rdma_ack_cm_event(e));
    } while (!id);
    return id;
}

/* The queue pair, its completion queue and the parameters of a connection. */
static struct ibv_cq *prepare(struct rdma_cm_id *id)
{
    struct ibv_cq *cq = ibv_create_cq(id->verbs, 2, NULL, NULL, 0);
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};

    check("ibv_create_cq", cq ? 0 : -1);
    attr.cap = (struct ibv_qp_cap){
        .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
    check("rdma_create_qp", rdma_create_qp(id, NULL, &attr));
    return cq;
}

static void hang_up(struct rdma_cm_id *id, struct ibv_cq *cq)
{
    rdma_destroy_qp(id);
    check("ibv_destroy_cq", ibv_destroy_cq(cq));
    check("rdma_destroy_id", rdma_destroy_id(id));
}

static void serve(struct rdma_event_channel *events, struct rdma_conn_param *param)
{
    struct rdma_cm_id *id = expect(events, RDMA_CM_EVENT_CONNECT_REQUEST);
    struct ibv_cq *cq = prepare(id);

    check("rdma_accept", rdma_accept(id, param));
    expect(events, RDMA_CM_EVENT_ESTABLISHED);
    expect(events, RDMA_CM_EVENT_DISCONNECTED);
    check("rdma_disconnect", rdma_disconnect(id));
    hang_up(id, cq);
}

static void refuse(struct rdma_event_channel *events)
{
    static const char why[] = "we are full";
    struct rdma_cm_id *id = expect(events, RDMA_CM_EVENT_CONNECT_REQUEST);

    check("rdma_reject", rdma_reject(id, why, sizeof(why)));
    check("rdma_destroy_id", rdma_destroy_id(id));
}

static void ask(struct rdma_event_channel *events, struct rdma_conn_param *param,
                struct sockaddr *to, int is_rejected)
{
    struct rdma_cm_id *id;
    struct ibv_cq *cq;

    check("rdma_create_id", rdma_create_id(events, &id, NULL, RDMA_PS_TCP));
    check("rdma_resolve_addr", rdma_resolve_addr(id, NULL, to, 5000));
    expect(events, RDMA_CM_EVENT_ADDR_RESOLVED);
    check("rdma_resolve_route", rdma_resolve_route(id, 5000));
    expect(events, RDMA_CM_EVENT_ROUTE_RESOLVED);
    cq = prepare(id);
    check("rdma_connect", rdma_connect(id, param));
    expect(events, is_rejected ? RDMA_CM_EVENT_REJECTED : RDMA_CM_EVENT_ESTABLISHED);
    if (!is_rejected) {
        check("rdma_disconnect", rdma_disconnect(id));
        expect(events, RDMA_CM_EVENT_DISCONNECTED);
    }
    hang_up(id, cq);
}

int main(int argc, char **argv)
{
    struct rdma_event_channel *events = rdma_create_event_channel();
    struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
    const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
    const char *what = argc > 3 ? argv[3] : "";
    const int refuses = strcmp(what, "reject") == 0,
              is_server = refuses || strcmp(what, "accept") == 0;
    struct rdma_cm_id *listener;
    struct addrinfo *address;

    if (argc < 4 || !events || getaddrinfo(argv[1], "18518", &hints, &address))
        errx(2, "usage: connect_many ADDRESS N accept|connect|reject|rejected");
    if (is_server) {
        check("rdma_create_id", rdma_create_id(events, &listener, NULL, RDMA_PS_TCP));
        check("rdma_bind_addr", rdma_bind_addr(listener, address->ai_addr));
        check("rdma_listen", rdma_listen(listener, 4));
    }
    for (long i = strtol(argv[2], NULL, 10); i > 0; i--) {
        if (refuses)
            refuse(events);
        else if (is_server)
            serve(events, &param);
        else
            ask(events, &param, address->ai_addr, strcmp(what, "rejected") == 0);
    }
    printf("%s: %s times\n", what, argv[2]);
    return 0;
}
