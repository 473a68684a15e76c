/* SPDX-License-Identifier: MIT */
/* The drill of peers: READs and atomics that arrive at once, up to one more than h1 accepts at a
 * time.
 */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/opcode.h"
#include "swarm/drills/drill_peers.h"

/* Draws request @i of a burst.  The first is a READ that is long enough not to be done before the
 * others arrive.  READs read the lower half of the memory, atomics change the upper one: a response
 * has the same bytes whenever it is built.
 */
static void draw_of_burst(struct drill *d, struct packet *p, uint32_t i)
{
    struct peers *s = d->own;
    const bool is_atomic = i > 0 && (s->end.access & ACC_REMOTE_ATOMIC) && drill_one_in(d, 2);

    if (is_atomic) {
        peer_set_code(p, drill_one_in(d, 2) ? OP_RC_FETCH_ADD : OP_RC_COMPARE_SWAP);
        p->atomic.va = s->base + PEER_ROOM / 2 +
                       (uint64_t)drill_below(d, PEER_ROOM / 2 / PEER_WORD) * PEER_WORD;
        p->atomic.rkey = s->key;
        p->atomic.swap_add = prng_next(&d->rng);
        p->atomic.compare = ld_le64(s->room + (p->atomic.va - s->base));
        return;
    }
    peer_set_code(p, OP_RC_RDMA_READ_REQUEST);
    p->reth.rkey = s->key;
    p->reth.dma_bytes =
        i == 0 ? PEER_MTU + 1 + drill_below(d, PEER_MTU) : drill_below(d, 2 * PEER_MTU + 1);
    p->reth.va = s->base + drill_below(d, PEER_ROOM / 2 - p->reth.dma_bytes);
}

void peer_sends_burst(struct drill *d)
{
    struct peers *s = d->own;
    const uint32_t room = s->end.max_dest_rd_atomic, n = 1 + drill_below(d, room + 1);
    struct peer_taken taken[PEER_RDS];
    uint32_t seen = 0;
    struct packet p;

    for (uint32_t i = 0; i < n; i++) {
        p = s->like;
        draw_of_burst(d, &p, i);
        p.bth.psn.v = s->expected;
        if (!peer_send_on(d, &p, NULL))
            return;
        if (i < room)
            taken[i] = *peer_takes_fetch(d, &p);
    }
    if (!drill_settle(d))
        return;
    for (uint32_t i = 0; i < n && i < room; i++) {
        if (!peer_was_answered(d, &taken[i], &seen))
            return;
    }
    if (!drill_expect(d, s->n_seen == seen + (n > room), "what is accepted is answered once",
                      "%u packets, not %u", s->n_seen, seen + (n > room)))
        return;
    if (n <= room) {
        (void)peer_is_calm(d);
        return;
    }
    if (peer_seen(d, seen, &p) &&
        drill_expect(d,
                     p.op->kind == OPK_ACK && p.bth.psn.v == s->expected &&
                         aeth_unpack(p.aeth.syndrome).kind == SYN_NAK_INVALID_REQUEST,
                     "a READ or atomic beyond max_dest_rd_atomic is refused", "%s, psn %u",
                     p.op->name, p.bth.psn.v) &&
        peer_event(d, true, ASE_QP_ACCESS_ERR))
        (void)peer_failed(d, 0, 0);
}

/* Sends a WRITE of one word with the PSN @psn, which h1 executes if @is_taken. */
static bool write_word(struct drill *d, uint32_t psn, bool is_taken)
{
    struct peers *s = d->own;
    uint8_t word[PEER_WORD];
    struct packet p;

    peer_draw_word(d, &p, PEER_ROOM / 2, word);
    p.bth.psn.v = psn;
    if (!peer_send_on(d, &p, word))
        return false;
    if (!is_taken)
        return true;
    memcpy(s->room + (p.reth.va - s->base), word, PEER_WORD);
    peer_remember(s, &p, 1);
    peer_advance(s, 1, true);
    s->acked = psn;
    return true;
}

/* A packet arrives before the one in front of it, while h1 still sends the responses to a READ: its
 * NAK waits.  When the missing packet comes, that NAK is withdrawn, and the next one is due for the
 * packet that h1 has dropped, unless that comes again, too.
 */
void peer_sends_late_packet(struct drill *d)
{
    struct peers *s = d->own;
    const bool comes_again = drill_one_in(d, 2);
    struct peer_taken taken;
    struct packet p = s->like;
    uint32_t seen = 0;

    draw_of_burst(d, &p, 0);
    p.bth.psn.v = s->expected;
    if (!peer_send_on(d, &p, NULL))
        return;
    taken = *peer_takes_fetch(d, &p);
    if (!write_word(d, peer_psn(s->expected + 1), false))
        return;
    for (uint32_t i = 0; i < 1 + (uint32_t)comes_again; i++) {
        if (!write_word(d, s->expected, true))
            return;
    }
    if (!drill_settle(d) || !peer_was_answered(d, &taken, &seen) ||
        !drill_expect(d, s->n_seen == seen + !comes_again,
                      "a NAK that waits is for the packet that is missing when it is sent",
                      "%u packets, not %u", s->n_seen, seen + !comes_again))
        return;
    if (!comes_again &&
        (!peer_seen(d, seen, &p) ||
         !drill_expect(d,
                       p.op->kind == OPK_ACK && p.bth.psn.v == s->expected &&
                           aeth_unpack(p.aeth.syndrome).kind == SYN_NAK_PSN_SEQUENCE,
                       "a NAK that waits is for the packet that is missing when it is sent",
                       "%s, psn %u", p.op->name, p.bth.psn.v)))
        return;
    s->has_told_gap = !comes_again;
    (void)peer_is_calm(d);
}

/* A READ is repeated, and while its responses are sent again as many new READs and atomics arrive
 * as h1 accepts at a time: the repeated one takes no room.  It ends early if one of them takes its
 * place.
 */
void peer_sends_replay(struct drill *d)
{
    struct peers *s = d->own;
    const uint32_t n = 1 + drill_below(d, s->end.max_dest_rd_atomic);
    struct peer_taken first, taken[PEER_RDS];
    uint32_t seen = 0;
    struct packet p = s->like, again;

    draw_of_burst(d, &p, 0);
    p.bth.psn.v = s->expected;
    again = p;
    if (!peer_send(d, &p, NULL))
        return;
    first = *peer_takes_fetch(d, &p);
    if (!peer_was_answered(d, &first, &seen) || !peer_send_on(d, &again, NULL))
        return;
    for (uint32_t i = 0; i < n; i++) {
        p = s->like;
        draw_of_burst(d, &p, 1 + drill_below(d, 2));
        p.bth.psn.v = s->expected;
        if (!peer_send_on(d, &p, NULL))
            return;
        taken[i] = *peer_takes_fetch(d, &p);
    }
    seen = 0;
    if (n == s->keeps) { /* the last one takes its place before it is answered again in full */
        first.n_psns = 1;
        first.p.reth.dma_bytes = PEER_MTU;
    }
    if (!drill_settle(d) || !peer_was_answered(d, &first, &seen))
        return;
    for (uint32_t i = 0; i < n; i++) {
        if (!peer_was_answered(d, &taken[i], &seen))
            return;
    }
    if (drill_expect(d, s->n_seen == seen, "what is repeated takes no room of what is new",
                     "%u packets, not %u", s->n_seen, seen))
        (void)peer_is_calm(d);
}
