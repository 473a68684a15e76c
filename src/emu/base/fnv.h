/* SPDX-License-Identifier: MIT */
/* The FNV-1a hash.  The 32-bit form is for hash tables.  The 64-bit form is a fingerprint of memory
 * contents, to compare them without printing them.
 */
#ifndef EMU_BASE_FNV_H
#define EMU_BASE_FNV_H

#include <stddef.h>
#include <stdint.h>

/* Returns the 32-bit hash of @n bytes. */
static inline uint32_t fnv1a(const void *bytes, size_t n)
{
    const uint8_t *b = bytes;
    uint32_t h = 0x811c9dc5u;

    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * 0x01000193u;
    return h;
}

#define FNV64_OF_NOTHING UINT64_C(0xcbf29ce484222325)

/* Returns the 64-bit hash @h continued with @n bytes.  @h is FNV64_OF_NOTHING for the first bytes.
 */
static inline uint64_t fnv1a_64(uint64_t h, const void *bytes, size_t n)
{
    const uint8_t *b = bytes;

    for (size_t i = 0; i < n; i++)
        h = (h ^ b[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* As fnv1a_64() over the four bytes of each of @n words, the low byte first. */
static inline uint64_t fnv1a_64_words(uint64_t h, const uint32_t *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint8_t bytes[] = {(uint8_t)words[i], (uint8_t)(words[i] >> 8),
                                 (uint8_t)(words[i] >> 16), (uint8_t)(words[i] >> 24)};

        h = fnv1a_64(h, bytes, sizeof(bytes));
    }
    return h;
}

#endif
