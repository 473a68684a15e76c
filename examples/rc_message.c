/* SPDX-License-Identifier: MIT */
/* One message each way over a reliable connection (RC).  Both sides exchange addresses over TCP.
 * Then each posts a receive and a send, and polls until both have completed.
 *
 *     server: ./rc_message [-g GID_INDEX]      client: ./rc_message [-g GID_INDEX] HOST [PORT]
 */
#include <err.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

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
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .retry_cnt = 7, .rnr_retry = 7};
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
    rtr.min_rnr_timer = 12; /* a sender that finds no receive waits 0.64 ms */
    mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    check("modify QP to RTR", ibv_modify_qp(qp, &rtr, mask)); /* from PSN 0 on */
    rts.timeout = 14; /* without an acknowledgement, retransmit after 67 ms */
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
           IBV_QP_MAX_QP_RD_ATOMIC;
    check("modify QP to RTS", ibv_modify_qp(qp, &rts, mask));
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
    int gid_index = 0, option;
    char ready = 0, in[64], out[64];

    while ((option = getopt(argc, argv, "g:")) != -1)
        if (option != 'g' || sscanf(optarg, "%d", &gid_index) != 1)
            errx(1, "usage: rc_message [-g GID_INDEX] [HOST | - [PORT]]");
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
    struct ibv_mr *in_mr = ibv_reg_mr(pd, in, sizeof(in), IBV_ACCESS_LOCAL_WRITE);
    struct ibv_mr *out_mr = ibv_reg_mr(pd, out, sizeof(out), 0);
    check("ibv_reg_mr", in_mr && out_mr ? 0 : -1);
    struct ibv_cq *cq = ibv_create_cq(context, 2, NULL, NULL, 0);
    check("ibv_create_cq", cq ? 0 : -1);
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
    attr.cap = (struct ibv_qp_cap){
        .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    check("ibv_create_qp", qp ? 0 : -1);
    connect_qp(qp, tcp, gid_index);

    struct ibv_sge to = {(uintptr_t)in, sizeof(in), in_mr->lkey};
    struct ibv_recv_wr receive = {.sg_list = &to, .num_sge = 1}, *bad_receive;
    check("ibv_post_recv", ibv_post_recv(qp, &receive, &bad_receive));
    exchange(tcp, &ready, 1); /* now both sides can receive */

    const int bytes = snprintf(out, sizeof(out), "hello from the %s", me) + 1;
    struct ibv_sge from = {(uintptr_t)out, (uint32_t)bytes, out_mr->lkey};
    struct ibv_send_wr send = {.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad_send;
    send.send_flags = IBV_SEND_SIGNALED;
    check("ibv_post_send", ibv_post_send(qp, &send, &bad_send));
    for (int i = 0; i < 2; i++) { /* the two may complete in any order */
        const struct ibv_wc wc = wait_for_completion(cq);
        if (wc.opcode == IBV_WC_RECV)
            printf("%s: received %u bytes: %s\n", me, wc.byte_len, in);
        else
            printf("%s: sent %d bytes, which the other device has acknowledged\n", me, bytes);
    }
    exchange(tcp, &ready, 1); /* neither side ends while the other still needs it */
    return 0; /* closing the device and destroying its objects is left to the end of the process */
}
