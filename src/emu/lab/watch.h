/* SPDX-License-Identifier: MIT */
/* A trace listener that checks invariants of the events of each queue pair:
 *
 *	Each work request completes (used event) once per queue.  Non-shared queues complete in
 *	the order of posting.
 *	A signaled send, a receive and every failed request has exactly one completion (cqe
 *	event), directly after its used event.  An unsignaled success has none.
 *	No request succeeds in state ERR; nothing completes in state RESET.
 *	The PSNs of a connection's positive acknowledges never decrease.
 *	Every frame that a device sends parses, with a correct ICRC.
 *
 * The checks hold for hosts with correct drivers.  If something else may have written to the rings
 * of a host (host_is_open()), the watch does not report a violation and stops judging.
 */
#ifndef EMU_LAB_WATCH_H
#define EMU_LAB_WATCH_H

#include <stdint.h>

struct ev;

struct watch;
struct lab_state;

/* Creates a watch for @w.  Returns NULL if memory is short.  The caller adds it to the trace as a
 * sink.
 */
struct watch *watch_new(const struct lab_state *w);
void watch_free(struct watch *s);

/* watch_event() checks an event of the trace; @ctx is the struct watch.  watch_frame() checks a
 * frame that an RDMA function sent.
 */
void watch_event(void *ctx, const struct ev *e);
void watch_frame(struct watch *s, const uint8_t *bytes, uint32_t len);

/* Returns the first violated invariant, as a sentence.  Returns NULL if all hold. */
const char *watch_broken(const struct watch *s);

/* Returns a copy of the state of @s for watch_become().  Returns NULL if memory is short or @s is
 * NULL.
 */
struct watch *watch_copy(const struct watch *s);

/* Sets the state of @s to that of @then, when a checkpoint is restored.  @then is copied.  If
 * memory is short, @s stops judging.
 */
void watch_become(struct watch *s, const struct watch *then);

#endif
