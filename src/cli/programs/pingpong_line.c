/* SPDX-License-Identifier: MIT */
/* The addresses that both sides of a pingpong exchange: the format on the wire, and the one for
 * people.
 */
#include <string.h>

#include "cli/programs/pingpong.h"
#include "emu/base/text.h"
#include "emu/wire/addr.h"

void pingpong_print_side(const struct pingpong *p, uint32_t i, bool local)
{
    const struct pingpong_end *e = &p->ends[i];
    const uint8_t *gid = local ? p->gid : e->remote_gid;
    char buf[ADDR_TEXT_MAX];
    struct text t = text_on(buf, sizeof(buf));

    if (gid_is_ipv4(gid))
        text_add(&t, "::ffff:");
    addr_add(&t, gid);
    fprintf(p->out, "  %-15s LID 0x0000, QPN 0x%06x, PSN 0x%06x%c GID %s\n",
            local ? "local address: " : "remote address:", local ? e->qpn : e->remote_qpn,
            local ? p->config.psn : e->remote_psn, local ? p->config.kind->before_gid : ',', buf);
}

void pingpong_line(const struct pingpong *p, uint32_t i, char ret[PINGPONG_LINE_BYTES])
{
    static const uint8_t no_gid[16];
    const bool used = i < p->config.n_qp;
    const uint8_t *gid = used ? p->gid : no_gid;
    struct text t = text_on(ret, PINGPONG_LINE_BYTES);

    text_addf(&t, "%04x:%06x:%06x:", 0u, used ? p->ends[i].qpn : 0, used ? p->config.psn : 0);
    for (size_t k = 0; k < sizeof(no_gid); k++)
        text_addf(&t, "%02x", gid[k]);
}

/* Parses @n hexadecimal digits at @s.  Returns false if they are invalid. */
static bool hex(const char *s, size_t n, uint32_t *ret)
{
    uint32_t v = 0;

    for (size_t i = 0; i < n; i++) {
        const char c = s[i];

        if (c >= '0' && c <= '9')
            v = v << 4 | (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            v = v << 4 | (uint32_t)(c - 'a' + 10);
        else
            return false;
    }
    *ret = v;
    return true;
}

bool pingpong_remote(struct pingpong *p, uint32_t i, const char line[PINGPONG_LINE_BYTES])
{
    struct pingpong_end e = {0};
    uint32_t lid, byte;
    bool ok = hex(line, 4, &lid) && line[4] == ':' && hex(line + 5, 6, &e.remote_qpn) &&
              line[11] == ':' && hex(line + 12, 6, &e.remote_psn) && line[18] == ':';

    for (size_t k = 0; k < sizeof(e.remote_gid) && ok; k++) {
        ok = hex(line + 19 + 2 * k, 2, &byte);
        e.remote_gid[k] = ok ? (uint8_t)byte : 0;
    }
    if (!ok) {
        pingpong_fail(p, "the other side does not speak the protocol of the pingpongs");
        return false;
    }
    if (i < p->config.n_qp) {
        p->ends[i].remote_qpn = e.remote_qpn;
        p->ends[i].remote_psn = e.remote_psn;
        memcpy(p->ends[i].remote_gid, e.remote_gid, sizeof(e.remote_gid));
        pingpong_print_side(p, i, false);
    }
    if (i + 1 == p->config.kind->n_lines)
        p->state = PP_RTR;
    return true;
}
