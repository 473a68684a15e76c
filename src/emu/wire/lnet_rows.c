/* SPDX-License-Identifier: MIT */
#include "emu/wire/lnet_rows.h"

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/lnet_op.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/lnet.h"

/* --- The rows as data ------------------------------------------------------------------------- */

#define FIELD(nm, mem, where, length, how, text)                                                   \
    {#nm,                                                                                          \
     (text),                                                                                       \
     (where),                                                                                      \
     (length),                                                                                     \
     LNET_FORM_##how,                                                                              \
     (uint16_t)offsetof(struct STRUCT, mem),                                                       \
     (uint16_t)sizeof(((struct STRUCT *)0)->mem)},
#define NUMBER(nm, where, length, how, text)                                                       \
    {#nm, (text), (where), (length), LNET_FORM_##how, 0, 0},
#define RESERVED(where, length) {NULL, "reserved", (where), (length), LNET_FORM_HEX, 0, 0},

#define STRUCT lnet_msg
static const struct lnet_field fields_HEAD[] = {LNET_HEAD_FIELDS(FIELD, NUMBER, RESERVED)};
#undef STRUCT
#define STRUCT lnet_connparams
static const struct lnet_field fields_CONN[] = {LNET_CONN_FIELDS(FIELD, NUMBER, RESERVED)};
#undef STRUCT
#define STRUCT lnet_hdr
static const struct lnet_field fields_HDR[] = {LNET_HDR_FIELDS(FIELD, NUMBER, RESERVED)};
static const struct lnet_field fields_ACK[] = {LNET_ACK_FIELDS(FIELD, NUMBER, RESERVED)};
static const struct lnet_field fields_PUT[] = {LNET_PUT_FIELDS(FIELD, NUMBER, RESERVED)};
static const struct lnet_field fields_GET[] = {LNET_GET_FIELDS(FIELD, NUMBER, RESERVED)};
static const struct lnet_field fields_REPLY[] = {LNET_REPLY_FIELDS(FIELD, NUMBER, RESERVED)};
static const struct lnet_field fields_HELLO[] = {LNET_HELLO_FIELDS(FIELD, NUMBER, RESERVED)};
#undef STRUCT
#define STRUCT lnet_req
static const struct lnet_field fields_REQ[] = {LNET_REQ_FIELDS(FIELD, NUMBER, RESERVED)};
#undef STRUCT
#define STRUCT lnet_put_ack
static const struct lnet_field fields_PUT_ACK[] = {LNET_PUT_ACK_FIELDS(FIELD, NUMBER, RESERVED)};
#undef STRUCT
#define STRUCT lnet_done
static const struct lnet_field fields_DONE[] = {LNET_DONE_FIELDS(FIELD, NUMBER, RESERVED)};
#undef STRUCT
#define STRUCT lnet_rd
static const struct lnet_field fields_RD[] = {LNET_RD_FIELDS(FIELD, NUMBER, RESERVED)};
#undef STRUCT
#define STRUCT lnet_frag
static const struct lnet_field fields_FRAG[] = {LNET_FRAG_FIELDS(FIELD, NUMBER, RESERVED)};
#undef STRUCT
#define STRUCT lnet_reject
static const struct lnet_field fields_REJECT[] = {LNET_REJECT_FIELDS(FIELD, NUMBER, RESERVED)};
#undef STRUCT

#define IS_LITTLE_SENDER false
#define IS_LITTLE_LITTLE true
#define LAYOUT(NAME, rows, tag, length, order, text)                                               \
    [LNET_PART_##                                                                                  \
        NAME] = {(text), (length), IS_LITTLE_##order, fields_##NAME, ARRAY_LEN(fields_##NAME)},
const struct lnet_layout lnet_layouts[LNET_PART_COUNT] = {LNET_PARTS(LAYOUT)};

uint64_t lnet_field_get(const struct lnet_layout *l, const struct lnet_field *f,
                        const uint8_t *bytes, bool big_endian)
{
    const uint8_t *at = bytes + f->at;

    return big_endian && !l->is_little ? ld_be(at, f->bytes) : ld_le(at, f->bytes);
}

void lnet_field_put(const struct lnet_layout *l, const struct lnet_field *f, uint64_t v,
                    uint8_t *bytes, bool big_endian)
{
    uint8_t *at = bytes + f->at;

    if (big_endian && !l->is_little)
        st_be(at, f->bytes, v);
    else
        st_le(at, f->bytes, v);
}

uint64_t lnet_field_max(const struct lnet_field *f)
{
    return UINT64_MAX >> 8 * (8u - f->bytes);
}

const struct enum_table *lnet_field_words(const struct lnet_field *f)
{
    switch (f->form) {
    case LNET_FORM_MESSAGE:
        return &enum_lnet_msg;
    case LNET_FORM_OP:
        return &enum_lnet_op;
    case LNET_FORM_WHY:
        return &enum_lnet_why;
    default:
        return NULL;
    }
}

void lnet_field_add(struct text *t, const struct lnet_field *f, uint64_t v)
{
    const struct enum_table *words = lnet_field_words(f);
    char nid[LNET_NID_TEXT_MAX];

    switch (f->form) {
    case LNET_FORM_HEX:
    case LNET_FORM_MESSAGE:
        text_addf(t, "0x%0*llx", 2 * f->bytes, (unsigned long long)v);
        break;
    case LNET_FORM_NID:
        text_add(t, lnet_nid_text(v, nid));
        break;
    case LNET_FORM_STATUS:
        text_addf(t, "%d", (int32_t)(uint32_t)v);
        break;
    default:
        text_addf(t, "%llu", (unsigned long long)v);
        break;
    }
    if (words && enum_by_value(words, (uint32_t)v))
        text_addf(t, " %s", enum_name(words, (uint32_t)v));
}

/* --- Messages in bytes ------------------------------------------------------------------------ */

/* Returns true if the number at @bytes is @magic in either order. */
static bool is_magic(const uint8_t *bytes, uint32_t magic)
{
    return ld_le32(bytes) == magic || ld_be32(bytes) == magic;
}

bool lnet_is_big_endian(const uint8_t *bytes)
{
    const uint32_t magic = ld_be32(bytes);

    return magic == LNET_MAGIC || magic == LNET_PROTO_MAGIC;
}

uint16_t lnet_version_at(const uint8_t *bytes)
{
    const uint8_t *at = bytes + LNET_AT_HEAD_version;

    return lnet_is_big_endian(bytes) ? ld_be16(at) : ld_le16(at);
}

bool lnet_is_message(const uint8_t *bytes, size_t n)
{
    uint32_t version;

    if (n <= LNET_TYPE_AT || !is_magic(bytes, LNET_MAGIC))
        return false;
    version = lnet_version_at(bytes);
    return (version == LNET_VERSION_1 || version == LNET_VERSION_2) &&
           enum_by_value(&enum_lnet_msg, bytes[LNET_TYPE_AT]);
}

bool lnet_is_reject(const uint8_t *bytes, size_t n)
{
    return n >= LNET_REJECT_BYTES_1 &&
           (is_magic(bytes, LNET_MAGIC) || is_magic(bytes, LNET_PROTO_MAGIC));
}

/* --- The walk --------------------------------------------------------------------------------- */

static const struct body {
    uint32_t type; /* enum lnet_msg_type */
    enum lnet_part part;
    uint16_t member;
} bodies[] = {
#define BODY(message, part, member)                                                                \
    {LNET_MSG_##message, LNET_PART_##part, (uint16_t)offsetof(struct lnet_msg, member)},
    LNET_BODIES(BODY)
#undef BODY
};

/* Returns the first row from @i on that is about a message of @type, or ARRAY_LEN(bodies). */
static uint32_t find_body(uint32_t i, uint32_t type)
{
    while (i < ARRAY_LEN(bodies) && bodies[i].type != type)
        i++;
    return i;
}

/* Returns the bytes of row @i, without fragments. */
static size_t body_bytes(uint32_t i)
{
    return bodies[i].part == LNET_PART_HDR ? LNET_HDR_BYTES : lnet_layouts[bodies[i].part].bytes;
}

size_t lnet_fixed_bytes(uint32_t type)
{
    size_t end = enum_by_value(&enum_lnet_msg, type) ? LNET_HEAD_BYTES : 0;

    for (uint32_t i = find_body(0, type); i < ARRAY_LEN(bodies); i = find_body(i + 1, type))
        end += body_bytes(i);
    return end;
}

/* Returns the part of operation @op; LNET_PART_COUNT if it is unknown. */
static enum lnet_part part_of_op(uint32_t op)
{
    static const enum lnet_part parts[] = {
        [LNET_OP_ACK] = LNET_PART_ACK,     [LNET_OP_PUT] = LNET_PART_PUT,
        [LNET_OP_GET] = LNET_PART_GET,     [LNET_OP_REPLY] = LNET_PART_REPLY,
        [LNET_OP_HELLO] = LNET_PART_HELLO,
    };

    return op < ARRAY_LEN(parts) ? parts[op] : LNET_PART_COUNT;
}

struct lnet_walk lnet_walk_built(const uint8_t *bytes, size_t n, uint32_t type, bool big_endian)
{
    return (struct lnet_walk){.bytes = bytes, .n = n, .type = type, .big_endian = big_endian};
}

struct lnet_walk lnet_walk(const uint8_t *bytes, size_t n)
{
    if (!lnet_is_message(bytes, n))
        return (struct lnet_walk){.bytes = bytes};
    return lnet_walk_built(bytes, n, bytes[LNET_TYPE_AT], lnet_is_big_endian(bytes));
}

/* Goes to @part at @at.  Returns false if it is not complete. */
static bool go_to(struct lnet_walk *w, enum lnet_part part, size_t at, size_t member)
{
    w->part = part;
    w->at = at;
    w->member = member;
    return at + lnet_layouts[part].bytes <= w->n;
}

/* Goes to the next row of LNET_BODIES, from @i on, whose part is at @at. */
static bool go_to_body(struct lnet_walk *w, uint32_t i, size_t at)
{
    w->body = find_body(i, w->type);
    w->body_at = at;
    return w->body < ARRAY_LEN(bodies) &&
           go_to(w, bodies[w->body].part, at, bodies[w->body].member);
}

/* Goes to fragment @i of the descriptor.  The fragments end a message. */
static bool go_to_frag(struct lnet_walk *w, uint32_t i)
{
    const size_t bytes = lnet_layouts[LNET_PART_FRAG].bytes;

    w->index = i;
    return i < w->n_frags &&
           go_to(w, LNET_PART_FRAG, w->body_at + lnet_layouts[LNET_PART_RD].bytes + i * bytes,
                 bodies[w->body].member + offsetof(struct lnet_rd, frags[0]) +
                     i * sizeof(struct lnet_frag));
}

bool lnet_next(struct lnet_walk *w)
{
    const uint8_t *at = w->bytes + w->at;
    enum lnet_part op;

    if (!w->begun) {
        w->begun = true;
        return w->type != 0 && go_to(w, LNET_PART_HEAD, 0, 0);
    }
    switch (w->part) {
    case LNET_PART_HEAD:
        return go_to_body(w, 0, LNET_HEAD_BYTES);
    case LNET_PART_HDR:
        op = part_of_op(ld_le32(at + LNET_AT_HDR_op));
        if (op != LNET_PART_COUNT)
            return go_to(w, op, w->at + LNET_BYTES_HDR, w->member);
        break;
    case LNET_PART_RD:
        at += LNET_AT_RD_n_frags;
        w->n_frags = w->big_endian ? ld_be32(at) : ld_le32(at);
        if (w->n_frags > LNET_FRAGS_MAX)
            w->n_frags = LNET_FRAGS_MAX;
        return go_to_frag(w, 0);
    case LNET_PART_FRAG:
        return go_to_frag(w, w->index + 1);
    default:
        break;
    }
    return go_to_body(w, w->body + 1, w->body_at + body_bytes(w->body));
}

bool lnet_find_part(const uint8_t *bytes, size_t n, enum lnet_part part, size_t *ret)
{
    for (struct lnet_walk w = lnet_walk(bytes, n); lnet_next(&w);) {
        if (w.part == part) {
            *ret = w.at;
            return true;
        }
    }
    return false;
}
