/* SPDX-License-Identifier: MIT */
#include "swarm/worlds/matrix.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/facts/enum/access.h"
#include "emu/facts/enum/fault.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/enum/profile.h"
#include "emu/facts/enum/qp_type.h"
#include "emu/facts/enum/send_flag.h"
#include "emu/facts/psn.h"
#include "rdmalab/fault.h"

#define LARGE_BYTES (1u << 20)
#define PAGE        4096u
#define FIRST_PLACE (4u * PAGE) /* behind the region with edges */
#define SPARES      2u
#define WAIT_NS     30000000u /* longer than all timers of a cell */
#define FRAME_BYTES 120u      /* upper bound of the headers */
#define OWN_PSN     1000u

struct matrix_walk {
    bool (*each)(void *ctx, const struct matrix_cell *c);
    void *ctx;
    uint32_t n;
    bool is_over;
};

static bool needs_recv(uint32_t opcode)
{
    return opcode == WR_SEND || opcode == WR_SEND_WITH_IMM || opcode == WR_RDMA_WRITE_WITH_IMM;
}

static bool is_atomic(uint32_t opcode)
{
    return opcode == WR_ATOMIC_FETCH_AND_ADD || opcode == WR_ATOMIC_CMP_AND_SWP;
}

static uint32_t packets(const struct matrix_cell *c)
{
    const uint32_t mtu = 128u << c->path_mtu;

    return c->bytes == 0 ? 1 : (c->bytes + mtu - 1) / mtu;
}

/* Number of packets of the message, or of its response. */
static uint32_t packets_of(const struct matrix_cell *c, bool answer)
{
    if (answer && c->type != QPT_RC)
        return 0;
    return answer == (c->opcode == WR_RDMA_READ) ? packets(c) : 1;
}

static void visit(struct matrix_walk *w, const struct matrix_cell *like)
{
    struct matrix_cell c = *like;

    c.number = ++w->n;
    w->is_over = w->is_over || !w->each(w->ctx, &c);
}

/* Returns true if packet @nth of @n gets faults. */
static bool is_hit(uint32_t nth, uint32_t n)
{
    return n <= 8 || nth <= 2 || nth == n / 2 || nth + 1 >= n;
}

static void walk_faults(struct matrix_walk *w, struct matrix_cell c)
{
    static const uint32_t faults[] = {FLT_DROP, FLT_DUPLICATE, FLT_DELAY, FLT_CORRUPT};

    visit(w, &c);
    for (unsigned answer = 0; answer < 2; answer++) {
        const uint32_t n = packets_of(&c, answer != 0);

        for (uint32_t nth = 1; nth <= n; nth++) {
            for (size_t f = 0; f < ARRAY_LEN(faults) && is_hit(nth, n); f++) {
                c.fault = faults[f];
                c.of_answer = answer != 0;
                c.nth = nth;
                visit(w, &c);
            }
        }
    }
}

static void walk_queues(struct matrix_walk *w, struct matrix_cell c)
{
    const unsigned queues = needs_recv(c.opcode) ? 2 : 1;

    for (unsigned srq = 0; srq < queues; srq++) {
        for (unsigned wraps = 0; wraps < 2; wraps++) {
            c.has_srq = srq != 0;
            c.wraps = wraps != 0;
            walk_faults(w, c);
        }
    }
}

static void walk_sizes(struct matrix_walk *w, struct matrix_cell c)
{
    const uint32_t mtu = 128u << c.path_mtu;
    const uint32_t sizes[] = {0, 1, 3, mtu - 1, mtu, mtu + 1, 3 * mtu + 1, LARGE_BYTES};

    if (is_atomic(c.opcode)) {
        c.bytes = WORLD_WORD_BYTES;
        walk_queues(w, c);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(sizes) && !w->is_over; i++) {
        if (c.type == QPT_UD && sizes[i] > mtu)
            continue; /* a datagram is one packet */
        c.bytes = sizes[i];
        if (c.type != QPT_RC && c.opcode == WR_SEND && c.bytes < 8)
            continue; /* a message that may be lost must be long enough to be recognised */
        walk_queues(w, c);
    }
}

void matrix_walk(bool (*each)(void *ctx, const struct matrix_cell *c), void *ctx)
{
    static const struct {
        uint8_t type;
        uint32_t opcode;
    } ops[] = {{QPT_RC, WR_SEND},
               {QPT_RC, WR_SEND_WITH_IMM},
               {QPT_RC, WR_RDMA_WRITE},
               {QPT_RC, WR_RDMA_WRITE_WITH_IMM},
               {QPT_RC, WR_RDMA_READ},
               {QPT_RC, WR_ATOMIC_FETCH_AND_ADD},
               {QPT_RC, WR_ATOMIC_CMP_AND_SWP},
               {QPT_UC, WR_SEND},
               {QPT_UC, WR_SEND_WITH_IMM},
               {QPT_UC, WR_RDMA_WRITE},
               {QPT_UC, WR_RDMA_WRITE_WITH_IMM},
               {QPT_UD, WR_SEND},
               {QPT_UD, WR_SEND_WITH_IMM}};
    struct matrix_walk w = {.each = each, .ctx = ctx};

    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        for (uint32_t mtu = ops[i].type == QPT_UD ? MTU_4096 : MTU_256; mtu <= MTU_4096; mtu++) {
            const struct matrix_cell c = {
                .type = ops[i].type, .opcode = ops[i].opcode, .path_mtu = mtu, .fault = FLT_NONE};

            if (!w.is_over)
                walk_sizes(&w, c);
        }
    }
}

/* --- The world of a cell ---------------------------------------------------------------------- */

static void make_ends(struct world *w, const struct matrix_cell *c)
{
    w->n_hosts = 2;
    w->n_ends = 2;
    w->n_conns = c->type == QPT_UD ? 0 : 1;
    for (uint32_t i = 0; i < 2; i++) {
        struct world_end *e = &w->end[i];

        w->host[i] = (struct world_host){.profile = PROFILE_iba,
                                         .latency_ns = 1000,
                                         .edge_at = PAGE + 1,
                                         .edge_bytes = PAGE,
                                         .words_at = FIRST_PLACE};
        *e = (struct world_end){
            .type = c->type,
            .host = (uint8_t)i,
            .peer = (uint16_t)(c->type == QPT_UD ? i : 1 - i),
            .access = ACC_LOCAL_WRITE | ACC_REMOTE_WRITE,
            .has_srq = i == 1 && c->has_srq,
            .sq_psn = ((c->wraps ? PSN_MASK : OWN_PSN) + i) & PSN_MASK,
            .path_mtu = c->path_mtu,
            .timeout = 8,
            .retry_cnt = 7,
            .rnr_retry = 7,
            .min_rnr_timer = 1,
            .max_rd_atomic = 4,
            .max_dest_rd_atomic = 4,
        };
        if (c->type == QPT_RC)
            e->access |= ACC_REMOTE_READ | ACC_REMOTE_ATOMIC;
    }
}

static struct world_item *add_item(struct world *w, uint32_t *used, uint16_t end, uint32_t bytes)
{
    struct world_item *t = &w->item[w->n_items++];

    *t = (struct world_item){.end = end,
                             .to = w->end[end].peer,
                             .again = WORLD_NONE,
                             .bytes = bytes,
                             .n_pieces = 1,
                             .flags = SF_SIGNALED,
                             .key = KEY_OPEN};
    t->piece[0] = (struct world_piece){used[end] + 1, bytes};
    used[end] += bytes + 2;
    return t;
}

static void add_receive(struct world *w, uint32_t *used, uint16_t end, uint32_t bytes,
                        bool is_spare)
{
    struct world_item *t = add_item(w, used, end, bytes + WORLD_GRH_BYTES);

    t->is_recv = true;
    t->is_spare = is_spare;
    t->opcode = WR_RECV;
}

static void add_request(struct world *w, uint32_t *used, const struct matrix_cell *c)
{
    struct world_item *t = add_item(w, used, 0, c->bytes);

    t->to = 1;
    t->opcode = c->opcode;
    t->compare_add = 5;
    t->swap = 77;
    t->remote = is_atomic(c->opcode) ? w->host[1].words_at : used[1] + 1;
    used[1] += c->bytes + 2;
}

static void add_stop(struct world *w, uint32_t *used, uint16_t end)
{
    const bool is_datagram = w->end[end].type == QPT_UD;
    struct world_item *t = add_item(w, used, end, is_datagram ? 8 : 0);

    t->is_spare = true;
    t->opcode = is_datagram ? WR_SEND : WR_RDMA_WRITE;
}

static void add_fault(struct world *w, const struct matrix_cell *c)
{
    const uint32_t frame_ns = ((128u << c->path_mtu) + FRAME_BYTES) * 8 / 100;

    if (c->fault == FLT_NONE)
        return;
    w->fault[w->n_faults++] = (struct world_fault){
        .kind = c->fault,
        .from = c->of_answer,
        .opcode = RDL_ANY,
        .nth = c->nth,
        .count = 1,
        .delay_ns = frame_ns + frame_ns / 2, /* arrives after the next frame */
        .bit = RDL_ANY,
    };
    w->deed[w->n_deeds++] = (struct world_deed){DO_FAULT, 0, 0};
}

void matrix_world(struct world *w, const struct matrix_cell *c)
{
    uint32_t used[2] = {FIRST_PLACE + PAGE, FIRST_PLACE + PAGE};

    memset(w, 0, offsetof(struct world, item));
    w->seed = c->number;
    w->max_message = c->bytes;
    make_ends(w, c);
    add_receive(w, used, 1, c->bytes, false);
    add_request(w, used, c);
    for (uint16_t end = 0; end < 2; end++) {
        for (uint32_t i = 0; i < SPARES; i++)
            add_receive(w, used, end, 64, true);
        add_stop(w, used, end);
    }
    add_fault(w, c);
    if (needs_recv(c->opcode))
        w->deed[w->n_deeds++] = (struct world_deed){DO_POST, 0, 0};
    w->deed[w->n_deeds++] = (struct world_deed){DO_POST, 1, 0};
    w->deed[w->n_deeds++] = (struct world_deed){DO_WAIT, 0, WAIT_NS};
    for (uint32_t h = 0; h < 2; h++)
        w->host[h].memory_bytes = (used[h] + 2 * PAGE - 1) & ~(PAGE - 1);
}
