/* SPDX-License-Identifier: MIT */
#include "capture/copies.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/fnv.h"
#include "process/must.h"

#define SLOTS_LEAST 64u
#define MIRROR_LOOK 65536u /* packets that decide whether a host's frames come in pairs */
#define PAIRS_LEAST 8u
#define PAIRS_TIMES 10u   /* pairs for each frame that is single */
#define PAIR_NS_MAX 8192u /* the shortest ACK timer: sooner nothing is sent again by itself */

/* The knowledge about a transmission. */
enum sight {
    SIGHT_SENT = 1,
    SIGHT_CAME = 2,
    SIGHT_ELSEWHERE = 4, /* its direction is not known */
    SIGHT_CE = 8         /* its mark was counted */
};

/* A number for each key. */
struct tally {
    struct {
        uint64_t key;
        uint32_t v;
        bool is_used;
    } * slots;
    size_t n_slots; /* a power of two, more than there are keys */
};

/* The transmissions of a host, as they were seen at two places. */
struct passage {
    uint32_t place;      /* the first place */
    bool has_several;    /* there are more */
    uint64_t n_through;  /* came in, and then went out: forwarded */
    uint64_t n_across;   /* went out, and then came in */
    uint64_t n, n_pairs; /* frames of unknown direction; pairs of equal ones at one place */
    bool is_mirrored;    /* each transmission is seen twice at one place */
};

static uint32_t *value(struct tally *t, uint64_t hash, uint32_t more, uint32_t kind)
{
    const uint32_t words[] = {more, kind};
    const uint64_t key = fnv1a_64_words(hash, words, ARRAY_LEN(words));
    size_t at = (key ^ key >> 32) & (t->n_slots - 1);

    while (t->slots[at].is_used && t->slots[at].key != key)
        at = (at + 1) & (t->n_slots - 1);
    t->slots[at].key = key;
    t->slots[at].is_used = true;
    return &t->slots[at].v;
}

static enum sight sight_of(const struct seen *s)
{
    if (s->flags & SEEN_SENT)
        return SIGHT_SENT;
    return s->flags & SEEN_CAME ? SIGHT_CAME : SIGHT_ELSEWHERE;
}

/* Returns true if packet @is_now shows more of a transmission than what was seen of it: both ends
 * are kept apart.
 */
static bool is_kept(uint32_t before, enum sight is_now)
{
    if (is_now == SIGHT_SENT)
        return !(before & SIGHT_SENT);
    return is_now == SIGHT_CAME && !(before & SIGHT_CAME);
}

static void take(struct capture_record *r, struct seen *s, struct tally *t, struct passage *p)
{
    const uint64_t content = seen_content(s);
    const uint32_t sights = ++*value(t, content, s->place, 0);
    const enum sight is_now = sight_of(s);
    const bool by_pairs = p->is_mirrored && is_now == SIGHT_ELSEWHERE;
    uint32_t *before = value(t, content, by_pairs ? (sights + 1) / 2 : sights, 1);

    if (*before) {
        s->flags |= SEEN_AGAIN | (is_kept(*before, is_now) ? 0 : SEEN_DROPPED);
        r->n_copies++;
        p->n_through += is_now == SIGHT_SENT && (*before & SIGHT_CAME) && !(*before & SIGHT_SENT);
        p->n_across += is_now == SIGHT_CAME && (*before & SIGHT_SENT) && !(*before & SIGHT_CAME);
    }
    *before |= is_now;
    if (*before & SIGHT_CE)
        s->flags &= (uint16_t)~SEEN_CE;
    else if (s->flags & SEEN_CE)
        *before |= SIGHT_CE;
}

/* Makes room for @n keys. */
static struct tally new_tally(size_t n)
{
    struct tally t = {.n_slots = SLOTS_LEAST};

    while (t.n_slots < n + n / 2)
        t.n_slots *= 2;
    t.slots = must_malloc(t.n_slots * sizeof(t.slots[0]));
    memset(t.slots, 0, t.n_slots * sizeof(t.slots[0]));
    return t;
}

/* Finds hosts whose frames come in pairs.  Returns true if there are any. */
static bool find_pairs(const struct capture_record *r, struct passage *hosts)
{
    const uint32_t look = r->n < MIRROR_LOOK ? r->n : MIRROR_LOOK;
    struct tally t = new_tally(look);
    bool are_there = false;

    for (uint32_t i = 0; i < look; i++) {
        const struct seen *s = &r->v[i];
        struct passage *p = &hosts[s->src];
        uint32_t *before = value(&t, seen_content(s), s->place, 0); /* 1 + the first of a pair */

        if (sight_of(s) != SIGHT_ELSEWHERE)
            continue;
        p->n++;
        if (*before && s->at_ns - r->v[*before - 1].at_ns < PAIR_NS_MAX) {
            p->n_pairs++;
            *before = 0;
        } else {
            *before = i + 1;
        }
    }
    free(t.slots);
    for (uint32_t i = 0; i < r->n_hosts; i++) {
        struct passage *p = &hosts[i];

        p->is_mirrored =
            p->n_pairs >= PAIRS_LEAST && (p->n - 2 * p->n_pairs) * PAIRS_TIMES <= p->n_pairs;
        are_there |= p->is_mirrored;
    }
    return are_there;
}

/* Examines all packets of hosts that were seen at several places, or twice at one. */
static void take_all(struct capture_record *r, struct passage *hosts)
{
    struct tally t = new_tally((size_t)r->n * 2);

    r->n_copies = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        r->v[i].flags &= (uint16_t) ~(SEEN_AGAIN | SEEN_DROPPED);
        if (hosts[r->v[i].src].has_several || hosts[r->v[i].src].is_mirrored)
            take(r, &r->v[i], &t, &hosts[r->v[i].src]);
    }
    free(t.slots);
}

/* Makes the direction a part of the place, and finds hosts that were seen at several.  Returns true
 * if there are any.
 */
static bool find_places(struct capture_record *r, struct passage *hosts)
{
    bool are_there = false;

    for (uint32_t i = 0; i < r->n; i++) {
        struct seen *s = &r->v[i];
        struct passage *p = &hosts[s->src];

        s->place = s->place * 8 + sight_of(s);
        if (p->place == 0)
            p->place = s->place;
        p->has_several |= p->place != s->place;
        are_there |= p->has_several;
    }
    return are_there;
}

/* Forgets the directions of what was forwarded.  Returns true if there is any. */
static bool forget_directions(struct capture_record *r, const struct passage *hosts)
{
    bool did = false;

    for (uint32_t i = 0; i < r->n; i++) {
        const struct passage *p = &hosts[r->v[i].src];

        if (p->n_through <= p->n_across)
            continue;
        r->v[i].flags &= (uint16_t) ~(SEEN_SENT | SEEN_CAME);
        did = true;
    }
    return did;
}

void copies_mark(struct capture_record *r, bool is_told)
{
    struct passage *hosts = must_malloc((r->n_hosts + (size_t)1) * sizeof(*hosts));
    bool are_several, are_pairs;

    memset(hosts, 0, (r->n_hosts + (size_t)1) * sizeof(*hosts));
    are_several = find_places(r, hosts);
    are_pairs = find_pairs(r, hosts);
    if (are_several || are_pairs) {
        take_all(r, hosts);
        if (!is_told && forget_directions(r, hosts))
            take_all(r, hosts);
    }
    free(hosts);
}
