/* SPDX-License-Identifier: MIT */
/* From names in a line to handles.  What a name means depends on its scope alone. */
#ifndef CLI_SESSION_RESOLVE_H
#define CLI_SESSION_RESOLVE_H

#include "cli/lang/script.h"
#include "rdmalab/verbs.h"

#define SESSION_PATH_BYTES 192u

struct ev;
struct live;
struct live_ops;

/* In all of these @reterr may be NULL where nobody reads why something is wrong. */

/* Where names are looked up. */
struct scope {
    const struct rdl_lab *lab;
    const char *host; /* of bare names; "": they are looked up nowhere */
    const struct live_ops *live_ops;
    const struct live *live; /* the programs of the hosts; NULL: there are none */
    /* What happened in a later tick than this one happens (EXPR_HAPPENS); NULL: nobody looks at the
     * end of each tick, so that nobody can say.
     */
    const uint64_t *since;
    /* A packet that is being sent: a word of an expression that is a field of its tx event stands
     * for what that says.  NULL: there is none.
     */
    const struct ev *sent;
};

/* The whole path of @name: itself if it begins with a host, switch, link or fault, otherwise
 * "HOST.name" on the host of the scope.
 */
void resolve_path(const struct scope *in, const char *name, char ret[SESSION_PATH_BYTES]);

/* The scope of what stands in a line behind its first name, @name: where the scope has no host,
 * that is the host of @name, which is put into @host.
 */
struct scope resolve_rest(const struct scope *in, const char *name, char host[RDL_NAME_BYTES]);

/* The object that parameter @param of @st names, which must be of @kind. */
bool resolve_object(const struct scope *in, const struct step *st, const char *param, uint32_t kind,
                    uint64_t *ret_raw, struct diag *reterr);

/* The host that parameter @param names; if it was not given, the host of the scope. */
bool resolve_host(const struct scope *in, const struct step *st, const char *param, rdl_host *ret,
                  struct diag *reterr);

/* A part of registered memory. */
struct memory {
    rdl_host host;
    uint64_t addr, bytes; /* addr: for the program itself; of a DMA region there is none */
    uint64_t iova;        /* the same place, for SGEs and peers */
    rdl_mr mr;            /* the region; 0, as its keys, if the address was given as a number */
    uint32_t lkey, rkey;
    bool has_bytes;        /* false: it was BASE[AT] or a number, with no length */
    uint64_t from;         /* where in its region it begins */
    uint64_t region_bytes; /* all of the region; 0 if the address was given as a number */
};

/* Value @i of parameter @param: h1.mr[0:64], h1.mr[8], h1.mr or (VAL_AT) a number. */
bool resolve_memory(const struct scope *in, const struct step *st, const char *param, size_t i,
                    struct memory *ret, struct diag *reterr);

/* The key that parameter @param is: a number, or the remote key of the object that it names. */
bool resolve_key(const struct scope *in, const struct step *st, const char *param, uint32_t *ret,
                 struct diag *reterr);

/* The number of the queue pair that parameter @param is: a number, or the queue pair itself. */
bool resolve_qpn(const struct scope *in, const struct step *st, const char *param, uint32_t *ret,
                 struct diag *reterr);

/* @st as it is if none of its numbers is said by a name; otherwise a copy of it in @p, with the
 * numbers themselves.  NULL: there is no such number.
 */
const struct step *resolve_numbers(const struct scope *in, const struct step *st, struct pool *p,
                                   struct diag *reterr);

/* The memory that @text names, which came from @at. */
bool resolve_memory_text(const struct scope *in, const char *text, struct span at,
                         struct memory *ret, struct diag *reterr);

/* Fails with: nothing is called @path; offers what is, if anything looks like it. */
bool resolve_unknown(const struct scope *in, struct span at, const char *path, const char *what,
                     struct diag *reterr);

/* The name of the host that @path begins with. */
void resolve_host_name(const char *path, char ret[RDL_NAME_BYTES]);

/* A host, with its name. */
struct home {
    rdl_host host;
    char name[RDL_NAME_BYTES];
};

/* The host of an object.  False: it is gone. */
bool resolve_home(const struct rdl_lab *lab, uint32_t kind, uint64_t raw, struct home *ret);

#endif
