/* SPDX-License-Identifier: MIT */
#include "cli/session/operand.h"

#include <stdlib.h>
#include <string.h>

#include "cli/lang/values.h"
#include "cli/live/live.h"
#include "cli/session/expr_count.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum_table.h"
#include "emu/facts/leaf.h"
#include "emu/trace/event.h"
#include "emu/wire/field.h"
#include "rdmalab/trace.h"
#include "rdmalab/verbs.h"

#define BYTES_MAX   (64u << 20)
#define BYTES_SHOWN 24u

void operand_done(struct operand *o)
{
    free(o->bytes);
    o->bytes = NULL;
}

static void set_number(struct operand *o, enum rdl_type type, uint64_t v)
{
    o->kind = OPERAND_NUMBER;
    o->v.type = type;
    o->v.number = v;
}

/* Returns true if the list exists, but not the element. */
static bool is_missing_element(const struct question *q, const char *path, size_t off)
{
    struct rdl_value v;
    char list[SESSION_PATH_BYTES];
    struct text t = text_on(list, sizeof(list));
    const char *open = strchr(path + (off ? off - 1 : 0), '[');
    size_t at;

    if (!open || (size_t)(open - path) < off ||
        strcspn(path + off, ".") < (size_t)(open - path) - off)
        return false;
    text_addn(&t, path, (size_t)(open - path));
    return rdl_inspect(q->in->lab, list, &v, &at) == RDL_OK;
}

/* Returns true if the path is a part of a memory region. */
static bool is_memory(const struct question *q, const char *path)
{
    struct slice_text slice;
    char base[SESSION_PATH_BYTES];
    struct text t = text_on(base, sizeof(base));
    size_t off;
    uint64_t raw;

    if (value_slice(path, &slice, &off) || !slice.has_from)
        return false;
    text_addn(&t, path, slice.base_bytes);
    return rdl_find(q->in->lab, base, OBJ_MR, &raw) == RDL_OK;
}

static bool read_memory(const struct question *q, const char *path, struct span at,
                        struct operand *ret)
{
    struct memory m;
    uint8_t byte;

    if (!resolve_memory_text(q->in, path, at, &m, q->reterr))
        return false;
    if (m.bytes > BYTES_MAX)
        return diag_set(q->reterr, DIAG_FAILED, at, "more than %u bytes", BYTES_MAX);
    ret->n_bytes = (size_t)m.bytes;
    ret->bytes = malloc(ret->n_bytes + 1);
    if (!ret->bytes)
        return diag_status(q->reterr, at, path, RDL_ERR_NOMEM);
    if (rdl_mem_read(q->in->lab, m.host, m.addr, ret->bytes, ret->n_bytes) != RDL_OK)
        return diag_status(q->reterr, at, path, RDL_ERR_FAULT);
    ret->kind = OPERAND_BYTES;
    if (!m.has_bytes) {
        byte = ret->bytes[0];
        operand_done(ret);
        set_number(ret, RDL_NUMBER, byte);
    }
    return true;
}

/* Finds the program with the number of @which, or the last one that was started on its host. */
static bool find_program(const struct question *q, const char *path,
                         const struct expr_program *which, struct live_program_info *ret)
{
    const size_t n = which->host_bytes;
    struct live_program_info p;
    bool found = false;

    for (uint32_t i = 0; q->in->live && q->in->live_ops->program_at(q->in->live, i, &p); i++) {
        if (n ? strlen(p.host) == n && memcmp(p.host, path, n) == 0
              : p.outside && p.number == which->number) {
            *ret = p;
            found = true;
        }
    }
    return found;
}

/* The exit status of a program; absent while it runs. */
static void set_status(struct operand *ret, const struct live_program_info *p)
{
    struct text t = text_on(ret->v.text, sizeof(ret->v.text));

    if (p->outside && (p->done || p->failed)) {
        set_number(ret, RDL_NUMBER, (uint64_t)p->status);
        return;
    }
    ret->kind = OPERAND_ABSENT;
    text_add(&t, p->outside ? "not there while the program runs" : "not there for this program");
}

/* Reads a value of a program.  Returns false if no such program was started. */
static bool read_program(const struct question *q, const char *path,
                         const struct expr_program *which, struct operand *ret)
{
    struct live_program_info p;

    if (!find_program(q, path, which, &p))
        return false;
    switch (which->field) {
    case EXPR_PROGRAM_DONE:
        set_number(ret, RDL_FLAG, p.done);
        return true;
    case EXPR_PROGRAM_FAILED:
        set_number(ret, RDL_FLAG, p.failed);
        return true;
    case EXPR_PROGRAM_STATUS:
        set_status(ret, &p);
        return true;
    case EXPR_PROGRAM_SENT:
        set_number(ret, RDL_NUMBER, p.n_sent);
        return true;
    case EXPR_PROGRAM_RECEIVED:
        set_number(ret, RDL_NUMBER, p.n_rcvd);
        return true;
    case EXPR_PROGRAM_NONE:
        break;
    }
    return false;
}

/* Sets the error that the program in @path was not started.  Returns false. */
static bool no_program(const struct question *q, const struct expr *e, const char *path,
                       const struct expr_program *which)
{
    const struct span at = expr_place(e, q->at);

    if (which->host_bytes)
        diag_set(q->reterr, DIAG_FAILED, at, "no program was started on %.*s",
                 (int)which->host_bytes, path);
    else
        diag_set(q->reterr, DIAG_FAILED, at, "no program %u was started", which->number);
    return diag_remedy(q->reterr, "exec starts one; they are counted from 1");
}

/* Fails: @path leads to @node, which is no value. */
static bool is_no_value(const struct question *q, const struct expr *e, const char *path,
                        const struct rdl_value *node)
{
    char is_text[RDL_VALUE_BYTES];
    struct text is = text_on(is_text, sizeof(is_text));

    if (!q->reterr)
        return false;
    node_add_text(&is, node);
    diag_set(q->reterr, DIAG_FAILED, expr_place(e, q->at), "%s is %s, not a value", path, is_text);
    return diag_remedy(q->reterr, "\"show %s\" lists its values", path);
}

bool operand_unknown(const struct question *q, const struct expr *e)
{
    char path[SESSION_PATH_BYTES];
    struct rdl_value v;
    size_t off;

    resolve_path(q->in, e->text, path);
    if (rdl_inspect(q->in->lab, path, &v, &off) == RDL_OK)
        return is_no_value(q, e, path, &v);
    return resolve_unknown(q->in, expr_place(e, q->at), e->text, "nothing", q->reterr);
}

/* Sets @ret to the number of field @f in @e, as expressions compare it. */
static void set_field_number(struct operand *ret, const struct ev *e, const struct ev_field *f)
{
    const enum rdl_type type = f->print == EVP_TIME   ? RDL_TIME
                               : f->print == EVP_FLAG ? RDL_FLAG
                               : f->print == EVP_HEX  ? RDL_HEX
                                                      : RDL_NUMBER;

    set_number(ret, type, ev_field_number(e, f));
}

/* Sets @ret to the word @number of @words. */
static void set_word(struct operand *ret, const struct enum_table *words, uint32_t number)
{
    struct text t = text_on(ret->v.text, sizeof(ret->v.text));

    ret->kind = OPERAND_WORD;
    ret->v.type = RDL_WORD;
    ret->words = words;
    text_add(&t, enum_name(words, number));
}

/* Reads the word as a field of the frame that is being sent, if it is one.  The field is absent if
 * the frame lacks it.  Without a frame, the value is 0: a condition is checked before there is one.
 */
static bool read_frame_field(const struct question *q, const char *name, struct operand *ret)
{
    const bool may_be = q->in->sent && q->in->sent->kind == EV_tx;
    const struct enum_row *row = may_be ? value_word(&enum_wire_field, name) : NULL;
    const enum wire_field_id id = row ? (enum wire_field_id)row->value : WF_NONE;
    struct field_place at = {.bytes = 0};
    uint64_t number = 0;

    if (id == WF_NONE)
        return false;
    if (q->in->frame)
        at = field_place(id, q->in->frame, q->in->frame_bytes);
    if (q->in->frame && at.bytes == 0) {
        ret->kind = OPERAND_ABSENT;
        return true;
    }
    if (q->in->frame)
        number = field_get(&at, q->in->frame);
    if (!field_words(id)) {
        set_number(ret, RDL_NUMBER, number);
        return true;
    }
    set_word(ret, field_words(id), (uint32_t)number);
    ret->has_number = true;
    ret->v.number = number;
    return true;
}

/* Reads the word as a field of the packet that is being sent, if it is one. */
static bool read_field(const struct question *q, const struct expr *e, struct operand *ret)
{
    const struct ev *sent = q->in->sent;
    const struct ev_field *f = sent ? ev_field_find(sent->kind, e->text) : NULL;
    struct text t = text_on(ret->v.text, sizeof(ret->v.text));
    uint32_t number;

    if (!f)
        return read_frame_field(q, e->text, ret);
    if (f->print == EVP_STR || f->print == EVP_EVENT || f->print == EVP_MAC)
        return false;
    number = (uint32_t)ev_field_number(sent, f);
    if (f->print == EVP_HOST) {
        ret->kind = OPERAND_WORD;
        ret->v.type = RDL_TEXT;
        ev_names_host(rdl_names(q->in->lab), &t, number);
    } else if (f->print == EVP_ENUM) {
        set_word(ret, *f->words, number);
    } else {
        set_field_number(ret, sent, f);
    }
    return true;
}

static bool read_path(const struct question *q, const struct expr *e, struct operand *ret)
{
    char path[SESSION_PATH_BYTES];
    struct expr_program which = {.field = EXPR_PROGRAM_NONE};
    size_t off = 0;

    if (read_field(q, e, ret))
        return true;

    switch (e->word) {
    case EXPR_WORD_TIME:
        set_number(ret, RDL_TIME, rdl_now_ns(q->in->lab));
        return true;
    case EXPR_WORD_TICK:
        set_number(ret, RDL_NUMBER, rdl_tick(q->in->lab));
        return true;
    case EXPR_WORD_TRUE:
    case EXPR_WORD_FALSE:
        set_number(ret, RDL_FLAG, e->word == EXPR_WORD_TRUE);
        return true;
    case EXPR_WORD_NONE:
        break;
    }
    resolve_path(q->in, e->text, path);
    if (e->may_be_memory && is_memory(q, path))
        return read_memory(q, path, expr_place(e, q->at), ret);
    if (e->may_be_program &&
        (expr_program_read(e->text, &which) || expr_program_read(path, &which)) &&
        read_program(q, path, &which, ret))
        return true;
    if (rdl_inspect(q->in->lab, path, &ret->v, &off) == RDL_OK && ret->v.type != RDL_NODE) {
        ret->kind =
            ret->v.type == RDL_WORD || ret->v.type == RDL_TEXT ? OPERAND_WORD : OPERAND_NUMBER;
        ret->words = ret->v.type == RDL_WORD ? leaf_rows[ret->v.row].words : NULL;
        return true;
    }
    if (!strpbrk(e->text, ".[")) {
        struct text t = text_on(ret->v.text, sizeof(ret->v.text));

        ret->kind = OPERAND_BARE;
        ret->v.type = RDL_TEXT;
        text_add(&t, e->text);
        return true;
    }
    if (which.field != EXPR_PROGRAM_NONE)
        return q->reterr && no_program(q, e, path, &which);
    if (which.name && off == 0)
        return q->reterr && expr_program_unknown(&which, expr_place(e, q->at), q->reterr);
    if (off == 0 && rdl_inspect(q->in->lab, path, &ret->v, &off) == RDL_OK)
        return is_no_value(q, e, path, &ret->v);
    if (is_missing_element(q, path, off)) {
        /* The element may still come, but never with a word that no element can have. */
        if (!(strcmp(path, e->text) == 0 ? e->leads : e->leads_from_host) &&
            !expr_path_leads(path, expr_place(e, q->at), q->reterr))
            return false;
        ret->kind = OPERAND_ABSENT;
        return true;
    }
    return resolve_unknown(q->in, expr_place(e, q->at), path, "nothing", q->reterr);
}

/* A number has the type of its @neighbour, and no unit of another. */
static bool read_number(const struct question *q, const struct expr *e,
                        const struct operand *neighbour, struct operand *ret)
{
    const enum rdl_type type =
        neighbour && neighbour->kind == OPERAND_NUMBER ? neighbour->v.type : RDL_NUMBER;
    struct text t = text_on(ret->v.text, sizeof(ret->v.text));
    uint64_t number = 0;

    if (!expr_number(type == RDL_TIME, e->text, &number)) {
        diag_set(q->reterr, DIAG_FAILED, expr_place(e, q->at),
                 "the other side is %s time, and %s is %s", type == RDL_TIME ? "a" : "no", e->text,
                 type == RDL_TIME ? "none" : "one");
        return diag_remedy(q->reterr, type == RDL_TIME ? "times are written 500ns, 10us, 1.5ms"
                                                       : "only times have the units ns, us, ms, s");
    }
    set_number(ret, type, number);
    text_add(&t, e->text);
    return true;
}

bool operand_read(const struct question *q, const struct expr *e, const struct operand *neighbour,
                  struct operand *ret)
{
    uint64_t number = 0;

    *ret = (struct operand){.kind = OPERAND_NUMBER, .v = {.type = RDL_NUMBER}};
    switch (e->kind) {
    case EXPR_NUMBER:
        return read_number(q, e, neighbour, ret);
    case EXPR_STRING:
        ret->kind = OPERAND_BYTES;
        ret->n_bytes = strlen(e->text);
        ret->bytes = (uint8_t *)strdup(e->text);
        return ret->bytes || diag_status(q->reterr, q->at, "expression", RDL_ERR_NOMEM);
    case EXPR_COUNT:
        if (!expr_count(q, e, &number))
            return false;
        set_number(ret, RDL_NUMBER, number);
        return true;
    case EXPR_PATH:
        return read_path(q, e, ret);
    default:
        return diag_set(q->reterr, DIAG_FAILED, expr_place(e, q->at), "this cannot be compared");
    }
}

bool operand_equal(const struct operand *a, const struct operand *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case OPERAND_ABSENT:
        return true;
    case OPERAND_BYTES:
        return a->n_bytes == b->n_bytes && memcmp(a->bytes, b->bytes, a->n_bytes) == 0;
    case OPERAND_WORD:
    case OPERAND_BARE:
        return strcmp(a->v.text, b->v.text) == 0;
    case OPERAND_NUMBER:
        break;
    }
    return a->v.number == b->v.number;
}

static void add_bytes(struct text *t, const struct operand *o)
{
    const size_t n = o->n_bytes < BYTES_SHOWN ? o->n_bytes : BYTES_SHOWN;
    bool printable = o->n_bytes > 0;

    for (size_t i = 0; i < n; i++)
        printable = printable && o->bytes[i] >= 0x20 && o->bytes[i] < 0x7f;
    text_add(t, printable ? "\"" : "");
    for (size_t i = 0; i < n; i++)
        text_addf(t, printable ? "%c" : "%02x", o->bytes[i]);
    text_add(t, printable ? "\"" : "");
    if (o->n_bytes > n)
        text_addf(t, "... (%zu bytes)", o->n_bytes);
}

void operand_add(struct text *t, const struct operand *o)
{
    switch (o->kind) {
    case OPERAND_ABSENT:
        text_add(t, o->v.text[0] ? o->v.text : "not there");
        break;
    case OPERAND_BYTES:
        add_bytes(t, o);
        break;
    case OPERAND_WORD:
    case OPERAND_BARE:
        text_add(t, o->v.text);
        break;
    case OPERAND_NUMBER:
        if (o->v.type == RDL_TIME)
            quantity_add_time(t, o->v.number);
        else if (o->v.type == RDL_FLAG)
            text_add(t, o->v.number ? "true" : "false");
        else if (o->v.type == RDL_HEX)
            text_addf(t, "0x%llx", (unsigned long long)o->v.number);
        else
            text_addf(t, "%llu", (unsigned long long)o->v.number);
        break;
    }
}
