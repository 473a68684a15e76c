/* SPDX-License-Identifier: MIT */
/* Events: a program that sleeps until a work request has completed.
 *
 * The client sends three messages with pauses.  Each side arms its completion queue and sleeps. The
 * device then puts an event into the completion channel.  Asynchronous events are printed.
 *
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

struct address { /* of a queue pair; the numbers have network byte order */
    uint32_t qpn, psn;
    union ibv_gid gid;
};

/* Ends the program if @error is not 0.  Most verbs return 0 or an errno value. */
static void check(const char *call, int error)
{
    errno = error;
    if (error != 0)
        err(1, "%s", call);
}

/* Ends the program if @object is NULL.  Verbs that make an object set errno then. */
static void *made(const char *call, void *object)
{
    if (!object)
        err(1, "%s", call);
    return object;
}

/* Returns a TCP connection.  The client connects to @host.  The server has no host: it waits. */
static int open_tcp(const char *host, const char *port)
{
    const struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_family = AF_INET};
    const int s = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    struct addrinfo *a;
    int unknown = getaddrinfo(host, port, &hints, &a), tries = 100, tcp = s;

    check("socket", s < 0 ? errno : 0);
    if (unknown)
        errx(1, "%s: %s", host ? host : port, gai_strerror(unknown));
    while (host && connect(s, a->ai_addr, a->ai_addrlen) != 0) {
        check("connect", tries-- > 0 ? 0 : errno);
        usleep(100000); /* the server may start later */
    }
    if (!host) {
        check("setsockopt", setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ? errno : 0);
        check("bind", bind(s, a->ai_addr, a->ai_addrlen) ? errno : 0);
        check("listen", listen(s, 1) ? errno : 0);
        tcp = accept(s, NULL, NULL);
        check("accept", tcp < 0 ? errno : 0);
        close(s);
    }
    freeaddrinfo(a);
    return tcp;
}

/* Sends @mine to the other side, and waits for @theirs. */
static void exchange(int tcp, const void *mine, void *theirs, size_t bytes)
{
    check("send", send(tcp, mine, bytes, MSG_NOSIGNAL) < 0 ? errno : 0);
    errno = ECONNRESET; /* recv() does not set it if the other side has ended */
    check("recv", recv(tcp, theirs, bytes, MSG_WAITALL) < (ssize_t)bytes ? errno : 0);
}

/* Returns the index of the first RoCE v2 GID of port 1, if possible that of an IPv4 address. */
static int choose_gid(struct ibv_context *context)
{
    struct ibv_port_attr port;
    struct ibv_gid_entry e;
    int chosen = -1;

    check("ibv_query_port", ibv_query_port(context, 1, &port));
    for (int i = 0; i < port.gid_tbl_len; i++) {
        const int error = ibv_query_gid_ex(context, 1, (uint32_t)i, &e, 0);

        check("ibv_query_gid_ex", error == ENODATA ? 0 : error);
        if (error == ENODATA || e.gid_type != IBV_GID_TYPE_ROCE_V2)
            continue; /* the entry is empty, or of another type */
        if (IN6_IS_ADDR_V4MAPPED(e.gid.raw))
            return i;
        chosen = chosen < 0 ? i : chosen;
    }
    check("find a RoCE v2 GID of port 1", chosen < 0 ? ENODATA : 0);
    return chosen;
}

/* Moves @qp to INIT, RTR (ready to receive) and RTS (ready to send). */
static void connect_qp(struct ibv_qp *qp, uint32_t psn, const struct address *to, int gid_index)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024};
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = psn, .retry_cnt = 7};
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

    check("ibv_modify_qp to INIT", ibv_modify_qp(qp, &init, mask));
    rtr.dest_qp_num = ntohl(to->qpn);
    rtr.rq_psn = ntohl(to->psn);
    rtr.min_rnr_timer = 12; /* a sender that finds no receive waits 0.64 ms */
    rtr.ah_attr = (struct ibv_ah_attr){.is_global = 1, .port_num = 1};
    rtr.ah_attr.grh.dgid = to->gid;
    rtr.ah_attr.grh.sgid_index = (uint8_t)gid_index;
    rtr.ah_attr.grh.hop_limit = 64;
    mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    check("ibv_modify_qp to RTR", ibv_modify_qp(qp, &rtr, mask));
    rts.timeout = 14;  /* without an acknowledgement, retransmit after 67 ms */
    rts.rnr_retry = 7; /* no limit */
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
           IBV_QP_MAX_QP_RD_ATOMIC;
    check("ibv_modify_qp to RTS", ibv_modify_qp(qp, &rts, mask));
}

/* Sleeps until there is an event, and acknowledges it.  Prints an asynchronous event. */
static void wait_for_event(struct ibv_cq *cq)
{
    struct pollfd fds[] = {{cq->channel->fd, POLLIN, 0}, {cq->context->async_fd, POLLIN, 0}};
    struct ibv_async_event event;
    void *cq_context;
    const int n = poll(fds, 2, 10000);

    check("wait for an event", n < 0 ? errno : n == 0 ? ETIMEDOUT : 0);
    if (fds[1].revents) {
        check("ibv_get_async_event", ibv_get_async_event(cq->context, &event) ? errno : 0);
        printf("asynchronous event: %s\n", ibv_event_type_str(event.event_type));
        ibv_ack_async_event(&event);
    }
    if (fds[0].revents) {
        check("ibv_get_cq_event", ibv_get_cq_event(cq->channel, &cq, &cq_context) ? errno : 0);
        ibv_ack_cq_events(cq, 1);
    }
}

/* Returns 1 if a work request has completed, 0 if not. */
static int poll_once(struct ibv_cq *cq)
{
    struct ibv_wc wc;
    const int n = ibv_poll_cq(cq, 1, &wc);

    if (n < 0 || (n > 0 && wc.status != IBV_WC_SUCCESS))
        errx(1, "completion: %s", n < 0 ? "ibv_poll_cq failed" : ibv_wc_status_str(wc.status));
    return n;
}

/* Waits until a work request completes.  Returns the number of times that it slept. */
static int wait_for_completion(struct ibv_cq *cq)
{
    int sleeps = 0;

    while (poll_once(cq) == 0) {
        check("ibv_req_notify_cq", ibv_req_notify_cq(cq, 0));
        if (poll_once(cq) > 0) /* it completed before the CQ was armed: no event would come */
            break;
        wait_for_event(cq);
        sleeps++;
    }
    return sleeps;
}

int main(int argc, char **argv)
{
    int gid_index = -1, option;
    char ready = 0;

    while ((option = getopt(argc, argv, "g:")) != -1)
        if (option != 'g' || sscanf(optarg, "%d", &gid_index) != 1)
            errx(1, "usage: events [-g GID_INDEX] [HOST | - [PORT]]");
    const char *host = argc > optind && argv[optind][0] != '-' ? argv[optind] : NULL;
    const char *me = host ? "client" : "server";
    const int tcp = open_tcp(host, argc > optind + 1 ? argv[optind + 1] : "18516");

    struct ibv_device **devices = made("ibv_get_device_list", ibv_get_device_list(NULL));
    check("find an RDMA device", devices[0] ? 0 : ENODEV);
    struct ibv_context *context = made("ibv_open_device", ibv_open_device(devices[0]));
    ibv_free_device_list(devices);
    struct ibv_pd *pd = made("ibv_alloc_pd", ibv_alloc_pd(context));
    struct ibv_comp_channel *channel =
        made("ibv_create_comp_channel", ibv_create_comp_channel(context));
    struct ibv_cq *cq = made("ibv_create_cq", ibv_create_cq(context, MESSAGES, NULL, channel, 0));
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
    attr.cap = (struct ibv_qp_cap){
        .max_send_wr = 1, .max_recv_wr = MESSAGES, .max_send_sge = 1, .max_recv_sge = 1};
    struct ibv_qp *qp = made("ibv_create_qp", ibv_create_qp(pd, &attr));

    struct address mine = {.qpn = htonl(qp->qp_num)}, theirs;
    mine.psn = htonl((uint32_t)getpid() & 0xffffff); /* any number of 24 bits */
    gid_index = gid_index < 0 ? choose_gid(context) : gid_index;
    check("ibv_query_gid", ibv_query_gid(context, 1, gid_index, &mine.gid) ? errno : 0);
    exchange(tcp, &mine, &theirs, sizeof(mine));
    connect_qp(qp, ntohl(mine.psn), &theirs, gid_index);

    struct ibv_recv_wr receive = {.num_sge = 0}, *bad_receive; /* the messages have no data */
    struct ibv_send_wr send = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED}, *bad_send;
    for (int i = 0; i < MESSAGES && !host; i++)
        check("ibv_post_recv", ibv_post_recv(qp, &receive, &bad_receive));
    exchange(tcp, &ready, &ready, 1); /* now the server can receive */
    for (int i = 0; i < MESSAGES; i++) {
        if (host) {
            usleep(100000);
            check("ibv_post_send", ibv_post_send(qp, &send, &bad_send));
        }
        printf("%s: completion %d, for which I slept %d times\n", me, i, wait_for_completion(cq));
    }
    exchange(tcp, &ready, &ready, 1); /* neither side ends while the other still needs it */
    check("ibv_destroy_qp", ibv_destroy_qp(qp));
    check("ibv_destroy_cq", ibv_destroy_cq(cq));
    check("ibv_destroy_comp_channel", ibv_destroy_comp_channel(channel));
    check("ibv_dealloc_pd", ibv_dealloc_pd(pd));
    check("ibv_close_device", ibv_close_device(context) ? errno : 0);
    close(tcp);
    return 0;
}
