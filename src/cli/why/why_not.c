/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/why/why_not_answer.h"
#include "emu/base/assert.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/trace/event.h"
#include "process/must.h"
#include "rdmalab/trace.h"

#define RECEIVE_BYTES 1024u /* room of a receive that is suggested */

struct why_not *why_not_begin(FILE *out, const struct rdl_lab *lab, const struct past *p)
{
    struct why_not *w = must_malloc(sizeof(*w));

    *w = (struct why_not){.out = out, .lab = lab, .past = p, .index = fate_index(p)};
    return w;
}

void why_not_say(struct why_not *w, const char *fmt, ...)
{
    char buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    va_list args;

    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    show_wrap(w->out, w->indent, buf);
}

bool why_not_advise(struct why_not *w, const char *path,
                    bool (*advice)(struct text *, const struct rdl_lab *, const char *))
{
    char buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if ((advice == advice_armed && why_not_of_kernel(w, path)) || !advice(&t, w->lab, path))
        return false;
    show_wrap(w->out, w->indent, buf);
    return true;
}

bool why_not_of_kernel(const struct why_not *w, const char *path)
{
    char cq[TREE_PATH_BYTES], host[RDL_NAME_BYTES];
    struct text t = text_on(cq, sizeof(cq));
    struct rdl_value v;

    if (tree_is(w->lab, path, NODE_cq))
        return tree_number(w->lab, path, LEAF_cq_of_kernel) != 0;
    if (!tree_is(w->lab, path, NODE_qp) || !tree_leaf(w->lab, path, LEAF_qp_send_cq, &v))
        return false;
    tree_host_of(path, host);
    tree_join(&t, host, v.text);
    return tree_number(w->lab, cq, LEAF_cq_of_kernel) != 0;
}

/* Returns true if @command would use an object of the kernel.  To look at it, and to ring its
 * doorbell once more, are no use.
 */
static bool uses_kernels(const struct why_not *w, const char *command)
{
    static const char *const looks[] = {"why ", "show ", "kick ", "clear ", "explain "};
    static const char between[] = " ,;";
    char word[TREE_PATH_BYTES];

    for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
        if (strncmp(command, looks[i], strlen(looks[i])) == 0)
            return false;
    }
    for (const char *s = command; *s; s += strspn(s, between)) {
        struct text t = text_on(word, sizeof(word));
        const size_t n = strcspn(s, between);

        text_addn(&t, s, n);
        s += n;
        if (strchr(word, '.') && !t.cut && why_not_of_kernel(w, word))
            return true;
    }
    return false;
}

void why_not_is_so(struct why_not *w)
{
    w->never = true;
}

void why_not_try(struct why_not *w, const char *fmt, ...)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));
    va_list args;

    if (w->for_program)
        return;
    va_start(args, fmt);
    text_addv(&t, fmt, args);
    va_end(args);
    if (w->lab && uses_kernels(w, buf))
        return;
    for (size_t i = 0; i < w->n_tries; i++) {
        if (strcmp(w->tries[i], buf) == 0)
            return;
    }
    if (w->n_tries < WHY_NOT_TRIES_MAX)
        memcpy(w->tries[w->n_tries++], buf, sizeof(buf));
}

void why_not_for_program(struct why_not *w)
{
    w->for_program = true;
}

/* Prints when the next event in the lab is due. */
static void say_next(struct why_not *w)
{
    const uint64_t next = rdl_next_ns(w->lab);
    char buf[64];
    struct text t = text_on(buf, sizeof(buf));

    if (next == RDL_NEVER) {
        why_not_say(w, "Nothing more is due in the lab: it stands still until somebody does "
                       "something.");
        return;
    }
    quantity_add_time_short(&t, next);
    why_not_say(w, "The next thing in the lab is due at t=%s.", buf);
}

void why_not_end(struct why_not *w)
{
    w->indent = 0;
    if (w->n_tries == 0 && !w->never && w->lab)
        say_next(w);
    for (size_t i = 0; i < w->n_tries; i++)
        show_wrap_behind(w->out, i ? "  or:  " : "  try: ", 7, w->tries[i]);
    why_not_drop(w);
}

void why_not_drop(struct why_not *w)
{
    past_index_free(w->index);
    free(w);
}

void why_not_each_try(const struct rdl_lab *lab, const struct past *p, const char *path,
                      void (*each)(void *ctx, const char *command), void *ctx)
{
    char *text = NULL;
    size_t n = 0;
    FILE *answer = must_memstream(&text, &n);
    struct why_not *w = why_not_begin(answer, lab, p);
    struct why_not_qp q;

    if (why_not_read_qp(w, path, &q) && why_not_pending(&q) > 0)
        why_not_sends(w, &q);
    for (size_t i = 0; i < w->n_tries; i++) {
        if (strcmp(w->tries[i], "run") != 0)
            each(ctx, w->tries[i]);
    }
    why_not_drop(w);
    must_memstream_end(answer, &text);
    free(text);
}

bool why_not_forgot(const struct why_not *w, ev_id since)
{
    const struct past *p = w->past;

    if (since)
        return past_gap_between(p, since, WHY_NOT_END);
    return p->forgotten > 0 || p->gap_from != 0;
}

void why_not_say_forgotten(struct why_not *w)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    past_add_missing(&t, w->past, 0, 0);
    if (t.len)
        why_not_say(w, "Not all is known: %s.", buf);
}

void why_not_add_post(struct text *t, const struct ev *post)
{
    text_addf(t, "%s wr_id=%llu, posted in ", enum_name(&enum_wr_opcode, post->u.post_send.op),
              (unsigned long long)post->u.post_send.wr_id);
    ev_add_id(t, post->id);
}

bool why_not_says_unread(struct why_not *w, const char *path)
{
    struct rdl_value v;

    if (!tree_leaf(w->lab, path, LEAF_qp_outstanding, &v))
        return false;
    why_not_say(w, "`why not` reads virtqueues, and the device of %s has none.", path);
    return true;
}

/* Reads the send queue of the queue pair at @path: a virtqueue, or a ring of PVRDMA.  Returns false
 * if it has neither.
 */
static bool read_send_queue(const struct why_not *w, const char *path, struct why_not_qp *q)
{
    char side[TREE_PATH_BYTES];

    if (tree_child(w->lab, path, CHILD_qp_send_ring, q->sq)) {
        q->queue = (uint32_t)tree_number(w->lab, q->sq, LEAF_ring_number);
        q->avail_idx = (uint32_t)tree_number(w->lab, q->sq, LEAF_ring_tail);
        q->unfetched = (uint32_t)tree_number(w->lab, q->sq, LEAF_ring_waiting);
        return true;
    }
    if (!tree_child(w->lab, path, CHILD_qp_sq, q->sq))
        return false;
    q->queue = (uint32_t)tree_number(w->lab, q->sq, LEAF_queue_number);
    (void)tree_child(w->lab, q->sq, CHILD_queue_driver, side);
    q->avail_idx = (uint32_t)tree_number(w->lab, side, LEAF_driver_side_avail_idx);
    (void)tree_child(w->lab, q->sq, CHILD_queue_device, side);
    q->unfetched = (uint16_t)(q->avail_idx - tree_number(w->lab, side, LEAF_device_side_avail_idx));
    return true;
}

bool why_not_read_qp(const struct why_not *w, const char *path, struct why_not_qp *ret)
{
    char host[RDL_NAME_BYTES];
    struct why_not_qp q = {.queue = 0};
    struct text t = text_on(q.path, sizeof(q.path));
    struct rdl_value v;

    text_add(&t, path);
    if (!read_send_queue(w, path, &q) || !tree_leaf(w->lab, path, LEAF_qp_outstanding, &v))
        return false;
    tree_host_of(path, host);
    q.outstanding = (uint32_t)v.number;
    q.host = ev_names_find_host(w->past->names, host);
    q.qpn = (uint32_t)tree_number(w->lab, path, LEAF_qp_qpn);
    q.type = (uint32_t)tree_number(w->lab, path, LEAF_qp_type);
    q.state = (enum qp_state)tree_number(w->lab, path, LEAF_qp_state);
    q.sig_all = tree_number(w->lab, path, LEAF_qp_sq_sig_all) != 0;
    *ret = q;
    return true;
}

bool why_not_peer(const struct why_not *w, const struct why_not_qp *q, char ret[TREE_PATH_BYTES])
{
    struct text t = text_on(ret, TREE_PATH_BYTES);
    struct rdl_value v;
    uint32_t host;

    if (qp_type_is_datagram(q->type) || !tree_leaf(w->lab, q->path, LEAF_qp_peer, &v) ||
        v.text[0] == '\0')
        return false;
    host = ev_names_find_host(w->past->names, v.text);
    ev_names_object(w->past->names, &t, host, OBJ_QP,
                    (uint32_t)tree_number(w->lab, q->path, LEAF_qp_dest_qpn));
    return tree_is(w->lab, ret, NODE_qp);
}

uint64_t why_not_receives_posted(const struct why_not *w, const char *qp,
                                 char ret_queue[TREE_PATH_BYTES])
{
    struct text t = text_on(ret_queue, TREE_PATH_BYTES);
    char host[RDL_NAME_BYTES], rq[TREE_PATH_BYTES], side[TREE_PATH_BYTES];
    struct rdl_value srq;
    uint64_t avail;

    if (tree_leaf(w->lab, qp, LEAF_qp_srq, &srq) && srq.text[0]) {
        tree_host_of(qp, host);
        tree_join(&t, host, srq.text);
        return tree_number(w->lab, ret_queue, LEAF_srq_posted);
    }
    text_add(&t, qp);
    if (tree_child(w->lab, qp, CHILD_qp_recv_ring, rq))
        return tree_number(w->lab, rq, LEAF_ring_waiting);
    if (!tree_child(w->lab, qp, CHILD_qp_rq, rq))
        return 0;
    (void)tree_child(w->lab, rq, CHILD_queue_driver, side);
    avail = tree_number(w->lab, side, LEAF_driver_side_avail_idx);
    (void)tree_child(w->lab, rq, CHILD_queue_device, side);
    return (uint16_t)(avail - tree_number(w->lab, side, LEAF_device_side_avail_idx));
}

/* The first memory region of a protection domain that a receive can use. */
struct region_search {
    const struct rdl_lab *lab;
    const char *host, *pd; /* names */
    char name[RDL_NAME_BYTES];
    uint64_t bytes;
};

static void each_region(void *ctx, const char *key, const struct rdl_value *v)
{
    struct region_search *s = ctx;
    char path[TREE_PATH_BYTES];
    struct text p = text_on(path, sizeof(path)), name;
    struct rdl_value pd;

    if (s->bytes > 0 || !tree_value_is(v, NODE_mr))
        return;
    tree_join(&p, s->host, key);
    if (!tree_leaf(s->lab, path, LEAF_mr_pd, &pd) || strcmp(pd.text, s->pd) != 0 ||
        !(tree_number(s->lab, path, LEAF_mr_access) & ACC_LOCAL_WRITE))
        return;
    s->bytes = tree_number(s->lab, path, LEAF_mr_bytes);
    name = text_on(s->name, sizeof(s->name));
    text_add(&name, key);
}

void why_not_add_receive(struct text *to, const struct why_not *w, const char *queue)
{
    const bool shared = tree_is(w->lab, queue, NODE_srq);
    char host[RDL_NAME_BYTES], sge[RDL_NAME_BYTES + 32];
    struct text t = text_on(sge, sizeof(sge));
    struct region_search s = {.lab = w->lab, .host = host};
    struct rdl_value pd;
    size_t at;

    tree_host_of(queue, host);
    if (tree_leaf(w->lab, queue, shared ? LEAF_srq_pd : LEAF_qp_pd, &pd)) {
        s.pd = pd.text;
        if (rdl_inspect_list(w->lab, host, each_region, &s, &at) != RDL_OK)
            s.bytes = 0;
    }
    if (s.bytes >= RECEIVE_BYTES)
        text_addf(&t, "%s[0:%uk]", s.name, RECEIVE_BYTES >> 10);
    else
        text_add(&t, s.bytes > 0 ? s.name : "...");
    text_addf(to, "%s %s sge=%s", shared ? "post_srq_recv" : "post_recv", queue, sge);
}

void why_not_try_receive(struct why_not *w, const char *queue)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    if (w->for_program) {
        why_not_say(w, "Its program has to call %s() for it.",
                    tree_is(w->lab, queue, NODE_srq) ? "ibv_post_srq_recv" : "ibv_post_recv");
        return;
    }
    why_not_add_receive(&t, w, queue);
    why_not_try(w, "%s, then run", buf);
}

struct waits {
    struct why_not *w;
    const char *host;
    size_t n;
};

static void say_wait(void *ctx, const struct rdl_wait *w)
{
    struct waits *of = ctx;
    const size_t n = strlen(of->host);

    if (n && (strncmp(w->path, of->host, n) != 0 || (w->path[n] && w->path[n] != '.')))
        return;
    if (of->n++ == 0)
        why_not_say(of->w, "What is waited for%s%s:", n ? " at " : "", of->host);
    of->w->indent += 2;
    why_not_say(of->w, "%s", w->sentence);
    of->w->indent -= 2;
}

void why_not_waits(struct why_not *w, const char *host)
{
    struct waits of = {w, host, 0};

    if (host[0])
        (void)why_not_lnet(w, host);
    rdl_waits(w->lab, say_wait, &of);
    if (of.n == 0)
        why_not_say(w, "Nobody%s%s waits for anything.", host[0] ? " at " : "", host);
}
