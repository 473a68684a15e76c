/* SPDX-License-Identifier: MIT */
/* Length of arrays that count drops by reason.  A header that declares such an array includes this
 * file instead of enum/drop.h, which has the reasons.
 */
#ifndef EMU_FACTS_DROPS_H
#define EMU_FACTS_DROPS_H

#define DROPS_MAX 56u /* at least DROP_COUNT; the index is an enum drop_reason */

#endif
