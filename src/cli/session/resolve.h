/* SPDX-License-Identifier: MIT */
/* From names in a line to handles. */
#ifndef CLI_SESSION_RESOLVE_H
#define CLI_SESSION_RESOLVE_H

#include "cli/session/session.h"
#include "rdmalab/verbs.h"

/* The whole path of @name: itself if it begins with a host, switch, link or fault, otherwise
 * "HOST.name" on the host of the line or block.
 */
void resolve_path(const struct session *s, const char *name, char ret[SESSION_PATH_BYTES]);

/* The object that parameter @param of @st names, which must be of @kind; sets the line's host if it
 * has none yet.  On failure s->diag is set.
 */
bool resolve_object(struct session *s, const struct step *st, const char *param,
                    enum object_kind kind, uint32_t *ret_raw);

/* The host that parameter @param names; if it was not given, the host of the block. */
bool resolve_host(struct session *s, const struct step *st, const char *param, rdl_host *ret);

/* A part of registered memory. */
struct memory {
    rdl_host host;
    uint64_t addr, bytes;
    uint32_t lkey;  /* 0 if the address was given as a number */
    bool has_bytes; /* false: it was BASE[AT] or a number, with no length */
};

/* Value @i of parameter @param: h1.mr[0:64], h1.mr[8], h1.mr or (VAL_AT) a number. */
bool resolve_memory(struct session *s, const struct step *st, const char *param, size_t i,
                    struct memory *ret);

/* The same from a text that came from @at. */
bool resolve_memory_text(struct session *s, const char *text, struct span at, struct memory *ret);

/* Fails with: nothing is called @path; offers what is, if anything looks like it. */
bool resolve_unknown(struct session *s, struct span at, const char *path, const char *what);

/* The name of a link or fault; "?" if it is gone. */
void resolve_name(struct session *s, enum object_kind kind, uint32_t raw,
                  char ret[SESSION_PATH_BYTES]);

/* The name of the host that @path begins with. */
void resolve_host_name(const char *path, char ret[RDL_NAME_BYTES]);

#endif
