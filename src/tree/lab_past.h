/* SPDX-License-Identifier: MIT */
/* What a running lab has recorded, as a past. */
#ifndef TREE_LAB_PAST_H
#define TREE_LAB_PAST_H

#include "emu/past/past.h"

struct rdl_lab;

/* Valid until the lab advances. */
struct past past_of_lab(const struct rdl_lab *lab);

#endif
