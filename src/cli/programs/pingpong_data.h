/* SPDX-License-Identifier: MIT */
/* Content of the messages of rc_pingpong, and its verification.
 *
 * A client marks every page of every message with the number of the message, and checks that the
 * same comes back.  A server returns what it receives.  It distinguishes two kinds of clients: this
 * program, whose marks it checks, and the original, whose buffer never changes, so that every
 * message must be equal to the first.
 *
 * With -c the original checks for a zero at the start of every page; the messages have one.
 */
#ifndef CLI_PROGRAMS_PINGPONG_DATA_H
#define CLI_PROGRAMS_PINGPONG_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pingpong_data {
    uint8_t *want;    /* the message to send or to expect; NULL: no checks */
    uint8_t *got;     /* the received message: the caller copies it here */
    size_t bytes;     /* of a message */
    bool marked;      /* messages have marks; a server finds out from the first message */
    uint32_t n_taken; /* number of messages checked so far */
};

/* Initializes @d for messages of @bytes bytes.  Returns false if there is no memory.  Free with
 * pingpong_data_done(), which accepts a zeroed one.
 */
bool pingpong_data_init(struct pingpong_data *d, size_t bytes);
void pingpong_data_done(struct pingpong_data *d);

/* Client: writes the marks of message number @i to @d->want. */
void pingpong_data_mark(struct pingpong_data *d, uint32_t i);

/* Returns true if @d->got is the expected message.  Otherwise *@reterr_at is the offset of the
 * first wrong byte.
 */
bool pingpong_data_take(struct pingpong_data *d, bool is_server, size_t *reterr_at);

#endif
