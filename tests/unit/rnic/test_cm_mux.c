/* SPDX-License-Identifier: MIT */
/* The multiplexer of connection managers.  A model of each profile follows random registrations,
 * messages and times; it looks through the whole history for each answer.
 */
#include "testing.h"

#include <string.h>

#include "emu/base/prng.h"
#include "emu/facts/enum/cm_message.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/opcode.h"
#include "emu/rnic/cm_mux.h"
#include "emu/sim/sim.h"
#include "emu/wire/mad.h"
#include "emu/wire/packet.h"
#include "emu/wire/parse.h"

#define GUESTS    4u /* guest 0 is the machine */
#define SECOND    UINT64_C(1000000000)
#define HISTORY   600u
#define N_GIDS    10u
#define N_IDS     5u
#define NOBODY    UINT32_MAX
#define N_MESSAGE ARRAY_LEN(messages)

static const uint32_t messages[] = {CM_REQ,  CM_MRA,      CM_REJ,      CM_REP, CM_RTU, CM_DREQ,
                                    CM_DREP, CM_SIDR_REQ, CM_SIDR_REP, CM_LAP, CM_APR};

/* Some share their low eight bytes, or all of these but bytes 2 and 3. */
static const char *const gid_texts[N_GIDS] = {
    "10.0.0.1",    "10.0.0.2",  "10.0.0.3",        "fe80::1",        "fd00::1",
    "fd00::a00:2", "fd00:1::1", "fe80::ff:fe00:3", "fe80::0:fe00:3", "fd00::4"};

struct bench {
    struct arena *arena;
    struct trace trace;
    struct trace_sinks sinks;
    struct cm_mux mux;
    uint8_t gid[N_GIDS][GID_BYTES];
};

static int set_up_of(void **state, enum mux_profile profile)
{
    struct bench *b = test_calloc(1, sizeof(*b));

    b->arena = arena_new((size_t)1 << 26);
    b->trace.sinks = &b->sinks;
    assert_true(cm_mux_init(&b->mux, b->arena, &b->trace, profile, 0));
    for (uint32_t i = 0; i < N_GIDS; i++)
        assert_true(addr_parse(gid_texts[i], b->gid[i]));
    *state = b;
    return 0;
}

static int set_up_full(void **state)
{
    return set_up_of(state, MUX_full);
}

static int set_up_qemu(void **state)
{
    return set_up_of(state, MUX_rdmacm_mux);
}

static int tear_down(void **state)
{
    struct bench *b = *state;

    assert_null(cm_mux_invariant(&b->mux));
    arena_free(b->arena);
    test_free(b);
    return 0;
}

static enum mux_answer add(struct bench *b, uint32_t guest, uint32_t gid, bool *taken)
{
    return cm_mux_register(&b->mux, guest, b->gid[gid], taken);
}

static struct mux_message message(const struct bench *b, uint32_t what, uint32_t src, uint32_t dst,
                                  uint32_t local, uint32_t remote)
{
    struct mux_message m = {.message = what, .local_id = local, .remote_id = remote};

    memcpy(m.src, b->gid[src], GID_BYTES);
    memcpy(m.dst, b->gid[dst], GID_BYTES);
    if (what == CM_REQ || what == CM_SIDR_REQ) {
        memcpy(m.gid, b->gid[dst], GID_BYTES);
        m.has_gid = true;
    }
    return m;
}

static void sends(struct bench *b, uint32_t guest, uint32_t what, uint32_t src, uint32_t id,
                  uint64_t at_ns)
{
    const struct mux_message m = message(b, what, src, N_GIDS - 1, id, 0x77);

    cm_mux_sent(&b->mux, guest, &m, at_ns);
}

/* Returns the guest that gets a message, or NOBODY with *@reason. */
static uint32_t receiver(struct bench *b, uint32_t what, uint32_t dst, uint32_t id, uint64_t at_ns,
                         enum drop_reason *reason)
{
    const struct mux_message m = message(b, what, N_GIDS - 1, dst, 0x88, id);
    uint32_t guest = NOBODY;

    *reason = cm_mux_route(&b->mux, &m, at_ns, &guest);
    return guest;
}

/* --- Rules ------------------------------------------------------------------------------------ */

static void a_gid_is_of_one_guest(void **state)
{
    struct bench *b = *state;
    bool taken;

    assert_int_equal(add(b, 1, 0, &taken), MUX_OK);
    assert_true(taken);
    assert_int_equal(add(b, 2, 0, &taken), MUX_EACCES);
    assert_false(taken);
    assert_int_equal(add(b, 1, 0, &taken), MUX_EEXIST);
    assert_int_equal(taken, b->mux.profile == MUX_full);
    assert_int_equal(cm_mux_unregister(&b->mux, 2, b->gid[0]), MUX_ENOTFOUND);
    assert_int_equal(cm_mux_unregister(&b->mux, 1, b->gid[0]), MUX_OK);
    assert_int_equal(add(b, 2, 0, &taken), MUX_OK);
}

static void a_full_table_refuses(void **state)
{
    struct bench *b = *state;
    uint8_t gid[GID_BYTES] = {0xfd};
    bool taken;

    for (uint32_t i = 0; i < MUX_GIDS_MAX; i++) {
        gid[14] = (uint8_t)(i >> 8);
        gid[15] = (uint8_t)i;
        assert_int_equal(cm_mux_register(&b->mux, 1, gid, &taken), MUX_OK);
    }
    assert_int_equal(add(b, 1, 0, &taken), MUX_EINVAL);
    assert_false(taken);
    cm_mux_leave(&b->mux, 1);
    assert_int_equal(b->mux.n_gids, 0);
}

/* 10.0.0.2 and fd00::a00:2 end in the same eight bytes but for two that do not count. */
static void qemu_knows_half_a_gid(void **state)
{
    struct bench *b = *state;
    enum drop_reason reason;
    bool taken;

    assert_int_equal(add(b, 1, 1, &taken), MUX_OK);
    assert_int_equal(add(b, 2, 5, &taken), b->mux.profile == MUX_full ? MUX_OK : MUX_EACCES);
    assert_int_equal(receiver(b, CM_REQ, 5, 0, 0, &reason), b->mux.profile == MUX_full ? 2 : 1);
}

static void the_machine_of_qemu_has_no_connection_manager(void **state)
{
    const bool full = ((struct bench *)*state)->mux.profile == MUX_full;
    struct bench *b = *state;
    enum drop_reason reason;
    bool taken;

    assert_int_equal(add(b, 0, 0, &taken), MUX_OK);
    assert_int_equal(receiver(b, CM_REQ, 0, 0, 0, &reason), full ? 0 : NOBODY);
    assert_int_equal(reason, full ? DROP_NONE : DROP_MUX_GID);
    sends(b, 0, CM_REQ, 0, 5, 0);
    assert_int_equal(receiver(b, CM_REP, 0, 5, 0, &reason), full ? 0 : NOBODY);
    assert_int_equal(reason, full ? DROP_NONE : DROP_MUX_ID);
}

static void qemu_passes_no_mra(void **state)
{
    static const uint32_t what[] = {CM_MRA, CM_LAP, CM_APR};
    const bool full = ((struct bench *)*state)->mux.profile == MUX_full;
    struct bench *b = *state;

    sends(b, 2, CM_REQ, 0, 5, 0);
    for (size_t i = 0; i < ARRAY_LEN(what); i++) {
        enum drop_reason reason;

        assert_int_equal(receiver(b, what[i], 0, 5, 0, &reason), full ? 2 : NOBODY);
        assert_int_equal(reason, full ? DROP_NONE : DROP_MUX_MESSAGE);
    }
    assert_int_equal(b->mux.counts.no_message, full ? 0 : 3);
}

static void qemu_forgets_at_the_third_sweep(void **state)
{
    struct bench *b = *state;
    enum drop_reason reason;

    sends(b, 2, CM_REP, 0, 5, 0);
    assert_int_equal(receiver(b, CM_RTU, 0, 5, 15 * SECOND - 1, &reason), 2);
    /* That message restarts the silence, but two sweeps are used up. */
    assert_int_equal(receiver(b, CM_DREQ, 0, 5, 20 * SECOND - 2, &reason), 2);
    assert_int_equal(receiver(b, CM_DREQ, 0, 5, 25 * SECOND - 2, &reason), NOBODY);
    assert_int_equal(reason, DROP_MUX_ID);
    assert_int_equal(b->mux.counts.forgotten, 1);
}

static void full_keeps_what_is_open_for_ever(void **state)
{
    struct bench *b = *state;
    enum drop_reason reason;

    sends(b, 2, CM_REQ, 0, 5, 0);
    sends(b, 2, CM_RTU, 0, 5, 1);
    assert_int_equal(receiver(b, CM_DREQ, 0, 5, 1000000 * SECOND, &reason), 2);
    assert_int_equal(receiver(b, CM_DREQ, 0, 5, 1000010 * SECOND, &reason), 2);
    assert_int_equal(receiver(b, CM_DREQ, 0, 5, 1000020 * SECOND + 1, &reason), NOBODY);
    sends(b, 2, CM_REQ, 0, 6, 2000000 * SECOND);
    assert_int_equal(receiver(b, CM_MRA, 0, 6, 2000080 * SECOND, &reason), 2);
    assert_int_equal(receiver(b, CM_REP, 0, 6, 2000160 * SECOND + 1, &reason), NOBODY);
    assert_int_equal(reason, DROP_MUX_ID);
}

static void an_id_that_two_guests_use(void **state)
{
    const bool full = ((struct bench *)*state)->mux.profile == MUX_full;
    struct bench *b = *state;
    enum drop_reason reason;

    sends(b, 1, CM_REQ, 0, 5, 0);
    sends(b, 2, CM_REQ, 1, 5, 1);
    assert_int_equal(receiver(b, CM_REP, 0, 5, 2, &reason), full ? 1 : 2);
    assert_int_equal(receiver(b, CM_REP, 1, 5, 3, &reason), 2);
    assert_int_equal(b->mux.counts.taken, full ? 0 : 1);
}

static void an_unknown_id_goes_to_the_destination(void **state)
{
    const bool full = ((struct bench *)*state)->mux.profile == MUX_full;
    struct bench *b = *state;
    enum drop_reason reason;
    bool taken;

    (void)add(b, 3, 2, &taken);
    assert_int_equal(receiver(b, CM_DREQ, 2, 99, 0, &reason), full ? 3 : NOBODY);
    (void)receiver(b, CM_REQ, 2, 0, 0, &reason); /* the last message is for 3 */
    assert_int_equal(receiver(b, CM_REJ, 4, 0, 0, &reason), full ? NOBODY : 3);
}

static void a_full_table_forgets_the_oldest(void **state)
{
    struct bench *b = *state;
    enum drop_reason reason;

    for (uint32_t i = 0; i <= MUX_IDS_MAX; i++)
        sends(b, 1, CM_REQ, 0, i + 1, i);
    assert_int_equal(b->mux.n_ids, MUX_IDS_MAX);
    assert_int_equal(receiver(b, CM_REP, 0, 1, MUX_IDS_MAX, &reason), NOBODY);
    assert_int_equal(receiver(b, CM_REP, 0, 2, MUX_IDS_MAX, &reason), 1);
}

/* --- Frames ----------------------------------------------------------------------------------- */

/* Builds a packet to QPN @qpn from @b->gid[0] to @b->gid[1] with the MAD in @bytes. */
static size_t packet_of(const struct bench *b, uint32_t qpn, const uint8_t *bytes, uint8_t *ret)
{
    struct packet p = {.eth.ethertype = 0x0800,
                       .ip = {.version = 4, .ttl = 64, .protocol = 17},
                       .bth = {.opcode = OP_UD_SEND_ONLY, .pkey = 0xffff, .dest_qpn = qpn},
                       .deth = {.qkey = 0x80010000, .src_qpn = 1},
                       .payload = bytes,
                       .payload_bytes = MAD_BYTES};

    memcpy(p.ip.src, b->gid[0], GID_BYTES);
    memcpy(p.ip.dst, b->gid[1], GID_BYTES);
    memcpy(packet_build(&p, ret), bytes, MAD_BYTES);
    packet_finish(ret, packet_frame_bytes(&p));
    return packet_frame_bytes(&p);
}

static void each_message_names_its_receiver(void **state)
{
    struct bench *b = *state;

    for (size_t i = 0; i < N_MESSAGE; i++) {
        uint8_t mad[MAD_BYTES] = {1, 7, 2, 3, [16] = 0, [17] = (uint8_t)messages[i]};
        const bool is_sidr = messages[i] == CM_SIDR_REP;
        uint8_t frame[2048], *body = mad + MAD_HEADER_BYTES;
        struct mux_message m;
        size_t n;

        memcpy(body, (uint8_t[]){0, 0, 1, 2, 0, 0, 3, 4}, 8);
        if (messages[i] == CM_REQ)
            memcpy(body + 72, b->gid[4], GID_BYTES);
        if (messages[i] == CM_SIDR_REQ) {
            memcpy(body + 8, (uint8_t[]){0, 0, 0, 0, 1, 0x11, 0x1d, 0x2f}, 8); /* UDP, a port */
            body[17] = 0x40;
            memcpy(body + 16 + 20 + 12, (uint8_t[]){10, 0, 0, 9}, 4);
        }
        n = packet_of(b, 1, mad, frame);
        assert_true(cm_mux_read(frame, n, &m));
        assert_int_equal(m.message, messages[i]);
        assert_memory_equal(m.src, b->gid[0], GID_BYTES);
        assert_memory_equal(m.dst, b->gid[1], GID_BYTES);
        assert_int_equal(m.local_id, is_sidr ? 0 : 0x102);
        assert_int_equal(m.remote_id, is_sidr                      ? 0x102
                                      : messages[i] == CM_REQ      ? 0
                                      : messages[i] == CM_SIDR_REQ ? 0
                                                                   : 0x304);
        assert_int_equal(m.has_gid, messages[i] == CM_REQ || messages[i] == CM_SIDR_REQ);
        if (messages[i] == CM_REQ)
            assert_memory_equal(m.gid, b->gid[4], GID_BYTES);
        if (messages[i] == CM_SIDR_REQ) {
            char buf[ADDR_TEXT_MAX];

            assert_string_equal(addr_text(m.gid, buf), "10.0.0.9");
        }
    }
}

static void what_is_no_message_is_none(void **state)
{
    static const struct {
        size_t at;
        uint8_t v;
    } rows[] = {{0, 2}, {1, 4}, {2, 1}, {3, 1}, {17, 0x1b}, {17, 0x0f}, {16, 1}};
    struct bench *b = *state;
    uint8_t frame[2048];
    struct mux_message m;
    size_t n;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        uint8_t mad[MAD_BYTES] = {1, 7, 2, 3, [17] = CM_RTU};

        n = packet_of(b, 1, mad, frame);
        assert_true(cm_mux_read(frame, n, &m));
        n = packet_of(b, 2, mad, frame);
        assert_false(cm_mux_read(frame, n, &m));
        mad[rows[i].at] = rows[i].v;
        n = packet_of(b, 1, mad, frame);
        assert_false(cm_mux_read(frame, n, &m));
        frame[n - 1] ^= 1; /* the ICRC */
        assert_false(cm_mux_read(frame, n, &m));
    }
}

/* --- The model -------------------------------------------------------------------------------- */

struct entry {
    bool is_arrival;
    uint32_t what, guest, gid, id; /* @gid and @id are those of the guest's side */
    uint64_t at_ns;
};

struct model {
    struct prng rng;
    bool qemu;
    struct entry past[HISTORY];
    uint32_t n;
    uint32_t owner[N_GIDS]; /* guest that has registered it; NOBODY */
    uint64_t now_ns;
};

static uint32_t draw(struct model *m, uint32_t n)
{
    return (uint32_t)prng_below(&m->rng, n);
}

static bool same(const struct bench *b, const struct model *m, uint32_t x, uint32_t y)
{
    uint8_t key[2][GID_BYTES];

    memcpy(key[0], b->gid[x], GID_BYTES);
    memcpy(key[1], b->gid[y], GID_BYTES);
    for (uint32_t i = 0; i < 2 && m->qemu; i++) {
        memset(key[i], 0, 8);
        key[i][10] = key[i][11] = 0xff;
    }
    return memcmp(key[0], key[1], GID_BYTES) == 0;
}

static uint32_t model_owner(const struct bench *b, const struct model *m, uint32_t gid)
{
    for (uint32_t i = 0; i < N_GIDS; i++) {
        if (m->owner[i] != NOBODY && same(b, m, i, gid))
            return m->owner[i];
    }
    return NOBODY;
}

/* Number of sweeps after @from up to @to, both included at the end alone. */
static uint32_t sweeps_between(const struct model *m, uint64_t from, uint64_t to)
{
    uint64_t heard = 0;
    uint32_t n = 0;

    for (uint32_t i = 0; i <= m->n; i++) {
        const bool is_end = i == m->n;
        const uint64_t next = is_end ? to : m->past[i].at_ns;

        if (!is_end && !m->past[i].is_arrival)
            continue;
        for (uint64_t t = heard + 5 * SECOND; t <= next && t <= to; t += 5 * SECOND)
            n += t > from;
        heard = next;
    }
    return n;
}

static bool learns(const struct model *m, uint32_t what)
{
    if (!m->qemu)
        return what != CM_SIDR_REP;
    return what == CM_REQ || what == CM_REP || what == CM_DREQ || what == CM_DREP ||
           what == CM_SIDR_REQ;
}

static uint32_t qemu_guest(const struct model *m, uint32_t id)
{
    for (uint32_t i = m->n; i-- > 0;) {
        const struct entry *e = &m->past[i];

        if (e->is_arrival || e->id != id || !learns(m, e->what) || e->guest == 0)
            continue;
        return sweeps_between(m, e->at_ns, m->now_ns) <= 2 ? e->guest : NOBODY;
    }
    return NOBODY;
}

/* Follows the ID from the first message on. */
static uint32_t full_guest(const struct model *m, uint32_t gid, uint32_t id)
{
    uint64_t ends_ns = 0;
    uint32_t guest = NOBODY;
    bool is_open = false;

    for (uint32_t i = 0; i <= m->n; i++) {
        const struct entry *e = &m->past[i];
        const uint64_t at_ns = i == m->n ? m->now_ns : e->at_ns;

        if (guest != NOBODY && !is_open && at_ns > ends_ns)
            guest = NOBODY;
        if (i == m->n)
            break;
        if (e->gid != gid || e->id != id || (e->is_arrival && guest == NOBODY))
            continue;
        if (e->is_arrival && (e->what == CM_REQ || e->what == CM_SIDR_REQ))
            continue;
        if (!e->is_arrival && !learns(m, e->what))
            continue;
        if (guest == NOBODY)
            is_open = false;
        if (!e->is_arrival)
            guest = e->guest;
        switch (e->what) {
        case CM_RTU:
        case CM_LAP:
        case CM_APR:
            is_open = true;
            break;
        case CM_REQ:
            is_open = false;
            ends_ns = at_ns + 80 * SECOND;
            break;
        case CM_REP:
        case CM_MRA:
        case CM_SIDR_REQ:
            ends_ns = at_ns + 80 * SECOND;
            break;
        default:
            is_open = false;
            ends_ns = at_ns + 10 * SECOND;
        }
    }
    return guest;
}

static void step_register(struct bench *b, struct model *m)
{
    const uint32_t gid = draw(m, N_GIDS);
    const uint32_t guest = 1 + draw(m, GUESTS - 1);
    const uint32_t owner = model_owner(b, m, gid);
    bool taken;

    if (draw(m, 3) == 0) {
        const bool is_own = owner == guest;

        assert_int_equal(cm_mux_unregister(&b->mux, guest, b->gid[gid]),
                         is_own ? MUX_OK : MUX_ENOTFOUND);
        for (uint32_t i = 0; i < N_GIDS && is_own; i++)
            m->owner[i] = same(b, m, i, gid) ? NOBODY : m->owner[i];
        return;
    }
    assert_int_equal(add(b, guest, gid, &taken), owner == NOBODY  ? MUX_OK
                                                 : owner == guest ? MUX_EEXIST
                                                                  : MUX_EACCES);
    if (owner == NOBODY)
        m->owner[gid] = guest;
}

static struct entry *keep(struct model *m, const struct entry *e)
{
    m->past[m->n] = *e;
    m->past[m->n].at_ns = m->now_ns;
    return &m->past[m->n++];
}

static void step_send(struct bench *b, struct model *m)
{
    struct entry e = {.what = messages[draw(m, N_MESSAGE)]};

    e.guest = draw(m, GUESTS);
    e.gid = draw(m, 3);
    e.id = 1 + draw(m, N_IDS);
    sends(b, e.guest, e.what, e.gid, e.what == CM_SIDR_REP ? 0 : e.id, m->now_ns);
    (void)keep(m, &e);
}

static void step_arrive(struct bench *b, struct model *m)
{
    struct entry e = {.is_arrival = true, .what = messages[draw(m, N_MESSAGE)]};
    const bool by_gid = e.what == CM_REQ || e.what == CM_SIDR_REQ;
    uint32_t expected;
    enum drop_reason reason;

    e.gid = draw(m, 3);
    e.id = 1 + draw(m, N_IDS);
    if (by_gid)
        expected = model_owner(b, m, e.gid);
    else if (m->qemu && (e.what == CM_MRA || e.what == CM_LAP || e.what == CM_APR))
        expected = NOBODY;
    else
        expected = m->qemu ? qemu_guest(m, e.id) : full_guest(m, e.gid, e.id);
    if (expected == NOBODY && !m->qemu)
        expected = model_owner(b, m, e.gid);
    assert_int_equal(receiver(b, e.what, e.gid, by_gid ? 0 : e.id, m->now_ns, &reason), expected);
    assert_int_equal(reason == DROP_NONE, expected != NOBODY);
    (void)keep(m, &e);
}

static void the_multiplexer_does_what_the_model_says(void **state)
{
    static void (*const steps[])(struct bench * b, struct model * m) = {
        step_register, step_send, step_send, step_arrive, step_arrive, step_arrive};
    static const uint64_t waits[] = {
        0,           1,           SECOND,      5 * SECOND, 5 * SECOND - 1,
        10 * SECOND, 16 * SECOND, 80 * SECOND, 90 * SECOND};
    struct bench *b = *state;
    struct model *m = test_calloc(1, sizeof(*m));

    for (uint32_t seed = 0; seed < 200; seed++) {
        assert_true(cm_mux_init(&b->mux, b->arena, &b->trace, b->mux.profile, 0));
        *m = (struct model){.rng = prng_stream(seed, 0), .qemu = b->mux.profile != MUX_full};
        for (uint32_t i = 0; i < N_GIDS; i++)
            m->owner[i] = NOBODY;
        while (m->n < 100) {
            m->now_ns += waits[draw(m, ARRAY_LEN(waits))];
            steps[draw(m, ARRAY_LEN(steps))](b, m);
            assert_null(cm_mux_invariant(&b->mux));
        }
    }
    test_free(m);
}

#define FULL(f) cmocka_unit_test_setup_teardown(f, set_up_full, tear_down)
#define QEMU(f) cmocka_unit_test_setup_teardown(f, set_up_qemu, tear_down)
#define BOTH(f) FULL(f), QEMU(f)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(a_gid_is_of_one_guest),
        FULL(a_full_table_refuses),
        BOTH(qemu_knows_half_a_gid),
        BOTH(the_machine_of_qemu_has_no_connection_manager),
        BOTH(qemu_passes_no_mra),
        QEMU(qemu_forgets_at_the_third_sweep),
        FULL(full_keeps_what_is_open_for_ever),
        BOTH(an_id_that_two_guests_use),
        BOTH(an_unknown_id_goes_to_the_destination),
        BOTH(a_full_table_forgets_the_oldest),
        FULL(each_message_names_its_receiver),
        FULL(what_is_no_message_is_none),
        BOTH(the_multiplexer_does_what_the_model_says),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
