/* SPDX-License-Identifier: MIT */
#include "capture/record.h"

#include <stdlib.h>
#include <string.h>

#include "capture/copies.h"
#include "emu/base/assert.h"
#include "emu/base/fnv.h"
#include "process/must.h"

#define FIRST_ROOM 64u
#define MTU_USUAL  1024u
/* Frames of a host, all wrong, that show that it does not compute ICRCs. */
#define NEVER_RIGHT_LEAST 3u
#define SIGHTS_LOOK       64u   /* messages among which the earlier sight of one is searched */
#define LONELY_LOOK       4096u /* flows that are searched for one without a peer */

/* --- Hash tables ------------------------------------------------------------------------------ */

struct key {
    uint32_t src, dst, dest_qpn, service, handshake;
};

static uint32_t hash_of_host(const struct capture_record *r, uint32_t i)
{
    return fnv1a(r->hosts[i].gid, GID_BYTES);
}

static struct key key_of(const struct flow *f)
{
    return (struct key){f->src, f->dst, f->dest_qpn, f->service, f->handshake};
}

static uint32_t hash_of_flow(const struct capture_record *r, uint32_t i)
{
    const struct key k = key_of(&r->flows[i]);

    return fnv1a(&k, sizeof(k));
}

static void enter(struct lookup *l, uint32_t hash, uint32_t i)
{
    uint32_t at = hash & (l->n_slots - 1);

    while (l->slots[at] != SEEN_NONE)
        at = (at + 1) & (l->n_slots - 1);
    l->slots[at] = i;
}

/* Makes room for one more entry in addition to @n; @hash_of returns the hash of an entry. */
static void make_room(struct lookup *l, const struct capture_record *r, uint32_t n,
                      uint32_t (*hash_of)(const struct capture_record *, uint32_t))
{
    if (2 * (n + 1) < l->n_slots)
        return;
    l->n_slots = l->n_slots ? 2 * l->n_slots : FIRST_ROOM;
    l->slots = must_realloc(l->slots, l->n_slots * sizeof(l->slots[0]));
    for (uint32_t i = 0; i < l->n_slots; i++)
        l->slots[i] = SEEN_NONE;
    for (uint32_t i = 0; i < n; i++)
        enter(l, hash_of(r, i), i);
}

uint32_t record_host(const struct capture_record *r, const uint8_t gid[GID_BYTES])
{
    const uint32_t hash = fnv1a(gid, GID_BYTES);

    if (r->by_gid.n_slots == 0)
        return SEEN_NONE;
    for (uint32_t at = hash & (r->by_gid.n_slots - 1); r->by_gid.slots[at] != SEEN_NONE;
         at = (at + 1) & (r->by_gid.n_slots - 1)) {
        if (memcmp(r->hosts[r->by_gid.slots[at]].gid, gid, GID_BYTES) == 0)
            return r->by_gid.slots[at];
    }
    return SEEN_NONE;
}

static uint32_t host_of(struct capture_record *r, const uint8_t gid[GID_BYTES])
{
    const uint32_t found = record_host(r, gid);

    if (found != SEEN_NONE)
        return found;
    make_room(&r->by_gid, r, r->n_hosts, hash_of_host);
    if (r->n_hosts == r->hosts_cap) {
        r->hosts_cap = r->hosts_cap ? 2 * r->hosts_cap : FIRST_ROOM;
        r->hosts = must_realloc(r->hosts, r->hosts_cap * sizeof(r->hosts[0]));
    }
    r->hosts[r->n_hosts] = (struct station){.n_sent = 0};
    memcpy(r->hosts[r->n_hosts].gid, gid, GID_BYTES);
    enter(&r->by_gid, fnv1a(gid, GID_BYTES), r->n_hosts);
    return r->n_hosts++;
}

/* Returns the flow with key @k; SEEN_NONE: there is none. */
static uint32_t find_flow(const struct capture_record *r, const struct key *k)
{
    const uint32_t hash = fnv1a(k, sizeof(*k));

    if (r->by_key.n_slots == 0)
        return SEEN_NONE;
    for (uint32_t at = hash & (r->by_key.n_slots - 1); r->by_key.slots[at] != SEEN_NONE;
         at = (at + 1) & (r->by_key.n_slots - 1)) {
        const struct key other = key_of(&r->flows[r->by_key.slots[at]]);

        if (memcmp(&other, k, sizeof(other)) == 0)
            return r->by_key.slots[at];
    }
    return SEEN_NONE;
}

static uint32_t flow_of(struct capture_record *r, const struct key *k)
{
    const uint32_t found = find_flow(r, k);

    if (found != SEEN_NONE)
        return found;
    make_room(&r->by_key, r, r->n_flows, hash_of_flow);
    if (r->n_flows == r->flows_cap) {
        r->flows_cap = r->flows_cap ? 2 * r->flows_cap : FIRST_ROOM;
        r->flows = must_realloc(r->flows, r->flows_cap * sizeof(r->flows[0]));
    }
    r->flows[r->n_flows] = (struct flow){
        .src = k->src,
        .dst = k->dst,
        .dest_qpn = k->dest_qpn,
        .service = (uint8_t)k->service,
        .handshake = k->handshake,
        .first = SEEN_NONE,
        .last = SEEN_NONE,
        .first_lnet = SEEN_NONE,
        .peer = SEEN_NONE,
    };
    enter(&r->by_key, fnv1a(k, sizeof(*k)), r->n_flows);
    return r->n_flows++;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static void add_faults(const struct seen *s, const struct seen_faults *faults,
                       struct found_list *found)
{
    for (uint32_t i = 0; i < faults->n; i++) {
        const struct seen_fault *f = &faults->v[i];

        found_add(found, &(struct found){.finding = f->finding,
                                         .flow = FOUND_NOWHERE,
                                         .frame = s->number,
                                         .value = f->value,
                                         .why = f->why,
                                         .n = f->n,
                                         .psn = s->psn,
                                         .opcode = s->opcode});
    }
}

static void set_vantage(struct seen *s, const struct seen_way *way, const struct vantage *at)
{
    for (unsigned i = 0; i < at->n_at; i++) {
        if (memcmp(at->at[i], way->src, GID_BYTES) == 0)
            s->flags |= SEEN_SENT;
        else if (memcmp(at->at[i], way->dst, GID_BYTES) == 0)
            s->flags |= SEEN_CAME;
    }
}

static void keep(struct capture_record *r, struct seen *s, const struct seen_way *way,
                 const struct vantage *at)
{
    if (r->n == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 16 * FIRST_ROOM;
        r->v = must_realloc(r->v, r->cap * sizeof(r->v[0]));
    }
    set_vantage(s, way, at);
    s->src = host_of(r, way->src);
    s->dst = host_of(r, way->dst);
    r->v[r->n++] = *s;
}

/* Counts the frames of each host, and those with a wrong ICRC. */
static void count_of_hosts(struct capture_record *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct seen *s = &r->v[i];
        struct station *h = &r->hosts[s->src];

        if (s->flags & SEEN_AGAIN)
            continue;
        r->n_cut += (s->flags & SEEN_CUT) != 0;
        if (s->flags & (SEEN_CUT | SEEN_UNSUMMED))
            continue;
        h->n_sent++;
        h->n_no_icrc += (s->flags & SEEN_NO_ICRC) != 0;
        if (s->flags & SEEN_DAMAGED && h->n_wrong++ == 0)
            h->first_wrong = s->number;
    }
}

/* Returns the smallest path MTU that explains how many PSNs READ @read takes; 0: unknown.  The next
 * request in its flow shows that, unless it repeats the rest of the READ.
 */
static uint32_t least_mtu(const struct seen *read, const struct seen *next)
{
    const int32_t psns = psn_diff(seen_psn(next), seen_psn(read));
    uint32_t mtu = 256;

    if (seen_op(read)->kind != OPK_READ || !record_is_request(next) || psns <= 0 ||
        (seen_op(next)->kind == OPK_READ && next->dma_bytes < read->dma_bytes))
        return 0;
    while (mtu < 256u << RECORD_MTUS && (uint64_t)mtu * (uint32_t)psns < read->dma_bytes)
        mtu *= 2;
    return mtu < 256u << RECORD_MTUS ? mtu : 0;
}

static void count(struct capture_record *r, struct flow *f, uint32_t i)
{
    const struct seen *s = &r->v[i];
    const struct op_info *op = seen_op(s);
    const bool is_full = op->pos == OPP_FIRST || op->pos == OPP_MIDDLE;

    f->n++;
    f->n_requests += record_is_request(s);
    f->n_answers += op_is_response(op);
    f->n_sent += (s->flags & SEEN_SENT) != 0;
    f->n_came += (s->flags & SEEN_CAME) != 0;
    f->n_ce += (s->flags & SEEN_CE) != 0;
    f->payload_bytes += s->payload_bytes;
    if (f->last != SEEN_NONE) {
        const uint32_t least = least_mtu(&r->v[f->last], s);

        f->id_changes += r->v[f->last].ip_id != s->ip_id;
        if (least > f->read_mtu)
            f->read_mtu = least;
    }
    for (uint32_t m = 0; is_full && m < RECORD_MTUS; m++)
        f->full[m] += s->payload_bytes == 256u << m;
    if (!is_full && s->payload_bytes > f->only_max)
        f->only_max = s->payload_bytes;
}

/* Returns the key of the flow that @s belongs to at this moment, and the side of its sender in its
 * handshake.
 */
static struct key key_to(const struct capture_record *r, const struct seen *s, uint32_t service,
                         unsigned *ret_side)
{
    const bool is_connected = service == OPS_RC || service == OPS_UC;

    return (struct key){
        s->src, s->dst, s->dest_qpn, service,
        is_connected ? handshakes_of_qp(&r->handshakes, s->src, s->dst, s->dest_qpn, ret_side)
                     : HANDSHAKE_NONE};
}

static void add_to_flow(struct capture_record *r, uint32_t i)
{
    const struct seen *s = &r->v[i];
    unsigned side = 0;
    const struct key k = key_to(r, s, seen_op(s)->service, &side);
    const uint32_t flow = flow_of(r, &k); /* may reallocate the flows */
    struct flow *f = &r->flows[flow];

    f->side = (uint8_t)side;
    if (k.handshake != HANDSHAKE_NONE)
        r->handshakes.v[k.handshake].flow[side] = flow;
    count(r, f, i);
    if (f->last == SEEN_NONE)
        f->first = i;
    else
        r->v[f->last].next = i;
    f->last = i;
}

/* Counts a CNP.  It goes to the sender of too much data, so it has the direction and destination
 * queue pair of the opposite flow.  That flow counts it, because flows are not paired yet.
 */
static void add_cnp(struct capture_record *r, const struct seen *s)
{
    static const uint32_t services[] = {OPS_RC, OPS_UC, OPS_UD};
    uint32_t flow = SEEN_NONE;

    for (size_t i = 0; i < ARRAY_LEN(services) && flow == SEEN_NONE; i++) {
        unsigned side;
        struct key k = key_to(r, s, services[i], &side);

        flow = find_flow(r, &k);
        k.handshake = HANDSHAKE_NONE;
        if (flow == SEEN_NONE)
            flow = find_flow(r, &k);
    }
    if (flow == SEEN_NONE)
        r->n_cnps++;
    else
        r->flows[flow].n_cnps++;
}

static void judge_hosts(struct capture_record *r, struct found_list *found)
{
    for (uint32_t i = 0; i < r->n_hosts; i++) {
        struct station *h = &r->hosts[i];
        const bool is_empty = h->n_sent > 0 && h->n_no_icrc == h->n_sent;

        h->never_right = is_empty || (h->n_wrong == h->n_sent && h->n_sent >= NEVER_RIGHT_LEAST);
        if (h->never_right)
            found_add(found, &(struct found){.finding = is_empty ? FIND_ICRC_NOT_WRITTEN
                                                                 : FIND_ICRC_NEVER_RIGHT,
                                             .flow = FOUND_NOWHERE,
                                             .frame = h->first_wrong,
                                             .n = (uint32_t)h->n_sent});
    }
}

/* Another sight of the same transmission as message @i: it came to its destination. */
static void note_arrival(struct capture_record *r, size_t i)
{
    const uint64_t content = seen_content(&r->v[r->handshakes.messages[i].seen]);
    size_t n = 0;

    for (size_t before = i; before-- > 0 && n < SIGHTS_LOOK; n++) {
        struct cm_seen *m = &r->handshakes.messages[before];

        if (m->handshake == HANDSHAKE_NONE || seen_content(&r->v[m->seen]) != content)
            continue;
        m->has_come = true;
        return;
    }
}

/* Takes the message of the connection manager in packet @i. */
static void take_message(struct capture_record *r, size_t message)
{
    struct cm_seen *m = &r->handshakes.messages[message];
    const struct seen *s = &r->v[m->seen];

    if (s->flags & SEEN_DAMAGED && !r->hosts[s->src].never_right)
        return;
    m->has_come = (s->flags & SEEN_CAME) != 0;
    if (!(s->flags & SEEN_AGAIN))
        handshakes_take(&r->handshakes, (uint32_t)message, s->src, s->dst);
    else if (m->has_come)
        note_arrival(r, message);
}

/* Finds the datagrams to the queue pairs that SIDR_REPs name. */
static void tie_services(struct capture_record *r)
{
    for (size_t i = 0; i < r->handshakes.n; i++) {
        struct handshake *k = &r->handshakes.v[i];
        const struct key to = {k->host[0], k->host[1], k->qpn[1], OPS_UD, HANDSHAKE_NONE};

        if (k->is_sidr && k->has_qpn[1])
            k->flow[0] = find_flow(r, &to);
    }
}

static void sort_into_flows(struct capture_record *r, struct found_list *found)
{
    size_t message = 0;

    for (uint32_t i = 0; i < r->n; i++) {
        const struct seen *s = &r->v[i];
        const bool is_damaged = s->flags & SEEN_DAMAGED && !r->hosts[s->src].never_right;

        if (message < r->handshakes.n_messages && r->handshakes.messages[message].seen == i)
            take_message(r, message++);
        if (s->flags & SEEN_DROPPED)
            continue;
        if (is_damaged)
            found_add(found, &(struct found){.finding = FIND_BAD_ICRC,
                                             .flow = FOUND_NOWHERE,
                                             .frame = s->number,
                                             .psn = s->psn,
                                             .opcode = s->opcode});
        else if (seen_op(s)->service != OPS_CNP)
            add_to_flow(r, i);
    }
    tie_services(r);
    for (uint32_t i = 0; i < r->n; i++) {
        if (seen_op(&r->v[i])->service == OPS_CNP && !(r->v[i].flags & (SEEN_DAMAGED | SEEN_AGAIN)))
            add_cnp(r, &r->v[i]);
    }
}

/* Corrects times that go back, so that differences are never negative. */
static void set_time(struct capture_record *r, struct seen *s)
{
    if (r->n_roce == 1)
        r->first_ns = s->at_ns;
    if (r->n_roce > 1 && s->at_ns < r->last_ns) {
        r->n_back++;
        s->at_ns = r->last_ns;
    }
    r->last_ns = s->at_ns;
}

static void count_unread(struct capture_record *r, const struct capture_frame *f)
{
    uint32_t i = 0;

    while (i < r->n_unread && r->unread[i].link != f->link && i + 1 < RECORD_LINKS)
        i++;
    if (i == r->n_unread)
        r->unread[r->n_unread++] = (struct unread){.link = f->link, .first = f->number};
    r->unread[i].n++;
}

static void keep_pause(struct capture_record *r, const struct seen *s,
                       const struct link_pause *what)
{
    r->pauses = must_grow(r->pauses, r->n_pauses, &r->pauses_cap, sizeof(r->pauses[0]));
    r->pauses[r->n_pauses++] = (struct pause){s->at_ns, *what};
}

static void keep_mad(struct capture_record *r, const struct seen_mad *mad)
{
    if (mad->is_there)
        handshakes_add(&r->handshakes, &mad->mad, r->n - 1);
    else if (mad->is_cut && r->handshakes.n_cut++ == 0)
        r->handshakes.first_cut = r->n - 1;
}

/* Reports a frame that was lost on its way.  It is no packet of the record, which has it from the
 * place where it was sent.
 */
static void report_lost(struct capture_record *r, const struct seen *s, struct found_list *found)
{
    r->n_lost++;
    found_add(found, &(struct found){.finding = FIND_LOST_ON_WIRE,
                                     .flow = FOUND_NOWHERE,
                                     .frame = s->number,
                                     .psn = s->psn,
                                     .opcode = s->opcode});
}

static void take_frame(struct capture_record *r, const struct capture_frame *f,
                       const struct vantage *at, struct found_list *found)
{
    struct link_pause pause;
    struct seen_faults faults;
    struct seen_contents contents;
    struct seen_way way;
    struct seen s;
    const enum seen_result is = seen_read(f, &s, &way, &pause, &contents, &faults);

    if (is == SEEN_ROCE_V1 && r->n_v1++ == 0)
        r->first_v1 = f->number;
    else if (is == SEEN_PAUSE)
        keep_pause(r, &s, &pause);
    else if (is == SEEN_UNREAD)
        count_unread(r, f);
    if (is != SEEN_PACKET && is != SEEN_BROKEN)
        return;
    if (f->is_lost && is == SEEN_PACKET) {
        report_lost(r, &s, found);
        return;
    }
    r->n_roce++;
    if (f->clock_ns > r->clock_ns)
        r->clock_ns = f->clock_ns;
    set_time(r, &s);
    if (is == SEEN_PACKET) {
        keep(r, &s, &way, at);
        keep_mad(r, &contents.mad);
        lnet_messages_take(r, &contents.send);
    }
    add_faults(&s, &faults, found);
}

/* Reports frames that are not judged, and that a reader would miss. */
static void report_unread(const struct capture_record *r, struct found_list *found)
{
    if (r->n_v1 > 0)
        found_add(found, &(struct found){.finding = FIND_ROCE_V1,
                                         .flow = FOUND_NOWHERE,
                                         .frame = r->first_v1,
                                         .n = (uint32_t)r->n_v1});
    for (uint32_t i = 0; i < r->n_unread; i++) {
        const struct unread *u = &r->unread[i];
        const char *name = i + 1 == RECORD_LINKS ? "and others" : link_name(u->link);

        found_add(found, &(struct found){.finding = FIND_UNREAD_LINK,
                                         .flow = FOUND_NOWHERE,
                                         .frame = u->first,
                                         .n = (uint32_t)u->n,
                                         .value = u->link,
                                         .why = name ? name : "unknown here"});
    }
}

bool record_read(struct capture_record *r, struct capture *c, const struct vantage *at,
                 struct found_list *found)
{
    struct capture_frame frame;
    enum capture_result result;

    *r = (struct capture_record){.n = 0};
    while ((result = capture_next(c, &frame)) == CAPTURE_FRAME)
        take_frame(r, &frame, at, found);
    r->n_frames = c->n_frames;
    copies_mark(r, at->n_at > 0);
    r->n_roce -= r->n_copies;
    r->has_arrivals = r->has_departures = at->n_at > 0;
    for (uint32_t i = 0; i < r->n; i++) {
        r->has_arrivals |= (r->v[i].flags & SEEN_CAME) != 0;
        r->has_departures |= (r->v[i].flags & SEEN_SENT) != 0;
    }
    count_of_hosts(r);
    report_unread(r, found);
    judge_hosts(r, found);
    sort_into_flows(r, found);
    lnet_messages_place(r);
    return result == CAPTURE_END;
}

void record_done(struct capture_record *r)
{
    free(r->v);
    free(r->hosts);
    free(r->flows);
    free(r->pauses);
    free(r->by_gid.slots);
    free(r->by_key.slots);
    handshakes_done(&r->handshakes);
    lnet_messages_done(&r->lnet);
    *r = (struct capture_record){.n = 0};
}

/* --- Queries ---------------------------------------------------------------------------------- */

bool record_counts(const struct flow *f, const struct seen *s)
{
    return f->n_sent == 0 || s->flags & SEEN_SENT;
}

bool record_knows_silence(const struct capture_record *r, uint32_t flow)
{
    const struct flow *f = &r->flows[flow];

    return (f->n_sent > 0 && r->has_arrivals) || (f->n_came > 0 && r->has_departures);
}

uint32_t record_other_lonely(const struct capture_record *r, uint32_t flow)
{
    const struct flow *f = &r->flows[flow];

    for (uint32_t i = 0; i < r->n_flows && i < LONELY_LOOK; i++) {
        const struct flow *g = &r->flows[i];

        if (g->src == f->dst && g->dst == f->src && g->service == f->service &&
            g->peer == SEEN_NONE && !record_differ(r, f, g) &&
            (f->n_requests > 0 ? g->n_answers : g->n_requests) > 0)
            return i;
    }
    return SEEN_NONE;
}

bool record_fits_no_mtu(const struct seen *s)
{
    const struct op_info *op = seen_op(s);
    const uint32_t n = s->payload_bytes, largest = 256u << (RECORD_MTUS - 1);

    if (op->pos == OPP_FIRST || op->pos == OPP_MIDDLE)
        return n < 256 || n > largest || (n & (n - 1)) != 0;
    return n > largest || (op->pos == OPP_LAST && n == 0);
}

uint32_t *record_flows(const struct capture_record *r)
{
    uint32_t *flows = must_malloc((r->n + (size_t)1) * sizeof(*flows));

    for (uint32_t i = 0; i < r->n; i++)
        flows[i] = SEEN_NONE;
    for (uint32_t f = 0; f < r->n_flows; f++) {
        for (uint32_t i = r->flows[f].first; i != SEEN_NONE; i = r->v[i].next)
            flows[i] = f;
    }
    return flows;
}

bool record_is_request(const struct seen *s)
{
    return op_is_request(seen_op(s));
}

struct agreed record_agreed(const struct capture_record *r, const struct flow *f)
{
    static const struct handshake none;

    return handshake_agreed(&r->handshakes,
                            f->handshake == HANDSHAKE_NONE ? &none : &r->handshakes.v[f->handshake],
                            f->side);
}

bool record_differ(const struct capture_record *r, const struct flow *f, const struct flow *g)
{
    const struct flow *const both[] = {f, g};

    if (f->handshake != HANDSHAKE_NONE && g->handshake != HANDSHAKE_NONE)
        return f->handshake != g->handshake || f->side == g->side;
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t k = both[i]->handshake;

        if (k != HANDSHAKE_NONE && r->handshakes.v[k].has_qpn[both[i]->side])
            return true; /* its peer flow would have this handshake, too */
    }
    return false;
}

uint32_t record_mtu(const struct capture_record *r, const struct flow *f)
{
    const uint32_t agreed = record_agreed(r, f).mtu_bytes;
    uint64_t most = 0;
    uint32_t mtu = 0;

    for (uint32_t m = 0; m < RECORD_MTUS; m++) {
        const uint64_t n = f->full[m] + (f->peer == SEEN_NONE ? 0 : r->flows[f->peer].full[m]);

        if (n > most) {
            most = n;
            mtu = 256u << m;
        }
    }
    return agreed != AGREED_UNKNOWN && (mtu == 0 || mtu > agreed) ? agreed : mtu;
}

uint32_t record_read_mtu(const struct capture_record *r, const struct flow *f)
{
    const uint32_t answers_max = f->peer == SEEN_NONE ? 0 : r->flows[f->peer].only_max;
    uint32_t mtu = record_mtu(r, f);

    if (mtu != 0)
        return mtu;
    for (mtu = MTU_USUAL; mtu < f->only_max || mtu < answers_max || mtu < f->read_mtu;)
        mtu *= 2;
    return mtu;
}

bool record_has_ids(const struct flow *f)
{
    return f->n >= 3 && f->id_changes >= (f->n - 1) / 4 * 3 && f->id_changes > 0;
}
