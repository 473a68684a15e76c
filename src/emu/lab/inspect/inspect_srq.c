/* SPDX-License-Identifier: MIT */
/* Inspect tree: shared receive queues. */
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/rnic/rnic.h"

void visit_srq(const struct inode *n, struct visit *v)
{
    const struct guest_srq *g = n->object;
    const struct srq *srq = g->srqn ? hca_srq(&n->host->rnic->hca, g->srqn) : NULL;
    const struct rdma_device *d = &n->host->device;

    inspect_leaf(v, LEAF_srq_srqn, g->srqn);
    inspect_text(v, LEAF_srq_pd, g->pd->o.name);
    inspect_leaf(v, LEAF_srq_max_wr, g->rq.max_wr);
    inspect_leaf(v, LEAF_srq_max_sge, g->rq.max_sge);
    inspect_leaf(v, LEAF_srq_users, g->o.n_users);
    inspect_leaf(v, LEAF_srq_async_unacked, g->o.n_unacked);
    if (!srq)
        return;
    inspect_leaf(v, LEAF_srq_limit, srq->limit);
    inspect_leaf(v, LEAF_srq_posted, d->ops->shared_receives(d->dev, g->srqn));
    inspect_leaf(v, LEAF_srq_taken, srq->taken);
    inspect_leaf(v, LEAF_srq_error, srq->error);
    if (host_rdma(n->host))
        inspect_child(v, CHILD_srq_rq, queue_node(n, FN_RDMA, g->rq.queue));
    inspect_srq_ring(n, v, g->srqn);
}
