/* SPDX-License-Identifier: MIT */
/* Calls of rdma_cm for a node of LNet, with the moves of queue pairs that librdmacm makes. */
#include <errno.h>
#include <string.h>

#include "emu/facts/enum/object.h"
#include "emu/facts/enum/port_space.h"
#include "emu/guest/lnet/internal.h"
#include "emu/wire/addr.h"

static void put_ip(uint32_t ip, uint16_t port, struct rdl_cm_addr *ret)
{
    uint8_t bytes[4];

    st_be32(bytes, ip);
    *ret = (struct rdl_cm_addr){.version = 4, .port = port};
    gid_from_ipv4(ret->gid, bytes);
}

void gl_adopt(void *ctx, struct lnd_link *l)
{
    struct guest_cm_object *o = gl_id_object(ctx, l->id);

    o->kernel = l;
    o->o.kept_by = RDL_KERNEL_LNET;
}

int gl_resolve(void *ctx, struct lnd_link *l, uint32_t ip, uint16_t service, uint64_t timeout_ns)
{
    struct guest_lnet *g = ctx;
    struct rdl_cm_addr to;
    char name[RDL_NAME_BYTES];
    struct guest_cm_object *ch =
        (struct guest_cm_object *)verbs_get(gl_verbs(g), OBJ_EVENT_CHANNEL, g->channel);

    if (!ch || rdma_cm_create_id(ch, PORT_SPACE_TCP, gl_name_next(g, "id", name), &l->id) != RDL_OK)
        return -ENOMEM;
    gl_adopt(g, l);
    put_ip(ip, service, &to);
    return -cma_resolve_addr(gl_cm_id_of(g, l), NULL, &to, timeout_ns);
}

static struct rdl_cm_param param_of(const struct guest_lnet *g, const struct lnd_link *l,
                                    const void *data, uint8_t bytes)
{
    struct rdl_cm_param p = {.private_bytes = bytes,
                             .flow_control = true,
                             .retry_count = LND_RETRY_COUNT,
                             .rnr_retry_count = LND_RNR_RETRY_COUNT,
                             .qpn = gl_qp_of(g, l)->qpn};

    memcpy(p.private_data, data, bytes);
    return p;
}

int gl_connect_to(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    const struct rdl_cm_param p = param_of(ctx, l, data, bytes);

    return -cma_connect(gl_cm_id_of(ctx, l), &p);
}

int gl_accept_with(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    const struct rdl_cm_param p = param_of(ctx, l, data, bytes);
    const int st = gl_make_ready(ctx, l);

    return st ? st : -cma_accept(gl_cm_id_of(ctx, l), &p);
}

int gl_establish(void *ctx, struct lnd_link *l)
{
    const int st = gl_make_ready(ctx, l);

    return st ? st : -cma_accept(gl_cm_id_of(ctx, l), NULL);
}

int gl_reject(void *ctx, struct lnd_link *l, const void *data, uint8_t bytes)
{
    return -cma_reject(gl_cm_id_of(ctx, l), data, bytes);
}

int gl_disconnect(void *ctx, struct lnd_link *l)
{
    const int st = gl_move_qp(ctx, l, QPS_ERR);

    if (st == LND_LATER)
        return st;
    (void)cma_disconnect(gl_cm_id_of(ctx, l));
    return 0;
}

int gl_destroy_id(void *ctx, struct lnd_link *l)
{
    struct guest_cm_object *o = gl_id_object(ctx, l->id);

    o->kernel = NULL;
    o->o.kept_by = RDL_KERNEL_NONE; /* if the program has an event of it, it is left to that */
    l->id = 0;
    return rdma_cm_destroy_id(o) == RDL_OK ? 0 : -EBUSY;
}
