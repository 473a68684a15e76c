/* SPDX-License-Identifier: MIT */
/* Events: a program that sleeps until a work request has completed.  Each side arms its completion
 * queue (CQ) and sleeps, until the device puts an event into the completion channel.
 *     server: ./events [-g GID_INDEX]      client: ./events [-g GID_INDEX] HOST [PORT]
 */
#include <err.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

enum { MESSAGES = 3 };

/* Ends the program if a call failed.  Its @result is then an errno value, or -1 with errno set. */
static void check(const char *call, int result)
{
    errno = result > 0 ? result : errno;
    if (result != 0)
        err(1, "%s", call);
}

/* Returns a TCP connection.  The client connects to @host.  The server has no host: it waits. */
static int open_tcp(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_family = AF_INET};
    struct addrinfo *a;
    const int unknown = getaddrinfo(host, port, &hints, &a), yes = 1;
    int tcp = socket(AF_INET, SOCK_STREAM, 0), tries = 100;

    check("socket", tcp < 0 ? -1 : 0);
    if (unknown)
        errx(1, "%s: %s", host ? host : port, gai_strerror(unknown));
    check("setsockopt", setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)));
    for (; (host ? connect : bind)(tcp, a->ai_addr, a->ai_addrlen) != 0; usleep(100000))
        check(host ? "connect" : "bind", tries-- > 0 ? 0 : -1); /* the server may start later */
    freeaddrinfo(a);
    check("listen", host ? 0 : listen(tcp, 1));
    tcp = host ? tcp : accept(tcp, NULL, NULL);
    check("accept", tcp < 0 ? -1 : 0);
    return tcp;
}

/* Sends @data to the other side, and replaces it with what the other side sends. */
static void exchange(int tcp, void *data, size_t bytes)
{
    check("send", send(tcp, data, bytes, MSG_NOSIGNAL) < (ssize_t)bytes ? -1 : 0);
    errno = ECONNRESET; /* recv() does not set it if the other side has ended */
    check("recv", recv(tcp, data, bytes, MSG_WAITALL) < (ssize_t)bytes ? -1 : 0);
}

/* Exchanges addresses, and moves @qp to INIT, RTR (ready to receive) and RTS (ready to send). */
static void connect_qp(struct ibv_qp *qp, int tcp, int gid_index)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR, .ah_attr = {.is_global = 1, .port_num = 1}};
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .retry_cnt = 7, .timeout = 14};
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    struct ibv_global_route *route = &rtr.ah_attr.grh;
    uint32_t qpn = htonl(qp->qp_num);

    check("modify QP to INIT", ibv_modify_qp(qp, &init, mask));
    check("ibv_query_gid", ibv_query_gid(qp->context, 1, gid_index, &route->dgid));
    exchange(tcp, &route->dgid, sizeof(route->dgid));
    exchange(tcp, &qpn, sizeof(qpn));
    route->sgid_index = (uint8_t)gid_index;
    route->hop_limit = 64;
    rtr.dest_qp_num = ntohl(qpn);
    rtr.path_mtu = IBV_MTU_1024;
    mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    check("modify QP to RTR", ibv_modify_qp(qp, &rtr, mask)); /* from PSN 0 on */
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
           IBV_QP_MAX_QP_RD_ATOMIC;
    check("modify QP to RTS", ibv_modify_qp(qp, &rts, mask));
}

/* Waits until a work request completes.  Returns the number of times that it slept. */
static int wait_for_completion(struct ibv_cq *cq)
{
    struct pollfd fds[] = {{cq->channel->fd, POLLIN, 0}, {cq->context->async_fd, POLLIN, 0}};
    struct ibv_async_event event;
    struct ibv_wc wc;
    void *cq_context;
    int n, sleeps = 0;

    for (; (n = ibv_poll_cq(cq, 1, &wc)) == 0; sleeps++) {
        check("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0));
        if ((n = ibv_poll_cq(cq, 1, &wc)) != 0)
            break; /* it completed before the CQ was armed: no event would come */
        check("wait for an event", (n = poll(fds, 2, 10000)) > 0 ? 0 : n < 0 ? -1 : ETIMEDOUT);
        if (fds[1].revents) {
            check("ibv_get_async_event", ibv_get_async_event(cq->context, &event));
            printf("asynchronous event: %s\n", ibv_event_type_str(event.event_type));
            ibv_ack_async_event(&event);
        }
        if (fds[0].revents) {
            check("ibv_get_cq_event", ibv_get_cq_event(cq->channel, &cq, &cq_context));
            ibv_ack_cq_events(cq, 1);
        }
    }
    if (n < 0 || wc.status != IBV_WC_SUCCESS)
        errx(1, "completion: %s", n < 0 ? "ibv_poll_cq failed" : ibv_wc_status_str(wc.status));
    return sleeps;
}

int main(int argc, char **argv)
{
    int gid_index = 0, option;
    char ready = 0;

    while ((option = getopt(argc, argv, "g:")) != -1)
        if (option != 'g' || sscanf(optarg, "%d", &gid_index) != 1)
            errx(1, "usage: events [-g GID_INDEX] [HOST | - [PORT]]");
    const char *host = argc > optind && argv[optind][0] != '-' ? argv[optind] : NULL;
    const char *me = host ? "client" : "server";
    const int tcp = open_tcp(host, argc > optind + 1 ? argv[optind + 1] : "18516");

    struct ibv_device **devices = ibv_get_device_list(NULL);
    if (!devices || !devices[0])
        errx(1, "there is no RDMA device");
    struct ibv_context *context = ibv_open_device(devices[0]);
    check("ibv_open_device", context ? 0 : -1);
    struct ibv_pd *pd = ibv_alloc_pd(context);
    check("ibv_alloc_pd", pd ? 0 : -1);
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    check("ibv_create_comp_channel", channel ? 0 : -1);
    struct ibv_cq *cq = ibv_create_cq(context, MESSAGES, NULL, channel, 0);
    check("ibv_create_cq", cq ? 0 : -1);
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
    attr.cap = (struct ibv_qp_cap){.max_send_wr = 1, .max_recv_wr = MESSAGES};
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    check("ibv_create_qp", qp ? 0 : -1);
    connect_qp(qp, tcp, gid_index);
    struct ibv_recv_wr receive = {.num_sge = 0}, *bad_receive; /* the messages have no data */
    struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad_send;
    for (int i = 0; i < MESSAGES && !host; i++)
        check("ibv_post_recv", ibv_post_recv(qp, &receive, &bad_receive));
    exchange(tcp, &ready, 1); /* now the server can receive */
    for (int i = 0; i < MESSAGES; i++) {
        check("usleep", host ? usleep(100000) : 0);
        if (host)
            check("ibv_post_send", ibv_post_send(qp, &send, &bad_send));
        printf("%s: completion %d, for which I slept %d times\n", me, i, wait_for_completion(cq));
    }
    exchange(tcp, &ready, 1); /* neither side ends while the other still needs it */
    return 0; /* closing the device and destroying its objects is left to the end of the process */
}
