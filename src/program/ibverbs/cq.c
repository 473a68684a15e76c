/* SPDX-License-Identifier: MIT */
/* Completion queues and completion channels. */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "program/ibverbs/internal.h"

#define WC_FLAGS ((uint64_t)IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)

/* --- Channels --------------------------------------------------------------------------------- */

/* ibv_create_comp_channel(3).  Returns NULL and sets errno. */
struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    const struct maker m = MAKER(CREATE_CHANNEL);
    struct context *x = context_of(context);
    struct lib_channel *ch = calloc(1, sizeof(*ch));
    struct program_call call;
    struct program_answer answer;
    int error, fd;

    if (!ch)
        return null_because(ENOMEM);
    call_init_by(&call, PROGRAM_CREATE_CHANNEL, &m);
    error = connection_call(&x->c, &call, &answer, &fd);
    if (!error && fd < 0) {
        object_undo(x, PROGRAM_CHANNEL, answer.u.create_channel.handle);
        error = EMFILE;
    }
    if (error) {
        free(ch);
        return null_because(error);
    }
    object_live(x, &ch->o, PROGRAM_CHANNEL, answer.u.create_channel.handle);
    ch->pub = (struct ibv_comp_channel){.context = context, .fd = fd};
    return &ch->pub;
}

/* ibv_destroy_comp_channel(3).  Returns 0, EBUSY if a CQ uses it, or another errno value. */
int ibv_destroy_comp_channel(struct ibv_comp_channel *pub)
{
    struct lib_channel *ch = channel_of(pub);
    int error;

    if (!ch)
        return EINVAL;
    error = pub->refcnt > 0 ? EBUSY : object_destroy(&ch->o, -1);
    if (error)
        return error;
    close(pub->fd);
    object_bury(ch->o.context, ch);
    return 0;
}

static void channel_used(struct ibv_comp_channel *channel, int by)
{
    if (!channel)
        return;
    pthread_mutex_lock(&channel->context->mutex);
    channel->refcnt += by;
    pthread_mutex_unlock(&channel->context->mutex);
}

/* --- Completion queues ------------------------------------------------------------------------ */

/* A ring that is mapped. */
struct ring {
    struct program_cq *at;
    size_t bytes;
    uint32_t entries;
};

/* Maps the ring that came with an answer as @fd, which is closed.  Returns 0 or an errno value. */
static int map_ring(int fd, uint32_t entries, struct ring *ret)
{
    const size_t bytes = sizeof(struct program_cq) + (size_t)entries * sizeof(struct program_wc);
    struct stat st;
    void *at = MAP_FAILED;
    int error = EPROTO;

    if (fd < 0)
        return EMFILE;
    if (entries > 0 && (entries & (entries - 1)) == 0 && fstat(fd, &st) == 0 &&
        (uint64_t)st.st_size >= bytes) {
        at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        error = errno;
    }
    close(fd);
    if (at == MAP_FAILED)
        return error;
    madvise(at, bytes, MADV_DONTFORK);
    *ret = (struct ring){at, bytes, entries};
    return 0;
}

static void use_ring(struct lib_cq *cq, const struct ring *r)
{
    cq->ring = r->at;
    cq->ring_bytes = r->bytes;
    cq->entries = r->entries;
}

static int call_create_cq(struct context *x, struct lib_cq *cq, struct lib_channel *ch,
                          const struct ibv_cq_init_attr_ex *attr, const struct maker *m)
{
    struct program_call call;
    struct program_answer answer;
    struct ring ring;
    int error, fd;

    call_init_by(&call, PROGRAM_CREATE_CQ, m);
    call.u.create_cq.channel = ch ? ch->o.handle : 0;
    call.u.create_cq.cqe = attr->cqe;
    call.u.create_cq.vector = attr->comp_vector;
    error = connection_call(&x->c, &call, &answer, &fd);
    if (error)
        return error;
    error = map_ring(fd, answer.u.create_cq.entries, &ring);
    if (error) {
        object_undo(x, PROGRAM_CQ, answer.u.create_cq.handle);
        return error;
    }
    use_ring(cq, &ring);
    object_live(x, &cq->o, PROGRAM_CQ, answer.u.create_cq.handle);
    cq->pub.handle = (uint32_t)cq->o.handle;
    cq->pub.cqe = (int)answer.u.create_cq.cqe;
    return 0;
}

static struct ibv_cq_ex *create_cq(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr,
                                   const struct maker *m)
{
    struct context *x = context_of(context);
    struct lib_channel *ch = channel_of(attr->channel);
    const uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
    struct lib_cq *cq;
    int error;

    if ((attr->wc_flags & ~WC_FLAGS) || (flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED))
        return null_because(EOPNOTSUPP);
    if ((attr->comp_mask & ~(uint32_t)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD)) ||
        attr->comp_vector >= (uint32_t)context->num_comp_vectors || (attr->channel && !ch) ||
        attr->cqe == 0 || attr->cqe > x->c.device.max_cqe)
        return null_because(EINVAL);
    cq = calloc(1, sizeof(*cq));
    if (!cq)
        return null_because(ENOMEM);
    error = call_create_cq(x, cq, ch, attr, m);
    if (error) {
        free(cq);
        return null_because(error);
    }
    cq->pub.context = context;
    cq->pub.channel = attr->channel;
    cq->pub.cq_context = attr->cq_context;
    cq->single_threaded = (flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0;
    pthread_mutex_init(&cq->pub.mutex, NULL);
    pthread_cond_init(&cq->pub.cond, NULL);
    pthread_mutex_init(&cq->lock, NULL);
    poll_init_ex(&cq->pub);
    channel_used(attr->channel, 1);
    return &cq->pub;
}

struct ibv_cq_ex *cq_create_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    const struct maker m = MAKER_INLINE(CREATE_CQ_EX);

    return create_cq(context, attr, &m);
}

/* ibv_create_cq(3).  Returns NULL and sets errno. */
struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                             struct ibv_comp_channel *channel, int comp_vector)
{
    struct ibv_cq_init_attr_ex attr = {.cqe = (uint32_t)cqe,
                                       .cq_context = cq_context,
                                       .channel = channel,
                                       .comp_vector = (uint32_t)comp_vector};
    const struct maker m = MAKER(CREATE_CQ);
    struct ibv_cq_ex *cq = create_cq(context, &attr, &m);

    return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

/* Gets a ring for the queue when it has @cqe entries. */
static int call_new_ring(struct lib_cq *cq, uint32_t cqe, struct ring *ret)
{
    struct program_call call;
    struct program_answer answer;
    int error, fd;

    call_init(&call, PROGRAM_NEW_RING);
    call.u.new_ring.cq = cq->o.handle;
    call.u.new_ring.cqe = cqe;
    error = connection_call(&cq->o.context->c, &call, &answer, &fd);
    return error ? error : map_ring(fd, answer.u.new_ring.entries, ret);
}

/* Resizes the queue.  The lab moves the completions that are not polled to the new ring, with their
 * numbers, if there is one.
 */
static int call_resize_cq(struct lib_cq *cq, uint32_t cqe)
{
    struct program_call call;
    struct program_answer answer;
    int error;

    call_init(&call, PROGRAM_RESIZE_CQ);
    call.u.resize_cq.cq = cq->o.handle;
    call.u.resize_cq.cqe = cqe;
    error = connection_call(&cq->o.context->c, &call, &answer, NULL);
    if (!error)
        cq->pub.cqe = (int)answer.u.resize_cq.cqe;
    return error;
}

/* ibv_resize_cq(3).  Returns 0 or an errno value; then the queue is as it was. */
int ibv_resize_cq(struct ibv_cq *pub, int cqe)
{
    struct lib_cq *cq = cq_of(pub);
    struct ring old, new = {0};
    int error = 0;

    if (!cq || cqe <= 0 || (uint32_t)cqe > cq->o.context->c.device.max_cqe)
        return EINVAL;
    pthread_mutex_lock(&cq->lock); /* no one polls the old ring meanwhile */
    old = (struct ring){cq->ring, cq->ring_bytes, cq->entries};
    if (old.entries < program_ring_entries((uint32_t)cqe))
        error = call_new_ring(cq, (uint32_t)cqe, &new);
    if (!error)
        error = call_resize_cq(cq, (uint32_t)cqe);
    if (!error && new.at)
        use_ring(cq, &new);
    if (new.at)
        munmap(error ? new.at : old.at, error ? new.bytes : old.bytes);
    pthread_mutex_unlock(&cq->lock);
    return error;
}

/* ibv_destroy_cq(3).  Returns 0, EBUSY or another errno value.  Waits until the program has
 * acknowledged the events that it has got.
 */
int ibv_destroy_cq(struct ibv_cq *pub)
{
    struct lib_cq *cq = cq_of(pub);
    int error;

    if (!cq)
        return EINVAL;
    error = object_destroy(&cq->o, pub->channel ? pub->channel->fd : -1);
    if (error)
        return error;
    object_wait_acknowledged(&pub->mutex, &pub->cond, &pub->comp_events_completed,
                             cq->o.completion_events);
    object_wait_acknowledged(&pub->mutex, &pub->cond, &pub->async_events_completed,
                             cq->o.async_events);
    channel_used(pub->channel, -1);
    pthread_mutex_lock(&cq->lock);
    munmap(cq->ring, cq->ring_bytes);
    cq->ring = NULL;
    pthread_mutex_unlock(&cq->lock);
    object_bury(cq->o.context, cq);
    return 0;
}

int cq_req_notify(struct ibv_cq *pub, int solicited_only)
{
    struct lib_cq *cq = cq_of(pub);
    struct program_call call;
    struct program_answer answer;
    int error;

    if (!cq)
        return EINVAL;
    call_init(&call, PROGRAM_ARM_CQ);
    call.u.arm_cq.cq = cq->o.handle;
    call.u.arm_cq.solicited_only = solicited_only != 0;
    error = connection_call(&cq->o.context->c, &call, &answer, NULL);
    if (!error && cq->o.context->arms_unpolled && pub->channel &&
        atomic_load(&cq->ring->written) != atomic_load(&cq->polled))
        object_send_completion(&cq->o, pub->channel->fd);
    return error;
}
