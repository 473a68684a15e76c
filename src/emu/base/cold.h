/* SPDX-License-Identifier: MIT */
/* RDL_COLD before a function: it is called when something went wrong, or is watched.
 *
 * The compiler keeps it, and whatever leads to it alone, apart from the code that every packet runs
 * through, which only just fits into the processor's first cache.
 */
#ifndef EMU_BASE_COLD_H
#define EMU_BASE_COLD_H

#define RDL_COLD __attribute__((cold))

#endif
