/* SPDX-License-Identifier: MIT */
/* The drill of the shortcut: what programs see in both labs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/wc_status.h"
#include "process/must.h"
#include "rdmalab/events.h"
#include "swarm/drills/drill_shortcut.h"

static bool same_completion(struct drill *d, const struct rdl_wc *a, const struct rdl_wc *b)
{
    return drill_expect(
        d,
        a->wr_id == b->wr_id && a->status == b->status && a->byte_len == b->byte_len &&
            a->qp_num == b->qp_num && a->wc_flags == b->wc_flags && a->sl == b->sl &&
            (a->status != WCS_SUCCESS || a->opcode == b->opcode) &&
            a->vendor_err == b->vendor_err && memcmp(a->imm, b->imm, sizeof(a->imm)) == 0,
        "a program sees the same completions with the shortcut and without",
        "wr_id %" PRIu64 " %s, %u bytes, by the shortcut wr_id %" PRIu64 " %s, %u bytes", a->wr_id,
        enum_name(&enum_wc_status, a->status), a->byte_len, b->wr_id,
        enum_name(&enum_wc_status, b->status), b->byte_len);
}

/* Polls queue @q, of sends or of receives, of @side in both labs. */
static bool same_queue(struct drill *d, unsigned side, unsigned q)
{
    struct twins *t = d->own;
    struct rdl_wc wc[LANES][2 * DEPTH];
    size_t n[LANES];

    for (unsigned k = 0; k < LANES; k++) {
        if (!drill_works(d,
                         rdl_poll_cq(t->lane[k].d->lab, t->lane[k].cq[side][t->pair][q],
                                     ARRAY_LEN(wc[k]), wc[k], &n[k]),
                         "a queue can be polled"))
            return false;
    }
    if (!drill_expect(d, n[0] == n[1], "there are as many completions in both labs",
                      "%zu, by the shortcut %zu", n[0], n[1]))
        return false;
    for (size_t i = 0; i < n[0]; i++) {
        t->failed |= wc[0][i].status != WCS_SUCCESS;
        if (!same_completion(d, &wc[0][i], &wc[1][i]))
            return false;
    }
    return true;
}

bool twins_same_completions(struct drill *d)
{
    return same_queue(d, 0, 0) && same_queue(d, 0, 1) && same_queue(d, 1, 0) && same_queue(d, 1, 1);
}

bool twins_same_events(struct drill *d, unsigned side)
{
    struct twins *t = d->own;
    struct rdl_async_event e[LANES];
    size_t n[LANES];

    do {
        for (unsigned k = 0; k < LANES; k++) {
            struct rdl_lab *lab = t->lane[k].d->lab;

            if (!drill_works(d, rdl_get_async_event(lab, t->lane[k].host[side], &e[k], &n[k]),
                             "events can be taken") ||
                (n[k] > 0 &&
                 !drill_works(d, rdl_ack_async_event(lab, &e[k]), "an event can be acknowledged")))
                return false;
        }
        if (!drill_expect(d, n[0] == n[1] && (n[0] == 0 || e[0].type == e[1].type),
                          "a program gets the same asynchronous events in both labs",
                          "%zu of type %u, by the shortcut %zu of type %u", n[0],
                          n[0] ? e[0].type : 0, n[1], n[1] ? e[1].type : 0))
            return false;
    } while (n[0] > 0);
    return true;
}

bool twins_mend(struct drill *d)
{
    struct twins *t = d->own;
    const struct twin_lab *a = &t->lane[0], *b = &t->lane[1];
    uint8_t *bytes = malloc(ROOM);
    bool ok = bytes != NULL;

    for (uint32_t i = 0; i < t->n_torn && ok; i++) {
        const struct twin_piece *p = &t->torn[i];

        ok = drill_works(d,
                         rdl_mem_read(a->d->lab, a->host[p->side], a->base[p->side] + p->at, bytes,
                                      p->bytes),
                         "memory can be read") &&
             drill_works(d,
                         rdl_mem_write(b->d->lab, b->host[p->side], b->base[p->side] + p->at, bytes,
                                       p->bytes),
                         "memory can be written");
    }
    free(bytes);
    return ok;
}

bool twins_same_memory(struct drill *d, unsigned side)
{
    struct twins *t = d->own;
    uint8_t *bytes = malloc((size_t)LANES * ROOM);
    bool ok = bytes != NULL;
    uint32_t at = 0;

    for (unsigned k = 0; k < LANES && ok; k++)
        ok = drill_works(d,
                         rdl_mem_read(t->lane[k].d->lab, t->lane[k].host[side],
                                      t->lane[k].base[side], bytes + (size_t)k * ROOM, ROOM),
                         "memory can be read");
    while (ok && at < ROOM && bytes[at] == bytes[ROOM + at])
        at++;
    ok = ok && drill_expect(d, at == ROOM, "memory is the same in both labs",
                            "byte %u of h%u is 0x%02x, by the shortcut 0x%02x", at, side + 1,
                            bytes[at % ROOM], bytes[(ROOM + at) % (2 * ROOM)]);
    free(bytes);
    return ok;
}

/* --- The tree --------------------------------------------------------------------------------- */

/* Values that the shortcut changes, by a part of their path. */
static const char *const differs[] = {
    ".port.sent_",  ".port.rcvd_",      ".port.taken_frames",
    ".port.copied", ".port.drops",      /* of frames that come when it is too late */
    ".sent_pkts",                       /* one acknowledge can stand for several */
    ".rcvd_pkts",   ".out_of_sequence", /* counts what comes behind a refused packet */
};

/* Values that are the same unless a message has failed, of which frames may have brought a part. */
static const char *const differs_torn[] = {"_psn"};

static bool is_among(const char *path, const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strstr(path, parts[i]))
            return true;
    }
    return false;
}

static bool is_compared(const char *path, const struct rdl_value *v, bool torn)
{
    if (v->type == RDL_TIME || v->type == RDL_NODE)
        return false;
    return !is_among(path, differs, ARRAY_LEN(differs)) &&
           !(torn && is_among(path, differs_torn, ARRAY_LEN(differs_torn)));
}

static void keep_value(void *ctx, const char *path, const struct rdl_value *v)
{
    struct twin_lab *l = ctx;

    if (!is_compared(path, v, l->torn))
        return;
    if (l->n_values == l->room) {
        l->room = l->room ? 2 * l->room : 4096;
        l->values = must_realloc(l->values, l->room * sizeof(*l->values));
    }
    snprintf(l->values[l->n_values].path, RDL_PATH_BYTES, "%s", path);
    l->values[l->n_values++].is = *v;
}

bool twins_same_tree(struct drill *d, unsigned side)
{
    static const char *const names[SIDES] = {"h1", "h2"};
    struct twins *t = d->own;
    size_t at;

    for (unsigned k = 0; k < LANES; k++) {
        t->lane[k].n_values = 0;
        t->lane[k].torn = t->n_torn > 0;
        if (!drill_works(
                d, rdl_inspect_below(t->lane[k].d->lab, names[side], keep_value, &t->lane[k], &at),
                "a guest can be looked at"))
            return false;
    }
    if (!drill_expect(d, t->lane[0].n_values == t->lane[1].n_values,
                      "the tree has the same values in both labs", "%zu, by the shortcut %zu",
                      t->lane[0].n_values, t->lane[1].n_values))
        return false;
    for (size_t i = 0; i < t->lane[0].n_values; i++) {
        const struct twin_value *a = &t->lane[0].values[i], *b = &t->lane[1].values[i];

        if (!drill_expect(d,
                          strcmp(a->path, b->path) == 0 && a->is.number == b->is.number &&
                              strcmp(a->is.text, b->is.text) == 0,
                          "the tree says the same of a guest in both labs",
                          "%s is %" PRIu64 " %s, by the shortcut %" PRIu64 " %s", a->path,
                          a->is.number, a->is.text, b->is.number, b->is.text))
            return false;
    }
    return true;
}
