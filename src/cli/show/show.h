/* SPDX-License-Identifier: MIT */
/* The command `show`: prints the lab, or anything in it, for people or for programs.
 *
 * All data comes from the inspect tree, guest RAM and the recorder, through include/rdmalab.
 * Nothing here changes the lab.
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

/* The words after `show`:
 *
 *	(none)                        a summary of the lab on one screen
 *	PATH                          anything in the inspect tree: h1, h1.device, h1.qp.sq.driver
 *	vq PATH                       a virtqueue: h1.qp.sq, h1.cq, h1.ctrl
 *	qp|cq|mr|mw|pd|ah|srq|link|cm|event_channel [PATH]   one object, or all of a kind
 *	packet [#ID|last]             every byte of a frame
 *	events [all] [#A..#B|#TICK|last N]  recorded events
 *	life [PATH|#ID]               the events of a work request, from its posting to its poll
 *	memory [HOST]                 the memory that each key opens, and the last refused access
 *	due                           all pending timers and frames
 *	tree [PATH]                   every value of the inspect tree
 *	hosts|switches|faults|links|counters
 *	device [HOST] [FIELD]         the device configuration, and the side that enforces it
 *	pci PATH                      the PCI functions of a host, or one of them
 *	map [PATH]                    the objects, who refers to whom, and what cannot be destroyed
 *	states PATH                   the state graph of a queue pair, and the way that it has taken
 *	live                          the clock, live ports, programs, virtual machines
 *	dump|wqe PATH                 the bytes of a queue's slot: h1.qp.sq.desc[0]
 */
struct show_request {
    const char *const *words; /* the words after `show`, as above */
    size_t n_words;
    const char *kinds; /* event kinds, "tx,rx"; NULL: all */
    const char *host;  /* events of this host only; NULL: all */
    const char *from;  /* first event, "#12.3"; NULL: from the beginning */
    bool has_wr_id;    /* for `life`: the request with this number */
    uint64_t wr_id;
    enum show_form form;
    enum show_layout layout; /* for `dump` and `wqe` */
    bool colour;             /* escape sequences for a terminal */
    unsigned lines_max;      /* lines of the screen, to which `events` is limited; 0: no limit */
    struct vq_looks *looks;  /* virtqueues as last shown, to mark changes; NULL: no marks */
    const struct live_ops *live_ops;
    const struct live *live; /* NULL: no live ports or programs */
};

/* The reason why a request was refused. */
struct show_error {
    size_t word; /* index in words[] of the wrong word; n_words: a word is missing */
    size_t at;   /* offset of the error in that word; see also @key */
    /* "kinds", "host" or "from": a value of that key is wrong, number @at in its list, from 0.
     * NULL: a word is wrong.
     */
    const char *key;
    char text[200];
    char remedy[256]; /* may be empty */
};

/* Executes `show`.  @lab is the state of the lab, @p its recorded events.  @lab may be NULL: then
 * only events and packets of the past are available, and all other requests return
 * RDL_ERR_UNSUPPORTED.
 *
 * Return: RDL_OK, RDL_ERR_NOT_FOUND, RDL_ERR_INVAL, RDL_ERR_NOMEM, RDL_ERR_UNSUPPORTED; @reterr has
 * the message and its position
 */
RDL_MUST_CHECK enum rdl_status show(FILE *out, const struct rdl_lab *lab, const struct past *p,
                                    const struct show_request *rq, struct show_error *reterr);

/* Finds the output form called @word, such as "csv".  Returns false if there is none. */
bool show_form_of(const char *word, enum show_form *ret);

/* Returns word number @i, from 0, of the fixed words that may follow `show` ("vq", "events", ...),
 * or NULL after the last one.
 */
const char *show_subject(size_t i);

#endif
