/* SPDX-License-Identifier: MIT */
#include "capture/lnet.h"

#include <stdlib.h>
#include <string.h>

#include "capture/record.h"
#include "emu/base/assert.h"
#include "emu/facts/enum_table.h"
#include "emu/wire/lnet.h"
#include "emu/wire/lnet_rows.h"
#include "process/must.h"

/* --- Putting messages together ---------------------------------------------------------------- */

/* Returns true if packets @a and @b may belong to one message. */
static bool is_same_way(const struct seen *a, const struct seen *b)
{
    const unsigned direction = SEEN_SENT | SEEN_CAME;

    return a->src == b->src && a->dst == b->dst && a->dest_qpn == b->dest_qpn &&
           a->place == b->place && (a->flags & direction) == (b->flags & direction);
}

/* Returns the open message to which packet @s may belong, or NULL. */
static struct lnet_open *open_of(struct capture_record *r, const struct seen *s)
{
    struct lnet_messages *l = &r->lnet;

    for (uint32_t i = 0; i < l->n_open; i++) {
        if (is_same_way(&r->v[l->v[l->open[i].message].seen], s))
            return &l->open[i];
    }
    return NULL;
}

/* Removes @o.  The others keep their order: the first one is the oldest. */
static void close_open(struct lnet_messages *l, struct lnet_open *o)
{
    const size_t i = (size_t)(o - l->open);

    free(o->bytes);
    l->n_open--;
    memmove(o, o + 1, (l->n_open - i) * sizeof(*o));
}

/* Judges message @m, whose @n bytes at @bytes are all of its SEND. */
static void end(struct lnet_seen *m, const uint8_t *bytes, uint32_t n)
{
    const struct lnet_found found = {bytes, n, false};
    struct lnet_msg parsed;

    m->is_whole = true;
    m->bytes = n;
    m->gist = lnet_gist_of(&found);
    m->bad = lnet_parse(bytes, n, &parsed);
    if (m->bad == LNET_BAD_CKSUM)
        m->cksum = lnet_cksum(bytes, parsed.nob);
}

static struct lnet_seen *add(struct capture_record *r, const struct seen_send *send)
{
    struct lnet_messages *l = &r->lnet;
    const struct lnet_found found = {send->bytes, send->n, false};

    l->v = must_grow(l->v, l->n, &l->cap, sizeof(l->v[0]));
    l->v[l->n] = (struct lnet_seen){.seen = r->n - 1,
                                    .bytes = send->n,
                                    .flow = SEEN_NONE,
                                    .next = SEEN_NONE,
                                    .gist = lnet_gist_of(&found)};
    return &l->v[l->n++];
}

/* Begins a message of several packets. */
static void begin(struct capture_record *r, const struct seen_send *send)
{
    struct lnet_messages *l = &r->lnet;
    struct lnet_open *o;

    (void)add(r, send);
    if (l->n_open == LNET_OPEN_MAX)
        close_open(l, &l->open[0]); /* the oldest */
    o = &l->open[l->n_open++];
    *o = (struct lnet_open){.message = (uint32_t)l->n - 1,
                            .psn = r->v[r->n - 1].psn,
                            .n = send->n,
                            .bytes = must_malloc(LNET_MSG_BYTES_MAX)};
    memcpy(o->bytes, send->bytes, send->n);
}

/* Continues the open message @o with a packet that is not the first one. */
static void go_on(struct capture_record *r, struct lnet_open *o, const struct seen_send *send)
{
    const struct seen *s = &r->v[r->n - 1];
    const int32_t ahead = psn_diff(seen_psn(s), (struct psn){o->psn});

    if (ahead <= 0)
        return; /* it comes again */
    if (ahead > 1 || o->n + send->n > LNET_MSG_BYTES_MAX) {
        close_open(&r->lnet, o);
        return;
    }
    memcpy(o->bytes + o->n, send->bytes, send->n);
    o->n += send->n;
    o->psn = s->psn;
    if (!op_ends(seen_op(s)))
        return;
    end(&r->lnet.v[o->message], o->bytes, o->n);
    close_open(&r->lnet, o);
}

void lnet_messages_take(struct capture_record *r, const struct seen_send *send)
{
    const struct seen *s = &r->v[r->n - 1];
    const bool is_sound = !(s->flags & (SEEN_CUT | SEEN_DAMAGED));
    struct lnet_open *o;

    if (!send->is_there)
        return;
    o = r->lnet.n_open > 0 ? open_of(r, s) : NULL;
    if (!op_starts(seen_op(s))) {
        if (o && is_sound)
            go_on(r, o, send);
        return;
    }
    if (o && is_sound)
        close_open(&r->lnet, o);
    if (!lnet_is_message(send->bytes, send->n))
        return;
    if (!is_sound)
        (void)add(r, send);
    else if (op_ends(seen_op(s)))
        end(add(r, send), send->bytes, send->n);
    else
        begin(r, send);
}

void lnet_messages_done(struct lnet_messages *l)
{
    for (uint32_t i = 0; i < l->n_open; i++)
        free(l->open[i].bytes);
    free(l->v);
    *l = (struct lnet_messages){.n = 0};
}

/* --- Queries ---------------------------------------------------------------------------------- */

void lnet_messages_place(struct capture_record *r)
{
    uint32_t *flows;

    if (r->lnet.n == 0)
        return;
    flows = record_flows(r);
    for (size_t i = r->lnet.n; i > 0; i--) {
        struct lnet_seen *m = &r->lnet.v[i - 1];

        m->flow = flows[m->seen];
        if (m->flow == SEEN_NONE)
            continue;
        m->next = r->flows[m->flow].first_lnet;
        r->flows[m->flow].first_lnet = (uint32_t)i - 1;
    }
    free(flows);
}

bool lnet_messages_in_mad(const struct mad *m, struct lnet_gist *ret)
{
    struct lnet_found found;
    uint8_t bytes[MAD_BYTES];

    if (!mad_body(m->head.attr_id))
        return false;
    mad_build(m, bytes);
    if (!lnet_in_mad(bytes, MAD_BYTES, &found))
        return false;
    *ret = lnet_gist_of(&found);
    return true;
}

uint32_t lnet_messages_count(const struct capture_record *r, uint32_t flow,
                             uint32_t ret[LNET_TYPES_MAX])
{
    uint32_t n = 0;

    RDL_ASSERT(enum_lnet_msg.n_rows <= LNET_TYPES_MAX);
    memset(ret, 0, LNET_TYPES_MAX * sizeof(ret[0]));
    for (uint32_t i = r->flows[flow].first_lnet; i != SEEN_NONE; i = r->lnet.v[i].next) {
        const struct lnet_seen *m = &r->lnet.v[i];

        if (r->v[m->seen].flags & SEEN_AGAIN)
            continue;
        for (size_t k = 0; k < enum_lnet_msg.n_rows; k++)
            ret[k] += enum_lnet_msg.rows[k].value == m->gist.type;
        n++;
    }
    return n;
}

const struct lnet_seen *lnet_messages_find(const struct lnet_messages *l, uint32_t seen)
{
    size_t low = 0, high = l->n;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;

        if (l->v[mid].seen < seen)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->n && l->v[low].seen == seen ? &l->v[low] : NULL;
}
