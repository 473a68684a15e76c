/* SPDX-License-Identifier: MIT */
/* Programs of the machine on hosts of the lab: interface for live_uv.c.
 *
 * A program finds our libraries in a directory of this session, by LD_LIBRARY_PATH, and the
 * socket of the lab beside it.  It may start other programs, which are on the same host.
 */
#ifndef CLI_LIVE_LIVE_EXEC_H
#define CLI_LIVE_LIVE_EXEC_H

#include "cli/live/live_internal.h"

/* The implementations of live_ops.exec and live_ops.exec_kill. */
bool live_exec_start(struct live *l, const struct live_exec_config *config, uint32_t *ret_number,
                     struct live_error *reterr);
bool live_exec_kill(struct live *l, uint32_t number, int signal);

/* Serves the programs as far as possible without advancing the lab.  Returns true if there was
 * something to do.
 */
bool live_exec_serve(struct live *l);

/* Virtual time: serves the programs once they all wait.  Returns how far the lab may run: to the
 * next event if there was nothing to serve; 0, which is not at all, while a program computes, and
 * after something was served; RDL_NEVER if nothing is scheduled and all wait.
 */
uint64_t live_exec_turn(struct live *l);

/* Returns a descriptor that is readable when programs, or the loop, have something for the lab; -1:
 * there are no programs.
 */
int live_exec_set(const struct live *l);

/* Returns true if programs poll and give the processor away meanwhile: if the lab does so, too, it
 * is there for their next posts, and nobody needs to wake it.
 */
bool live_exec_yields(struct live *l);

/* live_exec_sleeps() is called before the process sleeps, and returns false if there is something
 * to do already.  live_exec_awake() follows in any case.  It waits for at most @ns, which may be 0,
 * and returns true if there is something for the loop.
 */
bool live_exec_sleeps(struct live *l);
bool live_exec_awake(struct live *l, uint64_t ns);

/* As programs_run(), programs_failed(), exec_at(), exec_listens() and exec_is_ready() of struct
 * live_ops, for these programs alone.
 */
bool live_exec_runs(const struct live *l);
bool live_exec_failed(struct live *l, struct live_error *reterr);
bool live_exec_at(const struct live *l, uint32_t i, struct live_exec_info *ret);
bool live_exec_listens(const struct live *l, uint32_t i);
bool live_exec_is_ready(const struct live *l);

/* The implementation of live_ops.maker. */
bool live_exec_maker(const struct live *l, uint32_t kind, uint64_t raw, struct live_maker *ret);

/* The implementation of live_ops.exec_qp_at. */
bool live_exec_qp_at(const struct live *l, uint32_t i, uint32_t k, struct live_qp *ret,
                     struct live_maker *ret_maker);

/* The implementation of live_ops.exec_mr_of. */
bool live_exec_mr_of(const struct live *l, uint32_t i, uint32_t key, uint64_t before,
                     struct live_maker *ret_maker);

/* The same program in the words of all programs, for `show live`. */
bool live_exec_program_at(const struct live *l, uint32_t i, struct live_program_info *ret);

/* Stops all programs, which is live_ops.exec_stop for one of them.  live_exec_free() must be called
 * after live_exec_stop().
 */
void live_exec_stop(struct live *l);
void live_exec_free(struct live *l);

#endif
