/* SPDX-License-Identifier: MIT */
/* The drill of keys: requests that access memory with a key. */
#include <inttypes.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/enum/wr_opcode.h"
#include "swarm/drills/drill_keys.h"

#define MOST_BYTES 3000u
#define WORD       8u
#define PACKET     1024u

static const char opens[] = "a key opens what it is for, to whom it is for, and nothing else";

/* Draws the key of @of, or sometimes one with another low byte or index. */
static uint32_t draw_key(struct drill *d, const struct kept *of)
{
    if (drill_one_in(d, 12))
        return of->rkey ^ (1 + drill_below(d, KEY_LOW));
    if (drill_one_in(d, 30))
        return of->rkey + ((KEY_LOW + 1) << drill_below(d, 8));
    return of->rkey;
}

/* Draws a range within @of, or sometimes one that begins before it or ends behind it. */
static void draw_range(struct drill *d, const struct kept *of, uint64_t *ret_addr,
                       uint32_t *ret_bytes)
{
    const uint32_t most = of->bytes < MOST_BYTES ? of->bytes : MOST_BYTES;
    uint32_t bytes = most > 0 ? 1 + drill_below(d, most) : 1;
    uint64_t last;

    if (drill_one_in(d, 4))
        bytes = 1 + drill_below(d, 4);
    last = of->bytes > bytes ? of->bytes - bytes : 0;
    *ret_bytes = bytes;
    switch (drill_below(d, 9)) {
    case 0:
        *ret_addr = of->name;
        break;
    case 1:
        *ret_addr = of->name + last;
        break;
    case 2:
        *ret_addr = of->name + last + 1;
        break;
    case 3:
        *ret_addr = of->name - (of->name > 0 ? 1 : 0);
        break;
    case 4:
        *ret_addr = of->name + drill_below(d, of->bytes + KEY_PAGE);
        break;
    default:
        *ret_addr = of->name + drill_below(d, (uint32_t)last + 1);
        break;
    }
}

static void fill(struct drill *d, uint8_t *out, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)prng_next(&d->rng);
}

/* Writes @n bytes at offset @at of h1's memory. */
static bool put(struct drill *d, uint32_t at, const uint8_t *bytes, uint32_t n)
{
    struct keys *k = d->own;

    if (d->script) {
        fprintf(d->script, "write h1.mine[%u] hex=", at);
        for (uint32_t i = 0; i < n; i++)
            fprintf(d->script, "%02x", bytes[i]);
        fputc('\n', d->script);
    }
    return drill_works(d, rdl_mem_write(d->lab, k->host[0], k->base[0] + at, bytes, n),
                       "memory can be written");
}

/* Returns the offset in the room of address @addr of @of, which is valid. */
static uint32_t place(const struct kept *of, uint64_t addr)
{
    return of->at + (uint32_t)(addr - of->name);
}

/* Checks that h1's memory at offset @at holds @want. */
static void check_fetched(struct drill *d, uint32_t at, const uint8_t *want, uint32_t n)
{
    struct keys *k = d->own;

    if (!d->wrong && drill_works(d, rdl_mem_read(d->lab, k->host[0], k->base[0] + at, k->have, n),
                                 "memory can be read"))
        drill_expect(d, memcmp(k->have, want, n) == 0, "what is fetched is what is there",
                     "other bytes");
}

/* --- Remote access ---------------------------------------------------------------------------- */

static const struct {
    uint32_t opcode, access;
    const char *name;
} remote[] = {
    {WR_RDMA_WRITE, ACC_REMOTE_WRITE, "rdma_write"},
    {WR_RDMA_READ, ACC_REMOTE_READ, "rdma_read"},
    {WR_ATOMIC_FETCH_AND_ADD, ACC_REMOTE_ATOMIC, "atomic_fetch_and_add"},
};

/* Applies @wr, which is permitted, to the model of h2's memory, at offset @to. */
static void carry_out(struct keys *k, const struct rdl_send_wr *wr, uint32_t to,
                      const uint8_t *bytes)
{
    if (wr->opcode == WR_RDMA_WRITE)
        memcpy(k->room + to, bytes, wr->sge[0].length);
    else if (wr->opcode == WR_ATOMIC_FETCH_AND_ADD)
        st_le64(k->room + to, ld_le64(k->room + to) + wr->compare_add);
}

/* Picks a region or window from slot @from on: mostly one whose key is valid. */
static const struct kept *pick_open(struct drill *d, unsigned from)
{
    const struct kept *of = keys_pick(d, from, KEEPS);

    for (unsigned more = drill_below(d, 4); more > 0 && !(of && of->is_valid); more--)
        of = keys_pick(d, from, KEEPS);
    return of;
}

/* Draws what is done with the key of @of: mostly something that it permits. */
static unsigned draw_remote(struct drill *d, const struct kept *of)
{
    unsigned what = drill_below(d, ARRAY_LEN(remote));

    for (unsigned tries = 0; of && tries < 2 && !(of->access & remote[what].access); tries++)
        what = drill_below(d, ARRAY_LEN(remote));
    return what;
}

void keys_use_remotely(struct drill *d)
{
    struct keys *k = d->own;
    const struct kept *of = pick_open(d, drill_one_in(d, 2) ? REGIONS : 0);
    const unsigned any = drill_below(d, PAIRS), what = draw_remote(d, of);
    const unsigned pair = of && of->pair < PAIRS && drill_one_in(d, 2) ? of->pair : any;
    const uint32_t at = drill_below(d, KEY_PAGE);
    uint8_t bytes[MOST_BYTES], before[MOST_BYTES];
    struct rdl_sge sge = {k->base[0] + at, 0, k->mine[0]};
    struct rdl_send_wr wr = {.opcode = remote[what].opcode, .sge = &sge, .n_sge = 1};
    bool is_open;

    if (!of)
        return;
    wr.rkey = draw_key(d, of);
    draw_range(d, of, &wr.remote_addr, &sge.length);
    if (wr.opcode == WR_ATOMIC_FETCH_AND_ADD) {
        sge.length = WORD;
        wr.remote_addr &= ~(uint64_t)(WORD - 1);
        wr.compare_add = drill_below(d, 1u << 30);
    }
    fill(d, bytes, sge.length);
    if (wr.opcode == WR_RDMA_WRITE && !put(d, at, bytes, sge.length))
        return;
    is_open = keys_open(k, wr.rkey, pair, wr.remote_addr, sge.length, remote[what].access);
    if (is_open) {
        const uint32_t to = place(keys_find(k, wr.rkey), wr.remote_addr);

        memcpy(before, k->room + to, sge.length);
        carry_out(k, &wr, to, bytes);
    }
    drill_say(
        d, "post_send h1.q%u op=%s sge=mine[%u:%u] remote=0x%" PRIx64 " rkey=0x%x signaled%s%.0u",
        pair, remote[what].name, at, at + sge.length, wr.remote_addr, wr.rkey,
        wr.opcode == WR_ATOMIC_FETCH_AND_ADD ? " add=" : "", (unsigned)wr.compare_add);
    if (keys_post(d, 0, pair, &wr, is_open ? WCS_SUCCESS : WCS_REM_ACCESS_ERR, opens) && is_open &&
        wr.opcode != WR_RDMA_WRITE)
        check_fetched(d, at, before, sge.length);
}

/* --- Local access ----------------------------------------------------------------------------- */

/* h2 uses a key as its lkey: it WRITEs bytes from that memory to h1, or READs bytes from h1 into
 * it.
 */
void keys_use_locally(struct drill *d)
{
    struct keys *k = d->own;
    const struct kept *of = keys_pick(d, drill_one_in(d, 3) ? REGIONS : 0, KEEPS);
    const unsigned any = drill_below(d, PAIRS);
    const unsigned pair = of && of->pair < PAIRS && drill_one_in(d, 2) ? of->pair : any;
    const bool fetches = drill_one_in(d, 2);
    const uint32_t at = drill_below(d, KEY_PAGE);
    uint8_t bytes[MOST_BYTES];
    struct rdl_sge sge = {0};
    struct rdl_send_wr wr = {.opcode = fetches ? WR_RDMA_READ : WR_RDMA_WRITE,
                             .sge = &sge,
                             .n_sge = 1,
                             .remote_addr = k->base[0] + at,
                             .rkey = k->mine[0]};
    uint32_t status = WCS_LOC_PROT_ERR;
    bool is_open;

    if (!of)
        return;
    sge.lkey = draw_key(d, of);
    draw_range(d, of, &sge.addr, &sge.length);
    /* Of a longer READ the first packets may be written before the failure. */
    if (fetches && sge.length > PACKET)
        sge.length = PACKET;
    fill(d, bytes, sge.length);
    if (!put(d, at, bytes, sge.length))
        return;
    is_open = keys_open(k, sge.lkey, pair, sge.addr, sge.length, fetches ? ACC_LOCAL_WRITE : 0);
    drill_say(d, "# h2.q%u: op=%s, from key 0x%x at 0x%" PRIx64 ", %u bytes", pair,
              fetches ? "rdma_read" : "rdma_write", sge.lkey, sge.addr, sge.length);
    d->n_unsaid++;
    /* rxe reports a key that does not fit at all differently from a range that is out of bounds. */
    if (rig_is_rxe(k->profile) && !fetches && !keys_fit(k, sge.lkey, pair, 0))
        status = WCS_LOC_QP_OP_ERR;
    if (!fetches)
        status = keys_unsent(k, status);
    if (is_open) {
        const uint32_t to = place(keys_find(k, sge.lkey), sge.addr);

        status = WCS_SUCCESS;
        if (fetches)
            memcpy(k->room + to, bytes, sge.length);
        else
            memcpy(bytes, k->room + to, sge.length);
    }
    if (keys_post(d, 1, pair, &wr, status, opens) && is_open && !fetches)
        check_fetched(d, at, bytes, sge.length);
}
