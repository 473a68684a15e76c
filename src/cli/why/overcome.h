/* SPDX-License-Identifier: MIT */
/* Trouble that is over: a packet that was sent again and acknowledged, a connection that was
 * rejected, asked for again and established.  Such trouble is no answer to what is wrong now.
 */
#ifndef CLI_WHY_OVERCOME_H
#define CLI_WHY_OVERCOME_H

#include "emu/past/past_index.h"

/* Returns the event that has overcome the trouble that @e reports.  Returns NULL if that is not
 * known, or if @e reports none of these:
 *
 *	lost, drop, timeout    of a queue pair of RC: a later arrival that acknowledges the packet
 *	cm_event REJECTED      a later connection of this host to the same port of the peer
 *	lnet_reject, lnet_state CLOSING    a later connection of the same two nodes
 */
const struct ev *overcome_by(const struct past_index *x, const struct ev *e);

/* Returns the event in which the node of LNet whose connection ended in @e, a lnet_reject or
 * lnet_state event, asked again because of that.  Returns NULL if it did not.
 */
const struct ev *overcome_asked_again(const struct past *p, const struct ev *e);

#endif
