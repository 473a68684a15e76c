/* SPDX-License-Identifier: MIT */
/* RDL_COLD marks a function that runs only on errors or when somebody watches.
 *
 * The compiler keeps it, and the branches that lead to it, apart from the code of the packet path,
 * which barely fits into the first-level instruction cache.
 */
#ifndef EMU_BASE_COLD_H
#define EMU_BASE_COLD_H

#define RDL_COLD __attribute__((cold))

/* RDL_APART marks a function that a hot path calls only now and then.  Inlined, it would slow the
 * other passes down.
 */
#define RDL_APART __attribute__((noinline))

/* RDL_INLINE marks a short function of a header that is called very often.  It is inlined always:
 * with constant sizes little of it remains.
 */
#define RDL_INLINE static inline __attribute__((always_inline))

#endif
