/* SPDX-License-Identifier: MIT */
/* The traffic between a program and the lab without calls: posts, completions, events.
 *
 * The program can write anything into shared memory at any time.  So each word is read once, and a
 * post is copied before it is looked at.
 */
#define _GNU_SOURCE /* memfd_create() */ /* NOLINT(bugprone-reserved-identifier): glibc's own name \
                                          */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/live/exec_client.h"
#include "cli/live/exec_cm.h"
#include "cli/live/exec_hint.h"
#include "emu/facts/enum/async_event.h"
#include "rdmalab/events.h"

#define POSTS_AT_ONCE  64u /* of one connection, before the lab runs */
#define COPIED_AT_ONCE 64u /* completions */
#define INLINE_MAX     4096u

void *exec_share(size_t bytes, int *ret_fd)
{
    const int fd = memfd_create("rdmalab", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *at = MAP_FAILED;
    int error;

    /* Sealed: if the program could shorten it, an access of the lab would end the lab. */
    if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at != MAP_FAILED) {
        *ret_fd = fd;
        return at;
    }
    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return NULL;
}

/* --- Posts ------------------------------------------------------------------------------------ */

/* A post, copied out of the page. */
struct taken_post {
    struct program_post post;
    union {
        struct program_sge sge[RDL_SGE_MAX];
        uint8_t data[INLINE_MAX];
    } u;
};

/* Copies the next post out of the page, of which @left bytes were written.  Returns false if it is
 * nonsense.
 */
static bool take_post(struct exec_client *c, uint64_t left, struct taken_post *ret)
{
    const size_t at = c->taken % PROGRAM_POST_BYTES, room = PROGRAM_POST_BYTES - at;
    const size_t head = sizeof(ret->post);
    struct program_post *p = &ret->post;
    size_t more;

    memset(p, 0, head);
    memcpy(p, c->page->posts + at, room < head ? room : head);
    if (p->bytes == 0 || p->bytes % PROGRAM_POST_ALIGN != 0 || p->bytes > left || p->bytes > room)
        return false;
    if (p->kind == PROGRAM_POST_PAD)
        return true;
    if (p->bytes < head || p->n_sge > RDL_SGE_MAX || p->inline_bytes > INLINE_MAX ||
        (p->n_sge && p->inline_bytes))
        return false;
    more = p->n_sge ? p->n_sge * sizeof(struct program_sge) : p->inline_bytes;
    if (more > p->bytes - head)
        return false;
    memcpy(&ret->u, c->page->posts + at + head, more);
    return true;
}

static void copy_sges(const struct taken_post *p, struct rdl_sge *ret)
{
    for (uint32_t i = 0; i < p->post.n_sge; i++)
        ret[i] = (struct rdl_sge){p->u.sge[i].addr, p->u.sge[i].length, p->u.sge[i].lkey};
}

static enum rdl_status post_send(struct exec_client *c, const struct taken_post *posted)
{
    const struct program_post *p = &posted->post;
    struct rdl_sge sge[RDL_SGE_MAX];
    struct rdl_send_wr wr = {
        .wr_id = p->wr_id,
        .opcode = p->opcode,
        .flags = p->flags,
        .invalidate_rkey = p->invalidate_rkey,
        .sge = sge,
        .n_sge = p->n_sge,
        .inline_data = posted->u.data,
        .inline_bytes = p->inline_bytes,
        .remote_addr = p->remote_addr,
        .rkey = p->rkey,
        .compare_add = p->compare_add,
        .swap = p->swap,
        .ud = {.ah = {p->ah}, .remote_qpn = p->remote_qpn, .remote_qkey = p->remote_qkey},
        .bind_mw = {.mw = {p->mw},
                    .rkey = p->bind_rkey,
                    .mr = {p->mr},
                    .addr = p->bind_addr,
                    .length = p->bind_length,
                    .access = p->bind_access,
                    .type_1 = p->type_1 != 0},
    };
    struct rdl_post_error error;

    memcpy(wr.imm, p->imm, sizeof(wr.imm));
    copy_sges(posted, sge);
    c->usage->read_bytes += p->inline_bytes;
    return rdl_post_send_list(c->lab, (rdl_qp){p->queue}, &wr, 1, p->more != 0, &error);
}

static enum rdl_status post_recv(struct exec_client *c, const struct taken_post *posted)
{
    const struct program_post *p = &posted->post;
    struct rdl_sge sge[RDL_SGE_MAX];
    const struct rdl_recv_wr wr = {.wr_id = p->wr_id, .sge = sge, .n_sge = p->n_sge};
    struct rdl_post_error error;

    copy_sges(posted, sge);
    if (p->kind == PROGRAM_POST_SRQ_RECV)
        return rdl_post_srq_recv_list(c->lab, (rdl_srq){p->queue}, &wr, 1, p->more != 0, &error);
    return rdl_post_recv_list(c->lab, (rdl_qp){p->queue}, &wr, 1, p->more != 0, &error);
}

/* The library has checked the request, so that the lab refuses only what has changed since then. */
static void refused(const struct exec_client *c, const struct program_post *p, enum rdl_status st)
{
    fprintf(c->out, "%s: a %s of process %d was lost (wr_id %llu): %s\n", c->host_name,
            p->kind == PROGRAM_POST_SEND ? "send" : "receive", c->pid, (unsigned long long)p->wr_id,
            rdl_status_str(st));
}

static void carry_out(struct exec_client *c, const struct taken_post *posted)
{
    const struct program_post *p = &posted->post;
    const enum program_kind kind = p->kind == PROGRAM_POST_SRQ_RECV ? PROGRAM_SRQ : PROGRAM_QP;
    struct exec_queue *q = exec_queue_of(c, kind, p->queue, p->slot);
    const bool sends = p->kind == PROGRAM_POST_SEND;
    enum rdl_status st = RDL_ERR_STALE;

    if (q) {
        rdl_program_calls(c->lab, c->program);
        st = sends ? post_send(c, posted) : post_recv(c, posted);
        rdl_program_called(c->lab, c->program);
        if (sends)
            q->sends++;
        else
            q->receives++;
    }
    if (st != RDL_OK)
        refused(c, p, st);
}

/* Takes up to @most posts, of those before byte @end.  Returns true if there was one.  A program
 * that writes nonsense is cut off.
 */
static bool take_posts(struct exec_client *c, uint64_t end, uint32_t most)
{
    struct taken_post posted;
    uint32_t n = 0;

    if (end - c->taken > PROGRAM_POST_BYTES) {
        c->state = EXEC_LEAVES;
        return true;
    }
    for (; c->taken != end && n < most; n++) {
        if (!take_post(c, end - c->taken, &posted)) {
            c->state = EXEC_LEAVES;
            return true;
        }
        c->taken += posted.post.bytes;
        if (posted.post.kind == PROGRAM_POST_SEND || posted.post.kind == PROGRAM_POST_RECV ||
            posted.post.kind == PROGRAM_POST_SRQ_RECV)
            carry_out(c, &posted);
    }
    if (n > 0)
        atomic_store_explicit(&c->page->taken, c->taken, memory_order_release);
    return n > 0;
}

/* Tells the program how many places in its queues are free again. */
static void count_over(struct exec_client *c)
{
    for (size_t i = 0; i < c->n_queues; i++) {
        const struct exec_queue *q = &c->queues[i];
        struct program_queue *told = &c->page->queues[i];
        uint32_t sends = 0, receives = 0;
        enum rdl_status st;

        if (!q->handle)
            continue;
        st = q->is_srq ? rdl_srq_posted(c->lab, (rdl_srq){q->handle}, &receives)
                       : rdl_qp_posted(c->lab, (rdl_qp){q->handle}, &sends, &receives);
        if (st != RDL_OK)
            continue;
        atomic_store_explicit(&told->sends_over, q->sends - sends, memory_order_release);
        atomic_store_explicit(&told->receives_over, q->receives - receives, memory_order_release);
    }
}

/* --- Completions ------------------------------------------------------------------------------ */

static void write_wc(const struct exec_client *c, const struct rdl_wc *wc, struct program_wc *ret)
{
    struct program_wc out = {
        .wr_id = wc->wr_id,
        .time_ns = rdl_now_ns(c->lab),
        .status = wc->status,
        .opcode = wc->opcode,
        .vendor_err = wc->vendor_err,
        .byte_len = wc->byte_len,
        .invalidated_rkey = wc->invalidated_rkey,
        .qpn = wc->qp_num,
        .src_qpn = wc->src_qp,
        .wc_flags = wc->wc_flags,
        .sl = wc->sl,
    };

    memcpy(out.imm, wc->imm, sizeof(out.imm));
    *ret = out;
}

/* Takes out of the queue what the program has polled.  It cannot have polled more than it got.
 * Returns true if there was something that could be taken: the user may have destroyed the queue.
 */
static bool take_polled(struct exec_client *c, struct exec_cq *q)
{
    const uint64_t said = atomic_load_explicit(&q->ring.at->polled, memory_order_acquire);
    const uint64_t polled = said - q->polled <= q->written - q->polled ? said : q->written;
    struct rdl_wc wc[COPIED_AT_ONCE];
    const uint64_t before = q->polled;

    while (q->polled != polled) {
        const uint64_t left = polled - q->polled;
        size_t n = 0;

        if (rdl_poll_cq(c->lab, (rdl_cq){q->handle},
                        left < COPIED_AT_ONCE ? (size_t)left : COPIED_AT_ONCE, wc, &n) != RDL_OK ||
            n == 0)
            break;
        q->polled += n;
    }
    return q->polled != before;
}

/* Copies new completions to the ring, which has room: it is at least as long as the queue. */
static bool give_completions(struct exec_client *c, struct exec_cq *q)
{
    struct rdl_wc wc[COPIED_AT_ONCE];
    const uint64_t before = q->written;
    size_t n;

    do {
        const uint64_t kept = q->written - q->polled;
        const uint64_t room = q->ring.entries - kept;

        if (rdl_peek_cq(c->lab, (rdl_cq){q->handle}, (uint32_t)kept,
                        room < COPIED_AT_ONCE ? (size_t)room : COPIED_AT_ONCE, wc, &n) != RDL_OK)
            n = 0;
        for (size_t i = 0; i < n; i++)
            write_wc(c, &wc[i], &q->ring.at->ring[q->written++ & (q->ring.entries - 1)]);
    } while (n == COPIED_AT_ONCE);
    c->stirred = c->stirred || q->written != before;
    if (q->written != before)
        atomic_store_explicit(&q->ring.at->written, q->written, memory_order_release);
    return q->written != before;
}

/* --- Events ----------------------------------------------------------------------------------- */

/* Writes the event that waits in @p, if one does.  Returns false if the pipe has no room for it:
 * the program has thousands of events to read.  A pipe that the program has closed takes
 * everything.
 */
static bool tell(struct exec_pipe *p)
{
    if (p->waits && write(p->fd, &p->event, sizeof(p->event)) < 0 && errno == EAGAIN)
        return false;
    p->waits = false;
    return true;
}

/* Passes on completion events, while there is room. */
static bool tell_completions(struct exec_client *c, struct exec_channel *ch)
{
    bool any = false;

    while (tell(&ch->pipe)) {
        struct exec_cq *q;
        size_t n = 0;
        rdl_cq cq;

        if (rdl_get_cq_event(c->lab, (rdl_channel){ch->handle}, &cq, &n) != RDL_OK || n == 0)
            break;
        /* Acknowledgements of the program are between it and its library. */
        (void)!rdl_ack_cq_events(c->lab, cq, 1);
        q = exec_cq_of(c, cq.raw);
        if (q)
            q->completion_events++;
        ch->pipe.event = (struct program_event){.handle = cq.raw};
        ch->pipe.waits = any = c->stirred = true;
    }
    return any;
}

/* Takes the next asynchronous event of the program.  Returns false if there is none. */
static bool take_async(struct exec_client *c, struct rdl_async_event *ret)
{
    enum rdl_status st;
    size_t n = 0;

    rdl_program_calls(c->lab, c->program);
    st = rdl_get_async_event(c->lab, c->host, ret, &n);
    if (st == RDL_OK && n > 0)
        (void)!rdl_ack_async_event(c->lab, ret);
    rdl_program_called(c->lab, c->program);
    return st == RDL_OK && n > 0;
}

static bool tell_async(struct exec_client *c)
{
    struct rdl_async_event e;
    bool any = false;

    while (tell(&c->events) && take_async(c, &e)) {
        const enum program_kind kind = exec_kind_of(e.object);
        struct exec_cq *cq = kind == PROGRAM_CQ ? exec_cq_of(c, e.raw) : NULL;
        struct exec_queue *queue = exec_queue_of(c, kind, e.raw, 0);

        if (cq)
            cq->async_events++;
        if (cq && e.type == ASE_CQ_ERR)
            exec_hint_overflow(c, cq);
        if (queue)
            queue->async_events++;
        c->events.event = (struct program_event){e.raw, (uint32_t)kind, e.type};
        c->events.waits = any = c->stirred = true;
    }
    return any;
}

/* A program polls before it posts in a place that became free: so the polls are taken first, but
 * only after the end of the posts was read.
 */
static bool take(struct exec_client *c, uint32_t most)
{
    const uint64_t end = atomic_load_explicit(&c->page->posted, memory_order_acquire);
    bool any = false;

    for (size_t i = 0; i < c->n_cqs; i++) {
        if (c->cqs[i].handle)
            any = take_polled(c, &c->cqs[i]) || any;
    }
    return take_posts(c, end, most) || any;
}

bool exec_catch_up(struct exec_client *c)
{
    const bool any = take(c, UINT32_MAX);

    if (c->state == EXEC_WORKS)
        count_over(c);
    return any;
}

bool exec_work(struct exec_client *c)
{
    bool any = take(c, POSTS_AT_ONCE);

    for (size_t i = 0; i < c->n_cqs; i++) {
        if (c->cqs[i].handle)
            any = give_completions(c, &c->cqs[i]) || any;
    }
    count_over(c);
    for (size_t i = 0; i < c->n_channels; i++) {
        if (c->channels[i].handle)
            any = tell_completions(c, &c->channels[i]) || any;
    }
    any = exec_cm_tell(c) || any;
    return tell_async(c) || any;
}
