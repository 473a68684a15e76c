/* SPDX-License-Identifier: MIT */
/* The objects of a program, as its connection knows them. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/live/exec_client.h"
#include "emu/base/assert.h"
#include "emu/facts/enum/object.h"
#include "rdmalab/events.h"
#include "rdmalab/memory.h"

enum program_kind exec_kind_of(uint32_t object)
{
    static const enum program_kind kinds[] = {
        [OBJ_PD] = PROGRAM_PD,           [OBJ_MR] = PROGRAM_MR,   [OBJ_CQ] = PROGRAM_CQ,
        [OBJ_QP] = PROGRAM_QP,           [OBJ_AH] = PROGRAM_AH,   [OBJ_MW] = PROGRAM_MW,
        [OBJ_CHANNEL] = PROGRAM_CHANNEL, [OBJ_SRQ] = PROGRAM_SRQ,
    };

    return object < ARRAY_LEN(kinds) ? kinds[object] : PROGRAM_NONE;
}

uint32_t exec_object_of(enum program_kind kind)
{
    uint32_t object = 0;

    RDL_ASSERT(kind != PROGRAM_NONE && kind < PROGRAM_KIND_COUNT);
    while (exec_kind_of(object) != kind)
        object++;
    return object;
}

enum rdl_status exec_destroy(struct rdl_lab *lab, uint32_t kind, uint64_t raw)
{
    switch (kind) {
    case PROGRAM_PD:
        return rdl_dealloc_pd(lab, (rdl_pd){raw});
    case PROGRAM_MR:
        return rdl_dereg_mr(lab, (rdl_mr){raw});
    case PROGRAM_MW:
        return rdl_dealloc_mw(lab, (rdl_mw){raw});
    case PROGRAM_CQ:
        return rdl_destroy_cq(lab, (rdl_cq){raw});
    case PROGRAM_SRQ:
        return rdl_destroy_srq(lab, (rdl_srq){raw});
    case PROGRAM_QP:
        return rdl_destroy_qp(lab, (rdl_qp){raw});
    case PROGRAM_AH:
        return rdl_destroy_ah(lab, (rdl_ah){raw});
    case PROGRAM_CHANNEL:
        return rdl_destroy_comp_channel(lab, (rdl_channel){raw});
    default:
        return RDL_ERR_INVAL;
    }
}

void *exec_entry_for(void **array, size_t *n, size_t bytes)
{
    static const uint64_t none;
    const size_t old = *n, more = old ? 2 * old : 8;
    char *grown;

    for (size_t i = 0; i < *n; i++) {
        if (memcmp((char *)*array + i * bytes, &none, sizeof(none)) == 0)
            return (char *)*array + i * bytes;
    }
    grown = realloc(*array, more * bytes);
    if (!grown)
        return NULL;
    memset(grown + old * bytes, 0, (more - old) * bytes);
    *array = grown;
    *n = more;
    return grown + old * bytes;
}

struct exec_cq *exec_cq_of(const struct exec_client *c, uint64_t handle)
{
    for (size_t i = 0; i < c->n_cqs && handle; i++) {
        if (c->cqs[i].handle == handle)
            return &c->cqs[i];
    }
    return NULL;
}

static bool queue_is(const struct exec_queue *q, enum program_kind kind, uint64_t handle)
{
    return q->handle == handle && q->is_srq == (kind == PROGRAM_SRQ);
}

struct exec_queue *exec_queue_of(const struct exec_client *c, enum program_kind kind,
                                 uint64_t handle, uint32_t slot)
{
    if (!handle || (kind != PROGRAM_QP && kind != PROGRAM_SRQ))
        return NULL;
    if (slot < c->n_queues && queue_is(&c->queues[slot], kind, handle))
        return &c->queues[slot];
    for (size_t i = 0; i < c->n_queues; i++) {
        if (queue_is(&c->queues[i], kind, handle))
            return &c->queues[i];
    }
    return NULL;
}

struct exec_channel *exec_channel_of(const struct exec_client *c, uint64_t handle)
{
    for (size_t i = 0; i < c->n_channels && handle; i++) {
        if (c->channels[i].handle == handle)
            return &c->channels[i];
    }
    return NULL;
}

void exec_ring_unmap(struct exec_ring *r)
{
    if (r->at)
        munmap(r->at, r->bytes);
    *r = (struct exec_ring){0};
}

static void forget_cq(struct exec_cq *q)
{
    exec_ring_unmap(&q->ring);
    exec_ring_unmap(&q->next);
    *q = (struct exec_cq){0};
}

static void forget_channel(struct exec_channel *ch)
{
    close(ch->pipe.fd);
    *ch = (struct exec_channel){0};
}

void exec_forget(struct exec_client *c, enum program_kind kind, uint64_t handle)
{
    struct exec_cq *cq = kind == PROGRAM_CQ ? exec_cq_of(c, handle) : NULL;
    struct exec_channel *ch = kind == PROGRAM_CHANNEL ? exec_channel_of(c, handle) : NULL;
    struct exec_queue *q = exec_queue_of(c, kind, handle, 0);

    if (cq)
        forget_cq(cq);
    if (ch)
        forget_channel(ch);
    if (q)
        *q = (struct exec_queue){0};
    for (size_t i = 0; i < c->n_members && kind == PROGRAM_QP; i++) {
        if (c->members[i].qp == handle)
            c->members[i] = (struct exec_member){0};
    }
}

struct exec_queue *exec_new_queue(struct exec_client *c)
{
    void *array = c->queues;
    struct exec_queue *q = exec_entry_for(&array, &c->n_queues, sizeof(*c->queues));

    c->queues = array;
    return q && q - c->queues < (ptrdiff_t)PROGRAM_QUEUES ? q : NULL;
}
