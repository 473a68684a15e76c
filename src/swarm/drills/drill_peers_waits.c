/* SPDX-License-Identifier: MIT */
/* The drill of peers: answers that arrive while h1 waits after an RNR NAK.
 *
 * A NAK for the packet that h1 waits for changes nothing: it is a copy.  An RNR NAK for a later
 * packet acknowledges those before it and begins a new wait.  An ACK ends the wait: h1 sends the
 * rest again at once.  An answer about packets that are acknowledged already is ignored.
 */
#include "swarm/drills/drill_peers.h"

#define SYNDROME_RNR      0x20u
#define SYNDROME_SEQUENCE 0x60u

/* Checks that h1 sends again everything that is not answered, @wait ns after @from. */
static bool waits(struct drill *d, uint64_t from, uint64_t wait)
{
    struct peers *s = d->own;

    return peer_sends_again(d) &&
           drill_expect(d,
                        s->n_seen > 0 && s->seen[0].at_ns >= from + wait &&
                            s->seen[0].at_ns <= from + wait + PEER_LATE_NS,
                        "a wait takes as long as its RNR NAK says, and a copy does not change it",
                        "%llu ns, not %llu",
                        (unsigned long long)(s->n_seen > 0 ? s->seen[0].at_ns - from : 0),
                        (unsigned long long)wait);
}

/* Checks what h1 does after the second answer, which left the first wait as it was. */
static bool was_ignored(struct drill *d, uint64_t from, uint64_t wait)
{
    return drill_settle(d) && waits(d, from, wait);
}

/* An RNR NAK for a later packet. */
static bool later(struct drill *d, uint32_t n)
{
    struct peers *s = d->own;
    const uint8_t code = (uint8_t)(1 + drill_below(d, 24));
    const uint32_t psn = peer_psn(s->una + 1 + drill_below(d, n - 1));
    uint64_t from;

    if (!peer_ack_on(d, (uint8_t)(SYNDROME_RNR | code), psn))
        return false;
    from = s->injected_ns;
    return drill_settle(d) && peer_progress(d, psn) && waits(d, from, peer_rnr_ns(code));
}

/* An ACK for some of the packets. */
static bool acknowledged(struct drill *d, uint32_t n)
{
    struct peers *s = d->own;
    const uint32_t psn = peer_psn(s->una + drill_below(d, n));

    return peer_ack(d, PEER_CREDITS_OFF, psn) && peer_learns(s) &&
           peer_progress(d, peer_psn(psn + 1)) && peer_sends_again(d);
}

void peer_answers_in_wait(struct drill *d)
{
    struct peers *s = d->own;
    const uint32_t n = peer_plain_psns(s), psn = peer_psn(s->una + drill_below(d, n + 1));
    const uint8_t code = (uint8_t)(8 + drill_below(d, 16));
    const uint64_t wait = peer_rnr_ns(code);
    uint64_t from;
    bool goes_on;

    if (psn == s->sent || !peer_ack_on(d, (uint8_t)(SYNDROME_RNR | code), psn))
        return;
    from = s->injected_ns;
    if (!drill_run_until(d, from + wait / 2) || !peer_progress(d, psn) ||
        !drill_expect(d, s->n_seen == 0, "while it waits after an RNR NAK h1 sends nothing",
                      "%u packets", s->n_seen))
        return;
    s->go_backs = 0;
    switch (drill_below(d, 5)) {
    case 0:
        goes_on = peer_ack_on(d, (uint8_t)(SYNDROME_RNR | drill_below(d, 32)), s->una) &&
                  was_ignored(d, from, wait);
        break;
    case 1:
        goes_on = peer_ack_on(d, SYNDROME_SEQUENCE, s->una) && was_ignored(d, from, wait);
        break;
    case 2:
        goes_on = peer_ack_on(d, PEER_CREDITS_OFF, peer_psn(s->una - 1)) && peer_learns(s) &&
                  was_ignored(d, from, wait);
        break;
    case 3:
        goes_on =
            peer_plain_psns(s) > 1 ? later(d, peer_plain_psns(s)) : was_ignored(d, from, wait);
        break;
    default:
        goes_on = peer_plain_psns(s) > 0 ? acknowledged(d, peer_plain_psns(s))
                                         : was_ignored(d, from, wait);
        break;
    }
    if (goes_on)
        (void)peer_is_calm(d);
}
