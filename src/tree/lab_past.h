/* SPDX-License-Identifier: MIT */
/* The recorded history of a running lab. */
#ifndef TREE_LAB_PAST_H
#define TREE_LAB_PAST_H

#include "emu/past/past.h"

struct rdl_lab;

/* Returns the events that @lab has recorded, as a past for the functions of emu/past.  It is valid
 * until the lab advances.
 */
struct past past_of_lab(const struct rdl_lab *lab);

#endif
