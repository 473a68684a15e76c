/* SPDX-License-Identifier: MIT */
/* All memory of one lab, in one reserved mapping.
 *
 * The mapping is reserved once and touched only as far as it is used; the allocator's own state is
 * at its beginning.  A checkpoint is therefore a copy of the used part, and restoring it puts every
 * object back at its address: pointers inside a lab stay valid.
 *
 * Blocks have power-of-two classes and a free list each, last freed first: the addresses that a
 * scenario gets depend on nothing but the scenario.
 */
#ifndef EMU_BASE_ARENA_H
#define EMU_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct arena_checkpoint;

/* Reserves @bytes of address space.  NULL if the system refuses.  Free with arena_free(). */
struct arena *arena_new(size_t bytes);

/* Reserves @max_bytes of address space or, where the system limits it, half of that as often as it
 * takes, but never less than @min_bytes.  NULL if the system refuses even the least of them.
 */
struct arena *arena_new_within(size_t min_bytes, size_t max_bytes);
void arena_free(struct arena *a);

/* Zeroed bytes; NULL when the arena is full.  They are aligned like the next power of two of their
 * size, but at least by 16 bytes, and below a page at most by a line of the cache, 64 bytes.
 */
void *arena_alloc(struct arena *a, size_t bytes);

/* The same without zeroing, for buffers that are written whole. */
void *arena_alloc_raw(struct arena *a, size_t bytes);

/* Was NULL ever the answer because the arena is full?  Whoever was told so went on without, as a
 * device may, but what happened since is not what would have happened.  arena_restore() forgets it
 * if it was not so when the checkpoint was made.
 */
bool arena_is_short(const struct arena *a);

/* The array @v of *@cap elements of @bytes each, with room for @need (at least 1), by doubling: @v
 * itself, or a longer one that begins with its first @used and is zero behind them.  NULL: the
 * arena is full, and @v stays as it is.
 */
void *arena_extend(struct arena *a, void *v, uint32_t *cap, uint32_t used, uint32_t need,
                   size_t bytes);

/* Gives back a block with the size it was asked for; NULL is fine. */
void arena_release(struct arena *a, void *block, size_t bytes);

/* Bytes of the mapping in use, free blocks included: more than a checkpoint has. */
size_t arena_used_bytes(const struct arena *a);

/* Bytes of the blocks that were handed out and not given back: whatever comes and goes leaves them
 * as they were.
 */
size_t arena_live_bytes(const struct arena *a);

/* A copy of the used part, outside the arena, without what is in free pages; NULL when memory is
 * short.
 */
struct arena_checkpoint *arena_save(const struct arena *a);

/* Puts @a back as it was when @c was saved; @c stays valid.  @c must come from @a. */
void arena_restore(struct arena *a, const struct arena_checkpoint *c);

/* Bytes that @c takes. */
size_t arena_checkpoint_bytes(const struct arena_checkpoint *c);

/* Takes NULL too. */
void arena_checkpoint_free(struct arena_checkpoint *c);

#endif
