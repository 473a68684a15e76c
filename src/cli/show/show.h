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

#include "cli/lang/words.h"
#include "rdmalab/lab.h"

struct live;
struct live_ops;
struct past;
struct vq_looks;

/* The words that follow `show`:
 *
 *	(none)                        the lab on one screen: what there is, what happens next
 *	PATH                          anything in the inspect tree: h1, h1.device, h1.qp.sq.driver
 *	vq PATH                       a virtqueue: h1.qp.sq, h1.cq, h1.ctrl
 *	qp|cq|mr|pd|ah|srq [PATH]         one, or all of them
 *	packet [#ID|last]             every byte of a frame
 *	events [all] [#A..#B|#TICK|last N]  what happened
 *	life [PATH|#ID]               a work request from its posting to its poll
 *	memory [HOST]                 what keys open, and the access that failed last
 *	due                           all that will happen
 *	tree [PATH]                   every value of the inspect tree
 *	faults|links|counters
 *	live                          the clock, live ports, programs
 *	dump|wqe PATH                 the bytes of a queue's slot: h1.qp.sq.desc[0]
 */
struct show_request {
    const char *const *words;
    size_t n_words;
    const char *kinds; /* of events: "tx,rx"; NULL: all */
    const char *host;  /* events of this host only; NULL: all */
    const char *from;  /* events from here on: "#12.3"; NULL: from the first */
    bool has_wr_id;    /* of life: the request with this number */
    uint64_t wr_id;
    enum show_form form;
    enum show_layout layout; /* of dump and wqe */
    bool colour;             /* escape sequences for a terminal */
    unsigned lines_max;      /* of a screen, for events; 0: all are shown */
    struct vq_looks *looks;  /* what was seen of virtqueues before; NULL: nobody remembers */
    const struct live_ops *live_ops;
    const struct live *live; /* NULL: nothing outside is attached */
};

struct show_error {
    size_t word;     /* index of the word that is wrong; n_words: one is missing */
    size_t at;       /* offset in it */
    const char *key; /* "kinds", "host", "from": its value number @at is wrong; NULL: a word is */
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

/* The form that @word, the last of a question, asks for: "csv"; false: it is none. */
bool show_form_of(const char *word, enum show_form *ret);

/* The words that may stand first, NULL after the last: for completion and suggestions. */
const char *show_subject(size_t i);

#endif
