/* SPDX-License-Identifier: MIT */
#include "capture/unpack.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "emu/base/assert.h"

#define IN_BYTES    65536u
#define GZIP_WINDOW (15 + 16) /* the largest window; only the format of gzip */
#define MAGIC_BYTES 2u

struct unpack {
    FILE *f;
    bool is_packed, is_over, was_cut;
    const char *wrong;
    size_t at, n; /* the bytes at .. n of @in are not taken yet */
    z_stream z;
    uint8_t in[IN_BYTES];
};

/* Reads more of the file behind what is left in @in.  Returns false at the end of the file. */
static bool refill(struct unpack *u)
{
    size_t got;

    memmove(u->in, u->in + u->at, u->n - u->at);
    u->n -= u->at;
    u->at = 0;
    got = fread(u->in + u->n, 1, IN_BYTES - u->n, u->f);
    u->n += got;
    return got > 0;
}

/* Returns true if a packed member begins at @at. */
static bool is_member(struct unpack *u)
{
    while (u->n - u->at < MAGIC_BYTES && refill(u)) {
    }
    return u->n - u->at >= MAGIC_BYTES && u->in[u->at] == 0x1f && u->in[u->at + 1] == 0x8b;
}

struct unpack *unpack_new(FILE *f)
{
    struct unpack *u = calloc(1, sizeof(*u));

    if (!u)
        return NULL;
    u->f = f;
    u->is_packed = is_member(u);
    if (u->is_packed && inflateInit2(&u->z, GZIP_WINDOW) != Z_OK) {
        free(u);
        return NULL;
    }
    return u;
}

void unpack_free(struct unpack *u)
{
    if (u && u->is_packed)
        inflateEnd(&u->z);
    free(u);
}

static size_t read_plain(struct unpack *u, uint8_t *to, size_t n)
{
    const size_t kept = u->n - u->at < n ? u->n - u->at : n;

    memcpy(to, u->in + u->at, kept);
    u->at += kept;
    return kept + (kept < n ? fread(to + kept, 1, n - kept, u->f) : 0);
}

/* Unpacks as much as fits.  Sets @is_over when nothing follows, or something is wrong. */
static void unpack_some(struct unpack *u)
{
    int result;

    if (u->at == u->n && !refill(u)) {
        u->is_over = u->was_cut = true;
        return;
    }
    u->z.next_in = u->in + u->at;
    u->z.avail_in = (uInt)(u->n - u->at);
    result = inflate(&u->z, Z_NO_FLUSH);
    u->at = u->n - u->z.avail_in;
    if (result == Z_STREAM_END) {
        u->is_over = !is_member(u);
        if (!u->is_over)
            inflateReset(&u->z);
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
        u->is_over = true;
        u->wrong = result == Z_MEM_ERROR ? "there is not enough memory to unpack the file"
                                         : "the file is packed by gzip, and its bytes are damaged";
    }
}

size_t unpack_read(struct unpack *u, void *to, size_t n)
{
    if (!u->is_packed)
        return read_plain(u, to, n);
    u->z.next_out = to;
    u->z.avail_out = (uInt)n;
    while (u->z.avail_out > 0 && !u->is_over)
        unpack_some(u);
    return n - u->z.avail_out;
}

const char *unpack_wrong(const struct unpack *u)
{
    return u->wrong;
}

bool unpack_was_cut(const struct unpack *u)
{
    return u->was_cut;
}

const char *unpack_other_packer(const void *head, size_t n)
{
    static const struct {
        uint8_t magic[4], n;
        const char *name;
    } rows[] = {
        {{0xfd, '7', 'z', 'X'}, 4, "xz"}, {{0x28, 0xb5, 0x2f, 0xfd}, 4, "zstd"},
        {{'B', 'Z', 'h'}, 3, "bzip2"},    {{0x04, 0x22, 0x4d, 0x18}, 4, "lz4"},
        {{'P', 'K', 3, 4}, 4, "zip"},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (n >= rows[i].n && memcmp(head, rows[i].magic, rows[i].n) == 0)
            return rows[i].name;
    }
    return NULL;
}
