/* SPDX-License-Identifier: MIT */
/* Makers of objects: the program, the call, and the place of the call in the program.
 *
 * The library sends return addresses with the call (protocol.h).  While the program waits for its
 * answer, each address becomes a place in a file.  The source line is looked up when somebody wants
 * to see it.  An address can be anything: it is shown, and not used.
 */
#ifndef CLI_LIVE_EXEC_MAKER_H
#define CLI_LIVE_EXEC_MAKER_H

#include "cli/live/exec_client.h"
#include "cli/live/live.h"

/* The place of a call: byte @offset of module number @module, from 1; 0: unknown. */
struct exec_spot {
    uint32_t module;
    uint64_t offset;
};

/* An object of a program, and how it was made. */
struct exec_made {
    uint64_t handle;    /* 0: a free entry */
    uint32_t kind, nth; /* enum program_kind; @nth counts the objects of a process and a maker */
    enum program_maker maker;
    struct exec_spot spots[PROGRAM_CALLERS];
};

/* A queue pair that a program has made, and may have destroyed. */
struct exec_made_qp {
    uint32_t qpn;
    uint64_t tick;         /* after which it exists */
    struct exec_made made; /* with the handle alone if its maker is not known */
};

/* A region that a program has made, and may have deregistered. */
struct exec_made_mr {
    uint32_t lkey, rkey;
    uint64_t tick; /* after which it exists */
    struct exec_made made;
};

/* Records the queue pair that a call of @c has made, in the account of its program.  Only the last
 * EXEC_MADE_QPS_MAX are kept.
 */
#define EXEC_MADE_QPS_MAX 4096u
void exec_maker_record_qp(struct exec_client *c, uint64_t handle, uint32_t qpn);

/* Records that the call of @c has made the object @handle. */
void exec_maker_record(struct exec_client *c, uint64_t handle);

/* Forgets an object that was destroyed. */
void exec_maker_forget(struct exec_client *c, uint32_t kind, uint64_t handle);

/* Finds the maker of the object of @kind, an enum program_kind, with @handle.  Sets the members of
 * *@ret that describe the call; *@ret_rank and ret->pid are the rank and the process of the
 * connection.  Returns false if no program has made it.
 */
bool exec_maker_find(const struct exec_server *s, uint32_t kind, uint64_t handle,
                     struct live_maker *ret, uint32_t *ret_rank);

/* Finds queue pair @k, from 0, among those of @a that are kept.  Sets the members of *@ret_maker
 * that describe the call, unless it is NULL; its @call is NULL if the maker is not known.  Returns
 * false if there is none.
 */
bool exec_maker_qp_at(const struct exec_server *s, const struct exec_account *a, uint32_t k,
                      struct live_qp *ret, struct live_maker *ret_maker);

/* Finds the last region with the key @key that the program of @a has made before tick @before, and
 * sets the members of *@ret_maker that describe the call.  Only the last EXEC_MADE_MRS_MAX regions
 * are kept.  Returns false if there is none.
 */
#define EXEC_MADE_MRS_MAX 4096u
bool exec_maker_mr_of(const struct exec_server *s, const struct exec_account *a, uint32_t key,
                      uint64_t before, struct live_maker *ret_maker);

/* exec_makers_new() makes what all connections share, exec_makers_free() frees it. */
struct exec_makers *exec_makers_new(void);
void exec_makers_free(struct exec_makers *m);

#endif
