/* SPDX-License-Identifier: MIT */
/* Recognizes frames that a capture has more than once, because it was taken at several places: two
 * ports, both directions of one, or before and behind a tunnel or router.
 *
 * Copies of a packet are equal in everything but what routers change, and a retransmission may be
 * equal, too.  At one place each transmission is seen once.  So the n-th sight of a packet at one
 * place and the n-th sight at another are one transmission, whatever was lost between them.
 *
 * A mirror port may show each frame as it enters a switch and as it leaves it, at one place.  If
 * nearly all frames of a host come in pairs, sooner behind one another than any ACK timer, two
 * sights are one transmission.
 */
#ifndef CAPTURE_COPIES_H
#define CAPTURE_COPIES_H

#include "capture/record.h"

/* Sets SEEN_AGAIN and SEEN_DROPPED of the packets, and r->n_copies.
 *
 * A host that forwards a packet sees it come in and go out.  It is then not the host that sent it:
 * unless the user has said where the capture was taken (@is_told), the directions of such packets
 * are forgotten.
 */
void copies_mark(struct capture_record *r, bool is_told);

#endif
