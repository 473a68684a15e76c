/* SPDX-License-Identifier: MIT */
/* An answer, in the byte order of the node that answers:
 *
 *	magic u32, features u32, pid u32, number of interfaces u32
 *	for each interface: NID u64, status u32, 0 u32
 */
#include "lnet/ping.h"

#include <errno.h>

#include "emu/base/cursor.h"

#define PING_MAGIC     0x70696e67u /* "ping" */
#define FEATURE_BASE   1u
#define FEATURE_STATUS 2u
#define STATUS_UP      0x15aac0deu
#define HEAD_BYTES     16u
#define NI_BYTES       16u

/* Writes number @v of @n bytes, in the order of this node. */
static void put(uint8_t *at, size_t n, uint64_t v, bool big)
{
    if (big)
        st_be(at, n, v);
    else
        st_le(at, n, v);
}

static uint64_t get(const uint8_t *at, size_t n, bool big)
{
    return big ? ld_be(at, n) : ld_le(at, n);
}

int lnet_ping_serve(struct lnet_node *n, const struct lnd_ops *ops, void *ctx, uint64_t addr,
                    uint64_t *ret)
{
    const struct lnd_config *c = lnd_config(lnet_lnd(n));
    const struct lnet_match match = {LNET_PING_PORTAL, LNET_NID_ANY, LNET_PING_BITS, 0};
    const uint64_t nids[] = {LNET_NID_LO, c->nid};
    const bool big = c->big_endian;
    struct lnet_md md = {.n = 1, .options = LNET_MD_GET | LNET_MD_TRUNCATE | LNET_MD_MANAGE_REMOTE};
    uint8_t b[HEAD_BYTES + 2 * NI_BYTES] = {0};

    put(b, 4, PING_MAGIC, big);
    put(b + 4, 4, FEATURE_BASE | FEATURE_STATUS, big);
    put(b + 8, 4, LNET_PID_LUSTRE, big);
    put(b + 12, 4, 2, big);
    for (size_t i = 0; i < 2; i++) {
        put(b + HEAD_BYTES + i * NI_BYTES, 8, nids[i], big);
        put(b + HEAD_BYTES + i * NI_BYTES + 8, 4, STATUS_UP, big);
    }
    if (!ops->write(ctx, addr, b, sizeof(b)))
        return -EFAULT;
    md.frags[0] = (struct lnet_frag){sizeof(b), addr};
    return lnet_attach(n, &match, &md, ret);
}

int lnet_ping(struct lnet_node *n, uint64_t nid, uint64_t addr, uint64_t user, uint64_t *ret)
{
    struct lnet_md md = {.n = 1, .threshold = 1, .user = user};
    int st;

    md.frags[0] = (struct lnet_frag){LNET_PING_BYTES, addr};
    st = lnet_bind(n, &md, ret);
    if (st)
        return st;
    st = lnet_get(n, &(struct lnet_call){.md = *ret, .nid = nid, .bits = LNET_PING_BITS});
    if (st)
        (void)lnet_unlink(n, *ret);
    return st;
}

bool lnet_ping_take(const struct lnd_ops *ops, void *ctx, uint64_t addr, uint32_t bytes,
                    struct lnet_ping_info *ret)
{
    uint8_t b[LNET_PING_BYTES];
    bool big;

    if (bytes < HEAD_BYTES || bytes > sizeof(b) || !ops->read(ctx, addr, b, bytes))
        return false;
    big = ld_be32(b) == PING_MAGIC;
    if (!big && ld_le32(b) != PING_MAGIC)
        return false;
    ret->pid = (uint32_t)get(b + 8, 4, big);
    ret->n = (uint32_t)get(b + 12, 4, big);
    if (ret->n > (bytes - HEAD_BYTES) / NI_BYTES)
        ret->n = (bytes - HEAD_BYTES) / NI_BYTES;
    for (uint32_t i = 0; i < ret->n; i++) {
        ret->nis[i].nid = get(b + HEAD_BYTES + i * NI_BYTES, 8, big);
        ret->nis[i].is_up = get(b + HEAD_BYTES + i * NI_BYTES + 8, 4, big) == STATUS_UP;
    }
    return true;
}
