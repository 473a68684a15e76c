/* SPDX-License-Identifier: MIT */
#include "cli/show/show_operation.h"

#include "cli/explain/rfc_dump.h"
#include "emu/base/cursor.h"
#include "emu/base/plural.h"
#include "emu/facts/enum/wr_opcode.h"
#include "emu/facts/virtio_rdma/layout.h"
#include "emu/wire/addr.h"

static void add_remote(struct text *t, uint64_t addr, uint32_t rkey)
{
    text_addf(t, ", remote 0x%llx rkey 0x%x", (unsigned long long)addr, rkey);
}

static void add_rdma(struct text *t, const struct rfc_sq_wqe *w)
{
    struct rfc_wr_rdma rdma;

    rfc_wr_rdma_get(&rdma, (const struct raw_wr_rdma *)w->wr);
    add_remote(t, rdma.remote_addr, rdma.rkey);
}

static void add_atomic(struct text *t, const struct rfc_sq_wqe *w)
{
    struct rfc_wr_atomic a;

    rfc_wr_atomic_get(&a, (const struct raw_wr_atomic *)w->wr);
    if (w->opcode == WR_ATOMIC_CMP_AND_SWP)
        text_addf(t, ", compare %llu swap %llu", (unsigned long long)a.compare_add,
                  (unsigned long long)a.swap);
    else
        text_addf(t, ", add %llu", (unsigned long long)a.compare_add);
    add_remote(t, a.remote_addr, a.rkey);
}

static void add_reg(struct text *t, const struct rfc_sq_wqe *w)
{
    struct rfc_wr_reg reg;

    rfc_wr_reg_get(&reg, (const struct raw_wr_reg *)w->wr);
    text_addf(t, ", MR %u gets key 0x%x", reg.mrn, reg.key);
}

static void add_list(struct text *t, const struct rfc_sq_wqe *w)
{
    struct rfc_wr_reg_list l;

    rfc_wr_reg_list_get(&l, (const struct raw_wr_reg_list *)w->wr);
    text_addf(t, " and %llu bytes from 0x%llx, %u page%s listed at 0x%llx",
              (unsigned long long)l.length, (unsigned long long)l.start, l.npages,
              plural_s(l.npages), (unsigned long long)l.pages);
}

static void add_bind(struct text *t, const struct rfc_sq_wqe *w)
{
    struct rfc_wr_bind b;

    rfc_wr_bind_get(&b, (const struct raw_wr_bind *)w->wr);
    text_addf(t, ", window 0x%x gets key 0x%x and %llu bytes at 0x%llx of lkey 0x%x", b.mw_rkey,
              b.rkey, (unsigned long long)b.length, (unsigned long long)b.addr, b.mr_lkey);
}

static void add_ud(struct text *t, const struct rfc_sq_wqe *w)
{
    struct rfc_wr_ud ud;

    rfc_wr_ud_get(&ud, (const struct raw_wr_ud *)w->wr);
    text_addf(t, ", to QPN %u qkey 0x%x at ", ud.remote_qpn, ud.remote_qkey);
    addr_add(t, ud.av_dgid);
}

void operation_add_text(struct text *t, enum qp_type type, bool lists, const struct rfc_sq_wqe *w)
{
    static void (*const add[])(struct text *, const struct rfc_sq_wqe *) = {
        [WR_FORM_RDMA] = add_rdma, [WR_FORM_ATOMIC] = add_atomic, [WR_FORM_REG] = add_reg,
        [WR_FORM_BIND] = add_bind, [WR_FORM_UD] = add_ud,
    };
    const struct wr_info *row = wr_info(w->opcode);
    const enum wr_form form = wr_form(type, w->opcode);

    if (row && row->invalidates)
        text_addf(t, ", invalidates 0x%x", ld_le32(w->ex));
    if (form != WR_FORM_NONE)
        add[form](t, w);
    if (form == WR_FORM_REG && lists)
        add_list(t, w);
}

size_t operation_dump(const struct rfc_sink *to, enum qp_type type, bool lists,
                      const uint8_t *bytes, size_t n)
{
    const struct row_struct *whole = rfc_find("sq_wqe");
    const size_t at = offsetof(struct raw_sq_wqe, wr);
    struct row_struct head = *whole;
    enum wr_form form = WR_FORM_NONE;
    size_t end;

    if (n >= whole->bytes)
        form = wr_form(type, ld_le32(bytes + offsetof(struct raw_sq_wqe, opcode)));
    if (form == WR_FORM_NONE)
        return rfc_dump(to, whole, "", bytes, n, 0);
    head.n_fields--; /* without the union, which is the last field */
    (void)rfc_dump(to, &head, "", bytes, n, 0);
    end =
        at + rfc_dump(to,
                      rfc_find(form == WR_FORM_REG && lists ? "wr_reg_list" : rfc_union_name(form)),
                      "wr.", bytes, n, at);
    if (end < whole->bytes)
        rfc_dump_rest(to, "rest of wr", bytes, whole->bytes, end);
    return whole->bytes;
}
