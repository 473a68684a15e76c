/* SPDX-License-Identifier: MIT */
#include "lnet/selftest_data.h"

#include <errno.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/base/min.h"
#include "emu/base/prng.h"

#define PAGE_BYTES  4096u
#define GUARD_BYTES 16u
#define GUARD       0xa5u

/* Returns word @i of the data of @seed: the number that SplitMix64 draws at that place. */
static uint64_t word(uint64_t seed, uint32_t i)
{
    struct prng r = {seed + i * UINT64_C(0x9e3779b97f4a7c15)};

    return prng_next(&r);
}

uint8_t selftest_byte(uint64_t seed, uint32_t at)
{
    return (uint8_t)(word(seed, at / 8) >> 8 * (at % 8));
}

/* Writes the @n bytes from position @at on to @ret, each XOR the bytes of @mask. */
static void pattern(uint64_t seed, uint32_t at, uint64_t mask, uint8_t *ret, uint32_t n)
{
    uint32_t i = 0;

    for (; i < n && (at + i) % 8 > 0; i++)
        ret[i] = selftest_byte(seed, at + i) ^ (uint8_t)mask;
    for (; n - i >= 8; i += 8)
        st_le64(ret + i, word(seed, (at + i) / 8) ^ mask);
    for (; i < n; i++)
        ret[i] = selftest_byte(seed, at + i) ^ (uint8_t)mask;
}

/* Returns the bytes of one fragment of the form @shape for @bytes bytes. */
static uint32_t bytes_of_fragment(const struct selftest_shape *shape, uint32_t bytes)
{
    const uint32_t least = (bytes + LNET_IOV_MAX - 1) / LNET_IOV_MAX;

    if (shape->frag_bytes == 0)
        return bytes;
    return shape->frag_bytes > least ? shape->frag_bytes : least;
}

/* Returns the number of bytes between fragment @i and the next one, or the end of the memory. */
static uint64_t room_behind(const struct selftest_data *d, uint32_t i)
{
    const struct lnet_frag *f = &d->frags[i];

    return i + 1 == d->n ? GUARD_BYTES : f[1].addr - (f->addr + f->nob);
}

/* Writes the guards around each fragment. */
static bool put_guards(const struct selftest_data *d)
{
    uint8_t guard[GUARD_BYTES];

    memset(guard, GUARD, sizeof(guard));
    for (uint32_t i = 0; i < d->n; i++) {
        const struct lnet_frag *f = &d->frags[i];
        const uint64_t end = f->addr + f->nob, room = room_behind(d, i);

        if (i == 0 && !d->ops->write(d->ctx, f->addr - GUARD_BYTES, guard, GUARD_BYTES))
            return false;
        if (room && !d->ops->write(d->ctx, end, guard, room < GUARD_BYTES ? room : GUARD_BYTES))
            return false;
    }
    return true;
}

/* Counts the bytes of a guard that have changed, beside the byte at offset @at. */
static bool check_guard(const struct selftest_data *d, uint64_t addr, uint64_t room, uint32_t at,
                        struct selftest_bad *bad)
{
    const size_t n = room < GUARD_BYTES ? (size_t)room : GUARD_BYTES;
    uint8_t guard[GUARD_BYTES];

    if (n > 0 && !d->ops->read(d->ctx, addr, guard, n))
        return false;
    for (size_t i = 0; i < n; i++) {
        if (guard[i] != GUARD && bad->n++ == 0)
            bad->at = at;
    }
    return true;
}

int selftest_data_lay_out(struct selftest_data *d, const struct selftest_shape *shape,
                          uint32_t bytes)
{
    const uint32_t most = bytes_of_fragment(shape, bytes);
    const uint32_t n = bytes ? (bytes + most - 1) / most : 0;
    const uint64_t span = shape->offset % PAGE_BYTES + bytes + (uint64_t)n * shape->gap;
    /* A page before it and one behind it have room for the outer guards. */
    const uint64_t all = (span + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES + 2 * PAGE_BYTES;
    uint64_t addr;
    uint32_t left = bytes;

    if (d->pages_bytes < all) {
        selftest_data_free(d);
        d->pages = d->ops->pages(d->ctx, all);
        if (d->pages == 0)
            return -ENOMEM;
        d->pages_bytes = all;
    }
    addr = d->pages + PAGE_BYTES + shape->offset % PAGE_BYTES;
    d->n = n;
    for (uint32_t i = 0; i < n; i++) {
        d->frags[i] = (struct lnet_frag){min_u32(left, most), addr};
        addr += (uint64_t)d->frags[i].nob + shape->gap;
        left -= d->frags[i].nob;
    }
    return put_guards(d) ? 0 : -EFAULT;
}

void selftest_data_free(struct selftest_data *d)
{
    if (d->pages)
        d->ops->pages_free(d->ctx, d->pages, d->pages_bytes);
    d->pages = d->pages_bytes = 0;
}

static bool write_all(const struct selftest_data *d, uint64_t seed, uint64_t mask)
{
    uint8_t page[PAGE_BYTES];
    uint32_t at = 0;

    for (uint32_t i = 0; i < d->n; i++) {
        const struct lnet_frag *f = &d->frags[i];

        for (uint32_t done = 0; done < f->nob;) {
            const uint32_t n = min_u32(f->nob - done, PAGE_BYTES);

            pattern(seed, at, mask, page, n);
            if (!d->ops->write(d->ctx, f->addr + done, page, n))
                return false;
            done += n;
            at += n;
        }
    }
    return true;
}

bool selftest_data_fill(const struct selftest_data *d, uint64_t seed)
{
    return write_all(d, seed, 0);
}

bool selftest_data_spoil(const struct selftest_data *d, uint64_t seed)
{
    return write_all(d, seed, UINT64_MAX);
}

/* Compares the @n bytes at @addr, whose offset in the data is @at. */
static bool compare(const struct selftest_data *d, uint64_t seed, uint64_t addr, uint32_t at,
                    uint32_t n, struct selftest_bad *bad)
{
    uint8_t want[PAGE_BYTES], found[PAGE_BYTES];

    pattern(seed, at, 0, want, n);
    if (!d->ops->read(d->ctx, addr, found, n))
        return false;
    if (memcmp(want, found, n) == 0)
        return true;
    for (uint32_t i = 0; i < n; i++) {
        if (want[i] != found[i] && bad->n++ == 0)
            bad->at = at + i;
    }
    return true;
}

bool selftest_data_check(const struct selftest_data *d, uint64_t seed, struct selftest_bad *ret)
{
    uint32_t at = 0;

    *ret = (struct selftest_bad){0};
    for (uint32_t i = 0; i < d->n; i++) {
        const struct lnet_frag *f = &d->frags[i];
        const uint64_t end = f->addr + f->nob;

        if (i == 0 && !check_guard(d, f->addr - GUARD_BYTES, GUARD_BYTES, 0, ret))
            return false;
        for (uint32_t done = 0; done < f->nob;) {
            const uint32_t n = min_u32(f->nob - done, PAGE_BYTES);

            if (!compare(d, seed, f->addr + done, at, n, ret))
                return false;
            done += n;
            at += n;
        }
        if (!check_guard(d, end, room_behind(d, i), at - 1, ret))
            return false;
    }
    return true;
}
