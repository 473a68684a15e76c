/* SPDX-License-Identifier: MIT */
/* Seeded pseudo-random numbers: SplitMix64, one 64-bit word of state.
 *
 * Each consumer in a lab has its own stream, derived from the lab's seed and a stream number.  A
 * new consumer therefore does not shift the numbers of the others.
 */
#ifndef EMU_BASE_PRNG_H
#define EMU_BASE_PRNG_H

#include <stdint.h>

struct prng {
    uint64_t state;
};

/* Returns the next 64-bit number of @r. */
static inline uint64_t prng_next(struct prng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Returns a new generator: stream number @stream of @seed. */
static inline struct prng prng_stream(uint64_t seed, uint64_t stream)
{
    struct prng mix = {seed ^ (stream + 1) * 0xd1342543de82ef95u};

    return (struct prng){prng_next(&mix)};
}

/* Returns the next number of @r modulo @n, 0 .. @n - 1.  @n must not be 0.  The modulo bias is
 * below 2^-32 if @n is below 2^32.
 */
static inline uint64_t prng_below(struct prng *r, uint64_t n)
{
    return prng_next(r) % n;
}

#endif
