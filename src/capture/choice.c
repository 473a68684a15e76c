/* SPDX-License-Identifier: MIT */
#include "capture/choice.h"

#include <stdlib.h>
#include <string.h>

#include "capture/check.h"
#include "process/must.h"

#define QPN_MAX        0xffffffu
#define END_TEXT_MAX   80u
#define QPN_DIGITS_MAX 8u

/* --- Parsing ---------------------------------------------------------------------------------- */

static bool parse_qpn(const char *s, uint32_t *ret)
{
    const bool is_hex = s[0] == '0' && (s[1] == 'x' || s[1] == 'X');
    const char *digits = is_hex ? s + 2 : s;
    const size_t n = strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "0123456789");
    unsigned long v;

    if (n == 0 || n > QPN_DIGITS_MAX || digits[n])
        return false;
    v = strtoul(digits, NULL, is_hex ? 16 : 10);
    if (v > QPN_MAX)
        return false;
    *ret = (uint32_t)v;
    return true;
}

/* Parses @s, which it changes. */
static bool parse_end(char *s, struct choice_end *ret)
{
    char *colon = strrchr(s, ':');
    size_t n;

    *ret = (struct choice_end){.has_host = false};
    if (parse_qpn(s, &ret->qpn))
        return ret->has_qpn = true;
    if (addr_parse(s, ret->gid))
        return ret->has_host = true;
    if (!colon || !parse_qpn(colon + 1, &ret->qpn))
        return false;
    *colon = '\0';
    n = strlen(s);
    if (s[0] == '[' && n > 1 && s[n - 1] == ']') {
        s[n - 1] = '\0';
        s++;
    }
    ret->has_host = ret->has_qpn = addr_parse(s, ret->gid);
    return ret->has_host;
}

bool choice_parse(const char *text, struct choice_end ret[2])
{
    const char *dash = strchr(text, '-');
    char one[END_TEXT_MAX], other[END_TEXT_MAX];
    struct text a = text_on(one, sizeof(one)), b = text_on(other, sizeof(other));

    if (!dash)
        return false;
    text_addn(&a, text, (size_t)(dash - text));
    text_add(&b, dash + 1);
    return !a.cut && !b.cut && parse_end(one, &ret[0]) && parse_end(other, &ret[1]);
}

/* --- Choosing --------------------------------------------------------------------------------- */

/* Returns true if @e may be the queue pair @qpn of @host; SEEN_NONE: its number is not known. */
static bool fits(const struct choice_end *e, const struct station *host, uint32_t qpn)
{
    return (!e->has_host || memcmp(e->gid, host->gid, GID_BYTES) == 0) &&
           (!e->has_qpn || qpn == SEEN_NONE || qpn == e->qpn);
}

static bool is_between(const struct check *c, const struct connection *k,
                       const struct choice_end ends[2])
{
    const struct flow *f = &c->record.flows[k->flow[0]];
    const struct station *a = check_src(c, k->flow[0]), *b = check_dst(c, k->flow[0]);
    const uint32_t back = f->peer == SEEN_NONE ? SEEN_NONE : c->record.flows[f->peer].dest_qpn;

    return (fits(&ends[0], a, back) && fits(&ends[1], b, f->dest_qpn)) ||
           (fits(&ends[1], a, back) && fits(&ends[0], b, f->dest_qpn));
}

struct badness {
    uint64_t n;
    uint32_t connection;
};

static int worst_first(const void *va, const void *vb)
{
    const struct badness *a = va, *b = vb;

    if (a->n != b->n)
        return a->n > b->n ? -1 : 1;
    return (a->connection > b->connection) - (a->connection < b->connection);
}

/* Keeps the @most chosen connections that have the most errors and signs of loss. */
static void keep_worst(struct check *c, uint32_t most)
{
    struct badness *v = must_malloc((c->n + (size_t)1) * sizeof(*v));
    uint32_t n = 0;

    for (uint32_t i = 0; i < c->n; i++)
        v[i] = (struct badness){0, i};
    for (uint32_t i = 0; i < c->found.n; i++) {
        const struct found *f = &c->found.v[i];

        if (f->flow != FOUND_NOWHERE)
            v[c->of_flow[f->flow]].n += finding_rows[f->finding].severity != FINDING_NOTE;
    }
    for (uint32_t i = 0; i < c->n_shown; i++) {
        if (v[c->shown[i]].n > 0)
            v[n++] = v[c->shown[i]]; /* shown[] ascends, so that this moves entries to the front */
    }
    if (n > 0)
        qsort(v, n, sizeof(v[0]), worst_first);
    c->n_shown = n < most ? n : most;
    for (uint32_t i = 0; i < c->n_shown; i++)
        c->shown[i] = v[i].connection;
    free(v);
}

/* Returns an array that says of each connection whether it is reported.  The caller frees it. */
static bool *shown_connections(const struct check *c)
{
    bool *is_shown = must_malloc(c->n + (size_t)1);

    memset(is_shown, 0, c->n + (size_t)1);
    for (uint32_t i = 0; i < c->n_shown; i++)
        is_shown[c->shown[i]] = true;
    return is_shown;
}

/* Removes the findings of all other connections and handshakes and of single frames. */
static void keep_findings(struct check *c)
{
    bool *is_shown = shown_connections(c);
    const uint32_t n = c->found.n;

    c->found.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct found f = c->found.v[i];

        if ((f.flow != FOUND_NOWHERE && is_shown[c->of_flow[f.flow]]) ||
            (f.handshake > 0 && c->shows_handshake[f.handshake - 1]))
            c->found.v[c->found.n++] = f;
        else
            c->found.count[f.finding]--;
    }
    c->n_elsewhere = n - c->found.n;
    free(is_shown);
}

/* Returns true if handshake @k is that of a reported connection. */
static bool is_of_shown(const struct check *c, const struct handshake *k, const bool *is_shown)
{
    for (unsigned side = 0; side < 2; side++) {
        if (k->flow[side] != SEEN_NONE && is_shown[c->of_flow[k->flow[side]]])
            return true;
    }
    return false;
}

/* Returns true if the ends of handshake @k are @ends, as far as they are known. */
static bool has_ends(const struct check *c, const struct handshake *k,
                     const struct choice_end ends[2])
{
    uint32_t qpn[2];

    for (unsigned side = 0; side < 2; side++) {
        if (!handshake_qpn(&c->record.handshakes, k, side, &qpn[side]))
            qpn[side] = SEEN_NONE;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (fits(&ends[i], &c->record.hosts[k->host[0]], qpn[0]) &&
            fits(&ends[1 - i], &c->record.hosts[k->host[1]], qpn[1]))
            return true;
    }
    return false;
}

static void choose_handshakes(struct check *c, const struct choice *choice)
{
    const struct handshakes *all = &c->record.handshakes;
    bool *is_shown = shown_connections(c);

    c->shows_handshake = must_malloc(all->n + 1);
    for (size_t i = 0; i < all->n; i++) {
        c->shows_handshake[i] =
            !c->is_chosen || is_of_shown(c, &all->v[i], is_shown) ||
            (choice->by_ends && choice->worst == 0 && has_ends(c, &all->v[i], choice->ends));
        c->n_handshakes_shown += c->shows_handshake[i];
    }
    free(is_shown);
}

void choice_apply(struct check *c, const struct choice *choice)
{
    c->n_shown = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (!choice->by_ends || is_between(c, &c->v[i], choice->ends))
            c->shown[c->n_shown++] = i;
    }
    if (choice->worst > 0)
        keep_worst(c, choice->worst);
    c->is_chosen = choice->by_ends || choice->worst > 0;
    choose_handshakes(c, choice);
    if (c->is_chosen)
        keep_findings(c);
}

bool *choice_flows(const struct check *c)
{
    bool *flows = must_malloc(c->record.n_flows + (size_t)1);

    memset(flows, 0, c->record.n_flows + (size_t)1);
    for (uint32_t i = 0; i < c->n_shown; i++) {
        const struct connection *k = &c->v[c->shown[i]];

        flows[k->flow[0]] = true;
        if (k->flow[1] != SEEN_NONE)
            flows[k->flow[1]] = true;
    }
    return flows;
}
