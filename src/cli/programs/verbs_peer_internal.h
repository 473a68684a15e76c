/* SPDX-License-Identifier: MIT */
/* Internal interface of the files of verbs_peer.
 *
 * The first error in the file is sticky: vp_fail() stores it.  After that the functions that read a
 * word return 0 or NULL, and no further action is taken (vp_failed()).
 */
#ifndef CLI_PROGRAMS_VERBS_PEER_INTERNAL_H
#define CLI_PROGRAMS_VERBS_PEER_INTERNAL_H

#include "cli/programs/peer_line.h"
#include "cli/programs/verbs_peer.h"
#include "rdmalab/memory.h"
#include "rdmalab/srq.h"

struct enum_table;

#define VP_NAME_BYTES  32u
#define VP_OBJECTS_MAX 64u
#define VP_SGE_MAX     8u
#define VP_INLINE_MAX  1024u
#define VP_CHUNK_BYTES 65536u
#define VP_TEXT_BYTES  16384u /* more than the text that one side sends at a sync */
#define VP_NS_PER_MS   UINT64_C(1000000)
#define VP_WAIT_NS     (60000 * VP_NS_PER_MS) /* timeout of a line that waits: 60 s */

enum vp_kind { VP_NOTHING, VP_PD, VP_MR, VP_CQ, VP_SRQ, VP_QP, VP_MW, VP_AH };

struct vp_object {
    enum vp_kind kind;
    char name[VP_NAME_BYTES];
    bool news; /* the peer must be informed about it at the next sync */
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
    uint32_t lkey;
    uint32_t type; /* QP: enum qp_type */
    /* MR: its memory.  MW: the range that it is bound to. */
    uint64_t addr, length;
};

/* An object of the peer. */
struct vp_remote {
    char name[VP_NAME_BYTES]; /* empty: none */
    bool is_qp;
    uint32_t number; /* QPN or rkey */
    uint64_t addr;
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
    char side; /* 'a', 'b' */
    uint8_t gid[GID_BYTES], peer_gid[GID_BYTES];
    uint32_t psn, peer_psn;

    struct peer_line line;
    unsigned number;  /* number of the line, from 1; 0: before the first line */
    bool at_line;     /* a line is being executed */
    bool asked;       /* a control request of this program is pending */
    bool said;        /* the text of this side for the sync or hello was sent */
    bool alone;       /* the other side has left */
    unsigned step;    /* number of control requests of the line that were answered */
    uint64_t n_taken; /* completions taken by this line */
    uint64_t now_ns;
    uint64_t since_ns; /* time at which the line began to wait */

    struct vp_object object[VP_OBJECTS_MAX];
    struct vp_object *fresh; /* the object that the line creates */
    struct vp_remote remote[VP_OBJECTS_MAX];
    char gone[VP_OBJECTS_MAX][VP_NAME_BYTES]; /* names of objects destroyed since the last sync */
    size_t n_gone;

    char to[VP_TEXT_BYTES], from[VP_TEXT_BYTES];
    size_t n_to, n_from;
    uint8_t chunk[VP_CHUNK_BYTES];
};

/* Result of executing a line: it is complete, or must be continued later. */
enum vp_end { VP_NEXT, VP_LATER };

/* A command is either executed by @run, or consists of requests that the device answers. */
struct vp_command {
    const char *name;
    enum vp_end (*run)(struct verbs_peer *p);
    enum rdl_status (*ask)(struct verbs_peer *p); /* makes request number p->step */
    void (*answered)(struct verbs_peer *p, bool ok);
    unsigned (*n_asks)(const struct verbs_peer *p); /* number of requests; NULL: one */
};

/* ---- verbs_peer.c ---- */
void vp_fail(struct verbs_peer *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline bool vp_failed(const struct verbs_peer *p)
{
    return p->state == VERBS_PEER_FAILED;
}
/* Returns true if the call succeeded.  Otherwise writes to the transcript that the line was
 * refused.
 */
bool vp_done(struct verbs_peer *p, enum rdl_status st);

/* ---- verbs_peer_commands.c ---- */
const struct vp_command *vp_command_named(const char *name);

/* ---- verbs_peer_lines.c ---- */
const char *vp_value(const struct verbs_peer *p, const char *key);
bool vp_flag(const struct verbs_peer *p, const char *flag);
const char *vp_operand(struct verbs_peer *p, size_t i);
uint64_t vp_to_number(struct verbs_peer *p, const char *text);
uint64_t vp_number(struct verbs_peer *p, const char *key, uint64_t standard);
uint32_t vp_word(struct verbs_peer *p, const struct enum_table *of, const char *word);
uint32_t vp_access(struct verbs_peer *p, const char *standard);
void vp_gid(struct verbs_peer *p, const char *text, uint8_t ret[GID_BYTES]);
/* Parses "NAME[N".  Returns the text after it, or NULL if @text does not begin so. */
const char *vp_place(const char *text, char ret_name[VP_NAME_BYTES], uint64_t *ret_n);

/* ---- verbs_peer_objects.c ---- */
struct vp_object *vp_find(struct verbs_peer *p, const char *name);
struct vp_object *vp_named(struct verbs_peer *p, const char *name, enum vp_kind kind);
struct vp_object *vp_object(struct verbs_peer *p, const char *key, enum vp_kind kind);
const struct vp_object *vp_qp_of_number(const struct verbs_peer *p, uint32_t qpn);
const struct vp_remote *vp_remote(struct verbs_peer *p, const char *name);
struct vp_slice vp_slice(struct verbs_peer *p, const char *text, const char **ret_rest);
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
enum rdl_status vp_connect(struct verbs_peer *p);
unsigned vp_connect_asks(const struct verbs_peer *p);
enum rdl_status vp_modify_qp(struct verbs_peer *p);
enum rdl_status vp_attach_mcast(struct verbs_peer *p);
enum rdl_status vp_detach_mcast(struct verbs_peer *p);

/* ---- verbs_peer_sync.c ---- */
void vp_hello(struct verbs_peer *p);
enum vp_end vp_sync(struct verbs_peer *p);

/* ---- verbs_peer_work.c ---- */
enum vp_end vp_post_recv(struct verbs_peer *p);
enum vp_end vp_post_srq_recv(struct verbs_peer *p);
enum vp_end vp_post_send(struct verbs_peer *p);
enum vp_end vp_bind_mw(struct verbs_peer *p);

/* ---- verbs_peer_complete.c ---- */
enum vp_end vp_poll_cq(struct verbs_peer *p);
enum vp_end vp_drain(struct verbs_peer *p);

/* ---- verbs_peer_memory.c ---- */
/* Returns true if the @n bytes from @addr on are the pattern of @seed.  Otherwise *@reterr_at is
 * the offset of the first wrong byte.
 */
bool vp_is_pattern(struct verbs_peer *p, uint64_t addr, uint64_t n, uint64_t seed,
                   uint64_t *reterr_at);
enum vp_end vp_write(struct verbs_peer *p);
enum vp_end vp_check(struct verbs_peer *p);
enum vp_end vp_digest(struct verbs_peer *p);
enum vp_end vp_await(struct verbs_peer *p);

#endif
