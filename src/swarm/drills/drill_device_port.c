/* SPDX-License-Identifier: MIT */
/* The drill of the device: the port, its tables of GIDs and P_Keys, limits that change, and
 * requests that are no structure of the RFC.
 */
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/async_event.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/virtio/feature.h"
#include "rdmalab/control.h"
#include "swarm/drills/drill_device.h"

/* States of a port.  [libibverbs, enum ibv_port_state; ibv_query_port(3)] */
#define PORT_DOWN     1u
#define PORT_ACTIVE   4u
#define PHYS_DISABLED 3u
#define PHYS_LINK_UP  5u

uint32_t device_active_mtu(const struct drill_device *s)
{
    const uint32_t carried = mtu_within(s->mtu - ROCE_HEADERS_MAX);

    return carried < s->device_mtu ? carried : s->device_mtu;
}

/* --- The port --------------------------------------------------------------------------------- */

static void check_port(struct drill *d)
{
    const struct drill_device *s = d->own;
    const struct rfc_query_port q = {.port = 1};
    const uint32_t longest = s->profile == PROFILE_rxe ? 8u << 20 : 1u << 31;
    struct raw_port_attr raw;
    struct rfc_port_attr p;

    if (!ask_query_port(d, CMD_QUERY_PORT, &q, REF_NONE, &raw, sizeof(raw)))
        return;
    rfc_port_attr_get(&p, &raw);
    if (!drill_expect(d,
                      p.state == (s->is_up ? PORT_ACTIVE : PORT_DOWN) &&
                          p.phys_state == (s->is_up ? PHYS_LINK_UP : PHYS_DISABLED),
                      "a port is active while its link is up, and otherwise down",
                      "state %u, physical state %u, the link is %s", p.state, p.phys_state,
                      s->is_up ? "up" : "down"))
        return;
    if (!drill_expect(d,
                      p.max_mtu == s->device_mtu && p.active_mtu == device_active_mtu(s) &&
                          p.phys_mtu == s->mtu,
                      "the path MTU of a port fits its device and its Ethernet",
                      "%u, active %u, of %u bytes", p.max_mtu, p.active_mtu, p.phys_mtu))
        return;
    drill_expect(d,
                 p.gid_tbl_len == DEVICE_GIDS && p.pkey_tbl_len == s->n_pkeys &&
                     p.max_msg_sz == longest && p.bad_pkey_cntr == 0 && p.qkey_viol_cntr == 0,
                 "a port tells the sizes of its tables, and counts what it dropped",
                 "%u GIDs, %u P_Keys, %u bytes, %u and %u dropped", p.gid_tbl_len, p.pkey_tbl_len,
                 p.max_msg_sz, p.bad_pkey_cntr, p.qkey_viol_cntr);
}

void device_step_port(struct drill *d)
{
    struct drill_device *s = d->own;
    const bool up = drill_below(d, 2) > 0, changes = up != s->is_up;

    if (drill_one_in(d, 6)) {
        const struct rfc_query_port q = {
            .port = (uint8_t)(drill_one_in(d, 2) ? 0 : 2 + drill_below(d, 254))};

        (void)ask_query_port(d, CMD_QUERY_PORT, &q, REF_PORT_NUMBER, NULL, 0);
        return;
    }
    drill_say(d, "set link h1-h2 %s", up ? "up" : "down");
    if (!drill_works(d, rdl_link_raise(d->lab, s->link, up), "a link can go up and down") ||
        !drill_settle(d))
        return;
    s->is_up = up;
    if (device_event(d, changes, up ? ASE_PORT_ACTIVE : ASE_PORT_ERR))
        check_port(d);
}

void device_step_pkey(struct drill *d)
{
    const struct drill_device *s = d->own;
    struct rfc_query_pkey q = {.port = 1, .index = (uint16_t)drill_below(d, s->n_pkeys)};
    uint32_t why = REF_NONE;
    struct raw_pkey raw;
    struct rfc_pkey p;

    if (drill_one_in(d, 4)) {
        q.index = (uint16_t)(drill_one_in(d, 2) ? s->n_pkeys : 0xffffu - drill_below(d, 4));
        why = REF_PKEY_INDEX;
    } else if (drill_one_in(d, 4)) {
        q.port = drill_one_in(d, 2) ? 0 : device_draw_above(d, 1);
        why = REF_PORT_NUMBER;
    }
    if (!ask_query_pkey(d, CMD_QUERY_PKEY, &q, why, &raw, sizeof(raw)) || why)
        return;
    rfc_pkey_get(&p, &raw);
    drill_expect(d, p.pkey == s->pkeys[q.index], "a P_Key is the one of its index",
                 "0x%04x, not 0x%04x", p.pkey, s->pkeys[q.index]);
}

/* --- GIDs ------------------------------------------------------------------------------------- */

static void draw_gid(struct drill *d, uint8_t gid[DEVICE_GID])
{
    memset(gid, 0, DEVICE_GID);
    if (drill_one_in(d, 2)) {
        gid[10] = gid[11] = 0xff;
        st_be32(gid + 12, 0x0a010000u + drill_below(d, 4));
    } else {
        gid[0] = 0xfd;
        gid[DEVICE_GID - 1] = (uint8_t)drill_below(d, 4);
    }
}

static uint32_t spoil_gid(struct drill *d, struct rfc_add_gid *a)
{
    switch (drill_below(d, 10)) {
    case 0:
        a->index = (uint16_t)(drill_one_in(d, 2) ? DEVICE_GIDS : 0xffffu);
        return REF_GID_INDEX;
    case 1:
        a->gid_type = drill_one_in(d, 2) ? drill_below(d, 2) : device_draw_above(d, 2);
        return REF_GID_TYPE;
    case 2:
        a->port_num = drill_one_in(d, 2) ? 0 : device_draw_above(d, 1);
        return REF_PORT_NUMBER;
    case 3:
        memset(a->gid, 0, sizeof(a->gid));
        return REF_GID_ADDRESS;
    case 4:
        a->gid[0] = 0xff;
        return REF_GID_ADDRESS;
    default:
        return REF_NONE;
    }
}

static void add_gid(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rfc_add_gid a = {.gid_type = GID_TYPE_ROCE_V2,
                            .index = (uint16_t)drill_below(d, DEVICE_GIDS),
                            .port_num = 1};
    const struct device_gid was = s->gid[a.index];
    struct device_gid *g = &s->gid[a.index];
    uint32_t why;
    bool changes;

    if (was.is_valid && drill_one_in(d, 3))
        memcpy(a.gid, was.raw, DEVICE_GID);
    else
        draw_gid(d, a.gid);
    why = spoil_gid(d, &a);
    changes = !was.is_valid || memcmp(was.raw, a.gid, DEVICE_GID) != 0;
    if (!why && changes && device_gid_is_source(s, a.index))
        why = REF_GID_IN_USE;
    if (!ask_add_gid(d, CMD_ADD_GID, &a, why, NULL, 0))
        return;
    if (!why) {
        g->is_valid = true;
        memcpy(g->raw, a.gid, DEVICE_GID);
    }
    (void)device_event(d, !why && changes, ASE_GID_CHANGE);
}

void device_step_gid(struct drill *d)
{
    struct drill_device *s = d->own;
    struct rfc_del_gid r = {.index = (uint16_t)drill_below(d, DEVICE_GIDS), .port = 1};
    uint32_t why = REF_NONE, n = 0;
    bool changes;

    for (uint32_t i = 0; i < DEVICE_GIDS; i++)
        n += s->gid[i].is_valid;
    if (n == 1 || drill_below(d, 3) > 0) { /* one stays: queue pairs need a source */
        add_gid(d);
        return;
    }
    changes = s->gid[r.index].is_valid;
    if (drill_one_in(d, 6)) {
        r.index = (uint16_t)(drill_one_in(d, 2) ? DEVICE_GIDS : 0xffffu);
        why = REF_GID_INDEX;
    } else if (drill_one_in(d, 6)) {
        r.port = drill_one_in(d, 2) ? 0 : device_draw_above(d, 1);
        why = REF_PORT_NUMBER;
    } else if (device_gid_is_source(s, r.index)) {
        why = REF_GID_IN_USE;
    }
    if (!ask_del_gid(d, CMD_DEL_GID, &r, why, NULL, 0))
        return;
    if (!why)
        s->gid[r.index].is_valid = false;
    (void)device_event(d, !why && changes, ASE_GID_CHANGE);
}

/* --- Limits ----------------------------------------------------------------------------------- */

/* Changes one limit: objects that exist stay, and later requests are held to the new one. */
void device_step_limits(struct drill *d)
{
    struct drill_device *s = d->own;
    const struct {
        uint32_t *now, built;
        const char *name;
        size_t offset;
    } limits[] = {
#define LIMIT(name) {&s->now.name, s->built.name, #name, offsetof(struct rdl_device_limits, name)}
        LIMIT(max_qp_wr),
        LIMIT(max_cqe),
        LIMIT(max_mr),
        LIMIT(max_pd),
        LIMIT(max_mw),
        LIMIT(max_qp_init_rd_atom),
        LIMIT(max_mcast_grp),
        LIMIT(max_mcast_qp_attach),
        LIMIT(max_total_mcast_qp_attach),
        LIMIT(max_fast_reg_page_list_len),
#undef LIMIT
    };
    const uint32_t i = drill_below(d, (uint32_t)ARRAY_LEN(limits));
    const uint32_t to = device_draw(d, 1, limits[i].built);
    struct rdl_device_limits l = {0};

    memcpy((uint8_t *)&l + limits[i].offset, &to, sizeof(to));
    drill_say(d, "limit h1 %s=%u", limits[i].name, to);
    if (drill_works(d, rdl_host_limit(d->lab, s->host[0], &l), "a limit can change") &&
        drill_settle(d))
        *limits[i].now = to;
}

/* --- Requests of a wrong form ----------------------------------------------------------------- */

/* Lists the commands that the device of this drill has.  Returns how many there are. */
static uint32_t list_commands(const struct drill_device *s, uint8_t ret[UINT8_MAX])
{
    static const struct {
        uint8_t number;
        uint32_t feature;
    } rows[] = {
#define CONTROL(nm, name, number, feature, ...) {CMD_##nm, feature},
#include "emu/facts/controls.def"
#undef CONTROL
    };
    uint32_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (!(VIRTIO_FEATURE(rows[i].feature) & RDMA_EXTENSIONS & ~s->extensions))
            ret[n++] = rows[i].number;
    }
    return n;
}

/* Sends a command that does not exist, or one without the last byte of its structure. */
void device_step_malformed(struct drill *d)
{
    static const uint8_t zeros[RDL_CONTROL_BYTES_MAX];
    uint8_t commands[UINT8_MAX];
    const uint32_t n = list_commands(d->own, commands);
    const uint32_t command = commands[drill_below(d, n)];
    const size_t bytes = rfc_bytes(rfc_ctrl(command)->request);
    uint32_t unknown = drill_below(d, 256);

    if (bytes > 0 && drill_one_in(d, 2)) {
        (void)device_ask(d, &(struct device_request){command, zeros, bytes - 1}, REF_REQUEST_BYTES,
                         NULL, 0);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (unknown == commands[i])
            unknown = 0xff;
    }
    (void)device_ask(d, &(struct device_request){unknown, zeros, drill_below(d, 9)},
                     REF_COMMAND_UNKNOWN, NULL, 0);
}
