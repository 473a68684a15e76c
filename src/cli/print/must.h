/* SPDX-License-Identifier: MIT */
/* Memory for what cannot be given up in good order, such as a table half printed. */
#ifndef CLI_PRINT_MUST_H
#define CLI_PRINT_MUST_H

#include <stddef.h>

/* malloc() and realloc(), which never return NULL: when there is no memory left they say so and
 * exit, with status 1.
 */
void *must_malloc(size_t bytes);
void *must_realloc(void *p, size_t bytes);

#endif
