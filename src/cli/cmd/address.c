/* SPDX-License-Identifier: MIT */
#include "cli/cmd/address.h"

#include "cli/session/resolve.h"
#include "emu/wire/addr.h"
#include "rdmalab/inspect.h"

bool address_read(struct session *s, const struct step *st, const char *param,
                  struct rdl_ah_attr *ah)
{
    const struct scope in = session_scope(s);
    const char *text = step_text(st, param);
    rdl_host host;

    if (addr_parse(text, ah->dgid))
        return true;
    if (rdl_find_host(s->lab, text, &host) != RDL_OK) {
        resolve_unknown(&in, step_span(st, param, 0), text, "no host", &s->diag);
        return diag_remedy(&s->diag, "%s= is the name of a host, or an IP address", param);
    }
    if (rdl_host_address(s->lab, host, ah->sgid_index, ah->dgid, ah->dmac) != RDL_OK)
        return session_fail(s, step_span(st, param, 0), "%s has no GID %u", text,
                            (unsigned)ah->sgid_index);
    return true;
}
