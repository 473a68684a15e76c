/* SPDX-License-Identifier: MIT */
/* Builds work requests from steps.  The operation's row in facts/wr.c tells which keys it takes; a
 * key that it does not take is an error, so that no key is ignored silently.
 */
#include "cli/cmd/request.h"

#include <stdlib.h>
#include <string.h>

#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "emu/facts/datagram.h"
#include "emu/facts/enum/object.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/wr.h"
#include "rdmalab/inspect.h"

#define INLINE_BYTES_MAX 65536u

/* The scatter/gather list of a post.  Inline data are read by the program itself, at its own
 * addresses.
 */
static bool read_sges(struct session *s, const struct scope *rest, struct request *r,
                      bool is_inline, size_t *ret_n)
{
    const struct step *st = r->st;
    const struct arg *a = step_arg(st, "sge");

    if (a->n > RDL_SGE_MAX)
        return session_fail(s, a->v[RDL_SGE_MAX].at, "more than %u pieces of memory", RDL_SGE_MAX);
    for (size_t i = 0; i < a->n; i++) {
        struct memory m;

        if (!resolve_memory(rest, st, "sge", i, &m, &s->diag))
            return false;
        if (!m.has_bytes || m.bytes > UINT32_MAX) {
            session_fail(s, a->v[i].at, "a length is missing, or too large");
            return diag_remedy(&s->diag, "write a slice like mr[0:64]");
        }
        r->sge[i] = (struct rdl_sge){is_inline ? m.addr : m.iova, (uint32_t)m.bytes,
                                     (uint32_t)step_number_or(st, "lkey", m.lkey)};
    }
    *ret_n = a->n;
    return true;
}

/* Copies the memory of the list, which is that of the host of the queue pair, into one buffer,
 * which the request then carries inline.
 */
static bool gather(struct session *s, struct request *r)
{
    struct rdl_send_wr *wr = &r->send;
    struct home home;
    size_t total = 0, at = 0;

    for (size_t i = 0; i < wr->n_sge; i++)
        total += wr->sge[i].length;
    if (total > INLINE_BYTES_MAX)
        return session_fail(s, step_span(r->st, "sge", 0), "too many bytes for inline");
    r->inlined = malloc(total + 1);
    if (!r->inlined || !resolve_home(s->lab, OBJ_QP, r->qp.raw, &home))
        return session_fail_status(s, r->st->at, "inline", RDL_ERR_NOMEM);
    for (size_t i = 0; i < wr->n_sge; i++) {
        const enum rdl_status status =
            rdl_mem_read(s->lab, home.host, wr->sge[i].addr, r->inlined + at, wr->sge[i].length);

        if (status != RDL_OK)
            return session_fail_status(s, step_span(r->st, "sge", i), "inline", status);
        at += wr->sge[i].length;
    }
    wr->inline_data = r->inlined;
    wr->inline_bytes = total;
    wr->n_sge = 0;
    return true;
}

static uint32_t send_flags(const struct step *st)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } rows[] = {{"signaled", SF_SIGNALED},
                {"solicited", SF_SOLICITED},
                {"inline", SF_INLINE},
                {"fence", SF_FENCE}};
    uint32_t flags = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (cmd_param(st->cmd, rows[i].name) && step_has(st, rows[i].name))
            flags |= rows[i].bit;
    }
    return flags;
}

/* --- What the operation has ------------------------------------------------------------------- */

/* The operations of an opcode, a set; those of the send queue are below 64. */
#define OP(name) ((uint64_t)1 << WR_##name)
#define ATOMICS  (OP(ATOMIC_CMP_AND_SWP) | OP(ATOMIC_FETCH_AND_ADD))
#define REMOTE                                                                                     \
    (OP(RDMA_WRITE) | OP(RDMA_WRITE_WITH_IMM) | OP(RDMA_READ) | OP(RDMA_READ_WITH_INV) | ATOMICS)
#define IMMS (OP(SEND_WITH_IMM) | OP(RDMA_WRITE_WITH_IMM))
#define INVS (OP(SEND_WITH_INV) | OP(RDMA_READ_WITH_INV) | OP(LOCAL_INV))
#define KEYS (OP(REG_MR) | OP(BIND_MW))

/* Keys that not every operation has. */
static const struct {
    const char *key;
    uint64_t ops;   /* that have it */
    bool needed;    /* by them */
    const char *as; /* how it may be written */
} op_keys[] = {
    {"remote", REMOTE, true, "remote=h2.mr[0], or a number with rkey="},
    {"rkey", REMOTE, false, ""},
    {"compare", OP(ATOMIC_CMP_AND_SWP), true, "compare=N"},
    {"swap", OP(ATOMIC_CMP_AND_SWP), true, "swap=N"},
    {"add", OP(ATOMIC_FETCH_AND_ADD), true, "add=N"},
    {"imm", IMMS, false, ""},
    {"inv", INVS, true, "inv=KEY, a number or what has it: h2.mr"},
    {"mr", KEYS, true, "mr=h1.mr, or of bind_mw a part: mr=h1.mr[0:64]"},
    {"key", KEYS, false, ""},
    {"access", KEYS, false, ""},
    {"mw", OP(BIND_MW), true, "mw=h1.mw"},
};

/* Keys that all and only requests of a UD queue pair have. */
static const char *const ud_keys[] = {"ah", "remote_qpn", "remote_qkey"};

static void op_word(uint32_t opcode, char ret[VALUE_WORD_BYTES])
{
    value_word_text(&enum_send_opcode, enum_by_value(&enum_send_opcode, opcode), ret);
}

/* Fails with: @key is not of this operation; says of which it is. */
static bool not_of_op(struct session *s, const struct step *st, const char *key, uint64_t ops,
                      const char *op)
{
    char buf[DIAG_REMEDY_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    for (size_t i = 0; i < enum_send_opcode.n_rows; i++) {
        const uint32_t opcode = enum_send_opcode.rows[i].value;
        char word[VALUE_WORD_BYTES];

        if (!(ops >> opcode & 1))
            continue;
        op_word(opcode, word);
        text_addf(&t, t.len ? ", %s" : "%s", word);
    }
    session_fail(s, step_span(st, key, 0), "%s has no %s=", op, key);
    return diag_remedy(&s->diag, "it is a key of op=%s", buf);
}

/* Returns true if the operation of @st takes the keys that it has.  Otherwise s->diag says why
 * not.
 */
static bool check_given_keys(struct session *s, const struct step *st, uint32_t opcode)
{
    char op[VALUE_WORD_BYTES];

    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const char *key = st->cmd->params[i].name;

        for (size_t k = 0; k < ARRAY_LEN(op_keys) && st->args[i].n > 0; k++) {
            if (strcmp(op_keys[k].key, key) != 0 || (op_keys[k].ops >> opcode & 1))
                continue;
            op_word(opcode, op);
            return not_of_op(s, st, key, op_keys[k].ops, op);
        }
    }
    return true;
}

/* Returns true if the operation of @st takes the keys that it has, and @st has those that it needs.
 * Otherwise s->diag says why not.
 */
static bool check_op_keys(struct session *s, const struct step *st, uint32_t opcode)
{
    char op[VALUE_WORD_BYTES];

    if (!check_given_keys(s, st, opcode))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(op_keys); i++) {
        if (!op_keys[i].needed || !(op_keys[i].ops >> opcode & 1) || step_has(st, op_keys[i].key))
            continue;
        op_word(opcode, op);
        session_fail(s, step_span(st, "op", 0), "%s needs %s=", op, op_keys[i].key);
        return diag_remedy(&s->diag, "%s", op_keys[i].as);
    }
    return true;
}

/* Fails if a datagram lacks keys; names all of them. */
static bool has_ud_keys(struct session *s, const struct step *st)
{
    char buf[DIAG_REMEDY_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    for (size_t i = 0; i < ARRAY_LEN(ud_keys); i++) {
        if (!step_has(st, ud_keys[i]))
            text_addf(&t, t.len ? ", %s=" : "%s=", ud_keys[i]);
    }
    if (t.len == 0)
        return true;
    session_fail(s, step_span(st, "qp", 0), "a datagram needs %s", buf);
    return diag_remedy(&s->diag, "it is sent to a queue pair that each request names");
}

static bool check_ud_keys(struct session *s, const struct step *st, uint32_t opcode, bool ud)
{
    char op[VALUE_WORD_BYTES];

    if (ud && !wr_is_of_type(QPT_UD, opcode)) { /* before it is asked where it goes */
        op_word(opcode, op);
        session_fail(s, step_span(st, "op", 0), "UD queue pairs have no %s", op);
        return diag_remedy(&s->diag, "\"explain POST_OPCODE\"");
    }
    if (ud)
        return has_ud_keys(s, st);
    for (size_t i = 0; i < ARRAY_LEN(ud_keys); i++) {
        if (!step_has(st, ud_keys[i]))
            continue;
        session_fail(s, step_span(st, ud_keys[i], 0), "only a UD queue pair has %s=", ud_keys[i]);
        return diag_remedy(&s->diag, "what is connected sends to its peer alone");
    }
    return true;
}

/* --- The parts of a send request -------------------------------------------------------------- */

/* Reads the remote address and key of @st. */
static bool read_remote(struct session *s, const struct scope *rest, struct request *r)
{
    struct memory m;

    if (!resolve_memory(rest, r->st, "remote", 0, &m, &s->diag))
        return false;
    r->send.remote_addr = m.iova;
    r->send.rkey = m.rkey;
    if (step_has(r->st, "rkey"))
        return resolve_key(rest, r->st, "rkey", &r->send.rkey, &s->diag);
    if (m.mr.raw)
        return true;
    session_fail(s, step_span(r->st, "remote", 0), "an address alone has no key");
    return diag_remedy(&s->diag, "add rkey=, or write the part of a region: remote=h2.mr[0]");
}

/* The key after @key: drivers count its lowest byte, which alone may change.
 * [libibverbs, ibv_inc_rkey(3)]
 */
static uint32_t next_key(uint32_t key)
{
    return (key & ~0xffu) | ((key + 1) & 0xffu);
}

static bool read_reg(struct session *s, const struct scope *rest, struct request *r)
{
    struct memory m;

    if (!resolve_memory(rest, r->st, "mr", 0, &m, &s->diag))
        return false;
    if (m.bytes != m.region_bytes || !m.mr.raw) {
        session_fail(s, step_span(r->st, "mr", 0), "reg_mr is about a whole region");
        return diag_remedy(&s->diag, "write its name alone");
    }
    r->send.reg.mr = m.mr;
    r->send.reg.key = next_key(m.rkey);
    r->send.reg.access = step_set(r->st, "access");
    return !step_has(r->st, "key") || resolve_key(rest, r->st, "key", &r->send.reg.key, &s->diag);
}

/* The window of @r, and the part of a region that it will show. */
static bool read_window(struct session *s, const struct scope *rest, struct request *r)
{
    struct memory m = {.has_bytes = true};

    if (step_has(r->st, "mr") && !resolve_memory(rest, r->st, "mr", 0, &m, &s->diag))
        return false;
    if (!resolve_object(rest, r->st, "mw", OBJ_MW, &r->send.bind_mw.mw.raw, &s->diag))
        return false;
    if (!m.has_bytes) {
        session_fail(s, step_span(r->st, "mr", 0), "a length is missing");
        return diag_remedy(&s->diag, "write a slice like mr[0:64], or the name of a region");
    }
    r->send.bind_mw.mr = m.mr;
    r->send.bind_mw.addr = m.iova;
    r->send.bind_mw.length = m.bytes;
    r->send.bind_mw.access = step_set(r->st, "access");
    return true;
}

static bool read_bind(struct session *s, const struct scope *rest, struct request *r)
{
    if (!read_window(s, rest, r) ||
        !resolve_key(rest, r->st, "mw", &r->send.bind_mw.rkey, &s->diag))
        return false;
    r->send.bind_mw.rkey = next_key(r->send.bind_mw.rkey);
    return !step_has(r->st, "key") ||
           resolve_key(rest, r->st, "key", &r->send.bind_mw.rkey, &s->diag);
}

static bool read_bind_mw(struct session *s, const struct scope *rest, struct request *r)
{
    r->send = (struct rdl_send_wr){.wr_id = step_number(r->st, "wr_id"),
                                   .opcode = WR_BIND_MW,
                                   .flags = send_flags(r->st),
                                   .bind_mw = {.type_1 = true}};
    return read_window(s, rest, r);
}

/* Reads the fields of the WQE's union. */
static bool read_operation(struct session *s, const struct scope *rest, struct request *r,
                           enum qp_type type)
{
    const struct step *st = r->st;

    if (step_has(st, "inv") && !resolve_key(rest, st, "inv", &r->send.invalidate_rkey, &s->diag))
        return false;
    switch (wr_form(type, r->send.opcode)) {
    case WR_FORM_NONE:
        return true;
    case WR_FORM_ATOMIC:
        r->send.compare_add = step_number_or(st, "compare", step_number_or(st, "add", 0));
        r->send.swap = step_number_or(st, "swap", 0);
        return read_remote(s, rest, r);
    case WR_FORM_RDMA:
        return read_remote(s, rest, r);
    case WR_FORM_REG:
        return read_reg(s, rest, r);
    case WR_FORM_BIND:
        return read_bind(s, rest, r);
    case WR_FORM_UD:
        if (!resolve_qpn(rest, st, "remote_qpn", &r->send.ud.remote_qpn, &s->diag))
            return false;
        r->send.ud.remote_qkey = (uint32_t)step_number_or(st, "remote_qkey", 0);
        return resolve_object(rest, st, "ah", OBJ_AH, &r->send.ud.ah.raw, &s->diag);
    }
    return true;
}

static bool read_send(struct session *s, const struct scope *rest, struct request *r)
{
    const struct step *st = r->st;
    const uint32_t imm = (uint32_t)step_number_or(st, "imm", 0);
    struct rdl_qp_info info;

    r->send = (struct rdl_send_wr){
        .wr_id = step_number(st, "wr_id"),
        .opcode =
            (uint32_t)step_number_or(st, "op", step_has(st, "imm") ? WR_SEND_WITH_IMM : WR_SEND),
        .flags = send_flags(st),
        .imm = {(uint8_t)(imm >> 24), (uint8_t)(imm >> 16), (uint8_t)(imm >> 8), (uint8_t)imm},
        .sge = r->sge,
    };
    if (rdl_qp_info(s->lab, r->qp, &info) != RDL_OK)
        return session_fail_status(s, step_span(st, "qp", 0), st->cmd->name, RDL_ERR_STALE);
    if (!check_op_keys(s, st, r->send.opcode) ||
        !check_ud_keys(s, st, r->send.opcode, qp_type_is_datagram(info.type)) ||
        !read_sges(s, rest, r, step_has(r->st, "inline"), &r->send.n_sge) ||
        !read_operation(s, rest, r, (enum qp_type)info.type))
        return false;
    return !(r->send.flags & SF_INLINE) || gather(s, r);
}

bool request_read(struct session *s, const struct step *st, struct request *ret)
{
    const bool shared = request_is_shared(st);
    const char *to = shared ? "srq" : "qp";
    char host[RDL_NAME_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, to), host);

    ret->st = st;
    ret->inlined = NULL;
    ret->qp.raw = ret->srq.raw = 0;
    if (!resolve_object(&in, st, to, shared ? OBJ_SRQ : OBJ_QP,
                        shared ? &ret->srq.raw : &ret->qp.raw, &s->diag))
        return false;
    if (request_is_bind_mw(st))
        return read_bind_mw(s, &rest, ret);
    if (request_sends(st))
        return read_send(s, &rest, ret);
    ret->recv = (struct rdl_recv_wr){.wr_id = step_number(st, "wr_id"), .sge = ret->sge};
    return read_sges(s, &rest, ret, false, &ret->recv.n_sge);
}

void request_done(struct request *r)
{
    free(r->inlined);
}
