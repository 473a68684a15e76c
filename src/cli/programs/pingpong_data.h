/* SPDX-License-Identifier: MIT */
/* What the messages of rc_pingpong hold, and whether the right bytes came.
 *
 * A client marks every page of every message with the message's number; what comes back must be
 * what it sent.  A server sends back what it gets.  Two kinds of client are known to it: this one,
 * whose marks it checks, and the original, whose buffer never changes: every message must be like
 * the first.
 *
 * With -c the original wants a zero at the start of every page, and gets one.
 */
#ifndef CLI_PROGRAMS_PINGPONG_DATA_H
#define CLI_PROGRAMS_PINGPONG_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pingpong_data {
    uint8_t *want; /* the message to send, or to come; NULL: nothing is checked */
    uint8_t *got;  /* room for the message that came */
    size_t bytes;
    bool marked;      /* messages bear marks */
    uint32_t n_taken; /* messages looked at */
};

/* False: no memory.  Free with pingpong_data_done(), which takes a zeroed one too. */
bool pingpong_data_init(struct pingpong_data *d, size_t bytes);
void pingpong_data_done(struct pingpong_data *d);

/* Client: @d->want becomes message number @i. */
void pingpong_data_mark(struct pingpong_data *d, uint32_t i);

/* Is @d->got the message that had to come next?  *@reterr_at: the first byte that is not. */
bool pingpong_data_take(struct pingpong_data *d, bool is_server, size_t *reterr_at);

#endif
