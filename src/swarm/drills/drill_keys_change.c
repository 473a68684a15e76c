/* SPDX-License-Identifier: MIT */
/* The drill of keys: operations that create, change and invalidate keys. */
#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/wc_flag.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "swarm/drills/drill_keys.h"

#define RECV_BYTES 64u
#define READ_BYTES 3000u

static const char *const domains[] = {"pd", "other"};

static const char registers[] = "REG_MR makes a fast region that is free valid, as far as its "
                                "domain and its access let it";
static const char binds[] = "a window is bound to a part of a region that allows it";
static const char ends[] = "only fast regions and windows of type 2 are made invalid, by who may "
                           "use them, and not under windows";

/* Returns the status of a REG_MR or LOCAL_INV that h2 refuses. */
static uint32_t refused_status(const struct drill *d)
{
    const struct keys *k = d->own;

    return keys_unsent(k, rig_is_rxe(k->profile) ? WCS_LOC_QP_OP_ERR : WCS_MW_BIND_ERR);
}

/* --- Drawing ---------------------------------------------------------------------------------- */

static uint32_t draw_access(struct drill *d)
{
    uint32_t access = drill_below(d, 64);

    /* A region that windows can be bound to, and that nobody can write. */
    if (drill_one_in(d, 12))
        return ACC_MW_BIND | ACC_REMOTE_READ;
    if (!drill_one_in(d, 3))
        access |= ACC_LOCAL_WRITE;
    if (!drill_one_in(d, 4))
        access &= ~(uint32_t)ACC_ZERO_BASED;
    /* A script line cannot express an empty set. */
    return access ? access : (uint32_t)ACC_LOCAL_WRITE;
}

/* Returns true if @access is consistent: remote write and remote atomic need local write. */
static bool is_sound(uint32_t access)
{
    return !(access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC)) || (access & ACC_LOCAL_WRITE);
}

/* Draws a range of at most @most bytes in the room. */
static void draw_part(struct drill *d, uint32_t most, uint32_t *ret_at, uint32_t *ret_bytes)
{
    *ret_at = drill_below(d, ROOM_BYTES - most);
    if (drill_one_in(d, 3))
        *ret_at &= ~(KEY_PAGE - 1);
    *ret_bytes = 1 + drill_below(d, most);
}

/* Returns the script's words for @access.  Counts the empty set, which a script line cannot
 * express.
 */
static const char *words(struct drill *d, uint32_t access, char out[40])
{
    char plain[32];

    d->n_unsaid += access == 0;
    if (access == ACC_ZERO_BASED)
        snprintf(out, 40, "zb");
    else
        snprintf(out, 40, "%s%s", rig_access_text(access & ~(uint32_t)ACC_ZERO_BASED, plain),
                 access & ACC_ZERO_BASED ? ",zb" : "");
    return out;
}

static void name(struct keys *k, struct kept *of, char letter)
{
    snprintf(of->called, sizeof(of->called), "%c%u", letter, k->n_named++);
}

/* --- Regions ---------------------------------------------------------------------------------- */

/* Reads the key that the driver got for a region. */
static bool learn(struct drill *d, struct kept *of)
{
    struct rdl_mr_info info;

    if (!drill_works(d, rdl_mr_info(d->lab, of->mr, &info), "a region has a key"))
        return false;
    /* Lkey and rkey are the same number, if it has an rkey at all. */
    of->rkey = of->known = info.lkey;
    return true;
}

static void register_plain(struct drill *d, struct kept *of)
{
    struct keys *k = d->own;
    const uint32_t access = draw_access(d);
    enum rdl_status st;
    char text[40];

    of->domain = drill_below(d, 2);
    draw_part(d, 2 * KEY_PAGE, &of->at, &of->bytes);
    drill_say(d, "%sreg_mr h2.%s len=%u addr=h2.mine[%u] access=%s as %s%s",
              is_sound(access) ? "" : "refused reason=ERR_INVAL { ", domains[of->domain], of->bytes,
              of->at, words(d, access, text), of->called, is_sound(access) ? "" : " }");
    st = rdl_reg_mr(d->lab, k->pd[1][of->domain], k->base[1] + of->at, of->bytes, access,
                    of->called, &of->mr);
    if (!drill_expect(d, (st == RDL_OK) == is_sound(access),
                      "who lets peers write must let the device write", "%s with %s",
                      rdl_status_name(st), words(d, access, text)) ||
        st != RDL_OK || !drill_is_done(d, k->host[1], st, "memory can be registered") ||
        !learn(d, of))
        return;
    of->kind = KEPT_PLAIN;
    of->is_valid = true;
    of->access = access;
    of->name = access & ACC_ZERO_BASED ? 0 : k->base[1] + of->at;
}

static void register_fast(struct drill *d, struct kept *of)
{
    struct keys *k = d->own;
    const uint32_t access = draw_access(d) & ~(uint32_t)ACC_ZERO_BASED;
    char text[40];

    if (!is_sound(access))
        return;
    of->domain = drill_below(d, 2);
    drill_say(d, "alloc_mr h2.%s max_pages=%u access=%s as %s", domains[of->domain], FAST_PAGES,
              words(d, access, text), of->called);
    if (!drill_is_done(
            d, k->host[1],
            rdl_create_mr(d->lab, k->pd[1][of->domain], access, FAST_PAGES, of->called, &of->mr),
            "a fast region can be created") ||
        !learn(d, of))
        return;
    of->kind = KEPT_FAST;
    of->allocated = access;
}

static void allocate_window(struct drill *d, struct kept *of)
{
    struct keys *k = d->own;
    struct rdl_mw_info info;

    of->domain = drill_one_in(d, 4);
    of->type = 1 + drill_below(d, 2);
    drill_say(d, "alloc_mw h2.%s type=%u as %s", domains[of->domain], of->type, of->called);
    if (!drill_is_done(d, k->host[1],
                       rdl_alloc_mw(d->lab, k->pd[1][of->domain], of->type, of->called, &of->mw),
                       "a window can be had") ||
        !drill_works(d, rdl_mw_info(d->lab, of->mw, &info), "a window has a key"))
        return;
    of->kind = KEPT_WINDOW;
    of->rkey = info.rkey;
}

void keys_register(struct drill *d)
{
    struct keys *k = d->own;
    const unsigned slot = drill_below(d, KEEPS);
    struct kept *of = &k->kept[slot];

    if (of->kind != KEPT_NOTHING)
        return;
    *of = (struct kept){.pair = NO_PAIR};
    name(k, of, slot < REGIONS ? 'r' : 'w');
    if (slot >= REGIONS)
        allocate_window(d, of);
    else if (drill_one_in(d, 3))
        register_fast(d, of);
    else
        register_plain(d, of);
}

/* Returns true if the call and the device both accepted the request. */
static bool is_taken(struct drill *d, enum rdl_status st)
{
    struct keys *k = d->own;

    return st == RDL_OK && drill_answer(d, k->host[1]) == RDL_OK;
}

void keys_deregister(struct drill *d)
{
    struct keys *k = d->own;
    struct kept *of = keys_pick(d, 0, KEEPS);
    bool taken;

    if (!of)
        return;
    if (of->kind == KEPT_WINDOW) {
        drill_say(d, "dealloc_mw h2.%s", of->called);
        drill_is_done(d, k->host[1], rdl_dealloc_mw(d->lab, of->mw), "a window can be given back");
        keys_unbind(k, of);
        of->kind = KEPT_NOTHING;
        return;
    }
    drill_say(d,
              of->n_windows > 0 ? "refused reason=ERR_BUSY { dereg_mr h2.%s }" : "dereg_mr h2.%s",
              of->called);
    taken = is_taken(d, rdl_dereg_mr(d->lab, of->mr));
    drill_expect(d, taken == (of->n_windows == 0), "a region stays as long as windows show it",
                 "it %s, with %u windows", taken ? "went" : "stayed", of->n_windows);
    if (taken)
        of->kind = KEPT_NOTHING;
}

/* Draws a change of @of, and returns the state that @of has after it. */
static struct kept draw_change(struct drill *d, const struct kept *of, struct rdl_mr_change *c)
{
    struct keys *k = d->own;
    struct kept to = *of;
    uint32_t at, bytes;

    c->what = 1 + drill_below(d, 7);
    draw_part(d, 2 * KEY_PAGE, &at, &bytes);
    if (c->what & RDL_REREG_ACCESS)
        to.access = c->access =
            (draw_access(d) & ~(uint32_t)ACC_ZERO_BASED) | (of->access & ACC_ZERO_BASED);
    if (c->what & RDL_REREG_PD)
        to.domain = drill_below(d, 2);
    c->pd = k->pd[1][to.domain];
    if (c->what & RDL_REREG_TRANSLATION) {
        to.at = at;
        to.bytes = bytes;
        to.name = to.access & ACC_ZERO_BASED ? 0 : k->base[1] + at;
        c->range = (struct rdl_mr_range){k->base[1] + at, bytes, to.name};
    }
    return to;
}

static void say_change(struct drill *d, const struct kept *of, const struct kept *to,
                       const struct rdl_mr_change *c, bool is_allowed)
{
    char part[96] = "", pd[32] = "", access[64] = "", text[40];

    if (c->what & RDL_REREG_TRANSLATION)
        snprintf(part, sizeof(part), " addr=h2.mine[%u] len=%u iova=0x%" PRIx64, to->at, to->bytes,
                 to->name);
    if (c->what & RDL_REREG_PD)
        snprintf(pd, sizeof(pd), " pd=h2.%s", domains[to->domain]);
    if (c->what & RDL_REREG_ACCESS)
        snprintf(access, sizeof(access), " access=%s", words(d, to->access, text));
    drill_say(d, "%srereg_mr h2.%s%s%s%s%s", is_allowed ? "" : "refused reason=ERR_INVAL { ",
              of->called, part, pd, access, is_allowed ? "" : " }");
}

void keys_reregister(struct drill *d)
{
    struct kept *of = keys_pick(d, 0, REGIONS);
    struct rdl_mr_change c = {0};
    struct kept to;
    bool is_allowed, taken;

    if (!of || of->kind != KEPT_PLAIN)
        return;
    to = draw_change(d, of, &c);
    is_allowed = of->n_windows == 0 && is_sound(to.access);
    say_change(d, of, &to, &c, is_allowed);
    taken = is_taken(d, rdl_rereg_mr(d->lab, of->mr, &c));
    if (!drill_expect(
            d, taken == is_allowed, "a region is changed as a whole, unless windows show it",
            "it %s, with %u windows", taken ? "was changed" : "was not changed", of->n_windows) ||
        !taken || !learn(d, &to))
        return;
    drill_expect(d, to.rkey != of->rkey && (to.rkey ^ of->rkey) <= KEY_LOW,
                 "a region that was changed has another key, of the same number",
                 "0x%x behind 0x%x", to.rkey, of->rkey);
    *of = to;
}

void keys_move(struct drill *d)
{
    struct keys *k = d->own;
    const struct rdl_mr_change c = {.what = RDL_REREG_PD, .pd = k->pd[1][0]};
    rdl_pd from;
    rdl_mr mr;

    drill_say(d, "alloc_pd h2 as from\nreg_mr h2.from addr=h2.mine[0] len=%u access=lw as moved",
              KEY_PAGE);
    if (!drill_is_done(d, k->host[1], rdl_alloc_pd(d->lab, k->host[1], "from", &from),
                       "a protection domain can be had") ||
        !drill_is_done(
            d, k->host[1],
            rdl_reg_mr(d->lab, from, k->base[1], KEY_PAGE, ACC_LOCAL_WRITE, "moved", &mr),
            "memory can be registered"))
        return;
    drill_say(d, "rereg_mr h2.moved pd=h2.%s\ndealloc_pd h2.from\ndereg_mr h2.moved", domains[0]);
    if (drill_is_done(d, k->host[1], rdl_rereg_mr(d->lab, mr, &c), "a region can be moved") &&
        drill_is_done(d, k->host[1], rdl_dealloc_pd(d->lab, from),
                      "a protection domain can be given back that a region was moved from"))
        (void)drill_is_done(d, k->host[1], rdl_dereg_mr(d->lab, mr), "a region can be given back");
}

/* --- Fast regions ----------------------------------------------------------------------------- */

void keys_map(struct drill *d)
{
    struct keys *k = d->own;
    struct kept *of = keys_pick(d, 0, REGIONS);
    struct rdl_mr_range range;
    uint32_t at, bytes;

    if (!of || of->kind != KEPT_FAST)
        return;
    draw_part(d, (FAST_PAGES - 1) * KEY_PAGE, &at, &bytes);
    range = (struct rdl_mr_range){k->base[1] + at, bytes, k->base[1] + at};
    drill_say(d, "map_mr_sg h2.%s sg=h2.mine[%u:%u]", of->called, at, at + bytes);
    if (!drill_is_done(d, k->host[1], rdl_map_mr_sg(d->lab, of->mr, &range), "pages can be mapped"))
        return;
    of->next_at = at;
    of->next_bytes = bytes;
}

void keys_reg_mr(struct drill *d)
{
    struct keys *k = d->own;
    struct kept *of = keys_pick(d, 0, REGIONS);
    const unsigned pair = drill_below(d, PAIRS);
    uint32_t access = draw_access(d);
    struct rdl_send_wr wr = {.opcode = WR_REG_MR};
    bool is_allowed;
    char text[40];

    if (!of || of->kind != KEPT_FAST)
        return;
    if (!drill_one_in(d, 3))
        access &= of->allocated | ACC_ZERO_BASED;
    wr.reg.mr = of->mr;
    wr.reg.access = access;
    wr.reg.key = (of->rkey & ~KEY_LOW) | drill_below(d, KEY_LOW + 1);
    is_allowed = of->domain == keys_domain(pair) && !of->is_valid && of->next_bytes > 0 &&
                 is_sound(access) && !(access & ~(of->allocated | ACC_ZERO_BASED));
    drill_say(d, "post_send h2.q%u op=reg_mr mr=%s key=0x%x access=%s signaled", pair, of->called,
              wr.reg.key, words(d, access, text));
    of->known = wr.reg.key;
    if (!keys_post(d, 1, pair, &wr, is_allowed ? WCS_SUCCESS : refused_status(d), registers) ||
        !is_allowed)
        return;
    of->is_valid = true;
    of->rkey = wr.reg.key;
    of->access = access;
    of->at = of->next_at;
    of->bytes = of->next_bytes;
    of->name = access & ACC_ZERO_BASED ? 0 : k->base[1] + of->at;
}

/* --- Windows ---------------------------------------------------------------------------------- */

/* Draws a range for a window: within @mr, or sometimes beyond its end or empty. */
static void draw_window(struct drill *d, const struct kept *mr, struct rdl_send_wr *wr)
{
    const uint32_t room = mr->bytes > 0 ? mr->bytes : 1, first = drill_below(d, room);

    wr->bind_mw.addr = mr->name + first;
    wr->bind_mw.length = 1 + drill_below(d, room - first);
    if (drill_one_in(d, 8))
        wr->bind_mw.length = room - first + 1 + drill_below(d, 2);
    else if (drill_one_in(d, 20))
        wr->bind_mw.length = 0;
    wr->bind_mw.access = drill_below(d, 16) & REMOTE_ALL;
    if (!(mr->access & ACC_LOCAL_WRITE) && drill_one_in(d, 2))
        wr->bind_mw.access = drill_one_in(d, 2) ? ACC_REMOTE_ATOMIC : ACC_REMOTE_READ;
    if (wr->bind_mw.access == 0)
        wr->bind_mw.access = ACC_REMOTE_READ;
    if (drill_one_in(d, 4))
        wr->bind_mw.access |= ACC_ZERO_BASED;
}

/* Returns true if a queue pair of @pair may bind @w to @mr as @wr asks. */
static bool may_bind(const struct kept *w, const struct kept *mr, unsigned pair,
                     const struct rdl_send_wr *wr)
{
    const bool is_type_1 = w->type == 1,
               writes = wr->bind_mw.access & (ACC_REMOTE_WRITE | ACC_REMOTE_ATOMIC);

    if (is_type_1 != wr->bind_mw.type_1 || w->domain != keys_domain(pair))
        return false;
    if (is_type_1 ? (wr->bind_mw.access & ACC_ZERO_BASED) != 0
                  : w->is_valid || wr->bind_mw.length == 0)
        return false;
    if (wr->bind_mw.length == 0)
        return true;
    return mr->is_valid && mr->known == mr->rkey && mr->domain == w->domain &&
           !(is_type_1 && mr->access & ACC_ZERO_BASED) && mr->access & ACC_MW_BIND &&
           !(writes && !(mr->access & ACC_LOCAL_WRITE)) && wr->bind_mw.addr >= mr->name &&
           wr->bind_mw.addr + wr->bind_mw.length <= mr->name + mr->bytes;
}

/* Applies the bind @wr to the model of @w. */
static void bound(struct keys *k, struct kept *w, struct kept *mr, unsigned pair,
                  const struct rdl_send_wr *wr)
{
    const uint32_t low = w->type == 1 ? w->rkey + 1 : wr->bind_mw.rkey;

    keys_unbind(k, w);
    w->rkey = (w->rkey & ~KEY_LOW) | (low & KEY_LOW);
    if (wr->bind_mw.length == 0)
        return;
    mr->n_windows++;
    w->slot = (unsigned)(mr - k->kept);
    w->is_valid = true;
    w->pair = w->type == 1 ? NO_PAIR : pair;
    w->access = wr->bind_mw.access;
    w->name = wr->bind_mw.access & ACC_ZERO_BASED ? 0 : wr->bind_mw.addr;
    w->at = mr->at + (uint32_t)(wr->bind_mw.addr - mr->name);
    w->bytes = (uint32_t)wr->bind_mw.length;
}

/* Returns true if a window @w, a region @mr and a queue pair of @pair fit together. */
static bool go_together(const struct kept *w, const struct kept *mr, unsigned pair)
{
    return w && mr && mr->is_valid && mr->access & ACC_MW_BIND && mr->domain == w->domain &&
           w->domain == keys_domain(pair) && !(w->type == 2 && w->is_valid);
}

void keys_bind(struct drill *d)
{
    struct keys *k = d->own;
    struct kept *w = keys_pick(d, REGIONS, KEEPS), *mr = keys_pick(d, 0, REGIONS);
    unsigned pair = drill_below(d, PAIRS);
    struct rdl_send_wr wr = {.opcode = WR_BIND_MW};
    bool is_allowed;
    char text[40];

    for (unsigned more = drill_below(d, 5); more > 0 && !go_together(w, mr, pair); more--) {
        w = keys_pick(d, REGIONS, KEEPS);
        mr = keys_pick(d, 0, REGIONS);
        pair = drill_below(d, PAIRS);
    }
    if (!w || !mr)
        return;
    draw_window(d, mr, &wr);
    wr.bind_mw.mw = w->mw;
    wr.bind_mw.mr = mr->mr;
    wr.bind_mw.rkey = (w->rkey & ~KEY_LOW) | drill_below(d, KEY_LOW + 1);
    wr.bind_mw.type_1 = w->type == 1 && !drill_one_in(d, 10);
    is_allowed = may_bind(w, mr, pair, &wr);
    if (wr.bind_mw.addr + wr.bind_mw.length > mr->name + mr->bytes || !mr->is_valid)
        d->n_unsaid++;
    drill_say(d, "%s h2.q%u %s%s mr=%s[%" PRIu64 ":%" PRIu64 "]%s access=%s signaled",
              wr.bind_mw.type_1 ? "bind_mw" : "post_send", pair,
              wr.bind_mw.type_1 ? "" : "op=bind_mw mw=", w->called, mr->called,
              wr.bind_mw.addr - mr->name, wr.bind_mw.addr - mr->name + wr.bind_mw.length, "",
              words(d, wr.bind_mw.access, text));
    if (!keys_post(d, 1, pair, &wr, is_allowed ? WCS_SUCCESS : keys_unsent(d->own, WCS_MW_BIND_ERR),
                   binds))
        return;
    if (is_allowed) {
        bound(k, w, mr, pair, &wr);
        return;
    }
    /* The program believes that the window has the new key.  Free the window, so that both agree
     * again.
     */
    drill_say(d, "dealloc_mw h2.%s", w->called);
    drill_is_done(d, k->host[1], rdl_dealloc_mw(d->lab, w->mw), "a window can be given back");
    keys_unbind(k, w);
    w->kind = KEPT_NOTHING;
}

/* --- Invalidation ----------------------------------------------------------------------------- */

/* Returns true if a queue pair of @pair may invalidate @key. */
static bool may_end(struct keys *k, uint32_t key, unsigned pair)
{
    const struct kept *of = keys_find(k, key);

    if (!of || of->rkey != key || of->domain != keys_domain(pair))
        return false;
    if (of->kind == KEPT_WINDOW)
        return of->type == 2 && (!of->is_valid || of->pair == pair);
    return of->kind == KEPT_FAST && of->n_windows == 0;
}

static void ended(struct keys *k, uint32_t key)
{
    struct kept *of = keys_find(k, key);

    if (of->kind == KEPT_WINDOW)
        keys_unbind(k, of);
    of->is_valid = false;
}

static uint32_t draw_victim(struct drill *d, const struct kept *of)
{
    return drill_one_in(d, 10) ? of->rkey ^ (1 + drill_below(d, KEY_LOW)) : of->rkey;
}

void keys_invalidate(struct drill *d)
{
    struct keys *k = d->own;
    const struct kept *of = keys_pick(d, 0, KEEPS);
    const unsigned pair = drill_below(d, PAIRS);
    struct rdl_send_wr wr = {.opcode = WR_LOCAL_INV};
    bool is_allowed;

    if (!of)
        return;
    wr.invalidate_rkey = draw_victim(d, of);
    is_allowed = may_end(k, wr.invalidate_rkey, pair);
    drill_say(d, "post_send h2.q%u op=local_inv inv=0x%x signaled", pair, wr.invalidate_rkey);
    if (keys_post(d, 1, pair, &wr, is_allowed ? WCS_SUCCESS : refused_status(d), ends) &&
        is_allowed)
        ended(k, wr.invalidate_rkey);
}

/* Checks the completion of the receive that a SEND_WITH_INV consumed. */
static bool has_received(struct drill *d, uint32_t key, bool is_allowed)
{
    struct keys *k = d->own;
    struct rdl_wc wc;

    drill_say(d, "poll_cq h2.cq max=8");
    if (!drill_expect(d, rig_poll(d, k->cq[1], &wc), "a receive completes", "it does not"))
        return false;
    if (!is_allowed)
        return drill_expect(d, wc.status != WCS_SUCCESS, ends, "a receive that succeeded");
    return drill_expect(
        d, wc.status == WCS_SUCCESS && (wc.wc_flags & WCF_WITH_INV) && wc.invalidated_rkey == key,
        "a receive says which key it ended", "%s, key 0x%x", enum_name(&enum_wc_status, wc.status),
        wc.invalidated_rkey);
}

/* A key that cannot be invalidated is an error of the receiver.  The sender does not learn of it.
 */
void keys_send_with_inv(struct drill *d)
{
    struct keys *k = d->own;
    const struct kept *of = keys_pick(d, 0, KEEPS);
    const unsigned pair = drill_below(d, PAIRS - 1);
    const struct rdl_sge sge = {k->base[1], 0, k->mine[1]};
    const struct rdl_recv_wr recv = {.wr_id = ++k->wr_id, .sge = &sge, .n_sge = 1};
    struct rdl_send_wr wr = {.opcode = WR_SEND_WITH_INV};
    bool is_allowed;

    if (!of)
        return;
    wr.invalidate_rkey = draw_victim(d, of);
    is_allowed = may_end(k, wr.invalidate_rkey, pair);
    drill_say(d, "post_recv h2.q%u sge=mine[0:0]", pair);
    if (!drill_works(d, rdl_post_recv(d->lab, k->end[1][pair].qp, &recv, false),
                     "a receive can be posted"))
        return;
    drill_say(d, "post_send h1.q%u op=send_with_inv inv=0x%x signaled", pair, wr.invalidate_rkey);
    if (!keys_post(d, 0, pair, &wr, WCS_SUCCESS, "a message that ends a key is acknowledged") ||
        !has_received(d, wr.invalidate_rkey, is_allowed))
        return;
    if (is_allowed)
        ended(k, wr.invalidate_rkey);
    else
        (void)keys_reconnect(d, pair);
}

/* h2 READs from h1, and invalidates a key when all of it has come.  If that is refused, the bytes
 * are there nevertheless.  Rxe has no such operation.
 */
void keys_read_with_inv(struct drill *d)
{
    struct keys *k = d->own;
    const struct kept *of = keys_pick(d, 0, KEEPS);
    const unsigned pair = drill_below(d, PAIRS - 1);
    const uint32_t bytes = drill_below(d, READ_BYTES), from = drill_below(d, ROOM_BYTES - bytes),
                   to = drill_below(d, ROOM_BYTES - bytes);
    const struct rdl_sge sge = {k->base[1] + to, bytes, k->mine[1]};
    struct rdl_send_wr wr = {.opcode = WR_RDMA_READ_WITH_INV,
                             .sge = &sge,
                             .n_sge = 1,
                             .remote_addr = k->base[0] + from,
                             .rkey = k->mine[0]};
    bool is_allowed;

    if (!of || rig_is_rxe(k->profile))
        return;
    wr.invalidate_rkey = draw_victim(d, of);
    is_allowed = may_end(k, wr.invalidate_rkey, pair);
    if (bytes > 0 &&
        !drill_works(d, rdl_mem_read(d->lab, k->host[0], k->base[0] + from, k->room + to, bytes),
                     "memory can be read"))
        return;
    drill_say(d,
              "post_send h2.q%u op=rdma_read_with_inv sge=mine[%u:%u] remote=h1.mine[%u] "
              "inv=0x%x signaled",
              pair, to, to + bytes, from, wr.invalidate_rkey);
    if (keys_post(d, 1, pair, &wr, is_allowed ? WCS_SUCCESS : refused_status(d), ends) &&
        is_allowed)
        ended(k, wr.invalidate_rkey);
}
