/* SPDX-License-Identifier: MIT */
/* Internal interface of the files of verbs_peer.  *This side* is the program, the *peer* the other
 * side.
 *
 * If a line has a mistake, or cannot be executed, vp_fail() stores the error, and the program ends.
 * A function that fails in this way returns 0, NULL or ""; its caller checks vp_failed() before it
 * does anything with the lab.  Later errors are ignored.
 */
#ifndef CLI_PROGRAMS_VERBS_PEER_INTERNAL_H
#define CLI_PROGRAMS_VERBS_PEER_INTERNAL_H

#include "cli/programs/peer_line.h"
#include "cli/programs/verbs_peer.h"
#include "rdmalab/memory.h"
#include "rdmalab/srq.h"

struct enum_table;

#define VP_NAME_BYTES  32u
#define VP_OBJECTS_MAX 64u    /* of each side */
#define VP_SGE_MAX     8u     /* of one work request */
#define VP_INLINE_MAX  1024u  /* bytes of an inline send */
#define VP_CHUNK_BYTES 65536u /* memory is read and written in pieces of at most this size */
#define VP_TEXT_BYTES  16384u /* more than the text that one side sends at a sync */
#define VP_NS_PER_MS   UINT64_C(1000000)
#define VP_WAIT_NS     (60000 * VP_NS_PER_MS) /* timeout of a line that waits: 60 s */

/* The kinds of objects; VP_NOTHING: a free entry. */
enum vp_kind { VP_NOTHING, VP_PD, VP_MR, VP_CQ, VP_SRQ, VP_QP, VP_MW, VP_AH };

/* An object of this side. */
struct vp_object {
    enum vp_kind kind;
    char name[VP_NAME_BYTES];
    bool news; /* the next sync must send its numbers to the peer */
    union {
        rdl_pd pd;
        rdl_mr mr;
        rdl_cq cq;
        rdl_srq srq;
        rdl_qp qp;
        rdl_mw mw;
        rdl_ah ah;
    };
    uint32_t number; /* QP: QPN; MR, MW: rkey */
    uint32_t lkey;   /* MR only */
    uint32_t type;   /* QP: enum qp_type */
    /* MR: its memory.  MW: the range that it is bound to. */
    uint64_t addr, length;
};

/* An object of the peer. */
struct vp_remote {
    char name[VP_NAME_BYTES]; /* empty: none */
    bool is_qp;
    uint32_t number; /* QPN or rkey */
    uint64_t addr;   /* MR, MW: address of its first byte */
};

/* A range of memory of this side. */
struct vp_slice {
    const struct vp_object *mr;
    uint64_t addr, length;
};

struct verbs_peer {
    struct rdl_lab *lab;
    struct verbs_peer_config config;
    FILE *lines, *out;
    enum verbs_peer_state state;
    char error[160];
    char side; /* 'a' or 'b': this side */
    uint8_t gid[GID_BYTES], peer_gid[GID_BYTES];
    uint32_t psn, peer_psn; /* first PSN that each side sends */

    struct peer_line line; /* the line that is being executed, if @at_line */
    unsigned number;       /* number of the line, from 1; 0: before the first line */
    bool at_line;          /* a line is being executed */
    bool asked;            /* a control request of this program is pending */
    bool said;             /* the text of this side for the sync or hello was sent */
    bool alone;            /* the other side has left */
    unsigned step;         /* number of control requests of the line that were answered */
    uint64_t n_taken;      /* completions taken by this line */
    uint64_t now_ns;       /* real time of the last verbs_peer_go() */
    bool began;            /* verbs_peer_go() was called */
    bool met;              /* the other side has connected */
    bool waited;           /* it failed because its patience is over */
    /* Real time at which the line began or took its last completion.  Before the first line: at
     * which the program began, or the other side connected.
     */
    uint64_t since_ns;

    struct vp_object object[VP_OBJECTS_MAX];
    struct vp_object *fresh;                  /* the object that the line creates */
    struct vp_remote remote[VP_OBJECTS_MAX];  /* objects that the peer has told about */
    char gone[VP_OBJECTS_MAX][VP_NAME_BYTES]; /* names of objects destroyed since the last sync */
    size_t n_gone;

    char to[VP_TEXT_BYTES];   /* text for the peer that was not fetched yet, @n_to bytes */
    char from[VP_TEXT_BYTES]; /* text of the peer that was not processed yet, @n_from bytes */
    size_t n_to, n_from;
    uint8_t chunk[VP_CHUNK_BYTES]; /* scratch memory of a line */
};

/* Result of executing a line: it is complete (VP_NEXT), or the same function must be called again
 * later (VP_LATER).
 */
enum vp_end { VP_NEXT, VP_LATER };

/* A command, the first word of a line.  Either @run executes it, or it consists of control requests
 * to the device: then @run is NULL.
 */
struct vp_command {
    const char *name;
    enum vp_end (*run)(struct verbs_peer *p);
    enum rdl_status (*ask)(struct verbs_peer *p); /* sends request number p->step, from 0 */
    /* Called at the end; @ok: all requests succeeded.  NULL: nothing is to be done. */
    void (*answered)(struct verbs_peer *p, bool ok);
    unsigned (*n_asks)(const struct verbs_peer *p); /* number of requests; NULL: one */
};

/* ---- verbs_peer.c ---- */
/* Ends the program with this error, and the number of the line.  An earlier error stays. */
void vp_fail(struct verbs_peer *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline bool vp_failed(const struct verbs_peer *p)
{
    return p->state == VERBS_PEER_FAILED;
}
/* Returns true if @st is RDL_OK.  Otherwise writes to the transcript that the line was refused, or
 * calls vp_fail() if libibverbs has no error like @st.
 */
bool vp_done(struct verbs_peer *p, enum rdl_status st);

/* ---- verbs_peer_commands.c ---- */
/* Returns NULL if there is no such command. */
const struct vp_command *vp_command_named(const char *name);

/* ---- verbs_peer_lines.c ---- */
/* About p->line: vp_value() returns the text after "@key=", or NULL if there is none.  vp_flag()
 * returns true if @flag is one of the words after the command.  vp_operand() returns word @i after
 * the command, from 0; it fails if there is none.
 */
const char *vp_value(const struct verbs_peer *p, const char *key);
bool vp_flag(const struct verbs_peer *p, const char *flag);
const char *vp_operand(struct verbs_peer *p, size_t i);

/* vp_to_number() returns the number @text; it fails if @text is none.  vp_number() returns the
 * number after "@key=" of p->line, or @standard if there is none.
 */
uint64_t vp_to_number(struct verbs_peer *p, const char *text);
uint64_t vp_number(struct verbs_peer *p, const char *key, uint64_t standard);

/* Returns the value of the row of @of with the name @word.  Fails if there is none. */
uint32_t vp_word(struct verbs_peer *p, const struct enum_table *of, const char *word);

/* Returns the flags (set of enum access_bit) after "access=" of p->line, or those of @standard
 * ("lw,rr") if there are none.
 */
uint32_t vp_access(struct verbs_peer *p, const char *standard);

/* Parses @text: "gid" (of this side), "peer.gid", or an IP address.  Fails if it is none. */
void vp_gid(struct verbs_peer *p, const char *text, uint8_t ret[GID_BYTES]);

/* Parses "NAME[N".  Returns the text after it, or NULL if @text does not begin so. */
const char *vp_place(const char *text, char ret_name[VP_NAME_BYTES], uint64_t *ret_n);

/* ---- verbs_peer_objects.c ---- */
/* Return an object of this side.  vp_find(): the one called @name, or NULL.  vp_named(): the same,
 * but fails if there is none or its kind is not @kind.  vp_object(): like vp_named() with the name
 * after "@key=" of p->line.  vp_qp_of_number(): the queue pair with this QPN, or NULL.
 */
struct vp_object *vp_find(struct verbs_peer *p, const char *name);
struct vp_object *vp_named(struct verbs_peer *p, const char *name, enum vp_kind kind);
struct vp_object *vp_object(struct verbs_peer *p, const char *key, enum vp_kind kind);
const struct vp_object *vp_qp_of_number(const struct verbs_peer *p, uint32_t qpn);

/* Returns the object of the peer called @name, without "peer.".  Fails if the peer has not told
 * about it.
 */
const struct vp_remote *vp_remote(struct verbs_peer *p, const char *name);

/* Parses "NAME[FROM:TO]" at the beginning of @text, where NAME is a region of this side.
 * *@ret_rest is the text after it.  The range may go beyond the region, for requests that do so on
 * purpose.
 */
struct vp_slice vp_slice(struct verbs_peer *p, const char *text, const char **ret_rest);

/* Members @ask of the commands with these names; vp_destroy() is that of all commands that destroy
 * an object.  vp_created() and vp_destroyed() are the members @answered: they add the object to
 * p->object or remove it.
 */
enum rdl_status vp_alloc_pd(struct verbs_peer *p);
enum rdl_status vp_reg_mr(struct verbs_peer *p);
enum rdl_status vp_create_cq(struct verbs_peer *p);
enum rdl_status vp_create_srq(struct verbs_peer *p);
enum rdl_status vp_create_qp(struct verbs_peer *p);
enum rdl_status vp_alloc_mw(struct verbs_peer *p);
enum rdl_status vp_create_ah(struct verbs_peer *p);
void vp_created(struct verbs_peer *p, bool ok);
enum rdl_status vp_destroy(struct verbs_peer *p);
void vp_destroyed(struct verbs_peer *p, bool ok);
/* Reads the current key of the window @mw, which may have been bound, to send it to the peer.
 * Returns the errors of rdl_mw_info().
 */
enum rdl_status vp_look_at_window(struct verbs_peer *p, struct vp_object *mw);

/* ---- verbs_peer_connect.c ---- */
/* Members @ask and @n_asks of the commands with these names. */
enum rdl_status vp_connect(struct verbs_peer *p);
unsigned vp_connect_asks(const struct verbs_peer *p);
enum rdl_status vp_modify_qp(struct verbs_peer *p);
enum rdl_status vp_attach_mcast(struct verbs_peer *p);
enum rdl_status vp_detach_mcast(struct verbs_peer *p);

/* ---- verbs_peer_sync.c ---- */
/* Exchanges the first lines with the peer.  Sets the state VERBS_PEER_RUN when both are known. */
void vp_hello(struct verbs_peer *p);

/* Command `sync`: exchanges the numbers of objects, and waits until the peer has reached the line.
 */
enum vp_end vp_sync(struct verbs_peer *p);

/* ---- verbs_peer_work.c ---- */
/* Members @run of the commands with these names. */
enum vp_end vp_post_recv(struct verbs_peer *p);
enum vp_end vp_post_srq_recv(struct verbs_peer *p);
enum vp_end vp_post_send(struct verbs_peer *p);
enum vp_end vp_bind_mw(struct verbs_peer *p);

/* ---- verbs_peer_complete.c ---- */
/* Commands `poll_cq`, which waits for a number of completions, and `drain_cq`, which takes
 * completions until none has come for a time.
 */
enum vp_end vp_poll_cq(struct verbs_peer *p);
enum vp_end vp_drain(struct verbs_peer *p);

/* ---- verbs_peer_memory.c ---- */
/* Returns true if the @n bytes at @addr, in memory of this side, are the pattern that @seed gives.
 * Otherwise *@reterr_at is the offset of the first wrong byte.
 */
bool vp_is_pattern(struct verbs_peer *p, uint64_t addr, uint64_t n, uint64_t seed,
                   uint64_t *reterr_at);
/* Commands that write memory of this side, check its content, print its checksum, and wait until
 * its content is right.
 */
enum vp_end vp_write(struct verbs_peer *p);
enum vp_end vp_check(struct verbs_peer *p);
enum vp_end vp_digest(struct verbs_peer *p);
enum vp_end vp_await(struct verbs_peer *p);

#endif
