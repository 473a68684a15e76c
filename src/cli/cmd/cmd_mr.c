/* SPDX-License-Identifier: MIT */
/* Verbs for memory regions and windows. */
#include <errno.h>

#include "cli/cmd/commands.h"
#include "cli/cmd/verb.h"
#include "emu/base/assert.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/key_kind.h"
#include "rdmalab/memory.h"
#include "rdmalab/verbs.h"
#include "tree/tree.h"

#define PAGE_BYTES 4096u

/* Frees the memory at @addr that reg_mr allocated, unless a region still covers it. */
static void give_back(struct session *s, const struct home *home, uint64_t addr)
{
    const enum rdl_status status = rdl_mem_free(s->lab, home->host, addr);

    RDL_ASSERT(status == RDL_OK || status == RDL_ERR_BUSY);
}

/* Returns true if the region covers memory of a program, or did so. */
static bool is_over_memory(const struct rdl_mr_info *info)
{
    return info->kind != KEY_DMA_MR && info->bytes > 0;
}

/* Fails: guest RAM has no free piece of that size. */
static bool no_memory(struct session *s, const struct step *st, const struct home *home)
{
    const uint64_t ram = tree_number(s->lab, home->name, LEAF_host_ram_bytes);
    char text[32];
    struct text t = text_on(text, sizeof(text));

    quantity_add(&t, QUANTITY_SIZE, ram);
    session_fail(s, step_span(st, "len", 0), "%s has not so much memory left of its %s", home->name,
                 text);
    return diag_remedy(&s->diag, "dereg_mr gives some back; or make the host with more ram=");
}

/* Returns true if the access flags of a region are wrong.  Then s->diag says why. */
static bool access_failed(struct session *s, const struct step *st, uint32_t access)
{
    if (!(access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC)) || access & ACC_LOCAL_WRITE)
        return false;
    session_fail(s, step_span(st, "access", 0), "remote write and atomic access need local write");
    diag_remedy(&s->diag, "add lw to access=");
    diag_reason(&s->diag, RDL_ERR_INVAL);
    return true;
}

/* Returns true if iova= is wrong for memory at @addr.  Then s->diag says why. */
static bool iova_failed(struct session *s, const struct step *st, uint64_t addr, uint64_t iova,
                        bool zero_based)
{
    if (!step_has(st, "iova") || (!zero_based && (addr ^ iova) % PAGE_BYTES == 0))
        return false;
    if (zero_based) {
        if (iova == 0)
            return false;
        session_fail(s, step_span(st, "iova", 0), "a zero-based region begins at address 0");
        diag_remedy(&s->diag, "leave out iova=, or zb of access=");
        diag_reason(&s->diag, RDL_ERR_INVAL);
        return true;
    }
    session_fail(s, step_span(st, "iova", 0),
                 "the memory begins at byte %llu of its page, iova= at byte %llu",
                 (unsigned long long)(addr % PAGE_BYTES), (unsigned long long)(iova % PAGE_BYTES));
    diag_remedy(&s->diag, "pages are mapped as a whole: the two must be the same");
    return true;
}

/* The device has no windows, or what else is asked for of its own extensions. */
static bool not_offered(struct session *s, const struct step *st, const struct home *home)
{
    session_fail(s, st->at, "the device of %s does not offer %s", home->name, st->cmd->name);
    return verb_absent(s, home, st->cmd == &cmd_table[CMD_rereg_mr] ? PV_NO_REREG : PV_NO_WINDOWS,
                       "make the host without features_off=MW");
}

/* Waits, unless the verb says that the device has nothing of the kind. */
static bool finish_offered(struct session *s, const struct step *st, const struct home *home,
                           enum rdl_status status)
{
    return status == RDL_ERR_UNSUPPORTED ? not_offered(s, st, home)
                                         : verb_finish(s, st, home, status);
}

/* Registers [@addr, @addr + len) in @pd, in @ret when the device has said yes. */
static bool register_memory(struct session *s, const struct step *st, const struct home *home,
                            rdl_pd pd, uint64_t addr, rdl_mr *ret)
{
    const uint32_t access = step_has(st, "access") ? step_set(st, "access") : ACC_LOCAL_WRITE;
    const bool zero_based = access & ACC_ZERO_BASED;
    const struct rdl_mr_range range = {
        .addr = addr,
        .bytes = step_number(st, "len"),
        .iova = step_number_or(st, "iova", zero_based ? 0 : addr),
    };
    const enum rdl_status status = rdl_reg_mr_iova(s->lab, pd, &range, access, st->as.text, ret);

    if (status == RDL_ERR_INVAL &&
        (access_failed(s, st, access) || iova_failed(s, st, addr, range.iova, zero_based)))
        return false;
    if (status == RDL_ERR_UNSUPPORTED) {
        session_fail(s, st->at, "the device of %s does not offer such a region", home->name);
        return verb_absent(s, home, PV_NO_OTHER_PLACE, "iova= and the memory are at one place");
    }
    return verb_finish(s, st, home, status);
}

bool run_reg_mr(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "pd"), host);
    const bool is_fresh = !step_has(st, "addr");
    struct memory m = {0};
    struct rdl_mr_info info;
    char name[RDL_VALUE_BYTES];
    enum rdl_status status = RDL_OK;
    struct home home;
    rdl_pd pd;
    rdl_mr mr;

    if (!verb_object(s, st, "pd", OBJ_PD, &pd.raw, &home) ||
        (!is_fresh && !resolve_memory(&rest, st, "addr", 0, &m, &s->diag)))
        return false;
    if (is_fresh)
        status = rdl_mem_alloc(s->lab, home.host, step_number(st, "len"), &m.addr);
    if (status != RDL_OK)
        return no_memory(s, st, &home);
    if (!register_memory(s, st, &home, pd, m.addr, &mr)) {
        if (is_fresh)
            give_back(s, &home, m.addr);
        return false;
    }
    verb_own_name(s, OBJ_MR, mr.raw, name);
    if (rdl_mr_info(s->lab, mr, &info) == RDL_OK)
        session_made(s, home.name, "%s (%llu bytes, lkey 0x%x)", name,
                     (unsigned long long)info.bytes, info.lkey);
    return true;
}

/* The device holds on to a region to which windows are bound. */
static bool name_windows(struct session *s, const struct step *st, const struct home *home)
{
    const struct scope in = session_scope(s);
    char path[SESSION_PATH_BYTES];
    struct rdl_response rsp;
    uint64_t n;

    if (rdl_answer(s->lab, home->host, &rsp) != RDL_ERR_DEVICE || rsp.error != EBUSY)
        return false;
    resolve_path(&in, step_text(st, "mr"), path);
    n = tree_number(s->lab, path, LEAF_mr_windows);
    session_fail(s, step_span(st, "mr", 0), "%llu memory window%s bound to %s",
                 (unsigned long long)n, n == 1 ? " is" : "s are", path);
    return diag_remedy(&s->diag, "dealloc_mw them, or make them invalid first");
}

bool run_dereg_mr(struct session *s, const struct step *st)
{
    struct rdl_mr_info info;
    enum rdl_status status;
    struct home home;
    rdl_mr mr = {0};

    if (!verb_object(s, st, "mr", OBJ_MR, &mr.raw, &home))
        return false;
    status = rdl_mr_info(s->lab, mr, &info);
    if (status == RDL_OK)
        status = rdl_dereg_mr(s->lab, mr);
    if (!verb_destroyed(s, st, "mr", OBJ_MR, mr.raw, status))
        return name_windows(s, st, &home);
    if (is_over_memory(&info))
        give_back(s, &home, info.addr);
    return true;
}

/* The range that `addr`, len= and iova= of @st ask for: what is not given is as in @was. */
static bool read_range(struct session *s, const struct step *st, const struct scope *rest,
                       const struct rdl_mr_info *was, bool zero_based, struct rdl_mr_range *ret)
{
    const bool keeps_iova = !step_has(st, "addr") && !(was->access & ACC_ZERO_BASED);
    struct memory m = {.addr = was->addr, .bytes = was->bytes, .has_bytes = true};

    if (step_has(st, "addr") && !resolve_memory(rest, st, "addr", 0, &m, &s->diag))
        return false;
    ret->addr = m.addr;
    ret->bytes = step_number_or(st, "len", m.has_bytes ? m.bytes : was->bytes);
    ret->iova = step_number_or(st, "iova", zero_based ? 0 : keeps_iova ? was->iova : m.addr);
    return true;
}

/* Fails because the verbs refused a rereg_mr: says why. */
static bool explain_rereg(struct session *s, const struct step *st, const struct home *home,
                          const struct rdl_mr_info *was, const struct rdl_mr_change *c,
                          enum rdl_status status)
{
    const bool zero_based = (c->what & RDL_REREG_ACCESS ? c->access : was->access) & ACC_ZERO_BASED;

    if (status != RDL_ERR_INVAL)
        return finish_offered(s, st, home, status) || name_windows(s, st, home);
    if (c->what == 0) {
        session_fail(s, st->at, "nothing is to be changed");
        return diag_remedy(&s->diag, "give access=, pd=, or addr=, len=, iova=");
    }
    if (was->kind != KEY_USER_MR) {
        session_fail(s, step_span(st, "mr", 0), "only what reg_mr made can be changed");
        return diag_remedy(&s->diag, "dereg_mr it, and make another");
    }
    if (access_failed(s, st, c->access) ||
        iova_failed(s, st, c->range.addr, c->range.iova, zero_based))
        return false;
    if (c->what & RDL_REREG_PD) {
        session_fail(s, step_span(st, "pd", 0), "the protection domain is on another host");
        return diag_remedy(&s->diag, "a region and its domain share a device");
    }
    return session_fail_status(s, st->at, st->cmd->name, status);
}

/* Returns true if memory or address of the region are to be changed.  A region that becomes zero
 * based, or no longer is, begins at another address.
 */
static bool moves(const struct step *st, uint32_t changed_access)
{
    return step_has(st, "addr") || step_has(st, "len") || step_has(st, "iova") ||
           (changed_access & ACC_ZERO_BASED);
}

bool run_rereg_mr(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES], name[RDL_VALUE_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "mr"), host);
    struct rdl_mr_change c = {.what = 0};
    struct rdl_mr_info was, now;
    enum rdl_status status;
    struct home home;
    rdl_mr mr = {0};

    if (!verb_object(s, st, "mr", OBJ_MR, &mr.raw, &home) ||
        (step_has(st, "pd") && !resolve_object(&rest, st, "pd", OBJ_PD, &c.pd.raw, &s->diag)))
        return false;
    status = rdl_mr_info(s->lab, mr, &was);
    if (status != RDL_OK)
        return session_fail_status(s, st->at, st->cmd->name, status);
    c.access = step_has(st, "access") ? step_set(st, "access") : was.access;
    if (!read_range(s, st, &rest, &was, c.access & ACC_ZERO_BASED, &c.range))
        return false;
    c.what = (step_has(st, "access") ? RDL_REREG_ACCESS : 0) |
             (step_has(st, "pd") ? RDL_REREG_PD : 0) |
             (moves(st, was.access ^ c.access) ? RDL_REREG_TRANSLATION : 0);
    if (!explain_rereg(s, st, &home, &was, &c, rdl_rereg_mr(s->lab, mr, &c)))
        return false;
    if (c.what & RDL_REREG_TRANSLATION)
        give_back(s, &home, was.addr);
    verb_own_name(s, OBJ_MR, mr.raw, name);
    if (rdl_mr_info(s->lab, mr, &now) == RDL_OK)
        session_made(s, home.name, "%s (%llu bytes, lkey 0x%x, it was 0x%x)", name,
                     (unsigned long long)now.bytes, now.lkey, was.lkey);
    return true;
}

bool run_alloc_mr(struct session *s, const struct step *st)
{
    const uint32_t access = step_has(st, "access") ? step_set(st, "access") : ACC_LOCAL_WRITE;
    const uint32_t max_pages = (uint32_t)step_number(st, "max_pages");
    char name[RDL_VALUE_BYTES];
    struct rdl_mr_info info;
    enum rdl_status status;
    struct home home;
    rdl_pd pd;
    rdl_mr mr;

    if (!verb_object(s, st, "pd", OBJ_PD, &pd.raw, &home))
        return false;
    status = rdl_create_mr(s->lab, pd, access, max_pages, st->as.text, &mr);
    if (status == RDL_ERR_INVAL && access_failed(s, st, access))
        return false;
    if (!finish_offered(s, st, &home, status))
        return false;
    verb_own_name(s, OBJ_MR, mr.raw, name);
    if (rdl_mr_info(s->lab, mr, &info) == RDL_OK)
        session_made(s, home.name, "%s (up to %u pages, lkey 0x%x, not valid yet)", name, max_pages,
                     info.lkey);
    return true;
}

/* Fails because the verbs refused a mapping: says why. */
static bool explain_map(struct session *s, const struct step *st, const struct home *home,
                        const struct rdl_mr_range *r, enum rdl_status status)
{
    const struct scope in = session_scope(s);
    char path[SESSION_PATH_BYTES];

    resolve_path(&in, step_text(st, "mr"), path);
    if (status == RDL_ERR_LIMIT) {
        session_fail(s, step_span(st, "sg", 0), "more pages than %s was made for", path);
        return diag_remedy(&s->diag, "alloc_mr takes max_pages=");
    }
    if (status != RDL_ERR_INVAL)
        return verb_finish(s, st, home, status);
    if (iova_failed(s, st, r->addr, r->iova, false))
        return false;
    if (r->bytes == 0)
        return session_fail(s, step_span(st, "sg", 0), "no bytes are to be mapped");
    session_fail(s, step_span(st, "mr", 0), "%s is no region for fast registration", path);
    return diag_remedy(&s->diag, "alloc_mr makes one");
}

bool run_map_mr_sg(struct session *s, const struct step *st)
{
    char host[RDL_NAME_BYTES];
    const struct scope in = session_scope(s), rest = resolve_rest(&in, step_text(st, "mr"), host);
    struct rdl_mr_range range;
    struct rdl_mr_info was;
    struct memory m;
    struct home home;
    rdl_mr mr = {0};

    if (!verb_object(s, st, "mr", OBJ_MR, &mr.raw, &home) ||
        !resolve_memory(&rest, st, "sg", 0, &m, &s->diag))
        return false;
    if (rdl_mr_info(s->lab, mr, &was) != RDL_OK)
        return session_fail_status(s, st->at, st->cmd->name, RDL_ERR_STALE);
    if (m.host.raw != home.host.raw) {
        session_fail(s, step_span(st, "sg", 0), "the memory is on another host");
        return diag_remedy(&s->diag, "a region and its memory share a device");
    }
    range = (struct rdl_mr_range){m.addr, m.bytes, step_number_or(st, "iova", m.addr)};
    if (!explain_map(s, st, &home, &range, rdl_map_mr_sg(s->lab, mr, &range)))
        return false;
    if (is_over_memory(&was))
        give_back(s, &home, was.addr);
    return true;
}

bool run_get_dma_mr(struct session *s, const struct step *st)
{
    const uint32_t access = step_has(st, "access") ? step_set(st, "access") : ACC_LOCAL_WRITE;
    char name[RDL_VALUE_BYTES];
    struct rdl_mr_info info;
    enum rdl_status status;
    struct home home;
    rdl_pd pd;
    rdl_mr mr;

    if (!verb_object(s, st, "pd", OBJ_PD, &pd.raw, &home))
        return false;
    status = rdl_get_dma_mr(s->lab, pd, access, st->as.text, &mr);
    if (status == RDL_ERR_INVAL && access_failed(s, st, access))
        return false;
    if (!verb_finish(s, st, &home, status))
        return false;
    verb_own_name(s, OBJ_MR, mr.raw, name);
    if (rdl_mr_info(s->lab, mr, &info) == RDL_OK)
        session_made(s, home.name, "%s (all of RAM by guest-physical addresses, lkey 0x%x)", name,
                     info.lkey);
    return true;
}

bool run_alloc_mw(struct session *s, const struct step *st)
{
    const uint32_t type = (uint32_t)step_number(st, "type");
    char name[RDL_VALUE_BYTES];
    struct rdl_mw_info info;
    enum rdl_status status;
    struct home home;
    bool asked = false;
    rdl_pd pd;
    rdl_mw mw;

    if (!verb_object(s, st, "pd", OBJ_PD, &pd.raw, &home) || !verb_may_begin(s, st, &home))
        return false;
    status = rdl_alloc_mw(s->lab, pd, type, st->as.text, &mw);
    if (status == RDL_ERR_UNSUPPORTED)
        return not_offered(s, st, &home);
    if (!verb_created(s, st, &home, status, &asked))
        return false;
    if (asked)
        return true;
    verb_own_name(s, OBJ_MW, mw.raw, name);
    if (rdl_mw_info(s->lab, mw, &info) == RDL_OK)
        session_made(s, home.name, "%s (type %u, rkey 0x%x, not bound)", name, type, info.rkey);
    return true;
}

bool run_dealloc_mw(struct session *s, const struct step *st)
{
    struct home home;
    rdl_mw mw = {0};

    return verb_object(s, st, "mw", OBJ_MW, &mw.raw, &home) &&
           verb_destroyed(s, st, "mw", OBJ_MW, mw.raw, rdl_dealloc_mw(s->lab, mw));
}
