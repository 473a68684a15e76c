/* SPDX-License-Identifier: MIT */
/* Prints what happens while the lab goes on: the events that tell the story, not the mechanics. */
#ifndef CLI_SESSION_SHOWN_H
#define CLI_SESSION_SHOWN_H

#include "cli/session/session.h"
#include "emu/trace/event.h"

/* A step that lets the lab go on begins: events are printed from now on, for people who watch. */
void shown_begin(struct session *s);

/* The listener; @ctx is the session. */
void shown_event(void *ctx, const struct ev *e);

/* The step ends: says how many were not printed. */
void shown_end(struct session *s);

#endif
