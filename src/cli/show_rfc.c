/* SPDX-License-Identifier: MIT */
#include "cli/show_rfc.h"

#include <ctype.h>
#include <string.h>

#include "cli/show_text.h"
#include "emu/base/assert.h"
#include "emu/wire/addr.h"

#define HEX_PER_LINE 8u

static const struct {
    enum ctrl_cmd command;
    const char *request, *response; /* NULL: nothing but the byte */
} controls[] = {
    {CMD_QUERY_PORT, "query_port", "port_attr"},
    {CMD_CREATE_CQ, "create_cq", "cq_handle"},
    {CMD_DESTROY_CQ, "cq_handle", NULL},
    {CMD_CREATE_PD, NULL, "pd_handle"},
    {CMD_DESTROY_PD, "pd_handle", NULL},
    {CMD_REG_USER_MR, "reg_user_mr", "mr_keys"},
    {CMD_DEREG_MR, "mr_handle", NULL},
    {CMD_CREATE_QP, "create_qp", "qp_handle"},
    {CMD_MODIFY_QP, "modify_qp", NULL},
    {CMD_QUERY_QP, "query_qp", "qp_attr"},
    {CMD_DESTROY_QP, "qp_handle", NULL},
    {CMD_QUERY_PKEY, "query_pkey", "pkey"},
    {CMD_ADD_GID, "add_gid", NULL},
    {CMD_DEL_GID, "del_gid", NULL},
    {CMD_REQ_NOTIFY_CQ, "req_notify", NULL},
};

const struct rfc_struct *rfc_request_of(uint8_t command)
{
    for (size_t i = 0; i < ARRAY_LEN(controls); i++) {
        if (controls[i].command == command && controls[i].request)
            return rfc_find(controls[i].request);
    }
    return NULL;
}

const struct rfc_struct *rfc_response_of(uint8_t command)
{
    for (size_t i = 0; i < ARRAY_LEN(controls); i++) {
        if (controls[i].command == command && controls[i].response)
            return rfc_find(controls[i].response);
    }
    return NULL;
}

/* Fields whose numbers have names. */
static const struct {
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
    {"reg_user_mr", "access_flags", &enum_access, true},
    {"create_qp", "qp_type", &enum_qp_type, false},
    {"modify_qp", "attr_mask", &enum_qp_attr, true},
    {"query_qp", "attr_mask", &enum_qp_attr, true},
    {"qp_attr", "qp_state", &enum_qp_state, false},
    {"qp_attr", "cur_qp_state", &enum_qp_state, false},
    {"qp_attr", "path_mtu", &enum_mtu, false},
    {"qp_attr", "qp_access_flags", &enum_access, true},
    {"port_attr", "max_mtu", &enum_mtu, false},
    {"port_attr", "active_mtu", &enum_mtu, false},
};

/* Numbers that are addresses or keys read better in hexadecimal. */
static bool is_hex(const char *name)
{
    static const char *const words[] = {"addr", "key", "start", "pages", "cap", "qkey"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strstr(name, words[i]) && strcmp(name, "npages") != 0)
            return true;
    }
    return false;
}

void add_lower(struct text *t, const char *s)
{
    for (; *s; s++)
        text_addf(t, "%c", tolower((unsigned char)*s));
}

void add_set(struct text *t, const struct enum_table *words, uint64_t v)
{
    const size_t start = t->len;

    for (size_t i = 0; i < words->n_rows; i++) {
        if ((v & words->rows[i].value) == 0)
            continue;
        text_add(t, t->len > start ? "|" : "");
        text_add(t, words->rows[i].name);
        v &= ~(uint64_t)words->rows[i].value;
    }
    if (v || t->len == start)
        text_addf(t, t->len > start ? "|0x%llx" : v ? "0x%llx" : "%llu", (unsigned long long)v);
}

static uint64_t load(const uint8_t *at, size_t bytes)
{
    uint64_t v = 0;

    for (size_t i = bytes; i > 0; i--)
        v = v << 8 | at[i - 1];
    return v;
}

static void add_raw(struct text *t, const struct rfc_field *f, const uint8_t *at)
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

void rfc_field_add(struct text *t, const struct rfc_struct *s, const struct rfc_field *f,
                   const uint8_t *at)
{
    uint64_t v;

    at += f->offset;
    if (f->type == 'b') {
        add_raw(t, f, at);
        return;
    }
    v = load(at, f->bytes);
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++) {
        if (strcmp(meanings[i].structure, s->name) != 0 || strcmp(meanings[i].field, f->name) != 0)
            continue;
        if (meanings[i].set)
            add_set(t, meanings[i].words, v);
        else
            text_add(t, enum_name(meanings[i].words, (uint32_t)v));
        return;
    }
    text_addf(t, is_hex(f->name) ? "0x%llx" : "%llu", (unsigned long long)v);
}

enum { COLUMN_HEX = 8, COLUMN_NAME = 33, COLUMN_VALUE = 54, COLUMN_TEXT = 70 };

/* One field: its bytes in lines of eight, its name, value and meaning behind the first. */
static void print_row(FILE *out, const uint8_t *bytes, size_t at, size_t n, const char *name,
                      const char *value, const char *meaning)
{
    for (size_t i = 0; i < n; i += HEX_PER_LINE) {
        char buf[SHOW_LINE_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        text_addf(&t, "  %04zx", at + i);
        text_pad_to(&t, COLUMN_HEX);
        for (size_t k = i; k < n && k < i + HEX_PER_LINE; k++)
            text_addf(&t, k > i ? " %02x" : "%02x", bytes[at + k]);
        if (i == 0) {
            text_pad_to(&t, COLUMN_NAME);
            text_add(&t, name);
            text_pad_to(&t, COLUMN_VALUE);
            text_add(&t, value);
            text_pad_to(&t, COLUMN_TEXT);
            text_add(&t, meaning);
        }
        show_line(out, &t);
    }
}

size_t rfc_dump(FILE *out, const struct rfc_struct *s, const char *prefix, const uint8_t *bytes,
                size_t n, size_t at)
{
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct rfc_field *f = &s->fields[i];
        char name[48], value[SHOW_LINE_BYTES];
        struct text nt = text_on(name, sizeof(name)), vt = text_on(value, sizeof(value));

        if (at + f->offset + f->bytes > n) {
            rfc_dump_rest(out, "ends early", bytes, n, at + f->offset);
            return n - at;
        }
        text_addf(&nt, "%s%s", prefix, f->name);
        rfc_field_add(&vt, s, f, bytes + at);
        print_row(out, bytes, at + f->offset, f->bytes, name, value, f->text);
    }
    return s->bytes;
}

void rfc_dump_rest(FILE *out, const char *name, const uint8_t *bytes, size_t n, size_t at)
{
    char value[32];
    struct text t = text_on(value, sizeof(value));

    text_addf(&t, "%zu bytes", n - at);
    print_row(out, bytes, at, n - at, name, value, "");
}

void rfc_dump_byte(FILE *out, const char *name, const char *value, uint8_t byte)
{
    print_row(out, &byte, 0, 1, name, value, "");
}
