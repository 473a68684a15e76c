/* SPDX-License-Identifier: MIT */
/* The structures of PVRDMA in guest memory, a list of rows for each: see struct_rows.h.
 * [Linux, pvrdma_dev_api.h, pvrdma_verbs.h, include/uapi/rdma/vmw_pvrdma-abi.h]
 *
 * Requests and responses of commands are lists without their headers, which are structures of their
 * own.  Two requests differ in one field before version 19, whose high half is then padding.
 */
#ifndef EMU_FACTS_PVRDMA_STRUCTS_H
#define EMU_FACTS_PVRDMA_STRUCTS_H

#include <stddef.h>

#include "emu/facts/pvrdma/ring.h"
#include "emu/facts/struct_rows.h"

/* A ring of the shared region. */
#define PV_RING_PAGES(F, S)                                                                        \
    F(S, pages, le32, "pages of the ring, with that of its state")                                 \
    F(S, reserved, bytes(4), "reserved")                                                           \
    F(S, pdir, le64, "address of the page directory")

/* The shared region of driver and device. */
#define PV_DSR(F, S)                                                                               \
    F(S, driver_version, le32, "version of the driver")                                            \
    F(S, pad1, bytes(4), "padding")                                                                \
    F(S, guest_info, le32, "bits 0-1: 32 or 64 bits, 2-5: system, 6-21: its version")              \
    F(S, pad2, bytes(4), "padding")                                                                \
    F(S, command_slot, le64, "address of the page of requests")                                    \
    F(S, response_slot, le64, "address of the page of responses")                                  \
    F(S, async, bytes(16), "ring of asynchronous events")                                          \
    F(S, cq, bytes(16), "ring of notifications of CQs")                                            \
    F(S, uar_pfn, le64, "page frame of the kernel's doorbells; 32 bits before version 19")         \
    F(S, caps, bytes(208), "capabilities, written by the device")

/* The capabilities, which the device writes into the region. */
#define PV_CAPS(F, S)                                                                              \
    F(S, fw_ver, le64, "firmware version")                                                         \
    F(S, node_guid, bytes(8), "node GUID, network byte order")                                     \
    F(S, sys_image_guid, bytes(8), "system image GUID, network byte order")                        \
    F(S, max_mr_size, le64, "largest block that can be registered")                                \
    F(S, page_size_cap, le64, "supported page sizes, one bit each")                                \
    F(S, atomic_arg_sizes, le64, "sizes of atomics, one bit each")                                 \
    F(S, ex_comp_mask, le32, "extensions that follow")                                             \
    F(S, device_cap_flags2, le32, "more capabilities")                                             \
    F(S, max_fa_bit_boundary, le32, "boundary of masked fetch and add")                            \
    F(S, log_max_atomic_inline_arg, le32, "size of inline atomics")                                \
    F(S, vendor_id, le32, "vendor ID")                                                             \
    F(S, vendor_part_id, le32, "vendor's part ID")                                                 \
    F(S, hw_ver, le32, "hardware version")                                                         \
    F(S, max_qp, le32, "queue pairs; handles are smaller")                                         \
    F(S, max_qp_wr, le32, "work requests of a work queue")                                         \
    F(S, device_cap_flags, le32, "capabilities")                                                   \
    F(S, max_sge, le32, "SGEs of a work request")                                                  \
    F(S, max_sge_rd, le32, "SGEs of a READ")                                                       \
    F(S, max_cq, le32, "completion queues; handles are smaller")                                   \
    F(S, max_cqe, le32, "entries of a completion queue")                                           \
    F(S, max_mr, le32, "memory regions")                                                           \
    F(S, max_pd, le32, "protection domains")                                                       \
    F(S, max_qp_rd_atom, le32, "READs and atomics of its peer that a QP can hold")                 \
    F(S, max_ee_rd_atom, le32, "the same of an EE context")                                        \
    F(S, max_res_rd_atom, le32, "READs and atomics of peers that the device can hold")             \
    F(S, max_qp_init_rd_atom, le32, "READs and atomics that a QP can have outstanding")            \
    F(S, max_ee_init_rd_atom, le32, "the same of an EE context")                                   \
    F(S, max_ee, le32, "EE contexts")                                                              \
    F(S, max_rdd, le32, "reliable datagram domains")                                               \
    F(S, max_mw, le32, "memory windows")                                                           \
    F(S, max_raw_ipv6_qp, le32, "raw IPv6 QPs")                                                    \
    F(S, max_raw_ethy_qp, le32, "raw Ethernet QPs")                                                \
    F(S, max_mcast_grp, le32, "multicast groups")                                                  \
    F(S, max_mcast_qp_attach, le32, "QPs of a multicast group")                                    \
    F(S, max_total_mcast_qp_attach, le32, "QPs of all multicast groups")                           \
    F(S, max_ah, le32, "address handles")                                                          \
    F(S, max_fmr, le32, "fast memory regions of the old kind")                                     \
    F(S, max_map_per_fmr, le32, "mappings of one")                                                 \
    F(S, max_srq, le32, "shared receive queues; handles are smaller")                              \
    F(S, max_srq_wr, le32, "receives of one")                                                      \
    F(S, max_srq_sge, le32, "SGEs of a shared receive")                                            \
    F(S, max_uar, le32, "pages of doorbells, a power of two")                                      \
    F(S, gid_tbl_len, le32, "entries of the GID table")                                            \
    F(S, max_pkeys, le16, "partitions")                                                            \
    F(S, local_ca_ack_delay, le8, "local CA ACK delay")                                            \
    F(S, phys_port_cnt, le8, "ports")                                                              \
    F(S, mode, le8, "0: RoCE")                                                                     \
    F(S, atomic_ops, le8, "1: compare and swap, 2: fetch and add, 4, 8: masked")                   \
    F(S, bmme_flags, le8, "1: local invalidate, 2: remote invalidate, 4: fast registration")       \
    F(S, gid_types, le8, "1: RoCEv1, 2: RoCEv2")                                                   \
    F(S, max_fast_reg_page_list_len, le32, "pages of a fast registration")

/* The header of a request. */
#define PV_REQUEST(F, S)                                                                           \
    F(S, response, le64, "returned in the response")                                               \
    F(S, cmd, le32, "command")                                                                     \
    F(S, reserved, bytes(4), "reserved")

/* The header of a response. */
#define PV_RESPONSE(F, S)                                                                          \
    F(S, response, le64, "of the request")                                                         \
    F(S, ack, le32, "command, with the highest bit")                                               \
    F(S, err, le8, "0, or an errno")                                                               \
    F(S, pad, bytes(3), "padding")

#define PV_QUERY_PORT(F, S)                                                                        \
    F(S, port, le8, "port number, from 1")                                                         \
    F(S, pad, bytes(7), "padding")

#define PV_PORT_ATTR(F, S)                                                                         \
    F(S, state, le32, "port state")                                                                \
    F(S, max_mtu, le32, "largest MTU")                                                             \
    F(S, active_mtu, le32, "active MTU")                                                           \
    F(S, gid_tbl_len, le32, "entries of the GID table")                                            \
    F(S, port_cap_flags, le32, "port capabilities")                                                \
    F(S, max_msg_sz, le32, "largest message")                                                      \
    F(S, bad_pkey_cntr, le32, "packets with a wrong P_Key")                                        \
    F(S, qkey_viol_cntr, le32, "packets with a wrong Q_Key")                                       \
    F(S, pkey_tbl_len, le16, "entries of the P_Key table")                                         \
    F(S, lid, le16, "LID")                                                                         \
    F(S, sm_lid, le16, "LID of the subnet manager")                                                \
    F(S, lmc, le8, "LID mask")                                                                     \
    F(S, max_vl_num, le8, "virtual lanes")                                                         \
    F(S, sm_sl, le8, "service level of the subnet manager")                                        \
    F(S, subnet_timeout, le8, "subnet timeout")                                                    \
    F(S, init_type_reply, le8, "initialization")                                                   \
    F(S, active_width, le8, "link width")                                                          \
    F(S, active_speed, le8, "link speed")                                                          \
    F(S, phys_state, le8, "physical state")                                                        \
    F(S, pad, bytes(2), "padding")

#define PV_QUERY_PKEY(F, S)                                                                        \
    F(S, port, le8, "port")                                                                        \
    F(S, index, le8, "index")                                                                      \
    F(S, pad, bytes(6), "padding")

#define PV_PKEY(F, S)                                                                              \
    F(S, pkey, le16, "P_Key")                                                                      \
    F(S, pad, bytes(6), "padding")

/* A request or response that is one handle. */
#define PV_HANDLE(F, S)                                                                            \
    F(S, handle, le32, "handle of the object")                                                     \
    F(S, pad, bytes(4), "padding")

#define PV_CREATE_MR(F, S)                                                                         \
    F(S, start, le64, "first address")                                                             \
    F(S, length, le64, "bytes")                                                                    \
    F(S, pdir, le64, "address of the page directory")                                              \
    F(S, pd, le32, "protection domain")                                                            \
    F(S, access, le32, "access flags")                                                             \
    F(S, flags, le32, "1: all of memory, 2: for fast registration")                                \
    F(S, pages, le32, "pages")

#define PV_MR_KEYS(F, S)                                                                           \
    F(S, handle, le32, "memory region")                                                            \
    F(S, lkey, le32, "local key")                                                                  \
    F(S, rkey, le32, "remote key")                                                                 \
    F(S, pad, bytes(4), "padding")

#define PV_CREATE_CQ(F, S)                                                                         \
    F(S, pdir, le64, "address of the page directory")                                              \
    F(S, ctx, le32, "user context")                                                                \
    F(S, cqe, le32, "entries, a power of two")                                                     \
    F(S, pages, le32, "pages, with that of the state")                                             \
    F(S, pad, bytes(4), "padding")

#define PV_CQ_MADE(F, S)                                                                           \
    F(S, handle, le32, "completion queue")                                                         \
    F(S, cqe, le32, "entries")

/* The response of RESIZE_CQ. */
#define PV_CQ_RESIZED(F, S)                                                                        \
    F(S, cqe, le32, "entries")                                                                     \
    F(S, pad, bytes(4), "padding")

#define PV_CREATE_QP(F, S)                                                                         \
    F(S, pdir, le64, "address of the page directory")                                              \
    F(S, pd, le32, "protection domain")                                                            \
    F(S, send_cq, le32, "CQ of the send queue")                                                    \
    F(S, recv_cq, le32, "CQ of the receive queue")                                                 \
    F(S, srq, le32, "shared receive queue")                                                        \
    F(S, max_send_wr, le32, "send WRs, a power of two")                                            \
    F(S, max_recv_wr, le32, "receive WRs, a power of two")                                         \
    F(S, max_send_sge, le32, "SGEs of a send")                                                     \
    F(S, max_recv_sge, le32, "SGEs of a receive")                                                  \
    F(S, max_inline_data, le32, "inline bytes")                                                    \
    F(S, lkey, le32, "not used")                                                                   \
    F(S, access, le32, "access flags")                                                             \
    F(S, total_pages, le16, "pages, with that of the state")                                       \
    F(S, send_pages, le16, "pages of the send queue")                                              \
    F(S, max_atomic_arg, le16, "bytes of an atomic")                                               \
    F(S, sq_sig_all, le8, "1: every send is signaled")                                             \
    F(S, type, le8, "type")                                                                        \
    F(S, is_srq, le8, "1: it takes shared receives")                                               \
    F(S, pad, bytes(3), "padding")

/* The response of CREATE_QP before version 20. */
#define PV_QP_MADE(F, S)                                                                           \
    F(S, qpn, le32, "queue pair")                                                                  \
    F(S, max_send_wr, le32, "send WRs")                                                            \
    F(S, max_recv_wr, le32, "receive WRs")                                                         \
    F(S, max_send_sge, le32, "SGEs of a send")                                                     \
    F(S, max_recv_sge, le32, "SGEs of a receive")                                                  \
    F(S, max_inline_data, le32, "inline bytes")

/* The response of CREATE_QP from version 20 on. */
#define PV_QP_MADE_V2(F, S)                                                                        \
    F(S, qpn, le32, "queue pair")                                                                  \
    F(S, handle, le32, "its handle")                                                               \
    F(S, max_send_wr, le32, "send WRs")                                                            \
    F(S, max_recv_wr, le32, "receive WRs")                                                         \
    F(S, max_send_sge, le32, "SGEs of a send")                                                     \
    F(S, max_recv_sge, le32, "SGEs of a receive")                                                  \
    F(S, max_inline_data, le32, "inline bytes")                                                    \
    F(S, pad, bytes(4), "padding")

#define PV_AH_ATTR(F, S)                                                                           \
    F(S, dgid, bytes(16), "destination GID")                                                       \
    F(S, flow_label, le32, "flow label")                                                           \
    F(S, sgid_index, le8, "source GID index")                                                      \
    F(S, hop_limit, le8, "hop limit")                                                              \
    F(S, traffic_class, le8, "traffic class")                                                      \
    F(S, reserved, le8, "reserved")                                                                \
    F(S, dlid, le16, "LID")                                                                        \
    F(S, vlan_id, le16, "VLAN")                                                                    \
    F(S, sl, le8, "service level")                                                                 \
    F(S, src_path_bits, le8, "path bits")                                                          \
    F(S, static_rate, le8, "static rate")                                                          \
    F(S, flags, le8, "1: GRH is valid")                                                            \
    F(S, port, le8, "port")                                                                        \
    F(S, dmac, bytes(6), "destination MAC")                                                        \
    F(S, pad, bytes(1), "padding")

#define PV_QP_ATTR(F, S)                                                                           \
    F(S, state, le32, "move to this state")                                                        \
    F(S, cur_state, le32, "assume this state")                                                     \
    F(S, path_mtu, le32, "path MTU")                                                               \
    F(S, path_mig_state, le32, "path migration state")                                             \
    F(S, qkey, le32, "Q_Key")                                                                      \
    F(S, rq_psn, le32, "PSN expected first")                                                       \
    F(S, sq_psn, le32, "PSN sent first")                                                           \
    F(S, dest_qpn, le32, "remote QPN")                                                             \
    F(S, access, le32, "remote access allowed")                                                    \
    F(S, pkey_index, le16, "P_Key index")                                                          \
    F(S, alt_pkey_index, le16, "alternate P_Key index")                                            \
    F(S, en_sqd_async_notify, le8, "event when drained")                                           \
    F(S, sq_draining, le8, "draining")                                                             \
    F(S, max_rd_atomic, le8, "READs and atomics outstanding")                                      \
    F(S, max_dest_rd_atomic, le8, "READ and atomic resources")                                     \
    F(S, min_rnr_timer, le8, "RNR NAK timer code")                                                 \
    F(S, port, le8, "port")                                                                        \
    F(S, timeout, le8, "local ACK timeout code")                                                   \
    F(S, retry_cnt, le8, "retries")                                                                \
    F(S, rnr_retry, le8, "RNR retries")                                                            \
    F(S, alt_port, le8, "alternate port")                                                          \
    F(S, alt_timeout, le8, "alternate timeout")                                                    \
    F(S, pad, bytes(5), "padding")                                                                 \
    F(S, max_send_wr, le32, "send WRs")                                                            \
    F(S, max_recv_wr, le32, "receive WRs")                                                         \
    F(S, max_send_sge, le32, "SGEs of a send")                                                     \
    F(S, max_recv_sge, le32, "SGEs of a receive")                                                  \
    F(S, max_inline_data, le32, "inline bytes")                                                    \
    F(S, reserved, bytes(4), "reserved")                                                           \
    F(S, ah, bytes(40), "path")                                                                    \
    F(S, alt_ah, bytes(40), "alternate path: not supported")

#define PV_MODIFY_QP(F, S)                                                                         \
    F(S, handle, le32, "queue pair")                                                               \
    F(S, mask, le32, "attributes that are given")                                                  \
    F(S, attr, bytes(160), "attributes")

#define PV_QUERY_QP(F, S)                                                                          \
    F(S, handle, le32, "queue pair")                                                               \
    F(S, mask, le32, "attributes that are asked for")

#define PV_QP_GONE(F, S)                                                                           \
    F(S, events, le32, "events that were reported")                                                \
    F(S, pad, bytes(4), "padding")

#define PV_CREATE_UC(F, S) F(S, pfn, le64, "page frame of its doorbells; 32 bits before version 19")

#define PV_CREATE_BIND(F, S)                                                                       \
    F(S, mtu, le32, "bytes")                                                                       \
    F(S, vlan, le32, "VLAN")                                                                       \
    F(S, index, le32, "index")                                                                     \
    F(S, gid, bytes(16), "GID")                                                                    \
    F(S, type, le8, "1: RoCEv1, 2: RoCEv2")                                                        \
    F(S, pad, bytes(3), "padding")

#define PV_DESTROY_BIND(F, S)                                                                      \
    F(S, index, le32, "index")                                                                     \
    F(S, gid, bytes(16), "GID")                                                                    \
    F(S, pad, bytes(4), "padding")

#define PV_CREATE_SRQ(F, S)                                                                        \
    F(S, pdir, le64, "address of the page directory")                                              \
    F(S, pd, le32, "protection domain")                                                            \
    F(S, pages, le32, "pages, with that of the state")                                             \
    F(S, max_wr, le32, "receives, a power of two")                                                 \
    F(S, max_sge, le32, "SGEs of a receive")                                                       \
    F(S, limit, le32, "limit that is armed")                                                       \
    F(S, reserved, bytes(4), "reserved")                                                           \
    F(S, type, le8, "0: basic")                                                                    \
    F(S, pad, bytes(7), "padding")

#define PV_SRQ_ATTR(F, S)                                                                          \
    F(S, max_wr, le32, "receives")                                                                 \
    F(S, max_sge, le32, "SGEs of a receive")                                                       \
    F(S, limit, le32, "limit that is armed, or 0")                                                 \
    F(S, reserved, bytes(4), "reserved")

#define PV_MODIFY_SRQ(F, S)                                                                        \
    F(S, handle, le32, "shared receive queue")                                                     \
    F(S, mask, le32, "1: max_wr, 2: limit")                                                        \
    F(S, max_wr, le32, "receives")                                                                 \
    F(S, max_sge, le32, "SGEs of a receive")                                                       \
    F(S, limit, le32, "fewer receives than this raise an event, once")                             \
    F(S, reserved, bytes(4), "reserved")

/* The first bytes of page 0 of a ring.  Each index is written by one side alone. */
#define PV_RING_STATE(F, S)                                                                        \
    F(S, tx_tail, le32, "producer of sends")                                                       \
    F(S, tx_head, le32, "consumer of sends")                                                       \
    F(S, rx_tail, le32, "producer of receives, completions, events")                               \
    F(S, rx_head, le32, "their consumer")

/* An entry of the ring of asynchronous events. */
#define PV_ASYNC_EVENT(F, S)                                                                       \
    F(S, type, le32, "event")                                                                      \
    F(S, info, le32, "handle, or port")

/* An entry of the ring of notifications. */
#define PV_CQ_NOTE(F, S) F(S, cq, le32, "completion queue")

/* The head of a send.  The field wr is a union of the structures wr_*. */
#define PV_SQ_WQE(F, S)                                                                            \
    F(S, wr_id, le64, "work request ID")                                                           \
    F(S, num_sge, le32, "SGEs that follow")                                                        \
    F(S, total_len, le32, "their bytes")                                                           \
    F(S, opcode, le32, "opcode")                                                                   \
    F(S, send_flags, le32, "send flags")                                                           \
    F(S, ex, bytes(4), "immediate data in network order, or key to invalidate")                    \
    F(S, reserved, bytes(4), "reserved")                                                           \
    F(S, wr, bytes(48), "rdma, atomic, fast_reg or ud")

#define PV_WR_RDMA(F, S)                                                                           \
    F(S, remote_addr, le64, "address at the far side")                                             \
    F(S, rkey, le32, "remote key")

#define PV_WR_ATOMIC(F, S)                                                                         \
    F(S, remote_addr, le64, "address at the far side")                                             \
    F(S, compare_add, le64, "compared, or added")                                                  \
    F(S, swap, le64, "written if it is equal")                                                     \
    F(S, rkey, le32, "remote key")

#define PV_WR_FAST_REG(F, S)                                                                       \
    F(S, iova, le64, "first address")                                                              \
    F(S, pdir, le64, "address of the page directory")                                              \
    F(S, page_shift, le32, "log of the page size")                                                 \
    F(S, pages, le32, "pages")                                                                     \
    F(S, length, le32, "bytes")                                                                    \
    F(S, access, le32, "access flags")                                                             \
    F(S, rkey, le32, "its new key")

/* The member ud, with the address vector. */
#define PV_WR_UD(F, S)                                                                             \
    F(S, qpn, le32, "QPN at the far side")                                                         \
    F(S, qkey, le32, "its Q_Key")                                                                  \
    F(S, port_pd, le32, "port 31..24, protection domain 23..0")                                    \
    F(S, sl_tclass_flow, le32, "service level 31..28, class 27..20, flow label 19..0")             \
    F(S, dgid, bytes(16), "destination GID")                                                       \
    F(S, src_path_bits, le8, "0x80: GRH")                                                          \
    F(S, sgid_index, le8, "source GID index")                                                      \
    F(S, static_rate, le8, "static rate")                                                          \
    F(S, hop_limit, le8, "hop limit")                                                              \
    F(S, dmac, bytes(6), "destination MAC")                                                        \
    F(S, reserved, bytes(6), "reserved")

/* The head of a receive, of a queue pair or shared. */
#define PV_RQ_WQE(F, S)                                                                            \
    F(S, wr_id, le64, "work request ID")                                                           \
    F(S, num_sge, le32, "SGEs that follow")                                                        \
    F(S, total_len, le32, "their bytes")

#define PV_SGE(F, S)                                                                               \
    F(S, addr, le64, "address")                                                                    \
    F(S, length, le32, "bytes")                                                                    \
    F(S, lkey, le32, "local key")

#define PV_CQE(F, S)                                                                               \
    F(S, wr_id, le64, "work request ID")                                                           \
    F(S, qp, le64, "handle of the queue pair")                                                     \
    F(S, opcode, le32, "completion opcode")                                                        \
    F(S, status, le32, "completion status")                                                        \
    F(S, byte_len, le32, "bytes transferred")                                                      \
    F(S, ex, bytes(4), "immediate data in network order, or invalidated key")                      \
    F(S, src_qp, le32, "remote QPN (UD)")                                                          \
    F(S, wc_flags, le32, "completion flags")                                                       \
    F(S, vendor_err, le32, "the rule that refused: enum rule of rdmalab")                          \
    F(S, pkey_index, le16, "P_Key index")                                                          \
    F(S, slid, le16, "LID of the sender")                                                          \
    F(S, sl, le8, "service level")                                                                 \
    F(S, dlid_path_bits, le8, "path bits")                                                         \
    F(S, port, le8, "port")                                                                        \
    F(S, smac, bytes(6), "MAC of the sender")                                                      \
    F(S, network_hdr_type, le8, "0: RoCEv1, 1: IPv4, 2: IPv6")                                     \
    F(S, reserved, bytes(6), "reserved")

/* PV_STRUCTS(S) expands S(name, list) for each structure. */
#define PV_STRUCTS(S)                                                                              \
    S(ring_pages, PV_RING_PAGES)                                                                   \
    S(dsr, PV_DSR)                                                                                 \
    S(caps, PV_CAPS)                                                                               \
    S(request, PV_REQUEST)                                                                         \
    S(response, PV_RESPONSE)                                                                       \
    S(query_port, PV_QUERY_PORT)                                                                   \
    S(port_attr, PV_PORT_ATTR)                                                                     \
    S(query_pkey, PV_QUERY_PKEY)                                                                   \
    S(pkey, PV_PKEY)                                                                               \
    S(handle, PV_HANDLE)                                                                           \
    S(create_mr, PV_CREATE_MR)                                                                     \
    S(mr_keys, PV_MR_KEYS)                                                                         \
    S(create_cq, PV_CREATE_CQ)                                                                     \
    S(cq_made, PV_CQ_MADE)                                                                         \
    S(cq_resized, PV_CQ_RESIZED)                                                                   \
    S(create_qp, PV_CREATE_QP)                                                                     \
    S(qp_made, PV_QP_MADE)                                                                         \
    S(qp_made_v2, PV_QP_MADE_V2)                                                                   \
    S(ah_attr, PV_AH_ATTR)                                                                         \
    S(qp_attr, PV_QP_ATTR)                                                                         \
    S(modify_qp, PV_MODIFY_QP)                                                                     \
    S(query_qp, PV_QUERY_QP)                                                                       \
    S(qp_gone, PV_QP_GONE)                                                                         \
    S(create_uc, PV_CREATE_UC)                                                                     \
    S(create_bind, PV_CREATE_BIND)                                                                 \
    S(destroy_bind, PV_DESTROY_BIND)                                                               \
    S(create_srq, PV_CREATE_SRQ)                                                                   \
    S(srq_attr, PV_SRQ_ATTR)                                                                       \
    S(modify_srq, PV_MODIFY_SRQ)                                                                   \
    S(ring_state, PV_RING_STATE)                                                                   \
    S(async_event, PV_ASYNC_EVENT)                                                                 \
    S(cq_note, PV_CQ_NOTE)                                                                         \
    S(sq_wqe, PV_SQ_WQE)                                                                           \
    S(wr_rdma, PV_WR_RDMA)                                                                         \
    S(wr_atomic, PV_WR_ATOMIC)                                                                     \
    S(wr_fast_reg, PV_WR_FAST_REG)                                                                 \
    S(wr_ud, PV_WR_UD)                                                                             \
    S(rq_wqe, PV_RQ_WQE)                                                                           \
    S(sge, PV_SGE)                                                                                 \
    S(cqe, PV_CQE)

/* For each structure NAME: struct pv_raw_NAME, struct pv_NAME, pv_NAME_get() and pv_NAME_put(). */
#define PV_DEFINE(name, list) STRUCT_ROWS_DEFINE(pv_raw_##name, pv_##name, list)

PV_STRUCTS(PV_DEFINE)

/* The size of each structure: PV_BYTES_name.  `none` is a request or response without a body. */
#define PV_SIZE(name, list) PV_BYTES_##name = sizeof(struct pv_raw_##name),
enum pv_bytes { PV_STRUCTS(PV_SIZE) PV_BYTES_none = 0 };

/* Returns the structure pv_@name with its fields, or NULL if there is none. */
const struct row_struct *pv_struct_find(const char *name);

/* Requests and responses begin with their header. */
#define PV_HEADER_BYTES 16u
_Static_assert(sizeof(struct pv_raw_request) == PV_HEADER_BYTES, "header of a request");
_Static_assert(sizeof(struct pv_raw_response) == PV_HEADER_BYTES, "header of a response");

/* Upper bounds of all requests and responses with their headers.  Each slot is a page. */
#define PV_REQUEST_BYTES_MAX  184u
#define PV_RESPONSE_BYTES_MAX 176u

/* Flag of the field ack of a response. */
#define PV_ACK 0x80000000u

/* Flags of CREATE_MR. */
#define PV_MR_DMA  1u
#define PV_MR_FAST 2u

/* Flag of a port: its GIDs are IP addresses. */
#define PV_PORT_IP_BASED_GIDS (1u << 26)

/* Values of the capabilities. */
#define PV_MODE_ROCE 0u
#define PV_BMME_ALL  7u /* local and remote invalidate, fast registration */

/* Fields of send requests: the place of the port in port_pd, and the only page_shift. */
#define PV_PORT_SHIFT 24u
#define PV_PAGE_SHIFT 12u
_Static_assert(1u << PV_PAGE_SHIFT == PV_PAGE_BYTES, "log of the page size");

/* Offsets in the state page of a ring: of its two pairs of indices, and of the producer's and the
 * consumer's index in a pair.
 */
#define PV_RING_TX   ((uint32_t)offsetof(struct pv_raw_ring_state, tx_tail))
#define PV_RING_RX   ((uint32_t)offsetof(struct pv_raw_ring_state, rx_tail))
#define PV_RING_TAIL 0u
#define PV_RING_HEAD ((uint32_t)sizeof(uint32_t))
_Static_assert(offsetof(struct pv_raw_ring_state, tx_head) == PV_RING_TX + PV_RING_HEAD &&
                   offsetof(struct pv_raw_ring_state, rx_head) == PV_RING_RX + PV_RING_HEAD,
               "both pairs have the same order");

#endif
