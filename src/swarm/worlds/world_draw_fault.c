/* SPDX-License-Identifier: MIT */
/* Draws faults on frames and devices, and links with jitter and loss bursts. */
#include "emu/base/assert.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/opcode.h"
#include "emu/facts/enum/wire_field.h"
#include "emu/facts/opcode.h"
#include "rdmalab/fault.h"
#include "swarm/worlds/world_draw.h"

#define LINK_FAULTS_MAX 6u
#define WRONG_ICRC      0x1234567u
#define STREAM_DEVICES  0xd0000000u /* number of a PRNG stream of the seed */

/* The fields and values of forged packets.  A receiver drops the packet for its P_Key, its queue
 * pair number or its ICRC.  Or the field affects at most when an answer is sent.  AckReq is never
 * cleared: an ACK that waits for a line would then cover less than what was received meanwhile, and
 * the wire watcher compares each ACK with all received packets.
 */
static const struct {
    uint32_t field, value;
} forgeries[] = {
    {WF_PKEY, 0x8999},
    {WF_PKEY, 0x8999},
    {WF_DEST_QPN, 0xfff0},
    {WF_DEST_QPN, 0xfff0},
    {WF_ICRC, WRONG_ICRC},
    {WF_ACKREQ, 1},
    {WF_ACKREQ, 1},
    {WF_TTL, 3},
    {WF_ECN, 3},
    {WF_DSCP, 5},
    {WF_UDP_SRC_PORT, 0xd00d},
    {WF_TVER, 1},
};

/* Fields in which a bit is flipped, so that the ICRC is wrong.  A packet need not have the field.
 */
static const uint32_t flipped[] = {WF_PSN,      WF_OPCODE, WF_DEST_QPN, WF_ACKREQ,   WF_PAD,
                                   WF_RKEY,     WF_VA,     WF_LENGTH,   WF_SYNDROME, WF_MSN,
                                   WF_ORIGINAL, WF_IMM,    WF_QKEY,     WF_PKEY,     WF_SRC_QPN};

/* Draws which frames the fault affects, in addition to their opcode. */
static void draw_aim(struct draw *d, struct world_fault *f)
{
    f->is_on_link = draw_one_in(d, 5);
    f->is_long = draw_one_in(d, 8);
    if (draw_one_in(d, 6))
        f->transmission = 1 + draw_below(d, 3);
    if (draw_one_in(d, 6)) {
        f->end = (uint16_t)draw_below(d, d->w->n_ends);
        f->message = 1 + draw_below(d, 8);
        f->nth = 1 + f->nth % 4;
    }
}

static void draw_act(struct draw *d, struct world_fault *f)
{
    const uint32_t forgery = draw_below(d, ARRAY_LEN(forgeries));
    const uint32_t flip = draw_below(d, ARRAY_LEN(flipped));

    f->delay_ns = draw_below(d, 20000);
    f->bit = draw_below(d, 4000);
    f->behind = 1 + draw_below(d, 5);
    f->bytes = 1 + draw_below(d, 300);
    if (f->kind == FLT_FORGE) {
        f->field = forgeries[forgery].field;
        f->value = forgeries[forgery].value;
    } else if (f->kind == FLT_CORRUPT && draw_one_in(d, 2)) {
        f->field = flipped[flip];
    }
}

/* Draws a device fault, with a PRNG stream of its own. */
static void draw_device(struct draw *d, struct prng *rng, struct world_fault *f)
{
    static const uint32_t kinds[] = {FLT_LOST_KICK, FLT_STUCK_QUEUE, FLT_LOST_INTERRUPT};
    const uint32_t kind = kinds[prng_below(rng, ARRAY_LEN(kinds))];
    const uint32_t ns = (uint32_t)prng_below(rng, 60000);
    const bool of_receives = prng_below(rng, 2) == 0;

    if (prng_below(rng, 3) != 0)
        return;
    f->device.kind = kind;
    f->device.of_receives = of_receives && kind != FLT_LOST_INTERRUPT;
    f->device.end = (uint16_t)prng_below(rng, d->w->n_ends);
    f->device.nth = 1 + (uint32_t)prng_below(rng, 4);
    f->device.count = 1 + (uint32_t)prng_below(rng, 3);
    f->device.time_ns = kind != FLT_STUCK_QUEUE || ns % 4 == 0 ? 0 : ns;
}

/* Returns true if both faults can affect the same frame.  Faults select the sending host even on a
 * link.
 */
static bool may_meet(const struct world_fault *a, const struct world_fault *b)
{
    return a->from == b->from &&
           (a->opcode == RDL_ANY || b->opcode == RDL_ANY || a->opcode == b->opcode);
}

/* Prevents that a forgery repairs damage.  A forged packet gets a correct ICRC, which would hide
 * earlier damage, so that anything might be written anywhere.  A forgery that may meet a damaged
 * packet sets a wrong ICRC instead.
 */
static void mend_no_damage(struct world *w)
{
    for (uint32_t i = 0; i < w->n_faults; i++) {
        for (uint32_t k = 0; k < w->n_faults && w->fault[i].kind == FLT_FORGE; k++) {
            if (w->fault[k].kind != FLT_CORRUPT || !may_meet(&w->fault[i], &w->fault[k]))
                continue;
            w->fault[i].field = WF_ICRC;
            w->fault[i].value = WRONG_ICRC;
        }
    }
}

void draw_faults(struct draw *d)
{
    static const uint32_t kinds[] = {FLT_DROP,    FLT_DROP,     FLT_DROP,    FLT_DUPLICATE,
                                     FLT_DELAY,   FLT_CORRUPT,  FLT_CORRUPT, FLT_REORDER,
                                     FLT_REORDER, FLT_TRUNCATE, FLT_MARK,    FLT_FORGE,
                                     FLT_FORGE,   FLT_DUPLICATE};
    static const uint32_t opcodes[] = {OP_RC_ACKNOWLEDGE,
                                       OP_RC_ACKNOWLEDGE,
                                       OP_RC_SEND_ONLY,
                                       OP_RC_RDMA_WRITE_LAST,
                                       OP_RC_RDMA_READ_REQUEST,
                                       OP_RC_ATOMIC_ACKNOWLEDGE,
                                       OP_RC_FETCH_ADD,
                                       OP_RC_SEND_MIDDLE,
                                       OP_RC_RDMA_READ_RESPONSE_MIDDLE,
                                       OP_RC_RDMA_READ_RESPONSE_ONLY};
    struct world *w = d->w;
    struct prng devices = prng_stream(w->seed, STREAM_DEVICES);

    w->n_faults = 1 + draw_below(d, LINK_FAULTS_MAX);
    if (draw_one_in(d, 4))
        w->n_faults = 0;
    for (uint32_t i = 0; i < w->n_faults; i++) {
        struct world_fault *f = &w->fault[i];

        *f = (struct world_fault){.opcode = RDL_ANY};
        f->kind = kinds[draw_below(d, ARRAY_LEN(kinds))];
        f->from = (uint16_t)draw_below(d, w->n_hosts);
        f->nth = 1 + draw_below(d, 40);
        if (draw_one_in(d, 2)) {
            f->opcode = opcodes[draw_below(d, ARRAY_LEN(opcodes))];
            f->nth = 1 + f->nth % 6;
        }
        f->count = 1 + draw_below(d, f->kind == FLT_DUPLICATE ? 12 : 4);
        draw_aim(d, f);
        draw_act(d, f);
        draw_device(d, &devices, f);
    }
    mend_no_damage(w);
}

void draw_link_faults(struct draw *d, struct world_host *host, bool is_lossy)
{
    if (draw_one_in(d, 4))
        host->jitter_ns = 1 + draw_below(d, 1500);
    if (!is_lossy || !draw_one_in(d, 3))
        return;
    host->burst_ppm = 1 + draw_below(d, 8000);
    host->burst_frames = 1 + draw_below(d, 6);
    host->burst_loss_ppm = 500000 + draw_below(d, 500001);
}
