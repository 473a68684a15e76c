/* SPDX-License-Identifier: MIT */
/* Random runs.  A seed decides everything: what is posted, in how many pieces, where in a page a
 * buffer begins, MTU, PSNs near the wrap, profiles, when work is posted and polled, what is lost,
 * repeated, delayed or damaged, what the program does wrong.
 *
 * A run is right when
 *   - no invariant of the emulator broke;
 *   - completions and memory are what the plan of the run (swarm_plan.h) says;
 *   - once the faults are over everything completes, or the queue pair went to ERR with a status
 *     that faults or a wrong request can cause, and everything after it was flushed;
 *   - going back to a checkpoint in the middle and on from there ends with the same hash.
 *
 * With --outside there are no faults but a stranger: swarm_outside.c.
 */
#include "cli/trial/swarm.h"

#include <stdio.h>
#include <string.h>

#include "cli/programs/rig.h"
#include "cli/session/session.h"
#include "cli/session/signals.h"
#include "cli/trial/swarm_crowd.h"
#include "cli/trial/swarm_judge.h"
#include "cli/trial/swarm_outside.h"
#include "cli/trial/swarm_plan.h"
#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/base/quantity.h"
#include "emu/facts/device.h"
#include "emu/facts/enums.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/trace/event.h"

#define FAULTS_MAX 5u
#define LOST_MAX   4u  /* frames that one fault hits, */
#define COPIES_MAX 40u /* and copies that it makes */
#define DEPTH      16u
#define ACTIONS    400u
#define END_ROUNDS 40u
#define ROUND_NS   50000000u /* longer than any timer of a run */

/* What makes a key wrong: one of another life of its region, one of no region. */
#define STALE_KEY   0x80u
#define UNKNOWN_KEY 0x800000u

struct run {
    uint64_t seed;
    struct prng rng;
    struct swarm_run s;
    rdl_fault faults[FAULTS_MAX];
    uint32_t n_faults, actions;
};

/* What a run has beside its state: the lab, and what does not change. */
struct stand {
    struct rig_config config;
    struct rig rig;
    struct rig_side side[SWARM_LANES_MAX];
    struct rdl_mr_info open[SWARM_HOSTS]; /* the memory of the host once more, for everybody */
    struct swarm_plan plan;
};

/* @right must hold of the run as a whole. */
static bool expect(struct run *run, bool right, const char *what)
{
    swarm_expect(&run->s, right, 0, UINT32_MAX, what);
    return right;
}

/* --- The lab ---------------------------------------------------------------------------------- */

static void add_faults(struct run *run, struct rig *rig)
{
    static const uint32_t kinds[] = {FLT_DROP,      FLT_DROP,  FLT_DUPLICATE,
                                     FLT_DUPLICATE, FLT_DELAY, FLT_CORRUPT};
    static const uint32_t opcodes[] = {OP_RC_ACKNOWLEDGE,
                                       OP_RC_ACKNOWLEDGE,
                                       OP_RC_RDMA_WRITE_ONLY,
                                       OP_RC_RDMA_WRITE_LAST,
                                       OP_RC_RDMA_READ_REQUEST,
                                       OP_RC_RDMA_READ_RESPONSE_MIDDLE,
                                       OP_RC_RDMA_READ_RESPONSE_ONLY,
                                       OP_RC_FETCH_ADD,
                                       OP_RC_ATOMIC_ACKNOWLEDGE};
    struct prng *rng = &run->rng;
    const uint32_t n = (uint32_t)prng_below(rng, FAULTS_MAX + 1);

    for (uint32_t i = 0; i < n; i++) {
        struct rdl_fault_config c = {
            .opcode = RDL_ANY, .syndrome = RDL_ANY, .psn = RDL_ANY, .dest_qpn = RDL_ANY};

        c.kind = kinds[prng_below(rng, ARRAY_LEN(kinds))];
        c.from = rig->side[prng_below(rng, 2)].host;
        c.nth = 1 + (uint32_t)prng_below(rng, 40);
        if (prng_below(rng, 2)) {
            c.opcode = opcodes[prng_below(rng, ARRAY_LEN(opcodes))];
            c.nth = 1 + c.nth % 10;
        }
        c.count = 1 + (uint32_t)prng_below(rng, c.kind == FLT_DUPLICATE ? COPIES_MAX : LOST_MAX);
        c.delay_ns = prng_below(rng, 20000);
        c.corrupt_bit = (uint32_t)prng_below(rng, 4000);
        if (rdl_fault_add(rig->lab, &c, &run->faults[run->n_faults]) == RDL_OK)
            run->n_faults++;
    }
}

static struct rig_config draw_config(struct run *run)
{
    static const uint64_t rates[] = {0, 0, 0, UINT64_C(10000000000), UINT64_C(1000000000)};
    struct prng *rng = &run->rng;
    struct rig_config c = {
        .seed = run->seed,
        .check_invariants = true,
        .hash = true,
        .mr_bytes = SWARM_MEMORY_BYTES,
        .max_wr = DEPTH,
        .max_inline_data = SWARM_INLINE_MAX,
        .retry_cnt = RETRY_MAX,
        .rnr_retry = RETRY_MAX,
    };

    c.path_mtu = MTU_256 + (uint32_t)prng_below(rng, 5);
    c.sq_psn[0] = (uint32_t)(PSN_MASK - prng_below(rng, 200));
    c.sq_psn[1] = (uint32_t)prng_below(rng, (uint64_t)PSN_MASK + 1);
    c.timeout = 6 + (uint32_t)prng_below(rng, 5);
    c.min_rnr_timer = 1 + (uint32_t)prng_below(rng, 10);
    c.gid_index = (uint32_t)prng_below(rng, 2);
    c.latency_ns = prng_below(rng, 3000);
    c.rate_bps = rates[prng_below(rng, ARRAY_LEN(rates))];
    if (prng_below(rng, 2))
        c.loss_ppm = (uint32_t)prng_below(rng, 40000);
    for (unsigned side = 0; side < SWARM_HOSTS; side++)
        c.profile[side] = prng_below(rng, 3) ? PROFILE_iba : PROFILE_rxe;
    return c;
}

/* What the first two lanes, or the others, are connected with. */
static struct rig_config config_of(const struct stand *st, unsigned lane)
{
    struct rig_config c = st->config;

    for (unsigned side = 0; side < SWARM_HOSTS; side++) {
        const struct swarm_limits *l = &st->plan.limits[lane + side];

        c.access[side] = l->access;
        c.max_rd_atomic[side] = l->max_rd_atomic;
        c.max_dest_rd_atomic[side] = l->max_dest_rd_atomic;
    }
    return c;
}

/* The memory of @host with what the plan says, and a region that lets others in. */
static enum rdl_status open_memory(struct stand *st, unsigned host)
{
    struct rig_side *s = &st->rig.side[host];
    struct rdl_lab *lab = st->rig.lab;
    enum rdl_status status =
        rdl_mem_write(lab, s->host, s->mem.addr, st->plan.before[host], SWARM_MEMORY_BYTES);
    rdl_mr mr = {0};

    if (status == RDL_OK)
        status = rdl_reg_mr(
            lab, s->pd, s->mem.addr, SWARM_MEMORY_BYTES,
            ACC_LOCAL_WRITE | ACC_REMOTE_WRITE | ACC_REMOTE_READ | ACC_REMOTE_ATOMIC, "open", &mr);
    if (status == RDL_OK)
        status = rig_wait(&st->rig, host);
    return status == RDL_OK ? rdl_mr_info(lab, mr, &st->open[host]) : status;
}

/* A second connection, beside that of the rig. */
static enum rdl_status connect_more(struct stand *st)
{
    const struct rig_config c = config_of(st, SWARM_HOSTS);
    enum rdl_status status = RDL_OK;

    for (unsigned i = 0; i < SWARM_HOSTS && status == RDL_OK; i++) {
        st->side[SWARM_HOSTS + i] = st->side[i];
        status = rig_side_qp(st->rig.lab, &st->side[SWARM_HOSTS + i], &c, false);
    }
    for (unsigned i = 0; i < SWARM_HOSTS && status == RDL_OK; i++)
        status = rig_side_connect(st->rig.lab, &st->side[SWARM_HOSTS + i],
                                  &st->side[swarm_peer(SWARM_HOSTS + i)], &c, i);
    return status;
}

static enum rdl_status build(struct run *run, struct stand *st)
{
    enum rdl_status status;
    struct rig_config c;

    st->config = draw_config(run);
    swarm_plan_init(&st->plan, run->seed, mtu_bytes(st->config.path_mtu));
    c = config_of(st, 0);
    status = rig_init(&st->rig, &c);
    for (unsigned host = 0; host < SWARM_HOSTS && status == RDL_OK; host++) {
        run->s.profile[host] = (enum profile)c.profile[host];
        st->side[host] = st->rig.side[host];
        status = open_memory(st, host);
    }
    if (status == RDL_OK && st->plan.n_lanes > SWARM_HOSTS)
        status = connect_more(st);
    if (status == RDL_OK)
        add_faults(run, &st->rig);
    run->s.plan = &st->plan;
    run->s.rig = &st->rig;
    run->s.side = st->side;
    run->s.is_faulty = run->n_faults > 0 || c.loss_ppm > 0 || c.rate_bps > 0;
    return status;
}

/* --- What the programs do --------------------------------------------------------------------- */

static size_t make_sges(const struct rig_side *side, const struct swarm_pieces *s, uint32_t lkey,
                        struct rdl_sge out[SWARM_SGES_MAX])
{
    for (uint32_t i = 0; i < s->n; i++)
        out[i] = (struct rdl_sge){side->mem.addr + s->piece[i].at, s->piece[i].bytes, lkey};
    return s->n;
}

static uint32_t rkey_of(const struct stand *st, unsigned lane, const struct swarm_req *r)
{
    const unsigned there = swarm_host(swarm_peer(lane));

    if (r->wrong == SWARM_WRONG_ACCESS)
        return st->rig.side[there].mem.rkey;
    if (r->wrong == SWARM_WRONG_RKEY || r->wrong == SWARM_WRONG_KEYS)
        return st->open[there].rkey ^ STALE_KEY;
    return st->open[there].rkey;
}

static uint32_t lkey_of(const struct rig_side *side, const struct swarm_req *r)
{
    if (r->wrong == SWARM_WRONG_LKEY || r->wrong == SWARM_WRONG_KEYS)
        return side->mem.lkey ^ UNKNOWN_KEY;
    return side->mem.lkey;
}

static void post_request(struct run *run, struct stand *st, unsigned lane)
{
    struct swarm_lane_state *s = &run->s.lane[lane];
    const struct rig_side *side = &st->side[lane];
    const uint32_t i = s->reqs;
    const struct swarm_req *r = &st->plan.lane[lane].req[i];
    const unsigned there = swarm_host(swarm_peer(lane));
    uint8_t data[SWARM_INLINE_MAX];
    struct rdl_sge sge[SWARM_SGES_MAX];
    struct rdl_send_wr wr = {.wr_id = i, .sge = sge};

    if (i == st->plan.lane[lane].n_reqs || i - s->reqs_done == DEPTH)
        return;
    wr.opcode = r->opcode;
    wr.flags = r->flags;
    memcpy(wr.imm, r->imm, sizeof(wr.imm));
    wr.remote_addr = st->rig.side[there].mem.addr + r->remote;
    wr.rkey = rkey_of(st, lane, r);
    wr.compare_add = r->compare_add;
    wr.swap = r->swap;
    if (r->flags & SF_INLINE) {
        swarm_gather(&r->local, st->plan.before[swarm_host(lane)], data);
        wr.inline_data = data;
        wr.inline_bytes = r->bytes;
    } else {
        wr.n_sge = make_sges(side, &r->local, lkey_of(side, r), sge);
    }
    swarm_expect(&run->s, rdl_post_send(st->rig.lab, side->qp, &wr, false) == RDL_OK, lane, i,
                 "a request can be posted");
    s->reqs++;
    if (!s->failed)
        s->reqs_alive = s->reqs;
}

static void post_recv(struct run *run, struct stand *st, unsigned lane)
{
    struct swarm_lane_state *s = &run->s.lane[lane];
    const struct rig_side *side = &st->side[lane];
    const uint32_t k = s->recvs;
    struct rdl_sge sge[SWARM_SGES_MAX];
    struct rdl_recv_wr wr = {.wr_id = SWARM_RECV_ID + k, .sge = sge};

    if (k == st->plan.lane[lane].n_recvs || k - s->recvs_done == DEPTH)
        return;
    wr.n_sge = make_sges(side, &st->plan.lane[lane].recv[k].to, side->mem.lkey, sge);
    swarm_expect(&run->s, rdl_post_recv(st->rig.lab, side->qp, &wr, false) == RDL_OK, lane,
                 wr.wr_id, "a receive can be posted");
    s->recvs++;
}

static void poll_lane(struct run *run, struct stand *st, unsigned lane)
{
    struct rdl_wc wc;
    size_t n = 1;

    while (n > 0 && !run->s.wrong) {
        if (expect(run, rdl_poll_cq(st->rig.lab, st->side[lane].cq, 1, &wc, &n) == RDL_OK,
                   "a CQ can be polled") &&
            n > 0)
            swarm_judge_wc(&run->s, lane, &wc);
    }
}

static void let_go_on(struct run *run, struct stand *st, uint64_t ticks)
{
    const struct rdl_limits none = {0};

    for (uint64_t i = 0; i < ticks; i++) {
        const enum rdl_status status = rdl_step(st->rig.lab, RDL_STEP_TICK, none);

        if (status == RDL_ERR_INVARIANT)
            expect(run, false, rdl_broken_invariant(st->rig.lab));
        if (status != RDL_OK)
            return;
    }
}

static void act(struct run *run, struct stand *st)
{
    const unsigned lane = (unsigned)prng_below(&run->rng, st->plan.n_lanes);

    switch (prng_below(&run->rng, 5)) {
    case 0:
        post_request(run, st, lane);
        break;
    case 1:
        post_recv(run, st, lane);
        break;
    case 2:
        poll_lane(run, st, lane);
        break;
    default:
        let_go_on(run, st, prng_below(&run->rng, 30));
        break;
    }
    run->actions++;
}

/* --- The end of a run ------------------------------------------------------------------------- */

/* May the peer have failed without a word?  It refused something, the NAK was lost, and it had
 * nothing to flush.
 */
static bool has_lost_nak(const struct run *run, unsigned lane)
{
    return swarm_is_bad(run->s.plan, lane) && run->s.is_faulty;
}

/* Has everything completed that must?  The peer of a failed queue pair may wait for ever for
 * messages, and so may its requests where retries have no end, which is right.
 */
static bool is_lane_over(const struct run *run, const struct stand *st, unsigned lane)
{
    const struct swarm_lane_state *s = &run->s.lane[lane];
    const struct swarm_lane *l = &st->plan.lane[lane];
    const bool peer_failed = run->s.lane[swarm_peer(lane)].failed || has_lost_nak(run, lane);
    const bool retries_end = st->config.profile[swarm_host(lane)] == PROFILE_iba;

    return (s->reqs_done == l->n_reqs || (peer_failed && !retries_end && !s->failed)) &&
           (s->recvs_done == l->n_recvs || (peer_failed && !s->failed));
}

static bool is_over(const struct run *run, const struct stand *st)
{
    for (unsigned lane = 0; lane < st->plan.n_lanes; lane++) {
        if (!is_lane_over(run, st, lane))
            return false;
    }
    return true;
}

/* The faults are over: everything that is left is posted and must end. */
static void finish(struct run *run, struct stand *st)
{
    const struct rdl_limits none = {0};
    const struct rdl_link_config calm = {.latency_ns = 1000};

    for (uint32_t i = 0; i < run->n_faults; i++)
        expect(run, rdl_fault_remove(st->rig.lab, run->faults[i]) == RDL_OK,
               "a fault can be removed");
    expect(run, rdl_link_set(st->rig.lab, st->rig.link, &calm) == RDL_OK, "a link can be changed");
    for (uint32_t round = 0; round < END_ROUNDS && !run->s.wrong; round++) {
        if (round > 0 && is_over(run, st))
            break;
        for (uint32_t i = 0; i < st->plan.n_lanes * DEPTH; i++) {
            post_recv(run, st, i % st->plan.n_lanes);
            post_request(run, st, i % st->plan.n_lanes);
        }
        if (rdl_run(st->rig.lab, rdl_now_ns(st->rig.lab) + ROUND_NS, none) == RDL_ERR_INVARIANT)
            expect(run, false, rdl_broken_invariant(st->rig.lab));
        for (unsigned lane = 0; lane < st->plan.n_lanes; lane++)
            poll_lane(run, st, lane);
    }
    for (unsigned lane = 0; lane < st->plan.n_lanes; lane++)
        swarm_expect(&run->s, is_lane_over(run, st, lane), lane, UINT32_MAX,
                     "once the faults are over everything completes");
    swarm_judge_end(&run->s);
}

static void print_event(void *ctx, const struct ev *e)
{
    const struct rdl_lab *lab = ctx;
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_line(&t, e, rdl_names(lab));
    puts(buf);
}

/* Runs @run to its end from where it is.  With @ret_middle, stops for a checkpoint half-way. */
static void play(struct run *run, struct stand *st, struct run *ret_middle,
                 struct rdl_checkpoint **ret_checkpoint)
{
    while (run->actions < ACTIONS && !run->s.wrong) {
        act(run, st);
        if (ret_middle && run->actions == ACTIONS / 2) {
            expect(run, rdl_checkpoint_save(st->rig.lab, ret_checkpoint) == RDL_OK,
                   "a checkpoint can be saved");
            *ret_middle = *run;
        }
    }
    if (!run->s.wrong)
        finish(run, st);
}

/* What went wrong, where, and how to see it again. */
static void tell(const struct run *run, const struct stand *st)
{
    const struct swarm_run *s = &run->s;

    printf("seed %llu: %s\n", (unsigned long long)run->seed, s->wrong);
    if (s->wrong_id < SWARM_REQS) {
        const struct swarm_req *r = &st->plan.lane[s->wrong_lane].req[s->wrong_id];

        printf("  request %u of queue pair %u: %s, %u bytes\n", s->wrong_id,
               st->side[s->wrong_lane].qpn, enum_name(&enum_wr_opcode, r->opcode), r->bytes);
    } else if (s->wrong_id != UINT32_MAX) {
        printf("  receive %u of queue pair %u\n", s->wrong_id - SWARM_RECV_ID,
               st->side[s->wrong_lane].qpn);
    }
    printf("  again: rdmalab swarm --seed %llu --events\n", (unsigned long long)run->seed);
}

/* One seed.  False: it went wrong, and what and how to see it again was printed. */
static bool try_seed(struct swarm_seed *asked)
{
    const uint64_t seed = asked->seed;
    struct run run = {.seed = seed, .rng = prng_stream(seed, 0)}, middle = {0};
    struct rdl_checkpoint *checkpoint = NULL;
    struct rdl_listener *listener = NULL;
    struct stand st = {.rig = {0}};

    expect(&run, build(&run, &st) == RDL_OK, "the two hosts can be set up");
    if (asked->print && !run.s.wrong)
        expect(&run, rdl_listen(st.rig.lab, asked->print, st.rig.lab, &listener) == RDL_OK,
               "the lab can be listened to");
    if (!run.s.wrong)
        play(&run, &st, &middle, &checkpoint);
    rdl_unlisten(st.rig.lab, listener);
    asked->ret_invariant = st.rig.lab && rdl_broken_invariant(st.rig.lab);
    asked->ret_hash = st.rig.lab ? rdl_hash(st.rig.lab) : 0;
    if (!run.s.wrong && checkpoint) {
        rdl_checkpoint_restore(st.rig.lab, checkpoint);
        play(&middle, &st, NULL, NULL);
        expect(&middle, rdl_hash(st.rig.lab) == asked->ret_hash,
               "going back and on again ends with the same hash");
        run.s = middle.s;
    }
    rdl_checkpoint_free(checkpoint);
    if (run.s.wrong)
        tell(&run, &st);
    rig_done(&st.rig);
    swarm_plan_done(&st.plan);
    return !run.s.wrong;
}

/* The two halves of a run, each in a lab of its own. */
static bool try_both(struct swarm_seed *asked)
{
    return try_seed(asked) && swarm_crowd(asked);
}

/* "A..B" or "A"; false when it is neither. */
static bool parse_seeds(const char *s, uint64_t *ret_first, uint64_t *ret_last)
{
    const char *why = strstr(s, "..") ? quantity_parse_range(s, ret_first, ret_last)
                                      : quantity_parse(QUANTITY_NUMBER, s, ret_first);

    if (why)
        return false;
    if (!strstr(s, ".."))
        *ret_last = *ret_first;
    return *ret_first <= *ret_last && *ret_last < UINT64_MAX;
}

int swarm_main(int argc, char **argv)
{
    uint64_t first = 1, last = 100, passed = 0, failed = 0;
    bool (*try)(struct swarm_seed *) = try_both;
    swarm_print *print = NULL;
    bool any_invariant = false, hashed = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--events") == 0) {
            print = print_event;
        } else if (strcmp(argv[i], "--hash") == 0) {
            hashed = true;
        } else if (strcmp(argv[i], "--outside") == 0) {
            try = swarm_outside;
        } else if (i + 1 < argc &&
                   (strcmp(argv[i], "--seed") == 0 || strcmp(argv[i], "--seeds") == 0)) {
            if (!parse_seeds(argv[++i], &first, &last))
                return EXIT_ASK;
        } else {
            return EXIT_ASK;
        }
    }
    for (uint64_t seed = first; seed <= last && !*signals_interrupted(); seed++) {
        struct swarm_seed run = {.seed = seed, .print = print, .hashed = hashed};

        signals_replay("rdmalab swarm%s --seed %llu --events",
                       try == swarm_outside ? " --outside" : "", (unsigned long long)seed);
        if (try(&run))
            passed++;
        else
            failed++;
        if (hashed)
            printf("seed %llu: hash %016llx\n", (unsigned long long)seed,
                   (unsigned long long)run.ret_hash);
        any_invariant = any_invariant || run.ret_invariant;
    }
    printf("%llu passed, %llu failed, 0 skipped\n", (unsigned long long)passed,
           (unsigned long long)failed);
    if (any_invariant)
        return 99;
    return failed ? 1 : 0;
}
