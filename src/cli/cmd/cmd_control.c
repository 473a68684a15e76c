/* SPDX-License-Identifier: MIT */
/* control: a request of the control queue as it stands in its words, whatever is wrong with it. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/verb.h"
#include "cli/explain/rfc_dump.h"
#include "cli/session/advance.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/base/quantity.h"
#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/facts/virtio_rdma/refusal_rsp.h"
#include "emu/wire/addr.h"
#include "print/show_text.h"
#include "rdmalab/control.h"
#include "tree/tree.h"

#define PV_FIELDS_BYTES 4096u /* more than all fields of the longest response of PVRDMA */

/* The words of the command, read. */
struct control_words {
    struct rdl_control c;
    uint8_t data[RDL_CONTROL_BYTES_MAX];
    const struct row_struct *request, *response;
    bool wait, kick;
    bool pvrdma; /* a command of PVRDMA */
};

static bool wrong(struct session *s, const struct value *word, const char *what)
{
    session_fail(s, word->at, "%s: %s", word->text, what);
    return diag_remedy(&s->diag, "\"help control\" tells how a request is written");
}

static int digit_of(char c)
{
    const char *const digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

    return at ? (int)(at - digits) : -1;
}

/* Reads hexadecimal digits, with or without colons, into at most @cap bytes at @ret. */
static bool read_hex(const char *text, uint8_t *ret, size_t cap, uint32_t *ret_n)
{
    uint32_t n = 0;

    while (*text) {
        const int high = digit_of(text[0]), low = high < 0 ? -1 : digit_of(text[1]);

        if (low < 0 || n == cap)
            return false;
        ret[n++] = (uint8_t)(high << 4 | low);
        text += text[2] == ':' ? 3 : 2;
    }
    *ret_n = n;
    return true;
}

/* Lengths with + between them: "1+3". */
static bool read_cuts(const char *text, uint32_t cuts[RDL_CONTROL_CUTS_MAX], uint32_t *ret_n)
{
    for (*ret_n = 0; *text && *ret_n < RDL_CONTROL_CUTS_MAX;) {
        char *end;
        const unsigned long n = strtoul(text, &end, 10);

        if (end == text || n == 0 || n > RDL_CONTROL_BYTES_MAX || (*end && *end != '+'))
            return false;
        cuts[(*ret_n)++] = (uint32_t)n;
        text = *end ? end + 1 : end;
    }
    return !*text;
}

/* Puts @text into field @f at @at: a number, a word of the field's or several with | between them,
 * an address, or bytes in hexadecimal.
 */
static bool read_field(const struct row_struct *s, const struct row_field *f, const char *text,
                       uint8_t *at)
{
    uint32_t n;
    uint64_t v;

    at += f->offset;
    if (f->type == 'b' && f->bytes == GID_BYTES && addr_parse(text, at))
        return true;
    if (f->type == 'b')
        return read_hex(text, at, f->bytes, &n);
    if (!rfc_field_parse(s, f, text, &v) || (f->bytes < sizeof(v) && v >> 8 * f->bytes != 0))
        return false;
    for (uint32_t i = 0; i < f->bytes; i++)
        at[i] = (uint8_t)(v >> 8 * i);
    return true;
}

/* The field called the @n bytes at @name, of @a->request or of the attributes of MODIFY_QP. */
static const struct row_field *find_field(const struct control_words *a, const char *name, size_t n,
                                          const struct row_struct **ret_in, uint32_t *ret_at)
{
    const struct row_struct *in[] = {a->request, a->pvrdma ? pv_struct_find("pv_qp_attr")
                                                           : rfc_find("qp_attr")};
    const bool has_attrs =
        a->request && strcmp(a->request->name, a->pvrdma ? "pv_modify_qp" : "modify_qp") == 0;
    const size_t attrs_at =
        a->pvrdma ? offsetof(struct pv_raw_modify_qp, attr) : offsetof(struct raw_modify_qp, attrs);

    for (size_t k = 0; k < 1u + has_attrs; k++) {
        for (size_t i = 0; in[k] && i < in[k]->n_fields; i++) {
            const struct row_field *f = &in[k]->fields[i];

            if (strlen(f->name) != n || memcmp(f->name, name, n) != 0)
                continue;
            *ret_in = in[k];
            *ret_at = k == 0 ? 0 : (uint32_t)attrs_at;
            return f;
        }
    }
    return NULL;
}

static bool read_option(struct control_words *a, const char *key, size_t n, const char *text,
                        bool *ret_ok)
{
    uint64_t room;

    if (n == 4 && memcmp(key, "room", n) == 0) {
        *ret_ok = !quantity_parse(QUANTITY_NUMBER, text, &room) && room <= RDL_CONTROL_BYTES_MAX;
        a->c.room = *ret_ok ? (uint32_t)room : 0;
    } else if (n == 3 && memcmp(key, "cut", n) == 0) {
        *ret_ok = read_cuts(text, a->c.cuts, &a->c.n_cuts);
    } else if (n == 8 && memcmp(key, "room_cut", n) == 0) {
        *ret_ok = read_cuts(text, a->c.room_cuts, &a->c.n_room_cuts);
    } else if (n == 5 && memcmp(key, "bytes", n) == 0) {
        *ret_ok = read_hex(text, a->data, sizeof(a->data) - 1, &a->c.bytes);
    } else {
        return false;
    }
    return true;
}

static bool read_word(struct session *s, const struct value *word, struct control_words *a)
{
    const char *text = word->text, *equals = strchr(text, '=');
    const struct row_struct *in;
    const struct row_field *f;
    uint32_t at;
    bool ok;

    if (strcmp(text, "nowait") == 0 || strcmp(text, "nokick") == 0) {
        a->wait = false;
        a->kick = a->kick && text[2] != 'k';
        return true;
    }
    if (strcmp(text, "empty") == 0) {
        a->c.is_empty = true;
        return true;
    }
    if (!equals)
        return wrong(s, word, "no FIELD=VALUE");
    if (read_option(a, text, (size_t)(equals - text), equals + 1, &ok))
        return ok || wrong(s, word, "no such value");
    f = find_field(a, text, (size_t)(equals - text), &in, &at);
    if (!f)
        return wrong(s, word, "the request has no such field");
    return read_field(in, f, equals + 1, a->data + at) || wrong(s, word, "no such value");
}

/* Reads the name or the number of a command of PVRDMA. */
static bool read_pv_command(struct session *s, const struct value *word, struct control_words *a)
{
    const struct enum_row *row = enum_by_name(&enum_pv_cmd, word->text);
    const struct pv_command_info *info;
    uint64_t number = row ? row->value : 0;

    if (!row && (quantity_parse(QUANTITY_NUMBER, word->text, &number) || number > UINT8_MAX))
        return wrong(s, word, "no command, and no number of one");
    info = pv_command_info((uint32_t)number);
    a->c.command = (uint8_t)number;
    a->request = info ? pv_struct_find(info->request) : NULL;
    a->response = info ? pv_struct_find(info->response) : NULL;
    a->c.bytes = a->request ? (uint32_t)a->request->bytes : 0;
    return true;
}

static bool read_command(struct session *s, const struct value *word, struct control_words *a)
{
    const struct enum_row *row = enum_by_name(&enum_ctrl_cmd, word->text);
    uint64_t number = row ? row->value : 0;

    if (!row && (quantity_parse(QUANTITY_NUMBER, word->text, &number) || number > UINT8_MAX))
        return wrong(s, word, "no command, and no number of one");
    a->c.command = (uint8_t)number;
    a->request = rfc_ctrl((uint32_t)number)->request;
    a->response = rfc_ctrl((uint32_t)number)->response;
    a->c.bytes = (uint32_t)rfc_bytes(a->request);
    a->c.room = (uint32_t)(1 + rfc_bytes(a->response));
    return true;
}

/* Judges the answer to a command of PVRDMA, and prints it. */
static bool judge_pvrdma(struct session *s, const struct step *st, const struct home *home,
                         const struct control_words *a, const struct rdl_control_answer *answer)
{
    const uint8_t error = answer->response[offsetof(struct pv_raw_response, err)];
    char number[24];
    struct text e = text_on(number, sizeof(number));
    const struct rdl_response rsp = {
        error, error, number,
        "the register ERR, or the response, has the errno of a refused command"};
    const char *name = enum_name(&enum_pv_cmd, a->c.command);
    const struct row_struct *r = a->response;
    char line[PV_FIELDS_BYTES];
    struct text t = text_on(line, sizeof(line));

    text_addf(&e, "errno %u", error);
    if (error)
        return advance_refused(s, home->host, st->at, &rsp);
    for (size_t i = 0; r && i < r->n_fields; i++) {
        if (r->fields[i].type == 'b')
            continue;
        text_addf(&t, "%s%s=", t.len ? " " : ": ", r->fields[i].name);
        rfc_field_add(&t, r, &r->fields[i], answer->response + PV_HEADER_BYTES);
    }
    RDL_ASSERT(!t.cut);
    session_say(s, "%s %s: ERR 0%s\n", home->name, name, line);
    return true;
}

/* Prints the response. */
static void say_answer(struct session *s, const struct home *home, const struct control_words *a,
                       const struct rdl_control_answer *answer)
{
    char line[SHOW_LINE_BYTES];
    struct text t = text_on(line, sizeof(line));
    const struct row_struct *r = a->response;

    for (size_t i = 0; r && i < r->n_fields && answer->written >= 1 + rfc_bytes(r); i++) {
        if (strcmp(r->fields[i].name, "reserved") == 0)
            continue;
        text_addf(&t, "%s%s=", t.len ? " " : ": ", r->fields[i].name);
        rfc_field_add(&t, r, &r->fields[i], answer->response + 1);
    }
    session_say(s, "%s %s: OK, %u byte%s written%s\n", home->name,
                enum_name(&enum_ctrl_cmd, a->c.command), answer->written, plural_s(answer->written),
                line);
}

/* Fails because the device answered with @code, which is not RSP_OK. */
static bool refused(struct session *s, const struct step *st, const struct home *home, uint8_t code)
{
    const struct rdl_response rsp = {ctrl_rsp_errno(code), code, enum_name(&enum_ctrl_rsp, code),
                                     enum_text(&enum_ctrl_rsp, code)};

    return advance_refused(s, home->host, st->at, &rsp);
}

static bool wait_for(struct session *s, const struct step *st, const struct home *home, uint32_t id,
                     struct rdl_control_answer *ret)
{
    for (;;) {
        const enum rdl_status status = rdl_control_answer(s->lab, home->host, id, ret);

        if (status == RDL_OK)
            return true;
        if (status != RDL_ERR_BUSY)
            return session_fail_status(s, st->at, "control", status);
        switch (advance_step(s, RDL_STEP_TICK, st->at).end) {
        case ADVANCE_DONE:
            break;
        case ADVANCE_IDLE:
            session_fail(s, st->at, "the device does not answer: nothing is scheduled any more");
            return diag_remedy(&s->diag, "\"why not\" and \"show %s.ctrl\" tell more", home->name);
        default:
            return false;
        }
    }
}

bool run_control(struct session *s, const struct step *st)
{
    const struct arg *words = step_arg(st, "request");
    struct control_words a = {.wait = true, .kick = true};
    struct rdl_control_answer answer;
    struct home home;
    enum rdl_status status;
    uint32_t id;

    if (!verb_home(s, st, &home))
        return false;
    a.pvrdma = tree_has_pvrdma(s->lab, home.name);
    if (!(a.pvrdma ? read_pv_command(s, &words->v[0], &a) : read_command(s, &words->v[0], &a)))
        return false;
    for (size_t i = 1; i < words->n; i++) {
        if (!read_word(s, &words->v[i], &a))
            return false;
    }
    a.c.data = a.data;
    status = rdl_control_send(s->lab, home.host, &a.c, a.kick, &id);
    if (status != RDL_OK)
        return session_fail_status(s, st->at, "control", status);
    if (!a.wait)
        return true;
    if (!wait_for(s, st, &home, id, &answer))
        return false;
    if (a.pvrdma)
        return judge_pvrdma(s, st, &home, &a, &answer);
    if (answer.written == 0) {
        session_fail(s, st->at, "the device gave the request back and wrote nothing");
        return diag_remedy(&s->diag, "without room for one byte it cannot say how it went");
    }
    if (answer.response[0] != RSP_OK)
        return refused(s, st, &home, answer.response[0]);
    say_answer(s, &home, &a, &answer);
    return true;
}
