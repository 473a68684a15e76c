/* SPDX-License-Identifier: MIT */
/* Retry limits of a requester.  Pure functions. */
#ifndef EMU_XPORT_RETRY_H
#define EMU_XPORT_RETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/facts/enum/profile.h"
#include "emu/facts/profile.h"
#include "emu/facts/roce.h"
#include "emu/xport/xport_qp.h"

/* Returns true if @retry_cnt allows unlimited retries on a host of profile @p. */
static inline bool retry_is_endless(uint32_t retry_cnt, enum profile p)
{
    return retry_cnt == RETRY_FOREVER && !profile_has(p, TRAIT_RETRY_7_ENDS);
}

/* Returns true if another retry is allowed after @used retries without progress, on a host of
 * profile @p.  [IBTA1 9.7.6.1.3, C9-141]
 */
static inline bool retry_allowed(uint32_t used, uint32_t retry_cnt, enum profile p)
{
    return used < retry_cnt || retry_is_endless(retry_cnt, p);
}

/* Like retry_allowed() for RNR NAKs, where 7 means unlimited.  [IBTA1 9.7.5.2.8] */
static inline bool rnr_retry_allowed(uint32_t used, uint32_t rnr_retry)
{
    return rnr_retry == RETRY_FOREVER || used < rnr_retry;
}

/* Return the retry limits as shown in events.  "Unlimited" is shown as 0, and so is a limit of 0.
 */
static inline uint32_t retry_limit(uint32_t retry_cnt, enum profile p)
{
    return retry_is_endless(retry_cnt, p) ? 0 : retry_cnt;
}

static inline uint32_t rnr_limit(uint32_t rnr_retry)
{
    return rnr_retry == RETRY_FOREVER ? 0 : rnr_retry;
}

#endif
