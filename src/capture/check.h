/* SPDX-License-Identifier: MIT */
/* Checks a capture of RoCEv2 against the rules of the protocol, and reports connections and
 * findings.
 *
 *	capture -> record_read() -> pairs_find() -> half_judge(), stream_judge() -> check_text()
 *		   handshakes_take()		    handshakes_judge()		    check_json()
 *		   lnet_messages_take()		    lnet_messages_judge()
 */
#ifndef CAPTURE_CHECK_H
#define CAPTURE_CHECK_H

#include <stdio.h>

#include "capture/axis.h"
#include "capture/choice.h"
#include "capture/exact.h"
#include "capture/half.h"

/* A connection of two queue pairs, or a flow whose opposite direction is not known. */
struct connection {
    uint32_t flow[2]; /* indexes into record.flows; the second is SEEN_NONE if it is not known */
    struct half_sums sums[2]; /* statistics of the requests in each flow, and of their responses */
    uint64_t findings;        /* number of findings in both flows */
    /* n_ends: number of its ends that were captured at their host.  n_exact: number of those that
     * exact_judge() could judge.
     */
    unsigned n_ends, n_exact;
};

/* Facts that the user states in addition to the file. */
struct check_known {
    struct vantage at;          /* the hosts at which it was captured */
    struct exact_limits limits; /* attributes of the queue pairs of these hosts */
    struct choice choice;       /* the connections to report */
};

/* The result of checking one file. */
struct check {
    struct capture capture;
    struct capture_record record;
    struct found_list found;
    struct connection *v; /* the @n connections; owned */
    uint32_t n;
    uint32_t *shown; /* owned: indexes of the connections to report, in this order */
    uint32_t n_shown;
    bool *shows_handshake; /* owned: whether each of record.handshakes is reported */
    uint32_t n_handshakes_shown;
    bool is_chosen;       /* the report is about some connections only */
    uint32_t n_elsewhere; /* number of findings that are therefore not reported */
    struct axis axis;
    uint32_t *of_flow; /* owned: index into @v of the connection of each flow */
    bool has_hopes;    /* struct check_known had a fact, which matters only for exact_judge() */
    /* is_elsewhere: the host known->at.at[elsewhere] sends and gets no frame of the file. */
    bool is_elsewhere;
    unsigned elsewhere;
    bool is_whole; /* the file was read to its end; otherwise capture.wrong has the reason */
};

/* Reads @f, which stays open, and judges it.  Returns false, with the reason in c->capture.wrong,
 * if it is not a capture.  Call check_done() in both cases.
 */
bool check_file(struct check *c, FILE *f, const struct check_known *known);
void check_done(struct check *c);

/* Return the source and the destination host of the flow with index @flow. */
const struct station *check_src(const struct check *c, uint32_t flow);
const struct station *check_dst(const struct check *c, uint32_t flow);

/* Computes the median and the maximum of @s->repair_ns.  Returns false if nothing was lost. */
bool check_repairs(const struct half_sums *s, uint64_t *ret_median_ns, uint64_t *ret_worst_ns);

/* Returns the rate of payload in bit/s: s->bytes over the time from s->first_ns to s->last_ns.
 * Returns 0 if these times are equal.
 */
uint64_t check_goodput(const struct half_sums *s);

/* Prints the report as text, with at most @findings_max findings per rule; 0: all.  @name is the
 * name of the file.
 */
void check_text(FILE *out, const struct check *c, const char *name, uint32_t findings_max);

/* Prints the report, with all findings, as one JSON object. */
void check_json(FILE *out, const struct check *c, const char *name);

/* --- Between the files ------------------------------------------------------------------------ */

/* Print the handshakes, as text or as a member of the JSON object.  They are numbered from 1 in
 * capture order.
 */
void check_text_handshakes(FILE *out, const struct check *c);

/* Print how many messages of o2iblnd of each type there are: as text, those of all connections that
 * are reported, or as a member of the JSON object of flow @flow.  Print nothing if there are none.
 */
void check_text_lnet(FILE *out, const struct check *c);
void check_json_lnet(FILE *out, const struct check *c, uint32_t flow);

void check_json_handshakes(FILE *out, const struct check *c);

#endif
