/* SPDX-License-Identifier: MIT */
/* Room for counts of drops by reason.  A struct that holds counts needs no reason by its name. */
#ifndef EMU_FACTS_DROPS_H
#define EMU_FACTS_DROPS_H

#define DROPS_MAX 48u /* at least DROP_COUNT; by enum drop_reason */

#endif
