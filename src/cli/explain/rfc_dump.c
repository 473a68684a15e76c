/* SPDX-License-Identifier: MIT */
#include "cli/explain/rfc_dump.h"

#include <ctype.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/wire/addr.h"
#include "print/show_text.h"

#define HEX_PER_LINE 8u

/* Fields whose numbers have names. */
static const struct meaning {
    const char *structure, *field;
    const struct enum_table *words;
    bool set; /* a set of bits */
} meanings[] = {
    {"sq_wqe", "send_flags", &enum_send_flag, true},
    {"sq_wqe", "opcode", &enum_wr_opcode, false},
    {"cqe", "status", &enum_wc_status, false},
    {"cqe", "opcode", &enum_wc_opcode, false},
    {"cqe", "wc_flags", &enum_wc_flag, true},
    {"cqe", "vendor_err", &enum_rule, false},
    {"wr_reg", "access", &enum_access, true},
    {"wr_bind", "access", &enum_access, true},
    {"reg_user_mr", "access_flags", &enum_access, true},
    {"create_qp", "qp_type", &enum_qp_type, false},
    {"get_dma_mr", "access_flags", &enum_access, true},
    {"create_mr", "access_flags", &enum_access, true},
    {"rereg_mr", "access_flags", &enum_access, true},
    {"modify_qp", "attr_mask", &enum_qp_attr, true},
    {"query_qp", "attr_mask", &enum_qp_attr, true},
    {"qp_attr", "qp_state", &enum_qp_state, false},
    {"qp_attr", "cur_qp_state", &enum_qp_state, false},
    {"qp_attr", "path_mtu", &enum_mtu, false},
    {"qp_attr", "qp_access_flags", &enum_access, true},
    {"port_attr", "max_mtu", &enum_mtu, false},
    {"port_attr", "active_mtu", &enum_mtu, false},
    {"pv_sq_wqe", "send_flags", &enum_send_flag, true},
    {"pv_sq_wqe", "opcode", &enum_pv_wr_opcode, false},
    {"pv_cqe", "status", &enum_wc_status, false},
    {"pv_cqe", "opcode", &enum_pv_wc_opcode, false},
    {"pv_cqe", "wc_flags", &enum_pv_wc_flag, true},
    {"pv_cqe", "vendor_err", &enum_rule, false},
    {"pv_async_event", "type", &enum_async_event, false},
    {"pv_request", "cmd", &enum_pv_cmd, false},
    {"pv_wr_fast_reg", "access", &enum_access, true},
    {"pv_create_mr", "access", &enum_access, true},
    {"pv_create_qp", "type", &enum_qp_type, false},
    {"pv_create_qp", "access", &enum_access, true},
    {"pv_modify_qp", "mask", &enum_qp_attr, true},
    {"pv_query_qp", "mask", &enum_qp_attr, true},
    {"pv_qp_attr", "state", &enum_qp_state, false},
    {"pv_qp_attr", "cur_state", &enum_qp_state, false},
    {"pv_qp_attr", "path_mtu", &enum_mtu, false},
    {"pv_qp_attr", "access", &enum_access, true},
    {"pv_port_attr", "max_mtu", &enum_mtu, false},
    {"pv_port_attr", "active_mtu", &enum_mtu, false},
};

/* Returns true for fields that are printed in hexadecimal, such as addresses and keys. */
static bool is_hex(const struct row_struct *s, const char *name)
{
    static const char *const words[] = {
        "addr",           "virt_addr",   "start",        "pages",         "lkey",
        "rkey",           "remote_addr", "mw_rkey",      "mr_lkey",       "remote_qkey",
        "qkey",           "pkey",        "key",          "page_size_cap", "device_cap_flags",
        "port_cap_flags", "pdir",        "command_slot", "response_slot", "uar_pfn",
        "iova",           "pfn",         "ack",          "vendor_id",     "vendor_part_id",
        "guest_info"};

    if (strcmp(name, "pages") == 0 && strncmp(s->name, "pv_", 3) == 0)
        return false; /* there it is a count, in the RFC the address of a list */
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcmp(name, words[i]) == 0)
            return true;
    }
    return false;
}

void rfc_add_lower(struct text *t, const char *s)
{
    for (; *s; s++)
        text_addf(t, "%c", tolower((unsigned char)*s));
}

/* Appends the names of the bits in @v: "LOCAL_WRITE, REMOTE_READ".  Appends "0" if there are none.
 */
static void add_set(struct text *t, const struct enum_table *words, uint64_t v)
{
    const size_t start = t->len;

    for (size_t i = 0; i < words->n_rows; i++) {
        if ((v & words->rows[i].value) == 0)
            continue;
        text_add(t, t->len > start ? ", " : "");
        text_add(t, words->rows[i].name);
        v &= ~(uint64_t)words->rows[i].value;
    }
    if (v || t->len == start)
        text_addf(t, t->len > start ? ", 0x%llx" : v ? "0x%llx" : "%llu", (unsigned long long)v);
}

static uint64_t load(const uint8_t *at, size_t bytes)
{
    uint64_t v = 0;

    for (size_t i = bytes; i > 0; i--)
        v = v << 8 | at[i - 1];
    return v;
}

static void add_raw(struct text *t, const struct row_field *f, const uint8_t *at)
{
    if (strstr(f->name, "gid") && f->bytes == GID_BYTES) {
        addr_add(t, at);
    } else if (strstr(f->name, "mac") && f->bytes == MAC_BYTES) {
        mac_add(t, at);
    } else if (f->bytes <= 8) {
        for (size_t i = 0; i < f->bytes; i++)
            text_addf(t, "%02x", at[i]);
    } else {
        text_addf(t, "%u bytes", f->bytes);
    }
}

/* Returns NULL if the numbers of field @f have no names. */
static const struct meaning *meaning_of(const struct row_struct *s, const struct row_field *f)
{
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
        if (strcmp(meanings[i].structure, s->name) == 0 && strcmp(meanings[i].field, f->name) == 0)
            return &meanings[i];
    }
    return NULL;
}

void rfc_field_add(struct text *t, const struct row_struct *s, const struct row_field *f,
                   const uint8_t *at)
{
    const struct meaning *m = meaning_of(s, f);
    uint64_t v;

    at += f->offset;
    if (f->type == 'b') {
        add_raw(t, f, at);
        return;
    }
    v = load(at, f->bytes);
    if (m && m->set)
        add_set(t, m->words, v);
    else if (m && enum_by_value(m->words, (uint32_t)v))
        text_add(t, enum_name(m->words, (uint32_t)v));
    else
        text_addf(t, is_hex(s, f->name) ? "0x%llx" : "%llu", (unsigned long long)v);
}

bool rfc_field_parse(const struct row_struct *s, const struct row_field *f, const char *text,
                     uint64_t *ret)
{
    const struct meaning *m = meaning_of(s, f);
    const struct enum_table *words = m ? m->words : NULL;
    char word[64];

    /* Path MTUs are words, although they look like numbers: the word 1024 has another value. */
    if (!(words && enum_by_name(words, text)) && !quantity_parse(QUANTITY_NUMBER, text, ret))
        return true;
    for (*ret = 0; words && *text;) {
        const size_t n = strcspn(text, "|");
        struct text t = text_on(word, sizeof(word));
        const struct enum_row *row;

        text_addn(&t, text, n);
        row = enum_by_name(words, word);
        if (!row)
            return false;
        *ret |= row->value;
        text += n + (text[n] == '|');
    }
    return words != NULL;
}

enum { COLUMN_HEX = 8, COLUMN_NAME = 33, COLUMN_VALUE = 54, VALUE_WIDTH = 16 };

bool rfc_is_blank(const struct rfc_row *row)
{
    for (size_t i = 0; i < row->bytes; i++) {
        if (row->at[i])
            return false;
    }
    return row->bytes > HEX_PER_LINE;
}

void rfc_add_bytes(struct text *t, const struct rfc_row *row, size_t from, size_t n)
{
    for (size_t i = from; i < row->bytes && i < from + n; i++)
        text_addf(t, i > from ? " %02x" : "%02x", row->at[i]);
}

void rfc_print_row(void *out, const struct rfc_row *row)
{
    const bool blank = rfc_is_blank(row);
    char buf[SHOW_LINE_BYTES], lead[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf)), l = text_on(lead, sizeof(lead));

    text_addf(&l, "  %04zx", row->offset);
    text_pad_to(&l, COLUMN_HEX);
    if (blank)
        text_addf(&l, "00, %zu times", row->bytes);
    else
        rfc_add_bytes(&l, row, 0, HEX_PER_LINE);
    text_pad_to(&l, COLUMN_NAME);
    text_add(&l, row->name);
    text_add(&t, row->value);
    if (row->meaning[0]) {
        /* A single blank would not separate them. */
        text_add(&t, t.len + 1 < VALUE_WIDTH ? "" : ";");
        text_pad_to(&t, VALUE_WIDTH);
        text_add(&t, row->meaning);
    }
    text_pad_to(&l, COLUMN_VALUE);
    show_wrap_behind(out, lead, COLUMN_VALUE, buf);
    for (size_t i = HEX_PER_LINE; i < row->bytes && !blank; i += HEX_PER_LINE) {
        t = text_on(buf, sizeof(buf));
        text_addf(&t, "  %04zx", row->offset + i);
        text_pad_to(&t, COLUMN_HEX);
        rfc_add_bytes(&t, row, i, HEX_PER_LINE);
        show_line(out, &t);
    }
}

/* A field that is a structure. */
struct nest {
    const char *structure, *field, *inner;
    const char *prefix; /* put before the names of the inner fields */
};

static const struct nest nests[] = {
    {"modify_qp", "attrs", "qp_attr", ""},
    {"pv_dsr", "async", "pv_ring_pages", "async."},
    {"pv_dsr", "cq", "pv_ring_pages", "cq."},
    {"pv_dsr", "caps", "pv_caps", ""},
    {"pv_modify_qp", "attr", "pv_qp_attr", ""},
    {"pv_qp_attr", "ah", "pv_ah_attr", "ah."},
    {"pv_qp_attr", "alt_ah", "pv_ah_attr", "alt_ah."},
};

/* Returns the row of field @f of @s, or NULL if it contains no structure. */
static const struct nest *nested(const struct row_struct *s, const struct row_field *f)
{
    for (size_t i = 0; i < ARRAY_LEN(nests); i++) {
        if (strcmp(nests[i].structure, s->name) == 0 && strcmp(nests[i].field, f->name) == 0)
            return &nests[i];
    }
    return NULL;
}

static const struct row_struct *find_struct(const char *name)
{
    const struct row_struct *s = rfc_find(name);

    return s ? s : pv_struct_find(name);
}

static void hand_out(const struct rfc_sink *to, const struct rfc_row *row)
{
    to->row(to->ctx, row);
}

size_t rfc_dump(const struct rfc_sink *to, const struct row_struct *s, const char *prefix,
                const uint8_t *bytes, size_t n, size_t at)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct row_field *f = &s->fields[i];
        const struct nest *inner = nested(s, f);
        const size_t offset = at + f->offset;
        char name[48], value[SHOW_LINE_BYTES];
        struct text nt = text_on(name, sizeof(name)), vt = text_on(value, sizeof(value));

        if (offset + f->bytes > n) {
            rfc_dump_rest(to, "ends early", bytes, n, offset);
            return n - at;
        }
        if (inner) {
            text_addf(&nt, "%s%s", prefix, inner->prefix);
            (void)rfc_dump(to, find_struct(inner->inner), name, bytes, n, offset);
            continue;
        }
        text_addf(&nt, "%s%s", prefix, f->name);
        rfc_field_add(&vt, s, f, bytes + at);
        hand_out(to, &(struct rfc_row){bytes + offset, offset, f->bytes, name, value, f->text});
    }
    return s->bytes;
}

void rfc_dump_rest(const struct rfc_sink *to, const char *name, const uint8_t *bytes, size_t n,
                   size_t at)
{
    char value[32];
    struct text t = text_on(value, sizeof(value));

    text_addf(&t, "%zu bytes", n - at);
    hand_out(to, &(struct rfc_row){bytes + at, at, n - at, name, value, ""});
}

void rfc_dump_byte(const struct rfc_sink *to, const char *name, const char *value,
                   const uint8_t *byte)
{
    hand_out(to, &(struct rfc_row){byte, 0, 1, name, value, ""});
}
