/* SPDX-License-Identifier: MIT */
/* Length of arrays that count drops by reason.  With it a structure that contains such an array
 * need not include the reasons themselves (enum/drop.h).
 */
#ifndef EMU_FACTS_DROPS_H
#define EMU_FACTS_DROPS_H

#define DROPS_MAX 48u /* at least DROP_COUNT; the index is an enum drop_reason */

#endif
