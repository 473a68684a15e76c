/* SPDX-License-Identifier: MIT */
/* The drill of programs: memory, and the regions over it. */
#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/key_kind.h"
#include "swarm/drills/drill_programs.h"

#define PAGE     4096u
#define UNMAPPED ((uint64_t)1 << 45)

bool programs_own_memory(struct drill *d)
{
    struct programs *s = programs_of(d);
    const char *what = "memory can be registered";
    struct rdl_mr_info info;

    if (!drill_works(d, rdl_mem_alloc(d->lab, s->host, PROGRAMS_BYTES, &s->addr), what) ||
        !drill_is_done(d, s->host, rdl_alloc_pd(d->lab, s->host, "own", &s->pd), what) ||
        !drill_is_done(d, s->host,
                       rdl_reg_mr(d->lab, s->pd, s->addr, PAGE, ACC_LOCAL_WRITE, "memory", &s->mr),
                       what) ||
        !drill_works(d, rdl_mr_info(d->lab, s->mr, &info), what))
        return false;
    s->lkey = info.lkey;
    return true;
}

bool programs_takes_data(const struct program_thing *t, uint32_t pd, uint32_t bytes)
{
    return t->kind == OBJ_MR && t->parts[0] == pd && t->mr.kind == KEY_USER_MR &&
           (t->mr.access & ACC_LOCAL_WRITE) && t->mr.bytes >= bytes;
}

uint32_t programs_draw_access(struct drill *d)
{
    static const uint32_t bits[] = {ACC_REMOTE_WRITE, ACC_REMOTE_READ, ACC_REMOTE_ATOMIC,
                                    ACC_MW_BIND,      ACC_ZERO_BASED,  ACC_RELAXED_ORDERING};
    uint32_t access = ACC_LOCAL_WRITE;

    for (size_t i = 0; i < ARRAY_LEN(bits); i++)
        access |= drill_one_in(d, 3) ? bits[i] : 0;
    return drill_one_in(d, 4) ? access & (uint32_t)(ACC_REMOTE_READ | ACC_MW_BIND) : access;
}

enum rdl_status programs_draw_range(struct drill *d, struct rdl_mr_info *mr, bool is_wrong)
{
    const struct programs *s = programs_of(d);
    const uint32_t most = s->limits.max_mr_size, offset = drill_below(d, PROGRAMS_BYTES - most);

    mr->addr = s->addr + (drill_one_in(d, 3) ? offset / PAGE * PAGE : offset);
    mr->bytes = drill_one_in(d, 2) ? most : 1 + drill_below(d, most);
    mr->iova = (uint64_t)drill_below(d, 1u << 20) * PAGE + mr->addr % PAGE;
    if (mr->access & ACC_ZERO_BASED)
        mr->iova = 0;
    switch (is_wrong ? drill_below(d, 3) : 3) {
    case 0:
        mr->bytes = 0;
        return RDL_ERR_INVAL;
    case 1:
        mr->bytes = most + 1;
        return RDL_ERR_LIMIT;
    case 2:
        if (drill_one_in(d, 2))
            mr->addr += UNMAPPED;
        else
            mr->addr = s->addr + PROGRAMS_BYTES - mr->bytes + 1;
        if (!(mr->access & ACC_ZERO_BASED))
            mr->iova = mr->iova / PAGE * PAGE + mr->addr % PAGE;
        return RDL_ERR_FAULT;
    default:
        return RDL_OK;
    }
}

static bool range_is_right(const struct rdl_mr_info *mr)
{
    return mr->access & ACC_ZERO_BASED ? mr->iova == 0 : (mr->iova ^ mr->addr) % PAGE == 0;
}

static void rereg(struct drill *d, struct program_thing *t)
{
    struct programs *s = programs_of(d);
    struct rdl_mr_change c = {.what = drill_below(d, 8)};
    const uint32_t pd = programs_pick(d, OBJ_PD);
    struct rdl_mr_info to = t->mr, info, old;
    enum rdl_status want = RDL_OK;

    c.pd.raw = s->things[pd].raw;
    if (c.what & RDL_REREG_ACCESS)
        to.access = c.access = programs_draw_access(d);
    if (c.what & RDL_REREG_TRANSLATION) {
        want = programs_draw_range(d, &to, drill_one_in(d, 5));
        c.range = (struct rdl_mr_range){to.addr, to.bytes, to.iova};
    }
    if (!range_is_right(&to) || c.what == 0 || t->mr.kind != KEY_USER_MR)
        want = RDL_ERR_INVAL;
    if (!s->has_mw)
        want = RDL_ERR_UNSUPPORTED;
    if (!drill_works(d, rdl_mr_info(d->lab, (rdl_mr){t->raw}, &old), "a region has keys") ||
        !programs_ends(d, rdl_rereg_mr(d->lab, (rdl_mr){t->raw}, &c), want, 0,
                       "a region can become another one") ||
        !drill_works(d, rdl_mr_info(d->lab, (rdl_mr){t->raw}, &info), "a region has keys"))
        return;
    if (want == RDL_OK) {
        t->mr = to;
        if (c.what & RDL_REREG_PD)
            t->parts[0] = pd;
    }
    (void)drill_expect(d, (info.lkey == old.lkey) == (want != RDL_OK),
                       "a region that was changed has new keys, and otherwise the old ones",
                       "0x%x, before 0x%x", info.lkey, old.lkey);
}

static void map(struct drill *d, struct program_thing *t)
{
    struct rdl_mr_info to = t->mr;
    enum rdl_status want;
    uint64_t pages;
    struct rdl_mr_range r;

    to.access = 0; /* a range is never zero based */
    want = programs_draw_range(d, &to, drill_one_in(d, 5));
    pages = (to.addr % PAGE + to.bytes + PAGE - 1) / PAGE;
    r = (struct rdl_mr_range){to.addr, to.bytes, to.iova};
    if (want == RDL_OK && pages > t->max_pages)
        want = RDL_ERR_LIMIT;
    if (t->mr.kind != KEY_FAST_MR)
        want = RDL_ERR_INVAL;
    if (!programs_ends(d, rdl_map_mr_sg(d->lab, (rdl_mr){t->raw}, &r), want, 0,
                       "a fast region takes as many pages as it has room for") ||
        want != RDL_OK)
        return;
    to.access = t->mr.access;
    t->mr = to;
}

void programs_change_mr(struct drill *d)
{
    struct programs *s = programs_of(d);
    const uint32_t i = programs_pick(d, OBJ_MR);
    struct program_thing *t = &s->things[i == PROGRAMS_NOTHING ? 0 : i];

    if (i == PROGRAMS_NOTHING || programs_count(s, OBJ_PD) == 0)
        return;
    if (t->mr.kind == KEY_FAST_MR ? !drill_one_in(d, 4) : drill_one_in(d, 8))
        map(d, t);
    else
        rereg(d, t);
}

/* Memory with a region over it cannot be given back. */
void programs_borrow_memory(struct drill *d)
{
    const struct programs *s = programs_of(d);
    uint64_t addr;
    uint8_t byte = 1;
    rdl_mr mr;
    enum rdl_status st;

    if (programs_count(s, OBJ_MR) >= s->max[OBJ_MR] ||
        !drill_works(d, rdl_mem_alloc(d->lab, s->host, 2 * PAGE, &addr), "there is memory") ||
        !programs_ends(d,
                       rdl_reg_mr(d->lab, s->pd, addr + PAGE * drill_below(d, 2),
                                  1 + drill_below(d, PAGE), ACC_LOCAL_WRITE, "borrowed", &mr),
                       RDL_OK, 0, "memory can be registered"))
        return;
    st = rdl_mem_free(d->lab, s->host, addr);
    if (!drill_expect(d, st == RDL_ERR_BUSY, "memory with a region is in use", "%s",
                      rdl_status_name(st)) ||
        !drill_works(d, rdl_mem_write(d->lab, s->host, addr + PAGE, &byte, 1), "and is there") ||
        !programs_ends(d, rdl_dereg_mr(d->lab, mr), RDL_OK, 0, "a region can be given back") ||
        !drill_works(d, rdl_mem_free(d->lab, s->host, addr + drill_below(d, 2 * PAGE)),
                     "memory can be given back"))
        return;
    st = rdl_mem_read(d->lab, s->host, addr + PAGE, &byte, 1);
    (void)drill_expect(d, st == RDL_ERR_FAULT, "memory that was given back is gone", "%s",
                       rdl_status_name(st));
}
