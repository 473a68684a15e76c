/* SPDX-License-Identifier: MIT */
/* A guest program that does what a file of lines says: one side, a or b, of a connection.
 *
 * The other side reads the same file, and may be another program: verbs_peer on libibverbs, with
 * which Linux does the same.  The two tell each other the numbers of their objects, as lines of
 * text; each prints what it saw, as a transcript.  docs/verbs_peer.md defines file, lines and
 * transcript.
 *
 * As pingpong.h, this is a state machine that is asked to go on whenever something may have
 * changed, and the text for the other side travels outside it.  The lines are carried out one after
 * the other, each to its end.
 *
 * What it leaves out: lines that ask for what the lab has no call for, or that the device refuses
 * as not supported, end the program.  So a transcript with an end is always one of the whole file.
 */
#ifndef CLI_PROGRAMS_VERBS_PEER_H
#define CLI_PROGRAMS_VERBS_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/base/text.h"
#include "emu/wire/addr.h"
#include "rdmalab/verbs.h"

struct verbs_peer_config {
    rdl_host host;
    char host_name[RDL_NAME_BYTES];
    char server[64];            /* name or address of side a's machine; "": be side a */
    char listen[ADDR_TEXT_MAX]; /* of side a: an address of this machine; "": its loopback */
    uint16_t port;
    uint32_t gid_index;
    uint32_t psn; /* of the first packet of each queue pair */
};

enum verbs_peer_state {
    VERBS_PEER_HELLO, /* waits for the first line of the other side */
    VERBS_PEER_RUN,
    VERBS_PEER_DONE, /* has come to the end of its file */
    VERBS_PEER_FAILED
};

struct verbs_peer;

/* @lines is the file, which is closed by verbs_peer_free(); the transcript goes to @out.  NULL: no
 * memory, and @lines is still the caller's.
 */
struct verbs_peer *verbs_peer_new(struct rdl_lab *lab, const struct verbs_peer_config *config,
                                  FILE *lines, FILE *out);
void verbs_peer_free(struct verbs_peer *p); /* NULL is fine */

/* Goes on as far as it can.  @now_ns is real time.  Cheap when nothing can be done. */
void verbs_peer_go(struct verbs_peer *p, uint64_t now_ns);

/* The text for the other side that has come since the last call, of *@ret_n bytes; valid until the
 * program goes on.
 */
const char *verbs_peer_says(struct verbs_peer *p, size_t *ret_n);

/* @n bytes came from the other side. */
void verbs_peer_hears(struct verbs_peer *p, const char *bytes, size_t n);

/* Nothing more will come from the other side. */
void verbs_peer_left(struct verbs_peer *p);

/* Ends it with an error. */
void verbs_peer_fail(struct verbs_peer *p, const char *why);

enum verbs_peer_state verbs_peer_state(const struct verbs_peer *p);
const struct verbs_peer_config *verbs_peer_config(const struct verbs_peer *p);

/* Why it failed. */
const char *verbs_peer_error(const struct verbs_peer *p);

/* Is a control request of this program under way? */
bool verbs_peer_asks(const struct verbs_peer *p);

/* Does it wait for what the other side says? */
bool verbs_peer_listens(const struct verbs_peer *p);

/* For people: "waiting for the other side", "line 12: poll_cq", ... */
void verbs_peer_add_place(const struct verbs_peer *p, struct text *t);

static inline bool verbs_peer_is_server(const struct verbs_peer_config *c)
{
    return c->server[0] == '\0';
}

#endif
