/* SPDX-License-Identifier: MIT */
#include "tree/advice.h"

#include <string.h>

#include "emu/facts/enum/qp_state.h"
#include "emu/facts/profile.h"

#define SRQS_MAX 64u /* shared receive queues of one completion queue that are added up */

bool advice_unsignaled(struct text *t, const struct rdl_lab *lab, const char *qp)
{
    const uint64_t n = tree_number(lab, qp, LEAF_qp_unsignaled);
    const uint64_t room = tree_number(lab, qp, LEAF_qp_max_send_wr);

    if (room == 0 || n < room)
        return false;
    text_addf(
        t,
        "None of the last %llu sends of %s was signaled, and its send queue has room for %llu. "
        "Here the driver sees in the ring which are done; an adapter's driver frees nothing "
        "before a signaled send completes, and its queue would stay full for good. Post at "
        "least one in %llu signaled.",
        (unsigned long long)n, qp, (unsigned long long)room, (unsigned long long)room);
    return true;
}

bool advice_function_off(struct text *t, const struct rdl_lab *lab, const char *host)
{
    char port[TREE_PATH_BYTES], function[TREE_PATH_BYTES];
    struct rdl_value machine, vf;

    if (!tree_child(lab, host, CHILD_host_port, port) ||
        !tree_leaf(lab, port, LEAF_port_machine, &machine) ||
        !tree_leaf(lab, port, LEAF_port_vf, &vf) ||
        !tree_element(lab, machine.text, CHILD_host_vfs, vf.number, function) ||
        tree_number(lab, function, LEAF_vf_enabled))
        return false;
    text_addf(t, "The device of %s does not exist now: virtual function %llu of %s is not enabled.",
              host, (unsigned long long)vf.number, machine.text);
    return true;
}

/* Sum of the work requests that can complete into a completion queue. */
struct sum {
    const struct rdl_lab *lab;
    const char *host, *cq; /* names */
    char srqs[SRQS_MAX][RDL_NAME_BYTES];
    size_t n_srqs;
    uint64_t sends, receives;
};

static bool is_text(const struct sum *s, const char *qp, enum leaf_id id)
{
    struct rdl_value v;

    return tree_leaf(s->lab, qp, id, &v) && strcmp(v.text, s->cq) == 0;
}

/* Returns the receives of the shared queue @name that are not added yet. */
static uint64_t shared_receives(struct sum *s, const char *name)
{
    char path[TREE_PATH_BYTES];
    struct text p = text_on(path, sizeof(path)), known;

    for (size_t i = 0; i < s->n_srqs; i++) {
        if (strcmp(s->srqs[i], name) == 0)
            return 0;
    }
    if (s->n_srqs < SRQS_MAX) {
        known = text_on(s->srqs[s->n_srqs], RDL_NAME_BYTES);
        text_add(&known, name);
        s->n_srqs++;
    }
    tree_join(&p, s->host, name);
    return tree_number(s->lab, path, LEAF_srq_max_wr);
}

static void add_qp(void *ctx, const char *key, const struct rdl_value *v)
{
    struct sum *s = ctx;
    char path[TREE_PATH_BYTES];
    struct text p = text_on(path, sizeof(path));
    struct rdl_value srq;

    if (!tree_value_is(v, NODE_qp))
        return;
    tree_join(&p, s->host, key);
    if (is_text(s, path, LEAF_qp_send_cq))
        s->sends += tree_number(s->lab, path, LEAF_qp_max_send_wr);
    if (!is_text(s, path, LEAF_qp_recv_cq))
        return;
    if (tree_leaf(s->lab, path, LEAF_qp_srq, &srq) && srq.text[0])
        s->receives += shared_receives(s, srq.text);
    else
        s->receives += tree_number(s->lab, path, LEAF_qp_max_recv_wr);
}

bool advice_cq_size(struct text *t, const struct rdl_lab *lab, const char *cq)
{
    const uint64_t cqe = tree_number(lab, cq, LEAF_cq_cqe);
    char host[RDL_NAME_BYTES];
    struct sum s = {.lab = lab, .host = host};
    uint64_t all;
    size_t at;

    tree_host_of(cq, host);
    s.cq = cq + strlen(host) + 1;
    if (rdl_inspect_list(lab, host, add_qp, &s, &at) != RDL_OK)
        return false;
    all = s.sends + s.receives;
    if (all <= cqe)
        return false;
    text_addf(t,
              "%s has %llu entries, and the queues that complete into it have room for %llu work "
              "requests: %llu sends (max_send_wr) and %llu receives (max_recv_wr). Create it with "
              "cqe=%llu, or poll it before more than %llu of them complete.",
              cq, (unsigned long long)cqe, (unsigned long long)all, (unsigned long long)s.sends,
              (unsigned long long)s.receives, (unsigned long long)all, (unsigned long long)cqe);
    return true;
}

bool advice_armed(struct text *t, const struct rdl_lab *lab, const char *cq)
{
    const uint64_t count = tree_number(lab, cq, LEAF_cq_count);
    const uint64_t n = count - tree_number(lab, cq, LEAF_cq_polled);
    struct rdl_value armed;

    if (n == 0 || !tree_leaf(lab, cq, LEAF_cq_armed, &armed) || strcmp(armed.text, "no") == 0)
        return false;
    if (strcmp(armed.text, "any") != 0) {
        text_addf(t,
                  "%s is armed for solicited completions, and nobody has polled %llu in it: they "
                  "were there before, or are not solicited, and raise no event.",
                  cq, (unsigned long long)n);
        return true;
    }
    text_addf(
        t,
        "%s is armed, and %llu completion%s in it that nobody has polled. Arming looks forward "
        "only: no event tells of what was there before. Arm first, then poll once more, then "
        "sleep.",
        cq, (unsigned long long)n, n == 1 ? " is" : "s are");
    return true;
}

/* The search for the queue pair with a number on a host. */
struct peer_search {
    const struct rdl_lab *lab;
    const char *host;
    uint64_t qpn;
    char path[TREE_PATH_BYTES]; /* "": not found */
};

static void match_qpn(void *ctx, const char *key, const struct rdl_value *v)
{
    struct peer_search *s = ctx;
    char path[TREE_PATH_BYTES];
    struct text p = text_on(path, sizeof(path)), found;

    if (s->path[0] || !tree_value_is(v, NODE_qp))
        return;
    tree_join(&p, s->host, key);
    if (tree_number(s->lab, path, LEAF_qp_qpn) != s->qpn)
        return;
    found = text_on(s->path, sizeof(s->path));
    text_add(&found, path);
}

/* Returns what a responder with @profile does with a READ or atomic for which it has no room. */
static const char *beyond_room(uint32_t profile, uint64_t room)
{
    if (room == 0 || profile_has(profile, TRAIT_RD_ROOM_CHECKED))
        return "it refuses one more, and the connection ends";
    return "with profile=rxe it answers more, but forgets the oldest, and cannot repeat its answer "
           "if that is lost; an adapter refuses one more, and the connection ends";
}

bool advice_rd_atomic(struct text *t, const struct rdl_lab *lab, const char *qp)
{
    const uint64_t own = tree_number(lab, qp, LEAF_qp_max_rd_atomic);
    struct peer_search s = {.lab = lab, .qpn = tree_number(lab, qp, LEAF_qp_dest_qpn)};
    struct rdl_value host;
    uint64_t takes, state, peer_profile;
    size_t at;

    if (!tree_leaf(lab, qp, LEAF_qp_peer, &host) || !tree_is(lab, host.text, NODE_host))
        return false;
    s.host = host.text;
    if (rdl_inspect_list(lab, host.text, match_qpn, &s, &at) != RDL_OK || !s.path[0])
        return false;
    takes = tree_number(lab, s.path, LEAF_qp_max_dest_rd_atomic);
    state = tree_number(lab, s.path, LEAF_qp_state);
    if (own <= takes || state == QPS_RESET || state == QPS_INIT)
        return false; /* before RTR the peer takes nothing yet */
    peer_profile = tree_number(lab, host.text, LEAF_host_profile);
    text_addf(t,
              "%s may have %llu READs and atomics under way (max_rd_atomic), and %s takes %llu "
              "(max_dest_rd_atomic): %s. Give %s max_rd_atomic=%llu.",
              qp, (unsigned long long)own, s.path, (unsigned long long)takes,
              beyond_room((uint32_t)peer_profile, takes), qp, (unsigned long long)takes);
    return true;
}
