/* SPDX-License-Identifier: MIT */
/* Objects by their names: created, found, destroyed. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define PAGE_BYTES 4096u

static const struct word_value qp_types[] = {
    {"rc", IBV_QPT_RC},
    {"uc", IBV_QPT_UC},
    {"ud", IBV_QPT_UD},
};

static struct object *find(struct peer *p, const char *name)
{
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        if (p->object[i].kind != NOTHING && strcmp(p->object[i].name, name) == 0)
            return &p->object[i];
    }
    return NULL;
}

struct object *object_named(struct peer *p, const char *name, enum kind kind)
{
    struct object *o = find(p, name);

    if (!o || o->kind != kind)
        fail(p, "%s is %s", name, o ? "of another kind" : "unknown");
    return o;
}

/* The object that stands behind "KEY=". */
struct object *object_of(struct peer *p, const char *key, enum kind kind)
{
    const char *name = peer_line_value(p->at, key);

    if (!name)
        fail(p, "%s= is missing", key);
    return object_named(p, name, kind);
}

const struct object *qp_of_number(const struct peer *p, uint32_t qpn)
{
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        if (p->object[i].kind == QP && p->object[i].qp->qp_num == qpn)
            return &p->object[i];
    }
    return NULL;
}

/* @name without "peer." */
const struct remote *remote_named(const struct peer *p, const char *name)
{
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        if (name[0] && strcmp(p->remote[i].name, name) == 0)
            return &p->remote[i];
    }
    fail(p, "the peer has told nothing about %s", name);
}

/* A new object of the name behind "as"; nothing is in it yet. */
static struct object *new_object(struct peer *p, enum kind kind, const char *name)
{
    if (!name || strlen(name) >= NAME_BYTES || find(p, name))
        fail(p, "it needs a new, short name");
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        struct object *o = &p->object[i];

        if (o->kind != NOTHING)
            continue;
        *o = (struct object){.kind = kind, .news = kind == QP || kind == MR || kind == MW};
        snprintf(o->name, sizeof(o->name), "%s", name);
        return o;
    }
    fail(p, "there are too many objects");
}

/* NULL of libibverbs means that errno tells why: then there is no object. */
static void keep(struct peer *p, struct object *o, const void *made)
{
    if (!done(p, made ? 0 : errno))
        o->kind = NOTHING;
}

/* NAME[FROM:TO] of this side; @ret_rest: what stands behind it.  It may reach out of the region,
 * for requests that do; who looks at the bytes himself calls memory_of().
 */
struct slice to_slice(struct peer *p, const char *text, const char **ret_rest)
{
    const size_t length = strcspn(text, "[");
    char name[NAME_BYTES];
    unsigned long long from, to;
    int end = 0;
    struct object *o;

    snprintf(name, sizeof(name), "%.*s", (int)length, text);
    if (sscanf(text + length, "[%llu:%llu]%n", &from, &to, &end) != 2 || !end || from > to)
        fail(p, "%s is no slice like mr[0:64]", text);
    o = object_named(p, name, MR);
    *ret_rest = text + length + end;
    return (struct slice){o, o->memory + from, to - from};
}

void do_alloc_pd(struct peer *p)
{
    struct object *o = new_object(p, PD, p->at->as);

    o->pd = ibv_alloc_pd(p->context);
    keep(p, o, o->pd);
}

void do_reg_mr(struct peer *p)
{
    struct ibv_pd *pd = object_named(p, operand(p, 0), PD)->pd;
    const unsigned access = access_or(p, "lw");
    struct object *o = new_object(p, MR, p->at->as);

    o->length = number_or(p, "len", 0);
    o->memory = aligned_alloc(PAGE_BYTES, (o->length / PAGE_BYTES + 1) * PAGE_BYTES);
    if (!o->memory)
        fail(p, "there is no memory");
    memset(o->memory, 0, o->length);
    o->mr = ibv_reg_mr(pd, o->memory, o->length, access);
    if (!o->mr)
        free(o->memory);
    keep(p, o, o->mr);
}

void do_create_cq(struct peer *p)
{
    struct object *o = new_object(p, CQ, p->at->as);

    o->cq = ibv_create_cq(p->context, (int)number_or(p, "cqe", 16), NULL, NULL, 0);
    keep(p, o, o->cq);
}

void do_create_srq(struct peer *p)
{
    struct ibv_srq_init_attr attr = {
        .attr = {.max_wr = (uint32_t)number_or(p, "max_wr", 16),
                 .max_sge = (uint32_t)number_or(p, "max_sge", 4)},
    };
    struct ibv_pd *pd = object_named(p, operand(p, 0), PD)->pd;
    struct object *o = new_object(p, SRQ, p->at->as);

    o->srq = ibv_create_srq(pd, &attr);
    keep(p, o, o->srq);
}

void do_create_qp(struct peer *p)
{
    const char *type = peer_line_value(p->at, "type");
    struct ibv_qp_init_attr_ex attr = {
        .pd = object_named(p, operand(p, 0), PD)->pd,
        .comp_mask = IBV_QP_INIT_ATTR_PD,
        .qp_type = to_value(p, qp_types, ARRAY_LEN(qp_types), type ? type : "rc"),
        .send_cq = object_of(p, "send_cq", CQ)->cq,
        .recv_cq = object_of(p, "recv_cq", CQ)->cq,
        .srq = peer_line_value(p->at, "srq") ? object_of(p, "srq", SRQ)->srq : NULL,
        .sq_sig_all = peer_line_has(p->at, "sq_sig_all"),
        .cap = {.max_send_wr = (uint32_t)number_or(p, "max_send_wr", 16),
                .max_recv_wr = (uint32_t)number_or(p, "max_recv_wr", 16),
                .max_send_sge = (uint32_t)number_or(p, "max_send_sge", 4),
                .max_recv_sge = (uint32_t)number_or(p, "max_recv_sge", 4),
                .max_inline_data = (uint32_t)number_or(p, "max_inline_data", 0)},
    };
    struct object *o = new_object(p, QP, p->at->as);

    if (attr.qp_type == IBV_QPT_RC) { /* see post_atomic() */
        attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        attr.send_ops_flags =
            IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
#if PLACEMENT
        attr.send_ops_flags |= IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE;
#endif
    }
    o->qp = ibv_create_qp_ex(p->context, &attr);
    keep(p, o, o->qp);
}

void do_alloc_mw(struct peer *p)
{
    struct ibv_pd *pd = object_named(p, operand(p, 0), PD)->pd;
    struct object *o = new_object(p, MW, p->at->as);

    o->mw = ibv_alloc_mw(pd, number_or(p, "type", 2) == 1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
    keep(p, o, o->mw);
}

void do_create_ah(struct peer *p)
{
    struct ibv_pd *pd = object_named(p, operand(p, 0), PD)->pd;
    struct ibv_ah_attr attr = {
        .is_global = 1,
        .port_num = 1,
        .grh = {.sgid_index = (uint8_t)p->gid_index, .hop_limit = 64},
    };
    const char *dgid = peer_line_value(p->at, "dgid");
    struct object *o = new_object(p, AH, p->at->as);

    attr.grh.dgid = to_gid(p, dgid ? dgid : "peer.gid");
    o->ah = ibv_create_ah(pd, &attr);
    keep(p, o, o->ah);
}

/* The network interface of the GID that is in use.  0: the kernel does not know the device, as that
 * of a host of a lab, which joins the group itself.
 */
static unsigned interface_of(const struct peer *p)
{
    char path[256], name[IF_NAMESIZE + 1] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/%d",
             ibv_get_device_name(p->context->device), p->gid_index);
    file = fopen(path, "r");
    if (!file && access(p->context->device->ibdev_path, F_OK) != 0)
        return 0;
    if (!file || !fgets(name, sizeof(name), file))
        fail(p, "%s tells no network interface", path);
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    return if_nametoindex(name);
}

/* rxe joins no group at the network: what is sent to one would not reach it.  The socket stays
 * open: closing it leaves the group.
 */
static void join(const struct peer *p, const union ibv_gid *gid)
{
    const bool ipv4 = is_ipv4(gid);
    const unsigned interface = interface_of(p);
    struct ip_mreqn four = {.imr_ifindex = (int)interface};
    struct ipv6_mreq six = {.ipv6mr_interface = interface};
    int s, failed;

    if (!interface)
        return;
    s = socket(ipv4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
    memcpy(&four.imr_multiaddr, gid->raw + 12, sizeof(four.imr_multiaddr));
    memcpy(&six.ipv6mr_multiaddr, gid->raw, sizeof(six.ipv6mr_multiaddr));
    failed = ipv4 ? setsockopt(s, IPPROTO_IP, IP_ADD_MEMBERSHIP, &four, sizeof(four))
                  : setsockopt(s, IPPROTO_IPV6, IPV6_JOIN_GROUP, &six, sizeof(six));
    if (s < 0 || failed)
        fail(p, "cannot join the group: %s", strerror(errno));
}

void do_attach_mcast(struct peer *p)
{
    struct object *o = object_named(p, operand(p, 0), QP);
    const char *address = peer_line_value(p->at, "gid");
    const union ibv_gid gid = to_gid(p, address ? address : "");

    join(p, &gid);
    done(p, ibv_attach_mcast(o->qp, &gid, 0));
}

static int destroy(struct object *o)
{
    switch (o->kind) {
    case PD:
        return ibv_dealloc_pd(o->pd);
    case MR:
        return ibv_dereg_mr(o->mr);
    case CQ:
        return ibv_destroy_cq(o->cq);
    case SRQ:
        return ibv_destroy_srq(o->srq);
    case QP:
        return ibv_destroy_qp(o->qp);
    case MW:
        return ibv_dealloc_mw(o->mw);
    case AH:
        return ibv_destroy_ah(o->ah);
    default:
        return EINVAL;
    }
}

void do_destroy(struct peer *p)
{
    struct object *o = find(p, operand(p, 0));
    const char *address = peer_line_value(p->at, "gid");

    if (!o)
        fail(p, "%s is unknown", operand(p, 0));
    if (strcmp(p->at->word[0], "detach_mcast") == 0) {
        const union ibv_gid gid = to_gid(p, address ? address : "");

        done(p, ibv_detach_mcast(o->qp, &gid, 0));
        return;
    }
    if (!done(p, destroy(o)))
        return;
    if (o->kind == MR)
        free(o->memory);
    if ((o->kind == QP || o->kind == MR || o->kind == MW) && !o->news) {
        if (p->n_gone == OBJECTS_MAX)
            fail(p, "too much was destroyed without a sync");
        memcpy(p->gone[p->n_gone++], o->name, NAME_BYTES);
    }
    o->kind = NOTHING;
}
