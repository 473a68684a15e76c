/* SPDX-License-Identifier: MIT */
/* RDMA READ and WRITE: the client works on the server's memory.
 *
 * The server registers memory and sends its address and key (rkey) over TCP.  The client reads it
 * and writes to it.  The server posts nothing and polls nothing: its device does the work.
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

struct address { /* of a queue pair and of memory; the numbers have network byte order */
    uint64_t memory;
    union ibv_gid gid;
    uint32_t rkey, qpn, psn;
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

    init.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    check("ibv_modify_qp to INIT", ibv_modify_qp(qp, &init, mask));
    rtr.dest_qp_num = ntohl(to->qpn);
    rtr.rq_psn = ntohl(to->psn);
    rtr.min_rnr_timer = 12;     /* a sender that finds no receive waits 0.64 ms */
    rtr.max_dest_rd_atomic = 1; /* READs that the device answers at the same time */
    rtr.ah_attr = (struct ibv_ah_attr){.is_global = 1, .port_num = 1};
    rtr.ah_attr.grh.dgid = to->gid;
    rtr.ah_attr.grh.sgid_index = (uint8_t)gid_index;
    rtr.ah_attr.grh.hop_limit = 64;
    mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
           IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    check("ibv_modify_qp to RTR", ibv_modify_qp(qp, &rtr, mask));
    rts.timeout = 14;      /* without an acknowledgement, retransmit after 67 ms */
    rts.rnr_retry = 7;     /* no limit */
    rts.max_rd_atomic = 1; /* READs that it asks for at the same time */
    mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
           IBV_QP_MAX_QP_RD_ATOMIC;
    check("ibv_modify_qp to RTS", ibv_modify_qp(qp, &rts, mask));
}

/* Reads from or writes to the memory of @peer, and polls until that has completed. */
static void access_memory(struct ibv_qp *qp, enum ibv_wr_opcode opcode, struct ibv_sge *local,
                          const struct address *peer)
{
    struct ibv_send_wr wr = {.sg_list = local, .num_sge = 1, .opcode = opcode}, *bad;
    const time_t deadline = time(NULL) + 10;
    struct ibv_wc wc;
    int n;

    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = be64toh(peer->memory);
    wr.wr.rdma.rkey = ntohl(peer->rkey);
    check("ibv_post_send", ibv_post_send(qp, &wr, &bad));
    while ((n = ibv_poll_cq(qp->send_cq, 1, &wc)) == 0)
        check("wait for a completion", time(NULL) < deadline ? 0 : ETIMEDOUT);
    if (n < 0 || wc.status != IBV_WC_SUCCESS)
        errx(1, "completion: %s", n < 0 ? "ibv_poll_cq failed" : ibv_wc_status_str(wc.status));
}

int main(int argc, char **argv)
{
    int gid_index = -1, option;
    char ready = 0, memory[64] = "";

    while ((option = getopt(argc, argv, "g:")) != -1)
        if (option != 'g' || sscanf(optarg, "%d", &gid_index) != 1)
            errx(1, "usage: one_sided [-g GID_INDEX] [HOST | - [PORT]]");
    const char *host = argc > optind && argv[optind][0] != '-' ? argv[optind] : NULL;
    const char *me = host ? "client" : "server";
    const int tcp = open_tcp(host, argc > optind + 1 ? argv[optind + 1] : "18516");

    struct ibv_device **devices = made("ibv_get_device_list", ibv_get_device_list(NULL));
    check("find an RDMA device", devices[0] ? 0 : ENODEV);
    struct ibv_context *context = made("ibv_open_device", ibv_open_device(devices[0]));
    ibv_free_device_list(devices);
    struct ibv_pd *pd = made("ibv_alloc_pd", ibv_alloc_pd(context));
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    struct ibv_mr *mr = made("ibv_reg_mr", ibv_reg_mr(pd, memory, sizeof(memory), access));
    struct ibv_cq *cq = made("ibv_create_cq", ibv_create_cq(context, 1, NULL, NULL, 0));
    struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
    attr.cap = (struct ibv_qp_cap){.max_send_wr = 1, .max_send_sge = 1};
    struct ibv_qp *qp = made("ibv_create_qp", ibv_create_qp(pd, &attr));

    struct address mine = {.qpn = htonl(qp->qp_num)}, theirs;
    mine.psn = htonl((uint32_t)getpid() & 0xffffff); /* any number of 24 bits */
    mine.memory = htobe64((uintptr_t)memory);
    mine.rkey = htonl(mr->rkey);
    gid_index = gid_index < 0 ? choose_gid(context) : gid_index;
    check("ibv_query_gid", ibv_query_gid(context, 1, gid_index, &mine.gid) ? errno : 0);
    exchange(tcp, &mine, &theirs, sizeof(mine));
    connect_qp(qp, ntohl(mine.psn), &theirs, gid_index);
    snprintf(memory, sizeof(memory), "written by the %s", me);
    exchange(tcp, &ready, &ready, 1); /* now the server's memory can be accessed */

    if (host) {
        struct ibv_sge local = {(uintptr_t)memory, sizeof(memory), mr->lkey};
        printf("client: the server's memory is at 0x%llx, rkey 0x%x\n",
               (unsigned long long)be64toh(theirs.memory), ntohl(theirs.rkey));
        access_memory(qp, IBV_WR_RDMA_READ, &local, &theirs);
        printf("client: READ brought \"%s\"\n", memory);
        snprintf(memory, sizeof(memory), "written by the client");
        access_memory(qp, IBV_WR_RDMA_WRITE, &local, &theirs);
        printf("client: WRITE has changed the server's memory\n");
    }
    exchange(tcp, &ready, &ready, 1); /* the client says that it has completed */
    if (!host)
        printf("server: my memory holds \"%s\"; I have posted nothing, polled nothing\n", memory);
    check("ibv_destroy_qp", ibv_destroy_qp(qp));
    check("ibv_destroy_cq", ibv_destroy_cq(cq));
    check("ibv_dereg_mr", ibv_dereg_mr(mr));
    check("ibv_dealloc_pd", ibv_dealloc_pd(pd));
    check("ibv_close_device", ibv_close_device(context) ? errno : 0);
    close(tcp);
    return 0;
}
