/* SPDX-License-Identifier: MIT */
/* The connection to the lab: its socket, its page, and the calls.
 *
 * The lab can end at any time.  The next call finds the end of the socket; a program that only
 * polls and posts makes no call, and looks at the socket now and then (connection_idle()).
 */
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "program/ibverbs/internal.h"

#define PAGE_BYTES  sizeof(struct program_page)
#define FDS_MAX     4
#define FRAMES_MAX  8    /* of the library, an inline function, and its caller */
#define YIELDS_IDLE 4u   /* an empty poll of so many yields the processor */
#define LOOKS_IDLE  256u /* and one of so many looks whether the lab has ended */

/* Receives one message of @bytes, and up to FDS_MAX descriptors with it.  Returns false at the end
 * of the socket, and for a message of another length.
 */
static bool receive(int fd, void *to, size_t bytes, int fds[FDS_MAX], size_t *ret_n)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(FDS_MAX * sizeof(int))];
    } control;
    struct iovec v = {to, bytes};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    struct cmsghdr *head;
    ssize_t got;

    do
        got = recvmsg(fd, &m, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    *ret_n = 0;
    head = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
        *ret_n = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(fds, CMSG_DATA(head), *ret_n * sizeof(int));
    }
    return got == (ssize_t)bytes;
}

/* Sends the first message, with a descriptor of the memory of this process.  Returns false, with
 * errno and the reason in @why, on failure.
 */
static bool say_hello(int fd, char why[PROGRAM_WHY_BYTES])
{
    const char *host = getenv(PROGRAM_ENV_HOST);
    struct program_hello hello = {.magic = PROGRAM_MAGIC, .version = PROGRAM_VERSION};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec v = {&hello, sizeof(hello)};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
    int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    ssize_t sent;

    if (memory < 0) {
        snprintf(why, PROGRAM_WHY_BYTES, "/proc/self/mem: %s", strerror(errno));
        return false;
    }
    snprintf(hello.host, sizeof(hello.host), "%s", host ? host : "");
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &memory, sizeof(int));
    do
        sent = sendmsg(fd, &m, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)sizeof(hello))
        snprintf(why, PROGRAM_WHY_BYTES, "%s", strerror(errno));
    close(memory);
    return sent == (ssize_t)sizeof(hello);
}

static int connect_to_lab(void)
{
    const char *path = getenv(PROGRAM_ENV_SOCKET);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int fd, error;

    if (!path || strlen(path) >= sizeof(name.sun_path)) {
        errno = path ? ENAMETOOLONG : ENOENT;
        return -1;
    }
    snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&name, sizeof(name)) != 0) {
        error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static void close_all(const int *fds, size_t n)
{
    for (size_t i = 0; i < n; i++)
        close(fds[i]);
}

/* Maps the page of the lab, and the page that a fork() clears. */
static int map_pages(struct lab_connection *c, int page_fd)
{
    const size_t size = (size_t)sysconf(_SC_PAGESIZE);
    struct stat st;
    void *alive, *page;

    if (fstat(page_fd, &st) != 0 || (uint64_t)st.st_size < PAGE_BYTES)
        return EPROTO;
    page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
    if (page == MAP_FAILED)
        return errno;
    alive = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (alive == MAP_FAILED) {
        munmap(page, PAGE_BYTES);
        return ENOMEM;
    }
    /* Without WIPEONFORK, which Linux 4.14 has, a child is not recognised. */
    madvise(alive, size, MADV_WIPEONFORK);
    madvise(page, PAGE_BYTES, MADV_DONTFORK);
    *(volatile uint8_t *)alive = 1;
    c->alive = alive;
    c->page = page;
    return 0;
}

/* Receives the lab's answer to the first message. */
static int welcome(struct lab_connection *c, char why[PROGRAM_WHY_BYTES])
{
    struct program_welcome w = {.magic = 0};
    int fds[FDS_MAX], error;
    size_t n;

    if (!receive(c->fd, &w, sizeof(w), fds, &n) || w.magic != PROGRAM_MAGIC) {
        close_all(fds, n);
        snprintf(why, PROGRAM_WHY_BYTES, "the lab does not answer");
        return EPROTO;
    }
    error = w.error;
    if (error)
        snprintf(why, PROGRAM_WHY_BYTES, "%.*s", (int)sizeof(w.why) - 1, w.why);
    else if (n != PROGRAM_WELCOME_FDS || (error = map_pages(c, fds[0])) != 0)
        snprintf(why, PROGRAM_WHY_BYTES, "the lab's memory cannot be used");
    if (error || n != PROGRAM_WELCOME_FDS) {
        close_all(fds, n);
        return error ? error : EPROTO;
    }
    close(fds[0]);
    c->wake = fds[1];
    c->async_fd = fds[2];
    c->device = w.device;
    return 0;
}

int connection_open(struct lab_connection *c, char why[PROGRAM_WHY_BYTES])
{
    int error;

    memset(c, 0, sizeof(*c));
    c->fd = connect_to_lab();
    if (c->fd < 0) {
        error = errno;
        snprintf(why, PROGRAM_WHY_BYTES, "%s", strerror(error));
        return error;
    }
    if (say_hello(c->fd, why))
        error = welcome(c, why);
    else
        error = errno ? errno : EPROTO;
    if (error) {
        close(c->fd);
        return error;
    }
    pthread_mutex_init(&c->call_lock, NULL);
    pthread_mutex_init(&c->post_lock, NULL);
    c->posted = atomic_load(&c->page->posted);
    return 0;
}

void connection_close(struct lab_connection *c)
{
    atomic_store(&c->over, 1);
    close(c->fd);
    close(c->wake);
    close(c->async_fd);
    if (!*c->alive)
        return;
    munmap(c->page, PAGE_BYTES); /* but not @alive, which calls read first */
    c->page = NULL;
}

void connection_free(struct lab_connection *c)
{
    munmap((void *)(uintptr_t)c->alive, (size_t)sysconf(_SC_PAGESIZE));
}

void call_init(struct program_call *call, enum program_op op)
{
    memset(call, 0, sizeof(*call));
    call->op = op;
}

struct maker maker_inline(uint32_t function, void *caller)
{
    void *frames[FRAMES_MAX];
    const int n = backtrace(frames, FRAMES_MAX);
    struct maker m = {function, {(uintptr_t)caller}};

    for (int i = 0; i + 1 < n; i++) {
        if (frames[i] == caller)
            m.callers[1] = (uintptr_t)frames[i + 1];
    }
    return m;
}

void call_init_by(struct program_call *call, enum program_op op, const struct maker *m)
{
    call_init(call, op);
    call->maker = m->function;
    memcpy(call->callers, m->callers, sizeof(call->callers));
}

/* The interruption of a WAIT. */
struct wait {
    const sigset_t *mask; /* of the signals that do not interrupt it; NULL: that of the thread */
    bool is_interrupted;
};

/* Sends a call.  Returns false if the lab has ended. */
static bool send_call(struct lab_connection *c, const struct program_call *call)
{
    ssize_t sent;

    atomic_fetch_add(&c->page->called, 1);
    do
        sent = send(c->fd, call, sizeof(*call), MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof(*call);
}

/* Sends a call that has no answer.  If it is lost, the lab has ended. */
static void nudge(struct lab_connection *c)
{
    struct program_call call;

    call_init(&call, PROGRAM_NUDGE);
    (void)send_call(c, &call);
}

/* Waits for the answer of a WAIT, and ends it if a signal comes that @mask does not block; NULL:
 * that the thread does not block.  Returns true if one came.  The lab sees in both calls
 * that the thread waits for it: awaits_message() in exec_waits.c.
 */
static bool is_interrupted(struct lab_connection *c, const sigset_t *mask)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    char byte;
    struct iovec part = {&byte, sizeof(byte)};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    const ssize_t got = mask ? ppoll(&p, 1, NULL, mask) : recvmsg(c->fd, &m, MSG_PEEK);

    if (got >= 0 || errno != EINTR)
        return false;
    nudge(c);
    return true;
}

/* Sends @call and receives its answer.  Returns 0, or EIO if the lab has ended. */
static int exchange(struct lab_connection *c, const struct program_call *call,
                    struct program_answer *ret, int *fd, struct wait *wait)
{
    int fds[FDS_MAX];
    size_t n;
    bool is_answer;

    if (!send_call(c, call))
        return EIO;
    if (wait)
        wait->is_interrupted = is_interrupted(c, wait->mask);
    is_answer = receive(c->fd, ret, sizeof(*ret), fds, &n) && ret->serial == call->serial;
    *fd = is_answer && !ret->error && n > 0 ? fds[0] : -1;
    close_all(fds + (*fd >= 0 ? 1 : 0), n - (*fd >= 0 ? 1 : 0));
    return is_answer ? 0 : EIO;
}

/* Makes a call.  The caller has call_lock, with which a thread must not be cancelled.  On success
 * errno stays that of the program: librdmacm makes calls after the one that has failed.
 */
static int call_locked(struct lab_connection *c, struct program_call *call,
                       struct program_answer *ret, int *fd, struct wait *wait)
{
    const int errno_before = errno;
    int error, before;

    call->serial = ++c->serial;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    error = exchange(c, call, ret, fd, wait);
    pthread_setcancelstate(before, NULL);
    if (error)
        atomic_store(&c->over, 1);
    else
        errno = errno_before;
    return error;
}

int connection_call(struct lab_connection *c, struct program_call *call, struct program_answer *ret,
                    int *ret_fd)
{
    int error = connection_state(c), fd = -1, before;

    if (ret_fd)
        *ret_fd = -1;
    if (error)
        return error;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before); /* a lost caller would stop time */
    atomic_fetch_add(&c->n_callers, 1);
    if (atomic_load(&c->waits))
        nudge(c);
    pthread_mutex_lock(&c->call_lock);
    error = call_locked(c, call, ret, &fd, NULL);
    pthread_mutex_unlock(&c->call_lock);
    atomic_fetch_sub(&c->n_callers, 1);
    pthread_setcancelstate(before, NULL);
    if (error)
        return error;
    if (ret_fd)
        *ret_fd = fd;
    else if (fd >= 0)
        close(fd);
    return ret->error;
}

int connection_sync(struct lab_connection *c)
{
    struct program_call call;
    struct program_answer answer;

    call_init(&call, PROGRAM_QUERY_GID); /* no request to the device */
    return connection_call(c, &call, &answer, NULL);
}

/* A caller either sees @waits, and nudges, or is seen here. */
int connection_wait(struct lab_connection *c, uint32_t seen, const sigset_t *mask)
{
    struct program_answer answer = {.error = 0};
    struct program_call call;
    int error = connection_state(c), fd;
    struct wait wait = {.mask = mask};
    bool is_news;

    if (error)
        return error;
    call_init(&call, PROGRAM_WAIT);
    pthread_mutex_lock(&c->call_lock);
    atomic_store(&c->waits, 1);
    is_news = atomic_load(&c->n_callers) > 0 || connection_seen(c) != seen;
    if (!is_news) {
        error = call_locked(c, &call, &answer, &fd, &wait);
        atomic_fetch_add(&c->n_waits, 1);
    }
    atomic_store(&c->waits, 0);
    pthread_mutex_unlock(&c->call_lock);
    if (is_news)
        sched_yield();
    return error ? error : wait.is_interrupted ? EINTR : answer.error;
}

void connection_wake(struct lab_connection *c)
{
    const uint64_t one = 1;

    /* The lab sets lab_sleeps before it looks at the page for the last time.  Only one of several
     * posts needs to wake it.
     */
    if (atomic_load(&c->page->lab_sleeps) && atomic_exchange(&c->page->lab_sleeps, 0))
        while (write(c->wake, &one, sizeof(one)) < 0 && errno == EINTR) {
        }
}

void connection_idle(struct lab_connection *c)
{
    const uint32_t n = atomic_fetch_add_explicit(&c->idle, 1, memory_order_relaxed);
    struct pollfd p = {.fd = c->fd, .events = POLLRDHUP};

    /* There is no data to read: only an answer is, and that is another thread's. */
    if (n % LOOKS_IDLE == LOOKS_IDLE - 1 && poll(&p, 1, 0) > 0 &&
        (p.revents & (POLLHUP | POLLERR | POLLRDHUP)))
        atomic_store(&c->over, 1);
    if (n % YIELDS_IDLE != YIELDS_IDLE - 1)
        return;
    atomic_fetch_add_explicit(&c->page->yielded, 1, memory_order_relaxed);
    sched_yield();
}
