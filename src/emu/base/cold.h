/* SPDX-License-Identifier: MIT */
/* RDL_COLD before a function: it is called when something went wrong, or is watched.
 *
 * The compiler keeps it, and whatever leads to it alone, apart from the code that every packet runs
 * through, which only just fits into the processor's first cache.
 */
#ifndef EMU_BASE_COLD_H
#define EMU_BASE_COLD_H

#define RDL_COLD __attribute__((cold))

/* RDL_APART before a function that something is done by now and then, on a way that is gone all the
 * time: what is inlined there costs those who do not need it.
 */
#define RDL_APART __attribute__((noinline))

/* RDL_INLINE before a function of a header that is called so often, and is so short with the sizes
 * that it is called with, that no compiler shall decide otherwise.
 */
#define RDL_INLINE static inline __attribute__((always_inline))

#endif
