/* SPDX-License-Identifier: MIT */
/* The allocator for all memory of one lab, in one reserved mapping.
 *
 * The mapping is reserved once, and its pages are not touched before they are needed.  The
 * allocator's own state is at its beginning.  A checkpoint is therefore a copy of the used part.
 * Restoring it puts every object back at its address, so pointers inside a lab stay valid.
 *
 * Blocks have power-of-two size classes.  Each class has a free list, last freed first.  The
 * addresses of blocks therefore depend only on the sequence of allocations: a repeated scenario
 * gets the same ones.
 */
#ifndef EMU_BASE_ARENA_H
#define EMU_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct arena_checkpoint;

/* Reserves @bytes of address space.  Returns NULL if the system refuses.  Free with arena_free().
 */
struct arena *arena_new(size_t bytes);

/* Reserves @max_bytes of address space.  If the system refuses, halves the size until it succeeds,
 * but not below @min_bytes.  Returns NULL if all sizes are refused.
 */
struct arena *arena_new_within(size_t min_bytes, size_t max_bytes);

/* Returns the address space and all memory of @a to the system.  NULL is allowed. */
void arena_free(struct arena *a);

/* Allocates zeroed bytes.  Returns NULL when the arena is full.  Blocks of more than half a page
 * are aligned to a page of 4096 bytes.  Smaller ones are aligned to their size rounded up to a
 * power of two, at least to 16 and at most to a cache line (64 bytes).
 */
void *arena_alloc(struct arena *a, size_t bytes);

/* As arena_alloc(), but the bytes are undefined.  For buffers that the caller overwrites as a
 * whole.
 */
void *arena_alloc_raw(struct arena *a, size_t bytes);

/* Returns true if an allocation has failed because the arena is full.  The code that needed the
 * memory may have continued without it, but the lab's behaviour is wrong from then on.
 * arena_restore() clears this state if the checkpoint was made before the failure.
 */
bool arena_is_short(const struct arena *a);

/* Grows the array @v of *@cap elements of @bytes each to at least @need (>= 1) elements, by
 * doubling.  Returns @v if it is large enough.  Otherwise returns a larger array with the first
 * @used elements of @v, followed by zeros; sets *@cap; and frees @v.  Returns NULL if the arena is
 * full; @v and *@cap are then unchanged.
 */
void *arena_extend(struct arena *a, void *v, uint32_t *cap, uint32_t used, uint32_t need,
                   size_t bytes);

/* Frees a block.  @bytes is the size that was requested.  NULL is allowed. */
void arena_release(struct arena *a, void *block, size_t bytes);

/* Returns the bytes of the mapping that are in use, including free blocks. */
size_t arena_used_bytes(const struct arena *a);

/* Returns the sum of the sizes of all allocated blocks.  Allocating a block and freeing it leaves
 * the sum unchanged.
 */
size_t arena_live_bytes(const struct arena *a);

/* Copies the used part, except free blocks of a page or more, to memory outside the arena.  Returns
 * NULL when memory is short.
 */
struct arena_checkpoint *arena_save(const struct arena *a);

/* Restores the state that @a had when @c was saved.  @c must be a checkpoint of @a.  It stays
 * valid.
 */
void arena_restore(struct arena *a, const struct arena_checkpoint *c);

/* Returns the bytes of memory that @c uses outside the arena. */
size_t arena_checkpoint_bytes(const struct arena_checkpoint *c);

/* Frees @c.  NULL is allowed. */
void arena_checkpoint_free(struct arena_checkpoint *c);

#endif
