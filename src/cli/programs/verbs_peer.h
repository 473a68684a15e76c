/* SPDX-License-Identifier: MIT */
/* A guest program that executes the lines of a file as one side, a or b, of a connection.
 *
 * The other side reads the same file.  It may be the program verbs_peer on libibverbs, with which
 * Linux does the same; docs/verbs_peer.md gives the reasons for both.  The sides exchange the
 * numbers of their objects as lines of text, and each prints a transcript of what it saw.
 * docs/verbs_peer.md defines the file, the lines and the transcript.
 *
 * Like pingpong.h this is a state machine: the caller calls verbs_peer_go() whenever something may
 * have changed, and transfers the text.  Each line is completed before the next one begins.
 *
 * A line that the lab does not support, or that the device refuses as unsupported, ends the
 * program.  So a transcript with an "end" line covers the whole file.
 */
#ifndef CLI_PROGRAMS_VERBS_PEER_H
#define CLI_PROGRAMS_VERBS_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/programs/patience.h"
#include "emu/base/text.h"
#include "emu/wire/addr.h"
#include "rdmalab/verbs.h"

struct verbs_peer_config {
    rdl_host host;
    char host_name[RDL_NAME_BYTES];
    /* Name or address of the machine of side a, to which side b connects; "": this is side a. */
    char server[64];
    /* Address of this machine at which side a accepts side b; "": loopback.  Not used if this is
     * side b.
     */
    char listen[ADDR_TEXT_MAX];
    uint16_t port;
    uint32_t gid_index; /* of the GID of @host that this side uses */
    uint32_t psn;       /* first PSN that each queue pair of this side sends */
    struct patience patience;
};

enum verbs_peer_state {
    VERBS_PEER_HELLO, /* waits for the first line of the other side */
    VERBS_PEER_RUN,
    VERBS_PEER_DONE, /* reached the end of its file */
    VERBS_PEER_FAILED
};

struct verbs_peer;

/* Creates the program.  @lines is the file, which verbs_peer_free() closes.  The transcript goes to
 * @out.  Returns NULL if there is no memory; then @lines stays open.
 */
struct verbs_peer *verbs_peer_new(struct rdl_lab *lab, const struct verbs_peer_config *config,
                                  FILE *lines, FILE *out);
void verbs_peer_free(struct verbs_peer *p); /* accepts NULL */

/* Executes lines of the file, as far as possible without waiting.  @now_ns is real time.  Cheap if
 * there is nothing to do.
 */
void verbs_peer_go(struct verbs_peer *p, uint64_t now_ns);

/* Returns the text for the other side since the last call, *@ret_n bytes.  It is valid until the
 * next call of verbs_peer_go().
 */
const char *verbs_peer_says(struct verbs_peer *p, size_t *ret_n);

/* Passes in @n bytes from the other side. */
void verbs_peer_hears(struct verbs_peer *p, const char *bytes, size_t n);

/* Reports that the other side has connected.  @now_ns is real time. */
void verbs_peer_met(struct verbs_peer *p, uint64_t now_ns);

/* Reports that the other side has closed the connection. */
void verbs_peer_left(struct verbs_peer *p);

/* Ends the program: its state is VERBS_PEER_FAILED, and its error is @why. */
void verbs_peer_fail(struct verbs_peer *p, const char *why);

enum verbs_peer_state verbs_peer_state(const struct verbs_peer *p);
const struct verbs_peer_config *verbs_peer_config(const struct verbs_peer *p);

/* Returns the reason of the failure; "" if the state is not VERBS_PEER_FAILED. */
const char *verbs_peer_error(const struct verbs_peer *p);

/* Returns true if the program has failed because the other side did nothing for too long. */
bool verbs_peer_waited(const struct verbs_peer *p);

/* Returns true if a control request of this program is pending. */
bool verbs_peer_asks(const struct verbs_peer *p);

/* Returns true if the program can only go on with text from the other side. */
bool verbs_peer_listens(const struct verbs_peer *p);

/* Appends the current position for people: "waiting for the other side", "line 12: poll_cq". */
void verbs_peer_add_place(const struct verbs_peer *p, struct text *t);

static inline bool verbs_peer_is_server(const struct verbs_peer_config *c)
{
    return c->server[0] == '\0';
}

#endif
