/* SPDX-License-Identifier: MIT */
/* Messages of o2iblnd, the driver with which LNet, the network of Lustre, uses RDMA: bytes <->
 * structs.  [Lustre, o2iblnd-idl.h and lnet-idl.h]
 *
 * A message is the content of a SEND, of at most LNET_MSG_BYTES_MAX bytes; CONNREQ, CONNACK and the
 * reject are the private data of REQ, REP and REJ.  The sender uses its own byte order, which the
 * receiver finds out by the magic number.  The LNet header inside is little-endian always.
 *
 * The offsets are rows of facts/lnet_fields.h.  lnet_rows.h reads single fields without a struct.
 */
#ifndef EMU_WIRE_LNET_H
#define EMU_WIRE_LNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/enum/lnet_bad.h"
#include "emu/facts/enum/lnet_msg.h"
#include "emu/facts/lnet_fields.h"

#define LNET_MAGIC          0x0be91b91u /* of o2iblnd */
#define LNET_PROTO_MAGIC    0x45726963u /* of later generations, which ask for the version */
#define LNET_VERSION_1      0x11u
#define LNET_VERSION_2      0x12u
#define LNET_MSG_BYTES_MAX  4096u
#define LNET_TYPE_AT        ((unsigned)LNET_AT_HEAD_type)  /* of the type, in the head */
#define LNET_CKSUM_AT       ((unsigned)LNET_AT_HEAD_cksum) /* of the checksum */
#define LNET_HEAD_BYTES     ((unsigned)LNET_BYTES_HEAD)    /* before the body */
#define LNET_HDR_BYTES      ((unsigned)LNET_BYTES_HDR + LNET_BYTES_PUT)   /* the LNet header */
#define LNET_CONN_BYTES     ((unsigned)LNET_BYTES_HEAD + LNET_BYTES_CONN) /* CONNREQ and CONNACK */
#define LNET_REJECT_BYTES   ((unsigned)LNET_BYTES_REJECT)                 /* of today */
#define LNET_REJECT_BYTES_1 ((unsigned)LNET_AT_REJECT_why + 1u)           /* of 2007 */
#define LNET_PAYLOAD_AT     (LNET_HEAD_BYTES + LNET_HDR_BYTES)            /* of IMMEDIATE */
#define LNET_PAYLOAD_MAX    (LNET_MSG_BYTES_MAX - LNET_PAYLOAD_AT)
#define LNET_FRAGS_MAX      256u                /* of a descriptor */
#define LNET_MTU            (UINT32_C(1) << 20) /* largest payload of an LNet message */
#define LNET_PID_LUSTRE     12345u
#define LNET_SERVICE        987u /* port of rdma_cm, in port space TCP */

/* A network ID (NID) of IPv4 address @ip (host byte order) in net @number of o2ib. */
#define LNET_NET_O2IB 5u
static inline uint64_t lnet_nid(uint32_t number, uint32_t ip)
{
    return (uint64_t)LNET_NET_O2IB << 48 | (uint64_t)number << 32 | ip;
}

/* A descriptor: the places of the data of a message, as fragments with one key. */
struct lnet_frag {
    uint32_t nob; /* bytes */
    uint64_t addr;
};

struct lnet_rd {
    uint32_t key;
    uint32_t n;
    struct lnet_frag frags[LNET_FRAGS_MAX];
};

/* Parameters of a connection. */
struct lnet_connparams {
    uint16_t queue_depth, max_frags;
    uint32_t max_msg_size;
};

/* The object of an ACK or REPLY; opaque to the node that returns it. */
struct lnet_handle {
    uint64_t interface, object;
};

/* The LNet header. */
struct lnet_hdr {
    uint64_t dest_nid, src_nid;
    uint32_t dest_pid, src_pid;
    uint32_t type; /* enum lnet_op */
    uint32_t payload_bytes;
    union {
        struct {
            struct lnet_handle dst;
            uint64_t match_bits;
            uint32_t mlength; /* bytes that were taken */
        } ack;
        struct {
            struct lnet_handle ack; /* interface ~0: no ACK is wanted */
            uint64_t match_bits, hdr_data;
            uint32_t portal, offset;
        } put;
        struct {
            struct lnet_handle return_to;
            uint64_t match_bits;
            uint32_t portal, src_offset, sink_bytes;
        } get;
        struct {
            struct lnet_handle dst;
        } reply;
        struct {
            uint64_t incarnation;
            uint32_t type;
        } hello;
    } u;
};

/* The bodies of messages. */
struct lnet_req {
    struct lnet_hdr hdr;
    uint64_t cookie;
};

struct lnet_put_ack {
    uint64_t src_cookie, dst_cookie;
    struct lnet_rd rd;
};

struct lnet_get_req {
    struct lnet_hdr hdr; /* @hdr and @cookie as in struct lnet_req */
    uint64_t cookie;
    struct lnet_rd rd;
};

struct lnet_done {
    uint64_t cookie;
    int32_t status; /* negative: an errno; else bytes */
};

struct lnet_msg {
    bool big_endian; /* byte order of the sender */
    uint16_t version;
    enum lnet_msg_type type;
    uint8_t credits; /* returned */
    uint32_t nob;    /* bytes of the whole message */
    uint32_t cksum;  /* 0: none */
    uint64_t src_nid, src_stamp, dst_nid, dst_stamp;
    union {
        struct lnet_connparams conn; /* CONNREQ, CONNACK */
        struct lnet_hdr hdr;         /* IMMEDIATE */
        struct lnet_req put_req;
        struct lnet_put_ack put_ack;
        struct lnet_get_req get_req;
        struct lnet_done done; /* PUT_NAK, PUT_DONE, GET_DONE */
    } u;
};

/* The private data of a reject. */
struct lnet_reject {
    bool big_endian;
    uint32_t magic; /* LNET_MAGIC, or LNET_PROTO_MAGIC */
    uint16_t version;
    uint8_t why;     /* enum lnet_why */
    bool has_params; /* the fields below are there: not in a reject of version 1 */
    uint64_t stamp;  /* incarnation of the node that rejects */
    struct lnet_connparams conn;
};

/* Parses a message in the @n bytes at @bytes.  Checks the checksum if there is one.  *@ret is
 * filled in as far as it could be parsed: of a wrong version magic, version and byte order, later
 * the whole head, and the body of a good message; the rest is 0.  The payload of IMMEDIATE is at
 * LNET_PAYLOAD_AT.
 */
enum lnet_bad lnet_parse(const uint8_t *bytes, size_t n, struct lnet_msg *ret);

/* Parses those parts of a message that are complete in the @n bytes at @bytes, and checks nothing.
 * Returns their set, of 1u << enum lnet_part: 0 if lnet_is_message() says that it is none.  Other
 * members of *@ret are 0; of a descriptor, frags from rd.n on are not set.
 */
unsigned lnet_peek(const uint8_t *bytes, size_t n, struct lnet_msg *ret);

/* Returns the bytes of @m without a payload: 0 for an unknown type. */
uint32_t lnet_body_bytes(const struct lnet_msg *m);

/* Writes @m, with m->nob as it is and no checksum, to @ret; returns the bytes without a payload.
 * The type of @m must be known, and its descriptor must fit into a message (asserted).
 */
size_t lnet_build(const struct lnet_msg *m, uint8_t ret[LNET_MSG_BYTES_MAX]);

/* Writes the head of @m alone, with m->cksum 0. */
void lnet_build_head(const struct lnet_msg *m, uint8_t ret[LNET_HEAD_BYTES]);

/* Returns the checksum of the @n bytes at @bytes, taking those of the field as 0.  Never 0. */
uint32_t lnet_cksum(const uint8_t *bytes, size_t n);

/* Puts the checksum of the @n bytes at @bytes, with payload, into the message there. */
void lnet_put_cksum(uint8_t *bytes, size_t n, bool big_endian);

/* Parses and builds the private data of a reject.  Parsing fails if fewer than LNET_REJECT_BYTES_1
 * bytes are there or the magic number is another.  Bytes behind LNET_REJECT_BYTES are ignored.  A
 * REJ always has 148 bytes of private data, so the version says whether there are parameters.
 * Building returns the length: that of 2007 if !has_params.
 */
bool lnet_reject_parse(const uint8_t *bytes, size_t n, struct lnet_reject *ret);
size_t lnet_reject_build(const struct lnet_reject *r, uint8_t ret[LNET_REJECT_BYTES]);

/* Writes @nid as "10.0.0.1@o2ib", or "10.0.0.1@o2ib3" for net 3; a NID of another kind of net as
 * "0x...".  Returns @ret.  Parsing takes the first two forms.
 */
#define LNET_NID_TEXT_MAX 32u
char *lnet_nid_text(uint64_t nid, char ret[LNET_NID_TEXT_MAX]);
bool lnet_nid_parse(const char *text, uint64_t *ret);

#endif
