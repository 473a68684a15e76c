/* SPDX-License-Identifier: MIT */
/* Prints what happens while the lab goes on: the events that tell the story, not the mechanics. */
#ifndef CLI_SESSION_SHOWN_H
#define CLI_SESSION_SHOWN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "rdmalab/lab.h"

struct rdl_listener;

/* How much of it is printed. */
enum shown_share {
    SHOWN_OF_STEP, /* the first 200 events of each step */
    SHOWN_OF_ALL   /* the first 200 of all steps together */
};

struct shown {
    struct rdl_lab *lab;
    enum shown_share share;
    struct rdl_listener *listener; /* NULL: there is no lab to listen to */
    FILE *out;
    uint64_t n; /* events since the step, or all of them, began: printed or only counted */
    bool full;  /* SHOWN_OF_ALL: no more will be printed, which was said */
};

/* Listens to @lab; @sh stays where it is until shown_done().  Nothing is printed yet. */
RDL_MUST_CHECK enum rdl_status shown_init(struct shown *sh, struct rdl_lab *lab, FILE *out,
                                          enum shown_share share);
void shown_done(struct shown *sh);

/* A step that lets the lab go on begins: events are printed from now on, for people who watch. */
void shown_begin(struct shown *sh);

/* The step ends: says how many were not printed. */
void shown_end(struct shown *sh);

#endif
