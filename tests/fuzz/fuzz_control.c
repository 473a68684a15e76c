/* SPDX-License-Identifier: MIT */
/* Control requests that no correct driver makes: every command, any values, in any chain.
 *
 * They come from h1 in the lab of hostile_host.h, which the first byte of an input selects; the
 * labs differ in the device's features.  The rest is a list of actions: requests, with or without a
 * kick, for objects that may not exist; queues for the objects created, kicks of those, and time.
 *
 * Checked: what hostile_host.h lists.  Each request that is answered alone has one answer, with a
 * defined response code, of the length of that response and no more.  A refused request has a
 * reason and creates or destroys nothing.  A successful one creates or destroys one object, or
 * none, as its command says.
 */
#include <string.h>

#include "emu/device/rdma.h"
#include "emu/facts/device.h"
#include "emu/facts/enum/mtu.h"
#include "emu/facts/refusal.h"
#include "emu/facts/rfc.h"
#include "emu/facts/virtio_rdma/ctrl_cmd.h"
#include "emu/facts/virtio_rdma/ctrl_rsp.h"
#include "emu/facts/virtio_rdma/refusal_rsp.h"
#include "emu/rnic/rnic.h"
#include "hostile_host.h"
#include "rdmalab/control.h"
#include "rdmalab/inspect.h"

#define DEEDS_MAX     48u
#define REQUEST_AT    0u
#define RESPONSE_AT   0x1000u
#define TABLE_AT      0x2000u
#define RINGS_AT      0x4000u /* of the objects that are created, each RING_ROOM */
#define RING_ROOM     0x800u
#define SPARE_SIZE    16u
#define REQUEST_MAX   257u
#define ROOM_MAX      512u
#define BEHIND        16u   /* bytes that are looked at behind a response */
#define UNTOUCHED     0xa5u /* what was there before it */
#define ANSWER_NS     10000u
#define PIECES_MAX    6u
#define SMALL_NUMBERS 8u

enum deed { ASK, ASK_LATER, SET_UP, KICK, WAIT, ADJUST, DEED_COUNT };

static const uint8_t commands[] = {
#define CONTROL(nm, name, number, feature, request, response, text) number,
#include "emu/facts/controls.def"
#undef CONTROL
};

/* A request as it lies in the zone. */
struct request {
    uint8_t bytes[REQUEST_MAX];
    uint32_t n, room;
};

/* --- What it says ----------------------------------------------------------------------------- */

static void put_number(uint8_t *to, uint32_t bytes, uint64_t v)
{
    for (uint32_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(v >> (8 * i));
}

/* The value of an integer of a request: its first byte says of which sort. */
static uint64_t any_number(const struct hostile_lab *h, struct input *in)
{
    const uint8_t how = input_u8(in);

    switch (how >> 5) {
    case 0:
    case 1:
    case 2: /* a handle, a count, a set of flags */
        return how % (4 * SMALL_NUMBERS);
    case 3:
        return h->zone + HOSTILE_PAGE_LIST + (how & 1u) * 8u;
    case 4:
        return h->mem.addr + (how & 31u) * 1024u;
    case 5:
        return (uint64_t)1 << (how & 31u);
    case 6:
        return (uint64_t)(how & 31u) * RAM_PAGE_BYTES;
    default:
        return input_u64(in);
    }
}

/* Fills the request of @command, field by field. */
static void fill(const struct hostile_lab *h, uint8_t command, struct input *in, struct request *r)
{
    const struct row_struct *s = rfc_ctrl(command)->request;

    r->bytes[0] = command;
    r->n = 1 + (uint32_t)rfc_bytes(s);
    for (size_t i = 0; s && i < s->n_fields; i++) {
        const struct row_field *f = &s->fields[i];
        uint8_t *at = r->bytes + 1 + f->offset, byte;

        if (f->type == 'i') {
            put_number(at, f->bytes, any_number(h, in));
        } else {
            byte = input_u8(in);
            at[input_u8(in) % f->bytes] = byte;
        }
    }
}

/* Attributes that some move of a queue pair needs, before others are changed. */
static void fill_modify(const struct hostile_lab *h, struct input *in, struct request *r)
{
    const struct row_struct *attr = rfc_find("qp_attr");
    const unsigned how = input_u8(in);
    const uint32_t qpn = how < 0x80 ? h->ours[how % HOSTILE_SERVICES].qpn : how % 8;
    uint8_t *attrs =
        r->bytes + 1 + row_field_find(rfc_ctrl(CMD_MODIFY_QP)->request, "attrs")->offset;
    unsigned n = input_u8(in) % 8;

    put_number(r->bytes + 1, 4, qpn);
    put_number(r->bytes + 5, 4, input_u32(in));
    memcpy(attrs + row_field_find(attr, "ah_dgid")->offset, host_rdma(h->h1)->nic.hca.gids[0].raw,
           16);
    attrs[row_field_find(attr, "ah_flags")->offset] = 1;
    attrs[row_field_find(attr, "path_mtu")->offset] = MTU_1024;
    attrs[row_field_find(attr, "port_num")->offset] = 1;
    attrs[row_field_find(attr, "ah_port_num")->offset] = 1;
    while (n-- > 0) {
        const struct row_field *f = &attr->fields[input_u8(in) % attr->n_fields];

        put_number(attrs + f->offset, f->bytes < 8 ? f->bytes : 8, any_number(h, in));
    }
}

static void make_request(const struct hostile_lab *h, struct input *in, struct request *r)
{
    const uint8_t which = input_u8(in), how = input_u8(in);
    const uint8_t command = which < 0xf8 ? commands[which % ARRAY_LEN(commands)] : input_u8(in);

    memset(r, 0, sizeof(*r));
    fill(h, command, in, r);
    if (command == CMD_MODIFY_QP && how & 1)
        fill_modify(h, in, r);
    r->room = 1 + (uint32_t)rfc_bytes(rfc_ctrl(command)->response);
    if (how & 0x80) /* too short, or longer than it need be */
        r->n = input_u16(in) % (REQUEST_MAX + 1);
    if (how & 0x40)
        r->room = input_u16(in) % (ROOM_MAX + 1);
}

/* --- How it lies ------------------------------------------------------------------------------ */

/* Cuts @bytes at @at into at most @max buffers; returns how many. */
static uint32_t cut(struct input *in, uint64_t at, uint32_t bytes, bool writable,
                    struct hostile_seg *segs)
{
    const uint32_t pieces = 1 + input_u8(in) % PIECES_MAX;
    uint32_t n = 0;

    while (bytes > 0) {
        const uint32_t some = n + 1 < pieces ? 1 + input_u8(in) % bytes : bytes;

        segs[n++] = (struct hostile_seg){at, some, writable, 0};
        at += some;
        bytes -= some;
    }
    return n;
}

/* Request and response into the ring; false: there is not even an empty chain. */
static bool lay(struct hostile_lab *h, struct input *in, const struct request *r)
{
    struct hostile_seg segs[2 * PIECES_MAX];
    uint8_t room[ROOM_MAX + BEHIND];
    uint32_t n = cut(in, h->zone + REQUEST_AT, r->n, false, segs);
    const uint8_t direct = input_u8(in);

    memset(room, UNTOUCHED, sizeof(room));
    hostile_poke(h, h->zone + REQUEST_AT, r->bytes, r->n);
    hostile_poke(h, h->zone + RESPONSE_AT, room, sizeof(room));
    n += cut(in, h->zone + RESPONSE_AT, r->room, true, segs + n);
    hostile_offer(h, RING_CONTROL, segs, n, direct >= 0x80 ? direct % (n + 1) : n,
                  h->zone + TABLE_AT);
    return n > 0;
}

/* --- What comes of it ------------------------------------------------------------------------- */

/* Objects of each table. */
struct counts {
    uint32_t pds, mrs, mws, cqs, qps, srqs;
};

static struct counts counts_of(const struct hostile_lab *h)
{
    const struct hca *d = &host_rdma(h->h1)->nic.hca;

    return (struct counts){d->pds.used, d->n_mr, d->n_mw, d->cqs.used, hca_n_qps(d), d->srqs.used};
}

/* What @command does to the numbers of objects, if it is done. */
static void apply(struct counts *c, uint8_t command)
{
    c->pds += (command == CMD_CREATE_PD) - (command == CMD_DESTROY_PD);
    c->mrs += (command == CMD_REG_USER_MR) + (command == CMD_GET_DMA_MR) +
              (command == CMD_CREATE_MR) - (command == CMD_DEREG_MR);
    c->mws += (command == CMD_ALLOC_MW) - (command == CMD_DEALLOC_MW);
    c->cqs +=
        (command == CMD_CREATE_CQ) + (command == CMD_CREATE_CQ_EX) - (command == CMD_DESTROY_CQ);
    c->qps += (command == CMD_CREATE_QP) - (command == CMD_DESTROY_QP);
    c->srqs += (command == CMD_CREATE_SRQ) - (command == CMD_DESTROY_SRQ);
}

static void check_answer(const struct hostile_lab *h, const struct request *r, struct counts before)
{
    const uint8_t command = r->n > 0 ? r->bytes[0] : 0;
    const uint32_t all = 1 + (uint32_t)rfc_bytes(rfc_ctrl(command)->response);
    const struct refused *why = &host_rdma(h->h1)->nic.hca.refused;
    struct counts after = counts_of(h);
    uint8_t rsp[ROOM_MAX + BEHIND];
    uint32_t written = 0;

    FUZZ_CHECK(rdl_ram_read(h->lab, h->host, h->zone + RESPONSE_AT, rsp, sizeof(rsp)) == RDL_OK);
    if (r->room > 0 && rsp[0] == RSP_OK) {
        FUZZ_CHECK(r->room >= all && why->why == REF_NONE);
        apply(&before, command);
        written = all;
    } else if (r->room > 0) {
        FUZZ_CHECK(why->why != REF_NONE && rsp[0] == refusal_rsp(why->why));
        written = 1;
    }
    FUZZ_CHECK(memcmp(&before, &after, sizeof(before)) == 0);
    for (uint32_t i = written; i < sizeof(rsp); i++)
        FUZZ_CHECK(rsp[i] == UNTOUCHED);
}

/* One request, with nothing before it in the ring. */
static void ask(struct hostile_lab *h, struct input *in)
{
    struct vq *vq = hostile_vq(h, RING_CONTROL);
    struct counts before;
    struct request r;
    uint16_t used;

    hostile_kick(h, RING_CONTROL);
    hostile_go_on(h, ANSWER_NS);
    if (vq->last_avail != h->places[RING_CONTROL].avail_idx)
        return; /* more than the ring holds was put into it */
    make_request(h, in, &r);
    before = counts_of(h);
    used = vq->used_idx;
    if (!lay(h, in, &r))
        return;
    hostile_kick(h, RING_CONTROL);
    hostile_go_on(h, ANSWER_NS);
    if (!virtio_running(&host_rdma(h->h1)->pci) || vq->broken != VQE_NONE || !vq->enabled)
        return;
    FUZZ_CHECK((uint16_t)(vq->used_idx - used) == 1);
    check_answer(h, &r, before);
}

/* A ring for something that a request has created, or will. */
static void set_up(struct hostile_lab *h, struct input *in)
{
    const unsigned which = input_u8(in) % (RING_NET_RECEIVES - RING_CQ);
    const enum hostile_ring ring = (enum hostile_ring)(RING_CQ + which);
    const bool packed = virtio_has(&host_rdma(h->h1)->pci, VF_RING_PACKED);
    const struct vring r = vring_place(h->zone + RINGS_AT + which * RING_ROOM, SPARE_SIZE, packed);

    if (hostile_vq(h, ring))
        hostile_move(h, ring, &r);
}

/* Limits change at work, as an operator's do. */
static void adjust(const struct hostile_lab *h, struct input *in)
{
    struct rdl_device_limits to = {.max_pd = input_u8(in) % 8};
    enum rdl_status st;

    to.max_mr = input_u8(in) % 8;
    to.max_qp_wr = input_u8(in) % 64;
    to.max_cqe = input_u8(in) % 64;
    st = rdl_host_limit(h->lab, h->host, &to);
    FUZZ_CHECK(st == RDL_OK);
}

static void do_deed(struct hostile_lab *h, struct input *in)
{
    struct request r;

    switch (input_u8(in) % DEED_COUNT) {
    case ASK:
        ask(h, in);
        break;
    case ASK_LATER:
        make_request(h, in, &r);
        (void)lay(h, in, &r);
        break;
    case SET_UP:
        set_up(h, in);
        break;
    case KICK:
        hostile_do_kick(h, in);
        break;
    case WAIT:
        hostile_do_wait(h, in);
        break;
    default:
        adjust(h, in);
    }
}

const struct hostile_target hostile_target = {.deeds_max = DEEDS_MAX, .deed = do_deed};
