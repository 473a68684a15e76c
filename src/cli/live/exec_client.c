/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* pipe2() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "cli/live/exec_client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/live/exec_cm.h"
#include "cli/live/exec_maker.h"
#include "cli/live/exec_memory.h"
#include "cli/live/exec_names.h"
#include "cli/live/exec_refused.h"
#include "cli/live/exec_socket.h"
#include "cli/live/exec_waits.h"
#include "cli/live/socket_fds.h"
#include "emu/facts/enum/object.h"
#include "rdmalab/events.h"
#include "rdmalab/memory.h"

_Static_assert(PROGRAM_NAME_BYTES == RDL_NAME_BYTES, "a program can name every host");

#define NO_ROOM "the lab has no memory or no file descriptors left: \"ulimit -n\""

static bool comes_before(const struct exec_client *c, uint32_t rank, int pid)
{
    return c->rank < rank || (c->rank == rank && c->pid <= pid);
}

void exec_client_add(struct exec_server *s, int fd, int pid, uint32_t rank,
                     struct exec_account *account)
{
    struct exec_client *c = calloc(1, sizeof(*c)), **at = &s->clients;

    if (!c) {
        close(fd);
        return;
    }
    *c = (struct exec_client){.lab = s->lab,
                              .out = s->out,
                              .server = s,
                              .fd = fd,
                              .memory = -1,
                              .wake = -1,
                              .pid = pid,
                              .rank = rank,
                              .usage = account ? &account->usage : &s->others,
                              .account = account,
                              .events.fd = -1,
                              .answer_fd = -1};
    while (*at && comes_before(*at, rank, pid))
        at = &(*at)->next;
    c->next = *at;
    *at = c;
}

static bool read_memory(void *ctx, uint64_t addr, void *out, size_t n)
{
    const struct exec_client *c = ctx;

    if (!exec_memory_read(c->memory, addr, out, n))
        return false;
    c->usage->read_bytes += n;
    return true;
}

static bool write_memory(void *ctx, uint64_t addr, const void *in, size_t n)
{
    const struct exec_client *c = ctx;

    if (!exec_memory_write(c->memory, addr, in, n))
        return false;
    c->usage->written_bytes += n;
    return true;
}

static void close_it(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* --- The beginning ---------------------------------------------------------------------------- */

/* Finds the host, and adds the program to it.  Returns NULL, or what is wrong, with its errno. */
static const char *come_in(struct exec_client *c, const struct program_hello *h, int *ret_error)
{
    const struct rdl_program_memory memory = {read_memory, write_memory, c};
    enum rdl_status st;

    *ret_error = EPROTO;
    if (h->magic != PROGRAM_MAGIC)
        return "this is no library of rdmalab";
    if (h->version != PROGRAM_VERSION)
        return "the library is of another version of rdmalab than the lab";
    *ret_error = EINVAL;
    if (!memchr(h->host, 0, sizeof(h->host)))
        return "no host has such a name";
    if (c->memory == EXEC_FD_LOST) {
        *ret_error = ENOMEM;
        return NO_ROOM;
    }
    if (!exec_memory_is_sound(c->memory))
        return "it has not shown its memory";
    memcpy(c->host_name, h->host, sizeof(c->host_name));
    st = exec_find_host(c->lab, c->host_name, &c->host);
    *ret_error = ENODEV;
    if (st != RDL_OK)
        return "no host has such a name";
    st = rdl_program_add(c->lab, c->host, &memory, &c->program);
    *ret_error = exec_error(st, NULL);
    return st == RDL_OK ? NULL : rdl_status_str(st);
}

static void describe_device(const struct exec_client *c, struct program_device *d)
{
    struct rdl_device_attr a;

    if (rdl_device_attr(c->lab, c->host, &a) != RDL_OK)
        return; /* the host is usable, or come_in() had failed */
    *d = (struct program_device){
        .max_mr_size = a.max_mr_size,
        .vendor_id = a.vendor_id,
        .vendor_part_id = a.vendor_part_id,
        .hw_ver = a.hw_ver,
        .max_qp = a.max_qp,
        .max_qp_wr = a.max_qp_wr,
        .max_send_sge = a.max_send_sge,
        .max_recv_sge = a.max_recv_sge,
        .max_sge_rd = a.max_sge_rd,
        .max_inline_data = a.max_inline_data,
        .max_cq = a.max_cq,
        .max_cqe = a.max_cqe,
        .max_mr = a.max_mr,
        .max_pd = a.max_pd,
        .max_mw = a.max_mw,
        .max_ah = a.max_ah,
        .max_rd_atomic = a.max_rd_atomic,
        .max_dest_rd_atomic = a.max_dest_rd_atomic,
        .max_res_rd_atomic = a.max_res_rd_atomic,
        .max_mcast_grp = a.max_mcast_grp,
        .max_mcast_qp_attach = a.max_mcast_qp_attach,
        .max_total_mcast_qp_attach = a.max_total_mcast_qp_attach,
        .max_srq = a.max_srq,
        .max_srq_wr = a.max_srq_wr,
        .max_srq_sge = a.max_srq_sge,
        .max_pkeys = a.max_pkeys,
        .n_gids = a.n_gids,
        .n_ports = a.n_ports,
        .ack_delay = a.ack_delay,
        .max_fast_pages = a.max_fast_pages,
        .blocks_mcast_lb = a.blocks_mcast_lb,
        .can_rereg = a.can_rereg,
        .comp_vectors = a.comp_vectors,
        .is_virtual = c->server->is_virtual,
    };
    memcpy(d->guid, a.guid, sizeof(d->guid));
}

bool exec_watch(const struct exec_server *s, int fd, enum exec_ready what)
{
    struct epoll_event event = {.events = EPOLLIN | (what == EXEC_READY_LOOP ? 0 : EPOLLET),
                                .data.u32 = what};

    return epoll_ctl(s->set, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Opens the eventfd by which the program wakes the lab.  The program could make it block, or take
 * what was written: so it is its own, and the lab never reads it.
 */
static bool open_wake(struct exec_client *c)
{
    c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return c->wake >= 0 && exec_watch(c->server, c->wake, EXEC_READY_WAKE);
}

/* The program may still have it. */
static void close_wake(struct exec_client *c)
{
    if (c->wake >= 0)
        (void)epoll_ctl(c->server->set, EPOLL_CTL_DEL, c->wake, NULL);
    close_it(&c->wake);
}

/* Answers a program that may use its host.  Returns false if there is no memory or no descriptor
 * for it.
 */
static bool welcome(struct exec_client *c)
{
    struct program_welcome w = {.magic = PROGRAM_MAGIC};
    int page = -1, ends[2];

    c->page = exec_share(sizeof(*c->page), &page);
    if (!c->page)
        return false;
    if (!open_wake(c) || pipe2(ends, O_CLOEXEC) != 0) {
        close(page);
        return false;
    }
    (void)fcntl(ends[1], F_SETFL, O_NONBLOCK);
    c->events.fd = ends[1];
    describe_device(c, &w.device);
    c->state = EXEC_WORKS;
    if (!exec_send(c->fd, &w, sizeof(w), (const int[]){page, c->wake, ends[0]},
                   PROGRAM_WELCOME_FDS))
        c->state = EXEC_LEAVES; /* it has ended */
    close(page);
    close(ends[0]);
    return true;
}

static void turn_away(struct exec_client *c, int error, const char *why)
{
    struct program_welcome w = {.magic = PROGRAM_MAGIC, .error = error};

    snprintf(w.why, sizeof(w.why), "%s", why);
    (void)exec_send(c->fd, &w, sizeof(w), NULL, 0);
    fprintf(c->out, "process %d was turned away: %s\n", c->pid, why);
    c->state = EXEC_LEAVES;
}

static bool hear_hello(struct exec_client *c)
{
    struct program_hello h = {.magic = 0};
    const enum exec_got got = exec_receive(c->fd, &h, sizeof(h), &c->memory);
    const char *wrong;
    int error;

    if (got == EXEC_NOTHING)
        return false;
    if (got != EXEC_MESSAGE) {
        c->state = EXEC_LEAVES;
        return true;
    }
    wrong = come_in(c, &h, &error);
    if (wrong)
        turn_away(c, error, wrong);
    else if (!welcome(c))
        turn_away(c, ENOMEM, NO_ROOM);
    return true;
}

/* --- Calls ------------------------------------------------------------------------------------ */

/* Returns true if the device of the host has no request under way: a call can begin. */
static bool host_is_free(const struct exec_client *c)
{
    struct rdl_response rsp;

    return rdl_answer(c->lab, c->host, &rsp) != RDL_ERR_BUSY;
}

/* Counts the object that the call, which has succeeded, has made or destroyed. */
static void count_object(struct exec_client *c)
{
    static const enum program_kind made[PROGRAM_OP_COUNT] = {[PROGRAM_REG_MR] = PROGRAM_MR,
                                                             [PROGRAM_CREATE_CQ] = PROGRAM_CQ,
                                                             [PROGRAM_CREATE_QP] = PROGRAM_QP};
    const uint32_t gone = c->call.op == PROGRAM_DESTROY ? c->call.u.destroy.kind : PROGRAM_NONE;

    if (made[c->call.op] != PROGRAM_NONE)
        c->n_objects[made[c->call.op]]++;
    else if (gone < PROGRAM_KIND_COUNT && c->n_objects[gone] > 0)
        c->n_objects[gone]--;
}

void exec_count_objects(const struct exec_server *s, uint32_t rank, struct live_exec_usage *ret)
{
    ret->n_qps = ret->n_cqs = ret->n_mrs = 0;
    for (const struct exec_client *c = s->clients; c; c = c->next) {
        if (c->rank != rank)
            continue;
        ret->n_qps += c->n_objects[PROGRAM_QP];
        ret->n_cqs += c->n_objects[PROGRAM_CQ];
        ret->n_mrs += c->n_objects[PROGRAM_MR];
    }
}

static void answer(struct exec_client *c, enum rdl_status st, const struct rdl_response *rsp)
{
    struct program_answer a = {.serial = c->call.serial};

    if (st == RDL_OK)
        st = exec_call_finish(c, &a);
    if (st == RDL_ERR_BUSY && c->call.op == PROGRAM_CM_OPEN)
        return; /* it is tried again when the hosts have no requests under way */
    c->usage->calls++;
    if (st == RDL_OK && c->call.maker != PROGRAM_BY_NONE)
        exec_maker_record(c, a.u.alloc_pd.handle);
    if (st == RDL_OK)
        count_object(c);
    else
        memset(&a.u, 0, sizeof(a.u));
    a.error = exec_error(st, rsp);
    if (a.error)
        exec_refused_note(c, st, rsp);
    c->has_call = false;
    if (!exec_send(c->fd, &a, sizeof(a), &c->answer_fd, c->answer_fd >= 0 ? 1 : 0))
        c->state = EXEC_LEAVES;
    close_it(&c->answer_fd);
}

/* Answers a call that makes virtual time advance, if something has happened to the program, or if
 * another thread of it has a call to make.
 */
static bool go_on_waiting(struct exec_client *c)
{
    struct program_answer a = {.serial = c->call.serial};

    if (!c->stirred && !c->nudged && !c->is_over)
        return false;
    a.error = c->stirred || c->nudged ? 0 : ETIME;
    c->nudged = c->is_over = false;
    c->stirred = c->has_call = false;
    if (!exec_send(c->fd, &a, sizeof(a), NULL, 0))
        c->state = EXEC_LEAVES;
    return true;
}

static bool is_waiting(const struct exec_client *c)
{
    return c->has_call && c->call.op == PROGRAM_WAIT && c->server->is_virtual;
}

/* Takes a step with the call under way.  Returns true if there was one to take. */
static bool go_on_with_call(struct exec_client *c)
{
    struct rdl_response rsp = {0};
    enum rdl_status st;

    if (is_waiting(c))
        return go_on_waiting(c);
    if (c->asks) {
        st = rdl_answer(c->lab, c->host, &rsp);
        if (st == RDL_ERR_BUSY)
            return false;
        c->asks = false;
        answer(c, st, &rsp);
        return true;
    }
    if (!host_is_free(c))
        return false;
    st = exec_call_begin(c);
    if (st != RDL_OK || !c->asks)
        answer(c, st, &rsp);
    return c->asks || !c->has_call;
}

/* Takes the next call.  While there is one that waits, that can be PROGRAM_NUDGE alone, which has
 * an effect only then.
 */
static bool hear_call(struct exec_client *c)
{
    struct program_call call;
    int fd;
    const enum exec_got got = exec_receive(c->fd, &call, sizeof(call), &fd);
    const bool is_nudge = got == EXEC_MESSAGE && call.op == PROGRAM_NUDGE;

    if (fd >= 0) /* no call has one */
        socket_fds_close(fd);
    if (got == EXEC_NOTHING)
        return false;
    c->n_calls++;
    if (got != EXEC_MESSAGE || (c->has_call && !is_nudge)) {
        c->state = EXEC_LEAVES;
        return true;
    }
    c->nudged = is_nudge && c->has_call;
    if (!is_nudge) {
        c->call = call;
        c->has_call = true;
    }
    return true;
}

/* The end of a program that waits is noticed when the lab answers its wait. */
static bool may_have_called(const struct exec_client *c)
{
    return (c->server->looks && !c->has_call) ||
           atomic_load_explicit(&c->page->called, memory_order_relaxed) != c->n_calls;
}

static bool serve(struct exec_client *c)
{
    bool any = exec_work(c);

    if (c->state == EXEC_WORKS && (!c->has_call || is_waiting(c)) && may_have_called(c) &&
        hear_call(c)) {
        any = true;
        if (c->has_call && !c->nudged)
            (void)exec_catch_up(c);
    }
    if (c->state == EXEC_WORKS && c->has_call)
        any = go_on_with_call(c) || any;
    return any;
}

/* --- The end ---------------------------------------------------------------------------------- */

/* Closes what connects it with its program.  Its objects are still there. */
static void let_go(struct exec_client *c)
{
    if (c->fd >= 0)
        exec_hang_up(c->fd);
    if (c->memory >= 0)
        socket_fds_close(c->memory); /* it may be no /proc/PID/mem */
    c->fd = c->memory = -1;
    close_it(&c->events.fd);
    close_wake(c);
    for (size_t i = 0; i < c->n_cqs; i++)
        exec_forget(c, PROGRAM_CQ, c->cqs[i].handle);
    for (size_t i = 0; i < c->n_channels; i++)
        exec_forget(c, PROGRAM_CHANNEL, c->channels[i].handle);
    exec_cm_done(c);
    if (c->page)
        munmap(c->page, sizeof(*c->page));
    c->page = NULL;
    c->has_call = false;
}

/* A queue pair leaves its multicast groups first, one at a time. */
static enum rdl_status destroy(struct exec_client *c, const struct rdl_program_object *o)
{
    for (size_t i = 0; i < c->n_members && o->kind == OBJ_QP; i++) {
        struct exec_member *m = &c->members[i];

        if (m->qp != o->raw)
            continue;
        m->qp = 0;
        return rdl_detach_mcast(c->lab, (rdl_qp){o->raw}, m->gid);
    }
    if (o->kind == OBJ_CM_ID)
        return rdl_cm_destroy_id(c->lab, (rdl_cm_id){o->raw});
    if (o->kind == OBJ_EVENT_CHANNEL)
        return rdl_cm_destroy_channel(c->lab, (rdl_cm_channel){o->raw});
    if (c->n_objects[exec_kind_of(o->kind)] > 0)
        c->n_objects[exec_kind_of(o->kind)]--;
    return exec_destroy(c->lab, exec_kind_of(o->kind), o->raw);
}

/* Destroys the next object that the program has left.  Returns true if there was one, or if the
 * last one has gone.  A device that needs a reset keeps its objects: then they stay, and so does
 * the program.
 */
static bool leave(struct exec_client *c)
{
    struct rdl_program_object o;
    bool any = false;

    let_go(c);
    c->stays = false;
    while (c->program.raw && host_is_free(c)) {
        const bool left = rdl_program_left(c->lab, c->program, &o);
        const enum rdl_status st = left ? destroy(c, &o) : rdl_program_remove(c->lab, c->program);

        c->stays = st == RDL_ERR_BROKEN;
        if (st != RDL_OK)
            break;
        any = true;
        if (!left)
            c->program.raw = 0;
    }
    if (!c->program.raw)
        c->state = EXEC_GONE;
    return any;
}

static void free_client(struct exec_client *c)
{
    let_go(c);
    free(c->cqs);
    free(c->queues);
    free(c->channels);
    free(c->members);
    free(c->made_objects);
    free(c);
}

/* Frees the connections of which nothing is left. */
static void sweep(struct exec_server *s)
{
    for (struct exec_client **at = &s->clients; *at;) {
        struct exec_client *c = *at;

        if (c->state == EXEC_GONE) {
            *at = c->next;
            free_client(c);
        } else {
            at = &c->next;
        }
    }
}

/* A program that never stops posting must not stop the lab. */
#define PASSES_MAX 8u

/* In virtual time one program goes on at a time: what several would do at once comes in any order.
 */
static bool serve_all(struct exec_server *s)
{
    bool any = false;

    for (struct exec_client *c = s->clients; c && !(any && s->is_virtual); c = c->next) {
        if (c->state == EXEC_COMES)
            any = hear_hello(c) || any;
        if (c->state == EXEC_WORKS)
            any = serve(c) || any;
        if (c->state == EXEC_LEAVES)
            any = leave(c) || any;
    }
    sweep(s);
    return any;
}

/* Posts that one program made before another one did are in the lab before it advances: programs
 * may agree on an order by other means.
 */
static void catch_up(struct exec_server *s)
{
    bool any = true;

    for (unsigned i = 0; i < PASSES_MAX && any; i++) {
        any = false;
        for (struct exec_client *c = s->clients; c; c = c->next)
            any = (c->state == EXEC_WORKS && exec_catch_up(c)) || any;
    }
}

bool exec_serve(struct exec_server *s)
{
    const bool any = serve_all(s);

    if (!any || !s->is_virtual)
        catch_up(s);
    return any;
}

/* The one that was told so least often, so that each has its turn: programs may wait for each other
 * by polling in turns what is not the lab's.
 */
bool exec_tell_over(struct exec_server *s)
{
    struct exec_client *next = NULL;

    for (struct exec_client *c = s->clients; c; c = c->next) {
        if (c->state == EXEC_WORKS && is_waiting(c) && (!next || c->n_over < next->n_over))
            next = c;
    }
    if (!next)
        return false;
    next->n_over++;
    next->is_over = true;
    return go_on_waiting(next);
}

bool exec_release_spinners(struct exec_server *s)
{
    bool any = false;

    for (struct exec_client *c = s->clients; c; c = c->next) {
        if (c->state != EXEC_WORKS || !exec_may_spin(c->pid))
            continue;
        any = true;
        c->nudged = c->nudged || is_waiting(c);
    }
    return any;
}

bool exec_sleeps(struct exec_server *s)
{
    bool can = true;

    for (struct exec_client *c = s->clients; c; c = c->next) {
        if (c->state != EXEC_WORKS)
            continue;
        atomic_store(&c->page->lab_sleeps, 1);
        if (atomic_load(&c->page->posted) != c->taken)
            can = false;
    }
    return can;
}

bool exec_yields(struct exec_server *s)
{
    bool any = false, all = true;

    for (struct exec_client *c = s->clients; c; c = c->next) {
        uint32_t yielded;

        if (c->state != EXEC_WORKS)
            continue;
        yielded = atomic_load_explicit(&c->page->yielded, memory_order_relaxed);
        all = all && yielded != c->yielded;
        any = true;
        c->yielded = yielded;
    }
    return any && all;
}

void exec_awake(struct exec_server *s)
{
    for (struct exec_client *c = s->clients; c; c = c->next) {
        if (c->state == EXEC_WORKS)
            atomic_store_explicit(&c->page->lab_sleeps, 0, memory_order_relaxed);
    }
}

bool exec_is_used(const struct exec_server *s)
{
    const struct exec_client *c = s->clients;

    while (c && c->stays)
        c = c->next;
    return c != NULL;
}

void exec_server_done(struct exec_server *s)
{
    while (s->clients) {
        struct exec_client *c = s->clients;

        s->clients = c->next;
        free_client(c);
    }
    exec_makers_free(s->makers);
    s->makers = NULL;
}
