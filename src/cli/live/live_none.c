/* SPDX-License-Identifier: MIT */
/* A build without live ports. */
#include "cli/live/live.h"

#include <stddef.h>

const struct live_ops *const live_ops = NULL;
