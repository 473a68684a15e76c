/* SPDX-License-Identifier: MIT */
/* Matches the fragments of two descriptors.  [O2iblnd to userland, 2.6; Lustre, kiblnd_init_rdma]
 */
#ifndef LNET_FRAGS_H
#define LNET_FRAGS_H

#include "emu/wire/lnet.h"

/* A part of a transfer that is contiguous on both sides. */
struct frag_piece {
    uint64_t src, dst;
    uint32_t bytes;
};

/* A list of fragments. */
struct frag_list {
    const struct lnet_frag *frags;
    uint32_t n;
};

/* Cuts @bytes into at most @max pieces: *@ret_n of them in @ret.  Two lists of n and m fragments
 * give at most n + m - 1 pieces.
 *
 * Return: 0
 *	   -EPROTO    a list is shorter than @bytes
 *	   -EMSGSIZE  there are more than @max pieces
 */
int frags_match(const struct frag_list *src, const struct frag_list *dst, uint32_t bytes,
                uint32_t max, struct frag_piece *ret, uint32_t *ret_n);

/* Writes the fragments of the @bytes bytes at @offset in @from to @ret, none longer than @most
 * bytes; with @most also none over a multiple of it.  @most 0: as they are.  Returns their number,
 * or 0 if @from is too short, there are more than @max, or @bytes is 0.
 */
uint32_t frags_extract(const struct frag_list *from, uint64_t offset, uint32_t bytes, uint32_t most,
                       struct lnet_frag *ret, uint32_t max);

/* Returns the sum of the lengths. */
uint64_t frags_sum(const struct frag_list *l);

/* Finds the smallest range with all fragments of @l, which has one at least. */
void frags_span(const struct frag_list *l, uint64_t *ret_addr, uint64_t *ret_bytes);

#endif
