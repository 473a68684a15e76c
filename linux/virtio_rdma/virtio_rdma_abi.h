/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The structures and numbers of virtio-rdma: "[RFC] Virtio RDMA" of February
 * 2022, and the extensions of rdmalab.
 *
 * Structures are packed and little-endian. Fields that are in network order
 * are arrays of bytes or __be32. The names are those of rdmalab's tables, so
 * that a test can compare each field with them. Also compiles in user space,
 * where the including file defines __packed.
 */
#ifndef VIRTIO_RDMA_ABI_H
#define VIRTIO_RDMA_ABI_H

#include <linux/types.h>
#ifdef __KERNEL__
#include <linux/build_bug.h>
#else
#include <assert.h>
#endif

#define VIRTIO_ID_RDMA 42

/* Feature bits of the device. The RFC has none. */
#define VIRTIO_RDMA_F_EVENTQ		0	/* asynchronous events have a virtqueue */
#define VIRTIO_RDMA_F_RESIZE		1	/* RESIZE_CQ */
#define VIRTIO_RDMA_F_ON_DEMAND		2	/* queues are set up when needed */
#define VIRTIO_RDMA_F_SRQ		3	/* shared receive queues */
#define VIRTIO_RDMA_F_MW		4	/* memory windows, REREG_MR */
#define VIRTIO_RDMA_F_MCAST		5	/* multicast groups */
#define VIRTIO_RDMA_F_CREDITS		6	/* end-to-end credits */
#define VIRTIO_RDMA_F_CEQ		7	/* completion events have virtqueues */
#define VIRTIO_RDMA_F_ARM_MEM		8	/* CQs are armed in guest memory */
#define VIRTIO_RDMA_F_REG_IN_WQE	9	/* REG_MR brings its page list */
#define VIRTIO_RDMA_F_QP_END		10	/* the end of a QP is defined */

/* Commands of the control queue. */
enum virtio_rdma_command {
	VIRTIO_RDMA_CMD_QUERY_PORT	= 1,
	VIRTIO_RDMA_CMD_CREATE_CQ	= 2,
	VIRTIO_RDMA_CMD_DESTROY_CQ	= 3,
	VIRTIO_RDMA_CMD_CREATE_PD	= 4,
	VIRTIO_RDMA_CMD_DESTROY_PD	= 5,
	VIRTIO_RDMA_CMD_GET_DMA_MR	= 6,
	VIRTIO_RDMA_CMD_CREATE_MR	= 7,
	VIRTIO_RDMA_CMD_MAP_MR_SG	= 8,
	VIRTIO_RDMA_CMD_REG_USER_MR	= 9,
	VIRTIO_RDMA_CMD_DEREG_MR	= 10,
	VIRTIO_RDMA_CMD_CREATE_QP	= 11,
	VIRTIO_RDMA_CMD_MODIFY_QP	= 12,
	VIRTIO_RDMA_CMD_QUERY_QP	= 13,
	VIRTIO_RDMA_CMD_DESTROY_QP	= 14,
	VIRTIO_RDMA_CMD_QUERY_PKEY	= 15,
	VIRTIO_RDMA_CMD_ADD_GID		= 16,
	VIRTIO_RDMA_CMD_DEL_GID		= 17,
	VIRTIO_RDMA_CMD_REQ_NOTIFY_CQ	= 18,
	VIRTIO_RDMA_CMD_ALLOC_MW	= 0x40,
	VIRTIO_RDMA_CMD_DEALLOC_MW	= 0x41,
	VIRTIO_RDMA_CMD_REREG_MR	= 0x42,
	VIRTIO_RDMA_CMD_CREATE_SRQ	= 0x48,
	VIRTIO_RDMA_CMD_MODIFY_SRQ	= 0x49,
	VIRTIO_RDMA_CMD_QUERY_SRQ	= 0x4a,
	VIRTIO_RDMA_CMD_DESTROY_SRQ	= 0x4b,
	VIRTIO_RDMA_CMD_RESIZE_CQ	= 0x50,
	VIRTIO_RDMA_CMD_RESIZE_QP	= 0x51,
	VIRTIO_RDMA_CMD_ATTACH_MCAST	= 0x58,
	VIRTIO_RDMA_CMD_DETACH_MCAST	= 0x59,
	VIRTIO_RDMA_CMD_CREATE_CQ_EX	= 0x60,
};

/* Responses of the control queue. */
enum virtio_rdma_response {
	VIRTIO_RDMA_RSP_OK		= 0,
	VIRTIO_RDMA_RSP_ERR		= 1,
	VIRTIO_RDMA_RSP_UNKNOWN_COMMAND	= 2,
	VIRTIO_RDMA_RSP_BAD_HANDLE	= 3,
	VIRTIO_RDMA_RSP_BUSY		= 4,
	VIRTIO_RDMA_RSP_NO_RESOURCES	= 5,
	VIRTIO_RDMA_RSP_INVALID_ARG	= 6,
	VIRTIO_RDMA_RSP_NOT_SUPPORTED	= 7,
};

#define VIRTIO_RDMA_GID_TYPE_ROCE_V2	2
#define VIRTIO_RDMA_NOTIFY_SOLICITED	1
#define VIRTIO_RDMA_NOTIFY_NEXT_COMP	2
#define VIRTIO_RDMA_SRQ_LIMITS_AT	8	/* in config.reserved */
#define VIRTIO_RDMA_CEQ_LIMITS_AT	20	/* in config.reserved */
#define VIRTIO_RDMA_EVENTS_MISSED	0x80000000U	/* in async_event.type */
#define VIRTIO_RDMA_QUEUE_SIZE_MAX	32768

/* Values of cqe.opcode and cqe.wc_flags: those of libibverbs. */
#define VIRTIO_RDMA_WC_SEND		0
#define VIRTIO_RDMA_WC_RDMA_WRITE	1
#define VIRTIO_RDMA_WC_RDMA_READ	2
#define VIRTIO_RDMA_WC_COMP_SWAP	3
#define VIRTIO_RDMA_WC_FETCH_ADD	4
#define VIRTIO_RDMA_WC_BIND_MW		5
#define VIRTIO_RDMA_WC_LOCAL_INV	6
#define VIRTIO_RDMA_WC_REG_MR		8
#define VIRTIO_RDMA_WC_RECV		128
#define VIRTIO_RDMA_WC_RECV_RDMA_WITH_IMM 129

#define VIRTIO_RDMA_WCF_GRH		1
#define VIRTIO_RDMA_WCF_WITH_IMM	2
#define VIRTIO_RDMA_WCF_WITH_INV	8

struct virtio_rdma_config {
	__le32 phys_port_cnt;
	__be64 sys_image_guid;
	__le32 vendor_id;
	__le32 vendor_part_id;
	__le32 hw_ver;
	__le64 max_mr_size;
	__le64 page_size_cap;
	__le32 max_qp;
	__le32 max_qp_wr;
	__le64 device_cap_flags;
	__le32 max_send_sge;
	__le32 max_recv_sge;
	__le32 max_sge_rd;
	__le32 max_cq;
	__le32 max_cqe;
	__le32 max_mr;
	__le32 max_pd;
	__le32 max_qp_rd_atom;
	__le32 max_res_rd_atom;
	__le32 max_qp_init_rd_atom;
	__u8 atomic_cap;
	__le32 max_mw;
	__le32 max_mcast_grp;
	__le32 max_mcast_qp_attach;
	__le32 max_total_mcast_qp_attach;
	__le32 max_ah;
	__le32 max_fast_reg_page_list_len;
	__le32 max_pi_fast_reg_page_list_len;
	__le16 max_pkeys;
	__u8 local_ca_ack_delay;
	__u8 reserved[512];
} __packed;

/* In config.reserved, if SRQ was negotiated. */
struct virtio_rdma_srq_limits {
	__le32 max_srq;
	__le32 max_srq_wr;
	__le32 max_srq_sge;
} __packed;

/* In config.reserved, if CEQ was negotiated. */
struct virtio_rdma_ceq_limits {
	__le32 max_ceq;
} __packed;

/* Control requests and responses, behind the byte of the command or response. */

struct virtio_rdma_query_port {
	__u8 port;
} __packed;

struct virtio_rdma_port_attr {
	__u8 state;
	__u8 max_mtu;
	__u8 active_mtu;
	__le32 phys_mtu;
	__le32 gid_tbl_len;
	__le32 port_cap_flags;
	__le32 max_msg_sz;
	__le32 bad_pkey_cntr;
	__le32 qkey_viol_cntr;
	__le16 pkey_tbl_len;
	__u8 active_width;
	__le16 active_speed;
	__u8 phys_state;
	__u8 reserved[128];
} __packed;

struct virtio_rdma_create_cq {
	__le32 cqe;
} __packed;

struct virtio_rdma_create_cq_ex {
	__le32 cqe;
	__le32 ceq;
	__le64 arm;	/* address of struct virtio_rdma_cq_arm, or 0 */
} __packed;

struct virtio_rdma_cq_handle {
	__le32 cqn;
} __packed;

struct virtio_rdma_pd_handle {
	__le32 pdn;
} __packed;

struct virtio_rdma_qp_handle {
	__le32 qpn;
} __packed;

struct virtio_rdma_mr_handle {
	__le32 mrn;
} __packed;

struct virtio_rdma_mw_handle {
	__le32 mwn;
} __packed;

struct virtio_rdma_srq_handle {
	__le32 srqn;
} __packed;

struct virtio_rdma_reg_user_mr {
	__le32 pdn;
	__le32 access_flags;
	__le64 start;
	__le64 length;
	__le64 virt_addr;
	__le64 pages;
	__le32 npages;
} __packed;

struct virtio_rdma_rereg_mr {
	__le32 mrn;
	__le32 flags;
	__le32 pdn;
	__le32 access_flags;
	__le64 start;
	__le64 length;
	__le64 virt_addr;
	__le64 pages;
	__le32 npages;
} __packed;

struct virtio_rdma_mr_keys {
	__le32 mrn;
	__le32 lkey;
	__le32 rkey;
} __packed;

struct virtio_rdma_get_dma_mr {
	__le32 pdn;
	__le32 access_flags;
} __packed;

struct virtio_rdma_create_mr {
	__le32 pdn;
	__le32 access_flags;
	__le32 max_num_sg;
} __packed;

struct virtio_rdma_map_mr_sg {
	__le32 mrn;
	__le32 npages;
	__le64 start;
	__le64 length;
	__le64 pages;
} __packed;

struct virtio_rdma_mapped {
	__le32 npages;
} __packed;

struct virtio_rdma_alloc_mw {
	__le32 pdn;
	__le32 type;
} __packed;

struct virtio_rdma_mw_keys {
	__le32 mwn;
	__le32 rkey;
} __packed;

struct virtio_rdma_create_srq {
	__le32 pdn;
	__le32 max_wr;
	__le32 max_sge;
} __packed;

struct virtio_rdma_modify_srq {
	__le32 srqn;
	__le32 attr_mask;
	__le32 max_wr;
	__le32 limit;
} __packed;

struct virtio_rdma_srq_attr {
	__le32 max_wr;
	__le32 max_sge;
	__le32 limit;
} __packed;

struct virtio_rdma_create_qp {
	__le32 pdn;
	__u8 qp_type;
	__u8 sq_sig_type;
	__le32 max_send_wr;
	__le32 max_send_sge;
	__le32 send_cqn;
	__le32 max_recv_wr;
	__le32 max_recv_sge;
	__le32 recv_cqn;
	__le32 max_inline_data;
	__le32 srqn;
	__u8 reserved[24];
	__le32 create_flags;
} __packed;

struct virtio_rdma_qp_attr {
	__u8 qp_state;
	__u8 cur_qp_state;
	__u8 path_mtu;
	__u8 path_mig_state;
	__le32 qkey;
	__le32 rq_psn;
	__le32 sq_psn;
	__le32 dest_qp_num;
	__le32 qp_access_flags;
	__le16 pkey_index;
	__le16 alt_pkey_index;
	__u8 en_sqd_async_notify;
	__u8 sq_draining;
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
	__u8 min_rnr_timer;
	__u8 port_num;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 alt_port_num;
	__u8 alt_timeout;
	__le32 rate_limit;
	__le32 max_send_wr;
	__le32 max_recv_wr;
	__le32 max_send_sge;
	__le32 max_recv_sge;
	__le32 max_inline_data;
	__u8 ah_dgid[16];
	__le32 ah_flow_label;
	__u8 ah_sgid_index;
	__u8 ah_hop_limit;
	__u8 ah_traffic_class;
	__u8 ah_sl;
	__u8 ah_static_rate;
	__u8 ah_port_num;
	__u8 ah_flags;
	__u8 ah_dmac[6];
	__u8 alt_ah[33];
} __packed;

struct virtio_rdma_modify_qp {
	__le32 qpn;
	__le32 attr_mask;
	struct virtio_rdma_qp_attr attrs;
} __packed;

struct virtio_rdma_query_qp {
	__le32 qpn;
	__le32 attr_mask;
} __packed;

struct virtio_rdma_query_pkey {
	__le32 port;
	__le16 index;
} __packed;

struct virtio_rdma_pkey {
	__le16 pkey;
} __packed;

struct virtio_rdma_add_gid {
	__u8 gid[16];
	__le32 gid_type;
	__le16 index;
	__le32 port_num;
} __packed;

struct virtio_rdma_del_gid {
	__le16 index;
	__le32 port;
} __packed;

struct virtio_rdma_req_notify {
	__le32 cqn;
	__le32 flags;
} __packed;

struct virtio_rdma_mcast {
	__u8 gid[16];
	__le32 qpn;
} __packed;

struct virtio_rdma_resize_cq {
	__le32 cqn;
	__le32 cqe;
} __packed;

struct virtio_rdma_resize_qp {
	__le32 qpn;
	__le32 max_send_wr;
	__le32 max_recv_wr;
} __packed;

/* Work requests: the head of a send or receive, behind it SGEs or inline data. */

struct virtio_rdma_wr_rdma {
	__le64 remote_addr;
	__le32 rkey;
} __packed;

struct virtio_rdma_wr_atomic {
	__le64 remote_addr;
	__le64 compare_add;
	__le64 swap;
	__le32 rkey;
} __packed;

struct virtio_rdma_wr_ud {
	__le32 remote_qpn;
	__le32 remote_qkey;
	__le32 av_port;
	__le32 av_pdn;
	__le32 av_sl_tclass_flowlabel;
	__u8 av_dgid[16];
	__u8 av_gid_index;
	__u8 av_static_rate;
	__u8 av_hop_limit;
	__u8 av_dmac[6];
	__u8 av_reserved[6];
} __packed;

struct virtio_rdma_wr_reg {
	__le32 mrn;
	__le32 key;
	__le32 access;
} __packed;

/* The same if REG_IN_WQE was negotiated. */
struct virtio_rdma_wr_reg_list {
	__le32 mrn;
	__le32 key;
	__le32 access;
	__le64 pages;
	__le32 npages;
	__le64 start;
	__le64 length;
} __packed;

struct virtio_rdma_wr_bind {
	__le32 mw_rkey;
	__le32 rkey;
	__le32 mr_lkey;
	__le32 access;
	__le64 addr;
	__le64 length;
	__u8 type;
} __packed;

struct virtio_rdma_sq_wqe {
	__le32 num_sge;
	__le32 send_flags;
	__le32 opcode;
	__le64 wr_id;
	union {
		__be32 imm_data;
		__le32 invalidate_rkey;
	} __packed ex;
	union {
		struct virtio_rdma_wr_rdma rdma;
		struct virtio_rdma_wr_atomic atomic;
		struct virtio_rdma_wr_ud ud;
		struct virtio_rdma_wr_reg reg;
		struct virtio_rdma_wr_reg_list reg_list;
		struct virtio_rdma_wr_bind bind;
	} __packed wr;
} __packed;

struct virtio_rdma_rq_wqe {
	__le32 num_sge;
	__le64 wr_id;
} __packed;

struct virtio_rdma_sge {
	__le64 addr;
	__le32 length;
	__le32 lkey;
} __packed;

/* Structures that the device writes. */

struct virtio_rdma_cqe {
	__le64 wr_id;
	__u8 status;
	__u8 opcode;
	__le32 vendor_err;
	__le32 byte_len;
	union {
		__be32 imm_data;
		__le32 invalidate_rkey;
	} __packed ex;
	__le32 qp_num;
	__le32 src_qp;
	__le32 wc_flags;
	__le16 pkey_index;
	__u8 sl;
	__u8 port_num;
} __packed;

struct virtio_rdma_async_event {
	__le32 type;
	__le32 number;
} __packed;

/* number: of the arming in memory that it answers, else 0. */
struct virtio_rdma_cq_event {
	__le32 cqn;
	__le32 number;
} __packed;

/* The word in guest memory by which a CQ is armed: sequence << 2 | flags. */
struct virtio_rdma_cq_arm {
	__le32 arm;
	__le32 reserved;
} __packed;

static_assert(sizeof(struct virtio_rdma_config) == 640, "config");
static_assert(sizeof(struct virtio_rdma_port_attr) == 161, "port attributes");
static_assert(sizeof(struct virtio_rdma_create_qp) == 66, "CREATE_QP");
static_assert(sizeof(struct virtio_rdma_qp_attr) == 129, "QP attributes");
static_assert(sizeof(struct virtio_rdma_modify_qp) == 137, "MODIFY_QP");
static_assert(sizeof(struct virtio_rdma_reg_user_mr) == 44, "REG_USER_MR");
static_assert(sizeof(struct virtio_rdma_map_mr_sg) == 32, "MAP_MR_SG");
static_assert(sizeof(struct virtio_rdma_wr_ud) == 51, "wr.ud");
static_assert(sizeof(struct virtio_rdma_wr_reg_list) == 40, "wr.reg");
static_assert(sizeof(struct virtio_rdma_sq_wqe) == 75, "send");
static_assert(sizeof(struct virtio_rdma_rq_wqe) == 12, "receive");
static_assert(sizeof(struct virtio_rdma_sge) == 16, "SGE");
static_assert(sizeof(struct virtio_rdma_cqe) == 38, "completion");
static_assert(sizeof(struct virtio_rdma_async_event) == 8, "event");
static_assert(sizeof(struct virtio_rdma_cq_event) == 8, "completion event");

#endif
