/* SPDX-License-Identifier: MIT */
#include "emu/wire/mad.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/port_space.h"
#include "emu/facts/enum_table.h"

/* --- The rows as data ------------------------------------------------------------------------- */

#define FIELD(nm, where, length, bits, how, text)                                                  \
    {#nm,                                                                                          \
     (text),                                                                                       \
     (where),                                                                                      \
     (length),                                                                                     \
     (bits),                                                                                       \
     MAD_FORM_##how,                                                                               \
     (uint16_t)offsetof(STRUCT, nm),                                                               \
     (uint16_t)sizeof(((STRUCT *)0)->nm)},
#define RESERVED(where, length, bits)                                                              \
    {NULL, "reserved", (where), (length), (bits), MAD_FORM_HEX, 0, 0},
#define ROWS(fields) fields(FIELD, FIELD, FIELD, RESERVED)

#define STRUCT struct mad_header
static const struct mad_field fields_HEADER[] = {ROWS(MAD_HEADER_FIELDS)};
#undef STRUCT
#define STRUCT struct cm_req
static const struct mad_field fields_REQ[] = {ROWS(CM_REQ_FIELDS)};
#undef STRUCT
#define STRUCT struct cm_mra
static const struct mad_field fields_MRA[] = {ROWS(CM_MRA_FIELDS)};
#undef STRUCT
#define STRUCT struct cm_rej
static const struct mad_field fields_REJ[] = {ROWS(CM_REJ_FIELDS)};
#undef STRUCT
#define STRUCT struct cm_rep
static const struct mad_field fields_REP[] = {ROWS(CM_REP_FIELDS)};
#undef STRUCT
#define STRUCT struct cm_rtu
static const struct mad_field fields_RTU[] = {ROWS(CM_RTU_FIELDS)};
#undef STRUCT
#define STRUCT struct cm_dreq
static const struct mad_field fields_DREQ[] = {ROWS(CM_DREQ_FIELDS)};
#undef STRUCT
#define STRUCT struct cm_drep
static const struct mad_field fields_DREP[] = {ROWS(CM_DREP_FIELDS)};
#undef STRUCT
#define STRUCT struct cm_sidr_req
static const struct mad_field fields_SIDR_REQ[] = {ROWS(CM_SIDR_REQ_FIELDS)};
#undef STRUCT
#define STRUCT struct cm_sidr_rep
static const struct mad_field fields_SIDR_REP[] = {ROWS(CM_SIDR_REP_FIELDS)};
#undef STRUCT
#define STRUCT struct rdma_cm_header
static const struct mad_field fields_RDMA_CM[] = {ROWS(RDMA_CM_FIELDS)};
#undef STRUCT

#define LAYOUT(NAME, rows, length, text)                                                           \
    [MAD_PART_##NAME] = {(text), (length), fields_##NAME, ARRAY_LEN(fields_##NAME)},
const struct mad_layout mad_layouts[MAD_PART_COUNT] = {MAD_PARTS(LAYOUT)};

const struct mad_layout *mad_body(uint32_t attr_id)
{
    static const uint8_t parts[] = {
        [CM_REQ] = MAD_PART_REQ,           [CM_MRA] = MAD_PART_MRA,
        [CM_REJ] = MAD_PART_REJ,           [CM_REP] = MAD_PART_REP,
        [CM_RTU] = MAD_PART_RTU,           [CM_DREQ] = MAD_PART_DREQ,
        [CM_DREP] = MAD_PART_DREP,         [CM_SIDR_REQ] = MAD_PART_SIDR_REQ,
        [CM_SIDR_REP] = MAD_PART_SIDR_REP,
    };

    if (attr_id >= ARRAY_LEN(parts) || parts[attr_id] == MAD_PART_HEADER)
        return NULL;
    return &mad_layouts[parts[attr_id]];
}

static unsigned shift_of(const struct mad_field *f)
{
    return f->mask ? (unsigned)__builtin_ctz(f->mask) : 0;
}

uint64_t mad_field_get(const struct mad_field *f, const uint8_t *bytes)
{
    const uint64_t v = ld_be(bytes + f->at, f->bytes);

    return f->mask ? (v & f->mask) >> shift_of(f) : v;
}

static bool is_bytes(const struct mad_field *f)
{
    return f->member_bytes > sizeof(uint64_t);
}

bool mad_field_is_number(const struct mad_field *f)
{
    return f->name && !is_bytes(f);
}

const struct enum_table *mad_field_words(const struct mad_field *f)
{
    switch (f->form) {
    case MAD_FORM_MTU:
        return &enum_mtu;
    case MAD_FORM_MESSAGE:
        return &enum_cm_message;
    case MAD_FORM_ANSWERED:
        return &enum_cm_answered;
    case MAD_FORM_REASON:
        return &enum_cm_reason;
    case MAD_FORM_SIDR_STATUS:
        return &enum_sidr_status;
    default:
        return NULL;
    }
}

static void parse(const struct mad_layout *l, void *ret, const uint8_t *bytes)
{
    for (size_t i = 0; i < l->n_fields; i++) {
        const struct mad_field *f = &l->fields[i];
        uint8_t *to = (uint8_t *)ret + f->member;
        uint64_t wide;
        uint32_t narrow;

        if (!f->name)
            continue;
        if (is_bytes(f)) {
            memcpy(to, bytes + f->at, f->bytes);
            continue;
        }
        wide = mad_field_get(f, bytes);
        narrow = (uint32_t)wide;
        if (f->member_bytes == sizeof(wide))
            memcpy(to, &wide, sizeof(wide));
        else
            memcpy(to, &narrow, sizeof(narrow));
    }
}

uint64_t mad_field_max(const struct mad_field *f)
{
    const uint64_t all = f->bytes == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * f->bytes) - 1;

    return f->mask ? f->mask >> shift_of(f) : all;
}

void mad_field_put(const struct mad_field *f, uint64_t v, uint8_t *bytes)
{
    const uint64_t old = ld_be(bytes + f->at, f->bytes);

    st_be(bytes + f->at, f->bytes,
          f->mask ? (old & ~(uint64_t)f->mask) | (v << shift_of(f) & f->mask) : v);
}

/* Writes all of the structure. */
static void build(const struct mad_layout *l, const void *from, uint8_t *bytes)
{
    memset(bytes, 0, l->bytes);
    for (size_t i = 0; i < l->n_fields; i++) {
        const struct mad_field *f = &l->fields[i];
        const uint8_t *member = (const uint8_t *)from + f->member;
        uint64_t wide;
        uint32_t narrow;

        if (!f->name)
            continue;
        if (is_bytes(f)) {
            memcpy(bytes + f->at, member, f->bytes);
        } else if (f->member_bytes == sizeof(wide)) {
            memcpy(&wide, member, sizeof(wide));
            mad_field_put(f, wide, bytes);
        } else {
            memcpy(&narrow, member, sizeof(narrow));
            mad_field_put(f, narrow, bytes);
        }
    }
}

/* --- MADs ------------------------------------------------------------------------------------- */

/* Returns true if the header is that of a CM message which has a body. */
static bool is_cm(const struct mad_header *h)
{
    return mad_body(h->attr_id) && h->base_version == MAD_BASE_VERSION &&
           h->mgmt_class == MAD_CLASS_CM && h->class_version == MAD_CM_CLASS_VERSION;
}

bool mad_parse(struct mad *ret, const uint8_t *bytes)
{
    parse(&mad_layouts[MAD_PART_HEADER], &ret->head, bytes);
    if (!is_cm(&ret->head))
        return false;
    parse(mad_body(ret->head.attr_id), &ret->u, bytes + MAD_HEADER_BYTES);
    return true;
}

uint32_t mad_message(const uint8_t *payload, size_t bytes)
{
    struct mad_header h;

    if (bytes != MAD_BYTES)
        return 0;
    parse(&mad_layouts[MAD_PART_HEADER], &h, payload);
    return is_cm(&h) ? h.attr_id : 0;
}

void mad_build_header(const struct mad_header *h, uint8_t *bytes)
{
    build(&mad_layouts[MAD_PART_HEADER], h, bytes);
}

void mad_build(const struct mad *m, uint8_t *bytes)
{
    const struct mad_layout *body = mad_body(m->head.attr_id);

    RDL_ASSERT(body);
    mad_build_header(&m->head, bytes);
    build(body, &m->u, bytes + MAD_HEADER_BYTES);
}

/* A REQ and a REP tell the same of the queue pair of their sender. */
#define TAKE_QUEUE_PAIR(to, from)                                                                  \
    do {                                                                                           \
        (to).qpn = (from).local_qpn;                                                               \
        (to).psn = (from).starting_psn;                                                            \
        (to).responder_resources = (from).responder_resources;                                     \
        (to).initiator_depth = (from).initiator_depth;                                             \
    } while (0)

struct mad_gist mad_gist_of(const struct mad *m)
{
    /* All messages begin with the ID of the sender, or with the ID of a request. */
    struct mad_gist g = {.message = m->head.attr_id, .comm_id = m->u.req.local_comm_id};

    switch (m->head.attr_id) {
    case CM_REQ:
        g.service_id = m->u.req.service_id;
        TAKE_QUEUE_PAIR(g, m->u.req);
        break;
    case CM_REP:
        TAKE_QUEUE_PAIR(g, m->u.rep);
        break;
    case CM_REJ:
        g.reason = m->u.rej.reason;
        break;
    case CM_SIDR_REQ:
        g.service_id = m->u.sidr_req.service_id;
        break;
    case CM_SIDR_REP:
        g.qpn = m->u.sidr_rep.qpn;
        g.status = m->u.sidr_rep.status;
        break;
    default:
        break;
    }
    return g;
}

void rdma_cm_parse(struct rdma_cm_header *ret, const uint8_t *bytes)
{
    parse(&mad_layouts[MAD_PART_RDMA_CM], ret, bytes);
}

void rdma_cm_build(const struct rdma_cm_header *h, uint8_t *bytes)
{
    build(&mad_layouts[MAD_PART_RDMA_CM], h, bytes);
}

bool rdma_cm_has_header(uint64_t service_id)
{
    const uint64_t space = service_id >> 16;

    return space == PORT_SPACE_IPOIB || space == PORT_SPACE_TCP || space == PORT_SPACE_UDP;
}
