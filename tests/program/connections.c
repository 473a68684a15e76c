/* SPDX-License-Identifier: MIT */
/* All requests of a program to rdma_cm, on one host, which connects to itself.
 *
 * usage: rdmalab exec HOST -- connections
 *
 * Debian's librdmacm is between the program and the lab.  The checks are about what a kernel has to
 * do for a process: descriptors, threads, signals, fork(); and about events and their order.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(x)     check_at((x), #x, __LINE__)
#define THREADS      8
#define IDS          50
#define SIGNALS      10
#define HANG_S       20 /* longer than anything takes */
#define ANY_PORT     0
#define RESOLVE_MS   2000
#define REQUEST_DATA 56 /* bytes of private data that the peer gets with a request */

static int n_passed, n_failed;
static struct sockaddr_in host; /* the address of this host */

static void check_at(bool ok, const char *text, int line)
{
    if (ok)
        n_passed++;
    else if (++n_failed)
        printf("connections.c:%d: %s (errno %d)\n", line, text, errno);
    fflush(stdout);
}

static bool is_readable(int fd, int ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, ms) == 1 && (p.revents & POLLIN);
}

/* Takes the next event, acknowledges it, and returns its kind, or -1.  *@id is its ID. */
static int next_event(struct rdma_event_channel *ch, struct rdma_cm_id **id, int *status)
{
    struct rdma_cm_event *e;
    int kind;

    if (rdma_get_cm_event(ch, &e) != 0)
        return -1;
    kind = (int)e->event;
    if (id)
        *id = e->id;
    if (status)
        *status = e->status;
    rdma_ack_cm_event(e);
    return kind;
}

static struct rdma_cm_id *new_id(struct rdma_event_channel *ch)
{
    struct rdma_cm_id *id = NULL;

    CHECK(rdma_create_id(ch, &id, NULL, RDMA_PS_TCP) == 0);
    return id;
}

/* Returns an ID that listens at a port of its own. */
static struct rdma_cm_id *new_listener(struct rdma_event_channel *ch, int backlog)
{
    struct rdma_cm_id *id = new_id(ch);
    struct sockaddr_in at = host;

    at.sin_port = ANY_PORT;
    CHECK(rdma_bind_addr(id, (struct sockaddr *)&at) == 0);
    CHECK(rdma_listen(id, backlog) == 0);
    return id;
}

/* Returns an ID that knows the way to @port of this host. */
static struct rdma_cm_id *new_caller(struct rdma_event_channel *ch, uint16_t port)
{
    struct rdma_cm_id *id = new_id(ch);
    struct sockaddr_in to = host;

    to.sin_port = port;
    CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, RESOLVE_MS) == 0);
    CHECK(next_event(ch, NULL, NULL) == RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
    CHECK(next_event(ch, NULL, NULL) == RDMA_CM_EVENT_ROUTE_RESOLVED);
    return id;
}

static int new_qp(struct rdma_cm_id *id)
{
    struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC};

    attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    return rdma_create_qp(id, NULL, &attr);
}

/* A channel's descriptor can be read exactly while there are events. */
static void test_descriptor(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    struct rdma_cm_id *id = new_id(ch);
    struct epoll_event ready = {.events = EPOLLIN | EPOLLET};
    struct sockaddr_in to = host;
    int set = epoll_create1(0);

    CHECK(!is_readable(ch->fd, 0));
    CHECK(fcntl(ch->fd, F_SETFL, O_NONBLOCK) == 0);
    CHECK(next_event(ch, NULL, NULL) == -1 && errno == EAGAIN);
    CHECK(epoll_ctl(set, EPOLL_CTL_ADD, ch->fd, &ready) == 0);
    for (int round = 0; round < 3; round++) {
        struct rdma_cm_id *again = round ? new_id(ch) : id;

        CHECK(rdma_resolve_addr(again, NULL, (struct sockaddr *)&to, RESOLVE_MS) == 0);
        CHECK(epoll_wait(set, &ready, 1, -1) == 1); /* an edge each time */
        CHECK(is_readable(ch->fd, 0));
        CHECK(next_event(ch, NULL, NULL) == RDMA_CM_EVENT_ADDR_RESOLVED);
        CHECK(!is_readable(ch->fd, 0));
        CHECK(next_event(ch, NULL, NULL) == -1 && errno == EAGAIN);
        if (round)
            CHECK(rdma_destroy_id(again) == 0);
    }
    CHECK(rdma_resolve_route(id, RESOLVE_MS) == 0);
    CHECK(is_readable(ch->fd, -1));
    CHECK(rdma_destroy_id(id) == 0); /* its event goes with it */
    CHECK(!is_readable(ch->fd, 0));
    close(set);
    rdma_destroy_event_channel(ch);
}

/* The attributes with which librdmacm moved the queue pair of test_connection(). */
static void check_attributes(struct rdma_cm_id *id)
{
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
    int mask = 0;

    CHECK(rdma_init_qp_attr(id, &attr, &mask) == 0);
    CHECK((mask & IBV_QP_AV) && attr.ah_attr.is_global == 1 && attr.ah_attr.grh.hop_limit == 64);
    CHECK(attr.max_dest_rd_atomic == 3);
    attr.qp_state = IBV_QPS_RTS;
    CHECK(rdma_init_qp_attr(id, &attr, &mask) == 0);
    CHECK(attr.retry_cnt == 5);
}

/* Everything from the first call to TIMEWAIT_EXIT.  Both sides are in one channel. */
static void test_connection(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    struct rdma_cm_id *listener = new_listener(ch, 4), *passive;
    struct rdma_cm_id *active = new_caller(ch, rdma_get_src_port(listener));
    struct rdma_conn_param param = {.private_data = "hi", .private_data_len = 2};
    struct rdma_cm_event *e;
    int n_established = 0, n_disconnected = 0, n_timewait = 0;

    param.responder_resources = 3;
    param.initiator_depth = 2;
    param.retry_count = 5;
    param.rnr_retry_count = 3;
    CHECK(new_qp(active) == 0);
    CHECK(rdma_connect(active, &param) == 0);
    CHECK(rdma_get_cm_event(ch, &e) == 0);
    CHECK(e->event == RDMA_CM_EVENT_CONNECT_REQUEST && e->listen_id == listener);
    CHECK(e->param.conn.private_data_len == REQUEST_DATA);
    CHECK(memcmp(e->param.conn.private_data, "hi\0", 3) == 0);
    CHECK(e->param.conn.responder_resources == 2 && e->param.conn.initiator_depth == 3);
    CHECK(e->param.conn.retry_count == 5 && e->param.conn.rnr_retry_count == 3);
    passive = e->id;
    CHECK(rdma_ack_cm_event(e) == 0);
    CHECK(rdma_get_dst_port(active) == rdma_get_src_port(listener));
    CHECK(rdma_get_dst_port(passive) == rdma_get_src_port(active));
    CHECK(passive->route.num_paths == 1 && active->route.num_paths == 1);
    CHECK(memcmp(&active->route.path_rec->dgid, &active->route.addr.addr.ibaddr.dgid, 16) == 0);
    CHECK(active->route.path_rec->reversible == 1 && active->route.path_rec->hop_limit == 64);
    CHECK(active->route.path_rec->pkey == 0xffff && active->route.path_rec->mtu == IBV_MTU_4096);
    CHECK(new_qp(passive) == 0);
    CHECK(rdma_accept(passive, NULL) == 0);
    for (int i = 0; i < 2; i++)
        n_established += next_event(ch, NULL, NULL) == RDMA_CM_EVENT_ESTABLISHED;
    CHECK(n_established == 2);
    check_attributes(active);
    CHECK(rdma_disconnect(active) == 0);
    CHECK(next_event(ch, &passive, NULL) == RDMA_CM_EVENT_DISCONNECTED && passive != active);
    CHECK(rdma_disconnect(passive) == 0);
    for (int i = 0; i < 3; i++) {
        const int kind = next_event(ch, NULL, NULL);

        n_disconnected += kind == RDMA_CM_EVENT_DISCONNECTED;
        n_timewait += kind == RDMA_CM_EVENT_TIMEWAIT_EXIT;
    }
    CHECK(n_disconnected == 1 && n_timewait == 2);
    rdma_destroy_qp(active);
    rdma_destroy_qp(passive);
    CHECK(rdma_destroy_id(active) == 0);
    CHECK(rdma_destroy_id(passive) == 0);
    CHECK(rdma_destroy_id(listener) == 0);
    rdma_destroy_event_channel(ch);
}

/* A request that is refused, a port where nobody listens, an address that nobody has. */
static void test_refusals(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    struct rdma_cm_id *listener = new_listener(ch, 4), *passive, *other = new_id(ch);
    struct rdma_cm_id *active = new_caller(ch, rdma_get_src_port(listener));
    struct rdma_conn_param param = {.retry_count = 7};
    struct sockaddr_in at = host;
    int status = 0;

    CHECK(new_qp(active) == 0);
    CHECK(rdma_connect(active, &param) == 0);
    CHECK(next_event(ch, &passive, NULL) == RDMA_CM_EVENT_CONNECT_REQUEST);
    CHECK(rdma_reject(passive, NULL, 0) == 0);
    CHECK(next_event(ch, NULL, &status) == RDMA_CM_EVENT_REJECTED && status == 28);
    CHECK(rdma_accept(passive, &param) == -1 && errno == EINVAL);
    CHECK(rdma_destroy_id(passive) == 0);
    CHECK(rdma_bind_addr(other, rdma_get_local_addr(listener)) == -1 && errno == EADDRINUSE);
    at.sin_addr.s_addr ^= htonl(0xc0); /* 10.0.0.193 */
    CHECK(rdma_bind_addr(other, (struct sockaddr *)&at) == -1 && errno == EADDRNOTAVAIL);
    CHECK(rdma_resolve_addr(other, NULL, (struct sockaddr *)&at, RESOLVE_MS) == 0);
    CHECK(next_event(ch, NULL, &status) == RDMA_CM_EVENT_ADDR_ERROR && status < 0);
    rdma_destroy_qp(active);
    CHECK(rdma_destroy_id(active) == 0);
    active = new_caller(ch, htons(9));
    CHECK(new_qp(active) == 0);
    CHECK(rdma_connect(active, &param) == 0);
    CHECK(next_event(ch, NULL, &status) == RDMA_CM_EVENT_REJECTED && status == 8);
    rdma_destroy_qp(active);
    CHECK(rdma_destroy_id(active) == 0);
    CHECK(rdma_destroy_id(other) == 0);
    CHECK(rdma_destroy_id(listener) == 0);
    rdma_destroy_event_channel(ch);
}

static void test_options(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    struct rdma_cm_id *one = new_id(ch), *two = new_id(ch), *datagrams = NULL;
    struct sockaddr_in at = host;
    uint8_t timeout = 9, tos = 0x20;
    int yes = 1;

    CHECK(rdma_set_option(one, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof(yes)) == 0);
    CHECK(rdma_set_option(two, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &yes, sizeof(yes)) == 0);
    CHECK(rdma_set_option(one, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1) == 0);
    CHECK(rdma_set_option(one, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1) == 0);
    CHECK(rdma_set_option(one, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &yes, sizeof(yes)) == -1);
    CHECK(rdma_set_option(one, RDMA_OPTION_ID, 77, &yes, sizeof(yes)) == -1 && errno == ENOSYS);
    timeout = 32;
    CHECK(rdma_set_option(one, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1) == -1);
    CHECK(rdma_create_id(ch, &datagrams, NULL, RDMA_PS_UDP) == 0);
    timeout = 9;
    CHECK(rdma_set_option(datagrams, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, 1) ==
          -1);
    CHECK(rdma_bind_addr(one, (struct sockaddr *)&at) == 0);
    at.sin_port = rdma_get_src_port(one);
    CHECK(rdma_bind_addr(two, (struct sockaddr *)&at) == 0); /* both have REUSEADDR */
    CHECK(rdma_listen(one, 1) == -1 && errno == EADDRINUSE);
    CHECK(rdma_destroy_id(two) == 0);
    CHECK(rdma_listen(one, 1) == 0);
    CHECK(rdma_destroy_id(datagrams) == 0);
    CHECK(rdma_destroy_id(one) == 0);
    rdma_destroy_event_channel(ch);
}

/* An ID moves to another channel, and an event that waits moves with it. */
static void test_migration(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel(), *to = rdma_create_event_channel();
    struct rdma_cm_id *id = new_id(ch), *listener = new_listener(ch, 4), *active, *passive;
    struct rdma_conn_param param = {.retry_count = 7};

    CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&host, RESOLVE_MS) == 0);
    CHECK(is_readable(ch->fd, -1));
    CHECK(rdma_migrate_id(id, to) == 0 && id->channel == to);
    CHECK(!is_readable(ch->fd, 0) && is_readable(to->fd, 0));
    CHECK(next_event(to, NULL, NULL) == RDMA_CM_EVENT_ADDR_RESOLVED);
    active = new_caller(ch, rdma_get_src_port(listener));
    CHECK(new_qp(active) == 0);
    CHECK(rdma_connect(active, &param) == 0);
    CHECK(is_readable(ch->fd, -1));
    CHECK(rdma_migrate_id(listener, to) == 0); /* with the request that waits */
    CHECK(!is_readable(ch->fd, 0));
    CHECK(next_event(to, &passive, NULL) == RDMA_CM_EVENT_CONNECT_REQUEST);
    CHECK(rdma_destroy_id(passive) == 0);
    rdma_destroy_qp(active);
    CHECK(rdma_destroy_id(active) == 0);
    CHECK(rdma_destroy_id(listener) == 0);
    CHECK(rdma_destroy_id(id) == 0);
    rdma_destroy_event_channel(to);
    rdma_destroy_event_channel(ch);
}

/* A thread that waits for events. */
struct waiter {
    struct rdma_event_channel *ch;
    atomic_int number; /* of the thread, which is about to wait; 0: not yet */
};

static void *wait_for_ever(void *waiter)
{
    struct waiter *w = waiter;

    w->number = gettid();
    return (void *)(intptr_t)next_event(w->ch, NULL, NULL);
}

static void on_signal(int number)
{
    (void)number;
}

/* Waits until the thread of @w sleeps, however busy the machine is, and a while more. */
static void wait_until_it_sleeps(const struct waiter *w)
{
    const struct timespec t = {.tv_nsec = 10000000};
    char path[64], state = 0;
    FILE *stat;

    while (state != 'S') {
        const int number = w->number;

        nanosleep(&t, NULL);
        snprintf(path, sizeof(path), "/proc/self/task/%d/stat", number);
        stat = number ? fopen(path, "r") : NULL;
        if (stat && fscanf(stat, "%*d (%*[^)]) %c", &state) != 1)
            state = 0;
        if (stat)
            fclose(stat);
    }
    nanosleep(&t, NULL);
}

/* Starts a thread with @w, and waits until it sleeps. */
static pthread_t start_waiter(struct waiter *w)
{
    pthread_t thread;

    w->number = 0;
    CHECK(pthread_create(&thread, NULL, wait_for_ever, w) == 0);
    wait_until_it_sleeps(w);
    return thread;
}

/* A thread that waits gets an event, is cancelled, is interrupted. */
static void test_waiting(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    struct rdma_cm_id *id = new_id(ch);
    struct sigaction action = {.sa_handler = on_signal};
    struct waiter w = {.ch = ch};
    pthread_t thread = start_waiter(&w);
    void *result;

    CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&host, RESOLVE_MS) == 0);
    CHECK(pthread_join(thread, &result) == 0 && (intptr_t)result == RDMA_CM_EVENT_ADDR_RESOLVED);
    thread = start_waiter(&w);
    CHECK(pthread_cancel(thread) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    CHECK(sigaction(SIGUSR1, &action, NULL) == 0); /* without SA_RESTART */
    for (int i = 0; i < SIGNALS; i++) {
        thread = start_waiter(&w);
        CHECK(pthread_kill(thread, SIGUSR1) == 0);
        CHECK(pthread_join(thread, &result) == 0 && (intptr_t)result == -1);
    }
    CHECK(rdma_destroy_id(id) == 0); /* and the channel still works */
    rdma_destroy_event_channel(ch);
}

static void *many_ids(void *counter)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    intptr_t good = 0;

    (void)counter;
    for (int i = 0; i < IDS; i++) {
        struct rdma_cm_id *id;

        if (rdma_create_id(ch, &id, NULL, RDMA_PS_TCP) == 0 &&
            rdma_resolve_addr(id, NULL, (struct sockaddr *)&host, RESOLVE_MS) == 0 &&
            next_event(ch, NULL, NULL) == RDMA_CM_EVENT_ADDR_RESOLVED && rdma_destroy_id(id) == 0)
            good++;
    }
    rdma_destroy_event_channel(ch);
    return (void *)good;
}

static void test_threads(void)
{
    pthread_t threads[THREADS];
    intptr_t good = 0;

    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, many_ids, NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;

        CHECK(pthread_join(threads[i], &result) == 0);
        good += (intptr_t)result;
    }
    CHECK(good == THREADS * IDS);
}

/* The child of a fork has a descriptor of its parent's channel, and can make channels of its own.
 */
static void test_fork(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    struct rdma_cm_id *id = new_id(ch);
    int status = -1;
    const pid_t child = fork();

    if (child == 0) {
        struct rdma_event_channel *own;
        struct rdma_cm_id *made;
        bool good = rdma_resolve_addr(id, NULL, (struct sockaddr *)&host, RESOLVE_MS) == -1 &&
                    errno == ENODEV;

        own = rdma_create_event_channel();
        good = good && own && rdma_create_id(own, &made, NULL, RDMA_PS_TCP) == 0 &&
               rdma_destroy_id(made) == 0;
        _exit(good ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&host, RESOLVE_MS) == 0);
    CHECK(next_event(ch, NULL, NULL) == RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK(rdma_destroy_id(id) == 0);
    rdma_destroy_event_channel(ch);
}

/* The program closes a channel's descriptor itself, and another file gets its number. */
static void test_closed_by_hand(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    struct rdma_cm_id *id = new_id(ch);
    int ends[2];

    CHECK(pipe(ends) == 0);
    CHECK(close(ch->fd) == 0);
    CHECK(dup2(ends[1], ch->fd) == ch->fd);
    CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&host, RESOLVE_MS) == 0); /* into a pipe */
    CHECK(is_readable(ends[0], 0));
    close(ch->fd);
    close(ends[0]);
    close(ends[1]);
    ch = rdma_create_event_channel();
    id = new_id(ch);
    CHECK(rdma_destroy_id(id) == 0);
    rdma_destroy_event_channel(ch);
}

/* The program closes a channel's descriptor itself, and opens a channel with the same number: what
 * the first one had is gone.
 */
static void test_number_again(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel(), *again;
    struct rdma_cm_id *listener = new_listener(ch, 4), *id;
    struct sockaddr_in at = host;

    at.sin_port = rdma_get_src_port(listener);
    CHECK(close(ch->fd) == 0);
    again = rdma_create_event_channel();
    CHECK(again->fd == ch->fd);
    id = new_id(again);
    CHECK(rdma_bind_addr(id, (struct sockaddr *)&at) == 0);
    CHECK(rdma_destroy_id(id) == 0);
    rdma_destroy_event_channel(again);
}

/* Another descriptor of the same file is as good as the first one. */
static void test_duplicate(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    struct rdma_cm_id *id = new_id(ch);
    const int other = dup(ch->fd);

    CHECK(close(ch->fd) == 0);
    ch->fd = other;
    CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&host, RESOLVE_MS) == 0);
    CHECK(next_event(ch, NULL, NULL) == RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK(rdma_destroy_id(id) == 0);
    rdma_destroy_event_channel(ch);
}

/* A file lives as long as it has a descriptor that the library has not seen yet. */
static void test_unseen_duplicate(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel(), *next;
    struct rdma_cm_id *id = new_id(ch);
    const int other = dup(ch->fd);

    CHECK(close(ch->fd) == 0);
    next = rdma_create_event_channel();
    ch->fd = other;
    CHECK(rdma_resolve_addr(id, NULL, (struct sockaddr *)&host, RESOLVE_MS) == 0);
    CHECK(next_event(ch, NULL, NULL) == RDMA_CM_EVENT_ADDR_RESOLVED);
    CHECK(rdma_destroy_id(id) == 0);
    rdma_destroy_event_channel(ch);
    rdma_destroy_event_channel(next);
}

static void *open_canceled(void *unused)
{
    CHECK(pthread_cancel(pthread_self()) == 0); /* at the next call that can be cancelled */
    rdma_create_event_channel();
    return unused;
}

/* A thread that is cancelled while it opens the first channel of a process leaves no lock behind.
 */
static void test_canceled(void)
{
    const pid_t child = fork();
    struct rdma_event_channel *ch;
    int status = -1;

    if (child == 0) {
        pthread_t thread;

        alarm(HANG_S);
        if (pthread_create(&thread, NULL, open_canceled, NULL) != 0 ||
            pthread_join(thread, NULL) != 0)
            _exit(1);
        ch = rdma_create_event_channel();
        _exit(ch ? 0 : 2);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* A process that has no descriptor left gets no channel, and one when it has. */
static void test_no_descriptor(void)
{
    struct rlimit before, none;
    struct rdma_event_channel *ch;
    const int next = dup(0);

    close(next);
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = before;
    none.rlim_cur = (rlim_t)next;
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK(rdma_create_event_channel() == NULL && errno == EMFILE);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    ch = rdma_create_event_channel();
    CHECK(ch && ch->fd == next);
    rdma_destroy_event_channel(ch);
}

static void *take_share(void *waiter)
{
    struct waiter *w = waiter;
    intptr_t good = 0;

    w->number = gettid();
    for (int i = 0; i < IDS; i++)
        good += next_event(w->ch, NULL, NULL) == RDMA_CM_EVENT_ADDR_RESOLVED;
    return (void *)good;
}

/* Threads wait for events of one channel, and each gets as many as it waits for. */
static void test_shared_channel(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    struct rdma_cm_id *ids[THREADS * IDS];
    struct waiter waiters[THREADS] = {{.ch = NULL}};
    pthread_t threads[THREADS];
    void *result;

    for (int i = 0; i < THREADS; i++) {
        waiters[i].ch = ch;
        CHECK(pthread_create(&threads[i], NULL, take_share, &waiters[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        wait_until_it_sleeps(&waiters[i]);
    for (int i = 0; i < THREADS * IDS; i++) {
        ids[i] = new_id(ch);
        CHECK(rdma_resolve_addr(ids[i], NULL, (struct sockaddr *)&host, RESOLVE_MS) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], &result) == 0 && (intptr_t)result == IDS);
    CHECK(!is_readable(ch->fd, 0));
    for (int i = 0; i < THREADS * IDS; i++)
        CHECK(rdma_destroy_id(ids[i]) == 0);
    rdma_destroy_event_channel(ch);
}

int main(void)
{
    struct rdma_event_channel *ch = rdma_create_event_channel();
    union ibv_gid gid;
    int n = 0;
    struct ibv_context **devices = rdma_get_devices(&n);

    CHECK(ch && n == 1);
    if (n_failed)
        return 1;
    CHECK(ibv_query_gid(devices[0], 1, 0, &gid) == 0);
    rdma_free_devices(devices);
    host.sin_family = AF_INET;
    memcpy(&host.sin_addr, gid.raw + 12, sizeof(host.sin_addr));
    test_descriptor();
    test_connection();
    test_refusals();
    test_options();
    test_migration();
    test_waiting();
    test_threads();
    test_fork();
    test_closed_by_hand();
    test_number_again();
    test_duplicate();
    test_unseen_duplicate();
    test_canceled();
    test_no_descriptor();
    test_shared_channel();
    rdma_destroy_event_channel(ch);
    printf("%d passed, %d failed\n", n_passed, n_failed);
    return n_failed != 0;
}
