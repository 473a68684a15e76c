/* SPDX-License-Identifier: MIT */
#include "cli/programs/pingpong_data.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u /* on the original's machine */
#define MARK_AT    1u    /* offset in each page, after the zero */
#define MARK_BYTES 4u

bool pingpong_data_init(struct pingpong_data *d, size_t bytes)
{
    *d = (struct pingpong_data){.bytes = bytes, .want = malloc(bytes), .got = malloc(bytes)};
    if (!d->want || !d->got) {
        pingpong_data_done(d);
        return false;
    }
    for (size_t k = 0; k < bytes; k++)
        d->want[k] = k % PAGE_BYTES == 0 ? 0 : (uint8_t)(k * 31u + k / 251u);
    return true;
}

void pingpong_data_done(struct pingpong_data *d)
{
    free(d->want);
    free(d->got);
    *d = (struct pingpong_data){0};
}

void pingpong_data_mark(struct pingpong_data *d, uint32_t i)
{
    for (size_t page = 0; page < d->bytes; page += PAGE_BYTES) {
        for (size_t k = 0; k < MARK_BYTES && page + MARK_AT + k < d->bytes; k++)
            d->want[page + MARK_AT + k] = (uint8_t)(i >> (8 * k));
    }
    d->marked = true;
}

static size_t first_difference(const struct pingpong_data *d)
{
    size_t at = 0;

    while (at < d->bytes && d->want[at] == d->got[at])
        at++;
    return at;
}

bool pingpong_data_take(struct pingpong_data *d, bool is_server, size_t *reterr_at)
{
    const uint32_t i = d->n_taken++;

    if (is_server && (i == 0 || d->marked))
        pingpong_data_mark(d, i);
    if (memcmp(d->want, d->got, d->bytes) == 0)
        return true;
    if (is_server && i == 0) { /* the client does not mark its messages */
        d->marked = false;
        memcpy(d->want, d->got, d->bytes);
        return true;
    }
    *reterr_at = first_difference(d);
    return false;
}
