/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Driver of virtio-rdma: what its files share.
 *
 * Locks, from the outside to the inside:
 *
 *   queue_mutex	creation and destruction of CQs, QPs and SRQs: a number
 *			may come back before its virtqueues are reset;
 *			the flushing of a dead device
 *   vrdma_wq.lock	posting to a send or receive queue
 *   vrdma_cq.lock	polling and arming
 *   vrdma_srq.lock	posting to a shared receive queue, freeing its slots
 *   vrdma_ctrl.lock	the ring of the control queue
 *   locks of tables	finding CQs, QPs and SRQs by their numbers
 *
 * All but the mutex are taken with interrupts off.
 */
#ifndef VIRTIO_RDMA_H
#define VIRTIO_RDMA_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/refcount.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "compat.h"
#include "virtio_rdma_abi.h"

#define VRDMA_PORT		1
#define VRDMA_QPN_GSI		1
#define VRDMA_RING_IDLE		2U	/* entries of a virtqueue without an object */
#define VRDMA_RING_MIN		4U	/* more: resizing always resets the queue */
#define VRDMA_SLOT_MIN		64U	/* so that no two slots share a cache line */
#define VRDMA_CTRL_SLOTS	64U	/* a power of two */
#define VRDMA_INLINE_MAX	512U
#define VRDMA_SGE_MAX		32U

struct dma_pool;

/* The counters of `rdma statistic`, in the order of stats.c. */
enum vrdma_stat {
	VRDMA_STAT_BAD_PKEY,
	VRDMA_STAT_BAD_QKEY,
	VRDMA_STAT_CTRL,
	VRDMA_STAT_CTRL_REFUSED,
	VRDMA_STAT_CTRL_SPUN,
	VRDMA_STAT_CTRL_TIMEOUTS,
	VRDMA_STAT_COMPLETIONS,
	VRDMA_STAT_COMPLETIONS_DROPPED,
	VRDMA_STAT_EVENTS,
	VRDMA_STAT_EVENTS_MADE_UP,
	VRDMA_STAT_EVENTS_UNKNOWN,
	VRDMA_STAT_ASYNC_EVENTS,
	VRDMA_STAT_ASYNC_EVENTS_MISSED,
	VRDMA_STATS
};

enum vrdma_flag {
	VRDMA_BROKEN,	/* the device answered wrongly, or not at all */
	VRDMA_DEAD,	/* and it has been reset: it accesses no memory any more */
	VRDMA_LISTENING,	/* interrupts of virtqueues are for the driver */
	VRDMA_REGISTERED,
	VRDMA_PORT_UP,
	VRDMA_LEAVING,
};

/* Slots of guest memory for the descriptors of one virtqueue; none crosses a page. */
struct vrdma_mem {
	void **pages;
	u32 n;
	u32 n_pages;
	u32 slot_bytes;
	u32 slots_per_page;
};

/* Control queue. */
struct vrdma_ctrl {
	struct virtqueue *vq;
	spinlock_t lock;		/* protects the ring, @pending and @next_slot */
	struct list_head pending;
	struct semaphore slots;		/* for requests that may sleep */
	struct vrdma_mem mem;		/* for responses */
	DECLARE_BITMAP(busy, VRDMA_CTRL_SLOTS);
	u32 next_slot;
};

/* A queue of completion events. */
struct vrdma_ceq {
	struct vrdma_dev *dev;
	struct virtqueue *vq;
	spinlock_t lock;		/* protects the ring */
	struct vrdma_mem mem;
	struct work_struct work;
};

struct vrdma_dev {
	struct ib_device ib;
	struct virtio_device *vdev;
	struct device *dma;
	struct virtio_rdma_config config;
	unsigned long flags;		/* of enum vrdma_flag */

	struct virtqueue **vqs;
	char (*names)[16];		/* of the virtqueues, which keep pointers to them */
	u32 n_vqs;
	u32 max_cq, max_qp, max_srq, n_ceq;
	u32 max_srq_wr, max_srq_sge;

	struct vrdma_ctrl ctrl;
	struct mutex queue_mutex;	/* see above */
	struct xarray cqs, qps, srqs;	/* of struct vrdma_ref, by number; with interrupts off */
	struct vrdma_ceq *ceqs;
	struct dma_pool *arm_pool;
	struct vrdma_mem event_mem;
	atomic_t n_ah;
	atomic64_t stats[VRDMA_STATS];

	struct net_device __rcu *ndev;	/* of function 0; changed under RTNL */
	struct notifier_block netdev_nb;

	struct completion dead;
	struct workqueue_struct *wq;
	struct work_struct break_work, config_work, event_work, port_work;
	struct delayed_work watch_work;
};

/* The send or receive queue of a QP: a FIFO of slots.
 *
 * Counters @head and @tail never wrap at the number of slots, but at 2^32.
 * The device gets the counter of a request as wr_id, and poll looks the
 * consumer's wr_id up by it, so that a wrong wr_id never reaches a consumer in
 * the kernel, to whom it is a pointer. A slot is free when its completion, or
 * a later one, has been polled.
 *
 * User space gets what the device says: there the wr_id of the program is
 * passed through, and a slot is free when the device has completed its chain.
 */
struct vrdma_wq {
	spinlock_t lock;		/* @head, and the virtqueue */
	struct virtqueue *vq;
	struct vrdma_mem mem;
	struct vrdma_wr *wr;		/* one for each slot */
	u32 n;				/* requests that can be posted */
	u32 mask;			/* number of slots - 1 */
	u32 head;
	u32 tail;			/* under the CQ's lock, or if @pass_through under @lock */
	u32 max_sge;
	bool pass_through;
	bool flushing;			/* the device is dead: complete at once */
};

struct vrdma_wr {
	u64 wr_id;
	bool signaled;
};

struct vrdma_ucontext {
	struct ib_ucontext ib;
};

struct vrdma_pd {
	struct ib_pd ib;
	u32 pdn;
};

struct vrdma_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;
	struct virtio_rdma_wr_ud ud;	/* without QPN and Q_Key */
};

/* An object that events name. */
struct vrdma_ref {
	refcount_t count;
	struct completion gone;
};

struct vrdma_cq {
	struct ib_cq ib;
	struct vrdma_ref ref;
	spinlock_t lock;		/* protects all that follows */
	struct virtqueue *vq;
	struct vrdma_mem mem;
	u32 cqn, vector;
	u32 limit;			/* buffers, fewer than slots after a resize */
	u32 *free, n_free;		/* stack of slots that nobody uses */
	u32 *kept, kept_first, n_kept;	/* ring of slots that were taken out of the ring */
	u8 armed;			/* VIRTIO_RDMA_NOTIFY_x, or 0 */
	bool dead;			/* completions come from the driver alone */
	struct virtio_rdma_cq_arm *arm;
	dma_addr_t arm_dma;
	u32 arm_sequence;
	struct work_struct event_work;	/* events that the driver makes up */
};

struct vrdma_srq {
	struct ib_srq ib;
	struct vrdma_ref ref;
	spinlock_t lock;		/* protects all that follows */
	struct virtqueue *vq;
	struct vrdma_mem mem;
	u32 srqn, max_sge;
	u32 *free, n_free;
	struct vrdma_srq_wr *wr;	/* one for each slot */
	bool pass_through;		/* as of vrdma_wq */
};

struct vrdma_srq_wr {
	u64 wr_id;
	u32 life;			/* how often the slot was used */
	bool busy;
};

struct vrdma_qp {
	struct ib_qp ib;
	struct vrdma_ref ref;
	u32 qpn;
	enum ib_qp_state state;
	bool signal_all;
	u32 max_inline;
	struct vrdma_wq sq, rq;
};

/* A list of pages in memory of the device's. */
struct vrdma_page_list {
	__le64 *pages;
	dma_addr_t dma;
	u32 n;
};

struct vrdma_mr {
	struct ib_mr ib;
	u32 mrn;
	struct vrdma_page_list list;	/* of a region for fast registration */
	u32 n_pages;			/* of @list that are mapped */
	struct ib_umem *umem;
};

struct vrdma_mw {
	struct ib_mw ib;
	u32 mwn;
};

#define vrdma_dev(x)	container_of(x, struct vrdma_dev, ib)
#define vrdma_pd(x)	container_of(x, struct vrdma_pd, ib)
#define vrdma_ah(x)	container_of(x, struct vrdma_ah, ib)
#define vrdma_cq(x)	container_of(x, struct vrdma_cq, ib)
#define vrdma_qp(x)	container_of(x, struct vrdma_qp, ib)
#define vrdma_srq(x)	container_of(x, struct vrdma_srq, ib)
#define vrdma_mr(x)	container_of(x, struct vrdma_mr, ib)
#define vrdma_mw(x)	container_of(x, struct vrdma_mw, ib)

static inline bool vrdma_has(const struct vrdma_dev *d, unsigned int feature)
{
	return virtio_has_feature(d->vdev, feature);
}

static inline bool vrdma_is_broken(const struct vrdma_dev *d)
{
	return test_bit(VRDMA_BROKEN, &d->flags);
}

/* For callbacks of virtqueues: false before the device is started and after it is stopped, when it
 * has no reason to interrupt, but may.
 */
static inline bool vrdma_listens(const struct vrdma_dev *d)
{
	return test_bit(VRDMA_LISTENING, &d->flags);
}

static inline void vrdma_count(struct vrdma_dev *d, enum vrdma_stat stat)
{
	atomic64_inc(&d->stats[stat]);
}

static inline void vrdma_ref_init(struct vrdma_ref *ref)
{
	refcount_set(&ref->count, 1);
	init_completion(&ref->gone);
}

static inline void vrdma_ref_put(struct vrdma_ref *ref)
{
	if (refcount_dec_and_test(&ref->count))
		complete(&ref->gone);
}

/* Returns the object of a reference that was found, or NULL if none was. */
#define vrdma_object(found, type) ({ \
	struct vrdma_ref *_found = (found); \
	_found ? container_of(_found, type, ref) : NULL; \
})

/* queues.c: numbers of virtqueues. */
struct virtqueue *vrdma_vq_of_cq(struct vrdma_dev *d, u32 cqn);
struct virtqueue *vrdma_vq_of_sq(struct vrdma_dev *d, u32 qpn);
struct virtqueue *vrdma_vq_of_rq(struct vrdma_dev *d, u32 qpn);
struct virtqueue *vrdma_vq_of_events(struct vrdma_dev *d);
struct virtqueue *vrdma_vq_of_srq(struct vrdma_dev *d, u32 srqn);
struct virtqueue *vrdma_vq_of_ceq(struct vrdma_dev *d, u32 ceq);
int vrdma_queues_find(struct vrdma_dev *d);
int vrdma_queues_shrink(struct vrdma_dev *d);
void vrdma_queues_delete(struct vrdma_dev *d);
u32 vrdma_queue_max(struct virtqueue *vq);

/* ring.c: virtqueues and the memory of their descriptors. */
int vrdma_mem_alloc(struct vrdma_mem *m, u32 n, u32 bytes);
void vrdma_mem_free(struct vrdma_mem *m);
void *vrdma_mem_slot(const struct vrdma_mem *m, u32 slot);
int vrdma_mem_add(struct vrdma_mem *m, struct virtqueue *vq, u32 slot, u32 bytes, bool writable);
bool vrdma_mem_take(struct virtqueue *vq, u32 *ret_slot, u32 *ret_bytes);
int vrdma_vq_open(struct vrdma_dev *d, struct virtqueue *vq, u32 n);
void vrdma_vq_close(struct vrdma_dev *d, struct virtqueue *vq);
void vrdma_vq_empty(struct virtqueue *vq);
void vrdma_vq_spread(struct virtqueue *vq, u32 vector);
void vrdma_vq_notify(struct vrdma_dev *d, struct virtqueue *vq);

/* control.c */
int vrdma_ctrl_init(struct vrdma_dev *d);
unsigned long vrdma_timeout(void);
void vrdma_ctrl_callback(struct virtqueue *vq);
void vrdma_ctrl_fail_all(struct vrdma_dev *d);
void vrdma_ctrl_drop_all(struct vrdma_dev *d);
int vrdma_ctrl(struct vrdma_dev *d, u8 command, const void *req, u32 req_bytes,
	       void *rsp, u32 rsp_bytes);
int vrdma_ctrl_spin(struct vrdma_dev *d, u8 command, const void *req, u32 req_bytes,
		    void *rsp, u32 rsp_bytes);
void vrdma_ctrl_destroy(struct vrdma_dev *d, u8 command, u32 number);

/* broken.c: a device that answers wrongly. */
__printf(2, 3) void vrdma_break(struct vrdma_dev *d, const char *format, ...);
void vrdma_break_work(struct work_struct *work);
void vrdma_wait_dead(struct vrdma_dev *d);

/* objects.c */
struct vrdma_ref *vrdma_ref_find(struct xarray *table, unsigned long *index, unsigned long max);
bool vrdma_can_be_new(struct vrdma_dev *d, struct xarray *table, const char *kind, u32 number,
		      u32 min, u32 max);
int vrdma_ref_publish(struct vrdma_dev *d, struct xarray *table, u32 number, struct vrdma_ref *ref);
void vrdma_ref_withdraw(struct xarray *table, u32 number, struct vrdma_ref *ref);

static inline struct vrdma_ref *vrdma_ref_get(struct xarray *table, unsigned long number)
{
	return vrdma_ref_find(table, &number, number);
}

/* cq.c */
extern const struct ib_device_ops vrdma_cq_ops;
struct vrdma_cq *vrdma_cq_get(struct vrdma_dev *d, u32 cqn);
struct vrdma_cq *vrdma_cq_next(struct vrdma_dev *d, unsigned long *index);
void vrdma_cq_callback(struct virtqueue *vq);
void vrdma_cq_event(struct vrdma_cq *cq);
void vrdma_cq_ceq_event(struct vrdma_cq *cq, u32 number);
void vrdma_cq_forget_qp(struct vrdma_cq *cq, const struct vrdma_qp *qp);
bool vrdma_cq_flush_one(struct vrdma_cq *cq, const struct vrdma_qp *qp, u64 wr_id, bool is_recv);
void vrdma_cqs_watch(struct vrdma_dev *d);
void vrdma_cq_kill(struct vrdma_cq *cq);
u32 vrdma_cq_completed_to(struct vrdma_cq *cq, const struct vrdma_qp *qp, bool is_recv);

/* qp.c, work.c */
extern const struct ib_device_ops vrdma_qp_ops;
extern const struct ib_device_ops vrdma_work_ops;
extern const struct ib_device_ops vrdma_drain_ops;
void vrdma_wq_collect(struct vrdma_wq *wq);
int vrdma_wq_completed(struct vrdma_wq *wq, u64 cookie, u64 *ret_wr_id);
void vrdma_qp_kill(struct vrdma_qp *qp);
u32 vrdma_recv_bytes(u32 max_sge);
u32 vrdma_build_recv(void *slot, const struct ib_recv_wr *wr, u64 wr_id);

/* srq.c */
extern const struct ib_device_ops vrdma_srq_ops;
int vrdma_srq_completed(struct vrdma_srq *srq, u64 cookie, u64 *ret_wr_id);

/* mr.c, device.c, resource.c, stats.c */
extern const struct ib_device_ops vrdma_mr_ops;
extern const struct ib_device_ops vrdma_device_ops;
extern const struct ib_device_ops vrdma_resource_ops;
extern const struct ib_device_ops vrdma_stats_ops;
void vrdma_put_ah(struct virtio_rdma_qp_attr *to, const struct rdma_ah_attr *from);
void vrdma_get_ah(struct rdma_ah_attr *to, const struct virtio_rdma_qp_attr *from,
		  struct ib_device *ib);

/* events.c */
void vrdma_events_prepare(struct vrdma_dev *d);
int vrdma_events_init(struct vrdma_dev *d);
int vrdma_events_start(struct vrdma_dev *d);
void vrdma_events_stop(struct vrdma_dev *d);
void vrdma_event_callback(struct virtqueue *vq);
void vrdma_ceq_callback(struct virtqueue *vq);
void vrdma_ceq_drain(struct vrdma_dev *d, u32 ceq);

/* main.c */
void vrdma_port_changed(struct vrdma_dev *d);
bool vrdma_netdev_is_up(struct vrdma_dev *d);
#endif
