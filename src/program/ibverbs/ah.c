/* SPDX-License-Identifier: MIT */
/* Address handles, and address vectors from received datagrams.
 *
 * The 40 bytes before a datagram are its IPv6 header, or 20 unused bytes and its IPv4 header.
 */
#include <endian.h>
#include <stdlib.h>

#include "program/ibverbs/internal.h"

#define IPV4_AT    20u
#define IPV4_BYTES 20u

static struct ibv_ah *create_ah(struct ibv_pd *pub, const struct ibv_ah_attr *attr,
                                const struct maker *m)
{
    struct lib_pd *pd = pd_of(pub);
    struct lib_ah *ah = pd ? calloc(1, sizeof(*ah)) : NULL;
    struct program_call call;
    struct program_answer answer;
    int error;

    if (!ah)
        return null_because(pd ? ENOMEM : EINVAL);
    call_init_by(&call, PROGRAM_CREATE_AH, m);
    call.u.create_ah.pd = pd->o.handle;
    av_from(&call.u.create_ah.av, attr);
    error = connection_call(&pd->o.context->c, &call, &answer, NULL);
    if (error) {
        free(ah);
        return null_because(error);
    }
    object_live(pd->o.context, &ah->o, PROGRAM_AH, answer.u.create_ah.handle);
    ah->pub = (struct ibv_ah){pub->context, pub, (uint32_t)ah->o.handle};
    return &ah->pub;
}

/* ibv_create_ah(3).  Returns NULL and sets errno. */
struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    const struct maker m = MAKER(CREATE_AH);

    return create_ah(pd, attr, &m);
}

/* ibv_destroy_ah(3).  Returns 0 or an errno value. */
int ibv_destroy_ah(struct ibv_ah *pub)
{
    struct lib_ah *ah = ah_of(pub);
    const int error = ah ? object_destroy(&ah->o, -1) : EINVAL;

    if (!error)
        object_bury(ah->o.context, ah);
    return error;
}

/* Returns true if @h is an IPv4 header: version, length and checksum are right. */
static bool is_ipv4(const uint8_t h[IPV4_BYTES])
{
    uint32_t sum = 0;

    if (h[0] != 0x45)
        return false;
    for (size_t i = 0; i < IPV4_BYTES; i += 2)
        sum += (uint32_t)(h[i] << 8 | h[i + 1]);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return sum == 0xffff;
}

static void gid_from_ipv4(union ibv_gid *gid, const uint8_t addr[4])
{
    memset(gid->raw, 0, 10);
    memset(gid->raw + 10, 0xff, 2);
    memcpy(gid->raw + 12, addr, 4);
}

/* Returns the index of @gid in the port's table, or -1 and sets errno. */
static int find_gid(struct ibv_context *context, uint8_t port, const union ibv_gid *gid)
{
    const uint32_t n = context_of(context)->c.device.n_gids;
    union ibv_gid found;

    for (int i = 0; i < (int)n && i <= UINT8_MAX; i++) {
        if (ibv_query_gid(context, port, i, &found) != 0)
            return -1;
        if (memcmp(&found, gid, sizeof(found)) == 0)
            return i;
    }
    return minus_1_because(ENOENT);
}

/* ibv_init_ah_from_wc(3).  Returns 0, or -1 and sets errno: ENOENT if the datagram was sent to an
 * address that is not in the table of GIDs, such as a multicast group.
 */
int ibv_init_ah_from_wc(struct ibv_context *context, uint8_t port_num, struct ibv_wc *wc,
                        struct ibv_grh *grh, struct ibv_ah_attr *attr)
{
    uint8_t h[sizeof(*grh)];
    union ibv_gid to;
    int index;

    memset(attr, 0, sizeof(*attr));
    attr->dlid = wc->slid;
    attr->src_path_bits = wc->dlid_path_bits;
    attr->port_num = port_num;
    if (!(wc->wc_flags & IBV_WC_GRH))
        return 0;
    attr->is_global = 1;
    memcpy(h, grh, sizeof(h));
    if (is_ipv4(h + IPV4_AT)) {
        gid_from_ipv4(&attr->grh.dgid, h + IPV4_AT + 12);
        gid_from_ipv4(&to, h + IPV4_AT + 16);
        attr->grh.hop_limit = h[IPV4_AT + 8];
        attr->grh.traffic_class = h[IPV4_AT + 1];
    } else {
        const uint32_t first = be32toh(grh->version_tclass_flow);

        attr->grh.dgid = grh->sgid;
        to = grh->dgid;
        attr->grh.flow_label = first & IB_GRH_FLOWLABEL_MASK;
        attr->grh.traffic_class = (uint8_t)(first >> 20);
        attr->grh.hop_limit = grh->hop_limit;
    }
    index = find_gid(context, port_num, &to);
    if (index < 0)
        return -1;
    attr->grh.sgid_index = (uint8_t)index;
    return 0;
}

/* ibv_create_ah_from_wc(3).  Returns NULL and sets errno. */
struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
                                     uint8_t port_num)
{
    const struct maker m = MAKER(CREATE_AH_FROM_WC);
    struct ibv_ah_attr attr;

    if (ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attr) != 0)
        return NULL;
    return create_ah(pd, &attr, &m);
}
