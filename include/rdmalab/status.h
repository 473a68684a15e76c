/* SPDX-License-Identifier: MIT */
/* What a call can answer: the caller asked for something impossible.  Bugs of ours are assertions,
 * and what a peer or the network does wrong is an event, never a status.
 */
#ifndef RDMALAB_STATUS_H
#define RDMALAB_STATUS_H

enum rdl_status {
#define X(name, text, remedy) RDL_##name,
#include "rdmalab/status.def"
#undef X
    RDL_STATUS_COUNT
};

#define RDL_MUST_CHECK __attribute__((warn_unused_result))

/* Text for @st; never NULL, also for values out of range. */
const char *rdl_status_str(enum rdl_status st);

/* The identifier without its prefix ("ERR_INVAL"), as `explain` takes it. */
const char *rdl_status_name(enum rdl_status st);

/* What a user can do about @st; never NULL, may be empty. */
const char *rdl_status_remedy(enum rdl_status st);

#endif
