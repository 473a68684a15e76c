/* SPDX-License-Identifier: MIT */
/* A listener that knows what must be true of the events of each queue pair.
 *
 *	A work request is given back once, per queue: in the order of posting, unless it is shared.
 *	A signaled send, a receive, and whatever failed has exactly one completion, right after it
 *	was given back; an unsignaled success has none.
 *	In the state ERR nothing completes with success; in RESET nothing completes.
 *	A positive acknowledge never names an older PSN than the one before (in a connection).
 *	Every frame that a device sends can be decoded, and its ICRC is right.
 *
 * It is for hosts with sound drivers: a guest that corrupts its rings is not held to the order.
 */
#ifndef EMU_LAB_WATCH_H
#define EMU_LAB_WATCH_H

#include <stdint.h>

#include "emu/trace/event.h"

struct watch;
struct world;

/* Watches @w from now on; NULL when memory is short.  The caller makes it a sink of the trace. */
struct watch *watch_new(const struct world *w);
void watch_free(struct watch *s);

/* @e is for the watch. */
void watch_event(void *ctx, const struct ev *e);
void watch_frame(struct watch *s, const uint8_t *bytes, uint32_t len);

/* What broke first, in words; NULL while all holds. */
const char *watch_broken(const struct watch *s);

/* What @s knows, for watch_become(); NULL when memory is short, or @s is NULL. */
struct watch *watch_copy(const struct watch *s);

/* Time went back: @s knows what @then did, of which it stays independent.  When memory is short it
 * judges no more.
 */
void watch_become(struct watch *s, const struct watch *then);

#endif
