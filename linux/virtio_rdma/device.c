// SPDX-License-Identifier: GPL-2.0
/* The device and its port, GIDs, protection domains, address handles, user contexts. */
#include <linux/etherdevice.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>

#include "virtio_rdma.h"

#define GIDS_MAX	1024U
#define PKEYS_MAX	1024U

/* Bits of device_cap_flags that mean the same to Linux. */
#define CAPS (IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_BAD_QKEY_CNTR | IB_DEVICE_UD_AV_PORT_ENFORCE | \
	      IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_MEM_WINDOW | \
	      IB_DEVICE_MEM_MGT_EXTENSIONS | IB_DEVICE_MEM_WINDOW_TYPE_2B)
#define CAP_BLOCK_MULTICAST_LOOPBACK BIT(22)

/* A limit of the configuration, as Linux can count. */
static u32 limit(__le32 value)
{
	return min_t(u32, le32_to_cpu(value), INT_MAX);
}

static int query_device(struct ib_device *ib, struct ib_device_attr *a, struct ib_udata *udata)
{
	struct vrdma_dev *d = vrdma_dev(ib);
	const struct virtio_rdma_config *c = &d->config;
	const u32 queue = vrdma_queue_max(vrdma_vq_of_cq(d, 1));
	const u64 caps = le64_to_cpu(c->device_cap_flags);

	memset(a, 0, sizeof(*a));
	a->fw_ver = le32_to_cpu(c->hw_ver);
	a->sys_image_guid = c->sys_image_guid;
	a->vendor_id = le32_to_cpu(c->vendor_id);
	a->vendor_part_id = le32_to_cpu(c->vendor_part_id);
	a->hw_ver = le32_to_cpu(c->hw_ver);
	a->max_mr_size = le64_to_cpu(c->max_mr_size);
	a->page_size_cap = le64_to_cpu(c->page_size_cap);
	a->max_qp = d->max_qp;
	a->max_qp_wr = min(limit(c->max_qp_wr), queue);
	a->device_cap_flags = caps & CAPS;
	if (caps & CAP_BLOCK_MULTICAST_LOOPBACK)
		a->kernel_cap_flags = IBK_BLOCK_MULTICAST_LOOPBACK;
	a->max_send_sge = min(limit(c->max_send_sge), VRDMA_SGE_MAX);
	a->max_recv_sge = min(limit(c->max_recv_sge), VRDMA_SGE_MAX);
	a->max_sge_rd = min(limit(c->max_sge_rd), VRDMA_SGE_MAX);
	a->max_cq = d->max_cq;
	a->max_cqe = min(limit(c->max_cqe), queue);
	a->max_mr = limit(c->max_mr);
	a->max_pd = limit(c->max_pd);
	a->max_qp_rd_atom = min_t(u32, limit(c->max_qp_rd_atom), U8_MAX);
	a->max_qp_init_rd_atom = min_t(u32, limit(c->max_qp_init_rd_atom), U8_MAX);
	a->max_res_rd_atom = limit(c->max_res_rd_atom);
	a->atomic_cap = c->atomic_cap ? IB_ATOMIC_HCA : IB_ATOMIC_NONE;
	a->max_ah = limit(c->max_ah);
	a->max_fast_reg_page_list_len = min_t(u32, limit(c->max_fast_reg_page_list_len), 512);
	a->max_pkeys = le16_to_cpu(c->max_pkeys);
	a->local_ca_ack_delay = c->local_ca_ack_delay;
	if (vrdma_has(d, VIRTIO_RDMA_F_MW))
		a->max_mw = limit(c->max_mw);
	if (vrdma_has(d, VIRTIO_RDMA_F_MCAST)) {
		a->max_mcast_grp = limit(c->max_mcast_grp);
		a->max_mcast_qp_attach = limit(c->max_mcast_qp_attach);
		a->max_total_mcast_qp_attach = limit(c->max_total_mcast_qp_attach);
	}
	a->max_srq = d->max_srq;
	a->max_srq_wr = min(d->max_srq_wr, queue);
	a->max_srq_sge = min(d->max_srq_sge, VRDMA_SGE_MAX);
	return 0;
}

static enum ib_mtu mtu_of(u8 mtu, enum ib_mtu max)
{
	return clamp_t(u32, mtu, IB_MTU_256, max);
}

static int ask_port(struct vrdma_dev *d, struct virtio_rdma_port_attr *ret)
{
	const struct virtio_rdma_query_port req = { .port = VRDMA_PORT };

	return vrdma_ctrl(d, VIRTIO_RDMA_CMD_QUERY_PORT, &req, sizeof(req), ret, sizeof(*ret));
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *a)
{
	struct vrdma_dev *d = vrdma_dev(ib);
	struct virtio_rdma_port_attr p;
	bool is_up;
	int err;

	if (vrdma_is_broken(d)) {
		a->state = IB_PORT_DOWN;
		a->phys_state = IB_PORT_PHYS_STATE_DISABLED;
		a->max_mtu = IB_MTU_4096;
		a->active_mtu = IB_MTU_1024;
		a->gid_tbl_len = d->ib.port_data ? d->ib.port_data[port].immutable.gid_tbl_len : 0;
		a->pkey_tbl_len = 1;
		a->active_width = IB_WIDTH_4X;
		a->active_speed = IB_SPEED_EDR;
		return 0;
	}
	err = ask_port(d, &p);
	if (err)
		return err;
	is_up = p.state == IB_PORT_ACTIVE && vrdma_netdev_is_up(d);
	a->state = is_up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	a->phys_state = is_up ? IB_PORT_PHYS_STATE_LINK_UP : IB_PORT_PHYS_STATE_DISABLED;
	a->max_mtu = mtu_of(p.max_mtu, IB_MTU_4096);
	a->active_mtu = mtu_of(p.active_mtu, a->max_mtu);
	a->phys_mtu = le32_to_cpu(p.phys_mtu);
	a->gid_tbl_len = clamp(le32_to_cpu(p.gid_tbl_len), 1U, GIDS_MAX);
	a->pkey_tbl_len = clamp_t(u32, le16_to_cpu(p.pkey_tbl_len), 1, PKEYS_MAX);
	a->port_cap_flags = IB_PORT_CM_SUP;
	a->ip_gids = true;
	a->max_msg_sz = le32_to_cpu(p.max_msg_sz);
	a->bad_pkey_cntr = le32_to_cpu(p.bad_pkey_cntr);
	a->qkey_viol_cntr = le32_to_cpu(p.qkey_viol_cntr);
	a->active_width = p.active_width;
	a->active_speed = le16_to_cpu(p.active_speed);
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *im)
{
	struct ib_port_attr a = {};
	int err;

	im->core_cap_flags = RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP;
	err = ib_query_port(ib, port, &a);
	if (err)
		return err;
	im->pkey_tbl_len = a.pkey_tbl_len;
	im->gid_tbl_len = a.gid_tbl_len;
	im->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static enum rdma_link_layer get_link_layer(struct ib_device *ib, u32 port)
{
	return IB_LINK_LAYER_ETHERNET;
}

static void get_dev_fw_str(struct ib_device *ib, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u", le32_to_cpu(vrdma_dev(ib)->config.hw_ver));
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	struct vrdma_dev *d = vrdma_dev(ib);
	const struct virtio_rdma_query_pkey req = {
		.port = cpu_to_le32(port),
		.index = cpu_to_le16(index),
	};
	struct virtio_rdma_pkey rsp;
	int err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_QUERY_PKEY, &req, sizeof(req), &rsp, sizeof(rsp));

	if (!err)
		*pkey = le16_to_cpu(rsp.pkey);
	return err;
}

static int add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct vrdma_dev *d = vrdma_dev(attr->device);
	struct virtio_rdma_add_gid req = {
		.gid_type = cpu_to_le32(VIRTIO_RDMA_GID_TYPE_ROCE_V2),
		.index = cpu_to_le16(attr->index),
		.port_num = cpu_to_le32(attr->port_num),
	};

	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EOPNOTSUPP;
	memcpy(req.gid, attr->gid.raw, sizeof(req.gid));
	return vrdma_ctrl(d, VIRTIO_RDMA_CMD_ADD_GID, &req, sizeof(req), NULL, 0);
}

static int del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct vrdma_dev *d = vrdma_dev(attr->device);
	const struct virtio_rdma_del_gid req = {
		.index = cpu_to_le16(attr->index),
		.port = cpu_to_le32(attr->port_num),
	};
	const int err = vrdma_ctrl(d, VIRTIO_RDMA_CMD_DEL_GID, &req, sizeof(req), NULL, 0);

	return vrdma_is_broken(d) ? 0 : err;
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	struct virtio_rdma_pd_handle rsp;
	int err = vrdma_ctrl(vrdma_dev(pd->device), VIRTIO_RDMA_CMD_CREATE_PD, NULL, 0, &rsp,
			     sizeof(rsp));

	if (!err)
		vrdma_pd(pd)->pdn = le32_to_cpu(rsp.pdn);
	return err;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	vrdma_ctrl_destroy(vrdma_dev(pd->device), VIRTIO_RDMA_CMD_DESTROY_PD, vrdma_pd(pd)->pdn);
	return 0;
}

void vrdma_put_ah(struct virtio_rdma_qp_attr *to, const struct rdma_ah_attr *from)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(from);

	memcpy(to->ah_dgid, grh->dgid.raw, sizeof(to->ah_dgid));
	to->ah_flow_label = cpu_to_le32(grh->flow_label & 0xfffff);
	to->ah_sgid_index = grh->sgid_index;
	to->ah_hop_limit = grh->hop_limit;
	to->ah_traffic_class = grh->traffic_class;
	to->ah_sl = rdma_ah_get_sl(from);
	to->ah_static_rate = rdma_ah_get_static_rate(from);
	to->ah_port_num = rdma_ah_get_port_num(from);
	to->ah_flags = rdma_ah_get_ah_flags(from);
	if (from->type == RDMA_AH_ATTR_TYPE_ROCE)
		memcpy(to->ah_dmac, from->roce.dmac, ETH_ALEN);
}

void vrdma_get_ah(struct rdma_ah_attr *to, const struct virtio_rdma_qp_attr *from,
		  struct ib_device *ib)
{
	to->type = RDMA_AH_ATTR_TYPE_ROCE;
	rdma_ah_set_sl(to, from->ah_sl);
	rdma_ah_set_static_rate(to, from->ah_static_rate);
	rdma_ah_set_port_num(to, VRDMA_PORT);
	rdma_ah_set_ah_flags(to, IB_AH_GRH);
	rdma_ah_set_grh(to, NULL, le32_to_cpu(from->ah_flow_label), from->ah_sgid_index,
			from->ah_hop_limit, from->ah_traffic_class);
	memcpy(to->grh.dgid.raw, from->ah_dgid, sizeof(to->grh.dgid.raw));
	memcpy(to->roce.dmac, from->ah_dmac, ETH_ALEN);
}

/* No command of the device: each datagram has its address in its work request. */
static int create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init, struct ib_udata *udata)
{
	const struct rdma_ah_attr *attr = init->ah_attr;
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);
	struct vrdma_dev *d = vrdma_dev(ibah->device);
	struct vrdma_ah *ah = vrdma_ah(ibah);
	struct virtio_rdma_wr_ud *ud = &ah->ud;

	if (attr->type != RDMA_AH_ATTR_TYPE_ROCE || !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return -EINVAL;
	if (!atomic_add_unless(&d->n_ah, 1, d->ib.attrs.max_ah))
		return -ENOMEM;
	ah->attr = *attr;
	memset(ud, 0, sizeof(*ud));
	ud->av_port = cpu_to_le32(rdma_ah_get_port_num(attr));
	ud->av_pdn = cpu_to_le32(vrdma_pd(ibah->pd)->pdn);
	ud->av_sl_tclass_flowlabel = cpu_to_le32((u32)(rdma_ah_get_sl(attr) & 0xf) << 28 |
						 (u32)grh->traffic_class << 20 |
						 (grh->flow_label & 0xfffff));
	memcpy(ud->av_dgid, grh->dgid.raw, sizeof(ud->av_dgid));
	ud->av_gid_index = grh->sgid_index;
	ud->av_static_rate = rdma_ah_get_static_rate(attr);
	ud->av_hop_limit = grh->hop_limit;
	memcpy(ud->av_dmac, attr->roce.dmac, ETH_ALEN);
	return 0;
}

static int query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = vrdma_ah(ibah)->attr;
	attr->grh.sgid_attr = NULL; /* of the creator, who may be gone */
	return 0;
}

static int destroy_ah(struct ib_ah *ibah, u32 flags)
{
	atomic_dec(&vrdma_dev(ibah->device)->n_ah);
	return 0;
}

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return 0;
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
}

/* Programs map nothing of the device, so that it can be unplugged while they use it. */
static void disassociate_ucontext(struct ib_ucontext *context)
{
}

const struct ib_device_ops vrdma_device_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,
	.query_device = query_device,
	.query_port = query_port,
	.get_port_immutable = get_port_immutable,
	.get_link_layer = get_link_layer,
	.get_dev_fw_str = get_dev_fw_str,
	.query_pkey = query_pkey,
	.add_gid = add_gid,
	.del_gid = del_gid,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_ah = create_ah,
	.create_user_ah = create_ah,
	.query_ah = query_ah,
	.destroy_ah = destroy_ah,
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.disassociate_ucontext = disassociate_ucontext,
	INIT_RDMA_OBJ_SIZE(ib_ah, vrdma_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, vrdma_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, vrdma_ucontext, ib),
};
