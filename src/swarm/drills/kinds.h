/* SPDX-License-Identifier: MIT */
/* The kinds of drills.  Each checks its subject against an exact model (drill.h). */
#ifndef SWARM_DRILLS_KINDS_H
#define SWARM_DRILLS_KINDS_H

#include "swarm/drills/drill.h"

/* Messages of every kind without loss, checked frame by frame (drill_messages.c). */
extern const struct drill_kind drill_of_messages;

/* Unicast and multicast datagrams (drill_datagrams.c). */
extern const struct drill_kind drill_of_datagrams;

/* A device whose control requests the drill writes byte by byte (drill_device.c). */
extern const struct drill_kind drill_of_device;

/* A peer that sends arbitrary packets on a reliable connection (drill_peers.c). */
extern const struct drill_kind drill_of_peers;

/* Memory regions and windows, and the access rights of their keys (drill_keys.c). */
extern const struct drill_kind drill_of_keys;

/* A virtual machine: its PCI functions, its memory and its interrupts (drill_machine.c). */
extern const struct drill_kind drill_of_machine;

/* Arbitrary frames: a host's reaction to them, and their way through the network (drill_frames.c).
 */
extern const struct drill_kind drill_of_frames;

/* A program that makes, changes and destroys objects of all kinds (drill_programs.c). */
extern const struct drill_kind drill_of_programs;

/* Virtqueues under a driver that obeys the rules, and one that breaks them (drill_rings.c). */
extern const struct drill_kind drill_of_rings;

/* Queue pairs, their states, attributes and limits, and the events of their queues (drill_verbs.c).
 */
extern const struct drill_kind drill_of_verbs;

/* Frames between external ports, through links and a switch, with faults (drill_wires.c). */
extern const struct drill_kind drill_of_wires;

/* Faults that select their frames by everything that can be selected (drill_aims.c). */
extern const struct drill_kind drill_of_aims;

/* Arbitrary packets for an unreliable connection (drill_oneway.c). */
extern const struct drill_kind drill_of_oneway;

/* Queue pairs that share completion queues and receive queues (drill_shared.c). */
extern const struct drill_kind drill_of_shared;

/* Programs that connect by rdma_cm while messages are lost, doubled and delayed
 * (drill_connections.c).
 */
extern const struct drill_kind drill_of_connections;

/* The same between guests of two machines, each of which shares the port of its machine behind a
 * multiplexer of connection managers (drill_connections.c).
 */
extern const struct drill_kind drill_of_mux;

/* A hostile driver of a PVRDMA device (drill_pvrdma.c). */
extern const struct drill_kind drill_of_pvrdma;

/* Guests of a machine with a shortcut, compared with those of one without (drill_shortcut.c). */
extern const struct drill_kind drill_of_shortcut;

/* A rogue guest beside honest ones, on one machine (drill_rogue.c). */
extern const struct drill_kind drill_of_rogue;

/* Nodes of LNet that send PUTs and GETs to each other (drill_lnet.c). */
extern const struct drill_kind drill_of_lnet;

#endif
