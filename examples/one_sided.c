/* SPDX-License-Identifier: MIT */
/* RDMA READ and WRITE: the client works on the server's memory.  The server sends the address and
 * key (rkey) of its memory over TCP.  Its device does the work: it posts and polls nothing.
 *
 *     server: ./one_sided [-g GID_INDEX]      client: ./one_sided [-g GID_INDEX] HOST [PORT]
 */
#include <endian.h>
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
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .retry_cnt = 7, .max_rd_atomic = 1};
    int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
    struct ibv_global_route *route = &rtr.ah_attr.grh;
    uint32_t qpn = htonl(qp->qp_num);

    init.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    check("modify QP to INIT", ibv_modify_qp(qp, &init, mask));
    check("ibv_query_gid", ibv_query_gid(qp->context, 1, gid_index, &route->dgid));
    exchange(tcp, &route->dgid, sizeof(route->dgid));
    exchange(tcp, &qpn, sizeof(qpn));
    route->sgid_index = (uint8_t)gid_index;
    route->hop_limit = 64;
    rtr.dest_qp_num = ntohl(qpn);
    rtr.path_mtu = IBV_MTU_1024;
    rtr.max_dest_rd_atomic = 1; /* READs that the device answers at the same time */
    mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    check("modify QP to RTR", ibv_modify_qp(qp, &rtr, mask)); /* from PSN 0 on */
    rts.timeout = 14; /* without an acknowledgement, retransmit after 67 ms */
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
           IBV_QP_MAX_QP_RD_ATOMIC;
    check("modify QP to RTS", ibv_modify_qp(qp, &rts, mask));
}

/* Executes @wr, a READ or WRITE.  Polls until it has completed, for at most 10 seconds. */
static void execute(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
    const time_t deadline = time(NULL) + 10;
    struct ibv_send_wr *bad;
    struct ibv_wc wc;
    int n;

    check("ibv_post_send", ibv_post_send(qp, wr, &bad));
    while ((n = ibv_poll_cq(qp->send_cq, 1, &wc)) == 0)
        check("wait for a completion", time(NULL) < deadline ? 0 : ETIMEDOUT);
    if (n < 0 || wc.status != IBV_WC_SUCCESS)
        errx(1, "completion: %s", n < 0 ? "ibv_poll_cq failed" : ibv_wc_status_str(wc.status));
}

int main(int argc, char **argv)
{
    int gid_index = 0, option;
    char ready = 0, memory[64] = "";

    while ((option = getopt(argc, argv, "g:")) != -1)
        if (option != 'g' || sscanf(optarg, "%d", &gid_index) != 1)
            errx(1, "usage: one_sided [-g GID_INDEX] [HOST | - [PORT]]");
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
    struct ibv_mr *mr =
        ibv_reg_mr(pd, memory, sizeof(memory),
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
    check("ibv_reg_mr", mr ? 0 : -1);
    struct ibv_cq *cq = ibv_create_cq(context, 1, NULL, NULL, 0);
    check("ibv_create_cq", cq ? 0 : -1);
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
    attr.cap = (struct ibv_qp_cap){.max_send_wr = 1, .max_send_sge = 1};
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    check("ibv_create_qp", qp ? 0 : -1);
    connect_qp(qp, tcp, gid_index);

    uint64_t remote[] = {htobe64((uintptr_t)memory), htobe64(mr->rkey)};
    snprintf(memory, sizeof(memory), "written by the %s", me);
    exchange(tcp, remote, sizeof(remote)); /* now the server's memory can be accessed */
    if (host) {
        struct ibv_sge local = {(uintptr_t)memory, sizeof(memory), mr->lkey};
        struct ibv_send_wr wr = {.sg_list = &local, .num_sge = 1, .opcode = IBV_WR_RDMA_READ};
        wr.send_flags = IBV_SEND_SIGNALED;
        wr.wr.rdma.remote_addr = be64toh(remote[0]);
        wr.wr.rdma.rkey = (uint32_t)be64toh(remote[1]);
        printf("client: the server's memory has rkey 0x%x\n", wr.wr.rdma.rkey);
        execute(qp, &wr);
        printf("client: READ brought \"%s\"\n", memory);
        snprintf(memory, sizeof(memory), "written by the client");
        wr.opcode = IBV_WR_RDMA_WRITE;
        execute(qp, &wr);
        printf("client: WRITE has changed the server's memory\n");
    }
    exchange(tcp, &ready, 1); /* the client says that it has completed */
    if (!host)
        printf("server: my memory holds \"%s\"; I have posted nothing, polled nothing\n", memory);
    return 0; /* closing the device and destroying its objects is left to the end of the process */
}
