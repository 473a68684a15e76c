/* SPDX-License-Identifier: MIT */
/* `why not`: explains why something has not happened.
 *
 * The answers come from the record (posts, packets, losses) and the inspect tree (waits, timers).
 * Nothing is guessed: if events have been forgotten, the answer says so.  Each answer ends with
 * commands that would make it happen, if there are any.
 */
#ifndef CLI_WHY_WHY_NOT_H
#define CLI_WHY_WHY_NOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "emu/facts/enum/qp_state.h"
#include "emu/past/past.h"
#include "rdmalab/status.h"

struct rdl_lab;
struct why_not;

/* why_not_begin() begins an answer on @out.  @lab may be NULL for a saved trace; then only
 * why_not_packet() works.  If there is no memory, it prints an error and exits.  why_not_end()
 * prints the commands to try, or if there are none, when the next event in the lab is due; then it
 * frees the answer.
 */
struct why_not *why_not_begin(FILE *out, const struct rdl_lab *lab, const struct past *p);
void why_not_end(struct why_not *w);

/* The reader is the author of a program: what a program should have done is said as a call of
 * libibverbs, and no command is suggested in its place.
 */
void why_not_for_program(struct why_not *w);

/* Frees the answer without printing more. */
void why_not_drop(struct why_not *w);

/* Prints one paragraph of the answer. */
void why_not_say(struct why_not *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Records that what was asked about did happen: why_not_end() then does not print when the next
 * event is due.
 */
void why_not_is_so(struct why_not *w);

/* Adds a command that the user may try, for the end of the answer.  Duplicates, and commands after
 * the first three different ones (WHY_NOT_TRIES_MAX), are dropped.
 */
void why_not_try(struct why_not *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Explains why @cq ("h1.cq") does not have completion @n yet.  @n counts all completions that the
 * queue ever had, polled or not, from 0.
 */
void why_not_completion(struct why_not *w, const char *cq, uint64_t n);

/* Explains which sends and receives of the queue pair @path ("h1.qp") are not complete, and what
 * they wait for.
 */
void why_not_qp(struct why_not *w, const char *path);

/* Explains why the packet of event @id is not answered.  Returns RDL_ERR_NOT_FOUND if there is no
 * such event.
 */
RDL_MUST_CHECK enum rdl_status why_not_packet(struct why_not *w, ev_id id);

/* Explains why the completion channel @channel ("h1.ch") has no event. */
void why_not_channel(struct why_not *w, const char *channel);

/* Explains why no event matches @f.  Resolves the names in @f first. */
void why_not_event(struct why_not *w, struct ev_filter *f);

/* Explains why the fault @fault ("f1") has hit no frame. */
void why_not_fault(struct why_not *w, const char *fault);

/* Explains why the queue pair @path is not in state @to. */
void why_not_state(struct why_not *w, const char *path, enum qp_state to);

/* Explains why the ID @path ("h1.id") of rdma_cm has had no event @event (enum rdma_cm_event), or
 * with WHY_NOT_ANY_EVENT what it waits for.
 */
#define WHY_NOT_ANY_EVENT UINT32_MAX
void why_not_cm_id(struct why_not *w, const char *path, uint32_t event);

/* Explains what each ID of rdma_cm on @host waits for; "": on all hosts.  Returns false if there is
 * no ID.
 */
bool why_not_cm_ids(struct why_not *w, const char *host);

/* Explains which messages of LNet from this node to the peer @path ("h1.lnet.peer[0]") wait, and
 * for what.  Returns false, and prints nothing, if all are over.
 */
bool why_not_lnet_peer(struct why_not *w, const char *path);

/* Does so for each peer of the node on @host.  Returns the number of peers with such messages. */
size_t why_not_lnet(struct why_not *w, const char *host);

/* Prints a sentence for each object on @host that waits for something, such as an ACK, or that
 * nothing waits.  @host "": on all hosts.
 */
void why_not_waits(struct why_not *w, const char *host);

/* Calls @each with each command, other than `run`, that `why not` offers for the pending sends of
 * the queue pair @path.  Prints nothing.
 */
void why_not_each_try(const struct rdl_lab *lab, const struct past *p, const char *path,
                      void (*each)(void *ctx, const char *command), void *ctx);

/* Handles `why not` without an argument: prints what is waiting, or else what can be asked. */
void why_not_anything(struct why_not *w);

#endif
