/* SPDX-License-Identifier: MIT */
/* The drill of frames: the setup, and how switches, links and faults treat frames of any content.
 */
#include <inttypes.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/profile.h"
#include "emu/trace/event.h"
#include "rdmalab/fault.h"
#include "swarm/drills/frames.h"
#include "swarm/drills/kinds.h"

#define LINE_BYTES    24u /* preamble, FCS and inter-frame gap */
#define FRAME_MIN     60u
#define RATE_DEFAULT  UINT64_C(100000000000)
#define LOSSY_FRAMES  40u
#define HALF_OF_A_MIO 500000u

/* --- Listeners -------------------------------------------------------------------------------- */

static void hear(void *ctx, const struct ev *e)
{
    struct frames *k = ctx;

    k->out_ns = e->at_ns;
}

static void keep(void *ctx, const void *frame, size_t bytes)
{
    const struct frames_reader *r = ctx;
    struct frames *k = r->k;
    struct frames_seen *s = &k->seen[k->n_seen];

    if (k->n_seen == FRAMES_KEPT)
        return;
    k->n_seen++;
    *s = (struct frames_seen){.port = r->port, .at_ns = k->out_ns, .bytes = bytes};
    memcpy(s->frame, frame, bytes < FRAMES_BYTES_MAX ? bytes : FRAMES_BYTES_MAX);
}

void frames_forget(struct frames *k)
{
    k->n_seen = 0;
}

bool frames_send(struct drill *d, uint32_t port, const uint8_t *frame, size_t bytes)
{
    struct frames *k = d->own;

    d->n_unsaid++;
    frames_forget(k);
    return drill_works(d, rdl_port_receive(d->lab, k->port[port], frame, bytes),
                       "a frame can come in through an external port") &&
           drill_settle(d);
}

/* --- The lab ---------------------------------------------------------------------------------- */

static bool add_link(struct drill *d, uint32_t i, const char *a, const char *b, uint32_t loss_ppm)
{
    static const uint64_t rates[] = {0, 1000000000, 10000000000, 25000000000};
    struct frames *k = d->own;
    struct rdl_link_config c = {.a = a, .b = b, .loss_ppm = loss_ppm};

    c.latency_ns = drill_below(d, 5000);
    c.rate_bps = rates[drill_below(d, 4)];
    k->latency_ns[i] = c.latency_ns;
    k->rate_bps[i] = c.rate_bps ? c.rate_bps : RATE_DEFAULT;
    drill_say(d, "link %s %s latency=%" PRIu64 "ns rate=%" PRIu64 "bps", a, b, c.latency_ns,
              k->rate_bps[i]);
    return drill_works(d, rdl_link_add(d->lab, &c, &k->link[i]), "a link can be added");
}

static bool add_ports(struct drill *d)
{
    static const char *const names[FRAMES_PORTS] = {"p1", "p2", "p3", "p4", "p5"};
    struct frames *k = d->own;

    for (uint32_t i = 0; i < FRAMES_PORTS; i++) {
        const struct rdl_port_config c = {.name = names[i]};

        k->reader[i] = (struct frames_reader){k, i};
        if (!drill_works(d, rdl_port_add(d->lab, &c, &k->port[i]), "a port can be added") ||
            !drill_works(d, rdl_port_read(d->lab, k->port[i], keep, &k->reader[i]),
                         "a port can be read") ||
            (i < FRAMES_SWITCHED && !add_link(d, i, names[i], "s1", 0)))
            return false;
    }
    return add_link(d, FRAMES_SWITCHED, "p4", "p5", HALF_OF_A_MIO);
}

static bool add_host(struct drill *d)
{
    const struct rdl_host_config c = {.name = "h1",
                                      .arp = drill_one_in(d, 2),
                                      .profile =
                                          drill_one_in(d, 3) ? rig_draw_rxe(d) : PROFILE_iba};
    const struct rdl_link_config link = {.a = "h1", .b = "s1", .latency_ns = 500};
    struct frames *k = d->own;
    rdl_link ret;

    drill_say(d, "host h1 profile=%s%s", enum_name(&enum_profile, c.profile), c.arp ? " arp" : "");
    drill_say(d, "link h1 s1 latency=500ns");
    return drill_works(d, rdl_host_add(d->lab, &c, &k->host), "a host can be added") &&
           drill_works(d, rdl_link_add(d->lab, &link, &ret), "a link can be added") &&
           drill_works(d, rdl_host_address(d->lab, k->host, 0, k->gid[0], k->mac),
                       "a host has an address") &&
           drill_works(d, rdl_host_address(d->lab, k->host, 1, k->gid[1], k->mac),
                       "a host has an address");
}

static void set_up(struct drill *d)
{
    struct frames *k = d->own;
    struct ev_set heard = ev_set_none;
    struct rdl_listener *listener;
    rdl_switch s;

    k->d = d;
    for (uint32_t i = 0; i < FRAMES_STATIONS; i++)
        k->learnt[i] = FRAMES_NOWHERE;
    drill_say(d, "switch s1");
    if (!drill_works(d, rdl_switch_add(d->lab, "s1", &s), "a switch can be added") ||
        !drill_works(d, rdl_listen(d->lab, hear, k, &listener), "a lab can be listened to"))
        return;
    ev_set_add(&heard, EV_port_out);
    rdl_hear(d->lab, listener, &heard);
    if (!add_host(d) || !add_ports(d) || !frames_add_ud(d) || !frames_join_groups(d))
        return;
    if (drill_settle(d))
        frames_forget(k);
}

/* --- Faults ----------------------------------------------------------------------------------- */

/* A frame and the fate that the model predicts for it. */
struct frame_in_flight {
    uint8_t frame[FRAMES_BYTES_MAX];
    size_t bytes;
    uint64_t delay_ns;
    bool is_lost;
};

static void take_fault_add(struct drill *d)
{
    static const uint32_t kinds[] = {FLT_DROP, FLT_DELAY, FLT_DELAY, FLT_CORRUPT};
    struct frames *k = d->own;
    struct frames_fault *f = NULL;
    struct rdl_fault_config c = {.opcode = RDL_ANY, .syndrome = RDL_ANY, .psn = RDL_ANY};

    for (uint32_t i = 0; i < FRAMES_FAULTS && !f; i++)
        f = k->fault[i].is_there ? NULL : &k->fault[i];
    if (!f || (f != k->fault && !f[-1].is_there))
        return;
    *f = (struct frames_fault){.is_there = true};
    f->kind = kinds[drill_below(d, 4)];
    f->port = drill_below(d, FRAMES_SWITCHED);
    f->nth = 1 + drill_below(d, 3);
    f->count = 1 + drill_below(d, 2);
    f->bit = drill_below(d, 2000);
    f->delay_ns = 1 + drill_below(d, 100000);
    c.kind = f->kind;
    c.from_port = k->port[f->port];
    c.dest_qpn = RDL_ANY;
    c.nth = f->nth;
    c.count = f->count;
    c.corrupt_bit = f->bit;
    c.delay_ns = f->delay_ns;
    d->n_unsaid++;
    (void)drill_works(d, rdl_fault_add(d->lab, &c, &f->fault), "a fault can be added");
}

/* Applies the faults to a frame that enters at @port. */
static void suffer(struct frames *k, uint32_t port, struct frame_in_flight *w)
{
    for (uint32_t i = 0; i < FRAMES_FAULTS && !w->is_lost; i++) {
        struct frames_fault *f = &k->fault[i];

        if (!f->is_there || f->port != port || ++f->seen < f->nth)
            continue;
        if (f->kind == FLT_DROP)
            w->is_lost = true;
        else if (f->kind == FLT_DELAY)
            w->delay_ns += f->delay_ns;
        else
            w->frame[f->bit % (w->bytes * 8) / 8] ^= (uint8_t)(128u >> f->bit % 8);
        if (f->seen == f->nth + f->count - 1)
            f->is_there = false;
    }
    /* Close the gaps.  Faults act in the order in which they were added. */
    for (uint32_t i = 0, n = 0; i < FRAMES_FAULTS; i++) {
        const struct frames_fault f = k->fault[i];

        k->fault[i].is_there = false;
        if (f.is_there)
            k->fault[n++] = f;
    }
}

/* --- The switch ------------------------------------------------------------------------------- */

static uint64_t line_ns(size_t bytes, uint64_t rate_bps)
{
    const uint64_t bits = 8 * ((bytes < FRAME_MIN ? FRAME_MIN : bytes) + LINE_BYTES);

    return (bits * 1000000000u + rate_bps - 1) / rate_bps;
}

/* Returns the number of the station with this MAC, or FRAMES_NOWHERE. */
static uint32_t station_of(const uint8_t *mac)
{
    static const uint8_t first[5] = {2, 0, 0xaa, 0, 0};

    return memcmp(mac, first, 5) == 0 && mac[5] < FRAMES_STATIONS ? mac[5] : FRAMES_NOWHERE;
}

static void draw(struct drill *d, struct frame_in_flight *w)
{
    memset(w, 0, sizeof(*w));
    w->bytes = 14 + drill_below(d, drill_one_in(d, 2) ? 80 : FRAMES_BYTES_MAX - 14);
    for (size_t i = 14; i < w->bytes; i++)
        w->frame[i] = (uint8_t)drill_below(d, 256);
    if (drill_one_in(d, 6))
        memset(w->frame, 0xff, 6);
    else
        memcpy(w->frame, (uint8_t[]){2, 0, 0xaa, 0, 0, (uint8_t)drill_below(d, FRAMES_STATIONS)},
               6);
    memcpy(w->frame + 6, (uint8_t[]){2, 0, 0xaa, 0, 0, (uint8_t)drill_below(d, FRAMES_STATIONS)},
           6);
    st_be16(w->frame + 12, RIG_ETHERTYPE);
}

/* Checks that the frame came out of @port @times times, at time @at, with the predicted bytes. */
static bool came(struct drill *d, const struct frame_in_flight *w, uint32_t port, uint32_t times,
                 uint64_t at)
{
    const struct frames *k = d->own;
    const struct frames_seen *s = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < k->n_seen; i++) {
        if (k->seen[i].port == port) {
            s = &k->seen[i];
            n++;
        }
    }
    if (!drill_expect(d, n == times,
                      "a switch sends a frame to where its destination was last heard, or to all, "
                      "but never back",
                      "%u copies at p%u instead of %u", n, port + 1, times) ||
        n == 0)
        return !d->wrong;
    return drill_expect(d, s->bytes == w->bytes && memcmp(s->frame, w->frame, w->bytes) == 0,
                        "a frame arrives with the bits that faults have left of it",
                        "other bytes at p%u", port + 1) &&
           drill_expect(d, s->at_ns == at,
                        "a frame takes latency and the time of its bits, gap and padding included, "
                        "and all that faults add",
                        "%" PRIu64 " ns instead of %" PRIu64, s->at_ns, at);
}

static void take_switch(struct drill *d)
{
    struct frames *k = d->own;
    const uint32_t in = drill_below(d, FRAMES_SWITCHED);
    const uint64_t now = rdl_now_ns(d->lab);
    uint32_t src, dst, to;
    struct frame_in_flight w;
    uint64_t at;

    draw(d, &w);
    if (!frames_send(d, in, w.frame, w.bytes))
        return;
    suffer(k, in, &w);
    src = station_of(w.frame + 6);
    dst = station_of(w.frame);
    if (!w.is_lost && src != FRAMES_NOWHERE)
        k->learnt[src] = in;
    to = dst == FRAMES_NOWHERE ? FRAMES_NOWHERE : k->learnt[dst];
    if ((w.frame[0] & 1) == 0 && dst == FRAMES_NOWHERE)
        return; /* a fault changed the MAC to one that the model does not know */
    at = now + line_ns(w.bytes, k->rate_bps[in]) + k->latency_ns[in] + w.delay_ns;
    for (uint32_t i = 0; i < FRAMES_SWITCHED; i++) {
        const bool here = !w.is_lost && i != in && (to == FRAMES_NOWHERE || to == i);

        if (!came(d, &w, i, here, at + line_ns(w.bytes, k->rate_bps[i]) + k->latency_ns[i]))
            return;
    }
}

/* --- Loss ------------------------------------------------------------------------------------- */

/* Sends LOSSY_FRAMES frames over the link p4-p5.  *@ret: the set of frames that arrived. */
static bool send_lossy(struct drill *d, uint32_t from, uint64_t *ret)
{
    struct frames *k = d->own;
    uint8_t frame[64] = {2, 0, 0xbb, 0, 0, 1, 2, 0, 0xbb, 0, 0, 2, 0x88, 0xb5};

    frames_forget(k);
    for (uint32_t i = 0; i < LOSSY_FRAMES; i++) {
        frame[20] = (uint8_t)i;
        if (!drill_works(d, rdl_port_receive(d->lab, k->port[from], frame, sizeof(frame)),
                         "a frame can come in through an external port"))
            return false;
    }
    d->n_unsaid++;
    *ret = 0;
    if (!drill_settle(d))
        return false;
    for (uint32_t i = 0; i < k->n_seen; i++)
        *ret |= UINT64_C(1) << k->seen[i].frame[20];
    return drill_expect(d, k->n_seen > 0 && k->n_seen < LOSSY_FRAMES,
                        "a link that loses half of all frames loses some and not all",
                        "%u of %u arrived", k->n_seen, LOSSY_FRAMES);
}

static void take_losses(struct drill *d)
{
    uint64_t there, back;

    if (send_lossy(d, FRAMES_SWITCHED, &there) && send_lossy(d, FRAMES_SWITCHED + 1, &back))
        drill_expect(d, there != back, "each direction of a link draws its losses for itself",
                     "both lost the same frames: %" PRIx64, there);
}

/* --- Steps ------------------------------------------------------------------------------------ */

static void take(struct drill *d)
{
    const uint32_t what = drill_below(d, 40);

    if (what == 0)
        take_losses(d);
    else if (what < 6)
        take_fault_add(d);
    else if (what < 20)
        frames_take_host(d);
    else
        take_switch(d);
}

const struct drill_kind drill_of_frames = {
    .name = "frames", .bytes = sizeof(struct frames), .steps = 60, .set_up = set_up, .take = take};
