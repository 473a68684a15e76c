/* SPDX-License-Identifier: MIT */
/* Prints events while the lab runs: those that tell the story, not the mechanics. */
#ifndef CLI_SESSION_SHOWN_H
#define CLI_SESSION_SHOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "rdmalab/lab.h"

struct rdl_listener;

/* The number of events that are printed. */
enum shown_share {
    SHOWN_OF_STEP, /* the first 200 events of each step */
    SHOWN_OF_ALL   /* the first 200 of all steps together */
};

struct shown {
    struct rdl_lab *lab;
    enum shown_share share;
    struct rdl_listener *listener; /* NULL: there is no lab to listen to */
    FILE *out;
    uint64_t n; /* events since the step began, or with SHOWN_OF_ALL since the first step */
    bool full;  /* SHOWN_OF_ALL: the limit was reached, and a message has said so */
};

/* Listens to @lab.  @sh must stay where it is until shown_done().  Nothing is printed yet. */
RDL_MUST_CHECK enum rdl_status shown_init(struct shown *sh, struct rdl_lab *lab, FILE *out,
                                          enum shown_share share);
void shown_done(struct shown *sh);

/* Call when a step begins: prints events from now on. */
void shown_begin(struct shown *sh);

/* Call when the step ends: prints the number of events that were left out. */
void shown_end(struct shown *sh);

#endif
