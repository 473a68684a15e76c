/* SPDX-License-Identifier: MIT */
/* The drill of LNet: the rules.  [Lustre, lnet/lib-ptl.c for the match lists; o2iblnd_cb.c for the
 * transfers; "O2iblnd to userland", 2.6, for fragments]
 */
#include <errno.h>

#include "emu/base/min.h"
#include "emu/facts/enum/lnet_map.h"
#include "swarm/drills/drill_lnet.h"

#define DEPTH_1     8u /* most that nodes of version 1 have */
#define DEPTH_1_MIN 3u
#define PAGE        4096u
#define NET_O2IB    5u

/* --- Nodes ------------------------------------------------------------------------------------ */

uint32_t ln_chunk_bytes(const struct lnets *s, uint32_t chunk)
{
    return s->source_bytes[chunk] + s->sink_bytes[chunk];
}

uint64_t ln_nid(const struct lnets *s, unsigned host)
{
    const struct ln_host *h = &s->host[host];

    return (uint64_t)NET_O2IB << 48 | (uint64_t)h->config.net << 32 | h->ip;
}

uint32_t ln_version(const struct lnets *s, unsigned a, unsigned b)
{
    return min_u32(s->host[a].config.version, s->host[b].config.version);
}

/* The queue depth that @h offers with @version. */
static uint32_t depth_of(const struct ln_host *h, uint32_t version)
{
    const uint32_t most = h->config.peer_credits;

    if (version != LN_VERSION_1)
        return most;
    return most < DEPTH_1_MIN ? DEPTH_1_MIN : min_u32(most, DEPTH_1);
}

bool ln_is_depth(const struct lnets *s, unsigned a, unsigned b, uint32_t depth)
{
    const uint32_t version = ln_version(s, a, b);
    const uint32_t of_a = depth_of(&s->host[a], version), of_b = depth_of(&s->host[b], version);

    return depth == min_u32(of_a, of_b);
}

bool ln_can_ask(const struct lnets *s, unsigned a, unsigned b)
{
    const struct ln_host *from = &s->host[a], *to = &s->host[b];
    const uint32_t version = ln_version(s, a, b);
    const uint32_t depth = depth_of(from, version), most = depth_of(to, version);
    const uint32_t frags = from->config.max_frags, max = to->config.max_frags;

    if (to->config.rules_2007)
        return depth == most && frags == max;
    if (to->config.map == LNET_MAP_dma && frags < max) /* which cannot do with fewer */
        return false;
    if (version == LN_VERSION_1)
        return depth <= most && frags <= max;
    return frags <= max || from->config.map != LNET_MAP_dma;
}

/* The larger NID wins; by LU-17743 the larger one of the address whose last byte counts most. */
bool ln_wins(const struct lnets *s, unsigned host, unsigned peer)
{
    uint32_t hash[2] = {0, 0};

    if (!s->host[host].config.race_by_hash)
        return s->host[host].ip > s->host[peer].ip;
    for (unsigned i = 0; i < 4; i++) {
        hash[0] = hash[0] << 8 | (s->host[host].ip >> 8 * i & 255);
        hash[1] = hash[1] << 8 | (s->host[peer].ip >> 8 * i & 255);
    }
    return (hash[0] ^ s->host[host].config.net) > (hash[1] ^ s->host[peer].config.net);
}

uint32_t ln_high_water(const struct lnets *s, const struct ln_conn *c)
{
    const struct rdl_lnet_config *g = &s->host[c->host].config;
    const uint32_t most = c->depth > 1 ? c->depth - 1 : 1;
    uint32_t hiw = g->peer_credits_hiw, share;

    if (ln_version(s, c->host, c->peer) == LN_VERSION_1)
        return most;
    if (hiw < g->peer_credits / 2)
        hiw = g->peer_credits / 2;
    if (hiw >= g->peer_credits)
        hiw = g->peer_credits - 1;
    share = c->depth * hiw / g->peer_credits;
    return share < 1 ? 1 : min_u32(share, most);
}

uint32_t ln_sends(const struct lnets *s, unsigned host)
{
    const struct rdl_lnet_config *g = &s->host[host].config;
    const uint32_t n = g->concurrent_sends ? g->concurrent_sends : g->peer_credits;
    const uint32_t least = (g->peer_credits + 1) / 2;

    return n < least ? least : min_u32(n, 2 * g->peer_credits);
}

/* --- Fragments -------------------------------------------------------------------------------- */

static void add_frag(struct ln_frags *l, uint64_t addr, uint32_t bytes)
{
    if (l->n < LN_CUTS)
        l->v[l->n] = (struct ln_frag){addr, bytes};
    l->n += l->n <= LN_CUTS;
}

void ln_cut(const struct lnets *s, const struct ln_md *md, uint32_t offset, uint32_t bytes,
            uint32_t most, struct ln_frags *ret)
{
    ret->n = 0;
    for (uint32_t i = 0; i < md->n && bytes > 0; i++) {
        const struct ln_piece *p = &md->pieces[i];
        const uint32_t skip = min_u32(offset, p->bytes);
        uint32_t rest = min_u32(p->bytes - skip, bytes);
        uint64_t at = s->host[md->host].base[p->chunk] + p->at + skip;

        offset -= skip;
        bytes -= rest;
        while (rest > 0) {
            const uint32_t n = most ? min_u32(rest, most - (uint32_t)(at % most)) : rest;

            add_frag(ret, at, n);
            at += n;
            rest -= n;
        }
    }
}

/* The fragments in a descriptor of @host, as it cuts memory. */
static void describe(const struct lnets *s, const struct ln_md *md, uint32_t offset, uint32_t bytes,
                     struct ln_frags *ret)
{
    const struct rdl_lnet_config *g = &s->host[md->host].config;

    ln_cut(s, md, offset, bytes, g->map == LNET_MAP_dma ? PAGE : g->frag_bytes, ret);
}

/* Returns true if [@low, @high) is mapped. */
static bool is_mapped(const struct lnets *s, unsigned host, uint64_t low, uint64_t high)
{
    for (uint32_t c = 0; c < LN_CHUNKS; c++) {
        const uint64_t base = s->host[host].base[c];

        if (low >= base && high <= base + ln_chunk_bytes(s, c))
            return true;
    }
    return false;
}

static bool all_mapped(const struct lnets *s, unsigned host, const struct ln_frags *l)
{
    for (uint32_t i = 0; i < min_u32(l->n, LN_CUTS); i++) {
        if (!is_mapped(s, host, l->v[i].addr, l->v[i].addr + l->v[i].bytes))
            return false;
    }
    return true;
}

bool ln_is_torn(struct lnets *s, const struct ln_md *md, uint32_t offset, uint32_t bytes)
{
    ln_cut(s, md, offset, bytes, 0, &s->cut[0]);
    return !all_mapped(s, md->host, &s->cut[0]);
}

/* Returns the errno because of which @l cannot be a descriptor of @host, or 0.  A region spans all
 * of its fragments, and so what is between them.
 */
static int descriptor_error(const struct lnets *s, unsigned host, const struct ln_frags *l)
{
    uint64_t low = UINT64_MAX, high = 0;

    if (l->n > LN_FRAGS)
        return EMSGSIZE;
    if (s->host[host].config.map == LNET_MAP_dma)
        return all_mapped(s, host, l) ? 0 : EFAULT;
    for (uint32_t i = 0; i < l->n; i++) {
        low = l->v[i].addr < low ? l->v[i].addr : low;
        high = l->v[i].addr + l->v[i].bytes > high ? l->v[i].addr + l->v[i].bytes : high;
    }
    return is_mapped(s, host, low, high) ? 0 : EFAULT;
}

/* Returns the number of RDMA WRITEs that move @bytes: each ends with a fragment of either side. */
static uint32_t writes(const struct ln_frags *from, const struct ln_frags *to, uint32_t bytes)
{
    uint32_t i = 0, k = 0, in_from = 0, in_to = 0, n = 0;

    while (bytes > 0 && i < from->n && k < to->n) {
        const uint32_t here = min_u32(from->v[i].bytes - in_from, to->v[k].bytes - in_to);
        const uint32_t piece = min_u32(here, bytes);

        n++;
        in_from += piece;
        in_to += piece;
        bytes -= piece;
        if (in_from == from->v[i].bytes) {
            i++;
            in_from = 0;
        }
        if (in_to == to->v[k].bytes) {
            k++;
            in_to = 0;
        }
    }
    return n;
}

int ln_local_error(struct lnets *s, const struct ln_op *op)
{
    const struct ln_md *md = &s->mds[op->md];

    if (op->bytes <= LN_IMMEDIATE)
        return !op->is_get && ln_is_torn(s, md, 0, op->bytes) ? EFAULT : 0;
    describe(s, md, 0, op->bytes, &s->cut[0]);
    return descriptor_error(s, md->host, &s->cut[0]);
}

/* --- Matching --------------------------------------------------------------------------------- */

void ln_unlist(struct lnets *s, uint32_t md)
{
    struct ln_host *h = &s->host[s->mds[md].host];
    uint32_t n = 0;

    if (!s->mds[md].is_listed)
        return;
    s->mds[md].is_listed = false;
    for (uint32_t i = 0; i < h->n_list; i++) {
        if (h->list[i] != md)
            h->list[n++] = h->list[i];
    }
    h->n_list = n;
}

static bool matches(const struct ln_md *md, const struct ln_op *op)
{
    return (md->options & (op->is_get ? RDL_LNET_GET : RDL_LNET_PUT)) && md->portal == op->portal &&
           (md->from == LN_ANY || md->from == op->from) &&
           ((md->bits ^ op->bits) & ~md->ignore) == 0;
}

/* Returns true if @md, which matches, has room for @op; sets the place. */
static bool takes(const struct ln_md *md, const struct ln_op *op, uint32_t *ret_at,
                  uint32_t *ret_mlength)
{
    const uint32_t at = md->options & RDL_LNET_MANAGE_REMOTE ? op->offset : md->at;
    const uint32_t room = at < md->bytes ? md->bytes - at : 0;

    if (op->bytes > room && !(md->options & RDL_LNET_TRUNCATE))
        return false;
    *ret_at = at;
    *ret_mlength = min_u32(op->bytes, room);
    return true;
}

/* The bytes of @op may be those of other messages that are on their way. */
static void mix(struct lnets *s, uint32_t number)
{
    struct ln_op *op = &s->ops[number];

    for (uint32_t i = 0; i < s->n_ops; i++) {
        struct ln_op *o = &s->ops[i];

        if (o == op || o->match != op->match || !o->is_received || o->is_over || o->is_get ||
            o->at >= op->at + op->mlength || op->at >= o->at + o->mlength)
            continue;
        o->is_mixed = op->is_mixed = true;
    }
}

/* A transfer by RDMA: the owner of the data writes @op->mlength bytes. */
static int transfer_error(struct lnets *s, const struct ln_op *op)
{
    const struct ln_md *mine = &s->mds[op->md], *match = &s->mds[op->match];
    const uint32_t max =
        min_u32(s->host[op->from].config.max_frags, s->host[op->to].config.max_frags);
    int error;

    describe(s, match, op->at, op->mlength, &s->cut[0]);
    error = descriptor_error(s, match->host, &s->cut[0]);
    if (error)
        return error;
    describe(s, mine, 0, op->bytes, &s->cut[1]);
    if (op->is_get)
        return writes(&s->cut[0], &s->cut[1], op->mlength) > max ? EMSGSIZE : 0;
    return writes(&s->cut[1], &s->cut[0], op->mlength) > max ? EMSGSIZE : 0;
}

static void predict(struct lnets *s, struct ln_op *op)
{
    const bool is_small = op->bytes <= LN_IMMEDIATE;

    if (op->match == LN_NONE) {
        op->initiator_error = op->is_get && !is_small ? ENODATA : 0;
        return;
    }
    if (op->mlength == 0)
        return;
    if (!is_small) {
        op->initiator_error = op->target_error = transfer_error(s, op);
    } else if (ln_is_torn(s, &s->mds[op->match], op->at, op->mlength)) {
        op->target_error = EFAULT; /* of a GET: no REPLY comes */
    } else if (op->is_get && ln_is_torn(s, &s->mds[op->md], 0, op->mlength)) {
        op->initiator_error = EFAULT;
    }
}

void ln_arrive(struct lnets *s, uint32_t number)
{
    struct ln_op *op = &s->ops[number];
    const struct ln_host *h = &s->host[op->to];

    op->is_received = true;
    for (uint32_t i = 0; i < h->n_list; i++) {
        struct ln_md *md = &s->mds[h->list[i]];

        if (!matches(md, op))
            continue;
        if (!takes(md, op, &op->at, &op->mlength))
            break; /* nobody else gets it */
        op->match = h->list[i];
        md->at = op->at + op->mlength;
        md->users++;
        if (md->threshold > 0 && --md->left == 0) {
            md->is_ending = true;
            ln_unlist(s, op->match);
        }
        if (!op->is_get)
            mix(s, number);
        break;
    }
    predict(s, op);
}
