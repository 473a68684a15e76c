// SPDX-License-Identifier: GPL-2.0
/* The cases: each is a few steps, and fails with the first that fails. */
#include "selftest.h"

#include <linux/delay.h>
#include <linux/random.h>

#define QKEY 0x1234

/* The cases of one connection. */

static int case_write_read(struct test *t)
{
	get_random_bytes(t->buffer, PART);
	memset(t->buffer + PART, 0, PART);
	return rdma(t, IB_WR_RDMA_WRITE, 0, 0, PART) ?:
	       expect(t, &t->a, IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE) ?:
	       rdma(t, IB_WR_RDMA_READ, PART, 0, PART) ?:
	       expect(t, &t->a, IB_WR_RDMA_READ, IB_WC_RDMA_READ) ?: same(t, 0, PART, PART);
}

static int case_atomics(struct test *t)
{
	struct ib_sge sge = sge_of(t, 0, 8);
	u64 *value = (u64 *)t->buffer;
	struct ib_atomic_wr wr = {
		.wr = { .wr_id = 20, .sg_list = &sge, .num_sge = 1,
			.opcode = IB_WR_ATOMIC_FETCH_AND_ADD },
		.remote_addr = t->remote_addr + 64,
		.rkey = t->rkey,
		.compare_add = 5,
	};
	int err;

	value[1] = 1000;
	err = rdma(t, IB_WR_RDMA_WRITE, 8, 64, 8) ?:
	      expect(t, &t->a, IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE) ?: post(t, &t->a, &wr.wr) ?:
	      expect(t, &t->a, 20, IB_WC_FETCH_ADD);
	if (!err && value[0] != 1000) {
		complain(t, "fetch and add returns %llu", value[0]);
		err = -EIO;
	}
	wr.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP;
	wr.compare_add = 1005;
	wr.swap = 7;
	err = err ?: post(t, &t->a, &wr.wr) ?: expect(t, &t->a, 20, IB_WC_COMP_SWAP);
	if (!err && value[0] != 1005) {
		complain(t, "compare and swap returns %llu", value[0]);
		err = -EIO;
	}
	return err;
}

static int case_fast_registration(struct test *t)
{
	struct ib_mr *mr = ib_alloc_mr(t->pd, IB_MR_TYPE_MEM_REG, HALF / PAGE_SIZE);
	struct ib_sge sge;
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = 30, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_RDMA_WRITE },
		.remote_addr = t->remote_addr,
		.rkey = t->rkey,
	};
	unsigned int i;
	int err = 0;

	if (IS_ERR(mr)) {
		complain(t, "ib_alloc_mr: %ld", PTR_ERR(mr));
		return PTR_ERR(mr);
	}
	for (i = 0; i < 3 && !err; i++) {
		err = fast_register(t, &t->a, mr, IB_ACCESS_LOCAL_WRITE);
		sge = (struct ib_sge){ mr->iova + 100, 64, mr->lkey };
		err = err ?: post(t, &t->a, &wr.wr) ?: expect(t, &t->a, 30, IB_WC_RDMA_WRITE) ?:
		      invalidate(t, &t->a, mr->rkey);
	}
	return ib_dereg_mr(mr) ?: err;
}

/* The cases for which both ends are here. */

static int case_send(struct test *t)
{
	get_random_bytes(t->buffer, PART);
	return post_recv(t, &t->b, 1, PART, PART) ?: send(t, &t->a, 2, 0, PART, 0) ?:
	       expect(t, &t->a, 2, IB_WC_SEND) ?: expect(t, &t->b, 1, IB_WC_RECV) ?:
	       same(t, 0, PART, PART);
}

static int case_inline(struct test *t)
{
	struct ib_sge sge = { (uintptr_t)"inline data of a kernel", 24, 0 };
	struct ib_send_wr wr = { .wr_id = 3, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND,
				 .send_flags = IB_SEND_INLINE };
	int err = post_recv(t, &t->b, 4, 0, PART) ?: post(t, &t->a, &wr) ?:
		  expect(t, &t->a, 3, IB_WC_SEND) ?: expect(t, &t->b, 4, IB_WC_RECV);

	if (!err && strcmp(t->buffer, "inline data of a kernel")) {
		complain(t, "the data differ");
		err = -EIO;
	}
	return err;
}

static int case_immediate(struct test *t)
{
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = 5, .opcode = IB_WR_RDMA_WRITE_WITH_IMM,
			.ex.imm_data = cpu_to_be32(0x01020304) },
		.remote_addr = t->remote_addr,
		.rkey = t->rkey,
	};
	struct ib_wc wc;
	int err = post_recv(t, &t->b, 6, 0, 0) ?: post(t, &t->a, &wr.wr) ?:
		  expect(t, &t->a, 5, IB_WC_RDMA_WRITE) ?: wait_wc(t, &t->b, &wc);

	if (!err && (wc.status || wc.wr_id != 6 || wc.opcode != IB_WC_RECV_RDMA_WITH_IMM ||
		     !(wc.wc_flags & IB_WC_WITH_IMM) || wc.ex.imm_data != wr.wr.ex.imm_data)) {
		complain(t, "status %u, flags %#x", wc.status, wc.wc_flags);
		err = -EIO;
	}
	return err;
}

static int case_remote_invalidate(struct test *t)
{
	struct ib_mr *mr = ib_alloc_mr(t->pd, IB_MR_TYPE_MEM_REG, HALF / PAGE_SIZE);
	struct ib_send_wr wr = { .wr_id = 7, .opcode = IB_WR_SEND_WITH_INV };
	struct ib_wc wc;
	int err;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	err = fast_register(t, &t->b, mr, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ);
	wr.ex.invalidate_rkey = mr->rkey;
	err = err ?: post_recv(t, &t->b, 8, 0, 0) ?: post(t, &t->a, &wr) ?:
	      expect(t, &t->a, 7, IB_WC_SEND) ?: wait_wc(t, &t->b, &wc);
	if (!err && (wc.status || !(wc.wc_flags & IB_WC_WITH_INVALIDATE) ||
		     wc.ex.invalidate_rkey != mr->rkey)) {
		complain(t, "status %u, flags %#x, key %#x", wc.status, wc.wc_flags,
			 wc.ex.invalidate_rkey);
		err = -EIO;
	}
	return ib_dereg_mr(mr) ?: err;
}

/* An event comes even if the completion is polled before. */
static int case_polled_event(struct test *t)
{
	unsigned int i;
	struct ib_wc wc;
	int err = 0;

	for (i = 0; i < 50 && !err; i++) {
		const unsigned long end = jiffies + t->wait;

		reinit_completion(&t->a.event);
		err = ib_req_notify_cq(t->a.cq, IB_CQ_NEXT_COMP) ?:
		      rdma(t, IB_WR_RDMA_WRITE, 0, 0, 8);
		while (!err && ib_poll_cq(t->a.cq, 1, &wc) != 1) {
			if (time_after(jiffies, end))
				err = -ETIMEDOUT;
			cpu_relax();
		}
		err = err ?: judge(t, &t->a, &wc, IB_WR_RDMA_WRITE, IB_WC_RDMA_WRITE);
		if (!err && !wait_for_completion_timeout(&t->a.event, t->wait / 2))
			err = -ETIMEDOUT;
	}
	if (err)
		complain(t, "round %u: no completion or event: %d", i, err);
	return err;
}

static int case_solicited(struct test *t)
{
	struct ib_wc wc;
	int err = post_recv(t, &t->b, 9, 0, 64) ?: post_recv(t, &t->b, 10, 0, 64);

	while (ib_poll_cq(t->b.cq, 1, &wc) == 1)
		;
	/* An arming of an earlier case may be left: the first message uses it up. */
	err = err ?: send(t, &t->a, 11, 64, 8, IB_SEND_SOLICITED) ?:
	      expect(t, &t->a, 11, IB_WC_SEND) ?: expect(t, &t->b, 9, IB_WC_RECV);
	msleep(100);
	err = err ?: ib_req_notify_cq(t->b.cq, IB_CQ_SOLICITED);
	reinit_completion(&t->b.event);
	err = err ?: send(t, &t->a, 12, 64, 8, 0) ?: expect(t, &t->a, 12, IB_WC_SEND);
	if (!err && wait_for_completion_timeout(&t->b.event, HZ / 5)) {
		complain(t, "an event without solicitation");
		err = -EIO;
	}
	err = err ?: post_recv(t, &t->b, 13, 0, 64) ?:
	      send(t, &t->a, 14, 64, 8, IB_SEND_SOLICITED) ?: expect(t, &t->a, 14, IB_WC_SEND);
	if (!err && !wait_for_completion_timeout(&t->b.event, t->wait)) {
		complain(t, "no event");
		err = -ETIMEDOUT;
	}
	return err ?: expect(t, &t->b, 10, IB_WC_RECV) ?: expect(t, &t->b, 13, IB_WC_RECV);
}

/* A queue takes as many requests as it has, and again when their completions were polled. */
static int case_full(struct test *t)
{
	unsigned int i, round;
	int err = 0;

	for (round = 0; round < 2 && !err; round++) {
		for (i = 0; i < DEPTH && !err; i++)
			err = post_recv(t, &t->b, 100 + i, 0, 64);
		if (!err && !ib_post_recv(t->b.qp, &(struct ib_recv_wr){}, NULL)) {
			complain(t, "one too many");
			err = -EIO;
		}
		for (i = 0; i < DEPTH && !err; i++)
			err = send(t, &t->a, 200 + i, 0, 64, 0);
		for (i = 0; i < DEPTH && !err; i++)
			err = expect(t, &t->a, 200 + i, IB_WC_SEND) ?:
			      expect(t, &t->b, 100 + i, IB_WC_RECV);
	}
	return err;
}

/* In ERR everything is flushed; after RESET the queue pair can be used again. */
static int case_flush_and_reset(struct test *t)
{
	struct ib_wc wc;
	unsigned int i;
	int err = 0;

	for (i = 0; i < 4 && !err; i++)
		err = post_recv(t, &t->b, 300 + i, 0, 64);
	err = err ?: set_state(t, &t->b, IB_QPS_ERR) ?: send(t, &t->b, 304, 0, 64, 0);
	for (i = 0; i < 5 && !err; i++) {
		err = wait_wc(t, &t->b, &wc);
		if (!err && wc.status != IB_WC_WR_FLUSH_ERR) {
			complain(t, "%llu: %s", wc.wr_id, ib_wc_status_msg(wc.status));
			err = -EIO;
		}
	}
	err = err ?: set_state(t, &t->b, IB_QPS_RESET) ?: set_state(t, &t->a, IB_QPS_RESET) ?:
	      connect_end(t, &t->b, t->a.qp->qp_num);
	/* RESET removes what was posted before. */
	err = err ?: post_recv(t, &t->b, 305, 0, 64) ?: set_state(t, &t->b, IB_QPS_RESET) ?:
	      connect_end(t, &t->b, t->a.qp->qp_num) ?: connect_end(t, &t->a, t->b.qp->qp_num);
	return err ?: case_send(t);
}

static int case_datagrams(struct test *t)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct rdma_ah_attr ah_attr = {};
	struct end c = {}, e = {}, *ends[] = { &c, &e };
	struct ib_sge sge = sge_of(t, 0, 100);
	struct ib_ud_wr wr = {
		.wr = { .wr_id = 50, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND },
		.remote_qkey = QKEY,
	};
	int err = open_end(t, &c, IB_QPT_UD, NULL) ?: open_end(t, &e, IB_QPT_UD, NULL), i;

	for (i = 0; i < 2 && !err; i++) {
		attr.qp_state = IB_QPS_INIT;
		err = ib_modify_qp(ends[i]->qp, &attr, IB_QP_STATE | IB_QP_PORT |
				   IB_QP_PKEY_INDEX | IB_QP_QKEY);
		attr.qp_state = IB_QPS_RTR;
		err = err ?: ib_modify_qp(ends[i]->qp, &attr, IB_QP_STATE);
		attr.qp_state = IB_QPS_RTS;
		err = err ?: ib_modify_qp(ends[i]->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN);
	}
	set_address(t, &ah_attr);
	if (!err) {
		wr.ah = rdma_create_ah(t->pd, &ah_attr, 0);
		err = PTR_ERR_OR_ZERO(wr.ah);
	}
	if (!err) {
		wr.remote_qpn = e.qp->qp_num;
		get_random_bytes(t->buffer, 100);
		err = post_recv(t, &e, 51, PART, 140) ?: post(t, &c, &wr.wr) ?:
		      expect(t, &c, 50, IB_WC_SEND) ?: expect(t, &e, 51, IB_WC_RECV) ?:
		      same(t, 0, PART + 40, 100);
		rdma_destroy_ah(wr.ah, 0);
	}
	close_end(&c);
	close_end(&e);
	return err;
}

static int case_unreliable(struct test *t)
{
	struct test u = *t;
	int err = open_pair(&u, IB_QPT_UC, NULL) ?: case_send(&u);

	close_pair(&u);
	return err;
}

static int case_shared_receives(struct test *t)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = DEPTH, .max_sge = 1 } };
	struct ib_sge sge = sge_of(t, PART, PART);
	const struct ib_recv_wr wr = { .wr_id = 60, .sg_list = &sge, .num_sge = 1 };
	struct test u = *t;
	struct ib_srq *srq;
	unsigned int i;
	int err;

	srq = ib_create_srq(t->pd, &attr);
	if (PTR_ERR_OR_ZERO(srq) == -EOPNOTSUPP) {
		pr_info("%s: the device has none\n", t->name);
		return 0;
	}
	if (IS_ERR(srq))
		return PTR_ERR(srq);
	err = open_pair(&u, IB_QPT_RC, srq);
	for (i = 0; i < 3 * DEPTH && !err; i++) {
		get_random_bytes(t->buffer, PART);
		err = ib_post_srq_recv(srq, &wr, NULL) ?: send(&u, &u.a, 61, 0, PART, 0) ?:
		      expect(&u, &u.a, 61, IB_WC_SEND) ?: expect(&u, &u.b, 60, IB_WC_RECV) ?:
		      same(&u, 0, PART, PART);
	}
	if (!err)
		err = ib_post_srq_recv(srq, &wr, NULL); /* one is left */
	close_pair(&u);
	ib_destroy_srq(srq);
	return err;
}

/* Numbers and queues come back clean, also if work is left in them. */
static int case_again_and_again(struct test *t)
{
	struct test u = *t;
	unsigned int i;
	int err = 0;

	for (i = 0; i < t->rounds && !err; i++) {
		err = open_pair(&u, IB_QPT_RC, NULL) ?: case_send(&u);
		err = err ?: post_recv(&u, &u.b, 1, 0, 64) ?: post_recv(&u, &u.b, 2, 0, 64) ?:
		      send(&u, &u.a, 3, 0, 64, 0); /* whose completions nobody polls */
		close_pair(&u);
	}
	return err;
}

const struct selftest_case selftest_cases[] = {
	{ "write_read", case_write_read },
	{ "atomics", case_atomics },
	{ "fast_registration", case_fast_registration },
	{ "polled_event", case_polled_event },
	{ "send", case_send, true },
	{ "inline", case_inline, true },
	{ "immediate", case_immediate, true },
	{ "remote_invalidate", case_remote_invalidate, true },
	{ "solicited", case_solicited, true },
	{ "full", case_full, true },
	{ "flush_and_reset", case_flush_and_reset, true },
	{ "datagrams", case_datagrams, true },
	{ "unreliable", case_unreliable, true },
	{ "shared_receives", case_shared_receives, true },
	{ "again_and_again", case_again_and_again, true },
};

const unsigned int selftest_n_cases = ARRAY_SIZE(selftest_cases);
