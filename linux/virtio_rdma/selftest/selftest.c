// SPDX-License-Identifier: GPL-2.0
/*
 * A test of the driver virtio_rdma, by verbs of the kernel alone.
 *
 * Loading the module runs the test on the RDMA device of the interface
 * @netdev; loading fails if a case fails. With @peer, the address of another
 * host, and the number of a queue pair that waits there, the cases of one
 * connection run against that host: it needs 64 KiB of memory at @peer_addr
 * with the key @peer_key, and must send back nothing. Without a peer, both
 * ends are queue pairs of this device, and all cases run.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/inet.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <net/arp.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_verbs.h>

#define BUFFER		SZ_64K
#define HALF		(BUFFER / 2)
#define PART		4096
#define DEPTH		16
#define QKEY		0x1234

static char *netdev = "eth0";
module_param(netdev, charp, 0444);
MODULE_PARM_DESC(netdev, "interface whose RDMA device is tested (eth0)");
static char *peer;
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "IPv4 address of another host (none: this device)");
static uint peer_qpn, peer_key;
module_param(peer_qpn, uint, 0444);
MODULE_PARM_DESC(peer_qpn, "its queue pair");
module_param(peer_key, uint, 0444);
MODULE_PARM_DESC(peer_key, "rkey of its memory");
static unsigned long peer_addr;
module_param(peer_addr, ulong, 0444);
MODULE_PARM_DESC(peer_addr, "address of its memory");
static uint rounds = 20;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how often objects are created and destroyed (20)");
static uint cases_max = UINT_MAX;
module_param(cases_max, uint, 0444);
MODULE_PARM_DESC(cases_max, "how many cases are run (all)");
static uint wait_ms = 10000;
module_param(wait_ms, uint, 0444);
MODULE_PARM_DESC(wait_ms, "milliseconds that a completion may take (10000)");

/* One end: a queue pair with a completion queue of its own. */
struct end {
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct completion event;
	unsigned int n_events;
};

struct test {
	struct ib_device *ib;
	struct ib_pd *pd;
	const struct ib_gid_attr *gid;
	union ib_gid dgid;
	u8 dmac[ETH_ALEN];
	u8 *buffer;
	u64 dma;
	struct end a, b;
	struct ib_mr *mr;	/* of the second half of the buffer, for the other end */
	u64 remote_addr;
	u32 rkey;
	const char *name;
};

#define complain(t, fmt, ...) pr_err("%s: " fmt "\n", (t)->name, ##__VA_ARGS__)

static void on_event(struct ib_cq *cq, void *context)
{
	struct end *end = context;

	end->n_events++;
	complete(&end->event);
}

static unsigned long wait_time(void)
{
	return max(msecs_to_jiffies(wait_ms), 1UL);
}

/* Waits for one completion, by an event if it is not there yet. */
static int wait_wc(struct test *t, struct end *end, struct ib_wc *wc)
{
	unsigned int armings = 0;

	while (ib_poll_cq(end->cq, 1, wc) != 1) {
		reinit_completion(&end->event);
		if (ib_req_notify_cq(end->cq, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0)
			continue;
		if (!wait_for_completion_timeout(&end->event, wait_time()) || armings++ > 100) {
			complain(t, "no completion");
			return -ETIMEDOUT;
		}
	}
	return 0;
}

static int expect(struct test *t, struct end *end, u64 wr_id, enum ib_wc_opcode opcode)
{
	struct ib_wc wc;
	int err = wait_wc(t, end, &wc);

	if (err)
		return err;
	if (wc.status || wc.wr_id != wr_id || wc.opcode != opcode || wc.qp != end->qp) {
		complain(t, "%llu: %s, opcode %u, vendor error %u; expected %llu, opcode %u",
			 wc.wr_id, ib_wc_status_msg(wc.status), wc.opcode, wc.vendor_err, wr_id,
			 opcode);
		return -EIO;
	}
	return 0;
}

static int post(struct test *t, struct end *end, struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad;
	int err;

	wr->send_flags |= IB_SEND_SIGNALED;
	err = ib_post_send(end->qp, wr, &bad);
	if (err)
		complain(t, "ib_post_send: %d", err);
	return err;
}

static struct ib_sge sge_of(struct test *t, u32 offset, u32 bytes)
{
	return (struct ib_sge){ t->dma + offset, bytes, t->pd->local_dma_lkey };
}

static int post_recv(struct test *t, struct end *end, u64 wr_id, u32 offset, u32 bytes)
{
	struct ib_sge sge = sge_of(t, offset, bytes);
	const struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 };
	int err = ib_post_recv(end->qp, &wr, NULL);

	if (err)
		complain(t, "ib_post_recv: %d", err);
	return err;
}

static int send(struct test *t, struct end *end, u64 wr_id, u32 offset, u32 bytes, int flags)
{
	struct ib_sge sge = sge_of(t, offset, bytes);
	struct ib_send_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1,
				 .opcode = IB_WR_SEND, .send_flags = flags };

	return post(t, end, &wr);
}

static int rdma(struct test *t, enum ib_wr_opcode opcode, u32 offset, u32 remote, u32 bytes)
{
	struct ib_sge sge = sge_of(t, offset, bytes);
	struct ib_rdma_wr wr = {
		.wr = { .wr_id = opcode, .sg_list = &sge, .num_sge = 1, .opcode = opcode },
		.remote_addr = t->remote_addr + remote,
		.rkey = t->rkey,
	};

	return post(t, &t->a, &wr.wr);
}

static int same(struct test *t, u32 at, u32 other, u32 bytes)
{
	if (!memcmp(t->buffer + at, t->buffer + other, bytes))
		return 0;
	complain(t, "the data differ");
	return -EIO;
}

static void close_end(struct end *end)
{
	if (!IS_ERR_OR_NULL(end->qp))
		ib_destroy_qp(end->qp);
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
	memset(end, 0, sizeof(*end));
}

static int open_end(struct test *t, struct end *end, enum ib_qp_type type, struct ib_srq *srq)
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

static void set_address(struct test *t, struct rdma_ah_attr *ah)
{
	ah->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_port_num(ah, 1);
	rdma_ah_set_grh(ah, &t->dgid, 0, t->gid->index, 64, 0);
	ah->grh.sgid_attr = t->gid;
	memcpy(ah->roce.dmac, t->dmac, ETH_ALEN);
}

/* Takes a connected queue pair to RTS. */
static int connect_end(struct test *t, struct end *end, u32 qpn)
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

static int set_state(struct test *t, struct end *end, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int err = ib_modify_qp(end->qp, &attr, IB_QP_STATE);

	if (err)
		complain(t, "ib_modify_qp to %u: %d", state, err);
	return err;
}

/* Registers the second half of the buffer by the send queue of @end. */
static int fast_register(struct test *t, struct end *end, struct ib_mr *mr, int access)
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

static int invalidate(struct test *t, struct end *end, u32 key)
{
	struct ib_send_wr wr = { .wr_id = 41, .opcode = IB_WR_LOCAL_INV,
				 .ex.invalidate_rkey = key };

	return post(t, end, &wr) ?: expect(t, end, 41, IB_WC_LOCAL_INV);
}

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
		const unsigned long end = jiffies + wait_time();

		reinit_completion(&t->a.event);
		err = ib_req_notify_cq(t->a.cq, IB_CQ_NEXT_COMP) ?:
		      rdma(t, IB_WR_RDMA_WRITE, 0, 0, 8);
		while (!err && ib_poll_cq(t->a.cq, 1, &wc) != 1) {
			if (time_after(jiffies, end))
				err = -ETIMEDOUT;
			cpu_relax();
		}
		if (!err && !wait_for_completion_timeout(&t->a.event, wait_time() / 2))
			err = -ETIMEDOUT;
	}
	if (err)
		complain(t, "round %u: no event: %d", i, err);
	return err;
}

static int case_solicited(struct test *t)
{
	struct ib_wc wc;
	int err = post_recv(t, &t->b, 9, 0, 64) ?: post_recv(t, &t->b, 10, 0, 64);

	/* An arming of an earlier case may be left. */
	while (ib_poll_cq(t->b.cq, 1, &wc) == 1)
		;
	if (!err && !send(t, &t->a, 11, 64, 8, IB_SEND_SOLICITED))
		err = expect(t, &t->a, 11, IB_WC_SEND) ?: expect(t, &t->b, 9, IB_WC_RECV);
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
	if (!err && !wait_for_completion_timeout(&t->b.event, wait_time())) {
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
	int err;

	memset(&u.a, 0, sizeof(u.a));
	memset(&u.b, 0, sizeof(u.b));
	err = open_end(&u, &u.a, IB_QPT_UC, NULL) ?: open_end(&u, &u.b, IB_QPT_UC, NULL) ?:
	      connect_end(&u, &u.a, u.b.qp->qp_num) ?: connect_end(&u, &u.b, u.a.qp->qp_num) ?:
	      case_send(&u);
	close_end(&u.a);
	close_end(&u.b);
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
	memset(&u.a, 0, sizeof(u.a));
	memset(&u.b, 0, sizeof(u.b));
	err = open_end(&u, &u.a, IB_QPT_RC, NULL) ?: open_end(&u, &u.b, IB_QPT_RC, srq) ?:
	      connect_end(&u, &u.a, u.b.qp->qp_num) ?: connect_end(&u, &u.b, u.a.qp->qp_num);
	for (i = 0; i < 3 * DEPTH && !err; i++) {
		get_random_bytes(t->buffer, PART);
		err = ib_post_srq_recv(srq, &wr, NULL) ?: send(&u, &u.a, 61, 0, PART, 0) ?:
		      expect(&u, &u.a, 61, IB_WC_SEND) ?: expect(&u, &u.b, 60, IB_WC_RECV) ?:
		      same(&u, 0, PART, PART);
	}
	if (!err)
		err = ib_post_srq_recv(srq, &wr, NULL); /* one is left */
	close_end(&u.a);
	close_end(&u.b);
	ib_destroy_srq(srq);
	return err;
}

/* Numbers and queues come back clean, also if work is left in them. */
static int case_again_and_again(struct test *t)
{
	struct test u = *t;
	unsigned int i;
	int err = 0;

	for (i = 0; i < rounds && !err; i++) {
		memset(&u.a, 0, sizeof(u.a));
		memset(&u.b, 0, sizeof(u.b));
		err = open_end(&u, &u.a, IB_QPT_RC, NULL) ?: open_end(&u, &u.b, IB_QPT_RC, NULL) ?:
		      connect_end(&u, &u.a, u.b.qp->qp_num) ?:
		      connect_end(&u, &u.b, u.a.qp->qp_num) ?: case_send(&u);
		err = err ?: post_recv(&u, &u.b, 1, 0, 64) ?: post_recv(&u, &u.b, 2, 0, 64) ?:
		      send(&u, &u.a, 3, 0, 64, 0); /* whose completions nobody polls */
		close_end(&u.a);
		close_end(&u.b);
	}
	return err;
}

static const struct {
	const char *name;
	int (*run)(struct test *t);
	bool both_ends;
} cases[] = {
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

/* Finds the GID of an IPv4 address. */
static int find_gid(struct test *t)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		const struct ib_gid_attr *gid = rdma_get_gid_attr(t->ib, 1, i);

		if (IS_ERR(gid))
			continue;
		if (ipv6_addr_v4mapped((struct in6_addr *)&gid->gid)) {
			t->gid = gid;
			return 0;
		}
		rdma_put_gid_attr(gid);
	}
	pr_err("there is no GID of an IPv4 address\n");
	return -EADDRNOTAVAIL;
}

/* Finds the address of the other end: consumers in the kernel bring its MAC. */
static int find_peer(struct test *t, struct net_device *ndev)
{
	struct neighbour *n;
	__be32 address;

	if (!peer) {
		t->dgid = t->gid->gid;
		memcpy(t->dmac, ndev->dev_addr, ETH_ALEN);
		return 0;
	}
	address = in_aton(peer);
	ipv6_addr_set_v4mapped(address, (struct in6_addr *)&t->dgid);
	n = neigh_lookup(&arp_tbl, &address, ndev);
	if (!n) {
		pr_err("no neighbour %s: ping it first\n", peer);
		return -EHOSTUNREACH;
	}
	neigh_ha_snapshot(t->dmac, n, ndev);
	neigh_release(n);
	return 0;
}

static int set_up(struct test *t)
{
	int err;

	t->name = "set up";
	t->dma = ib_dma_map_single(t->ib, t->buffer, BUFFER, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(t->ib, t->dma))
		return -ENOMEM;
	t->pd = ib_alloc_pd(t->ib, 0);
	if (IS_ERR(t->pd)) {
		err = PTR_ERR(t->pd);
		t->pd = NULL;
		return err;
	}
	err = open_end(t, &t->a, IB_QPT_RC, NULL);
	if (peer) {
		t->remote_addr = peer_addr;
		t->rkey = peer_key;
		return err ?: connect_end(t, &t->a, peer_qpn);
	}
	err = err ?: open_end(t, &t->b, IB_QPT_RC, NULL);
	err = err ?: connect_end(t, &t->a, t->b.qp->qp_num) ?:
	      connect_end(t, &t->b, t->a.qp->qp_num);
	if (err)
		return err;
	t->mr = ib_alloc_mr(t->pd, IB_MR_TYPE_MEM_REG, HALF / PAGE_SIZE);
	if (IS_ERR(t->mr)) {
		err = PTR_ERR(t->mr);
		t->mr = NULL;
		return err;
	}
	err = fast_register(t, &t->b, t->mr, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			    IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC);
	t->remote_addr = t->mr->iova;
	t->rkey = t->mr->rkey;
	return err;
}

static void tear_down(struct test *t)
{
	close_end(&t->a);
	close_end(&t->b);
	if (t->mr)
		ib_dereg_mr(t->mr);
	if (t->pd)
		ib_dealloc_pd(t->pd);
	if (!ib_dma_mapping_error(t->ib, t->dma))
		ib_dma_unmap_single(t->ib, t->dma, BUFFER, DMA_BIDIRECTIONAL);
}

static int run_all(struct test *t)
{
	int err = set_up(t), failed = 0;
	unsigned int i;

	if (err)
		pr_err("set up: FAILED: %d\n", err);
	for (i = 0; i < min_t(u32, ARRAY_SIZE(cases), cases_max) && !err; i++) {
		if (cases[i].both_ends && peer)
			continue;
		t->name = cases[i].name;
		if (cases[i].run(t)) {
			pr_err("%s: FAILED\n", t->name);
			failed++;
			break; /* the connection is of no use any more */
		}
		pr_info("%s: ok\n", t->name);
	}
	tear_down(t);
	return err ?: failed ? -EIO : 0;
}

static int __init selftest_init(void)
{
	struct net_device *ndev = dev_get_by_name(&init_net, netdev);
	struct test *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int err = -ENODEV;

	if (!ndev || !t)
		goto free;
	t->ib = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
	if (!t->ib) {
		pr_err("%s has no RDMA device\n", netdev);
		goto free;
	}
	err = find_gid(t);
	if (err)
		goto put;
	err = find_peer(t, ndev);
	t->buffer = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(BUFFER));
	if (!err)
		err = t->buffer ? run_all(t) : -ENOMEM;
	free_pages((unsigned long)t->buffer, get_order(BUFFER));
	rdma_put_gid_attr(t->gid);
put:
	ib_device_put(t->ib);
free:
	kfree(t);
	dev_put(ndev);
	return err;
}

static void __exit selftest_exit(void)
{
}

module_init(selftest_init);
module_exit(selftest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test of the driver virtio_rdma");
