/* SPDX-License-Identifier: MIT */
/* The time for which a program waits for the other side, in real time. */
#ifndef CLI_PROGRAMS_PATIENCE_H
#define CLI_PROGRAMS_PATIENCE_H

#include <stdbool.h>
#include <stdint.h>

struct patience {
    uint64_t silence_ns; /* for each thing that a connected other side must do */
    uint64_t client_ns;  /* for a client to connect, if this is the server; 0: for ever */
};

/* Returns true if what has been waited for since @since_ns is not worth waiting for any more.
 * @most_ns is a member of struct patience.
 */
static inline bool patience_is_over(uint64_t most_ns, uint64_t since_ns, uint64_t now_ns)
{
    return most_ns > 0 && now_ns > since_ns && now_ns - since_ns > most_ns;
}

#endif
