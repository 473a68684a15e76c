/* SPDX-License-Identifier: MIT */
/* The fields of management datagrams (MADs) of the connection manager.  [IBTA1 13.4, 12.6]
 *
 * Parsing, building, `show packet` and the names of fields in faults are made from these rows.
 *
 *	W(name, at, bytes, mask, form, title)   a number of at most 32 bits
 *	Q(name, at, bytes, mask, form, title)   a number of at most 64 bits
 *	B(name, at, bytes, mask, form, title)   bytes, in wire order
 *	R(at, bytes, mask)                      reserved: 0 when built, ignored when parsed
 *
 * @at is the offset in the structure, @bytes the number of bytes that contain the field.  @mask has
 * its bits in these bytes, as one big-endian number; 0: all.  The rows of a structure cover each of
 * its bits once.
 */
#ifndef EMU_FACTS_MAD_FIELDS_H
#define EMU_FACTS_MAD_FIELDS_H

/* The header of every MAD, 24 bytes. */
#define MAD_HEADER_FIELDS(W, Q, B, R)                                                              \
    W(base_version, 0, 1, 0, DEC, "base version")                                                  \
    W(mgmt_class, 1, 1, 0, HEX, "management class")                                                \
    W(class_version, 2, 1, 0, DEC, "class version")                                                \
    W(method, 3, 1, 0, HEX, "method")                                                              \
    W(status, 4, 2, 0, HEX, "status")                                                              \
    W(class_specific, 6, 2, 0, HEX, "class specific")                                              \
    Q(tid, 8, 8, 0, HEX, "transaction ID")                                                         \
    W(attr_id, 16, 2, 0, MESSAGE, "attribute ID")                                                  \
    R(18, 2, 0)                                                                                    \
    W(attr_mod, 20, 4, 0, HEX, "attribute modifier")

/* The bodies follow the header and have 232 bytes. */
#define CM_REQ_FIELDS(W, Q, B, R)                                                                  \
    W(local_comm_id, 0, 4, 0, HEX, "local communication ID")                                       \
    R(4, 1, 0)                                                                                     \
    W(vendor_id, 5, 3, 0, HEX, "vendor ID")                                                        \
    Q(service_id, 8, 8, 0, SERVICE, "service ID")                                                  \
    Q(local_ca_guid, 16, 8, 0, HEX, "local CA GUID")                                               \
    R(24, 4, 0)                                                                                    \
    W(local_qkey, 28, 4, 0, HEX, "local Q_Key")                                                    \
    W(local_qpn, 32, 3, 0, DEC, "local QPN")                                                       \
    W(responder_resources, 35, 1, 0, DEC, "responder resources")                                   \
    W(local_eecn, 36, 3, 0, DEC, "local EECN")                                                     \
    W(initiator_depth, 39, 1, 0, DEC, "initiator depth")                                           \
    W(remote_eecn, 40, 3, 0, DEC, "remote EECN")                                                   \
    W(remote_cm_timeout, 43, 1, 0xf8, TIME, "remote CM response timeout")                          \
    W(transport, 43, 1, 0x06, DEC, "transport service type")                                       \
    W(flow_control, 43, 1, 0x01, FLAG, "end-to-end flow control")                                  \
    W(starting_psn, 44, 3, 0, DEC, "starting PSN")                                                 \
    W(local_cm_timeout, 47, 1, 0xf8, TIME, "local CM response timeout")                            \
    W(retry_count, 47, 1, 0x07, DEC, "retry count")                                                \
    W(pkey, 48, 2, 0, HEX, "P_Key")                                                                \
    W(path_mtu, 50, 1, 0xf0, MTU, "path MTU")                                                      \
    W(rdc_exists, 50, 1, 0x08, FLAG, "RDC exists")                                                 \
    W(rnr_retry_count, 50, 1, 0x07, DEC, "RNR retry count")                                        \
    W(max_cm_retries, 51, 1, 0xf0, DEC, "max CM retries")                                          \
    W(srq, 51, 1, 0x08, FLAG, "SRQ")                                                               \
    W(extended_transport, 51, 1, 0x07, DEC, "extended transport type")                             \
    W(local_lid, 52, 2, 0, HEX, "primary local LID")                                               \
    W(remote_lid, 54, 2, 0, HEX, "primary remote LID")                                             \
    B(local_gid, 56, 16, 0, GID, "primary local GID")                                              \
    B(remote_gid, 72, 16, 0, GID, "primary remote GID")                                            \
    W(flow_label, 88, 4, 0xfffff000, HEX, "primary flow label")                                    \
    R(88, 4, 0x00000fc0)                                                                           \
    W(packet_rate, 88, 4, 0x0000003f, DEC, "primary packet rate")                                  \
    W(traffic_class, 92, 1, 0, DEC, "primary traffic class")                                       \
    W(hop_limit, 93, 1, 0, DEC, "primary hop limit")                                               \
    W(sl, 94, 1, 0xf0, DEC, "primary SL")                                                          \
    W(subnet_local, 94, 1, 0x08, FLAG, "primary subnet local")                                     \
    R(94, 1, 0x07)                                                                                 \
    W(ack_timeout, 95, 1, 0xf8, ACK_TIME, "primary local ACK timeout")                             \
    R(95, 1, 0x07)                                                                                 \
    W(alt_local_lid, 96, 2, 0, HEX, "alternate local LID")                                         \
    W(alt_remote_lid, 98, 2, 0, HEX, "alternate remote LID")                                       \
    B(alt_local_gid, 100, 16, 0, GID, "alternate local GID")                                       \
    B(alt_remote_gid, 116, 16, 0, GID, "alternate remote GID")                                     \
    W(alt_flow_label, 132, 4, 0xfffff000, HEX, "alternate flow label")                             \
    R(132, 4, 0x00000fc0)                                                                          \
    W(alt_packet_rate, 132, 4, 0x0000003f, DEC, "alternate packet rate")                           \
    W(alt_traffic_class, 136, 1, 0, DEC, "alternate traffic class")                                \
    W(alt_hop_limit, 137, 1, 0, DEC, "alternate hop limit")                                        \
    W(alt_sl, 138, 1, 0xf0, DEC, "alternate SL")                                                   \
    W(alt_subnet_local, 138, 1, 0x08, FLAG, "alternate subnet local")                              \
    R(138, 1, 0x07)                                                                                \
    W(alt_ack_timeout, 139, 1, 0xf8, ACK_TIME, "alternate local ACK timeout")                      \
    R(139, 1, 0x07)                                                                                \
    B(private_data, 140, 92, 0, RAW, "private data")

#define CM_MRA_FIELDS(W, Q, B, R)                                                                  \
    W(local_comm_id, 0, 4, 0, HEX, "local communication ID")                                       \
    W(remote_comm_id, 4, 4, 0, HEX, "remote communication ID")                                     \
    W(answered, 8, 1, 0xc0, ANSWERED, "message answered")                                          \
    R(8, 1, 0x3f)                                                                                  \
    W(service_timeout, 9, 1, 0xf8, TIME, "service timeout")                                        \
    R(9, 1, 0x07)                                                                                  \
    B(private_data, 10, 222, 0, RAW, "private data")

#define CM_REJ_FIELDS(W, Q, B, R)                                                                  \
    W(local_comm_id, 0, 4, 0, HEX, "local communication ID")                                       \
    W(remote_comm_id, 4, 4, 0, HEX, "remote communication ID")                                     \
    W(answered, 8, 1, 0xc0, ANSWERED, "message rejected")                                          \
    R(8, 1, 0x3f)                                                                                  \
    W(info_length, 9, 1, 0xfe, DEC, "reject information length")                                   \
    R(9, 1, 0x01)                                                                                  \
    W(reason, 10, 2, 0, REASON, "reason")                                                          \
    B(info, 12, 72, 0, RAW, "additional reject information")                                       \
    B(private_data, 84, 148, 0, RAW, "private data")

#define CM_REP_FIELDS(W, Q, B, R)                                                                  \
    W(local_comm_id, 0, 4, 0, HEX, "local communication ID")                                       \
    W(remote_comm_id, 4, 4, 0, HEX, "remote communication ID")                                     \
    W(local_qkey, 8, 4, 0, HEX, "local Q_Key")                                                     \
    W(local_qpn, 12, 3, 0, DEC, "local QPN")                                                       \
    W(vendor_id_high, 15, 1, 0, HEX, "vendor ID, high byte")                                       \
    W(local_eecn, 16, 3, 0, DEC, "local EECN")                                                     \
    W(vendor_id_middle, 19, 1, 0, HEX, "vendor ID, middle byte")                                   \
    W(starting_psn, 20, 3, 0, DEC, "starting PSN")                                                 \
    W(vendor_id_low, 23, 1, 0, HEX, "vendor ID, low byte")                                         \
    W(responder_resources, 24, 1, 0, DEC, "responder resources")                                   \
    W(initiator_depth, 25, 1, 0, DEC, "initiator depth")                                           \
    W(target_ack_delay, 26, 1, 0xf8, TIME, "target ACK delay")                                     \
    W(failover_accepted, 26, 1, 0x06, DEC, "failover accepted")                                    \
    W(flow_control, 26, 1, 0x01, FLAG, "end-to-end flow control")                                  \
    W(rnr_retry_count, 27, 1, 0xe0, DEC, "RNR retry count")                                        \
    W(srq, 27, 1, 0x10, FLAG, "SRQ")                                                               \
    R(27, 1, 0x0f)                                                                                 \
    Q(local_ca_guid, 28, 8, 0, HEX, "local CA GUID")                                               \
    B(private_data, 36, 196, 0, RAW, "private data")

#define CM_RTU_FIELDS(W, Q, B, R)                                                                  \
    W(local_comm_id, 0, 4, 0, HEX, "local communication ID")                                       \
    W(remote_comm_id, 4, 4, 0, HEX, "remote communication ID")                                     \
    B(private_data, 8, 224, 0, RAW, "private data")

#define CM_DREQ_FIELDS(W, Q, B, R)                                                                 \
    W(local_comm_id, 0, 4, 0, HEX, "local communication ID")                                       \
    W(remote_comm_id, 4, 4, 0, HEX, "remote communication ID")                                     \
    W(remote_qpn, 8, 3, 0, DEC, "remote QPN")                                                      \
    R(11, 1, 0)                                                                                    \
    B(private_data, 12, 220, 0, RAW, "private data")

#define CM_DREP_FIELDS(W, Q, B, R) CM_RTU_FIELDS(W, Q, B, R)

#define CM_SIDR_REQ_FIELDS(W, Q, B, R)                                                             \
    W(request_id, 0, 4, 0, HEX, "request ID")                                                      \
    W(pkey, 4, 2, 0, HEX, "P_Key")                                                                 \
    R(6, 2, 0)                                                                                     \
    Q(service_id, 8, 8, 0, SERVICE, "service ID")                                                  \
    B(private_data, 16, 216, 0, RAW, "private data")

#define CM_SIDR_REP_FIELDS(W, Q, B, R)                                                             \
    W(request_id, 0, 4, 0, HEX, "request ID")                                                      \
    W(status, 4, 1, 0, SIDR_STATUS, "status")                                                      \
    W(info_length, 5, 1, 0, DEC, "additional information length")                                  \
    W(vendor_id_high, 6, 2, 0, HEX, "vendor ID, high bytes")                                       \
    W(qpn, 8, 3, 0, DEC, "QPN")                                                                    \
    W(vendor_id_low, 11, 1, 0, HEX, "vendor ID, low byte")                                         \
    Q(service_id, 12, 8, 0, SERVICE, "service ID")                                                 \
    W(qkey, 20, 4, 0, HEX, "Q_Key")                                                                \
    B(info, 24, 72, 0, RAW, "additional information")                                              \
    B(private_data, 96, 136, 0, RAW, "private data")

/* The first 36 bytes of the private data of a REQ or SIDR_REQ for a port of rdma_cm: the IP
 * addresses of a connection.  [Linux, drivers/infiniband/core/cma_priv.h]
 */
#define RDMA_CM_FIELDS(W, Q, B, R)                                                                 \
    W(version, 0, 1, 0, DEC, "version")                                                            \
    W(ip_version, 1, 1, 0xf0, DEC, "IP version")                                                   \
    R(1, 1, 0x0f)                                                                                  \
    W(port, 2, 2, 0, DEC, "source port")                                                           \
    B(source, 4, 16, 0, IP, "source")                                                              \
    B(destination, 20, 16, 0, IP, "destination")

/* X(NAME, fields, bytes, title): all structures. */
#define MAD_PARTS(X)                                                                               \
    X(HEADER, MAD_HEADER_FIELDS, 24, "MAD")                                                        \
    X(REQ, CM_REQ_FIELDS, 232, "CM REQ")                                                           \
    X(MRA, CM_MRA_FIELDS, 232, "CM MRA")                                                           \
    X(REJ, CM_REJ_FIELDS, 232, "CM REJ")                                                           \
    X(REP, CM_REP_FIELDS, 232, "CM REP")                                                           \
    X(RTU, CM_RTU_FIELDS, 232, "CM RTU")                                                           \
    X(DREQ, CM_DREQ_FIELDS, 232, "CM DREQ")                                                        \
    X(DREP, CM_DREP_FIELDS, 232, "CM DREP")                                                        \
    X(SIDR_REQ, CM_SIDR_REQ_FIELDS, 232, "CM SIDR_REQ")                                            \
    X(SIDR_REP, CM_SIDR_REP_FIELDS, 232, "CM SIDR_REP")                                            \
    X(RDMA_CM, RDMA_CM_FIELDS, 36, "rdma_cm")

enum mad_part {
#define MAD_PART(NAME, fields, bytes, title) MAD_PART_##NAME,
    MAD_PARTS(MAD_PART)
#undef MAD_PART
        MAD_PART_COUNT
};

#endif
