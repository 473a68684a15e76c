/* SPDX-License-Identifier: GPL-2.0 */
/* The test of the driver virtio_rdma: what its files share. This header comes first: pr_fmt. */
#ifndef VIRTIO_RDMA_SELFTEST_H
#define VIRTIO_RDMA_SELFTEST_H

#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/completion.h>
#include <linux/if_ether.h>
#include <linux/sizes.h>
#include <rdma/ib_verbs.h>

#define BUFFER		SZ_64K
#define HALF		(BUFFER / 2)
#define PART		4096
#define DEPTH		16

/* One end: a queue pair with a completion queue of its own. */
struct end {
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct completion event;
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
	unsigned int rounds;	/* how often objects are created and destroyed */
	unsigned long wait;	/* jiffies that a completion may take */
	const char *name;	/* of the case */
};

#define complain(t, fmt, ...) pr_err("%s: " fmt "\n", (t)->name, ##__VA_ARGS__)

/* verbs.c. Functions that return an int give 0, or an errno and have said why. */
int wait_wc(struct test *t, struct end *end, struct ib_wc *wc);
int judge(struct test *t, struct end *end, const struct ib_wc *wc, u64 wr_id,
	  enum ib_wc_opcode opcode);
int expect(struct test *t, struct end *end, u64 wr_id, enum ib_wc_opcode opcode);
int post(struct test *t, struct end *end, struct ib_send_wr *wr);
struct ib_sge sge_of(struct test *t, u32 offset, u32 bytes);
int post_recv(struct test *t, struct end *end, u64 wr_id, u32 offset, u32 bytes);
int send(struct test *t, struct end *end, u64 wr_id, u32 offset, u32 bytes, int flags);
int rdma(struct test *t, enum ib_wr_opcode opcode, u32 offset, u32 remote, u32 bytes);
int same(struct test *t, u32 at, u32 other, u32 bytes);
int open_end(struct test *t, struct end *end, enum ib_qp_type type, struct ib_srq *srq);
void close_end(struct end *end);
void set_address(struct test *t, struct rdma_ah_attr *ah);
int connect_end(struct test *t, struct end *end, u32 qpn);
int open_pair(struct test *t, enum ib_qp_type type, struct ib_srq *srq_of_b);
void close_pair(struct test *t);
int set_state(struct test *t, struct end *end, enum ib_qp_state state);
int fast_register(struct test *t, struct end *end, struct ib_mr *mr, int access);
int invalidate(struct test *t, struct end *end, u32 key);

/* cases.c */
struct selftest_case {
	const char *name;
	int (*run)(struct test *t);
	bool both_ends;		/* are of this device: not with a peer */
};

extern const struct selftest_case selftest_cases[];
extern const unsigned int selftest_n_cases;

#endif
