/* SPDX-License-Identifier: MIT */
/* Unreliable datagrams (UD): queue pairs that are not connected.  The client gets the server's
 * address over TCP.  The server takes the client's from the completion and the datagram's GRH.
 *     server: ./datagram [-g GID_INDEX]      client: ./datagram [-g GID_INDEX] HOST [PORT]
 */
#include <err.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { QKEY = 0x1234 }; /* a queue pair drops datagrams that do not carry its Q_Key */

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

/* Moves @qp to INIT, RTR (ready to receive) and RTS (ready to send). */
static void start_qp(struct ibv_qp *qp)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

    check("modify QP to INIT", ibv_modify_qp(qp, &attr, mask));
    attr.qp_state = IBV_QPS_RTR;
    check("modify QP to RTR", ibv_modify_qp(qp, &attr, IBV_QP_STATE));
    attr.qp_state = IBV_QPS_RTS;
    check("modify QP to RTS", ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN));
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

/* Sends @text to queue pair @qpn at @ah, an address handle. */
static void send_text(struct ibv_qp *qp, struct ibv_sge *text, struct ibv_ah *ah, uint32_t qpn)
{
    struct ibv_send_wr wr = {.sg_list = text, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

    check("make an address handle", ah ? 0 : -1);
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = qpn;
    wr.wr.ud.remote_qkey = QKEY;
    check("ibv_post_send", ibv_post_send(qp, &wr, &bad));
    printf("sent to queue pair %u: %s\n", qpn, (char *)(uintptr_t)text->addr);
}

int main(int argc, char **argv)
{
    int gid_index = 0, option;
    char ready = 0;
    struct { /* the device writes the GRH before the data: 40 bytes with the sender's GID */
        struct ibv_grh grh; /* over IPv4, the last 20 bytes are the IPv4 header instead */
        char in[64], out[64];
    } memory = {.in = ""};

    while ((option = getopt(argc, argv, "g:")) != -1)
        if (option != 'g' || sscanf(optarg, "%d", &gid_index) != 1)
            errx(1, "usage: datagram [-g GID_INDEX] [HOST | - [PORT]]");
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
    struct ibv_mr *mr = ibv_reg_mr(pd, &memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
    check("ibv_reg_mr", mr ? 0 : -1);
    struct ibv_cq *cq = ibv_create_cq(context, 2, NULL, NULL, 0);
    check("ibv_create_cq", cq ? 0 : -1);
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UD};
    attr.cap = (struct ibv_qp_cap){
        .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
    struct ibv_qp *qp = ibv_create_qp(pd, &attr);
    check("ibv_create_qp", qp ? 0 : -1);
    start_qp(qp);
    struct ibv_sge to = {(uintptr_t)&memory, sizeof(memory.grh) + sizeof(memory.in), mr->lkey};
    struct ibv_recv_wr receive = {.sg_list = &to, .num_sge = 1}, *bad_receive;
    check("ibv_post_recv", ibv_post_recv(qp, &receive, &bad_receive));
    struct ibv_ah_attr peer = {.is_global = 1, .port_num = 1, .grh.hop_limit = 64};
    uint32_t qpn = htonl(qp->qp_num);
    check("ibv_query_gid", ibv_query_gid(context, 1, gid_index, &peer.grh.dgid));
    peer.grh.sgid_index = (uint8_t)gid_index;
    exchange(tcp, &peer.grh.dgid, sizeof(peer.grh.dgid));
    exchange(tcp, &qpn, sizeof(qpn)); /* now both sides can receive */
    const int bytes = snprintf(memory.out, sizeof(memory.out), "hello from the %s", me) + 1;
    struct ibv_sge from = {(uintptr_t)memory.out, (uint32_t)bytes, mr->lkey};
    if (host)
        send_text(qp, &from, ibv_create_ah(pd, &peer), ntohl(qpn));
    for (int i = 0; i < 2; i++) { /* a send and a receive, in any order */
        struct ibv_wc wc = wait_for_completion(cq);
        if (wc.opcode == IBV_WC_RECV)
            printf("%s: received %u bytes: 40 of GRH, \"%s\"\n", me, wc.byte_len, memory.in);
        if (wc.opcode == IBV_WC_RECV && !host)
            send_text(qp, &from, ibv_create_ah_from_wc(pd, &wc, &memory.grh, 1), wc.src_qp);
    }
    exchange(tcp, &ready, 1); /* neither side ends while the other still needs it */
    return 0; /* closing the device and destroying its objects is left to the end of the process */
}
