/* SPDX-License-Identifier: MIT */
#include "cli/live/exec_names.h"

#include <stdio.h>
#include <string.h>

#include "cli/live/exec_client.h"
#include "rdmalab/inspect.h"
#include "rdmalab/verbs.h"

#define GIDS 2u /* addresses of a host */

_Static_assert(EXEC_NAME_BYTES >= RDL_VALUE_BYTES, "the path of each object fits");

enum rdl_status exec_find_host(const struct rdl_lab *lab, const char *name, rdl_host *ret)
{
    return rdl_find_host(lab, name, ret);
}

struct address_search {
    const struct rdl_lab *lab;
    const uint8_t *gid;
    char *host;
};

static void look_at_host(void *ctx, const char *key, const struct rdl_value *v)
{
    const struct address_search *s = ctx;
    uint8_t gid[16], mac[6];
    rdl_host host;

    if (v->type != RDL_NODE || rdl_find_host(s->lab, key, &host) != RDL_OK)
        return;
    for (uint32_t i = 0; i < GIDS; i++) {
        if (rdl_host_address(s->lab, host, i, gid, mac) == RDL_OK &&
            memcmp(gid, s->gid, sizeof(gid)) == 0)
            snprintf(s->host, RDL_NAME_BYTES, "%s", key);
    }
}

bool exec_name_of_host(const struct rdl_lab *lab, const uint8_t gid[16], char ret[RDL_NAME_BYTES])
{
    struct address_search s = {lab, gid, ret};
    size_t at;

    ret[0] = 0;
    return rdl_inspect_list(lab, "", look_at_host, &s, &at) == RDL_OK && ret[0];
}

void exec_name_of_object(const struct rdl_lab *lab, enum program_kind kind, uint64_t handle,
                         char ret[EXEC_NAME_BYTES])
{
    rdl_path_of(lab, exec_object_of(kind), handle, ret);
}
