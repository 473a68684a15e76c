/* SPDX-License-Identifier: MIT */
/* Texts of the status codes, from status.def. */
#include "rdmalab/status.h"

static const struct {
    const char *name, *text, *remedy;
} rows[] = {
#define X(name, text, remedy) {#name, text, remedy},
#include "rdmalab/status.def"
#undef X
};

static unsigned row_of(enum rdl_status st)
{
    return (unsigned)st < RDL_STATUS_COUNT ? (unsigned)st : RDL_STATUS_COUNT;
}

const char *rdl_status_str(enum rdl_status st)
{
    const unsigned i = row_of(st);

    return i < RDL_STATUS_COUNT ? rows[i].text : "unknown status";
}

const char *rdl_status_name(enum rdl_status st)
{
    const unsigned i = row_of(st);

    return i < RDL_STATUS_COUNT ? rows[i].name : "UNKNOWN";
}

const char *rdl_status_remedy(enum rdl_status st)
{
    const unsigned i = row_of(st);

    return i < RDL_STATUS_COUNT ? rows[i].remedy : "";
}
