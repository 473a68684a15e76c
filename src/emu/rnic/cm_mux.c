/* SPDX-License-Identifier: MIT */
#include "emu/rnic/cm_mux.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/op_header.h"
#include "emu/facts/opcode.h"
#include "emu/facts/roce.h"
#include "emu/trace/emit.h"
#include "emu/trace/events/cm.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"

#define NO_GUEST UINT32_MAX

/* Offsets in a MAD and in its body. */
#define ATTR_ID_AT   16u
#define LOCAL_ID_AT  0u
#define REMOTE_ID_AT 4u

/* --- Messages --------------------------------------------------------------------------------- */

enum mux_names { NAMES_GID, NAMES_SERVICE, NAMES_ID, NAMES_REQUEST };

struct mux_rule {
    uint32_t message; /* enum cm_message */
    enum mux_names names;
    enum mux_phase phase;
    bool passes, learns;
};

static const struct mux_rule rules[] = {
#define MUX_RULE(message, named, phase, passes, learns)                                            \
    {CM_##message, NAMES_##named, MUX_##phase, (passes), (learns)},
#include "emu/facts/mux_rules.def"
#undef MUX_RULE
};

static const struct mux_rule *rule_of(uint32_t message)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (rules[i].message == message)
            return &rules[i];
    }
    return NULL;
}

/* Returns true if a message of @r is for the guest with the GID that it names. */
static bool names_gid(const struct mux_rule *r)
{
    return r->names == NAMES_GID || r->names == NAMES_SERVICE;
}

/* Returns the destination address of rdma_cm in the request @body; false: it has none. */
static bool service_address(const struct cm_sidr_req *body, uint8_t ret[GID_BYTES])
{
    struct rdma_cm_header h;

    if (!rdma_cm_has_header(body->service_id))
        return false;
    rdma_cm_parse(&h, body->private_data);
    if (h.ip_version == 4)
        gid_from_ipv4(ret, h.destination + GID_IPV4_AT);
    else
        memcpy(ret, h.destination, GID_BYTES);
    return true;
}

/* Reads the IDs and the GID of the message in the @mad of MAD_BYTES. */
static void read_names(const struct mux_rule *r, const uint8_t *bytes, struct mux_message *ret)
{
    const uint8_t *body = bytes + MAD_HEADER_BYTES;
    struct mad mad;

    ret->local_id = r->names == NAMES_REQUEST ? 0 : ld_be32(body + LOCAL_ID_AT);
    ret->remote_id = r->names == NAMES_REQUEST ? ld_be32(body + LOCAL_ID_AT) : 0;
    if (r->names == NAMES_ID)
        ret->remote_id = ld_be32(body + REMOTE_ID_AT);
    if (!mad_parse(&mad, bytes))
        return;
    if (r->names == NAMES_GID) {
        memcpy(ret->gid, mad.u.req.remote_gid, GID_BYTES);
        ret->has_gid = true;
    } else if (r->names == NAMES_SERVICE) {
        ret->has_gid = service_address(&mad.u.sidr_req, ret->gid);
    }
}

bool cm_mux_read(const uint8_t *frame, size_t len, struct mux_message *ret)
{
    const struct mux_rule *r;
    struct packet p;

    if (packet_parse(&p, frame, len) != DROP_NONE || p.bth.dest_qpn != QPN_GSI ||
        !(p.op->headers & H_DETH) || p.payload_bytes < MAD_BYTES ||
        p.payload[0] != MAD_BASE_VERSION || p.payload[1] != MAD_CLASS_CM ||
        p.payload[2] != MAD_CM_CLASS_VERSION || p.payload[3] != MAD_METHOD_SEND)
        return false;
    r = rule_of(ld_be16(p.payload + ATTR_ID_AT));
    if (!r)
        return false;
    *ret = (struct mux_message){.message = r->message};
    memcpy(ret->src, p.ip.src, GID_BYTES);
    memcpy(ret->dst, p.ip.dst, GID_BYTES);
    read_names(r, p.payload, ret);
    return true;
}

/* --- GIDs ------------------------------------------------------------------------------------- */

static bool is_qemu(const struct cm_mux *m)
{
    return m->profile == MUX_rdmacm_mux;
}

/* rdmacm-mux looks up the low eight bytes, and then again with bytes 2 and 3 of these set, because
 * the address of a service has only the last four bytes of an IPv4 GID.  It registers a GID after
 * the second look.
 */
static bool is_same_gid(const struct cm_mux *m, const uint8_t *a, const uint8_t *b)
{
    if (!is_qemu(m))
        return memcmp(a, b, GID_BYTES) == 0;
    return memcmp(a + 8, b + 8, 2) == 0 && memcmp(a + 12, b + 12, 4) == 0;
}

static struct mux_gid *find_gid(const struct cm_mux *m, const uint8_t gid[GID_BYTES])
{
    for (uint32_t i = 0; i < m->n_gids; i++) {
        if (is_same_gid(m, m->gids[i].gid, gid))
            return &m->gids[i];
    }
    return NULL;
}

bool cm_mux_init(struct cm_mux *m, struct arena *a, struct trace *trace, enum mux_profile profile,
                 uint32_t machine)
{
    *m = (struct cm_mux){.profile = profile,
                         .machine = machine,
                         .trace = trace,
                         .gids = arena_alloc(a, MUX_GIDS_MAX * sizeof(*m->gids)),
                         .ids = arena_alloc(a, MUX_IDS_MAX * sizeof(*m->ids)),
                         .last = NO_GUEST};
    return m->gids && m->ids;
}

/* Returns true if the connection manager of @guest is one of the multiplexer's. */
static bool serves(const struct cm_mux *m, uint32_t guest)
{
    return !is_qemu(m) || guest != m->machine;
}

static enum mux_answer add_gid(struct cm_mux *m, uint32_t guest, const uint8_t gid[GID_BYTES])
{
    const struct mux_gid *known = find_gid(m, gid);

    if (known)
        return known->guest == guest ? MUX_EEXIST : MUX_EACCES;
    if (m->n_gids == MUX_GIDS_MAX)
        return MUX_EINVAL;
    memcpy(m->gids[m->n_gids].gid, gid, GID_BYTES);
    m->gids[m->n_gids++].guest = guest;
    return MUX_OK;
}

static struct ev_addr text_of(const uint8_t gid[GID_BYTES])
{
    char buf[ADDR_TEXT_MAX];

    return ev_addr(addr_text(gid, buf));
}

enum mux_answer cm_mux_register(struct cm_mux *m, uint32_t guest, const uint8_t gid[GID_BYTES],
                                bool *ret_taken)
{
    enum mux_answer answer;

    *ret_taken = true;
    if (!serves(m, guest))
        return MUX_OK;
    answer = add_gid(m, guest, gid);
    *ret_taken = answer == MUX_OK || (answer == MUX_EEXIST && !is_qemu(m));
    *(*ret_taken ? &m->counts.registered : &m->counts.refused) += 1;
    TRACE(m->trace, mux_register, .host = guest, .addr = text_of(gid), .answer = answer);
    return answer;
}

enum mux_answer cm_mux_unregister(struct cm_mux *m, uint32_t guest, const uint8_t gid[GID_BYTES])
{
    struct mux_gid *known = find_gid(m, gid);

    if (!known || known->guest != guest)
        return MUX_ENOTFOUND;
    TRACE(m->trace, mux_unregister, .host = guest, .addr = text_of(gid));
    *known = m->gids[--m->n_gids];
    return MUX_OK;
}

/* --- IDs -------------------------------------------------------------------------------------- */

/* @gid is that of the guest's side.  NULL: the ID is not known. */
static struct mux_id *find_id(const struct cm_mux *m, uint32_t comm_id, const uint8_t *gid)
{
    for (uint32_t i = 0; i < m->n_ids; i++) {
        struct mux_id *id = &m->ids[i];

        if (id->comm_id == comm_id && (is_qemu(m) || memcmp(id->gid, gid, GID_BYTES) == 0))
            return id;
    }
    return NULL;
}

static void forget(struct cm_mux *m, struct mux_id *id)
{
    TRACE(m->trace, mux_forget, .host = id->guest, .comm_id = id->comm_id);
    m->counts.forgotten++;
    *id = m->ids[--m->n_ids];
}

/* Returns how often IDs would age now in addition to m->swept. */
static uint64_t sweeps_due(const struct cm_mux *m, uint64_t now_ns)
{
    return (now_ns - m->heard_ns) / MUX_SWEEP_NS - m->swept;
}

bool cm_mux_knows(const struct cm_mux *m, const struct mux_id *id, uint64_t now_ns)
{
    const uint64_t silent_ns = now_ns - id->last_ns;

    if (is_qemu(m))
        return sweeps_due(m, now_ns) <= id->sweeps;
    return id->phase == MUX_OPEN ||
           silent_ns <= (id->phase == MUX_OPENING ? MUX_OPENING_NS : MUX_CLOSING_NS);
}

uint32_t cm_mux_sweeps(const struct cm_mux *m, const struct mux_id *id, uint64_t now_ns)
{
    const uint64_t due = sweeps_due(m, now_ns);

    return due < id->sweeps ? id->sweeps - (uint32_t)due : 0;
}

/* Forgets the IDs whose time is over. */
static void age(struct cm_mux *m, uint64_t now_ns)
{
    const uint64_t due = is_qemu(m) ? sweeps_due(m, now_ns) : 0;

    for (uint32_t i = m->n_ids; i-- > 0;) {
        if (cm_mux_knows(m, &m->ids[i], now_ns))
            m->ids[i].sweeps -= (uint32_t)due;
        else
            forget(m, &m->ids[i]);
    }
    m->swept += due;
}

/* Returns the place for a new ID. */
static struct mux_id *new_id(struct cm_mux *m)
{
    struct mux_id *oldest = &m->ids[0];

    for (uint32_t i = 1; m->n_ids == MUX_IDS_MAX && i < m->n_ids; i++) {
        if (m->ids[i].last_ns < oldest->last_ns)
            oldest = &m->ids[i];
    }
    if (m->n_ids == MUX_IDS_MAX)
        forget(m, oldest);
    return &m->ids[m->n_ids++];
}

/* A connection that is there goes back to being made only by a new request. */
static void touch(struct mux_id *id, const struct mux_rule *r, uint64_t now_ns)
{
    if (r->phase != MUX_OPENING || id->phase != MUX_OPEN || r->names == NAMES_GID)
        id->phase = r->phase;
    id->last_ns = now_ns;
}

void cm_mux_leave(struct cm_mux *m, uint32_t guest)
{
    for (uint32_t i = m->n_gids; i-- > 0;) {
        if (m->gids[i].guest == guest)
            (void)cm_mux_unregister(m, guest, m->gids[i].gid);
    }
    for (uint32_t i = m->n_ids; i-- > 0;) {
        if (m->ids[i].guest == guest)
            forget(m, &m->ids[i]);
    }
}

void cm_mux_sent(struct cm_mux *m, uint32_t guest, const struct mux_message *msg, uint64_t now_ns)
{
    const struct mux_rule *r = rule_of(msg->message);
    struct mux_id *id;
    bool taken;

    if (!serves(m, guest) || msg->local_id == 0 || (is_qemu(m) && !r->learns))
        return;
    age(m, now_ns);
    id = find_id(m, msg->local_id, msg->src);
    taken = id && id->guest != guest;
    if (!id || taken) {
        m->counts.learnt++;
        m->counts.taken += taken;
        TRACE(m->trace, mux_learn, .host = guest, .message = msg->message, .comm_id = msg->local_id,
              .taken = taken);
    }
    if (!id) {
        id = new_id(m);
        id->phase = r->phase;
    }
    touch(id, r, now_ns);
    id->comm_id = msg->local_id;
    id->guest = guest;
    id->sweeps = MUX_SWEEPS;
    memcpy(id->gid, msg->src, GID_BYTES);
}

/* --- Routes ----------------------------------------------------------------------------------- */

static uint32_t owner_of(const struct cm_mux *m, const uint8_t gid[GID_BYTES])
{
    const struct mux_gid *g = find_gid(m, gid);

    return g ? g->guest : NO_GUEST;
}

/* The guest for a message by the names in it, or NO_GUEST. */
static uint32_t by_names(struct cm_mux *m, const struct mux_rule *r, const struct mux_message *msg,
                         uint64_t now_ns, enum mux_way *ret_way)
{
    struct mux_id *id;

    *ret_way = MUX_BY_GID;
    if (names_gid(r))
        return msg->has_gid ? owner_of(m, msg->gid) : NO_GUEST;
    *ret_way = is_qemu(m) && msg->remote_id == 0 ? MUX_BY_CHANCE : MUX_BY_ID;
    if (*ret_way == MUX_BY_CHANCE)
        return m->last;
    id = msg->remote_id ? find_id(m, msg->remote_id, msg->dst) : NULL;
    if (id && !is_qemu(m))
        touch(id, r, now_ns);
    return id ? id->guest : NO_GUEST;
}

static enum drop_reason refuse(struct cm_mux *m, const struct mux_rule *r)
{
    *(names_gid(r) ? &m->counts.no_gid : &m->counts.no_id) += 1;
    return names_gid(r) ? DROP_MUX_GID : DROP_MUX_ID;
}

enum drop_reason cm_mux_route(struct cm_mux *m, const struct mux_message *msg, uint64_t now_ns,
                              uint32_t *ret)
{
    const struct mux_rule *r = rule_of(msg->message);
    uint32_t guest;
    enum mux_way way;

    age(m, now_ns);
    m->heard_ns = now_ns;
    m->swept = 0;
    if (is_qemu(m) && !r->passes) {
        m->counts.no_message++;
        return DROP_MUX_MESSAGE;
    }
    guest = by_names(m, r, msg, now_ns, &way);
    if (guest == NO_GUEST && !is_qemu(m)) {
        guest = owner_of(m, msg->dst);
        way = MUX_BY_DESTINATION;
    }
    if (guest == NO_GUEST)
        return refuse(m, r);
    m->last = guest;
    m->counts.passed++;
    TRACE(m->trace, mux_route, .host = guest, .message = msg->message, .way = way,
          .comm_id = msg->remote_id);
    *ret = guest;
    return DROP_NONE;
}

const char *cm_mux_invariant(const struct cm_mux *m)
{
    for (uint32_t i = 0; i < m->n_gids; i++) {
        if (find_gid(m, m->gids[i].gid) != &m->gids[i])
            return "a GID is registered at a multiplexer once";
    }
    for (uint32_t i = 0; i < m->n_ids; i++) {
        if (find_id(m, m->ids[i].comm_id, m->ids[i].gid) != &m->ids[i])
            return "a multiplexer knows an ID once";
        if (m->ids[i].sweeps > MUX_SWEEPS || !serves(m, m->ids[i].guest))
            return "IDs at a multiplexer are those of its guests, and age";
    }
    return NULL;
}
