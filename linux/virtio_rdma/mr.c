// SPDX-License-Identifier: GPL-2.0
/* Memory regions and windows. */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "virtio_rdma.h"

#define ACCESS_REMOTE (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)
#define ACCESS_KNOWN (IB_ACCESS_LOCAL_WRITE | ACCESS_REMOTE | IB_ACCESS_MW_BIND | \
		      IB_ZERO_BASED | IB_ACCESS_HUGETLB | IB_ACCESS_RELAXED_ORDERING)

static int list_alloc(struct vrdma_dev *d, struct vrdma_page_list *list, size_t n)
{
	if (n > U32_MAX / sizeof(*list->pages))
		return -ENOMEM;
	list->n = n;
	list->pages = dma_alloc_coherent(d->dma, n * sizeof(*list->pages), &list->dma,
					 GFP_KERNEL | __GFP_NOWARN);
	return list->pages ? 0 : -ENOMEM;
}

/* Also frees a list that was not allocated. */
static void list_free(struct vrdma_dev *d, struct vrdma_page_list *list)
{
	if (list->pages)
		dma_free_coherent(d->dma, list->n * sizeof(*list->pages), list->pages, list->dma);
}

/* Chooses the page size of a registration and lists its pages. The device takes the smallest size
 * that gives the number of pages; a larger one counts if it gives fewer.
 */
static int list_of(struct vrdma_dev *d, struct ib_umem *umem, u64 start, u64 virt,
		   struct vrdma_page_list *list)
{
	unsigned long sizes = le64_to_cpu(d->config.page_size_cap), size;
	struct ib_block_iter it;
	unsigned int bit;
	size_t n;
	u32 i = 0;
	int err;

	/* The offset in the first page must be that of both addresses. */
	if (start != virt)
		sizes &= GENMASK(__ffs64(start ^ virt), 0);
	size = ib_umem_find_best_pgsz(umem, sizes, virt);
	if (!size)
		return -EINVAL;
	n = ib_umem_num_dma_blocks(umem, size);
	for_each_set_bit(bit, &sizes, BITS_PER_LONG) {
		if (ib_umem_num_dma_blocks(umem, BIT(bit)) == n) {
			size = BIT(bit);
			break;
		}
	}
	err = list_alloc(d, list, n);
	if (err)
		return err;
	rdma_umem_for_each_dma_block(umem, &it, size) {
		if (i < list->n)
			list->pages[i++] = cpu_to_le64(rdma_block_iter_dma_address(&it));
	}
	return 0;
}

static void set_keys(struct vrdma_mr *mr, const struct virtio_rdma_mr_keys *keys)
{
	mr->mrn = le32_to_cpu(keys->mrn);
	mr->ib.lkey = le32_to_cpu(keys->lkey);
	mr->ib.rkey = le32_to_cpu(keys->rkey);
}

static int create(struct vrdma_dev *d, struct vrdma_mr *mr, u8 command, const void *req, u32 bytes)
{
	struct virtio_rdma_mr_keys keys;
	int err = vrdma_ctrl(d, command, req, bytes, &keys, sizeof(keys));

	if (!err)
		set_keys(mr, &keys);
	return err;
}

static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	struct vrdma_dev *d = vrdma_dev(pd->device);
	const struct virtio_rdma_get_dma_mr req = {
		.pdn = cpu_to_le32(vrdma_pd(pd)->pdn),
		.access_flags = cpu_to_le32(access & ACCESS_KNOWN),
	};
	struct vrdma_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	int err;

	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = create(d, mr, VIRTIO_RDMA_CMD_GET_DMA_MR, &req, sizeof(req));
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

static struct ib_mr *alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	struct vrdma_dev *d = vrdma_dev(pd->device);
	const struct virtio_rdma_create_mr req = {
		.pdn = cpu_to_le32(vrdma_pd(pd)->pdn),
		.access_flags = cpu_to_le32(IB_ACCESS_LOCAL_WRITE | ACCESS_REMOTE),
		.max_num_sg = cpu_to_le32(max_num_sg),
	};
	struct vrdma_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_sg || max_num_sg > (u32)d->ib.attrs.max_fast_reg_page_list_len)
		return ERR_PTR(-EINVAL);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = list_alloc(d, &mr->list, max_num_sg);
	if (!err)
		err = create(d, mr, VIRTIO_RDMA_CMD_CREATE_MR, &req, sizeof(req));
	if (err) {
		list_free(d, &mr->list);
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

static int set_page(struct ib_mr *ib, u64 addr)
{
	struct vrdma_mr *mr = vrdma_mr(ib);

	if (mr->n_pages == mr->list.n)
		return -ENOMEM;
	mr->list.pages[mr->n_pages++] = cpu_to_le64(addr);
	return 0;
}

static int map_mr_sg(struct ib_mr *ib, struct scatterlist *sg, int n, unsigned int *offset)
{
	struct vrdma_dev *d = vrdma_dev(ib->device);
	struct vrdma_mr *mr = vrdma_mr(ib);
	struct virtio_rdma_map_mr_sg req = { .mrn = cpu_to_le32(mr->mrn) };
	struct virtio_rdma_mapped rsp;
	int mapped, err;

	if (!(ib->page_size & le64_to_cpu(d->config.page_size_cap)))
		return -EINVAL;
	mr->n_pages = 0;
	mapped = ib_sg_to_pages(ib, sg, n, offset, set_page);
	if (mapped <= 0 || vrdma_has(d, VIRTIO_RDMA_F_REG_IN_WQE))
		return mapped;
	req.npages = cpu_to_le32(mr->n_pages);
	req.start = cpu_to_le64(ib->iova);
	req.length = cpu_to_le64(ib->length);
	req.pages = cpu_to_le64(mr->list.dma);
	/* Consumers call this where they must not sleep. */
	err = vrdma_ctrl_spin(d, VIRTIO_RDMA_CMD_MAP_MR_SG, &req, sizeof(req), &rsp, sizeof(rsp));
	return err ?: mapped;
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt, int access,
				 VRDMA_DMAH struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(pd->device);
	struct virtio_rdma_reg_user_mr req = {
		.pdn = cpu_to_le32(vrdma_pd(pd)->pdn),
		.access_flags = cpu_to_le32(access & ACCESS_KNOWN),
		.start = cpu_to_le64(start),
		.length = cpu_to_le64(length),
		.virt_addr = cpu_to_le64(virt),
	};
	struct vrdma_page_list list = {};
	struct vrdma_mr *mr;
	int err;

	if (VRDMA_DMAH_GIVEN || access & ~(ACCESS_KNOWN | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	if (!length || length > le64_to_cpu(d->config.max_mr_size))
		return ERR_PTR(-EINVAL);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = vrdma_umem_get(pd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		goto free;
	}
	err = list_of(d, mr->umem, start, virt, &list);
	if (err)
		goto release;
	req.pages = cpu_to_le64(list.dma);
	req.npages = cpu_to_le32(list.n);
	err = create(d, mr, VIRTIO_RDMA_CMD_REG_USER_MR, &req, sizeof(req));
	if (err)
		vrdma_wait_dead(d);
	list_free(d, &list); /* the device has read it */
	if (!err)
		return &mr->ib;
release:
	ib_umem_release(mr->umem);
free:
	kfree(mr);
	return ERR_PTR(err);
}

/* Changes a registration. Returns NULL: the region is still @ib. */
static struct ib_mr *rereg_user_mr(struct ib_mr *ib, int flags, u64 start, u64 length, u64 virt,
				   int access, struct ib_pd *pd, struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(ib->device);
	struct vrdma_mr *mr = vrdma_mr(ib);
	struct virtio_rdma_rereg_mr req = {
		.mrn = cpu_to_le32(mr->mrn),
		.flags = cpu_to_le32(flags),
		.pdn = cpu_to_le32(vrdma_pd(pd)->pdn),
		.access_flags = cpu_to_le32(access & ACCESS_KNOWN),
		.start = cpu_to_le64(start),
		.length = cpu_to_le64(length),
		.virt_addr = cpu_to_le64(virt),
	};
	struct ib_umem *umem = NULL;
	struct vrdma_page_list list = {};
	int err;

	if (!vrdma_has(d, VIRTIO_RDMA_F_MW) || flags & ~IB_MR_REREG_SUPPORTED ||
	    (flags & IB_MR_REREG_ACCESS && access & ~(ACCESS_KNOWN | IB_ACCESS_OPTIONAL)))
		return ERR_PTR(-EOPNOTSUPP);
	if (flags & IB_MR_REREG_TRANS) {
		if (!length || length > le64_to_cpu(d->config.max_mr_size))
			return ERR_PTR(-EINVAL);
		umem = vrdma_umem_get(ib->device, start, length,
				      flags & IB_MR_REREG_ACCESS ? access : IB_ACCESS_LOCAL_WRITE);
		if (IS_ERR(umem))
			return ERR_CAST(umem);
		err = list_of(d, umem, start, virt, &list);
		if (err)
			goto release;
		req.pages = cpu_to_le64(list.dma);
		req.npages = cpu_to_le32(list.n);
	}
	err = create(d, mr, VIRTIO_RDMA_CMD_REREG_MR, &req, sizeof(req));
	if (err)
		vrdma_wait_dead(d);
	list_free(d, &list);
	if (!err) {
		if (umem)
			swap(umem, mr->umem);
		ib_umem_release(umem);
		return NULL;
	}
release:
	ib_umem_release(umem);
	return ERR_PTR(err);
}

static int dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(ib->device);
	struct vrdma_mr *mr = vrdma_mr(ib);
	const struct virtio_rdma_mr_handle req = { .mrn = cpu_to_le32(mr->mrn) };
	int err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_DEREG_MR, &req, sizeof(req), NULL, 0);

	if (err == -EBUSY && udata)
		return err; /* windows are bound to it */
	if (err)
		vrdma_break(d, "region %u cannot be deregistered: %d", mr->mrn, err);
	vrdma_wait_dead(d);
	ib_umem_release(mr->umem);
	list_free(d, &mr->list);
	kfree(mr);
	return 0;
}

static int alloc_mw(struct ib_mw *ib, struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(ib->device);
	const struct virtio_rdma_alloc_mw req = {
		.pdn = cpu_to_le32(vrdma_pd(ib->pd)->pdn),
		.type = cpu_to_le32(ib->type),
	};
	struct virtio_rdma_mw_keys rsp;
	int err;

	if (!vrdma_has(d, VIRTIO_RDMA_F_MW))
		return -EOPNOTSUPP;
	err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_ALLOC_MW, &req, sizeof(req), &rsp, sizeof(rsp));
	if (err)
		return err;
	vrdma_mw(ib)->mwn = le32_to_cpu(rsp.mwn);
	ib->rkey = le32_to_cpu(rsp.rkey);
	return 0;
}

static int dealloc_mw(struct ib_mw *ib)
{
	vrdma_ctrl_destroy(vrdma_dev(ib->device), VIRTIO_RDMA_CMD_DEALLOC_MW, vrdma_mw(ib)->mwn);
	return 0;
}

const struct ib_device_ops vrdma_mr_ops = {
	.get_dma_mr = get_dma_mr,
	.alloc_mr = alloc_mr,
	.map_mr_sg = map_mr_sg,
	.reg_user_mr = reg_user_mr,
	.rereg_user_mr = rereg_user_mr,
	.dereg_mr = dereg_mr,
	.alloc_mw = alloc_mw,
	.dealloc_mw = dealloc_mw,
	INIT_RDMA_OBJ_SIZE(ib_mw, vrdma_mw, ib),
};
