/* SPDX-License-Identifier: MIT */
/* Resolves names in a line to handles.  The meaning of a name depends only on its scope. */
#ifndef CLI_SESSION_RESOLVE_H
#define CLI_SESSION_RESOLVE_H

#include "cli/lang/script.h"
#include "rdmalab/verbs.h"

#define SESSION_PATH_BYTES 192u

struct ev;
struct live;
struct live_ops;

/* The functions below that return bool return false, with the error in @reterr, if the name is
 * unknown or means something else.  @reterr may be NULL.  @param is the name of a parameter of @st.
 */

/* The surroundings in which names are looked up. */
struct scope {
    const struct rdl_lab *lab;
    const char *host; /* host for bare names; "": none, they are unknown */
    const struct live_ops *live_ops;
    const struct live *live; /* programs that run on hosts; NULL: none */
    /* EXPR_HAPPENS holds for an event in a tick later than this one.  NULL: nothing checks the end
     * of each tick, so EXPR_HAPPENS is an error.
     */
    const uint64_t *since;
    /* The tx event of a packet that is being sent: in an expression the name of one of its fields
     * stands for the value of the field.  NULL: there is none.
     */
    const struct ev *sent;
    /* The bytes of that packet: the name of a field of the frame (enum wire_field_id) stands for
     * the value of the field, if the event has no field of this name.  NULL: there are none.
     */
    const uint8_t *frame;
    size_t frame_bytes;
};

/* Writes the full path of @name to @ret.  It is @name itself if that begins with the name of a
 * host, switch, link or fault, or if the scope has no host.  Otherwise it is "HOST.name" with the
 * host of the scope.
 */
void resolve_path(const struct scope *in, const char *name, char ret[SESSION_PATH_BYTES]);

/* Returns the scope for the names that follow the first name, @name, in a line.  If @in has a host,
 * returns @in.  Otherwise the host of the scope is the first word of @name, which is copied to
 * @host; @host must live as long as the scope.
 */
struct scope resolve_rest(const struct scope *in, const char *name, char host[RDL_NAME_BYTES]);

/* Finds the object that parameter @param names, which must be of kind @kind (enum object_kind).
 * *@ret_raw is its handle: member raw of rdl_qp, rdl_mr and so on.
 */
bool resolve_object(const struct scope *in, const struct step *st, const char *param, uint32_t kind,
                    uint64_t *ret_raw, struct diag *reterr);

/* Finds the host that parameter @param names.  If it was not given, it is the host of the scope. */
bool resolve_host(const struct scope *in, const struct step *st, const char *param, rdl_host *ret,
                  struct diag *reterr);

/* Finds the machine that parameter @param names: a host whose adapter has virtual functions. */
bool resolve_machine(const struct scope *in, const struct step *st, const char *param,
                     rdl_host *ret, struct diag *reterr);

/* A part of registered memory. */
struct memory {
    rdl_host host;
    /* @addr: virtual address of the program; UINT64_MAX for a DMA region.  @bytes: length; 1 for
     * BASE[AT], 0 for a number.
     */
    uint64_t addr, bytes;
    uint64_t iova; /* address of the same place in SGEs and for peers */
    rdl_mr mr;     /* the region; 0 if the address is a number, as are the next two members */
    uint32_t lkey, rkey;
    bool has_bytes;        /* BASE[FROM:TO] or BASE; false: BASE[AT] or a number */
    uint64_t from;         /* offset of its first byte in the region */
    uint64_t region_bytes; /* size of the region; 0 if the address is a number */
};

/* Resolves value @i of parameter @param: h1.mr[0:64], h1.mr[8], h1.mr, or a number if the parameter
 * is a VAL_AT.
 */
bool resolve_memory(const struct scope *in, const struct step *st, const char *param, size_t i,
                    struct memory *ret, struct diag *reterr);

/* *@ret is the key in parameter @param: a number, or the remote key of the object that it names. */
bool resolve_key(const struct scope *in, const struct step *st, const char *param, uint32_t *ret,
                 struct diag *reterr);

/* *@ret is the QPN in parameter @param: a number, or that of the queue pair that it names. */
bool resolve_qpn(const struct scope *in, const struct step *st, const char *param, uint32_t *ret,
                 struct diag *reterr);

/* Replaces names that stand for numbers in @st by the numbers.  Returns @st itself if it has no
 * such names, otherwise a changed copy in @p.  Returns NULL, with the error in @reterr, if a name
 * has no such number.
 */
const struct step *resolve_numbers(const struct scope *in, const struct step *st, struct pool *p,
                                   struct diag *reterr);

/* Like resolve_memory(), for @text, whose position in the line is @at. */
bool resolve_memory_text(const struct scope *in, const char *text, struct span at,
                         struct memory *ret, struct diag *reterr);

/* Fills @reterr with "@what is called @path" (@what: "no host", "nothing"), and suggests a similar
 * name or a command.  Returns false.
 */
bool resolve_unknown(const struct scope *in, struct span at, const char *path, const char *what,
                     struct diag *reterr);

/* Copies the first word of @path, up to a dot or bracket, to @ret: the name of its host. */
void resolve_host_name(const char *path, char ret[RDL_NAME_BYTES]);

/* A host, with its name. */
struct home {
    rdl_host host;
    char name[RDL_NAME_BYTES];
};

/* Finds the host of the object @raw of kind @kind.  Returns false if the object does not exist any
 * more.
 */
bool resolve_home(const struct rdl_lab *lab, uint32_t kind, uint64_t raw, struct home *ret);

#endif
