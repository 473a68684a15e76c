// SPDX-License-Identifier: GPL-2.0
/* Steps of the cases: verbs of the kernel, whose failures are printed. */
#include "selftest.h"

static void on_event(struct ib_cq *cq, void *context)
{
	struct end *end = context;

	complete(&end->event);
}

/* Waits for one completion, by an event if it is not there yet. */
int wait_wc(struct test *t, struct end *end, struct ib_wc *wc)
{
	unsigned int armings = 0;

	while (ib_poll_cq(end->cq, 1, wc) != 1) {
		reinit_completion(&end->event);
		if (ib_req_notify_cq(end->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
			continue;
		if (!wait_for_completion_timeout(&end->event, t->wait) || armings++ > 100) {
			complain(t, "no completion");
			return -ETIMEDOUT;
		}
	}
	return 0;
}

/* Fails if @wc is not the success of @wr_id. */
int judge(struct test *t, struct end *end, const struct ib_wc *wc, u64 wr_id,
	  enum ib_wc_opcode opcode)
{
	if (!wc->status && wc->wr_id == wr_id && wc->opcode == opcode && wc->qp == end->qp)
		return 0;
	complain(t, "%llu: %s, opcode %u, vendor error %u; expected %llu, opcode %u", wc->wr_id,
		 ib_wc_status_msg(wc->status), wc->opcode, wc->vendor_err, wr_id, opcode);
	return -EIO;
}

int expect(struct test *t, struct end *end, u64 wr_id, enum ib_wc_opcode opcode)
{
	struct ib_wc wc;

	return wait_wc(t, end, &wc) ?: judge(t, end, &wc, wr_id, opcode);
}

int post(struct test *t, struct end *end, struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad;
	int err;

	wr->send_flags |= IB_SEND_SIGNALED;
	err = ib_post_send(end->qp, wr, &bad);
	if (err)
		complain(t, "ib_post_send: %d", err);
	return err;
}

struct ib_sge sge_of(struct test *t, u32 offset, u32 bytes)
{
	return (struct ib_sge){ t->dma + offset, bytes, t->pd->local_dma_lkey };
}

int post_recv(struct test *t, struct end *end, u64 wr_id, u32 offset, u32 bytes)
{
	struct ib_sge sge = sge_of(t, offset, bytes);
	const struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	int err = ib_post_recv(end->qp, &wr, NULL);

	if (err)
		complain(t, "ib_post_recv: %d", err);
	return err;
}

int send(struct test *t, struct end *end, u64 wr_id, u32 offset, u32 bytes, int flags)
{
	struct ib_sge sge = sge_of(t, offset, bytes);
	struct ib_send_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
				 .opcode = IB_WR_SEND, .send_flags = flags };

	return post(t, end, &wr);
}

int rdma(struct test *t, enum ib_wr_opcode opcode, u32 offset, u32 remote, u32 bytes)
{
	struct ib_sge sge = sge_of(t, offset, bytes);
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = opcode, .sg_list = &sge, .num_sge = 1, .opcode = opcode },
		.remote_addr = t->remote_addr + remote,
		.rkey = t->rkey,
	};

	return post(t, &t->a, &wr.wr);
}

int same(struct test *t, u32 at, u32 other, u32 bytes)
{
	if (!memcmp(t->buffer + at, t->buffer + other, bytes))
		return 0;
	complain(t, "the data differ");
	return -EIO;
}

void close_end(struct end *end)
{
	if (!IS_ERR_OR_NULL(end->qp))
		ib_destroy_qp(end->qp);
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
	memset(end, 0, sizeof(*end));
}

int open_end(struct test *t, struct end *end, enum ib_qp_type type, struct ib_srq *srq)
{
	struct ib_cq_init_attr cq_attr = { .cqe = 2 * DEPTH };
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = srq ? 0 : DEPTH, .max_send_sge = 2,
			 .max_recv_sge = srq ? 0 : 2, .max_inline_data = 64 },
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = type,
		.srq = srq,
	};
	int err;

	init_completion(&end->event);
	cq_attr.comp_vector = end == &t->b ? t->ib->num_comp_vectors - 1 : 0;
	end->cq = ib_create_cq(t->ib, on_event, NULL, end, &cq_attr);
	if (IS_ERR(end->cq)) {
		err = PTR_ERR(end->cq);
		end->cq = NULL;
		complain(t, "ib_create_cq: %d", err);
		return err;
	}
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	end->qp = ib_create_qp(t->pd, &attr);
	if (IS_ERR(end->qp)) {
		err = PTR_ERR(end->qp);
		end->qp = NULL;
		complain(t, "ib_create_qp: %d", err);
		close_end(end);
		return err;
	}
	return 0;
}

void set_address(struct test *t, struct rdma_ah_attr *ah)
{
	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(ah, 1);
	rdma_ah_set_grh(ah, &t->dgid, 0, t->gid->index, 64, 0);
	ah->grh.sgid_attr = t->gid;
	memcpy(ah->roce.dmac, t->dmac, ETH_ALEN);
}

/* Takes a connected queue pair to RTS. */
int connect_end(struct test *t, struct end *end, u32 qpn)
{
	const bool is_rc = end->qp->qp_type == IB_QPT_RC;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE |
				   (is_rc ? IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC : 0),
		.path_mtu = IB_MTU_1024,
		.dest_qp_num = qpn,
		.max_dest_rd_atomic = 4,
		.max_rd_atomic = 4,
		.min_rnr_timer = 12,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
	};
	int err;

	err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX |
			   IB_QP_ACCESS_FLAGS);
	attr.qp_state = IB_QPS_RTR;
	set_address(t, &attr.ah_attr);
	if (!err)
		err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
				   IB_QP_DEST_QPN | IB_QP_RQ_PSN |
				   (is_rc ? IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER : 0));
	attr.qp_state = IB_QPS_RTS;
	if (!err)
		err = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN |
				   (is_rc ? IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
					    IB_QP_MAX_QP_RD_ATOMIC : 0));
	if (err)
		complain(t, "ib_modify_qp to %u: %d", attr.qp_state, err);
	return err;
}

/* Opens and connects two ends of this device, in place of those that @t has. */
int open_pair(struct test *t, enum ib_qp_type type, struct ib_srq *srq_of_b)
{
	memset(&t->a, 0, sizeof(t->a));
	memset(&t->b, 0, sizeof(t->b));
	return open_end(t, &t->a, type, NULL) ?: open_end(t, &t->b, type, srq_of_b) ?:
	       connect_end(t, &t->a, t->b.qp->qp_num) ?: connect_end(t, &t->b, t->a.qp->qp_num);
}

void close_pair(struct test *t)
{
	close_end(&t->a);
	close_end(&t->b);
}

int set_state(struct test *t, struct end *end, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int err = ib_modify_qp(end->qp, &attr, IB_QP_STATE);

	if (err)
		complain(t, "ib_modify_qp to %u: %d", state, err);
	return err;
}

/* Registers the second half of the buffer by the send queue of @end. */
int fast_register(struct test *t, struct end *end, struct ib_mr *mr, int access)
{
	struct ib_reg_wr reg = { .wr = { .wr_id = 40, .opcode = IB_WR_REG_MR }, .mr = mr,
				 .access = access };
	struct scatterlist sg;
	int n;

	sg_init_one(&sg, t->buffer + HALF, HALF);
	sg_dma_address(&sg) = t->dma + HALF;
	sg_dma_len(&sg) = HALF;
	n = ib_map_mr_sg(mr, &sg, 1, NULL, PAGE_SIZE);
	if (n != 1) {
		complain(t, "ib_map_mr_sg: %d", n);
		return n < 0 ? n : -EINVAL;
	}
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	reg.key = mr->rkey;
	return post(t, end, &reg.wr) ?: expect(t, end, 40, IB_WC_REG_MR);
}

int invalidate(struct test *t, struct end *end, u32 key)
{
	struct ib_send_wr wr = { .wr_id = 41, .opcode = IB_WR_LOCAL_INV,
				 .ex.invalidate_rkey = key };

	return post(t, end, &wr) ?: expect(t, end, 41, IB_WC_LOCAL_INV);
}
