/* SPDX-License-Identifier: MIT */
/* The status codes of the public API.
 *
 * A status other than RDL_OK means that the call could not do what the caller asked for.  A bug of
 * the library fails an assertion.  A mistake of a peer, a guest or the network is an event, never a
 * status.
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

/* Returns a one-line text for @st.  Never NULL, also for values out of range. */
const char *rdl_status_str(enum rdl_status st);

/* Returns the identifier without its prefix ("ERR_INVAL"), in the form that `explain` takes. */
const char *rdl_status_name(enum rdl_status st);

/* Returns advice for the user about @st.  Never NULL; empty if there is none. */
const char *rdl_status_remedy(enum rdl_status st);

#endif
