/* SPDX-License-Identifier: MIT */
/* Random runs.  A seed decides everything: sizes, where in a page a buffer begins, MTU, PSNs near
 * the wrap, when work is posted and polled, what is lost, repeated, delayed or damaged.
 *
 * A run is right when
 *   - no invariant of the emulator broke;
 *   - every message that was received has the bytes and the length of the one sent in its place,
 *     and nothing was written around it;
 *   - once the faults are over everything completes, or the queue pair went to ERR with a status
 *     that faults can cause, and everything after it was flushed;
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
#include "cli/trial/swarm_outside.h"
#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/base/quantity.h"
#include "emu/facts/enums.h"
#include "emu/facts/opcode.h"
#include "emu/facts/psn.h"
#include "emu/trace/event.h"

#define MESSAGES      30u /* each way */
#define MESSAGE_BYTES 16384u
#define PAGE_BYTES    4096u
#define PLACE_BYTES   (MESSAGE_BYTES + PAGE_BYTES) /* for a message that begins inside a page */
#define FAULTS_MAX    5u
#define DEPTH         16u
#define ACTIONS       400u
#define END_ROUNDS    40u
#define ROUND_NS      50000000u /* longer than any timer of a run */

/* What one side has done; the bytes of message i follow from the seed. */
struct side_state {
    uint32_t sent, recvs, sends_done, recvs_done;
    bool failed; /* its queue pair is in ERR */
};

struct run {
    uint64_t seed;
    struct prng rng;
    uint32_t sizes[2][MESSAGES]; /* of the messages that a side sends */
    struct side_state side[2];
    rdl_fault faults[FAULTS_MAX];
    uint32_t n_faults, actions;
    const char *wrong; /* what went wrong, NULL: nothing */
};

static uint32_t random_size(struct prng *rng, uint32_t mtu)
{
    const uint32_t shapes[] = {0,   1,       3,           64,          mtu - 1,
                               mtu, mtu + 1, 3 * mtu + 1, 2 * mtu - 4, MESSAGE_BYTES};
    const uint64_t pick = prng_below(rng, ARRAY_LEN(shapes) + 4);
    const uint32_t size =
        pick < ARRAY_LEN(shapes) ? shapes[pick] : (uint32_t)prng_below(rng, MESSAGE_BYTES);

    return size < MESSAGE_BYTES ? size : MESSAGE_BYTES;
}

/* Message @i of @side: @out has room for its size. */
static void make_message(const struct run *run, unsigned side, uint32_t i, uint8_t *out)
{
    struct prng rng = prng_stream(run->seed, 1000u + side * MESSAGES + i);

    for (uint32_t k = 0; k < run->sizes[side][i]; k++)
        out[k] = (uint8_t)prng_next(&rng);
}

/* Where in the memory of @side a place begins: sent messages are in the first half, received ones
 * in the second.
 */
static uint64_t send_place(uint32_t i)
{
    return (uint64_t)i * PLACE_BYTES;
}

static uint64_t recv_place(uint32_t i)
{
    return send_place(MESSAGES + i);
}

/* How far behind the beginning of its place a message is: anywhere in the first page, so that it
 * crosses pages at any byte.
 */
static uint32_t offset_in(const struct run *run, unsigned side, uint64_t place)
{
    struct prng rng = prng_stream(run->seed, 2000u + 2 * place + side);

    return (uint32_t)prng_below(&rng, PAGE_BYTES);
}

static void add_faults(struct run *run, struct rig *rig)
{
    static const uint32_t kinds[] = {FLT_DROP, FLT_DROP, FLT_DUPLICATE, FLT_DELAY, FLT_CORRUPT};
    struct prng *rng = &run->rng;
    const uint32_t n = (uint32_t)prng_below(rng, FAULTS_MAX + 1);

    for (uint32_t i = 0; i < n; i++) {
        struct rdl_fault_config c = {.syndrome = RDL_ANY, .psn = RDL_ANY, .dest_qpn = RDL_ANY};

        c.kind = kinds[prng_below(rng, ARRAY_LEN(kinds))];
        c.from = rig->side[prng_below(rng, 2)].host;
        c.opcode = prng_below(rng, 3) ? RDL_ANY : (uint32_t)OP_RC_ACKNOWLEDGE;
        c.nth = 1 + (uint32_t)prng_below(rng, 40);
        c.count = 1 + (uint32_t)prng_below(rng, 4);
        c.delay_ns = prng_below(rng, 20000);
        c.corrupt_bit = (uint32_t)prng_below(rng, 4000);
        if (rdl_fault_add(rig->lab, &c, &run->faults[run->n_faults]) == RDL_OK)
            run->n_faults++;
    }
}

/* A completion of the send queue of @side. */
static void check_send(struct run *run, unsigned side, const struct rdl_wc *wc)
{
    struct side_state *s = &run->side[side];

    if (wc->wr_id != s->sends_done)
        run->wrong = "send completions are in the order of posting";
    s->sends_done++;
    if (wc->status == WCS_SUCCESS && s->failed)
        run->wrong = "after an error everything is flushed";
    if (wc->status == WCS_SUCCESS)
        return;
    if (!s->failed && wc->status != WCS_RETRY_EXC_ERR && wc->status != WCS_WR_FLUSH_ERR)
        run->wrong = "faults of the network end in RETRY_EXC_ERR, nothing else";
    s->failed = true;
}

/* A completion of the receive queue of @side. */
static void check_recv(struct run *run, struct rig *rig, unsigned side, const struct rdl_wc *wc)
{
    struct side_state *s = &run->side[side];
    const uint32_t i = s->recvs_done++;
    const uint64_t place = recv_place(i);
    const uint32_t offset = offset_in(run, side, place);
    static const char bad[] = "what is received is what was sent, and nothing else is written";
    uint8_t want[PLACE_BYTES] = {0}, have[PLACE_BYTES];

    if (wc->wr_id != (uint64_t)1000 + i)
        run->wrong = "receive completions are in the order of posting";
    if (wc->status != WCS_SUCCESS) {
        if (wc->status != WCS_WR_FLUSH_ERR)
            run->wrong = "faults of the network do not fail receives";
        s->failed = true;
        return;
    }
    if (i >= run->side[1 - side].sent || wc->byte_len != run->sizes[1 - side][i]) {
        run->wrong = bad;
        return;
    }
    make_message(run, 1 - side, i, want + offset);
    if (rdl_mem_read(rig->lab, rig->side[side].host, rig->side[side].mem.addr + place, have,
                     PLACE_BYTES) != RDL_OK ||
        memcmp(want, have, PLACE_BYTES) != 0)
        run->wrong = bad;
}

static void poll_side(struct run *run, struct rig *rig, unsigned side)
{
    struct rdl_wc wc;
    size_t n = 1;

    while (n > 0 && !run->wrong) {
        if (rdl_poll_cq(rig->lab, rig->side[side].cq, 1, &wc, &n) != RDL_OK) {
            run->wrong = "a CQ can be polled";
        } else if (n > 0) {
            if (wc.wr_id >= 1000)
                check_recv(run, rig, side, &wc);
            else
                check_send(run, side, &wc);
        }
    }
}

static void post_send(struct run *run, struct rig *rig, unsigned side)
{
    struct side_state *s = &run->side[side];
    const uint32_t i = s->sent;
    const uint64_t at = send_place(i) + offset_in(run, side, send_place(i));
    uint8_t bytes[MESSAGE_BYTES];

    if (i == MESSAGES || i - s->sends_done == DEPTH)
        return;
    make_message(run, side, i, bytes);
    if (rdl_mem_write(rig->lab, rig->side[side].host, rig->side[side].mem.addr + at, bytes,
                      run->sizes[side][i]) != RDL_OK ||
        rig_send(rig, side, i, at, run->sizes[side][i], SF_SIGNALED) != RDL_OK)
        run->wrong = "a send can be posted";
    s->sent++;
}

static void post_recv(struct run *run, struct rig *rig, unsigned side)
{
    struct side_state *s = &run->side[side];
    const uint32_t i = s->recvs;
    const uint64_t at = recv_place(i) + offset_in(run, side, recv_place(i));

    if (i == MESSAGES || i - s->recvs_done == DEPTH)
        return;
    if (rig_recv(rig, side, 1000 + i, at, MESSAGE_BYTES) != RDL_OK)
        run->wrong = "a receive can be posted";
    s->recvs++;
}

static void let_go_on(struct run *run, struct rig *rig, uint64_t ticks)
{
    const struct rdl_limits none = {0};

    for (uint64_t i = 0; i < ticks; i++) {
        const enum rdl_status st = rdl_step(rig->lab, RDL_STEP_TICK, none);

        if (st == RDL_ERR_INVARIANT)
            run->wrong = rdl_broken_invariant(rig->lab);
        if (st != RDL_OK)
            return;
    }
}

static void act(struct run *run, struct rig *rig)
{
    const unsigned side = (unsigned)prng_below(&run->rng, 2);

    switch (prng_below(&run->rng, 5)) {
    case 0:
        post_send(run, rig, side);
        break;
    case 1:
        post_recv(run, rig, side);
        break;
    case 2:
        poll_side(run, rig, side);
        break;
    default:
        let_go_on(run, rig, prng_below(&run->rng, 30));
        break;
    }
    run->actions++;
}

/* Has everything completed, or did a connection fail?  The peer of a failed queue pair may wait for
 * ever, which is right.
 */
static bool is_over(const struct run *run)
{
    for (unsigned side = 0; side < 2; side++) {
        const struct side_state *s = &run->side[side];

        if (s->sends_done != MESSAGES && !run->side[1 - side].failed)
            return false;
        if (s->recvs_done != MESSAGES && !s->failed && !run->side[1 - side].failed)
            return false;
    }
    return true;
}

/* The faults are over: everything that is left is posted and must end. */
static void finish(struct run *run, struct rig *rig)
{
    const struct rdl_limits none = {0};
    const struct rdl_link_config calm = {.latency_ns = 1000};

    for (uint32_t i = 0; i < run->n_faults; i++) {
        if (rdl_fault_remove(rig->lab, run->faults[i]) != RDL_OK)
            run->wrong = "a fault can be removed";
    }
    if (rdl_link_set(rig->lab, rig->link, &calm) != RDL_OK)
        run->wrong = "a link can be changed";
    for (uint32_t round = 0; round < END_ROUNDS && !run->wrong && !is_over(run); round++) {
        for (unsigned side = 0; side < 2; side++) {
            for (uint32_t i = 0; i < DEPTH; i++) {
                post_recv(run, rig, side);
                post_send(run, rig, side);
            }
        }
        if (rdl_run(rig->lab, rdl_now_ns(rig->lab) + ROUND_NS, none) == RDL_ERR_INVARIANT)
            run->wrong = rdl_broken_invariant(rig->lab);
        poll_side(run, rig, 0);
        poll_side(run, rig, 1);
    }
    if (!run->wrong && !is_over(run))
        run->wrong = "once the faults are over everything completes";
}

static void print_event(void *ctx, const struct ev *e)
{
    const struct rdl_lab *lab = ctx;
    char buf[EV_TEXT_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    ev_add_line(&t, e, rdl_names(lab));
    puts(buf);
}

static enum rdl_status build(struct run *run, struct rig *rig)
{
    struct prng *rng = &run->rng;
    struct rig_config c = {
        .seed = run->seed,
        .check_invariants = true,
        .hash = true,
        .mr_bytes = (uint64_t)2 * MESSAGES * PLACE_BYTES,
        .max_wr = DEPTH,
        .retry_cnt = 7,
        .rnr_retry = 7,
    };

    c.path_mtu = MTU_256 + (uint32_t)prng_below(rng, 5);
    c.sq_psn[0] = (uint32_t)(PSN_MASK - prng_below(rng, 200));
    c.sq_psn[1] = (uint32_t)prng_below(rng, (uint64_t)PSN_MASK + 1);
    c.timeout = 6 + (uint32_t)prng_below(rng, 5);
    c.min_rnr_timer = 1 + (uint32_t)prng_below(rng, 10);
    c.gid_index = (uint32_t)prng_below(rng, 2);
    c.latency_ns = prng_below(rng, 3000);
    if (prng_below(rng, 2))
        c.loss_ppm = (uint32_t)prng_below(rng, 40000);
    for (unsigned side = 0; side < 2; side++) {
        for (uint32_t i = 0; i < MESSAGES; i++)
            run->sizes[side][i] = random_size(rng, mtu_bytes(c.path_mtu));
    }
    return rig_init(rig, &c);
}

/* Runs @run to its end from where it is.  With @ret_middle, stops for a checkpoint half-way. */
static void play(struct run *run, struct rig *rig, struct run *ret_middle,
                 struct rdl_checkpoint **ret_checkpoint)
{
    while (run->actions < ACTIONS && !run->wrong) {
        act(run, rig);
        if (ret_middle && run->actions == ACTIONS / 2) {
            if (rdl_checkpoint_save(rig->lab, ret_checkpoint) != RDL_OK)
                run->wrong = "a checkpoint can be saved";
            *ret_middle = *run;
        }
    }
    if (!run->wrong)
        finish(run, rig);
}

/* One seed.  False: it went wrong, and what and how to see it again was printed. */
static bool try_seed(struct swarm_seed *asked)
{
    const uint64_t seed = asked->seed;
    struct run run = {.seed = seed, .rng = prng_stream(seed, 0)}, middle = {0};
    struct rdl_checkpoint *checkpoint = NULL;
    struct rdl_listener *listener = NULL;
    struct rig rig;
    uint64_t hash;

    if (build(&run, &rig) != RDL_OK)
        run.wrong = "the two hosts can be set up";
    if (asked->print && rdl_listen(rig.lab, asked->print, rig.lab, &listener) != RDL_OK)
        run.wrong = "the lab can be listened to";
    if (!run.wrong) {
        add_faults(&run, &rig);
        play(&run, &rig, &middle, &checkpoint);
    }
    rdl_unlisten(rig.lab, listener);
    asked->ret_invariant = rig.lab && rdl_broken_invariant(rig.lab);
    hash = rig.lab ? rdl_hash(rig.lab) : 0;
    asked->ret_hash = hash;
    if (!run.wrong && checkpoint) {
        rdl_checkpoint_restore(rig.lab, checkpoint);
        play(&middle, &rig, NULL, NULL);
        run.wrong = middle.wrong;
        if (!run.wrong && rdl_hash(rig.lab) != hash)
            run.wrong = "going back and on again ends with the same hash";
    }
    rdl_checkpoint_free(checkpoint);
    if (run.wrong)
        printf("seed %llu: %s\n  again: rdmalab swarm --seed %llu --events\n",
               (unsigned long long)seed, run.wrong, (unsigned long long)seed);
    rig_done(&rig);
    return !run.wrong;
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
    bool (*try)(struct swarm_seed *) = try_seed;
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
