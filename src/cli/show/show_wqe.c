/* SPDX-License-Identifier: MIT */
#include "cli/show/show_wqe.h"

#include <stdlib.h>
#include <string.h>

#include "cli/explain/rfc_dump.h"
#include "cli/show/show_operation.h"
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/plural.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/virtio/feature.h"
#include "emu/facts/virtio/ring_format.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "tree/tree.h"

#define SGES_SHOWN_MAX 4u

/* Returns true if the last component of the @n bytes at @path is @key. */
static bool ends_with(const char *path, size_t n, const char *key)
{
    const size_t k = strlen(key);

    return n > k && path[n - k - 1] == '.' && memcmp(path + n - k, key, k) == 0;
}

/* Returns the length of the path of the queue that @path is, or is below. */
static size_t queue_bytes(const char *path)
{
    const char *slot = strstr(path, ".desc[");

    return slot ? (size_t)(slot - path) : strlen(path);
}

/* Returns the role of a queue that is an element of a list: "h1.ceq[0]", "h1.device.sq[2]". */
static enum ring_role role_in_list(const char *path)
{
    static const struct {
        enum child_id list;
        enum ring_role role;
    } rows[] = {{CHILD_host_ceq, RING_CEQ},
                {CHILD_device_sq, RING_SQ},
                {CHILD_device_rq, RING_RQ},
                {CHILD_device_srq, RING_RQ},
                {CHILD_device_cq, RING_CQ}};
    const char *dot = strchr(path, '.');

    for (size_t i = 0; i < ARRAY_LEN(rows) && dot; i++) {
        const struct child_row *row = &child_rows[rows[i].list];
        char head[64];
        struct text t = text_on(head, sizeof(head));

        if (row->node == NODE_device)
            text_addf(&t, "%s.", child_rows[CHILD_host_device].key);
        text_addf(&t, "%s[", row->key);
        if (strncmp(dot + 1, head, t.len) == 0)
            return rows[i].role;
    }
    return RING_NONE;
}

enum ring_role ring_role_of(const char *path)
{
    static const struct {
        enum child_id queue;
        enum ring_role role;
    } rows[] = {{CHILD_qp_sq, RING_SQ},
                {CHILD_qp_rq, RING_RQ},
                {CHILD_cq_queue, RING_CQ},
                {CHILD_host_ctrl, RING_CTRL}};
    const size_t n = queue_bytes(path);
    const enum ring_role in_list = role_in_list(path);
    char events[64];
    struct text t = text_on(events, sizeof(events));

    if (in_list != RING_NONE)
        return in_list;
    text_addf(&t, "%s.%s", child_rows[CHILD_host_async].key, child_rows[CHILD_async_queue].key);
    if (ends_with(path, n, events))
        return RING_EVENTS;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (ends_with(path, n, child_rows[rows[i].queue].key))
            return rows[i].role;
    }
    return RING_NONE;
}

static enum rdl_status read_regions(struct wqe_reader *r, const char *host)
{
    struct tree_list children;
    size_t at;
    enum rdl_status st = tree_children(r->lab, host, &children, &at);

    if (st == RDL_OK && children.n) {
        r->mrs = calloc(children.n, sizeof(*r->mrs));
        st = r->mrs ? RDL_OK : RDL_ERR_NOMEM;
    }
    for (size_t i = 0; i < children.n && st == RDL_OK; i++) {
        struct tree_child *c = &children.v[i];
        char path[TREE_PATH_BYTES];
        struct text t = text_on(path, sizeof(path)), name;
        struct mr_row *mr = &r->mrs[r->n_mrs];

        if (!tree_value_is(&c->value, NODE_mr))
            continue;
        tree_join(&t, host, c->key);
        name = text_on(mr->name, sizeof(mr->name));
        text_add(&name, c->key);
        mr->addr = tree_number(r->lab, path, LEAF_mr_iova);
        mr->bytes = tree_number(r->lab, path, LEAF_mr_bytes);
        mr->lkey = tree_number(r->lab, path, LEAF_mr_lkey);
        r->n_mrs++;
    }
    tree_done(&children);
    return st;
}

/* The type of the queue pair that the path is of or below.  Returns RC for any other path. */
static enum qp_type type_of(const struct rdl_lab *lab, const char *path)
{
    char qp[TREE_PATH_BYTES], machines[TREE_PATH_BYTES];
    struct text t = text_on(qp, sizeof(qp));
    const char *dot = strchr(path, '.');
    const size_t n = dot ? (size_t)(dot - path) + 1 + strcspn(dot + 1, ".") : 0;
    struct text queue = text_on(machines, sizeof(machines));
    struct rdl_value v;
    size_t at;

    text_addn(&queue, path, queue_bytes(path));
    if (tree_is(lab, machines, NODE_queue) && tree_leaf(lab, machines, LEAF_queue_qp_type, &v))
        return (enum qp_type)v.number;
    text_addn(&t, path, n);
    if (rdl_inspect(lab, qp, &v, &at) != RDL_OK || !tree_value_is(&v, NODE_qp))
        return QPT_RC;
    return (enum qp_type)tree_number(lab, qp, LEAF_qp_type);
}

/* Returns true if the driver of the host of @path has accepted REG_IN_WQE. */
static bool has_lists(const struct rdl_lab *lab, const char *path)
{
    char device[RDL_NAME_BYTES + sizeof(".device")];
    struct text t = text_on(device, sizeof(device));

    text_addn(&t, path, strcspn(path, "."));
    text_add(&t, ".device");
    return tree_number(lab, device, LEAF_device_features) >> VF_REG_IN_WQE & 1u;
}

enum rdl_status wqe_reader_init(struct wqe_reader *r, const struct rdl_lab *lab, const char *path)
{
    char host[RDL_NAME_BYTES];
    enum rdl_status st;

    *r = (struct wqe_reader){.lab = lab};
    tree_host_of(path, host);
    r->type = type_of(lab, path);
    r->lists = has_lists(lab, path);
    st = rdl_find_host(lab, host, &r->host);
    return st == RDL_OK ? read_regions(r, host) : st;
}

void wqe_reader_done(struct wqe_reader *r)
{
    free(r->mrs);
    *r = (struct wqe_reader){0};
}

void wqe_add_sge(struct text *t, const struct wqe_reader *r, uint64_t addr, uint32_t length,
                 uint32_t lkey)
{
    for (size_t i = 0; i < r->n_mrs; i++) {
        const struct mr_row *mr = &r->mrs[i];
        const uint64_t from = addr - mr->addr;

        if (mr->lkey == lkey && addr >= mr->addr && from <= mr->bytes) {
            text_addf(t, "%s[%llu:%llu]", mr->name, (unsigned long long)from,
                      (unsigned long long)from + length);
            return;
        }
    }
    text_addf(t, "lkey 0x%x, %u bytes at 0x%llx", lkey, length, (unsigned long long)addr);
}

/* Appends the @n SGEs of a WQE of @bytes bytes, of which the head takes @head. */
static void add_sges(struct text *t, const struct wqe_reader *r, const uint8_t *wqe, size_t bytes,
                     size_t head, uint32_t n)
{
    text_addf(t, ", %u SGE%s", n, plural_s(n));
    for (uint32_t i = 0; i < n && i < SGES_SHOWN_MAX; i++) {
        const size_t at = head + i * sizeof(struct raw_sge);
        struct rfc_sge sge;

        if (at + sizeof(struct raw_sge) > bytes) {
            text_add(t, " (the buffer ends before)");
            return;
        }
        rfc_sge_get(&sge, (const struct raw_sge *)(wqe + at));
        text_add(t, i ? ", " : ": ");
        wqe_add_sge(t, r, sge.addr, sge.length, sge.lkey);
    }
    if (n > SGES_SHOWN_MAX)
        text_add(t, ", ...");
}

/* Returns true if the operation needs no SGEs and the WQE has none. */
static bool moves_nothing(const struct rfc_sq_wqe *w)
{
    const struct wr_info *row = wr_info(w->opcode);

    return row && row->data == WR_DATA_NONE && w->num_sge == 0;
}

static void add_send(struct text *t, const struct wqe_reader *r, const uint8_t *wqe, size_t bytes)
{
    struct rfc_sq_wqe w;

    if (bytes < sizeof(struct raw_sq_wqe)) {
        text_add(t, "too short for a send WQE");
        return;
    }
    rfc_sq_wqe_get(&w, (const struct raw_sq_wqe *)wqe);
    text_addf(t, "%s wr_id=%llu", enum_name(&enum_wr_opcode, w.opcode),
              (unsigned long long)w.wr_id);
    for (size_t i = 0; i < enum_send_flag.n_rows; i++) {
        if (w.send_flags & enum_send_flag.rows[i].value) {
            text_add(t, " ");
            rfc_add_lower(t, enum_send_flag.rows[i].name);
        }
    }
    if (w.send_flags & SF_INLINE)
        text_addf(t, ", %zu bytes inline", bytes - sizeof(struct raw_sq_wqe));
    else if (!moves_nothing(&w))
        add_sges(t, r, wqe, bytes, sizeof(struct raw_sq_wqe), w.num_sge);
    operation_add_text(t, (enum qp_type)r->type, r->lists, &w);
}

static void add_recv(struct text *t, const struct wqe_reader *r, const uint8_t *wqe, size_t bytes)
{
    struct rfc_rq_wqe w;

    if (bytes < sizeof(struct raw_rq_wqe)) {
        text_add(t, "too short for a receive WQE");
        return;
    }
    rfc_rq_wqe_get(&w, (const struct raw_rq_wqe *)wqe);
    text_addf(t, "RECV wr_id=%llu", (unsigned long long)w.wr_id);
    add_sges(t, r, wqe, bytes, sizeof(struct raw_rq_wqe), w.num_sge);
}

static void add_completion(struct text *t, const uint8_t *cqe, size_t bytes)
{
    struct rfc_cqe c;

    if (bytes < sizeof(struct raw_cqe)) {
        text_add(t, "too short for a CQE");
        return;
    }
    rfc_cqe_get(&c, (const struct raw_cqe *)cqe);
    text_addf(t, "wr_id=%llu %s", (unsigned long long)c.wr_id,
              enum_name(&enum_wc_status, c.status));
    if (c.status == WCS_SUCCESS)
        text_addf(t, " %s", enum_name(&enum_wc_opcode, c.opcode));
    if (c.status == WCS_SUCCESS && c.byte_len)
        text_addf(t, " %u bytes", c.byte_len);
    text_addf(t, ", QPN %u", c.qp_num);
}

static void add_event(struct text *t, const uint8_t *event, size_t bytes)
{
    struct rfc_async_event e;

    if (bytes < sizeof(struct raw_async_event)) {
        text_add(t, "too short for an event");
        return;
    }
    rfc_async_event_get(&e, (const struct raw_async_event *)event);
    text_addf(t, "%s, number %u", enum_name(&enum_async_event, e.type), e.number);
}

static void add_cq_event(struct text *t, const uint8_t *event, size_t bytes)
{
    struct rfc_cq_event e;

    if (bytes < sizeof(struct raw_cq_event)) {
        text_add(t, "too short for an event");
        return;
    }
    rfc_cq_event_get(&e, (const struct raw_cq_event *)event);
    text_addf(t, "completion event of CQ %u", e.cqn);
    if (e.number)
        text_addf(t, ", arming %u", e.number);
}

/* Describes a buffer that the device has not written yet. */
static const char *room(enum ring_role role)
{
    return role == RING_CQ       ? "room for a CQE"
           : role == RING_EVENTS ? "room for an event"
           : role == RING_CEQ    ? "room for a completion event"
                                 : "room for the response";
}

/* Appends a control request or its response: the first byte, then the fields of its structure. */
static void add_control(struct text *t, const struct wqe_buffer *b, const uint8_t *bytes, size_t n)
{
    const struct row_struct *s =
        b->writable ? rfc_ctrl(b->command)->response : rfc_ctrl(bytes[0])->request;

    text_add(t, b->writable ? enum_name(&enum_ctrl_rsp, bytes[0])
                            : enum_name(&enum_ctrl_cmd, bytes[0]));
    if (b->writable && bytes[0] != RSP_OK)
        return;
    for (size_t i = 0; s && i < s->n_fields; i++) {
        const struct row_field *f = &s->fields[i];

        if (f->type != 'i' || 1u + f->offset + f->bytes > n || t->len > 60)
            continue;
        text_addf(t, " %s=", f->name);
        rfc_field_add(t, s, f, bytes + 1);
    }
}

void wqe_add_text(struct text *t, const struct wqe_reader *r, const struct wqe_buffer *b)
{
    struct wqe_bytes bytes;

    if (b->writable && !b->written) {
        text_add(t, room(b->role));
        return;
    }
    if (wqe_read(r, b, &bytes) != RDL_OK) {
        text_add(t, "not in guest RAM");
        return;
    }
    switch (b->role) {
    case RING_SQ:
        add_send(t, r, bytes.v, bytes.n);
        break;
    case RING_RQ:
        add_recv(t, r, bytes.v, bytes.n);
        break;
    case RING_CQ:
        add_completion(t, bytes.v, bytes.n);
        break;
    case RING_CTRL:
        add_control(t, b, bytes.v, bytes.n);
        break;
    case RING_EVENTS:
        add_event(t, bytes.v, bytes.n);
        break;
    case RING_CEQ:
        add_cq_event(t, bytes.v, bytes.n);
        break;
    case RING_NONE:
        break;
    }
}

uint8_t wqe_command(const struct wqe_reader *r, uint64_t addr)
{
    uint8_t command = 0;

    if (rdl_ram_read(r->lab, r->host, addr, &command, 1) != RDL_OK)
        return 0;
    return command;
}

/* Passes on the head of a WQE, then its SGEs or inline data. */
static void dump_wqe(const struct rfc_sink *to, const struct wqe_reader *r, const uint8_t *bytes,
                     size_t n, const char *head)
{
    const struct row_struct *s = rfc_find(head);
    const struct row_struct *sge = rfc_find("sge");
    const bool send = strcmp(head, "sq_wqe") == 0;
    uint32_t n_sge;
    size_t at;

    at = send ? operation_dump(to, (enum qp_type)r->type, r->lists, bytes, n)
              : rfc_dump(to, s, "", bytes, n, 0);
    if (at < s->bytes)
        return;
    n_sge = ld_le32(bytes + offsetof(struct raw_sq_wqe, num_sge));
    if (send && (ld_le32(bytes + offsetof(struct raw_sq_wqe, send_flags)) & SF_INLINE))
        n_sge = 0;
    for (uint32_t i = 0; i < n_sge && at < n; i++) {
        char prefix[24];
        struct text t = text_on(prefix, sizeof(prefix));

        text_addf(&t, "sge[%u].", i);
        at += rfc_dump(to, sge, prefix, bytes, n, at);
    }
    if (at < n)
        rfc_dump_rest(to, send ? "inline data" : "rest", bytes, n, at);
}

/* Passes on a control request or response.  Byte 0 is the command or the response code. */
static void dump_control(const struct rfc_sink *to, const struct wqe_buffer *b,
                         const uint8_t *bytes, size_t n)
{
    const struct row_struct *s =
        b->writable ? rfc_ctrl(b->command)->response : rfc_ctrl(bytes[0])->request;
    size_t at = 1;

    rfc_dump_byte(to, b->writable ? "response" : "command",
                  b->writable ? enum_name(&enum_ctrl_rsp, bytes[0])
                              : enum_name(&enum_ctrl_cmd, bytes[0]),
                  bytes);
    if (s)
        at += rfc_dump(to, s, "", bytes, n, 1);
    if (at < n)
        rfc_dump_rest(to, "rest", bytes, n, at);
}

enum rdl_status wqe_read(const struct wqe_reader *r, const struct wqe_buffer *b,
                         struct wqe_bytes *ret)
{
    ret->n = b->bytes < sizeof(ret->v) ? b->bytes : sizeof(ret->v);
    return ret->n > 0 && rdl_ram_read(r->lab, r->host, b->addr, ret->v, ret->n) == RDL_OK
               ? RDL_OK
               : RDL_ERR_FAULT;
}

void wqe_dump(const struct rfc_sink *to, const struct wqe_reader *r, const struct wqe_buffer *b,
              const struct wqe_bytes *bytes)
{
    if (b->role == RING_SQ)
        dump_wqe(to, r, bytes->v, bytes->n, "sq_wqe");
    else if (b->role == RING_RQ)
        dump_wqe(to, r, bytes->v, bytes->n, "rq_wqe");
    else if (b->role == RING_CQ)
        (void)rfc_dump(to, rfc_find("cqe"), "", bytes->v, bytes->n, 0);
    else if (b->role == RING_EVENTS)
        (void)rfc_dump(to, rfc_find("async_event"), "", bytes->v, bytes->n, 0);
    else if (b->role == RING_CEQ)
        (void)rfc_dump(to, rfc_find("cq_event"), "", bytes->v, bytes->n, 0);
    else
        dump_control(to, b, bytes->v, bytes->n);
}

#define PACKED_BITS (VRING_PACKED_AVAIL | VRING_PACKED_USED)

uint8_t wqe_command_before(const struct wqe_reader *r, const char *path)
{
    const char *slot = strstr(path, ".desc[");
    const uint64_t number = strtoull(slot + strlen(".desc["), NULL, 10);
    char queue[TREE_PATH_BYTES];
    struct text t = text_on(queue, sizeof(queue));
    uint64_t size;
    bool packed;

    text_addn(&t, path, (size_t)(slot - path));
    size = tree_number(r->lab, queue, LEAF_queue_size);
    packed = tree_number(r->lab, queue, LEAF_queue_format) == VRING_packed;
    for (uint64_t i = 0; i < size; i++) {
        char desc[TREE_PATH_BYTES];
        uint64_t flags;

        if (!tree_element(r->lab, queue, CHILD_queue_desc, i, desc))
            continue;
        flags = tree_number(r->lab, desc, LEAF_desc_flags) & ~(uint64_t)PACKED_BITS;
        if (flags == VRING_NEXT &&
            (packed ? (i + 1) % size : tree_number(r->lab, desc, LEAF_desc_next)) == number)
            return wqe_command(r, tree_number(r->lab, desc, LEAF_desc_addr));
    }
    return 0;
}

enum rdl_status wqe_at(const struct rdl_lab *lab, const char *path, struct wqe_reader *ret_reader,
                       struct wqe_buffer *ret, size_t *reterr_at)
{
    struct rdl_value v;
    struct wqe_buffer b = {.role = ring_role_of(path)};
    enum rdl_status st = rdl_inspect(lab, path, &v, reterr_at);

    if (st != RDL_OK)
        return st;
    *reterr_at = 0;
    if (b.role == RING_NONE || !tree_value_is(&v, NODE_desc))
        return RDL_ERR_INVAL;
    st = wqe_reader_init(ret_reader, lab, path);
    if (st != RDL_OK) {
        wqe_reader_done(ret_reader);
        return st;
    }
    b.addr = tree_number(lab, path, LEAF_desc_addr);
    b.bytes = (uint32_t)tree_number(lab, path, LEAF_desc_len);
    b.writable = (tree_number(lab, path, LEAF_desc_flags) & VRING_WRITE) != 0;
    if (b.role == RING_CTRL && b.writable)
        b.command = wqe_command_before(ret_reader, path);
    *ret = b;
    return RDL_OK;
}
