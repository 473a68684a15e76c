/* SPDX-License-Identifier: MIT */
/* The fields of messages of o2iblnd.  [Lustre, o2iblnd-idl.h and lnet-idl.h]
 *
 * Parsing, building, `show packet`, the names of fields in faults and the dissector for Wireshark
 * are made from these rows.
 *
 *	F(name, member, at, bytes, form, title)   a number, which struct STRUCT has as @member
 *	N(name, at, bytes, form, title)           a number that has no member
 *	R(at, bytes)                              reserved: 0 when built, ignored when parsed
 *
 * @at is the offset in the part.  The rows of a part cover each of its bytes once.
 */
#ifndef EMU_FACTS_LNET_FIELDS_H
#define EMU_FACTS_LNET_FIELDS_H

/* The head of every message. */
#define LNET_HEAD_FIELDS(F, N, R)                                                                  \
    N(magic, 0, 4, HEX, "magic number")                                                            \
    F(version, version, 4, 2, HEX, "version")                                                      \
    F(type, type, 6, 1, MESSAGE, "type")                                                           \
    F(credits, credits, 7, 1, DEC, "credits returned")                                             \
    F(nob, nob, 8, 4, DEC, "bytes of the message")                                                 \
    F(cksum, cksum, 12, 4, HEX, "checksum")                                                        \
    F(src_nid, src_nid, 16, 8, NID, "source NID")                                                  \
    F(src_stamp, src_stamp, 24, 8, HEX, "source incarnation")                                      \
    F(dst_nid, dst_nid, 32, 8, NID, "destination NID")                                             \
    F(dst_stamp, dst_stamp, 40, 8, HEX, "destination incarnation")

/* Parameters of a connection, in CONNREQ and CONNACK. */
#define LNET_CONN_FIELDS(F, N, R)                                                                  \
    F(queue_depth, queue_depth, 0, 2, DEC, "queue depth")                                          \
    F(max_frags, max_frags, 2, 2, DEC, "maximum fragments")                                        \
    F(max_msg_size, max_msg_size, 4, 4, DEC, "maximum message size")

/* The LNet header, whose last 40 bytes depend on the operation. */
#define LNET_HDR_FIELDS(F, N, R)                                                                   \
    F(dest_nid, dest_nid, 0, 8, NID, "destination NID")                                            \
    F(src_nid, src_nid, 8, 8, NID, "source NID")                                                   \
    F(dest_pid, dest_pid, 16, 4, DEC, "destination process")                                       \
    F(src_pid, src_pid, 20, 4, DEC, "source process")                                              \
    F(op, type, 24, 4, OP, "operation")                                                            \
    F(payload_bytes, payload_bytes, 28, 4, DEC, "bytes of the payload")

#define LNET_ACK_FIELDS(F, N, R)                                                                   \
    F(dst_interface, u.ack.dst.interface, 0, 8, HEX, "interface")                                  \
    F(dst_object, u.ack.dst.object, 8, 8, HEX, "object")                                           \
    F(match_bits, u.ack.match_bits, 16, 8, HEX, "match bits")                                      \
    F(mlength, u.ack.mlength, 24, 4, DEC, "bytes taken")                                           \
    R(28, 12)

#define LNET_PUT_FIELDS(F, N, R)                                                                   \
    F(ack_interface, u.put.ack.interface, 0, 8, HEX, "ACK interface")                              \
    F(ack_object, u.put.ack.object, 8, 8, HEX, "ACK object")                                       \
    F(match_bits, u.put.match_bits, 16, 8, HEX, "match bits")                                      \
    F(hdr_data, u.put.hdr_data, 24, 8, HEX, "header data")                                         \
    F(portal, u.put.portal, 32, 4, DEC, "portal")                                                  \
    F(offset, u.put.offset, 36, 4, DEC, "offset")

#define LNET_GET_FIELDS(F, N, R)                                                                   \
    F(return_interface, u.get.return_to.interface, 0, 8, HEX, "return interface")                  \
    F(return_object, u.get.return_to.object, 8, 8, HEX, "return object")                           \
    F(match_bits, u.get.match_bits, 16, 8, HEX, "match bits")                                      \
    F(portal, u.get.portal, 24, 4, DEC, "portal")                                                  \
    F(src_offset, u.get.src_offset, 28, 4, DEC, "source offset")                                   \
    F(sink_bytes, u.get.sink_bytes, 32, 4, DEC, "bytes of the sink")                               \
    R(36, 4)

#define LNET_REPLY_FIELDS(F, N, R)                                                                 \
    F(dst_interface, u.reply.dst.interface, 0, 8, HEX, "interface")                                \
    F(dst_object, u.reply.dst.object, 8, 8, HEX, "object")                                         \
    R(16, 24)

#define LNET_HELLO_FIELDS(F, N, R)                                                                 \
    F(incarnation, u.hello.incarnation, 0, 8, HEX, "incarnation")                                  \
    F(type, u.hello.type, 8, 4, DEC, "type of the connection")                                     \
    R(12, 28)

/* The cookie of PUT_REQ and GET_REQ. */
#define LNET_REQ_FIELDS(F, N, R) F(cookie, cookie, 0, 8, HEX, "cookie")

#define LNET_PUT_ACK_FIELDS(F, N, R)                                                               \
    F(src_cookie, src_cookie, 0, 8, HEX, "cookie of the source")                                   \
    F(dst_cookie, dst_cookie, 8, 8, HEX, "cookie of the sink")

/* The completion: PUT_NAK, PUT_DONE, GET_DONE. */
#define LNET_DONE_FIELDS(F, N, R)                                                                  \
    F(cookie, cookie, 0, 8, HEX, "cookie")                                                         \
    F(status, status, 8, 4, STATUS, "status")

/* The descriptor, and each of its fragments. */
#define LNET_RD_FIELDS(F, N, R)                                                                    \
    F(key, key, 0, 4, HEX, "key")                                                                  \
    F(n_frags, n, 4, 4, DEC, "fragments")

#define LNET_FRAG_FIELDS(F, N, R)                                                                  \
    F(nob, nob, 0, 4, DEC, "bytes")                                                                \
    F(addr, addr, 4, 8, HEX, "address")

/* The private data of a reject. */
#define LNET_REJECT_FIELDS(F, N, R)                                                                \
    F(magic, magic, 0, 4, HEX, "magic number")                                                     \
    F(version, version, 4, 2, HEX, "version")                                                      \
    F(why, why, 6, 1, WHY, "reason")                                                               \
    R(7, 1)                                                                                        \
    F(stamp, stamp, 8, 8, HEX, "incarnation")                                                      \
    F(queue_depth, conn.queue_depth, 16, 2, DEC, "queue depth")                                    \
    F(max_frags, conn.max_frags, 18, 2, DEC, "maximum fragments")                                  \
    F(max_msg_size, conn.max_msg_size, 20, 4, DEC, "maximum message size")

/* X(NAME, fields, STRUCT, bytes, order, title): all parts of messages.  @order is that of the
 * SENDER, or LITTLE: Lustre converts the LNet header to little-endian.  A handle in it is opaque to
 * all but its owner, who may use any order.
 */
#define LNET_PARTS(X)                                                                              \
    X(HEAD, LNET_HEAD_FIELDS, lnet_msg, 48, SENDER, "o2iblnd")                                     \
    X(CONN, LNET_CONN_FIELDS, lnet_connparams, 8, SENDER, "o2iblnd connection")                    \
    X(HDR, LNET_HDR_FIELDS, lnet_hdr, 32, LITTLE, "LNet")                                          \
    X(ACK, LNET_ACK_FIELDS, lnet_hdr, 40, LITTLE, "LNet ACK")                                      \
    X(PUT, LNET_PUT_FIELDS, lnet_hdr, 40, LITTLE, "LNet PUT")                                      \
    X(GET, LNET_GET_FIELDS, lnet_hdr, 40, LITTLE, "LNet GET")                                      \
    X(REPLY, LNET_REPLY_FIELDS, lnet_hdr, 40, LITTLE, "LNet REPLY")                                \
    X(HELLO, LNET_HELLO_FIELDS, lnet_hdr, 40, LITTLE, "LNet HELLO")                                \
    X(REQ, LNET_REQ_FIELDS, lnet_req, 8, SENDER, "o2iblnd request")                                \
    X(PUT_ACK, LNET_PUT_ACK_FIELDS, lnet_put_ack, 16, SENDER, "o2iblnd PUT_ACK")                   \
    X(DONE, LNET_DONE_FIELDS, lnet_done, 12, SENDER, "o2iblnd completion")                         \
    X(RD, LNET_RD_FIELDS, lnet_rd, 8, SENDER, "o2iblnd descriptor")                                \
    X(FRAG, LNET_FRAG_FIELDS, lnet_frag, 12, SENDER, "o2iblnd fragment")                           \
    X(REJECT, LNET_REJECT_FIELDS, lnet_reject, 24, SENDER, "o2iblnd reject")

enum lnet_part {
#define LNET_PART(NAME, ...) LNET_PART_##NAME,
    LNET_PARTS(LNET_PART)
#undef LNET_PART
        LNET_PART_COUNT
};

/* The bytes of each part: LNET_BYTES_HEAD. */
enum {
#define LNET_BYTES(NAME, rows, tag, bytes, ...) LNET_BYTES_##NAME = (bytes),
    LNET_PARTS(LNET_BYTES)
#undef LNET_BYTES
};

/* Offsets of fields that code reads or writes alone, in their part: LNET_AT_HEAD_type. */
#define LNET_AT_F(name, member, at, ...) LNET_AT_OF(LNET_AT_PART, name, at)
#define LNET_AT_N(name, at, ...)         LNET_AT_OF(LNET_AT_PART, name, at)
#define LNET_AT_R(at, bytes)
#define LNET_AT_OF(part, name, at)  LNET_AT_ROW(part, name, at)
#define LNET_AT_ROW(part, name, at) LNET_AT_##part##_##name = (at),
enum {
#define LNET_AT_PART HEAD
    LNET_HEAD_FIELDS(LNET_AT_F, LNET_AT_N, LNET_AT_R)
#undef LNET_AT_PART
#define LNET_AT_PART HDR
        LNET_HDR_FIELDS(LNET_AT_F, LNET_AT_N, LNET_AT_R)
#undef LNET_AT_PART
#define LNET_AT_PART RD
            LNET_RD_FIELDS(LNET_AT_F, LNET_AT_N, LNET_AT_R)
#undef LNET_AT_PART
#define LNET_AT_PART REJECT
                LNET_REJECT_FIELDS(LNET_AT_F, LNET_AT_N, LNET_AT_R)
#undef LNET_AT_PART
};

/* X(message, part, member): the parts of each message behind its head, in wire order.  @member is
 * the member of struct lnet_msg with the values.  Behind HDR is the part of its operation; behind
 * RD, as many FRAG as it says.
 */
#define LNET_BODIES(X)                                                                             \
    X(CONNREQ, CONN, u.conn)                                                                       \
    X(CONNACK, CONN, u.conn)                                                                       \
    X(IMMEDIATE, HDR, u.hdr)                                                                       \
    X(PUT_REQ, HDR, u.put_req.hdr)                                                                 \
    X(PUT_REQ, REQ, u.put_req)                                                                     \
    X(PUT_NAK, DONE, u.done)                                                                       \
    X(PUT_ACK, PUT_ACK, u.put_ack)                                                                 \
    X(PUT_ACK, RD, u.put_ack.rd)                                                                   \
    X(PUT_DONE, DONE, u.done)                                                                      \
    X(GET_REQ, HDR, u.get_req.hdr)                                                                 \
    X(GET_REQ, REQ, u.get_req)                                                                     \
    X(GET_REQ, RD, u.get_req.rd)                                                                   \
    X(GET_DONE, DONE, u.done)

#endif
