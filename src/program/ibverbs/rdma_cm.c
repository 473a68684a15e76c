/* SPDX-License-Identifier: MIT */
/* /dev/infiniband/rdma_cm for librdmacm, which stays that of the machine.
 *
 * redirect.c points calls of librdmacm at the functions below.  They know the descriptors that are
 * files of the lab, and leave all others to the C library.  The lab is the kernel: it reads a
 * command in the memory of this process, and writes the response there.  Only what a kernel does
 * with the process itself is done here: to wait for an event, and to find a file by its descriptor.
 *
 * All files of a process share one connection to the lab, and one list.  A descriptor is found in
 * it by the number of its socket, not by its own: a program may duplicate it, or close it without
 * librdmacm and open another file by the same number.
 *
 * SIMPLIFIED: a file whose descriptors the program has closed by itself is closed in the lab when
 * the program opens the next one, or ends.  If librdmacm closes a descriptor, the file is closed
 * although the program may have another descriptor of it.
 *
 * A thread may wait for an event of a file that another thread closes: rping does so.  In the
 * kernel, the thread keeps waiting until the process ends, because the file lives until its last
 * user has gone.  So it does here.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <rdma/rdma_user_cm.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "program/ibverbs/internal.h"
#include "program/ibverbs/redirect.h"
#include "program/on_host.h"

#define DEVICE          "/dev/infiniband/rdma_cm"
#define MISC_MAJOR      10u /* [Linux, misc_register()] */
#define NETLINK_OF_RDMA 20
#define NO_PROTOCOL     (-7) /* [libnl, NLE_OPNOTSUPP] */

struct cm_file {
    struct cm_file *next;
    struct lab_connection *c;
    uint64_t handle;
    int fd; /* the descriptor by which it was used last */
    dev_t device;
    ino_t socket;     /* the number of its socket, on @device */
    uint32_t n_users; /* calls under way; the last one frees a file that was closed */
    atomic_bool is_closed;
};

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cm_file *files;
static struct lab_connection *connection; /* NULL: there is none yet */

/* --- The connection --------------------------------------------------------------------------- */

/* A child of fork() knows its parent's files, and cannot use them. */
static void in_child(void)
{
    pthread_mutex_init(&files_lock, NULL);
    connection = NULL;
}

static struct lab_connection *new_connection(void)
{
    struct lab_connection *c = calloc(1, sizeof(*c));
    char why[PROGRAM_WHY_BYTES];
    static bool knows_forks;
    int error;

    if (!c)
        return null_because(ENOMEM);
    error = connection_open(c, why);
    if (error) {
        free(c);
        return null_because(error);
    }
    if (!knows_forks)
        pthread_atfork(NULL, NULL, in_child);
    knows_forks = true;
    return c;
}

/* Returns the connection, which is never closed, or NULL and sets errno.  The caller has the lock.
 */
static struct lab_connection *connected(void)
{
    if (!connection)
        connection = new_connection();
    return connection;
}

/* --- Files ------------------------------------------------------------------------------------ */

static int real_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

/* Returns true if @fd is a descriptor of @f. */
static bool names(int fd, const struct cm_file *f)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_ino == f->socket && st.st_dev == f->device;
}

/* Takes @f out of the table.  The caller has the lock. */
static void unlist(struct cm_file *f)
{
    struct cm_file **at = &files;

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
}

/* Closes the file in the lab. */
static void end_file(struct cm_file *f)
{
    struct program_answer answer;
    struct program_call call;

    call_init(&call, PROGRAM_CM_CLOSE);
    call.u.cm_close.file = f->handle;
    (void)connection_call(f->c, &call, &answer, NULL);
    free(f);
}

/* Finds the file of @fd, and becomes a user of it.  NULL: it is none of ours. */
static struct cm_file *use(int fd)
{
    struct cm_file *f;

    pthread_mutex_lock(&files_lock);
    f = files;
    while (f && (f->is_closed || !names(fd, f)))
        f = f->next;
    if (f) {
        f->fd = fd;
        f->n_users++;
    }
    pthread_mutex_unlock(&files_lock);
    return f;
}

/* Looks for another descriptor of @f than f->fd, and uses that from now on.  Returns false if the
 * process has none.
 */
static bool has_duplicate(struct cm_file *f)
{
    DIR *fds = opendir("/proc/self/fd");
    const struct dirent *entry;
    bool found = false;

    while (fds && !found && (entry = readdir(fds))) {
        const int fd = entry->d_name[0] == '.' ? -1 : (int)strtol(entry->d_name, NULL, 10);

        found = fd >= 0 && names(fd, f);
        if (found)
            f->fd = fd;
    }
    if (fds)
        closedir(fds);
    return found;
}

/* Closes the files whose descriptors the program has closed by itself. */
static void close_lost(void)
{
    struct cm_file *f, *next, *lost = NULL;

    pthread_mutex_lock(&files_lock);
    for (f = files; f; f = next) {
        next = f->next;
        if (f->is_closed || names(f->fd, f) || has_duplicate(f))
            continue;
        f->is_closed = true;
        if (f->n_users == 0) {
            unlist(f);
            f->next = lost;
            lost = f;
        }
    }
    pthread_mutex_unlock(&files_lock);
    for (f = lost; f; f = next) {
        next = f->next;
        end_file(f);
    }
}

static void stop_using(struct cm_file *f)
{
    bool is_last;

    pthread_mutex_lock(&files_lock);
    is_last = --f->n_users == 0 && f->is_closed;
    if (is_last)
        unlist(f);
    pthread_mutex_unlock(&files_lock);
    if (is_last)
        end_file(f);
}

static void stop_using_canceled(void *file)
{
    stop_using(file);
}

/* Opens the device in the lab.  Returns a descriptor, or -1 and sets errno. */
static int open_file(struct lab_connection *c, int flags)
{
    struct cm_file *f = calloc(1, sizeof(*f));
    struct program_answer answer;
    struct program_call call;
    struct stat st;
    int error;

    if (!f)
        return minus_1_because(ENOMEM);
    call_init(&call, PROGRAM_CM_OPEN);
    error = connection_call(c, &call, &answer, &f->fd);
    if (error) {
        free(f);
        return minus_1_because(error);
    }
    f->c = c;
    f->handle = answer.u.cm_open.handle;
    if (f->fd < 0 || fstat(f->fd, &st) != 0) { /* the process has no number left for it */
        end_file(f);
        return minus_1_because(EMFILE);
    }
    f->device = st.st_dev;
    f->socket = st.st_ino;
    if (!(flags & O_CLOEXEC))
        fcntl(f->fd, F_SETFD, 0);
    if (flags & O_NONBLOCK)
        fcntl(f->fd, F_SETFL, O_NONBLOCK);
    pthread_mutex_lock(&files_lock);
    f->next = files;
    files = f;
    pthread_mutex_unlock(&files_lock);
    return f->fd;
}

/* --- Commands --------------------------------------------------------------------------------- */

/* Waits until the file, of which @fd is a descriptor, has an event.  Returns 0, or -1 and sets
 * errno. In virtual time recv() must not wait for an event that another thread has taken: time
 * would stop.
 */
static int wait_for_event(struct cm_file *f, int fd)
{
    const bool is_virtual = f->c->device.is_virtual;
    char byte;
    ssize_t got;

    do {
        if (!f->is_closed && events_wait(f->c, fd) != 0)
            return -1;
        if (f->is_closed) /* and @fd may be another file by now */
            return pause();
        got = recv(fd, &byte, 1, MSG_PEEK | (is_virtual ? MSG_DONTWAIT : 0));
    } while (got < 0 && errno == EAGAIN && !(fcntl(fd, F_GETFL) & O_NONBLOCK));
    if (got == 0)
        return minus_1_because(EIO); /* the lab has ended */
    return got < 0 ? -1 : 0;
}

/* Returns the handle of the file of descriptor @fd, or 0. */
static uint64_t handle_of(int fd)
{
    struct cm_file *f = use(fd);
    const uint64_t handle = f ? f->handle : 0;

    if (f)
        stop_using(f);
    return handle;
}

/* Finds the file that MIGRATE_ID names by its descriptor.  Returns 0; ENOENT: it is no descriptor;
 * EINVAL: it is one of another file.
 */
static int find_source(const struct rdma_ucm_cmd_hdr *head, uint64_t *ret)
{
    struct rdma_ucm_migrate_id migrate;

    memcpy(&migrate, head + 1, sizeof(migrate));
    *ret = handle_of((int)migrate.fd);
    if (*ret)
        return 0;
    return fcntl((int)migrate.fd, F_GETFD) < 0 ? ENOENT : EINVAL;
}

/* Passes on the command.  Returns 0 or an errno value. */
static int command(const struct cm_file *f, const void *at, size_t bytes)
{
    const struct rdma_ucm_cmd_hdr *head = at;
    struct program_answer answer;
    struct program_call call;
    int error = 0;

    call_init(&call, PROGRAM_CM_WRITE);
    call.u.cm_write.file = f->handle;
    call.u.cm_write.addr = (uintptr_t)at;
    call.u.cm_write.bytes = bytes;
    if (head->cmd == RDMA_USER_CM_CMD_MIGRATE_ID &&
        bytes >= sizeof(*head) + sizeof(struct rdma_ucm_migrate_id))
        error = find_source(head, &call.u.cm_write.from_file);
    if (error)
        return error;
    error = connection_call(f->c, &call, &answer, NULL);
    if (error)
        return error == EINVAL ? ENODEV : error; /* ENODEV: in a child of fork() */
    return answer.u.cm_write.error;
}

/* An event that another thread has taken meanwhile is waited for again. */
static int write_command(struct cm_file *f, int fd, const void *at, size_t bytes)
{
    const struct rdma_ucm_cmd_hdr *head = at;
    const bool waits = head->cmd == RDMA_USER_CM_CMD_GET_EVENT;
    int error;

    if (connection_state(f->c) == EINVAL)
        return minus_1_because(ENODEV);
    do {
        if (waits && wait_for_event(f, fd) != 0)
            return -1;
        error = command(f, at, bytes);
    } while (waits && error == EAGAIN);
    return error ? minus_1_because(error) : 0;
}

/* Opens the device.  Returns a descriptor, or -1 and sets errno.  A thread cannot be cancelled in
 * here: it would keep the lock.
 */
static int open_device(int flags)
{
    struct lab_connection *c;
    int before, fd;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    close_lost();
    pthread_mutex_lock(&files_lock);
    c = connected();
    pthread_mutex_unlock(&files_lock);
    fd = c ? open_file(c, flags) : -1;
    pthread_setcancelstate(before, NULL);
    return fd;
}

/* --- What librdmacm calls --------------------------------------------------------------------- */

int rdma_cm_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list args;

    va_start(args, flags);
    if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))
        mode = va_arg(args, mode_t);
    va_end(args);
    if (strcmp(path, DEVICE) != 0 || !is_on_host())
        return open(path, flags, mode);
    return open_device(flags);
}

/* librdmacm looks whether it is a character device, and the one that netlink has named. */
int rdma_cm_fstat(int fd, struct stat *ret)
{
    struct cm_file *f = use(fd);

    if (!f)
        return fstat(fd, ret);
    stop_using(f);
    if (stat(DEVICE, ret) == 0 && S_ISCHR(ret->st_mode))
        return 0;
    memset(ret, 0, sizeof(*ret));
    ret->st_mode = S_IFCHR | 0666;
    ret->st_nlink = 1;
    ret->st_rdev = makedev(MISC_MAJOR, 0);
    return 0;
}

ssize_t rdma_cm_write(int fd, const void *bytes, size_t n)
{
    struct cm_file *f = use(fd);
    int result = -1;

    if (!f)
        return write(fd, bytes, n);
    pthread_cleanup_push(stop_using_canceled, f);
    if (n < sizeof(struct rdma_ucm_cmd_hdr))
        errno = EINVAL;
    else
        result = write_command(f, fd, bytes, n);
    pthread_cleanup_pop(0);
    stop_using(f);
    return result == 0 ? (ssize_t)n : -1;
}

int rdma_cm_close(int fd)
{
    struct cm_file *f = use(fd);

    if (!f)
        return real_close(fd);
    f->is_closed = true;
    real_close(fd);
    stop_using(f);
    return 0;
}

/* The kernel of this machine may have adapters: it must not be asked for its rdma_cm. */
int rdma_cm_nl_connect(void *socket, int protocol)
{
    int (*next)(void *socket, int protocol) = redirect_nl_connect();

    if (next && !(protocol == NETLINK_OF_RDMA && is_on_host()))
        return next(socket, protocol);
    return NO_PROTOCOL;
}
