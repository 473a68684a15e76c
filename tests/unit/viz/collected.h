/* SPDX-License-Identifier: MIT */
/* Collects the output of a picture in memory. */
#ifndef TESTS_UNIT_VIZ_COLLECTED_H
#define TESTS_UNIT_VIZ_COLLECTED_H

#include <stddef.h>

#include "viz/picture.h"

/* Free @s. */
struct collected {
    char *s;
    size_t n;
};

struct viz_sink collect(struct collected *c);

/* Fails unless each element of @svg that has an end tag in such pictures is closed. */
void assert_is_closed(const char *svg);

#endif
