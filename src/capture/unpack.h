/* SPDX-License-Identifier: MIT */
/* Reads a file that may be packed by gzip, as a stream: a capture of many gigabytes is never in
 * memory as a whole. [RFC 1952]
 *
 * Several packed members behind one another are one file.  Bytes behind the last member that are no
 * further member are ignored, as gzip does.
 */
#ifndef CAPTURE_UNPACK_H
#define CAPTURE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct unpack;

/* Returns a reader of @f, which the caller keeps open; NULL: there is no memory.  unpack_free()
 * frees it.
 */
struct unpack *unpack_new(FILE *f);
void unpack_free(struct unpack *u);

/* Reads up to @n bytes to @to.  Returns fewer only at the end of the file, or if its rest cannot be
 * unpacked; then unpack_wrong() has the reason.
 */
size_t unpack_read(struct unpack *u, void *to, size_t n);

/* Returns why the file cannot be unpacked; NULL: nothing is wrong. */
const char *unpack_wrong(const struct unpack *u);

/* Returns true if a packed file ended in the middle of its data. */
bool unpack_was_cut(const struct unpack *u);

/* Returns the name of the packer that wrote a file with the @n first bytes @head; NULL:
 * unpack_read() reads it, or no packer is known by them.
 */
const char *unpack_other_packer(const void *head, size_t n);

#endif
