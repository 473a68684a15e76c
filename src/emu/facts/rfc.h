/* SPDX-License-Identifier: MIT */
/* The structures of the virtio-rdma RFC and of our own commands, a list of rows for each.
 *
 * A row is F(structure, field, type, text).  Types are le8 .. le64 and raw bytes, bytes(N).
 * Structures have no padding [virtio 1.2, 1.4].  The offset of a field is therefore the sum of the
 * lengths before it, as in a struct of byte arrays.  The rows generate these arrays, the decoded
 * struct, the functions that convert between them, and the table for annotated hex dumps.
 */
#ifndef EMU_FACTS_RFC_H
#define EMU_FACTS_RFC_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "emu/facts/struct_rows.h"

#define RFC_CONFIG(F, S)                                                                           \
    F(S, phys_port_cnt, le32, "number of ports")                                                   \
    F(S, sys_image_guid, bytes(8), "system image GUID, network byte order")                        \
    F(S, vendor_id, le32, "vendor ID")                                                             \
    F(S, vendor_part_id, le32, "vendor's part ID")                                                 \
    F(S, hw_ver, le32, "hardware version")                                                         \
    F(S, max_mr_size, le64, "largest block that can be registered")                                \
    F(S, page_size_cap, le64, "supported page sizes, one bit each")                                \
    F(S, max_qp, le32, "queue pairs")                                                              \
    F(S, max_qp_wr, le32, "outstanding work requests on a work queue")                             \
    F(S, device_cap_flags, le64, "capabilities")                                                   \
    F(S, max_send_sge, le32, "SGEs of a send WQE")                                                 \
    F(S, max_recv_sge, le32, "SGEs of a receive WQE")                                              \
    F(S, max_sge_rd, le32, "SGEs of a READ")                                                       \
    F(S, max_cq, le32, "completion queues")                                                        \
    F(S, max_cqe, le32, "entries of a completion queue")                                           \
    F(S, max_mr, le32, "memory regions")                                                           \
    F(S, max_pd, le32, "protection domains")                                                       \
    F(S, max_qp_rd_atom, le32, "READs and atomics outstanding per QP")                             \
    F(S, max_res_rd_atom, le32, "READ and atomic resources as target")                             \
    F(S, max_qp_init_rd_atom, le32, "READs and atomics initiated per QP")                          \
    F(S, atomic_cap, le8, "atomic capability")                                                     \
    F(S, max_mw, le32, "memory windows")                                                           \
    F(S, max_mcast_grp, le32, "multicast groups")                                                  \
    F(S, max_mcast_qp_attach, le32, "QPs per multicast group")                                     \
    F(S, max_total_mcast_qp_attach, le32, "QPs attached to multicast groups")                      \
    F(S, max_ah, le32, "address handles")                                                          \
    F(S, max_fast_reg_page_list_len, le32, "pages of a fast registration")                         \
    F(S, max_pi_fast_reg_page_list_len, le32, "pages of a PI fast registration")                   \
    F(S, max_pkeys, le16, "partitions")                                                            \
    F(S, local_ca_ack_delay, le8, "local CA ACK delay")                                            \
    F(S, reserved, bytes(512), "reserved")

#define RFC_QUERY_PORT(F, S) F(S, port, le8, "port number, from 1")

#define RFC_PORT_ATTR(F, S)                                                                        \
    F(S, state, le8, "port state")                                                                 \
    F(S, max_mtu, le8, "largest MTU")                                                              \
    F(S, active_mtu, le8, "active MTU")                                                            \
    F(S, phys_mtu, le32, "physical MTU")                                                           \
    F(S, gid_tbl_len, le32, "entries of the GID table")                                            \
    F(S, port_cap_flags, le32, "port capabilities")                                                \
    F(S, max_msg_sz, le32, "largest message")                                                      \
    F(S, bad_pkey_cntr, le32, "packets with a wrong P_Key")                                        \
    F(S, qkey_viol_cntr, le32, "packets with a wrong Q_Key")                                       \
    F(S, pkey_tbl_len, le16, "entries of the P_Key table")                                         \
    F(S, active_width, le8, "link width")                                                          \
    F(S, active_speed, le16, "link speed")                                                         \
    F(S, phys_state, le8, "physical state")                                                        \
    F(S, reserved, bytes(128), "reserved")

#define RFC_CREATE_CQ(F, S) F(S, cqe, le32, "entries")
#define RFC_CQ_HANDLE(F, S) F(S, cqn, le32, "completion queue")
#define RFC_PD_HANDLE(F, S) F(S, pdn, le32, "protection domain")
#define RFC_QP_HANDLE(F, S) F(S, qpn, le32, "queue pair")
#define RFC_MR_HANDLE(F, S) F(S, mrn, le32, "memory region")

#define RFC_REG_USER_MR(F, S)                                                                      \
    F(S, pdn, le32, "protection domain")                                                           \
    F(S, access_flags, le32, "access flags")                                                       \
    F(S, start, le64, "start address")                                                             \
    F(S, length, le64, "bytes")                                                                    \
    F(S, virt_addr, le64, "address that SGEs use (IOVA)")                                          \
    F(S, pages, le64, "guest-physical address of the page list")                                   \
    F(S, npages, le32, "entries of the page list")

#define RFC_MR_KEYS(F, S)                                                                          \
    F(S, mrn, le32, "memory region")                                                               \
    F(S, lkey, le32, "local key")                                                                  \
    F(S, rkey, le32, "remote key")

#define RFC_GET_DMA_MR(F, S)                                                                       \
    F(S, pdn, le32, "protection domain")                                                           \
    F(S, access_flags, le32, "access flags")

#define RFC_CREATE_MR(F, S)                                                                        \
    F(S, pdn, le32, "protection domain")                                                           \
    F(S, access_flags, le32, "access flags that REG_MR may give")                                  \
    F(S, max_num_sg, le32, "pages at most")

#define RFC_MAP_MR_SG(F, S)                                                                        \
    F(S, mrn, le32, "memory region")                                                               \
    F(S, npages, le32, "entries of the page list")                                                 \
    F(S, start, le64, "start address")                                                             \
    F(S, length, le64, "bytes")                                                                    \
    F(S, pages, le64, "guest-physical address of the page list")

#define RFC_MAPPED(F, S) F(S, npages, le32, "pages that were mapped")

/* Structures of our own, for the feature MW.  [decision 0022] */
#define RFC_ALLOC_MW(F, S)                                                                         \
    F(S, pdn, le32, "protection domain")                                                           \
    F(S, type, le32, "1 or 2")

#define RFC_MW_KEYS(F, S)                                                                          \
    F(S, mwn, le32, "memory window")                                                               \
    F(S, rkey, le32, "remote key")

#define RFC_MW_HANDLE(F, S) F(S, mwn, le32, "memory window")

#define RFC_REREG_MR(F, S)                                                                         \
    F(S, mrn, le32, "memory region")                                                               \
    F(S, flags, le32, "1: translation, 2: protection domain, 4: access")                           \
    F(S, pdn, le32, "protection domain")                                                           \
    F(S, access_flags, le32, "access flags")                                                       \
    F(S, start, le64, "start address")                                                             \
    F(S, length, le64, "bytes")                                                                    \
    F(S, virt_addr, le64, "address that SGEs use (IOVA)")                                          \
    F(S, pages, le64, "guest-physical address of the page list")                                   \
    F(S, npages, le32, "entries of the page list")

/* Structures of our own, for the feature SRQ.  [decision 0024] */
#define RFC_SRQ_LIMITS(F, S)                                                                       \
    F(S, max_srq, le32, "shared receive queues")                                                   \
    F(S, max_srq_wr, le32, "receives of one")                                                      \
    F(S, max_srq_sge, le32, "SGEs of one receive")

#define RFC_CREATE_SRQ(F, S)                                                                       \
    F(S, pdn, le32, "protection domain")                                                           \
    F(S, max_wr, le32, "receives")                                                                 \
    F(S, max_sge, le32, "SGEs of a receive")

#define RFC_SRQ_HANDLE(F, S) F(S, srqn, le32, "shared receive queue")

#define RFC_MODIFY_SRQ(F, S)                                                                       \
    F(S, srqn, le32, "shared receive queue")                                                       \
    F(S, attr_mask, le32, "1: max_wr, not supported; 2: limit")                                    \
    F(S, max_wr, le32, "receives")                                                                 \
    F(S, limit, le32, "fewer receives than this raise an event, once; 0: none does")

#define RFC_SRQ_ATTR(F, S)                                                                         \
    F(S, max_wr, le32, "receives")                                                                 \
    F(S, max_sge, le32, "SGEs of a receive")                                                       \
    F(S, limit, le32, "limit that is armed, or 0")

#define RFC_CREATE_QP(F, S)                                                                        \
    F(S, pdn, le32, "protection domain")                                                           \
    F(S, qp_type, le8, "type")                                                                     \
    F(S, sq_sig_type, le8, "0: every WR is signaled")                                              \
    F(S, max_send_wr, le32, "send WRs")                                                            \
    F(S, max_send_sge, le32, "SGEs of a send")                                                     \
    F(S, send_cqn, le32, "CQ of the send queue")                                                   \
    F(S, max_recv_wr, le32, "receive WRs")                                                         \
    F(S, max_recv_sge, le32, "SGEs of a receive")                                                  \
    F(S, recv_cqn, le32, "CQ of the receive queue")                                                \
    F(S, max_inline_data, le32, "inline bytes")                                                    \
    F(S, srqn, le32, "ours, with the feature SRQ: shared receive queue, or 0; reserved without")   \
    F(S, reserved, bytes(24), "reserved")                                                          \
    F(S, create_flags, le32, "2: no copy of what it sends to a group (feature MCAST)")

/* struct virtio_rdma_qp_attr; the fields of its nested structures are part of this list. */
#define RFC_QP_ATTR(F, S)                                                                          \
    F(S, qp_state, le8, "move to this state")                                                      \
    F(S, cur_qp_state, le8, "assume this state")                                                   \
    F(S, path_mtu, le8, "path MTU")                                                                \
    F(S, path_mig_state, le8, "path migration state")                                              \
    F(S, qkey, le32, "Q_Key")                                                                      \
    F(S, rq_psn, le32, "PSN expected first")                                                       \
    F(S, sq_psn, le32, "PSN sent first")                                                           \
    F(S, dest_qp_num, le32, "remote QPN")                                                          \
    F(S, qp_access_flags, le32, "remote access allowed")                                           \
    F(S, pkey_index, le16, "P_Key index")                                                          \
    F(S, alt_pkey_index, le16, "alternate P_Key index")                                            \
    F(S, en_sqd_async_notify, le8, "event when drained")                                           \
    F(S, sq_draining, le8, "draining")                                                             \
    F(S, max_rd_atomic, le8, "READs and atomics outstanding")                                      \
    F(S, max_dest_rd_atomic, le8, "READ and atomic resources")                                     \
    F(S, min_rnr_timer, le8, "RNR NAK timer code")                                                 \
    F(S, port_num, le8, "port")                                                                    \
    F(S, timeout, le8, "local ACK timeout code")                                                   \
    F(S, retry_cnt, le8, "retries")                                                                \
    F(S, rnr_retry, le8, "RNR retries")                                                            \
    F(S, alt_port_num, le8, "alternate port")                                                      \
    F(S, alt_timeout, le8, "alternate timeout")                                                    \
    F(S, rate_limit, le32, "rate limit, kbit/s")                                                   \
    F(S, max_send_wr, le32, "send WRs")                                                            \
    F(S, max_recv_wr, le32, "receive WRs")                                                         \
    F(S, max_send_sge, le32, "SGEs of a send")                                                     \
    F(S, max_recv_sge, le32, "SGEs of a receive")                                                  \
    F(S, max_inline_data, le32, "inline bytes")                                                    \
    F(S, ah_dgid, bytes(16), "destination GID")                                                    \
    F(S, ah_flow_label, le32, "flow label")                                                        \
    F(S, ah_sgid_index, le8, "source GID index")                                                   \
    F(S, ah_hop_limit, le8, "hop limit")                                                           \
    F(S, ah_traffic_class, le8, "traffic class")                                                   \
    F(S, ah_sl, le8, "service level")                                                              \
    F(S, ah_static_rate, le8, "static rate")                                                       \
    F(S, ah_port_num, le8, "port")                                                                 \
    F(S, ah_flags, le8, "1: GRH is valid")                                                         \
    F(S, ah_dmac, bytes(6), "destination MAC")                                                     \
    F(S, alt_ah, bytes(33), "alternate path: not supported")

#define RFC_MODIFY_QP(F, S)                                                                        \
    F(S, qpn, le32, "queue pair")                                                                  \
    F(S, attr_mask, le32, "attributes that are given")                                             \
    F(S, attrs, bytes(129), "struct virtio_rdma_qp_attr")

#define RFC_QUERY_QP(F, S)                                                                         \
    F(S, qpn, le32, "queue pair")                                                                  \
    F(S, attr_mask, le32, "attributes that are asked for")

#define RFC_QUERY_PKEY(F, S)                                                                       \
    F(S, port, le32, "port")                                                                       \
    F(S, index, le16, "index")

#define RFC_PKEY(F, S) F(S, pkey, le16, "P_Key")

#define RFC_ADD_GID(F, S)                                                                          \
    F(S, gid, bytes(16), "GID")                                                                    \
    F(S, gid_type, le32, "2: RoCE v2")                                                             \
    F(S, index, le16, "index")                                                                     \
    F(S, port_num, le32, "port")

#define RFC_DEL_GID(F, S)                                                                          \
    F(S, index, le16, "index")                                                                     \
    F(S, port, le32, "port")

#define RFC_REQ_NOTIFY(F, S)                                                                       \
    F(S, cqn, le32, "completion queue")                                                            \
    F(S, flags, le32, "1: solicited, 2: next completion")

/* The request of ATTACH_MCAST and DETACH_MCAST, which the RFC does not define. */
#define RFC_MCAST(F, S)                                                                            \
    F(S, gid, bytes(16), "the group's address")                                                    \
    F(S, qpn, le32, "queue pair")

/* struct cmd_post_send.  The field wr is a union of the structures RFC_WR_*, with the size of the
 * largest, RFC_WR_UD.  wr_form() returns the member that is valid in a request.
 */
#define RFC_SQ_WQE(F, S)                                                                           \
    F(S, num_sge, le32, "SGEs that follow")                                                        \
    F(S, send_flags, le32, "send flags")                                                           \
    F(S, opcode, le32, "opcode")                                                                   \
    F(S, wr_id, le64, "work request ID")                                                           \
    F(S, ex, bytes(4), "immediate data in network order, or key to invalidate")                    \
    F(S, wr, bytes(51), "rdma, atomic, ud, reg or bind")

#define RFC_WR_RDMA(F, S)                                                                          \
    F(S, remote_addr, le64, "address at the far side")                                             \
    F(S, rkey, le32, "remote key")

#define RFC_WR_ATOMIC(F, S)                                                                        \
    F(S, remote_addr, le64, "address at the far side")                                             \
    F(S, compare_add, le64, "what is compared, or added")                                          \
    F(S, swap, le64, "what is written if it is equal")                                             \
    F(S, rkey, le32, "remote key")

/* The member ud of the union; the fields of struct virtio_rdma_av are part of this list. */
#define RFC_WR_UD(F, S)                                                                            \
    F(S, remote_qpn, le32, "QPN at the far side")                                                  \
    F(S, remote_qkey, le32, "its Q_Key")                                                           \
    F(S, av_port, le32, "port")                                                                    \
    F(S, av_pdn, le32, "protection domain of the address")                                         \
    F(S, av_sl_tclass_flowlabel, le32, "service level 31..28, class 27..20, flow label 19..0")     \
    F(S, av_dgid, bytes(16), "destination GID")                                                    \
    F(S, av_gid_index, le8, "source GID index")                                                    \
    F(S, av_static_rate, le8, "static rate")                                                       \
    F(S, av_hop_limit, le8, "hop limit")                                                           \
    F(S, av_dmac, bytes(6), "destination MAC")                                                     \
    F(S, av_reserved, bytes(6), "reserved")

#define RFC_WR_REG(F, S)                                                                           \
    F(S, mrn, le32, "memory region")                                                               \
    F(S, key, le32, "its new key")                                                                 \
    F(S, access, le32, "access flags")

/* The member of the union for REG_MR with the feature REG_IN_WQE; it begins as RFC_WR_REG.
 * [decision 0064]
 */
#define RFC_WR_REG_LIST(F, S)                                                                      \
    RFC_WR_REG(F, S)                                                                               \
    F(S, pages, le64, "guest-physical address of the page list")                                   \
    F(S, npages, le32, "entries of the page list")                                                 \
    F(S, start, le64, "start address")                                                             \
    F(S, length, le64, "bytes")

/* The member of the union for BIND_MW, which the RFC does not define. */
#define RFC_WR_BIND(F, S)                                                                          \
    F(S, mw_rkey, le32, "key that the window has")                                                 \
    F(S, rkey, le32, "key that it will have")                                                      \
    F(S, mr_lkey, le32, "region that it will show")                                                \
    F(S, access, le32, "access flags")                                                             \
    F(S, addr, le64, "first byte")                                                                 \
    F(S, length, le64, "bytes; 0: it shows nothing any more")                                      \
    F(S, type, le8, "1: as ibv_bind_mw() binds, 2: as a work request does")

#define RFC_RQ_WQE(F, S)                                                                           \
    F(S, num_sge, le32, "SGEs that follow")                                                        \
    F(S, wr_id, le64, "work request ID")

#define RFC_SGE(F, S)                                                                              \
    F(S, addr, le64, "address")                                                                    \
    F(S, length, le32, "bytes")                                                                    \
    F(S, lkey, le32, "local key")

#define RFC_CQE(F, S)                                                                              \
    F(S, wr_id, le64, "work request ID")                                                           \
    F(S, status, le8, "completion status")                                                         \
    F(S, opcode, le8, "completion opcode")                                                         \
    F(S, vendor_err, le32, "the rule that refused: enum rule of rdmalab")                          \
    F(S, byte_len, le32, "bytes transferred")                                                      \
    F(S, ex, bytes(4), "immediate data in network order, or invalidated key")                      \
    F(S, qp_num, le32, "local QPN")                                                                \
    F(S, src_qp, le32, "remote QPN (UD)")                                                          \
    F(S, wc_flags, le32, "completion flags")                                                       \
    F(S, pkey_index, le16, "P_Key index")                                                          \
    F(S, sl, le8, "service level")                                                                 \
    F(S, port_num, le8, "port")

/* An event in a buffer of the event queue, which the RFC does not define.  [decision 0009] */
#define RFC_ASYNC_EVENT(F, S)                                                                      \
    F(S, type, le32, "event; the highest bit: others were lost")                                   \
    F(S, number, le32, "queue pair, completion queue or port")

/* Completion event queues and arming in memory: the features CEQ and ARM_MEM.  [decisions 0061 and
 * 0062]
 */
#define RFC_CEQ_LIMITS(F, S) F(S, max_ceq, le32, "completion event queues")

#define RFC_CREATE_CQ_EX(F, S)                                                                     \
    F(S, cqe, le32, "entries")                                                                     \
    F(S, ceq, le32, "completion event queue that gets its events")                                 \
    F(S, arm, le64, "guest-physical address of its arming, struct cq_arm; 0: by REQ_NOTIFY_CQ")

#define RFC_CQ_ARM(F, S)                                                                           \
    F(S, arm, le32, "number of the arming << 2; 2: next completion, 1: solicited, 0: not armed")   \
    F(S, reserved, le32, "0")

#define RFC_CQ_EVENT(F, S)                                                                         \
    F(S, cqn, le32, "completion queue")                                                            \
    F(S, number, le32, "number of the arming in memory that it answers, else 0")

/* The request of RESIZE_CQ, which the RFC does not define. */
#define RFC_RESIZE_CQ(F, S)                                                                        \
    F(S, cqn, le32, "completion queue")                                                            \
    F(S, cqe, le32, "entries")

/* The request of RESIZE_QP, which the RFC does not define. */
#define RFC_RESIZE_QP(F, S)                                                                        \
    F(S, qpn, le32, "queue pair")                                                                  \
    F(S, max_send_wr, le32, "send WRs")                                                            \
    F(S, max_recv_wr, le32, "receive WRs; with a shared receive queue nothing")

/* RFC_STRUCTS(S) expands S(name, list) for each structure. */
#define RFC_STRUCTS(S)                                                                             \
    S(config, RFC_CONFIG)                                                                          \
    S(query_port, RFC_QUERY_PORT)                                                                  \
    S(port_attr, RFC_PORT_ATTR)                                                                    \
    S(create_cq, RFC_CREATE_CQ)                                                                    \
    S(cq_handle, RFC_CQ_HANDLE)                                                                    \
    S(pd_handle, RFC_PD_HANDLE)                                                                    \
    S(qp_handle, RFC_QP_HANDLE)                                                                    \
    S(mr_handle, RFC_MR_HANDLE)                                                                    \
    S(reg_user_mr, RFC_REG_USER_MR)                                                                \
    S(mr_keys, RFC_MR_KEYS)                                                                        \
    S(create_qp, RFC_CREATE_QP)                                                                    \
    S(qp_attr, RFC_QP_ATTR)                                                                        \
    S(modify_qp, RFC_MODIFY_QP)                                                                    \
    S(query_qp, RFC_QUERY_QP)                                                                      \
    S(query_pkey, RFC_QUERY_PKEY)                                                                  \
    S(pkey, RFC_PKEY)                                                                              \
    S(add_gid, RFC_ADD_GID)                                                                        \
    S(del_gid, RFC_DEL_GID)                                                                        \
    S(req_notify, RFC_REQ_NOTIFY)                                                                  \
    S(mcast, RFC_MCAST)                                                                            \
    S(sq_wqe, RFC_SQ_WQE)                                                                          \
    S(rq_wqe, RFC_RQ_WQE)                                                                          \
    S(sge, RFC_SGE)                                                                                \
    S(cqe, RFC_CQE)                                                                                \
    S(wr_rdma, RFC_WR_RDMA)                                                                        \
    S(wr_atomic, RFC_WR_ATOMIC)                                                                    \
    S(wr_ud, RFC_WR_UD)                                                                            \
    S(wr_reg, RFC_WR_REG)                                                                          \
    S(wr_reg_list, RFC_WR_REG_LIST)                                                                \
    S(wr_bind, RFC_WR_BIND)                                                                        \
    S(get_dma_mr, RFC_GET_DMA_MR)                                                                  \
    S(create_mr, RFC_CREATE_MR)                                                                    \
    S(map_mr_sg, RFC_MAP_MR_SG)                                                                    \
    S(mapped, RFC_MAPPED)                                                                          \
    S(alloc_mw, RFC_ALLOC_MW)                                                                      \
    S(mw_keys, RFC_MW_KEYS)                                                                        \
    S(mw_handle, RFC_MW_HANDLE)                                                                    \
    S(rereg_mr, RFC_REREG_MR)                                                                      \
    S(async_event, RFC_ASYNC_EVENT)                                                                \
    S(resize_cq, RFC_RESIZE_CQ)                                                                    \
    S(resize_qp, RFC_RESIZE_QP)                                                                    \
    S(srq_limits, RFC_SRQ_LIMITS)                                                                  \
    S(create_srq, RFC_CREATE_SRQ)                                                                  \
    S(srq_handle, RFC_SRQ_HANDLE)                                                                  \
    S(modify_srq, RFC_MODIFY_SRQ)                                                                  \
    S(srq_attr, RFC_SRQ_ATTR)                                                                      \
    S(ceq_limits, RFC_CEQ_LIMITS)                                                                  \
    S(create_cq_ex, RFC_CREATE_CQ_EX)                                                              \
    S(cq_arm, RFC_CQ_ARM)                                                                          \
    S(cq_event, RFC_CQ_EVENT)

/* For each structure NAME: struct raw_NAME (the bytes), struct rfc_NAME (decoded),
 * rfc_NAME_get(), which decodes, and rfc_NAME_put(), which encodes.  sizeof(struct raw_NAME) is the
 * size in guest memory.
 */
#define RFC_DEFINE(name, list) STRUCT_ROWS_DEFINE(raw_##name, rfc_##name, list)

RFC_STRUCTS(RFC_DEFINE)

/* The sizes of the RFC's structures without padding. */
_Static_assert(sizeof(struct raw_config) == 640, "struct virtio_rdma_config");
_Static_assert(sizeof(struct raw_sq_wqe) == 75, "struct cmd_post_send");
_Static_assert(sizeof(struct raw_wr_rdma) == 12, "wr.rdma of struct cmd_post_send");
_Static_assert(sizeof(struct raw_wr_atomic) == 28, "wr.atomic of struct cmd_post_send");
_Static_assert(sizeof(struct raw_wr_ud) == 51, "wr.ud of struct cmd_post_send: the largest");
_Static_assert(sizeof(struct raw_wr_reg) == 12, "wr.reg of struct cmd_post_send");
_Static_assert(sizeof(struct raw_wr_reg_list) == 40, "wr.reg with its page list");
_Static_assert(sizeof(struct raw_wr_bind) <= sizeof(struct raw_wr_ud), "fits into the union");
_Static_assert(sizeof(struct raw_rq_wqe) == 12, "struct cmd_post_recv");
_Static_assert(sizeof(struct raw_cqe) == 38, "struct virtio_rdma_cq_req");
_Static_assert(sizeof(struct raw_port_attr) == 161, "struct rsp_query_port");
_Static_assert(sizeof(struct raw_qp_attr) == 129, "struct virtio_rdma_qp_attr");
_Static_assert(sizeof(struct raw_modify_qp) == 137, "struct cmd_modify_qp");
_Static_assert(sizeof(struct raw_create_qp) == 66, "struct cmd_create_qp");
_Static_assert(sizeof(struct raw_reg_user_mr) == 44, "struct cmd_reg_user_mr");
_Static_assert(sizeof(struct raw_map_mr_sg) == 32, "struct cmd_map_mr_sg");

/* Returns the structure with the name @name ("sq_wqe"), or NULL. */
const struct row_struct *rfc_find(const char *name);

/* Formats of a control command: @request follows the command byte, @response follows the status
 * byte.  NULL means that nothing follows.  [virtio-rdma RFC, controlq Operation]
 */
struct rfc_ctrl {
    const struct row_struct *request, *response;
};

/* Returns the formats of @command (enum ctrl_cmd).  Both are NULL if the number is unknown. */
const struct rfc_ctrl *rfc_ctrl(uint32_t command);

/* Returns the size in bytes of @s in guest memory, or 0 if @s is NULL. */
static inline size_t rfc_bytes(const struct row_struct *s)
{
    return s ? s->bytes : 0;
}

#endif
