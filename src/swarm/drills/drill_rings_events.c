/* SPDX-License-Identifier: MIT */
/* The drill of rings: asynchronous events that no program takes.
 *
 * The first events use the buffers of the event queue.  Further ones wait in the device.  When too
 * many wait, the device drops events and says so in the next one that it delivers.  It does not
 * deliver events about a destroyed object.  A buffer that is too small for an event is given back
 * empty, and the event waits for the next buffer.
 */
#include <inttypes.h>

#include "emu/base/cursor.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/regs.h"
#include "emu/trace/event.h"
#include "rdmalab/events.h"
#include "rdmalab/fault.h"
#include "rdmalab/inspect.h"
#include "rdmalab/trace.h"
#include "swarm/drills/drill_rings.h"

#define WAITING_MAX 64u  /* events that can wait in the device */
#define RAISED_MAX  192u /* of one storm */
#define EVENT_BYTES 8u
#define BUFFERS_MAX 64u
#define DESC_BYTES  16u /* of a descriptor, in both formats of virtqueues */
#define DESC_LEN_AT 8u  /* offset of its length */

static struct queues *queues_of(struct drill *d)
{
    return &((struct rings *)d->own)->u.queues;
}

/* The model of the events raised on h1. */
struct storm {
    uint64_t buffers, buffers_at;  /* number and address of the buffers of the event queue */
    uint64_t seen;                 /* trace events examined so far */
    uint32_t n, n_waiting, n_lost; /* @n: entries of v[], which has those that are not lost */
    struct raised {
        uint32_t type, number;
    } v[RAISED_MAX];
};

/* Adds the events raised since the last call. */
static void look(struct drill *d, struct storm *s)
{
    const struct ev *e;

    while ((e = drill_event(d, EV_async_event, &s->seen))) {
        if (e->u.async_event.host != 0)
            continue;
        if (s->n < s->buffers || s->n_waiting < WAITING_MAX) {
            s->n_waiting += s->n >= s->buffers;
            s->v[s->n++] =
                (struct raised){(uint32_t)e->u.async_event.event, e->u.async_event.number};
        } else {
            s->n_lost++;
        }
    }
}

/* Takes the link down or up @n times. */
static bool rage(struct drill *d, struct storm *s, uint32_t n)
{
    struct queues *q = queues_of(d);
    bool up = true;

    for (uint32_t i = 0; i < n; i++) {
        up = !up;
        drill_say(d, "set link h1-h2 %s", up ? "up" : "down");
        if (!drill_works(d, rdl_link_raise(d->lab, q->link, up),
                         "a link can be taken down and up") ||
            !drill_settle(d))
            return false;
        look(d, s);
    }
    drill_say(d, "set link h1-h2 up");
    if (!drill_works(d, rdl_link_raise(d->lab, q->link, true), "a link can be taken up") ||
        !drill_settle(d))
        return false;
    look(d, s);
    return true;
}

/* Returns true if a buffer carries the flag that events were lost. */
static bool says_missed(struct drill *d, const struct storm *s)
{
    uint8_t raw[BUFFERS_MAX * EVENT_BYTES] = {0};

    (void)drill_works(d,
                      rdl_ram_read(d->lab, queues_of(d)->host[0], s->buffers_at, raw,
                                   (size_t)s->buffers * EVENT_BYTES),
                      "RAM can be read");
    for (uint32_t i = 0; i < s->buffers; i++) {
        if (ld_le32(raw + (size_t)i * EVENT_BYTES) & ASYNC_EVENTS_MISSED)
            return true;
    }
    return false;
}

/* Takes all events that can be taken now.  Adds their number to *@i. */
static bool hear(struct drill *d, const struct storm *s, uint32_t *i)
{
    struct rdl_async_event e;
    size_t n = 1;

    for (;; (*i)++) {
        if (!drill_works(d, rdl_get_async_event(d->lab, queues_of(d)->host[0], &e, &n),
                         "a program can ask for events"))
            return false;
        if (n == 0)
            return true;
        if (!drill_expect(d, *i < s->n && e.type == s->v[*i].type && e.number == s->v[*i].number,
                          "events are told in their order, but for those that were lost",
                          "number %u of %u is %s of %u", *i, s->n,
                          enum_name(&enum_async_event, e.type), e.number))
            return false;
        if (e.object != 0 && !drill_works(d, rdl_ack_async_event(d->lab, &e),
                                          "an event that was taken can be acknowledged"))
            return false;
    }
}

static bool listen(struct drill *d, const struct storm *s)
{
    const struct rdl_limits one = {.ticks = 1};
    enum rdl_status st = RDL_ERR_TIMEOUT;
    uint32_t heard = 0;
    bool missed = false;

    while (st == RDL_ERR_TIMEOUT) {
        if (!hear(d, s, &heard))
            return false;
        missed = missed || says_missed(d, s);
        st = rdl_run(d->lab, RDL_NEVER, one);
        missed = missed || says_missed(d, s);
    }
    return drill_works(d, st, "a quiet lab comes to rest") && hear(d, s, &heard) &&
           drill_expect(d, heard == s->n, "all events are told that were not lost", "%u of %u were",
                        heard, s->n) &&
           drill_expect(d, missed == (s->n_lost > 0),
                        "an event says so if others were lost before it, and only then",
                        "%s, %u were lost", missed ? "one does" : "none does", s->n_lost);
}

/* Reads number and place of the buffers of the event queue. */
static bool find_buffers(struct drill *d, struct storm *s)
{
    return drill_number(d, "h1.async.queue.size", &s->buffers) &&
           drill_number(d, "h1.async.queue.desc[0].addr", &s->buffers_at) &&
           drill_expect(d, s->buffers <= BUFFERS_MAX, "the event queue is short",
                        "%" PRIu64 " buffers", s->buffers);
}

/* Raises @n events, or one more.  @is_first: nobody has taken an event of h1 before. */
static void storm(struct drill *d, uint32_t n, bool is_first)
{
    static const uint8_t nothing[BUFFERS_MAX * EVENT_BYTES] = {0};
    struct storm s = {0};

    if (!find_buffers(d, &s))
        return;
    if (!is_first) {
        s.seen = drill_events(d);
        if (!drill_works(d,
                         rdl_ram_write(d->lab, queues_of(d)->host[0], s.buffers_at, nothing,
                                       (size_t)s.buffers * EVENT_BYTES),
                         "RAM can be written"))
            return;
    }
    look(d, &s);
    if (rage(d, &s, n))
        (void)listen(d, &s);
}

void queues_storm(struct drill *d)
{
    const uint32_t n = drill_one_in(d, 2) ? drill_below(d, 40) : 60 + drill_below(d, 60);

    d->n_unsaid++;
    storm(d, n, true);
    if (!d->wrong) /* so few that none is lost */
        storm(d, drill_below(d, 10), false);
}

/* --- Buffers that are too small --------------------------------------------------------------- */

/* Makes some of the buffers from @first on too small for an event: those that @ret flags.  None has
 * length 0, which a device refuses.
 */
static bool cut_buffers(struct drill *d, const struct storm *s, uint32_t first,
                        bool ret[BUFFERS_MAX])
{
    uint64_t descs_at;

    if (!drill_number(d, "h1.async.queue.desc_addr", &descs_at))
        return false;
    for (uint32_t i = first; i < s->buffers; i++) {
        const uint32_t bytes = 1 + drill_below(d, 2 * EVENT_BYTES);
        uint8_t raw[4];

        st_le32(raw, bytes);
        ret[i] = bytes < EVENT_BYTES;
        if (!drill_works(d,
                         rdl_ram_write(d->lab, queues_of(d)->host[0],
                                       descs_at + (uint64_t)i * DESC_BYTES + DESC_LEN_AT, raw,
                                       sizeof(raw)),
                         "RAM can be written"))
            return false;
    }
    return true;
}

/* Checks that the events of @s are in the buffers that are large enough, in their order. */
static bool are_in_buffers(struct drill *d, const struct storm *s, const bool small[BUFFERS_MAX])
{
    uint8_t raw[BUFFERS_MAX * EVENT_BYTES];
    uint32_t n = 0;

    if (!drill_works(d,
                     rdl_ram_read(d->lab, queues_of(d)->host[0], s->buffers_at, raw,
                                  (size_t)s->buffers * EVENT_BYTES),
                     "RAM can be read"))
        return false;
    for (uint32_t i = 0; i < s->buffers; i++) {
        const uint8_t *b = raw + (size_t)i * EVENT_BYTES;
        const bool used = !small[i] && n < s->n;
        const uint32_t type = used ? s->v[n].type : 0, number = used ? s->v[n].number : 0;

        if (!drill_expect(d, ld_le32(b) == type && ld_le32(b + 4) == number,
                          "an event waits for a buffer that is large enough",
                          "buffer %u holds event %u of %u", i, ld_le32(b), ld_le32(b + 4)))
            return false;
        n += used;
    }
    return true;
}

void queues_small_buffers(struct drill *d)
{
    struct storm s = {0};
    bool small[BUFFERS_MAX] = {false};

    d->n_unsaid++;
    queues_of(d)->broken = true;
    if (!find_buffers(d, &s))
        return;
    look(d, &s);
    if (cut_buffers(d, &s, s.n, small) && rage(d, &s, drill_below(d, 16)))
        (void)are_in_buffers(d, &s, small);
}

/* --- Events about destroyed objects ----------------------------------------------------------- */

/* Sets the link down and up until every buffer of the event queue is used. */
static bool flood(struct drill *d)
{
    const uint32_t n = 8 + drill_below(d, 16);

    for (uint32_t i = 0; i < 2 * n; i++) {
        if (!drill_works(d, rdl_link_raise(d->lab, queues_of(d)->link, i % 2),
                         "a link can be taken down and up"))
            return false;
    }
    return true;
}

bool queues_take_away(struct drill *d, rdl_qp qp)
{
    const rdl_host host = queues_of(d)->host[0];
    struct rdl_qp_info info;

    return drill_works(d, rdl_qp_info(d->lab, qp, &info), "a queue pair has queues") &&
           drill_works(d, rdl_reg_write(d->lab, host, FN_RDMA, REG_QUEUE_SELECT, 2, info.rq_queue),
                       "a register can be written") &&
           drill_works(d, rdl_reg_write(d->lab, host, FN_RDMA, REG_QUEUE_RESET, 2, 1),
                       "a register can be written");
}

void queues_forget(struct drill *d)
{
    const uint64_t before = rdl_total(d->lab, EV_async_event);
    struct flusher f;
    uint64_t strays;
    uint32_t told;

    if (!flusher_make(d, 0, 4, 4, &f))
        return;
    d->n_unsaid++;
    if (!drill_works(d, rdl_destroy_qp(d->lab, f.end.qp), "a queue pair can be destroyed") ||
        !drill_run_until(d, rdl_next_ns(d->lab) - 1) || !flood(d) ||
        !queues_take_away(d, f.end.qp) ||
        !drill_expect(d, rdl_total(d->lab, EV_async_event) > before, "a link tells of itself",
                      "nothing was told") ||
        !drill_works(d, drill_answer(d, f.end.host), "a queue pair can be destroyed") ||
        !queues_events(d, 0, ASE_QP_FATAL, f.end.qp.raw, &told) ||
        !drill_number(d, "h1.async.strays", &strays) ||
        !drill_expect(d, told == 0 && strays == 0, "no event is told about an object that is gone",
                      "%u, and %" PRIu64 " about nothing", told, strays) ||
        !queues_events(d, 1, 0, 0, &told))
        return;
    (void)drill_is_done(d, f.end.host, rdl_destroy_cq(d->lab, f.cq),
                        "a completion queue can be destroyed that nobody uses");
}

/* Makes the event queue of h1 stand still.  The events that are raised wait in the device. */
static bool hold_events(struct drill *d, rdl_fault *ret)
{
    struct rdl_device_fault_config c = {.name = "held",
                                        .kind = FLT_STUCK_QUEUE,
                                        .host = queues_of(d)->host[0],
                                        .nth = 1,
                                        .count = 1};
    uint64_t number;

    if (!drill_number(d, "h1.async.queue.number", &number))
        return false;
    c.queue = (uint32_t)number;
    d->n_unsaid++;
    return drill_works(d, rdl_device_fault_add(d->lab, &c, ret),
                       "a queue can be made to stand still");
}

void queues_forget_cq(struct drill *d)
{
    const uint32_t asked = 1 + drill_below(d, 4);
    const uint32_t n = rig_queue_size(queues_of(d)->profile, asked) + 1;
    const uint64_t before = rdl_total(d->lab, EV_async_event);
    struct flusher f;
    rdl_fault held;
    uint64_t strays;
    uint32_t told;

    if (!flusher_make(d, 0, asked, 14, &f) || !flusher_post(d, &f, n, 1) ||
        !hold_events(d, &held) || !flusher_fail(d, &f) ||
        !drill_expect(d, rdl_total(d->lab, EV_async_event) > before,
                      "a completion queue that overflows tells so", "nothing was told") ||
        !flusher_end(d, &f) ||
        !drill_works(d, rdl_fault_remove(d->lab, held), "a queue can be let go on") ||
        !queues_events(d, 0, ASE_CQ_ERR, f.cq.raw, &told) ||
        !drill_number(d, "h1.async.strays", &strays))
        return;
    drill_expect(d, told == 0 && strays == 0, "no event is told about an object that is gone",
                 "%u, and %" PRIu64 " about nothing", told, strays);
}
