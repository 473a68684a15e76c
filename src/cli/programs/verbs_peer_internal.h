/* SPDX-License-Identifier: MIT */
/* What the files of verbs_peer know of each other.
 *
 * A mistake in the file is latched: vp_fail() keeps the first one, whoever reads a word after it
 * gets 0 or NULL, and nobody acts any more (vp_failed()).
 */
#ifndef CLI_PROGRAMS_VERBS_PEER_INTERNAL_H
#define CLI_PROGRAMS_VERBS_PEER_INTERNAL_H

#include "cli/programs/peer_line.h"
#include "cli/programs/verbs_peer.h"
#include "emu/facts/enums.h"
#include "rdmalab/memory.h"
#include "rdmalab/srq.h"

#define VP_NAME_BYTES  32u
#define VP_OBJECTS_MAX 64u
#define VP_SGE_MAX     8u
#define VP_INLINE_MAX  1024u
#define VP_CHUNK_BYTES 65536u
#define VP_TEXT_BYTES  16384u /* all that one side can say at a sync is less */
#define VP_NS_PER_MS   UINT64_C(1000000)
#define VP_WAIT_NS     (60000 * VP_NS_PER_MS) /* what was waited for so long does not come */

/* A line in its words; words and names point into @text. */
enum vp_kind { VP_NOTHING, VP_PD, VP_MR, VP_CQ, VP_SRQ, VP_QP, VP_MW, VP_AH };

struct vp_object {
    enum vp_kind kind;
    char name[VP_NAME_BYTES];
    bool news; /* the peer has to be told about it */
    union {
        rdl_pd pd;
        rdl_mr mr;
        rdl_cq cq;
        rdl_srq srq;
        rdl_qp qp;
        rdl_mw mw;
        rdl_ah ah;
    };
    uint32_t number; /* QP: its QPN; MR, MW: its rkey */
    uint32_t lkey;
    uint32_t type;         /* QP: enum qp_type */
    uint64_t addr, length; /* MR; MW: what it is bound to */
};

/* An object of the peer. */
struct vp_remote {
    char name[VP_NAME_BYTES]; /* empty: none */
    bool is_qp;
    uint32_t number; /* QPN or rkey */
    uint64_t addr;
};

/* Memory of this side. */
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
    unsigned number;  /* of the line, from 1; 0 before the first */
    bool at_line;     /* a line is being carried out */
    bool asked;       /* a control request of this program is under way */
    bool said;        /* of a sync, and of the hello: this side's part was said */
    bool alone;       /* the other side has left */
    unsigned step;    /* of a line with several requests: how many were answered */
    uint64_t n_taken; /* completions, by this line */
    uint64_t now_ns;
    uint64_t since_ns; /* since then the line has waited for what comes next */

    struct vp_object object[VP_OBJECTS_MAX];
    struct vp_object *fresh; /* the object that the line makes */
    struct vp_remote remote[VP_OBJECTS_MAX];
    char gone[VP_OBJECTS_MAX][VP_NAME_BYTES]; /* destroyed since the last sync */
    size_t n_gone;

    char to[VP_TEXT_BYTES], from[VP_TEXT_BYTES];
    size_t n_to, n_from;
    uint8_t chunk[VP_CHUNK_BYTES];
};

/* Does the line go on with the next one, or is it to be carried on later? */
enum vp_end { VP_NEXT, VP_LATER };

/* A command either runs at once, or consists of requests that the device answers. */
struct vp_command {
    const char *name;
    enum vp_end (*run)(struct verbs_peer *p);
    enum rdl_status (*ask)(struct verbs_peer *p); /* request number p->step */
    void (*answered)(struct verbs_peer *p, bool ok);
    unsigned (*n_asks)(const struct verbs_peer *p); /* NULL: one */
};

/* ---- verbs_peer.c ---- */
void vp_fail(struct verbs_peer *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline bool vp_failed(const struct verbs_peer *p)
{
    return p->state == VERBS_PEER_FAILED;
}
/* Has the call succeeded?  If not, the transcript says that the line was refused. */
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
/* Reads "NAME[N"; returns what stands behind it, or NULL. */
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
/* Learns the key of a window that was bound; the peer will be told. */
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
/* Are the @n bytes from @addr the pattern of @seed?  *@reterr_at: the first one that is not. */
bool vp_is_pattern(struct verbs_peer *p, uint64_t addr, uint64_t n, uint64_t seed,
                   uint64_t *reterr_at);
enum vp_end vp_write(struct verbs_peer *p);
enum vp_end vp_check(struct verbs_peer *p);
enum vp_end vp_digest(struct verbs_peer *p);
enum vp_end vp_await(struct verbs_peer *p);

#endif
