/* SPDX-License-Identifier: MIT */
#include "emu/facts/findings.h"

#include "emu/base/assert.h"
#include "emu/facts/enum_table.h"

const struct finding_row finding_rows[FIND_COUNT] = {
#define FINDING(name, severity, holds, says, cause, effect, next)                                  \
    {#name, FINDING_##severity, holds, says, cause, effect, next},
#include "emu/facts/findings.def"
#undef FINDING
};

static const struct enum_row rows[] = {
#define FINDING(nm, severity, holds, says, cause, effect, next) {#nm, FIND_##nm, holds},
#include "emu/facts/findings.def"
#undef FINDING
};
const struct enum_table enum_finding = {"finding", "finding in a capture", rows, ARRAY_LEN(rows)};
