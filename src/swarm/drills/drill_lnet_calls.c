/* SPDX-License-Identifier: MIT */
/* The drill of LNet: the calls of programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/min.h"
#include "emu/base/text.h"
#include "process/must.h"
#include "swarm/drills/drill_lnet.h"

#define ALL_BITS    UINT64_MAX
#define OP_BITS     16u /* match bits below the number of the call */
#define BURST_MAX   12u
#define PLACE_TRIES 12u
#define LINE_BYTES  (LN_PIECES * 32u + 16u)

/* --- Drawing ---------------------------------------------------------------------------------- */

/* Draws a node that is up, but not @but; LN_ANY: there is none. */
static unsigned draw_node(struct drill *d, unsigned but)
{
    const struct lnets *s = lnets_of(d);
    const unsigned first = drill_below(d, s->n_hosts);

    for (unsigned i = 0; i < s->n_hosts; i++) {
        const unsigned k = (first + i) % s->n_hosts;

        if (k != but && s->host[k].is_up)
            return k;
    }
    return LN_ANY;
}

static uint32_t draw_bytes(struct drill *d)
{
    static const uint32_t edges[] = {0,    1,    64,   3975, 3976,  3977,  4095,
                                     4096, 4097, 8192, 8193, 65535, 65536, 65537};
    const struct lnets *s = lnets_of(d);

    switch (drill_below(d, 8)) {
    case 0:
        return edges[drill_below(d, ARRAY_LEN(edges) - (s->is_large ? 0 : 3))];
    case 1:
        return edges[drill_below(d, 9)];
    case 2:
        return drill_below(d, 24000);
    case 3:
        return s->is_large && drill_one_in(d, 4) ? LN_MTU - drill_below(d, 3) * 1000
                                                 : drill_below(d, 9000);
    case 4:
        return 3000 + drill_below(d, 3000);
    default:
        return drill_below(d, 1500);
    }
}

static uint32_t draw_pieces(struct drill *d)
{
    switch (drill_below(d, 8)) {
    case 0:
        return 1 + drill_below(d, 40);
    case 1:
    case 2:
    case 3:
        return 2 + drill_below(d, 4);
    default:
        return 1;
    }
}

/* Finds a place for @bytes that no other memory has, and takes it.  Returns false if there is none.
 */
static bool take_sink(struct drill *d, struct ln_md *md, struct ln_piece *p)
{
    struct lnets *s = lnets_of(d);
    uint8_t *owner = s->host[md->host].owner[p->chunk];
    const uint32_t room = s->sink_bytes[p->chunk];

    for (uint32_t i = 0; i < PLACE_TRIES && p->bytes <= room; i++) {
        const uint32_t at = drill_below(d, room - p->bytes + 1);

        if (p->bytes > 0 && memchr(owner + at, 1, p->bytes))
            continue;
        memset(owner + at, 1, p->bytes);
        p->at = s->source_bytes[p->chunk] + at;
        return true;
    }
    return false;
}

static bool place(struct drill *d, struct ln_md *md, struct ln_piece *p, bool is_torn)
{
    const struct lnets *s = lnets_of(d);
    const uint32_t room = s->source_bytes[p->chunk];

    if (is_torn && p->bytes > 0) {
        p->bytes = min_u32(p->bytes, 3000);
        p->at = ln_chunk_bytes(s, p->chunk) + drill_below(d, 1000);
        return true;
    }
    if (md->is_sink)
        return take_sink(d, md, p);
    if (p->bytes > room)
        return false;
    p->at = drill_below(d, room - p->bytes + 1);
    if (drill_one_in(d, 4))
        p->at &= ~511u;
    return true;
}

/* Draws the pieces of @md, @bytes in all.  Returns false if there is no room. */
static bool draw_memory(struct drill *d, struct ln_md *md, uint32_t bytes)
{
    const uint32_t n = draw_pieces(d);
    const uint32_t torn = drill_one_in(d, 24) ? drill_below(d, n) : n;
    const bool is_wide = drill_one_in(d, 16), is_second = drill_one_in(d, 6);
    uint32_t rest = bytes;

    md->pieces = must_malloc(n * sizeof(*md->pieces));
    for (md->n = 0; md->n < n; md->n++) {
        struct ln_piece *p = &md->pieces[md->n];
        const uint32_t most = 2 * (rest / (n - md->n)) + 1;

        p->bytes = md->n + 1 == n ? rest : min_u32(rest, drill_below(d, most));
        p->chunk = is_wide ? drill_below(d, LN_CHUNKS) : is_second;
        if (!place(d, md, p, md->n == torn))
            return false;
        rest -= min_u32(rest, p->bytes);
        md->bytes += p->bytes;
    }
    return true;
}

/* --- Making ----------------------------------------------------------------------------------- */

static const char *pieces_text(const struct ln_md *md, char ret[LINE_BYTES])
{
    struct text t = text_on(ret, LINE_BYTES);

    for (uint32_t i = 0; i < md->n; i++)
        text_addf(&t, "%sm%u[%u:%u]", i ? "," : "", md->pieces[i].chunk, md->pieces[i].at,
                  md->pieces[i].at + md->pieces[i].bytes);
    return ret;
}

/* Begins to make memory of @host; NULL: there is no room. */
static struct ln_md *md_new(struct drill *d, unsigned host, bool is_sink, uint32_t bytes)
{
    struct lnets *s = lnets_of(d);
    struct ln_md *md = &s->mds[s->n_mds];

    if (s->n_mds == LN_MDS)
        return NULL;
    *md = (struct ln_md){.host = host, .is_sink = is_sink, .from = LN_ANY, .op = LN_NONE};
    s->n_mds++;
    if (draw_memory(d, md, bytes))
        return md;
    ln_forget(s, s->n_mds - 1);
    return NULL;
}

static void pieces_of(const struct lnets *s, const struct ln_md *md,
                      struct rdl_lnet_piece ret[LN_PIECES])
{
    RDL_ASSERT(md->n <= LN_PIECES);
    for (uint32_t i = 0; i < md->n; i++)
        ret[i] = (struct rdl_lnet_piece){
            s->host[md->host].base[md->pieces[i].chunk] + md->pieces[i].at, md->pieces[i].bytes};
}

static struct rdl_lnet_md config_of(const struct lnets *s, const struct ln_md *md,
                                    const struct rdl_lnet_piece *pieces)
{
    return (struct rdl_lnet_md){.pieces = pieces,
                                .n = md->n,
                                .options = md->options,
                                .threshold = md->threshold,
                                .user = (uint64_t)(md - s->mds)};
}

static void say_attach(struct drill *d, const struct ln_md *md)
{
    char line[LINE_BYTES], from[24] = "", threshold[24] = "";

    if (!d->script)
        return;
    if (md->from != LN_ANY)
        snprintf(from, sizeof(from), " from=h%u", md->from + 1);
    if (md->threshold)
        snprintf(threshold, sizeof(threshold), " threshold=%u", md->threshold);
    drill_say(d,
              "lnet_attach h%u portal=%u bits=0x%" PRIx64 " ignore=0x%" PRIx64 "%s sge=%s for=%s"
              "%s%s%s%s",
              md->host + 1, md->portal, md->bits, md->ignore, from, pieces_text(md, line),
              md->options & RDL_LNET_PUT ? "put" : "get",
              md->options & RDL_LNET_TRUNCATE ? " truncate" : "",
              md->options & RDL_LNET_MANAGE_REMOTE ? " manage_remote" : "",
              md->options & RDL_LNET_NO_ACK ? " noack" : "", threshold);
}

/* Attaches @md, whose match is chosen. */
static bool attach(struct drill *d, struct ln_md *md)
{
    struct lnets *s = lnets_of(d);
    struct ln_host *h = &s->host[md->host];
    struct rdl_lnet_piece pieces[LN_PIECES];
    const struct rdl_lnet_md config = config_of(s, md, pieces);
    struct rdl_lnet_match match = {.portal = md->portal, .bits = md->bits, .ignore = md->ignore};
    int error = 0;

    pieces_of(s, md, pieces);
    if (md->from != LN_ANY)
        match.from = s->host[md->from].host;
    say_attach(d, md);
    if (!drill_works(d, rdl_lnet_attach(d->lab, h->host, &match, &config, &md->handle, &error),
                     "memory can be attached"))
        return false;
    md->is_live = md->is_listed = true;
    md->left = md->threshold;
    h->list[h->n_list++] = (uint32_t)(md - s->mds);
    return true;
}

/* Draws memory of @host that takes messages of @bytes, and attaches it. */
static void attach_for(struct drill *d, unsigned host, bool is_get, uint32_t bytes)
{
    static const uint32_t thresholds[] = {0, 1, 1, 1, 2, 3};
    const struct lnets *s = lnets_of(d);
    const uint32_t more = drill_below(d, 4) < 2 ? 0 : drill_below(d, 6000);
    const uint32_t less = drill_one_in(d, 6) ? drill_below(d, bytes + 1) : 0;
    struct ln_md *md = md_new(d, host, !is_get, bytes - less + (less ? 0 : more));

    if (!md)
        return;
    md->portal = drill_below(d, LN_PORTALS);
    md->bits = drill_below(d, 4);
    md->ignore = ALL_BITS << OP_BITS;
    if (drill_one_in(d, 3))
        md->ignore |= drill_below(d, 8);
    if (drill_one_in(d, 10)) { /* a single call fits */
        md->bits |= (uint64_t)(s->n_ops + 1 + drill_below(d, 3)) << OP_BITS;
        md->ignore = 0;
    }
    if (drill_one_in(d, 6))
        md->from = (host + 1 + drill_below(d, s->n_hosts - 1)) % s->n_hosts;
    md->threshold = thresholds[drill_below(d, ARRAY_LEN(thresholds))];
    md->options = is_get ? RDL_LNET_GET : RDL_LNET_PUT;
    if (drill_one_in(d, 3))
        md->options |= RDL_LNET_TRUNCATE;
    if (drill_one_in(d, 5))
        md->options |= RDL_LNET_MANAGE_REMOTE;
    if (drill_one_in(d, 8))
        md->options |= RDL_LNET_NO_ACK;
    attach(d, md);
}

void ln_do_attach(struct drill *d)
{
    const unsigned host = draw_node(d, LN_ANY);
    const bool is_get = drill_one_in(d, 3);
    const uint32_t bytes = draw_bytes(d);

    if (host != LN_ANY)
        attach_for(d, host, is_get, bytes);
}

/* --- PUTs and GETs ---------------------------------------------------------------------------- */

/* Draws a call that the match entry @md takes, mostly. */
static void aim(struct drill *d, const struct ln_md *md, struct ln_op *op)
{
    const uint32_t room = md->at < md->bytes ? md->bytes - md->at : 0;

    op->to = md->host;
    op->portal = md->portal;
    op->is_get = md->options & RDL_LNET_GET;
    op->bits |= (md->bits ^ (md->ignore & drill_below(d, 8))) & ((1u << OP_BITS) - 1);
    if (md->options & RDL_LNET_MANAGE_REMOTE)
        op->offset = drill_below(d, md->bytes + 2);
    if (md->from != LN_ANY && lnets_of(d)->host[md->from].is_up && !drill_one_in(d, 6))
        op->from = md->from;
    op->bytes = drill_one_in(d, 3) ? room : drill_below(d, room + 1);
    if (drill_one_in(d, 8))
        op->bytes = draw_bytes(d);
}

/* Draws who sends what to whom.  Returns false if there are no two nodes. */
static bool draw_call(struct drill *d, struct ln_op *op)
{
    struct lnets *s = lnets_of(d);

    *op = (struct ln_op){.bits = (uint64_t)(s->n_ops + 1) << OP_BITS, .match = LN_NONE};
    op->to = draw_node(d, LN_ANY);
    op->from = LN_ANY;
    op->is_get = drill_one_in(d, 3);
    op->portal = drill_below(d, LN_PORTALS);
    op->bytes = draw_bytes(d);
    op->hdr_data = prng_next(&d->rng);
    if (op->to == LN_ANY)
        return false;
    if (drill_one_in(d, 2))
        attach_for(d, op->to, op->is_get, op->bytes);
    if (s->host[op->to].n_list > 0 && !drill_one_in(d, 6))
        aim(d, &s->mds[s->host[op->to].list[drill_below(d, s->host[op->to].n_list)]], op);
    else
        op->bits |= drill_below(d, 4);
    if (op->from == LN_ANY || op->from == op->to)
        op->from = draw_node(d, op->to);
    op->wants_ack = !op->is_get && drill_one_in(d, 2);
    if (op->is_get)
        op->hdr_data = 0;
    return op->from != LN_ANY && op->bytes <= LN_MTU;
}

/* Memory that was bound for several PUTs; NULL: there is none. */
static struct ln_md *shared_md(struct lnets *s, unsigned host)
{
    const uint32_t at = s->host[host].shared;
    struct ln_md *md = at < s->n_mds ? &s->mds[at] : NULL;

    return md && md->is_live && !md->is_ending && md->op == LN_NONE ? md : NULL;
}

/* Binds memory for @op, or takes what is bound.  NULL: there is no room, or the drill has failed.
 */
static struct ln_md *bind(struct drill *d, struct ln_op *op)
{
    struct lnets *s = lnets_of(d);
    struct ln_md *md = !op->is_get && drill_one_in(d, 5) ? shared_md(s, op->from) : NULL;
    struct rdl_lnet_piece pieces[LN_PIECES];
    struct rdl_lnet_md config;
    int error = 0;

    if (md) {
        d->n_unsaid++;
        return md;
    }
    md = md_new(d, op->from, op->is_get, op->bytes);
    if (!md)
        return NULL;
    md->threshold = 1;
    if (!op->is_get && drill_one_in(d, 12)) {
        md->threshold = drill_below(d, 4);
        s->host[op->from].shared = (uint32_t)(md - s->mds);
    }
    md->op = md->threshold == 1 ? s->n_ops : LN_NONE;
    d->n_unsaid += md->op == LN_NONE;
    config = config_of(s, md, pieces);
    pieces_of(s, md, pieces);
    if (!drill_works(d, rdl_lnet_bind(d->lab, s->host[op->from].host, &config, &md->handle, &error),
                     "memory can be bound"))
        return NULL;
    md->is_live = true;
    md->left = md->threshold;
    return md;
}

static void say_call(struct drill *d, const struct ln_op *op, const struct ln_md *md)
{
    char line[LINE_BYTES], data[40] = "";

    if (!d->script)
        return;
    if (!op->is_get)
        snprintf(data, sizeof(data), " hdr_data=0x%" PRIx64 "%s", op->hdr_data,
                 op->wants_ack ? " ack" : "");
    drill_say(d, "lnet_%s h%u h%u portal=%u bits=0x%" PRIx64 " offset=%u sge=%s%s",
              op->is_get ? "get" : "put", op->from + 1, op->to + 1, op->portal, op->bits,
              op->offset, pieces_text(md, line), data);
}

/* Makes the call @op with the memory @md.  What follows at once is judged, too. */
static void call(struct drill *d, const struct ln_op *drawn, struct ln_md *md)
{
    struct lnets *s = lnets_of(d);
    struct ln_op *op = &s->ops[s->n_ops];
    struct rdl_lnet_call c = {.md = md->handle,
                              .peer = s->host[drawn->to].host,
                              .portal = drawn->portal,
                              .bits = drawn->bits,
                              .hdr_data = drawn->hdr_data,
                              .offset = drawn->offset,
                              .wants_ack = drawn->wants_ack};
    const rdl_host from = s->host[drawn->from].host;
    int error = 0;

    *op = *drawn;
    op->md = (uint32_t)(md - s->mds);
    op->bytes = md->bytes;
    op->local_error = ln_local_error(s, op);
    s->n_ops++;
    md->users++;
    if (md->threshold > 0 && --md->left == 0)
        md->is_ending = true;
    if (op->is_get || op->wants_ack) {
        md->users++; /* a REPLY by RDMA cannot be given up */
        md->answers += !op->is_get || op->bytes <= LN_IMMEDIATE;
    }
    say_call(d, op, md);
    drill_works(d,
                op->is_get ? rdl_lnet_get(d->lab, from, &c, &error)
                           : rdl_lnet_put(d->lab, from, &c, &error),
                "a node takes a call");
    ln_drain(d);
}

void ln_do_burst(struct drill *d)
{
    struct lnets *s = lnets_of(d);
    const uint32_t n = 1 + drill_below(d, BURST_MAX);

    for (uint32_t i = 0; i < n && !d->wrong && s->n_ops < LN_OPS; i++) {
        struct ln_op op;
        struct ln_md *md = draw_call(d, &op) && !d->wrong ? bind(d, &op) : NULL;

        if (md)
            call(d, &op, md);
    }
}

/* --- Unlinking, and calls that are wrong ------------------------------------------------------ */

static bool is_errno(struct drill *d, enum rdl_status st, int error, int want, const char *what)
{
    return drill_expect(d, st == (want ? RDL_ERR_ERRNO : RDL_OK) && error == want, what,
                        "%s, errno %d, and not %d", rdl_status_name(st), error, want);
}

/* The program gives up the answers that @md waits for. */
static void give_up_answers(struct lnets *s, uint32_t number)
{
    struct ln_md *md = &s->mds[number];

    md->users -= md->answers;
    md->answers = 0;
    for (uint32_t i = 0; i < s->n_ops; i++) {
        struct ln_op *op = &s->ops[i];

        op->was_unlinked |=
            op->md == number && !op->is_answered && !(op->is_get && op->bytes > LN_IMMEDIATE);
    }
}

void ln_do_unlink(struct drill *d)
{
    struct lnets *s = lnets_of(d);
    const uint32_t first = drill_below(d, s->n_mds + 1);
    uint32_t number = LN_NONE;
    struct ln_md *md;
    enum rdl_status st;
    int error = 0;

    for (uint32_t i = 0; i < s->n_mds && number == LN_NONE; i++) {
        const uint32_t k = (first + i) % s->n_mds;

        if (s->mds[k].is_live && s->host[s->mds[k].host].is_up)
            number = k;
    }
    if (number == LN_NONE)
        return;
    md = &s->mds[number];
    give_up_answers(s, number);
    st = rdl_lnet_unlink(d->lab, s->host[md->host].host, md->handle, &error);
    if (!is_errno(d, st, error, md->users > 0 ? EBUSY : 0,
                  "memory that messages use stays until they are over"))
        return;
    if (md->users > 0) {
        d->n_unsaid++;
        md->is_ending = true;
        ln_unlist(s, number);
        return;
    }
    drill_say(d, "lnet_unlink h%u %" PRIu64, md->host + 1, md->handle);
    ln_forget(s, number);
}

/* A message of more than 1 MiB. */
static void call_too_long(struct drill *d, rdl_host host, rdl_host peer)
{
    const struct rdl_lnet_piece pieces[] = {{0x1000, LN_MTU / 2 + 1}, {0x1000, LN_MTU / 2}};
    const struct rdl_lnet_md md = {.pieces = pieces, .n = 2, .threshold = 1};
    struct rdl_lnet_call c = {.peer = peer};
    enum rdl_status st;
    int error = 0;

    d->n_unsaid++; /* it takes a handle */
    if (!drill_works(d, rdl_lnet_bind(d->lab, host, &md, &c.md, &error), "memory can be bound"))
        return;
    st = rdl_lnet_put(d->lab, host, &c, &error);
    if (!is_errno(d, st, error, EMSGSIZE, "a message has 1 MiB at most"))
        return;
    error = 0;
    st = rdl_lnet_unlink(d->lab, host, c.md, &error);
    is_errno(d, st, error, 0, "memory that no message uses can be removed");
}

void ln_do_wrong(struct drill *d)
{
    static const struct rdl_lnet_match match = {.portal = 1}, no_portal = {.portal = 64};
    const struct rdl_lnet_md none = {.options = 0}, md = {.options = RDL_LNET_PUT};
    struct lnets *s = lnets_of(d);
    const unsigned from = draw_node(d, LN_ANY), to = draw_node(d, from);
    struct rdl_lnet_call c = {.md = 1000000};
    rdl_host host;
    uint64_t handle;
    int error = 0;
    enum rdl_status st;

    if (from == LN_ANY || to == LN_ANY)
        return;
    host = s->host[from].host;
    c.peer = s->host[to].host;
    switch (drill_below(d, 5)) {
    case 0:
        call_too_long(d, host, c.peer);
        break;
    case 1:
        st = rdl_lnet_get(d->lab, host, &c, &error);
        is_errno(d, st, error, ENOENT, "a call names memory of its node");
        break;
    case 2:
        st = rdl_lnet_attach(d->lab, host, &match, &none, &handle, &error);
        is_errno(d, st, error, EINVAL, "memory is attached for PUTs or GETs");
        break;
    case 3:
        st = rdl_lnet_attach(d->lab, host, &no_portal, &md, &handle, &error);
        is_errno(d, st, error, EINVAL, "a node has 64 portals");
        break;
    default:
        st = rdl_lnet_unlink(d->lab, host, 1000000, &error);
        is_errno(d, st, error, ENOENT, "only memory that is there can be removed");
        break;
    }
}
