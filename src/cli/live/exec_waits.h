/* SPDX-License-Identifier: MIT */
/* Finds out whether processes wait, for virtual time: it stands still while one computes. */
#ifndef CLI_LIVE_EXEC_WAITS_H
#define CLI_LIVE_EXEC_WAITS_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if all threads of the @n processes @pids, and of those that they have started, wait
 * for somebody else, or have ended: for the lab, for each other, for input.  A thread in
 * nanosleep() or clock_nanosleep() does not: it goes on by itself.  Nor does anybody while data is
 * under way on one of their TCP connections.
 */
bool exec_all_wait(const int *pids, size_t n);

/* Returns true if a thread of process @pid waits for the lab, or for a message of another program,
 * while another one does not wait.  That may wait for the first one after all, without the help of
 * the kernel, as for a spinlock.
 */
bool exec_may_spin(int pid);

/* Returns true if each thread of process @pid waits for another one of the process: in futex(), as
 * for a condition variable.
 */
bool exec_waits_for_itself(int pid);

#endif
