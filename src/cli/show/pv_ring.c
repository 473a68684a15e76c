/* SPDX-License-Identifier: MIT */
#include "cli/show/pv_ring.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/plural.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/pvrdma/opcode.h"
#include "emu/facts/pvrdma/ring.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/facts/wr.h"

#define SGES_SHOWN_MAX 4u

_Static_assert(offsetof(struct pv_raw_sq_wqe, num_sge) == offsetof(struct pv_raw_rq_wqe, num_sge),
               "dump_sges() reads it for sends and receives");

/* --- Finding the ring ------------------------------------------------------------------------- */

/* Writes the path of the node of the ring that @path names.  Returns false if it names none. */
static bool find_ring(const struct rdl_lab *lab, const char *path, char ret[TREE_PATH_BYTES])
{
    if (tree_is(lab, path, NODE_cq) && tree_child(lab, path, CHILD_cq_ring, ret))
        return true;
    if (tree_is(lab, path, NODE_srq) && tree_child(lab, path, CHILD_srq_recv_ring, ret) &&
        tree_is(lab, ret, NODE_ring))
        return true;
    if (!tree_is(lab, path, NODE_ring))
        return false;
    memcpy(ret, path, strlen(path) + 1);
    return true;
}

static uint32_t number(const struct pv_ring_view *v, enum leaf_id id)
{
    return (uint32_t)tree_number(v->lab, v->path, id);
}

static uint32_t count_pages(const struct pv_ring_view *v)
{
    char path[TREE_PATH_BYTES];
    uint32_t n = 0;

    while (n < PV_PAGES_MAX && tree_element(v->lab, v->path, CHILD_ring_page, n, path))
        n++;
    return n;
}

/* Returns the kind of entries that are structures called @name. */
static enum pv_entry kind_of(const char *name)
{
    static const char *const names[] = {[PV_ENTRY_SEND] = "pv_sq_wqe",
                                        [PV_ENTRY_RECV] = "pv_rq_wqe",
                                        [PV_ENTRY_CQE] = "pv_cqe",
                                        [PV_ENTRY_EVENT] = "pv_async_event",
                                        [PV_ENTRY_NOTE] = "pv_cq_note"};
    size_t kind = 0;

    while (kind < ARRAY_LEN(names) && strcmp(names[kind], name) != 0)
        kind++;
    RDL_ASSERT(kind < ARRAY_LEN(names));
    return (enum pv_entry)kind;
}

enum rdl_status pv_ring_view(const struct rdl_lab *lab, const char *path, struct pv_ring_view *ret,
                             size_t *reterr_at)
{
    struct pv_ring_view v = {.lab = lab};
    struct rdl_value entry;
    enum rdl_status st;

    *reterr_at = 0;
    if (!find_ring(lab, path, v.path)) {
        struct rdl_value value;

        st = rdl_inspect(lab, path, &value, reterr_at);
        return st == RDL_OK ? RDL_ERR_INVAL : st;
    }
    (void)tree_leaf(lab, v.path, LEAF_ring_entry, &entry);
    v.entry = pv_struct_find(entry.text);
    RDL_ASSERT(v.entry);
    v.kind = kind_of(entry.text);
    v.slots = number(&v, LEAF_ring_slots);
    v.slot_bytes = number(&v, LEAF_ring_slot_bytes);
    v.first_page = number(&v, LEAF_ring_first_page);
    v.tail = number(&v, LEAF_ring_tail);
    v.head = number(&v, LEAF_ring_head);
    v.next = number(&v, LEAF_ring_next);
    v.waiting = number(&v, LEAF_ring_waiting);
    v.held = number(&v, LEAF_ring_held);
    v.of_device = number(&v, LEAF_ring_of_device) != 0;
    v.broken = number(&v, LEAF_ring_broken) != 0;
    v.n_pages = count_pages(&v);
    st = wqe_reader_init(&v.reader, lab, v.path);
    if (st != RDL_OK) {
        wqe_reader_done(&v.reader);
        return st;
    }
    *ret = v;
    return RDL_OK;
}

void pv_ring_view_done(struct pv_ring_view *v)
{
    wqe_reader_done(&v->reader);
}

/* --- Slots ------------------------------------------------------------------------------------ */

uint64_t pv_page_addr(const struct pv_ring_view *v, uint32_t page)
{
    return tree_element_number(v->lab, v->path, CHILD_ring_page, page);
}

uint64_t pv_slot_addr(const struct pv_ring_view *v, uint32_t slot)
{
    const uint64_t at = (uint64_t)slot * v->slot_bytes;

    return pv_page_addr(v, v->first_page + (uint32_t)(at / PV_PAGE_BYTES)) + at % PV_PAGE_BYTES;
}

/* Returns true if @slot is one of the @n slots from index @from on. */
static bool is_among(const struct pv_ring_view *v, uint32_t slot, uint32_t from, uint32_t n)
{
    return ((slot - pv_idx_slot(from, v->slots)) & (v->slots - 1)) < n;
}

enum pv_slot_state pv_slot_state(const struct pv_ring_view *v, uint32_t slot)
{
    if (v->of_device)
        return is_among(v, slot, v->head, v->waiting) ? PV_SLOT_WRITTEN : PV_SLOT_FREE;
    if (is_among(v, slot, v->next, v->waiting))
        return PV_SLOT_POSTED;
    return is_among(v, slot, v->next - v->held, v->held) ? PV_SLOT_TAKEN : PV_SLOT_FREE;
}

const char *pv_slot_state_text(enum pv_slot_state state)
{
    static const char *const texts[] = {[PV_SLOT_FREE] = "free",
                                        [PV_SLOT_POSTED] = "posted",
                                        [PV_SLOT_TAKEN] = "taken",
                                        [PV_SLOT_WRITTEN] = "written"};

    return texts[state];
}

static bool read_slot(const struct pv_ring_view *v, uint32_t slot, uint8_t *buf)
{
    return v->slot_bytes <= PV_SLOT_BYTES_MAX &&
           rdl_ram_read(v->lab, v->reader.host, pv_slot_addr(v, slot), buf, v->slot_bytes) ==
               RDL_OK;
}

/* --- Phrases ---------------------------------------------------------------------------------- */

/* Returns the elements that a slot of @v has after a head of @head bytes, at most @n. */
static uint32_t sges_in(const struct pv_ring_view *v, size_t head, uint32_t n)
{
    const uint32_t most = (uint32_t)((v->slot_bytes - head) / sizeof(struct pv_raw_sge));

    return n < most ? n : most;
}

static void add_sges(struct text *t, const struct pv_ring_view *v, const uint8_t *slot, size_t head,
                     uint32_t said)
{
    const uint32_t n = sges_in(v, head, said);

    text_addf(t, ", %u SGE%s", said, plural_s(said));
    for (uint32_t i = 0; i < n && i < SGES_SHOWN_MAX; i++) {
        struct pv_sge sge;

        pv_sge_get(&sge, (const struct pv_raw_sge *)(slot + head + i * sizeof(struct pv_raw_sge)));
        text_add(t, i ? ", " : ": ");
        wqe_add_sge(t, &v->reader, sge.addr, sge.length, sge.lkey);
    }
    if (n > SGES_SHOWN_MAX)
        text_add(t, ", ...");
    else if (n < said)
        text_add(t, " (the slot ends before)");
}

static void add_words(struct text *t, const char *structure, const char *field, const uint8_t *at)
{
    const struct row_struct *s = pv_struct_find(structure);

    rfc_field_add(t, s, row_field_find(s, field), at);
}

static void add_send(struct text *t, const struct pv_ring_view *v, const uint8_t *slot)
{
    struct pv_sq_wqe w;

    pv_sq_wqe_get(&w, (const struct pv_raw_sq_wqe *)slot);
    add_words(t, "pv_sq_wqe", "opcode", slot);
    text_addf(t, " wr_id=%llu", (unsigned long long)w.wr_id);
    if (w.send_flags) {
        text_add(t, " ");
        add_words(t, "pv_sq_wqe", "send_flags", slot);
    }
    add_sges(t, v, slot, sizeof(struct pv_raw_sq_wqe), w.num_sge);
}

static void add_recv(struct text *t, const struct pv_ring_view *v, const uint8_t *slot)
{
    struct pv_rq_wqe w;

    pv_rq_wqe_get(&w, (const struct pv_raw_rq_wqe *)slot);
    text_addf(t, "RECV wr_id=%llu", (unsigned long long)w.wr_id);
    add_sges(t, v, slot, sizeof(struct pv_raw_rq_wqe), w.num_sge);
}

static void add_completion(struct text *t, const uint8_t *slot)
{
    struct pv_cqe c;

    pv_cqe_get(&c, (const struct pv_raw_cqe *)slot);
    text_addf(t, "wr_id=%llu %s", (unsigned long long)c.wr_id,
              enum_name(&enum_wc_status, c.status));
    if (c.status == WCS_SUCCESS) {
        text_add(t, " ");
        add_words(t, "pv_cqe", "opcode", slot);
    }
    if (c.status == WCS_SUCCESS && c.byte_len)
        text_addf(t, " %u bytes", c.byte_len);
    text_addf(t, ", QP handle %llu", (unsigned long long)c.qp);
}

void pv_slot_add_text(struct text *t, const struct pv_ring_view *v, uint32_t slot)
{
    uint8_t buf[PV_SLOT_BYTES_MAX];
    struct pv_async_event e;

    if (!read_slot(v, slot, buf)) {
        text_add(t, "not in guest RAM");
        return;
    }
    switch (v->kind) {
    case PV_ENTRY_SEND:
        add_send(t, v, buf);
        break;
    case PV_ENTRY_RECV:
        add_recv(t, v, buf);
        break;
    case PV_ENTRY_CQE:
        add_completion(t, buf);
        break;
    case PV_ENTRY_EVENT:
        pv_async_event_get(&e, (const struct pv_raw_async_event *)buf);
        text_addf(t, "%s, handle %u", enum_name(&enum_async_event, e.type), e.info);
        break;
    case PV_ENTRY_NOTE:
        text_addf(t, "CQ handle %u", ld_le32(buf));
        break;
    }
}

/* --- Byte by byte ----------------------------------------------------------------------------- */

/* The structure in the field `wr` of a send WQE with @opcode, or NULL. */
static const char *operation_of(const struct pv_ring_view *v, uint32_t opcode)
{
    switch (wr_form((enum qp_type)v->reader.type, pv_send_opcode(opcode))) {
    case WR_FORM_RDMA:
        return "pv_wr_rdma";
    case WR_FORM_ATOMIC:
        return "pv_wr_atomic";
    case WR_FORM_REG:
        return "pv_wr_fast_reg";
    case WR_FORM_UD:
        return "pv_wr_ud";
    default:
        return NULL;
    }
}

/* Passes on the elements behind a head of @head bytes. */
static void dump_sges(const struct rfc_sink *to, const struct pv_ring_view *v, const uint8_t *slot,
                      size_t head)
{
    const uint32_t said = ld_le32(slot + offsetof(struct pv_raw_sq_wqe, num_sge));
    const uint32_t n = sges_in(v, head, said);
    size_t at = head;

    for (uint32_t i = 0; i < n; i++) {
        char prefix[24];
        struct text t = text_on(prefix, sizeof(prefix));

        text_addf(&t, "sge[%u].", i);
        at += rfc_dump(to, pv_struct_find("pv_sge"), prefix, slot, v->slot_bytes, at);
    }
    if (at < v->slot_bytes)
        rfc_dump_rest(to, "rest of the slot", slot, v->slot_bytes, at);
}

static void dump_send(const struct rfc_sink *to, const struct pv_ring_view *v, const uint8_t *slot)
{
    const size_t wr = offsetof(struct pv_raw_sq_wqe, wr);
    const char *name = operation_of(v, ld_le32(slot + offsetof(struct pv_raw_sq_wqe, opcode)));
    struct row_struct head = *v->entry;
    size_t at;

    if (name)
        head.n_fields--; /* the union comes last */
    (void)rfc_dump(to, &head, "", slot, v->slot_bytes, 0);
    if (name) {
        at = wr + rfc_dump(to, pv_struct_find(name), "wr.", slot, v->slot_bytes, wr);
        if (at < sizeof(struct pv_raw_sq_wqe))
            rfc_dump_rest(to, "rest of the union", slot, sizeof(struct pv_raw_sq_wqe), at);
    }
    dump_sges(to, v, slot, sizeof(struct pv_raw_sq_wqe));
}

bool pv_slot_dump(const struct rfc_sink *to, const struct pv_ring_view *v, uint32_t slot,
                  uint8_t *buf)
{
    if (slot >= v->slots || !read_slot(v, slot, buf))
        return false;
    if (v->kind == PV_ENTRY_SEND) {
        dump_send(to, v, buf);
        return true;
    }
    (void)rfc_dump(to, v->entry, "", buf, v->slot_bytes, 0);
    if (v->kind == PV_ENTRY_RECV)
        dump_sges(to, v, buf, sizeof(struct pv_raw_rq_wqe));
    return true;
}
