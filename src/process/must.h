/* SPDX-License-Identifier: MIT */
/* Memory allocation that exits on failure, for code that cannot clean up, such as a half-printed
 * table.
 */
#ifndef PROCESS_MUST_H
#define PROCESS_MUST_H

#include <stddef.h>
#include <stdio.h>

/* Prints that memory is exhausted, and exits with status 1. */
_Noreturn void must_fail(void);

/* Like malloc() and realloc(), but call must_fail() instead of returning NULL. */
void *must_malloc(size_t bytes);
void *must_realloc(void *p, size_t bytes);

/* Ensures that @array, which has @n elements of @bytes each, has room for one more.  *@room is its
 * capacity in elements, 0 at first.  Returns the array, which may have moved.  Calls must_fail() on
 * failure.
 */
void *must_grow(void *array, size_t n, size_t *room, size_t bytes);

/* Like open_memstream(), but calls must_fail() instead of returning NULL.  The caller frees *@text
 * after fclose().
 */
FILE *must_memstream(char **text, size_t *bytes);

/* Closes such a stream.  Calls must_fail() if the text is not whole: glibc reports no error when it
 * has no memory for it, and leaves *@text NULL.
 */
void must_memstream_end(FILE *f, char *const *text);

#endif
