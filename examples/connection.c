/* SPDX-License-Identifier: MIT */
/* One message each way over a reliable connection that rdma_cm sets up.  There is no TCP: the
 * connection manager finds the peer by its IP address, exchanges numbers of queue pairs, and
 * librdmacm moves them to RTS.  Each step is a call, and then an event that tells its result.
 *
 *     server: ./connection [- PORT]            client: ./connection HOST [PORT]
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <netdb.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Ends the program if a call failed.  Its @result is then an errno value, or -1 with errno set. */
static void check(const char *call, int result)
{
    errno = result > 0 ? result : errno;
    if (result != 0)
        err(1, "%s", call);
}

/* Takes the next event, which must be @wanted.  Returns its ID, with the peer's greeting in @text
 * if a request brought one.  An event must be acknowledged before its ID can be destroyed.
 */
static struct rdma_cm_id *expect(struct rdma_event_channel *events, enum rdma_cm_event_type wanted,
                                 char text[32])
{
    struct rdma_cm_event *e;
    struct rdma_cm_id *id;

    check("rdma_get_cm_event", rdma_get_cm_event(events, &e));
    if (e->event != wanted)
        errx(1, "%s instead of %s, status %d", rdma_event_str(e->event), rdma_event_str(wanted),
             e->status);
    id = e->id; /* of a request: a new one */
    if (text) /* the length is that of the field in the message, and not what the peer has given */
        snprintf(text, 32, "%.31s", (const char *)e->param.conn.private_data);
    check("rdma_ack_cm_event", rdma_ack_cm_event(e));
    return id;
}

/* Finds the peer: first its MAC address and the device here, then the path. */
static struct rdma_cm_id *dial(struct rdma_event_channel *events, const struct addrinfo *peer)
{
    struct rdma_cm_id *id;

    check("rdma_create_id", rdma_create_id(events, &id, NULL, RDMA_PS_TCP));
    check("rdma_resolve_addr", rdma_resolve_addr(id, NULL, peer->ai_addr, 2000));
    expect(events, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
    check("rdma_resolve_route", rdma_resolve_route(id, 2000));
    expect(events, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
    return id;
}

/* Waits for a request.  Its ID is another one than that which listens. */
static struct rdma_cm_id *wait_for_request(struct rdma_event_channel *events,
                                           const struct addrinfo *here)
{
    struct rdma_cm_id *listener, *id;
    char text[32];

    check("rdma_create_id", rdma_create_id(events, &listener, NULL, RDMA_PS_TCP));
    check("rdma_bind_addr", rdma_bind_addr(listener, here->ai_addr));
    check("rdma_listen", rdma_listen(listener, 1));
    id = expect(events, RDMA_CM_EVENT_CONNECT_REQUEST, text);
    printf("server: somebody at %s says \"%s\"\n",
           inet_ntoa(((struct sockaddr_in *)rdma_get_peer_addr(id))->sin_addr), text);
    check("rdma_destroy_id", rdma_destroy_id(listener)); /* one client is enough */
    return id;
}

/* Polls until a work request completes.  Gives up after 10 seconds. */
static struct ibv_wc wait_for_completion(struct ibv_cq *cq)
{
    const time_t deadline = time(NULL) + 10;
    struct ibv_wc wc;
    int n;

    while ((n = ibv_poll_cq(cq, 1, &wc)) == 0)
        check("wait for a completion", time(NULL) < deadline ? 0 : ETIMEDOUT);
    if (n < 0 || wc.status != IBV_WC_SUCCESS)
        errx(1, "completion: %s", n < 0 ? "ibv_poll_cq failed" : ibv_wc_status_str(wc.status));
    return wc;
}

int main(int argc, char **argv)
{
    const char *host = argc > 1 && argv[1][0] != '-' ? argv[1] : NULL;
    const char *port = argc > 2 ? argv[2] : "18517", *me = host ? "client" : "server";
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_family = AF_INET};
    struct rdma_event_channel *events = rdma_create_event_channel();
    struct addrinfo *address;
    char in[64], out[64];

    check("rdma_create_event_channel", events ? 0 : -1);
    const int unknown = getaddrinfo(host, port, &hints, &address);
    if (unknown)
        errx(1, "%s: %s", host ? host : port, gai_strerror(unknown));
    struct rdma_cm_id *id = host ? dial(events, address) : wait_for_request(events, address);
    freeaddrinfo(address);

    /* The ID has a device now, id->verbs, and librdmacm a protection domain for it, id->pd. */
    struct ibv_mr *in_mr = ibv_reg_mr(id->pd, in, sizeof(in), IBV_ACCESS_LOCAL_WRITE);
    struct ibv_mr *out_mr = ibv_reg_mr(id->pd, out, sizeof(out), 0);
    struct ibv_cq *cq = ibv_create_cq(id->verbs, 2, NULL, NULL, 0);
    check("memory regions and completion queue", in_mr && out_mr && cq ? 0 : -1);
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
    attr.cap = (struct ibv_qp_cap){
        .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
    check("rdma_create_qp", rdma_create_qp(id, id->pd, &attr));

    /* Receives come first: the peer may send as soon as the connection is established. */
    struct ibv_sge to = {(uintptr_t)in, sizeof(in), in_mr->lkey};
    struct ibv_recv_wr receive = {.sg_list = &to, .num_sge = 1}, *bad_receive;
    check("ibv_post_recv", ibv_post_recv(id->qp, &receive, &bad_receive));
    struct rdma_conn_param param = {.retry_count = 7, .rnr_retry_count = 7};
    param.private_data = host ? "good morning" : NULL;
    param.private_data_len = host ? sizeof("good morning") : 0;
    check("rdma_connect or rdma_accept", host ? rdma_connect(id, &param) : rdma_accept(id, &param));
    expect(events, RDMA_CM_EVENT_ESTABLISHED, NULL);

    const int bytes = snprintf(out, sizeof(out), "hello from the %s", me) + 1;
    struct ibv_sge from = {(uintptr_t)out, (uint32_t)bytes, out_mr->lkey};
    struct ibv_send_wr send = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad_send;
    send.send_flags = IBV_SEND_SIGNALED;
    check("ibv_post_send", ibv_post_send(id->qp, &send, &bad_send));
    for (int i = 0; i < 2; i++) { /* the two may complete in any order */
        const struct ibv_wc wc = wait_for_completion(cq);
        if (wc.opcode == IBV_WC_RECV)
            printf("%s: received %u bytes: %s\n", me, wc.byte_len, in);
        else
            printf("%s: sent %d bytes, which the other device has acknowledged\n", me, bytes);
    }
    if (host) /* the client hangs up; the server answers, and so both get DISCONNECTED */
        check("rdma_disconnect", rdma_disconnect(id));
    expect(events, RDMA_CM_EVENT_DISCONNECTED, NULL);
    if (!host)
        check("rdma_disconnect", rdma_disconnect(id));
    rdma_destroy_qp(id);
    check("rdma_destroy_id", rdma_destroy_id(id));
    rdma_destroy_event_channel(events);
    return 0; /* the rest is left to the end of the process */
}
