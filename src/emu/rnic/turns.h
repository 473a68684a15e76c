/* SPDX-License-Identifier: MIT */
/* Turns of the ports of an embedded switch, for eswitch.c alone.  Its head says the rules. */
#ifndef EMU_RNIC_TURNS_H
#define EMU_RNIC_TURNS_H

#include <stdbool.h>
#include <stdint.h>

struct eswitch;
struct vport;

#define TURNS_NOBODY UINT32_MAX

/* Returns true if a tenant of @v has a frame. */
bool turns_has_frame(const struct vport *v);

/* Adds port @number to the end of the queue, unless it is in it. */
void turns_join(struct eswitch *s, uint32_t number);

/* Removes port @number from the queue, if it is in it. */
void turns_leave(struct eswitch *s, uint32_t number);

/* Returns the time from which on the line, and the way between ports, are free. */
uint64_t turns_free_at(const struct eswitch *s);

/* Returns the port that sends next, and moves it to the end of the queue: others keep their places,
 * also those that wait for their maximum.  Removes ports before it that have no frame.  Returns
 * TURNS_NOBODY if none may send now.
 */
uint32_t turns_choose(struct eswitch *s);

/* Counts @n_frames frames of @bytes bytes in all of @v against its maximum and its guarantee.  More
 * than the guarantee, on a line that was free, is no debt.
 */
void turns_charge(const struct eswitch *s, struct vport *v, uint64_t bytes, uint32_t n_frames);

/* Schedules SIM_EGRESS for the time of the next turn, unless it is scheduled early enough.  Empties
 * the queue if no port in it has a frame.
 */
void turns_schedule(struct eswitch *s);

#endif
