/* SPDX-License-Identifier: MIT */
/* Management datagrams (MADs) of the connection manager: 256 bytes, the payload of a UD packet to
 * QPN 1.  [IBTA1 13.4, 12.6]
 *
 * A structure has a member for each row of facts/mad_fields.h.  Parsing does not check values.
 */
#ifndef EMU_WIRE_MAD_H
#define EMU_WIRE_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/facts/mad_fields.h"

struct enum_table;

#define MAD_BYTES        256u
#define MAD_HEADER_BYTES 24u
#define MAD_BODY_BYTES   (MAD_BYTES - MAD_HEADER_BYTES)

/* Values of the header of every CM message.  [Linux, cm_format_mad_hdr()] */
#define MAD_BASE_VERSION     1u
#define MAD_CLASS_CM         7u
#define MAD_CM_CLASS_VERSION 2u
#define MAD_METHOD_SEND      3u

/* --- Structures ------------------------------------------------------------------------------- */

#define MAD_W(name, at, bytes, mask, form, title) uint32_t name;
#define MAD_Q(name, at, bytes, mask, form, title) uint64_t name;
#define MAD_B(name, at, bytes, mask, form, title) uint8_t name[bytes];
#define MAD_R(at, bytes, mask)

#define MAD_STRUCT(tag, fields)                                                                    \
    struct tag {                                                                                   \
        fields(MAD_W, MAD_Q, MAD_B, MAD_R)                                                         \
    };
MAD_STRUCT(mad_header, MAD_HEADER_FIELDS)
MAD_STRUCT(cm_req, CM_REQ_FIELDS)
MAD_STRUCT(cm_mra, CM_MRA_FIELDS)
MAD_STRUCT(cm_rej, CM_REJ_FIELDS)
MAD_STRUCT(cm_rep, CM_REP_FIELDS)
MAD_STRUCT(cm_rtu, CM_RTU_FIELDS)
MAD_STRUCT(cm_dreq, CM_DREQ_FIELDS)
MAD_STRUCT(cm_drep, CM_DREP_FIELDS)
MAD_STRUCT(cm_sidr_req, CM_SIDR_REQ_FIELDS)
MAD_STRUCT(cm_sidr_rep, CM_SIDR_REP_FIELDS)
MAD_STRUCT(rdma_cm_header, RDMA_CM_FIELDS)
#undef MAD_STRUCT
#undef MAD_W
#undef MAD_Q
#undef MAD_B
#undef MAD_R

#define RDMA_CM_BYTES 36u

/* Bytes of a program in the private data of a message.  rdma_cm has a header of its own in
 * requests.
 */
#define CM_DATA_BYTES(message) sizeof(((const struct cm_##message *)0)->private_data)
#define CM_REQ_DATA_BYTES      (CM_DATA_BYTES(req) - RDMA_CM_BYTES)
#define CM_SIDR_REQ_DATA_BYTES (CM_DATA_BYTES(sidr_req) - RDMA_CM_BYTES)

/* A MAD.  The member of @u is that of the message head.attr_id, an enum cm_message. */
struct mad {
    struct mad_header head;
    union {
        struct cm_req req;
        struct cm_mra mra;
        struct cm_rej rej;
        struct cm_rep rep;
        struct cm_rtu rtu;
        struct cm_dreq dreq;
        struct cm_drep drep;
        struct cm_sidr_req sidr_req;
        struct cm_sidr_rep sidr_rep;
    } u;
};

/* Decodes the MAD_BYTES at @bytes.  Returns false if it is no CM message that has a member in @u;
 * then only @ret->head is valid.
 */
bool mad_parse(struct mad *ret, const uint8_t *bytes);

/* Encodes @m, whose message has a member in @u (asserted), to MAD_BYTES at @bytes.  Values that do
 * not fit their field are cut.
 */
void mad_build(const struct mad *m, uint8_t *bytes);

/* Encodes @h to MAD_HEADER_BYTES at @bytes. */
void mad_build_header(const struct mad_header *h, uint8_t *bytes);

/* Returns the message, an enum cm_message, of a packet to QPN 1 with the @bytes at @payload.
 * Returns 0 if the payload is no CM message that has a member in struct mad.
 */
uint32_t mad_message(const uint8_t *payload, size_t bytes);

/* Decodes or encodes the RDMA_CM_BYTES with which private data of rdma_cm begins. */
void rdma_cm_parse(struct rdma_cm_header *ret, const uint8_t *bytes);
void rdma_cm_build(const struct rdma_cm_header *h, uint8_t *bytes);

/* The members of a message that people look at first.  Those that it has not are 0. */
struct mad_gist {
    uint32_t message; /* enum cm_message */
    uint64_t service_id;
    uint32_t qpn, psn, reason, status;
    uint32_t responder_resources, initiator_depth;
    uint32_t comm_id; /* of the sender */
};

/* Returns the gist of @m, which has a member in @u. */
struct mad_gist mad_gist_of(const struct mad *m);

/* Returns true if private data for service @service_id begins with struct rdma_cm_header: the port
 * spaces IPOIB, TCP and UDP.  [Linux, enum rdma_ucm_port_space]
 */
bool rdma_cm_has_header(uint64_t service_id);

/* --- The rows as data ------------------------------------------------------------------------- */

/* The form of a value for people. */
enum mad_form {
    MAD_FORM_DEC,
    MAD_FORM_HEX,
    MAD_FORM_FLAG,
    MAD_FORM_GID,
    MAD_FORM_IP,       /* 16 bytes; of an IPv4 address the last four */
    MAD_FORM_RAW,      /* bytes */
    MAD_FORM_TIME,     /* t: 4.096 us * 2^t */
    MAD_FORM_ACK_TIME, /* the same; 0: no timeout  [IBTA1 9.7.6.1.3] */
    MAD_FORM_MTU,      /* enum mtu */
    MAD_FORM_SERVICE,  /* service ID */
    MAD_FORM_MESSAGE,  /* enum cm_message */
    MAD_FORM_ANSWERED,
    MAD_FORM_REASON,
    MAD_FORM_SIDR_STATUS
};

struct mad_field {
    const char *name;  /* of the member; NULL: reserved */
    const char *title; /* "local QPN" */
    uint8_t at, bytes; /* in the structure */
    uint32_t mask;     /* bits of the field; 0: all */
    enum mad_form form;
    uint16_t member, member_bytes; /* offset in the struct of C, and size */
};

struct mad_layout {
    const char *title; /* "CM REQ" */
    size_t bytes;
    const struct mad_field *fields;
    size_t n_fields;
};

extern const struct mad_layout mad_layouts[MAD_PART_COUNT];

/* Returns the layout of the body of message @attr_id, or NULL if it has none. */
const struct mad_layout *mad_body(uint32_t attr_id);

/* Returns the names of the values of a field, or NULL if they have none. */
const struct enum_table *mad_field_words(const struct mad_field *f);

/* Returns true if the field is a number of at most 64 bits. */
bool mad_field_is_number(const struct mad_field *f);

/* Return or set the value of a field that is a number, in the structure at @bytes.  mad_field_put()
 * ignores bits of @v that do not fit.
 */
uint64_t mad_field_get(const struct mad_field *f, const uint8_t *bytes);
void mad_field_put(const struct mad_field *f, uint64_t v, uint8_t *bytes);

/* Returns the largest value of a field that is a number. */
uint64_t mad_field_max(const struct mad_field *f);

#endif
