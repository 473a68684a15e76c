/* SPDX-License-Identifier: MIT */
/* Attributes of functions that keep the code of the packet path small.
 *
 * RDL_COLD marks a function that runs only on errors or while events are observed.  The compiler
 * places it, and the branches that lead to it, apart from the packet path, whose code barely fits
 * into the first-level instruction cache.
 */
#ifndef EMU_BASE_COLD_H
#define EMU_BASE_COLD_H

#define RDL_COLD __attribute__((cold))

/* RDL_APART marks a function that a hot path rarely calls.  It is never inlined: that would slow
 * down the common case.
 */
#define RDL_APART __attribute__((noinline))

/* RDL_INLINE marks a short function in a header that is called very often.  It is always inlined:
 * for arguments that are constants, the compiler then removes most of its code.
 */
#define RDL_INLINE static inline __attribute__((always_inline))

#endif
