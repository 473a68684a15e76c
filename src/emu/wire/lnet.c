/* SPDX-License-Identifier: MIT */
#include "emu/wire/lnet.h"

#include <arpa/inet.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/text.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/lnet_rows.h"

#define BYTES_TO_TELL LNET_TYPE_AT /* magic number and version, the same in every version */
#define IP_TEXT_MAX   16u

_Static_assert(offsetof(struct lnet_get_req, cookie) == offsetof(struct lnet_req, cookie),
               "the rows of a request fit both");

/* --- Parts ------------------------------------------------------------------------------------ */

static void parse_part(enum lnet_part part, void *ret, const uint8_t *bytes, bool big_endian)
{
    const struct lnet_layout *l = &lnet_layouts[part];

    for (size_t i = 0; i < l->n_fields; i++) {
        const struct lnet_field *f = &l->fields[i];
        uint8_t *to = (uint8_t *)ret + f->member;
        const uint64_t v = lnet_field_get(l, f, bytes, big_endian);

        if (f->member_bytes == 1)
            memcpy(to, &(uint8_t){(uint8_t)v}, 1);
        else if (f->member_bytes == 2)
            memcpy(to, &(uint16_t){(uint16_t)v}, 2);
        else if (f->member_bytes == 4)
            memcpy(to, &(uint32_t){(uint32_t)v}, 4);
        else if (f->member_bytes == 8)
            memcpy(to, &v, 8);
    }
}

static uint64_t member_of(const struct lnet_field *f, const void *from)
{
    const uint8_t *at = (const uint8_t *)from + f->member;
    uint64_t wide;
    uint32_t word;
    uint16_t half;

    switch (f->member_bytes) {
    case 1:
        return *at;
    case 2:
        memcpy(&half, at, sizeof(half));
        return half;
    case 4:
        memcpy(&word, at, sizeof(word));
        return word;
    default:
        memcpy(&wide, at, sizeof(wide));
        return wide;
    }
}

static void build_part(enum lnet_part part, const void *from, uint8_t *bytes, bool big_endian)
{
    const struct lnet_layout *l = &lnet_layouts[part];

    for (size_t i = 0; i < l->n_fields; i++) {
        const struct lnet_field *f = &l->fields[i];

        if (f->member_bytes)
            lnet_field_put(l, f, member_of(f, from), bytes, big_endian);
    }
}

static void put_magic(uint8_t *bytes, uint32_t magic, bool big_endian)
{
    if (big_endian)
        st_be32(bytes, magic);
    else
        st_le32(bytes, magic);
}

/* --- Messages --------------------------------------------------------------------------------- */

/* Returns the descriptor of a message, or NULL. */
static const struct lnet_rd *rd_of(const struct lnet_msg *m)
{
    return m->type == LNET_MSG_PUT_ACK   ? &m->u.put_ack.rd
           : m->type == LNET_MSG_GET_REQ ? &m->u.get_req.rd
                                         : NULL;
}

/* Parses the parts behind the head, of which the fixed ones are in the m->nob bytes. */
static enum lnet_bad parse_body(const uint8_t *bytes, struct lnet_msg *m)
{
    struct lnet_walk w = lnet_walk(bytes, m->nob);
    const struct lnet_rd *rd = rd_of(m);

    (void)lnet_next(&w); /* the head */
    while (lnet_next(&w)) {
        parse_part(w.part, (uint8_t *)m + w.member, bytes + w.at, m->big_endian);
        if (w.part == LNET_PART_RD && (rd->n == 0 || rd->n > LNET_FRAGS_MAX))
            return LNET_BAD_FRAGS;
    }
    return m->nob < lnet_body_bytes(m) ? LNET_SHORT : LNET_GOOD;
}

static bool is_version(uint16_t v)
{
    return v == LNET_VERSION_1 || v == LNET_VERSION_2;
}

enum lnet_bad lnet_parse(const uint8_t *bytes, size_t n, struct lnet_msg *ret)
{
    size_t fixed;

    memset(ret, 0, offsetof(struct lnet_msg, u.get_req.rd.frags));
    if (n < BYTES_TO_TELL)
        return LNET_SHORT;
    if (ld_le32(bytes) != LNET_MAGIC && ld_be32(bytes) != LNET_MAGIC)
        return LNET_BAD_MAGIC;
    ret->big_endian = lnet_is_big_endian(bytes);
    ret->version = lnet_version_at(bytes);
    if (!is_version(ret->version))
        return LNET_BAD_VERSION;
    if (n < LNET_HEAD_BYTES)
        return LNET_SHORT;
    parse_part(LNET_PART_HEAD, ret, bytes, ret->big_endian);
    if (ret->nob > n)
        return LNET_BAD_LENGTH;
    if (ret->nob < LNET_HEAD_BYTES)
        return LNET_SHORT;
    if (ret->cksum && ret->cksum != lnet_cksum(bytes, ret->nob))
        return LNET_BAD_CKSUM;
    fixed = lnet_fixed_bytes(ret->type);
    if (fixed == 0)
        return LNET_BAD_TYPE;
    return ret->nob < fixed ? LNET_SHORT : parse_body(bytes, ret);
}

unsigned lnet_peek(const uint8_t *bytes, size_t n, struct lnet_msg *ret)
{
    unsigned parts = 0;

    memset(ret, 0, offsetof(struct lnet_msg, u.get_req.rd.frags));
    for (struct lnet_walk w = lnet_walk(bytes, n); lnet_next(&w);) {
        parse_part(w.part, (uint8_t *)ret + w.member, bytes + w.at, w.big_endian);
        ret->big_endian = w.big_endian;
        parts |= 1u << w.part;
    }
    return parts;
}

uint32_t lnet_body_bytes(const struct lnet_msg *m)
{
    const struct lnet_rd *rd = rd_of(m);

    return (uint32_t)(lnet_fixed_bytes(m->type) +
                      (rd ? rd->n * lnet_layouts[LNET_PART_FRAG].bytes : 0));
}

size_t lnet_build(const struct lnet_msg *m, uint8_t ret[LNET_MSG_BYTES_MAX])
{
    const struct lnet_rd *rd = rd_of(m);
    const uint32_t bytes = lnet_body_bytes(m);
    struct lnet_walk w = lnet_walk_built(ret, LNET_MSG_BYTES_MAX, m->type, m->big_endian);

    RDL_ASSERT(bytes > 0 && (!rd || rd->n <= LNET_FRAGS_MAX));
    memset(ret, 0, bytes);
    while (lnet_next(&w))
        build_part(w.part, (const uint8_t *)m + w.member, ret + w.at, m->big_endian);
    put_magic(ret, LNET_MAGIC, m->big_endian);
    memset(ret + LNET_CKSUM_AT, 0, sizeof(uint32_t));
    return bytes;
}

void lnet_build_head(const struct lnet_msg *m, uint8_t ret[LNET_HEAD_BYTES])
{
    build_part(LNET_PART_HEAD, m, ret, m->big_endian);
    put_magic(ret, LNET_MAGIC, m->big_endian);
    memset(ret + LNET_CKSUM_AT, 0, sizeof(uint32_t));
}

uint32_t lnet_cksum(const uint8_t *bytes, size_t n)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < n; i++) {
        const bool is_field = i >= LNET_CKSUM_AT && i < LNET_CKSUM_AT + sizeof(uint32_t);
        const int32_t byte = is_field ? 0 : (int8_t)bytes[i];

        sum = (sum << 1 | sum >> 31) + (uint32_t)byte;
    }
    return sum ? sum : 1;
}

void lnet_put_cksum(uint8_t *bytes, size_t n, bool big_endian)
{
    const uint32_t sum = lnet_cksum(bytes, n);

    if (big_endian)
        st_be32(bytes + LNET_CKSUM_AT, sum);
    else
        st_le32(bytes + LNET_CKSUM_AT, sum);
}

/* --- Rejects ---------------------------------------------------------------------------------- */

bool lnet_reject_parse(const uint8_t *bytes, size_t n, struct lnet_reject *ret)
{
    uint8_t all[LNET_REJECT_BYTES] = {0};

    if (!lnet_is_reject(bytes, n))
        return false;
    memcpy(all, bytes, n < LNET_REJECT_BYTES ? LNET_REJECT_BYTES_1 : LNET_REJECT_BYTES);
    *ret = (struct lnet_reject){.big_endian = lnet_is_big_endian(all)};
    parse_part(LNET_PART_REJECT, ret, all, ret->big_endian);
    ret->has_params = n >= LNET_REJECT_BYTES && ret->version > LNET_VERSION_1;
    if (!ret->has_params) {
        ret->stamp = 0;
        ret->conn = (struct lnet_connparams){0};
    }
    return true;
}

size_t lnet_reject_build(const struct lnet_reject *r, uint8_t ret[LNET_REJECT_BYTES])
{
    uint8_t all[LNET_REJECT_BYTES] = {0};
    const size_t n = r->has_params ? LNET_REJECT_BYTES : LNET_REJECT_BYTES_1;

    build_part(LNET_PART_REJECT, r, all, r->big_endian);
    memcpy(ret, all, n);
    return n;
}

/* --- NIDs ------------------------------------------------------------------------------------- */

char *lnet_nid_text(uint64_t nid, char ret[LNET_NID_TEXT_MAX])
{
    const unsigned net = (unsigned)(nid >> 32) & 0xffffu;
    struct text t = text_on(ret, LNET_NID_TEXT_MAX);

    if (nid >> 48 != LNET_NET_O2IB) {
        text_addf(&t, "0x%llx", (unsigned long long)nid);
        return ret;
    }
    text_addf(&t, "%u.%u.%u.%u@o2ib", (unsigned)(nid >> 24) & 0xffu, (unsigned)(nid >> 16) & 0xffu,
              (unsigned)(nid >> 8) & 0xffu, (unsigned)nid & 0xffu);
    if (net)
        text_addf(&t, "%u", net);
    return ret;
}

/* Parses the number of a net: nothing is 0.  Returns false if it is none, or too large. */
static bool parse_net(const char *s, uint32_t *ret)
{
    uint32_t v = 0;

    for (const char *c = s; *c; c++) {
        if (*c < '0' || *c > '9' || (c > s && v == 0))
            return false;
        v = 10 * v + (uint32_t)(*c - '0');
        if (v > UINT16_MAX)
            return false;
    }
    *ret = v;
    return true;
}

bool lnet_nid_parse(const char *text, uint64_t *ret)
{
    static const char net[] = "@o2ib";
    const char *at = strstr(text, net);
    char ip_text[IP_TEXT_MAX] = {0};
    uint8_t ip[4];
    uint32_t number;

    if (!at || (size_t)(at - text) >= sizeof(ip_text))
        return false;
    memcpy(ip_text, text, (size_t)(at - text));
    if (inet_pton(AF_INET, ip_text, ip) != 1 || !parse_net(at + sizeof(net) - 1, &number))
        return false;
    *ret = lnet_nid(number, ld_be32(ip));
    return true;
}
