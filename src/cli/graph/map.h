/* SPDX-License-Identifier: MIT */
/* A map of a lab: its hosts, links and switches, the objects of each host, and how they refer to
 * each other.
 *
 * All data comes from the inspect tree.  The reasons why an object cannot be destroyed come from
 * the engine (rdl_users_of()).
 */
#ifndef CLI_GRAPH_MAP_H
#define CLI_GRAPH_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/base/text.h"
#include "rdmalab/inspect.h"

#define MAP_NONE        UINT32_MAX
#define MAP_ABOUT_BYTES 160u
#define MAP_HELD_BYTES  320u
#define MAP_KIND_MAX    64u /* objects of one kind on one host; a map of one object has all */
#define MAP_HOLDERS_MAX 6u  /* users that are named */

struct map_object {
    char path[RDL_PATH_BYTES]; /* "h1", "h1.qp", "s1" */
    uint32_t kind;             /* enum node_kind */
    uint32_t host;    /* the host of an object, MAP_NONE for hosts, switches and external ports */
    uint32_t machine; /* of a guest: the host that it is on; or MAP_NONE */
    uint32_t home;    /* the object that it belongs to: a PD or a channel; or MAP_NONE */
    uint64_t number;  /* number at the device: QPN, CQN */
    uint64_t comm_id, remote_comm_id; /* of an ID of rdma_cm, and of its peer; 0: none */
    bool shown;                       /* part of the map that was asked for */
    char about[MAP_ABOUT_BYTES];      /* its properties: "RC, QPN 2, RTS" */
    char held[MAP_HELD_BYTES];        /* why it cannot be destroyed now; "": it can be destroyed */
};

/* @from refers to @to, both of the same host. */
struct map_use {
    uint32_t from, to;
    char how[32]; /* "send, recv"; "": it belongs to it */
    bool holds;   /* @to cannot be destroyed before @from */
};

/* Two ends of a connection or a link.  Of a peer that is not in the lab @b is MAP_NONE.  A guest is
 * linked with its machine, and @vf is the virtual function that it has; MAP_NONE: it has none, or
 * the function is not in the map.
 */
struct map_tie {
    uint32_t a, b, vf;
    bool is_link;
    bool is_place;              /* of a guest: @a is on the machine @b */
    bool is_idle;               /* of a guest: it has no function now */
    bool is_shared;             /* of a guest: it shares the port of the machine */
    uint64_t function;          /* of a guest: the number of its virtual function */
    char text[MAP_ABOUT_BYTES]; /* of a link: its name, latency, rate; of a peer: "h2.qp" */
};

/* Objects that are not in the map because of MAP_KIND_MAX, and virtual functions without a guest.
 */
struct map_rest {
    uint32_t host;
    uint32_t kind; /* enum node_kind */
    uint64_t n;
};

struct map {
    const struct rdl_lab *lab;
    struct map_object *objects; /* an object comes after its home */
    struct map_use *uses;
    struct map_tie *ties;
    struct map_rest *rests;
    size_t n_objects, n_uses, n_ties, n_rests;
    size_t cap_objects, cap_uses, cap_ties, cap_rests;
    bool whole;
};

/* Makes the map of @path: "" the whole lab, a host, or an object of a host with what it refers to
 * and what refers to it.  The caller calls map_done(), on failure too.
 *
 * Return: RDL_OK
 *	   RDL_ERR_NOT_FOUND  nothing has this path; *@reterr_at is the offset of the error
 *	   RDL_ERR_INVAL      @path is something else than a host or an object of a host
 */
RDL_MUST_CHECK enum rdl_status map_make(struct map *m, const struct rdl_lab *lab, const char *path,
                                        size_t *reterr_at);
void map_done(struct map *m);

/* Returns the name of @o within its host: "qp" of "h1.qp". */
const char *map_name(const struct map *m, const struct map_object *o);

/* map_add_uses() appends the objects to which object @i refers, but not its home: "cq (send,
 * recv)".  map_add_peers() appends what object @i is connected with: "h2.qp".  Without any they
 * append nothing.
 */
void map_add_uses(struct text *t, const struct map *m, uint32_t i);
void map_add_peers(struct text *t, const struct map *m, uint32_t i);

/* Calls @each for each shown object: a host, then its objects, each with those that belong to it
 * behind it.  @depth is 0 for hosts, switches and external ports, 1 for objects, and 2 for objects
 * whose home is shown.
 */
typedef void map_each(void *ctx, uint32_t i, unsigned depth);
void map_walk(const struct map *m, map_each *each, void *ctx);

/* Appends the text about the objects @r that are left out, and the command that lists them, with
 * @between in the middle.
 */
void map_add_rest(struct text *t, const struct map *m, const struct map_rest *r,
                  const char *between);

/* Returns true if @tie is a link that the map shows. */
bool map_has_link(const struct map *m, const struct map_tie *tie);

/* Makes the graph of the map.  The caller calls graph_done(). */
struct graph;
void map_graph(const struct map *m, const char *title, struct graph *ret);

/* map_about.c: appends the properties of the object at @path, of @kind (enum node_kind): "RC, QPN
 * 2, RTS".
 */
void map_add_about(struct text *t, const struct rdl_lab *lab, const char *path, uint32_t kind);

/* For map_places.c.  map_find() returns the object at @path, or MAP_NONE.  map_add_tie() adds a tie
 * of two objects.
 */
uint32_t map_find(const struct map *m, const char *path);
struct map_tie *map_add_tie(struct map *m, uint32_t a, uint32_t b, bool is_link);

/* map_places.c: ties each guest to its machine, and completes the properties of virtual functions.
 */
void map_add_places(struct map *m);

#endif
