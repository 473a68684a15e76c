/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between Linux 6.1, 6.12 and 7.3, of which Debian has kernels.
 * The rest of the driver is written for 7.3.
 */
#ifndef VIRTIO_RDMA_COMPAT_H
#define VIRTIO_RDMA_COMPAT_H

#include <linux/version.h>
#include <linux/virtio.h>
#include <linux/virtio_config.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/iter.h>
#include <rdma/uverbs_ioctl.h>

#define VRDMA_LINUX(major, minor) \
	(LINUX_VERSION_CODE >= KERNEL_VERSION(major, minor, 0))

#if VRDMA_LINUX(6, 12)
static inline int vrdma_vq_resize(struct virtqueue *vq, u32 n,
				  void (*recycle)(struct virtqueue *vq, void *buf))
{
	return virtqueue_resize(vq, n, recycle, NULL);
}

#define VRDMA_CREATE_CQ_ATTRS struct uverbs_attr_bundle
#else
struct virtqueue_info {
	const char *name;
	vq_callback_t *callback;
	bool ctx;
};

static inline int vrdma_vq_resize(struct virtqueue *vq, u32 n,
				  void (*recycle)(struct virtqueue *vq, void *buf))
{
	return virtqueue_resize(vq, n, recycle);
}

#define VRDMA_CREATE_CQ_ATTRS struct ib_udata
#endif

/* Like virtio_find_vqs() of Linux 6.12. @scratch: 2 * @n pointers. */
static inline int vrdma_find_vqs(struct virtio_device *vdev, unsigned int n,
				 struct virtqueue *vqs[],
				 struct virtqueue_info info[], void **scratch)
{
#if VRDMA_LINUX(6, 12)
	return virtio_find_vqs(vdev, n, vqs, info, NULL);
#else
	vq_callback_t **callbacks = (vq_callback_t **)scratch;
	const char **names = (const char **)scratch + n;
	unsigned int i;

	for (i = 0; i < n; i++) {
		callbacks[i] = info[i].callback;
		names[i] = info[i].name;
	}
	return virtio_find_vqs(vdev, n, vqs, callbacks, names, NULL);
#endif
}

#if VRDMA_LINUX(7, 0)
#define vrdma_umem_get ib_umem_get_va
#else
#define vrdma_umem_get ib_umem_get
#endif

/* The parameter of reg_user_mr for steering tags. */
#if VRDMA_LINUX(6, 17)
#define VRDMA_DMAH struct ib_dmah *dmah,
#define VRDMA_DMAH_GIVEN (!!dmah)
#else
#define VRDMA_DMAH
#define VRDMA_DMAH_GIVEN false
#endif

#if VRDMA_LINUX(7, 0)
#define VRDMA_RESIZE_CQ resize_user_cq
#define VRDMA_RESIZE_CQE unsigned int
#else
#define VRDMA_RESIZE_CQ resize_cq
#define VRDMA_RESIZE_CQE int
#endif

#define VRDMA_HAS_FILL_RES_SRQ VRDMA_LINUX(6, 12)

/* The core of Linux reports changes of the network interface by itself. */
#define VRDMA_HAS_REPORT_PORT_EVENT VRDMA_LINUX(7, 0)

#endif
