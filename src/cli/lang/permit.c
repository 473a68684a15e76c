/* SPDX-License-Identifier: MIT */
#include "cli/lang/permit.h"

#include <string.h>

#include "emu/base/assert.h"

static const struct {
    const char *word, *may;
} permits[N_PERMITS] = {
#define PERMIT_ROW(id, word, may) [PERMIT_##id] = {word, may},
    PERMITS(PERMIT_ROW)
#undef PERMIT_ROW
};

static const struct {
    enum permit permit;
    const char *asks;
} openings[N_OPENINGS] = {
#define OPENING_ROW(id, permit, asks) [OPENS_##id] = {PERMIT_##permit, asks},
    OPENINGS(OPENING_ROW)
#undef OPENING_ROW
};

const char *permit_word(enum permit p)
{
    return permits[p].word;
}

const char *permit_may(enum permit p)
{
    return permits[p].may;
}

enum permit opening_permit(enum opening o)
{
    RDL_ASSERT(o != OPENS_NOTHING);
    return openings[o].permit;
}

const char *opening_asks(enum opening o)
{
    RDL_ASSERT(o != OPENS_NOTHING);
    return openings[o].asks;
}

bool permit_parse(const char *text, unsigned *ret, size_t *reterr_at, size_t *reterr_len)
{
    unsigned set = 0;

    for (const char *word = text;; word++) {
        const size_t n = strcspn(word, ",");
        unsigned found = 0;

        for (unsigned p = 0; p < N_PERMITS; p++) {
            if (strlen(permits[p].word) == n && strncmp(permits[p].word, word, n) == 0)
                found = 1u << p;
        }
        if (!found) {
            *reterr_at = (size_t)(word - text);
            *reterr_len = n;
            return false;
        }
        set |= found;
        word += n;
        if (*word == '\0')
            break;
    }
    *ret |= set;
    return true;
}
