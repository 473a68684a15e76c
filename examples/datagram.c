/* SPDX-License-Identifier: MIT */
/* Datagrams between queue pairs that are not connected: unreliable datagram (UD).
 *
 * The client gets the server's address over TCP, and sends through an address handle.  The server
 * answers without an address: it takes the client's from the completion and the GRH of the
 * datagram.
 *
 *     server: ./datagram [-g GID_INDEX]      client: ./datagram [-g GID_INDEX] HOST [PORT]
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { QKEY = 0x1234 }; /* a queue pair drops datagrams that do not carry its Q_Key */

struct address { /* of a queue pair; the number has network byte order */
    uint32_t qpn;
    union ibv_gid gid;
};

struct memory {
    struct ibv_grh grh; /* the device writes it before the data: 40 bytes */
    char in[64], out[64];
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
static void start_qp(struct ibv_qp *qp)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR};
    struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS, .sq_psn = 0};
    const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;

    check("ibv_modify_qp to INIT", ibv_modify_qp(qp, &init, mask));
    check("ibv_modify_qp to RTR", ibv_modify_qp(qp, &rtr, IBV_QP_STATE));
    check("ibv_modify_qp to RTS", ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN));
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

/* Sends @text to queue pair @qpn at @ah, and waits until the device has sent it. */
static void send_text(struct ibv_qp *qp, struct ibv_sge *text, struct ibv_ah *ah, uint32_t qpn)
{
    struct ibv_send_wr wr = {.sg_list = text, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;

    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = qpn;
    wr.wr.ud.remote_qkey = QKEY;
    check("ibv_post_send", ibv_post_send(qp, &wr, &bad));
    wait_for_completion(qp->send_cq);
}

/* Prints the sender's address.  An IPv4 header is in the last 20 of the 40 bytes of @grh. */
static void print_sender(const char *me, const struct ibv_grh *grh, bool is_ipv4, uint32_t qpn)
{
    const int family = is_ipv4 ? AF_INET : AF_INET6;
    const void *address = is_ipv4 ? (const char *)grh + 20 + 12 : (const char *)&grh->sgid;
    char text[INET6_ADDRSTRLEN];

    check("inet_ntop", inet_ntop(family, address, text, sizeof(text)) ? 0 : errno);
    printf("%s: the GRH says that %s is the sender, the completion that QPN %u is\n", me, text,
           qpn);
}

int main(int argc, char **argv)
{
    int gid_index = -1, option;
    struct memory memory = {.in = ""};
    char ready = 0;

    while ((option = getopt(argc, argv, "g:")) != -1)
        if (option != 'g' || sscanf(optarg, "%d", &gid_index) != 1)
            errx(1, "usage: datagram [-g GID_INDEX] [HOST | - [PORT]]");
    const char *host = argc > optind && argv[optind][0] != '-' ? argv[optind] : NULL;
    const char *me = host ? "client" : "server";
    const int tcp = open_tcp(host, argc > optind + 1 ? argv[optind + 1] : "18516");

    struct ibv_device **devices = made("ibv_get_device_list", ibv_get_device_list(NULL));
    check("find an RDMA device", devices[0] ? 0 : ENODEV);
    struct ibv_context *context = made("ibv_open_device", ibv_open_device(devices[0]));
    ibv_free_device_list(devices);
    struct ibv_pd *pd = made("ibv_alloc_pd", ibv_alloc_pd(context));
    struct ibv_mr *mr =
        made("ibv_reg_mr", ibv_reg_mr(pd, &memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE));
    struct ibv_cq *send_cq = made("ibv_create_cq", ibv_create_cq(context, 1, NULL, NULL, 0));
    struct ibv_cq *recv_cq = made("ibv_create_cq", ibv_create_cq(context, 1, NULL, NULL, 0));
    struct ibv_qp_init_attr attr = {.send_cq = send_cq, .recv_cq = recv_cq, .qp_type = IBV_QPT_UD};
    attr.cap = (struct ibv_qp_cap){
        .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1};
    struct ibv_qp *qp = made("ibv_create_qp", ibv_create_qp(pd, &attr));

    struct ibv_sge to = {(uintptr_t)&memory, sizeof(memory.grh) + sizeof(memory.in), mr->lkey};
    struct ibv_recv_wr receive = {.sg_list = &to, .num_sge = 1}, *bad_receive;
    start_qp(qp);
    check("ibv_post_recv", ibv_post_recv(qp, &receive, &bad_receive));

    struct address mine = {.qpn = htonl(qp->qp_num)}, theirs;
    gid_index = gid_index < 0 ? choose_gid(context) : gid_index;
    check("ibv_query_gid", ibv_query_gid(context, 1, gid_index, &mine.gid) ? errno : 0);
    exchange(tcp, &mine, &theirs, sizeof(mine));

    const int bytes = snprintf(memory.out, sizeof(memory.out), "hello from the %s", me) + 1;
    struct ibv_sge from = {(uintptr_t)memory.out, (uint32_t)bytes, mr->lkey};
    struct ibv_ah *ah;
    if (host) {
        struct ibv_ah_attr server = {.is_global = 1, .port_num = 1};
        server.grh.dgid = theirs.gid;
        server.grh.sgid_index = (uint8_t)gid_index;
        server.grh.hop_limit = 64;
        ah = made("ibv_create_ah", ibv_create_ah(pd, &server));
        send_text(qp, &from, ah, ntohl(theirs.qpn));
    }
    struct ibv_wc wc = wait_for_completion(recv_cq);
    printf("%s: received %u bytes: 40 of the GRH, then \"%s\"\n", me, wc.byte_len, memory.in);
    print_sender(me, &memory.grh, IN6_IS_ADDR_V4MAPPED(mine.gid.raw), wc.src_qp);
    if (!host) {
        ah = made("ibv_create_ah_from_wc", ibv_create_ah_from_wc(pd, &wc, &memory.grh, 1));
        send_text(qp, &from, ah, wc.src_qp);
    }
    exchange(tcp, &ready, &ready, 1); /* neither side ends while the other still needs it */
    check("ibv_destroy_ah", ibv_destroy_ah(ah));
    check("ibv_destroy_qp", ibv_destroy_qp(qp));
    check("ibv_destroy_cq", ibv_destroy_cq(recv_cq));
    check("ibv_destroy_cq", ibv_destroy_cq(send_cq));
    check("ibv_dereg_mr", ibv_dereg_mr(mr));
    check("ibv_dealloc_pd", ibv_dealloc_pd(pd));
    check("ibv_close_device", ibv_close_device(context) ? errno : 0);
    close(tcp);
    return 0;
}
