/* SPDX-License-Identifier: MIT */
#include "emu/facts/refusal.h"

#include <errno.h>

#include "emu/base/assert.h"
#include "emu/facts/enum_table.h"

static const struct enum_row rows[] = {
#define REFUSAL(nm, number, kind, lead, tail, form, txt) {#nm, (number), (txt)},
#include "emu/facts/refusals.def"
#undef REFUSAL
};
const struct enum_table enum_refusal = {"refusal", "reason to refuse a control request", rows,
                                        ARRAY_LEN(rows)};

static const struct {
    enum refusal_reason why;
    enum refusal_kind kind;
} kinds[] = {
#define REFUSAL(nm, number, kind, lead, tail, form, txt) {REF_##nm, RFK_##kind},
#include "emu/facts/refusals.def"
#undef REFUSAL
};

enum refusal_kind refusal_kind(enum refusal_reason why)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (kinds[i].why == why)
            return kinds[i].kind;
    }
    assert_fail("every reason has a row", __FILE__, __LINE__);
}

int refusal_errno(enum refusal_kind kind)
{
    static const int errnos[] = {
        [RFK_NONE] = 0,
        [RFK_UNKNOWN] = ENOSYS,
        [RFK_NO_OBJECT] = ENOENT,
        [RFK_BUSY] = EBUSY,
        [RFK_NO_ROOM] = ENOMEM,
        [RFK_INVALID] = EINVAL,
        [RFK_UNSUPPORTED] = EOPNOTSUPP,
    };

    return errnos[kind];
}
