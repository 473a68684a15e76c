// SPDX-License-Identifier: GPL-2.0
/* Counters of `rdma statistic`: two of the device, the others of the driver. */
#include "virtio_rdma.h"

static const struct rdma_stat_desc descs[VRDMA_STATS] = {
	[VRDMA_STAT_BAD_PKEY] = { .name = "bad_pkey" },
	[VRDMA_STAT_BAD_QKEY] = { .name = "bad_qkey" },
	[VRDMA_STAT_CTRL] = { .name = "control_requests" },
	[VRDMA_STAT_CTRL_REFUSED] = { .name = "control_refused" },
	[VRDMA_STAT_CTRL_SPUN] = { .name = "control_spun_for" },
	[VRDMA_STAT_CTRL_TIMEOUTS] = { .name = "control_timeouts" },
	[VRDMA_STAT_COMPLETIONS] = { .name = "completions" },
	[VRDMA_STAT_COMPLETIONS_DROPPED] = { .name = "completions_dropped" },
	[VRDMA_STAT_EVENTS] = { .name = "completion_events" },
	[VRDMA_STAT_EVENTS_MADE_UP] = { .name = "completion_events_made_up" },
	[VRDMA_STAT_EVENTS_UNKNOWN] = { .name = "events_unknown" },
	[VRDMA_STAT_ASYNC_EVENTS] = { .name = "async_events" },
	[VRDMA_STAT_ASYNC_EVENTS_MISSED] = { .name = "async_events_missed" },
};

static struct rdma_hw_stats *alloc_hw_port_stats(struct ib_device *ib, u32 port)
{
	return rdma_alloc_hw_stats_struct(descs, ARRAY_SIZE(descs), RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static int get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port, int index)
{
	struct vrdma_dev *d = vrdma_dev(ib);
	struct ib_port_attr attr = {};
	int i;

	if (!port)
		return -EINVAL;
	if (!ib_query_port(ib, port, &attr)) {
		atomic64_set(&d->stats[VRDMA_STAT_BAD_PKEY], attr.bad_pkey_cntr);
		atomic64_set(&d->stats[VRDMA_STAT_BAD_QKEY], attr.qkey_viol_cntr);
	}
	for (i = 0; i < VRDMA_STATS; i++)
		stats->value[i] = atomic64_read(&d->stats[i]);
	return VRDMA_STATS;
}

const struct ib_device_ops vrdma_stats_ops = {
	.alloc_hw_port_stats = alloc_hw_port_stats,
	.get_hw_stats = get_hw_stats,
};
