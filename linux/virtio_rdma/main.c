// SPDX-License-Identifier: GPL-2.0
/*
 * Driver of virtio-rdma: "[RFC] Virtio RDMA" of February 2022, with extensions
 * by feature bits. This file has probe and remove, and the network interface of
 * the port.
 *
 * The RDMA device is a function of a PCI slot whose function 0 is the network
 * device. GIDs are the addresses of that interface, and the port has its link.
 */
#include <linux/dmapool.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_user_verbs.h>

#include "virtio_rdma.h"

#define OBJECTS_MAX	16384U	/* CQs, and QPs: a rule of the RFC */
#define SRQS_MAX	8192U
#define CEQS_MAX	64U
#define CONFIG_TRIES	100

static unsigned long features_off;
module_param(features_off, ulong, 0444);
MODULE_PARM_DESC(features_off, "device features, bits 0 to 23, that are not accepted (0)");

bool vrdma_netdev_is_up(struct vrdma_dev *d)
{
	struct net_device *ndev;
	bool is_up;

	rcu_read_lock();
	ndev = rcu_dereference(d->ndev);
	is_up = ndev && netif_running(ndev) && netif_carrier_ok(ndev);
	rcu_read_unlock();
	return is_up;
}

/* Tells consumers if the port has come up or gone down. */
static void port_work(struct work_struct *work)
{
	struct vrdma_dev *d = container_of(work, struct vrdma_dev, port_work);
	struct ib_port_attr attr = {};
	struct ib_event event = { .device = &d->ib, .element.port_num = VRDMA_PORT };
	bool is_up;

	if (!test_bit(VRDMA_REGISTERED, &d->flags) || test_bit(VRDMA_LEAVING, &d->flags) ||
	    ib_query_port(&d->ib, VRDMA_PORT, &attr))
		return;
	is_up = attr.state == IB_PORT_ACTIVE;
	if (is_up == test_bit(VRDMA_PORT_UP, &d->flags))
		return;
	change_bit(VRDMA_PORT_UP, &d->flags);
	event.event = is_up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR;
	ib_dispatch_event(&event);
}

void vrdma_port_changed(struct vrdma_dev *d)
{
	queue_work(d->wq, &d->port_work);
}

/* Returns true if @ndev is the interface of function 0 of the device's slot. */
static bool is_paired(struct vrdma_dev *d, struct net_device *ndev)
{
	struct device *dev = ndev->dev.parent;
	struct pci_dev *me, *other;

	if (!dev_is_pci(d->dma))
		return false;
	if (dev && !dev_is_pci(dev))
		dev = dev->parent; /* a virtio device's parent is the PCI function */
	if (!dev || !dev_is_pci(dev))
		return false;
	me = to_pci_dev(d->dma);
	other = to_pci_dev(dev);
	return other->bus == me->bus && other != me &&
	       other->devfn == PCI_DEVFN(PCI_SLOT(me->devfn), 0);
}

static void pair(struct vrdma_dev *d, struct net_device *ndev)
{
	rcu_assign_pointer(d->ndev, ndev);
	if (test_bit(VRDMA_LEAVING, &d->flags))
		return;
	ib_device_set_netdev(&d->ib, ndev, VRDMA_PORT);
	vrdma_port_changed(d);
}

/* Under RTNL. When the notifier is registered, all interfaces are reported to it. */
static int netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct vrdma_dev *d = container_of(nb, struct vrdma_dev, netdev_nb);
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	const bool is_mine = rtnl_dereference(d->ndev) == ndev;

	switch (event) {
	case NETDEV_REGISTER:
		if (!rtnl_dereference(d->ndev) && is_paired(d, ndev))
			pair(d, ndev);
		break;
	case NETDEV_UNREGISTER:
		if (is_mine)
			pair(d, NULL);
		break;
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
		if (is_mine)
			vrdma_port_changed(d);
		break;
	}
	return NOTIFY_DONE;
}

#if VRDMA_HAS_REPORT_PORT_EVENT
/* The driver reports changes itself, since the device has a say in them. */
static void report_port_event(struct ib_device *ib, struct net_device *ndev, unsigned long event)
{
	vrdma_port_changed(vrdma_dev(ib));
}

static const struct ib_device_ops port_ops = {
	.report_port_event = report_port_event,
};
#else
static const struct ib_device_ops port_ops = {};
#endif

/* Reads the configuration, whose fields are not aligned: by 32 bits each. */
static int read_config(struct vrdma_dev *d, struct virtio_rdma_config *config)
{
	const struct virtio_config_ops *ops = d->vdev->config;
	const unsigned int bytes = offsetof(struct virtio_rdma_config, reserved) +
				   VIRTIO_RDMA_CEQ_LIMITS_AT +
				   sizeof(struct virtio_rdma_ceq_limits);
	unsigned int i, try;
	u32 generation;

	for (try = 0; try < CONFIG_TRIES; try++) {
		generation = ops->generation ? ops->generation(d->vdev) : 0;
		for (i = 0; i < bytes; i += 4)
			ops->get(d->vdev, i, (u8 *)config + i, 4);
		if (!ops->generation || ops->generation(d->vdev) == generation)
			return 0;
	}
	dev_err(&d->vdev->dev, "the configuration does not keep still\n");
	return -EIO;
}

static int check_limits(struct vrdma_dev *d)
{
	const struct virtio_rdma_config *c = &d->config;

	if (!le32_to_cpu(c->phys_port_cnt) || !d->max_cq || d->max_cq > OBJECTS_MAX ||
	    !d->max_qp || d->max_qp > OBJECTS_MAX || d->max_srq > SRQS_MAX ||
	    d->n_ceq > CEQS_MAX || !(le64_to_cpu(c->page_size_cap) & PAGE_SIZE) ||
	    !le64_to_cpu(c->max_mr_size)) {
		dev_err(&d->vdev->dev,
			"impossible limits: %u ports, %u CQs, %u QPs, %u SRQs, %u CEQs, page sizes %#llx\n",
			le32_to_cpu(c->phys_port_cnt), d->max_cq, d->max_qp, d->max_srq, d->n_ceq,
			le64_to_cpu(c->page_size_cap));
		return -EINVAL;
	}
	return 0;
}

static int take_config(struct vrdma_dev *d)
{
	const struct virtio_rdma_srq_limits *srq =
		(void *)&d->config.reserved[VIRTIO_RDMA_SRQ_LIMITS_AT];
	const struct virtio_rdma_ceq_limits *ceq =
		(void *)&d->config.reserved[VIRTIO_RDMA_CEQ_LIMITS_AT];
	int err = read_config(d, &d->config);

	if (err)
		return err;
	d->max_cq = le32_to_cpu(d->config.max_cq);
	d->max_qp = le32_to_cpu(d->config.max_qp);
	if (vrdma_has(d, VIRTIO_RDMA_F_SRQ)) {
		d->max_srq = le32_to_cpu(srq->max_srq);
		d->max_srq_wr = min_t(u32, le32_to_cpu(srq->max_srq_wr), INT_MAX);
		d->max_srq_sge = min_t(u32, le32_to_cpu(srq->max_srq_sge), INT_MAX);
	}
	if (vrdma_has(d, VIRTIO_RDMA_F_CEQ))
		d->n_ceq = le32_to_cpu(ceq->max_ceq);
	return check_limits(d);
}

/* The device may say that only a reset helps. */
static void config_work(struct work_struct *work)
{
	struct vrdma_dev *d = container_of(work, struct vrdma_dev, config_work);

	if (!vrdma_is_broken(d) &&
	    d->vdev->config->get_status(d->vdev) & VIRTIO_CONFIG_S_NEEDS_RESET)
		vrdma_break(d, "it needs a reset");
}

static void config_changed(struct virtio_device *vdev)
{
	struct vrdma_dev *d = vdev->priv;

	queue_work(d->wq, &d->config_work);
}

static void init(struct vrdma_dev *d, struct virtio_device *vdev)
{
	d->vdev = vdev;
	d->dma = vdev->dev.parent;
	vdev->priv = d;
	mutex_init(&d->queue_mutex);
	xa_init_flags(&d->cqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&d->qps, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&d->srqs, XA_FLAGS_LOCK_IRQ);
	init_completion(&d->dead);
	INIT_WORK(&d->break_work, vrdma_break_work);
	INIT_WORK(&d->config_work, config_work);
	INIT_WORK(&d->port_work, port_work);
	vrdma_events_prepare(d);
	d->netdev_nb.notifier_call = netdev_event;
	d->ib.phys_port_cnt = VRDMA_PORT;
	d->ib.node_type = RDMA_NODE_IB_CA;
	d->ib.dev.parent = &vdev->dev;
}

/* Brings the virtqueues up. On failure stop_device() cleans up. */
static int start_device(struct vrdma_dev *d)
{
	int err = vrdma_queues_find(d);

	if (!err && vrdma_has(d, VIRTIO_RDMA_F_ARM_MEM)) {
		d->arm_pool = dma_pool_create("virtio_rdma", d->dma,
					      sizeof(struct virtio_rdma_cq_arm),
					      sizeof(struct virtio_rdma_cq_arm), 0);
		if (!d->arm_pool)
			err = -ENOMEM;
	}
	if (!err)
		err = vrdma_ctrl_init(d);
	if (!err)
		err = vrdma_events_init(d);
	if (err)
		return err;
	virtio_device_ready(d->vdev);
	err = vrdma_queues_shrink(d);
	return err ?: vrdma_events_start(d);
}

static void stop_device(struct vrdma_dev *d)
{
	if (!test_and_set_bit(VRDMA_BROKEN, &d->flags))
		virtio_reset_device(d->vdev); /* no work for break_work */
	else
		vrdma_wait_dead(d);
	clear_bit(VRDMA_LISTENING, &d->flags);
	virtio_synchronize_cbs(d->vdev);
	cancel_work_sync(&d->config_work);
	cancel_work_sync(&d->port_work);
	vrdma_events_stop(d);
	flush_work(&d->break_work);
	if (d->n_vqs) {
		vrdma_ctrl_drop_all(d);
		vrdma_queues_delete(d);
	}
	dma_pool_destroy(d->arm_pool);
}

static int register_device(struct vrdma_dev *d)
{
	int err;

	ib_set_device_ops(&d->ib, &vrdma_device_ops);
	ib_set_device_ops(&d->ib, &vrdma_cq_ops);
	ib_set_device_ops(&d->ib, &vrdma_qp_ops);
	ib_set_device_ops(&d->ib, &vrdma_work_ops);
	ib_set_device_ops(&d->ib, &vrdma_drain_ops);
	ib_set_device_ops(&d->ib, &vrdma_mr_ops);
	ib_set_device_ops(&d->ib, &vrdma_resource_ops);
	ib_set_device_ops(&d->ib, &vrdma_stats_ops);
	ib_set_device_ops(&d->ib, &port_ops);
	if (d->max_srq)
		ib_set_device_ops(&d->ib, &vrdma_srq_ops);
	d->ib.node_guid = d->config.sys_image_guid;
	d->ib.num_comp_vectors = d->n_ceq ?: min_t(u32, d->max_cq, num_online_cpus());
	d->ib.uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				 BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
				 BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV) |
				 BIT_ULL(IB_USER_VERBS_CMD_POLL_CQ) |
				 BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ) |
				 BIT_ULL(IB_USER_VERBS_CMD_CREATE_AH) |
				 BIT_ULL(IB_USER_VERBS_CMD_DESTROY_AH);
	dma_set_max_seg_size(d->dma, UINT_MAX);
	err = ib_register_device(&d->ib, "virtio_rdma%d", d->dma);
	if (err)
		return err;
	set_bit(VRDMA_REGISTERED, &d->flags);
	vrdma_port_changed(d);
	return 0;
}

static int probe(struct virtio_device *vdev)
{
	struct vrdma_dev *d = ib_alloc_device(vrdma_dev, ib);
	int err;

	if (!d)
		return -ENOMEM;
	init(d, vdev);
	d->wq = alloc_workqueue("virtio_rdma", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!d->wq) {
		err = -ENOMEM;
		goto free;
	}
	err = take_config(d);
	if (!err)
		err = register_netdevice_notifier(&d->netdev_nb);
	if (err)
		goto destroy_wq;
	if (!rcu_access_pointer(d->ndev)) {
		err = -EPROBE_DEFER; /* function 0 has no interface yet */
		goto unregister_notifier;
	}
	err = start_device(d);
	if (!err)
		err = register_device(d);
	if (!err)
		return 0;
	set_bit(VRDMA_LEAVING, &d->flags);
	stop_device(d);
unregister_notifier:
	unregister_netdevice_notifier(&d->netdev_nb);
destroy_wq:
	destroy_workqueue(d->wq);
free:
	vdev->priv = NULL;
	ib_dealloc_device(&d->ib);
	return err;
}

static void remove(struct virtio_device *vdev)
{
	struct vrdma_dev *d = vdev->priv;

	set_bit(VRDMA_LEAVING, &d->flags);
	cancel_work_sync(&d->port_work); /* it tells nobody anything from now on */
	ib_unregister_device(&d->ib);
	clear_bit(VRDMA_REGISTERED, &d->flags);
	unregister_netdevice_notifier(&d->netdev_nb);
	stop_device(d);
	flush_workqueue(ib_wq); /* the core tells of the end of a broken device there */
	destroy_workqueue(d->wq);
	ib_dealloc_device(&d->ib);
}

/* When a probe has failed, or waits for the interface of function 0, Linux sets FAILED and begins
 * the next one without a reset, which the device need not accept. The features are written already.
 */
static int start_anew(struct virtio_device *vdev)
{
	if (!(vdev->config->get_status(vdev) & VIRTIO_CONFIG_S_FAILED))
		return 0;
	virtio_reset_device(vdev);
	virtio_add_status(vdev, VIRTIO_CONFIG_S_ACKNOWLEDGE);
	virtio_add_status(vdev, VIRTIO_CONFIG_S_DRIVER);
	return vdev->config->finalize_features(vdev);
}

/* Features depend on each other by the numbers of their virtqueues, of which Linux can leave none
 * out: those of SRQs and of completion events follow that of events, and the latter the former.
 */
static int validate(struct virtio_device *vdev)
{
	const bool offers_srq = virtio_has_feature(vdev, VIRTIO_RDMA_F_SRQ);
	unsigned int i;

	for (i = 0; i < 24; i++) {
		if (features_off & BIT(i))
			__virtio_clear_bit(vdev, i);
	}
	if (!vdev->config->get) {
		dev_err(&vdev->dev, "the device has no configuration\n");
		return -EINVAL;
	}
	if (!virtio_has_feature(vdev, VIRTIO_F_RING_RESET)) {
		dev_err(&vdev->dev, "the device cannot reset single queues\n");
		return -EOPNOTSUPP;
	}
	if (!virtio_has_feature(vdev, VIRTIO_F_ACCESS_PLATFORM) &&
	    device_iommu_mapped(vdev->dev.parent)) {
		dev_err(&vdev->dev, "the device does not use the IOMMU that it is behind\n");
		return -EOPNOTSUPP;
	}
	if (!virtio_has_feature(vdev, VIRTIO_RDMA_F_EVENTQ))
		__virtio_clear_bit(vdev, VIRTIO_RDMA_F_SRQ);
	if (!virtio_has_feature(vdev, VIRTIO_RDMA_F_EVENTQ) ||
	    (offers_srq && !virtio_has_feature(vdev, VIRTIO_RDMA_F_SRQ)))
		__virtio_clear_bit(vdev, VIRTIO_RDMA_F_CEQ);
	if (!virtio_has_feature(vdev, VIRTIO_RDMA_F_CEQ))
		__virtio_clear_bit(vdev, VIRTIO_RDMA_F_ARM_MEM);
	return start_anew(vdev);
}

static const unsigned int features[] = {
	VIRTIO_RDMA_F_EVENTQ,	VIRTIO_RDMA_F_RESIZE,	  VIRTIO_RDMA_F_SRQ,
	VIRTIO_RDMA_F_MW,	VIRTIO_RDMA_F_MCAST,	  VIRTIO_RDMA_F_CEQ,
	VIRTIO_RDMA_F_ARM_MEM,	VIRTIO_RDMA_F_REG_IN_WQE, VIRTIO_RDMA_F_QP_END,
};

static const struct virtio_device_id ids[] = {
	{ VIRTIO_ID_RDMA, VIRTIO_DEV_ANY_ID },
	{},
};
MODULE_DEVICE_TABLE(virtio, ids);

static struct virtio_driver vrdma_driver = {
	.driver.name = "virtio_rdma",
	.driver.owner = THIS_MODULE,
	.id_table = ids,
	.feature_table = features,
	.feature_table_size = ARRAY_SIZE(features),
	.validate = validate,
	.probe = probe,
	.remove = remove,
	.config_changed = config_changed,
};
module_virtio_driver(vrdma_driver);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("virtio-rdma, of the RFC of 2022");
