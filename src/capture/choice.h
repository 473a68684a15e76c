/* SPDX-License-Identifier: MIT */
/* Chooses the connections of a capture that a report is about: those between two ends, or the worst
 * ones.
 */
#ifndef CAPTURE_CHOICE_H
#define CAPTURE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/wire/addr.h"

struct check;

/* A queue pair, a host, or a queue pair with this number on any host. */
struct choice_end {
    bool has_host, has_qpn;
    uint8_t gid[GID_BYTES];
    uint32_t qpn;
};

/* The connections to report; all members zero: all connections. */
struct choice {
    bool by_ends;
    struct choice_end ends[2];
    uint32_t worst; /* at most this number of those with most errors and signs of loss; 0: all */
};

/* Parses "END-END"; each END is QPN, IP, IP:QPN or [IPv6]:QPN.  QPNs are decimal or hexadecimal
 * (0x11).  Returns false if @text is nothing like that.
 */
bool choice_parse(const char *text, struct choice_end ret[2]);

/* Returns an array that says of each flow whether its connection is reported.  The caller frees it.
 */
bool *choice_flows(const struct check *c);

/* Restricts the report to the connections that @choice names, and to their findings. */
void choice_apply(struct check *c, const struct choice *choice);

#endif
