/* SPDX-License-Identifier: MIT */
/* The command `show`: the lab, or anything in it, for people or as JSON.
 *
 * Everything comes from the inspect tree, guest RAM and the recorder through include/rdmalab;
 * nothing here changes the lab.
 */
#ifndef CLI_SHOW_SHOW_H
#define CLI_SHOW_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "rdmalab/lab.h"

struct live;
struct live_ops;
struct past;

/* The words that follow `show`:
 *
 *	(none)                        the lab: hosts, links, faults
 *	PATH                          anything in the inspect tree: h1, h1.device, h1.qp.sq.driver
 *	vq PATH                       a virtqueue: h1.qp.sq, h1.cq, h1.ctrl
 *	qp|cq|mr|pd|ah|srq [PATH]         one, or all of them
 *	packet [#ID|last]             every byte of a frame
 *	events [#A..#B|#TICK|last N]  what happened
 *	faults|links|counters
 *	live                          the clock, live ports, programs
 *	dump PATH                     the bytes of a queue's slot: h1.qp.sq.desc[0]
 */
struct show_request {
    const char *const *words;
    size_t n_words;
    const char *kinds; /* of events: "tx,rx"; NULL: all */
    const char *host;  /* events of this host only; NULL: all */
    bool json;
    bool colour; /* escape sequences for a terminal */
    const struct live_ops *live_ops;
    const struct live *live; /* NULL: nothing outside is attached */
};

struct show_error {
    size_t word;     /* index of the word that is wrong; n_words: one is missing */
    size_t at;       /* offset in it */
    const char *key; /* "kinds", "host": its value number @at is wrong; NULL: a word is */
    char text[200];
    char remedy[256]; /* "": none is known */
};

/* @lab and @p: its state, and what it has recorded.  Without a lab (NULL) events and packets of the
 * past can be asked for, and whatever needs a state is RDL_ERR_UNSUPPORTED.
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND, RDL_ERR_INVAL, RDL_ERR_NOMEM, RDL_ERR_UNSUPPORTED; @reterr
 * says what is wrong where.
 */
RDL_MUST_CHECK enum rdl_status show(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                    const struct show_request *rq, struct show_error *reterr);

/* The words that may stand first, NULL after the last: for completion and suggestions. */
const char *show_subject(size_t i);

#endif
