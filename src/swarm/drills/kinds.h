/* SPDX-License-Identifier: MIT */
/* The kinds of drills. */
#ifndef SWARM_DRILLS_KINDS_H
#define SWARM_DRILLS_KINDS_H

#include "swarm/drills/drill.h"

/* Messages where nothing is lost, and each of their frames (drill_messages.c). */
extern const struct drill_kind drill_of_messages;

/* Datagrams to one and to many (drill_datagrams.c). */
extern const struct drill_kind drill_of_datagrams;

/* A peer that may send anything, at the end of a reliable connection (drill_peers.c). */
extern const struct drill_kind drill_of_peers;

/* Regions and windows, and who may use their keys (drill_keys.c). */
extern const struct drill_kind drill_of_keys;

/* What a host takes from a wire and answers, and what a network does with frames
 * (drill_frames.c).
 */
extern const struct drill_kind drill_of_frames;

/* Virtqueues whose driver does what it may, or what it must not (drill_rings.c). */
extern const struct drill_kind drill_of_rings;

/* Queue pairs, their states, attributes and limits, and the events of their queues
 * (drill_verbs.c).
 */
extern const struct drill_kind drill_of_verbs;

#endif
