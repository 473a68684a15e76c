/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "captured.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/wire/icrc.h"
#include "emu/wire/packet.h"
#include "emu/wire/pcapng.h"

#define FRAME_BYTES 5000u

static const uint8_t ip_a[4] = {10, 0, 0, 1}, ip_b[4] = {10, 0, 0, 2};

static void put(void *ctx, const void *bytes, size_t n)
{
    assert_int_equal(fwrite(bytes, 1, n, ctx), n);
}

static struct packet packet_of(const struct captured *c)
{
    const struct op_info *op = op_info((uint8_t)c->op);
    struct packet p = {
        .ip = {.version = 4, .ttl = 64, .id = c->ip_id, .tclass = c->tclass},
        .udp_src_port = 50000,
        .bth = {.opcode = (uint8_t)c->op,
                .psn = {c->psn},
                .ack_req = c->ack_req,
                .pkey = 0xffff,
                .dest_qpn = c->qpn           ? c->qpn
                            : c->from == 'a' ? 18
                                             : 17},
        .reth = {.va = c->va, .rkey = 7, .dma_bytes = c->dma_bytes ? c->dma_bytes : c->n},
        .atomic = {.va = c->va, .rkey = 7, .swap_add = 1},
        .aeth = {.syndrome = c->syndrome, .msn = c->msn},
        .atomic_ack = c->value,
        .payload_bytes = op->kind == OPK_READ || op->kind == OPK_ATOMIC ? 0 : c->n,
    };

    gid_from_ipv4(p.ip.src, c->from == 'a' ? ip_a : ip_b);
    gid_from_ipv4(p.ip.dst, c->from == 'a' ? ip_b : ip_a);
    return p;
}

/* Corrects the ICRC of a frame that was changed. */
static void sum(uint8_t *frame, size_t n)
{
    st_le32(frame + n - ICRC_BYTES, icrc_compute(frame + ETH_BYTES, n - ETH_BYTES - ICRC_BYTES));
}

static void harm(const struct captured *c, uint8_t *frame, size_t n)
{
    uint8_t *bth = frame + ETH_BYTES + IPV4_BYTES + UDP_BYTES;

    switch (c->harm) {
    case BAD_BIT:
        frame[n - ICRC_BYTES - 1] ^= 1;
        return;
    case FALSE_LENGTH: /* of UDP */
        frame[ETH_BYTES + IPV4_BYTES + 5] ^= 4;
        break;
    case FALSE_PAD:
        bth[1] = (uint8_t)((bth[1] & ~0x30u) | 0x10u);
        break;
    case FALSE_VERSION:
        bth[1] |= 1;
        break;
    case FALSE_OPCODE:
        bth[0] = 0x1f;
        break;
    case OTHER_SERVICE: /* a SEND of XRC */
        bth[0] = 0xa4;
        break;
    case NO_ICRC:
        st_le32(frame + n - ICRC_BYTES, 0);
        return;
    case FALSE_SUM: /* of IP */
        frame[ETH_BYTES + 10] ^= 0xff;
        return;
    default:
        return;
    }
    sum(frame, n);
}

static void write_frame(struct pcapng *w, const struct captured *c)
{
    const struct packet p = packet_of(c);
    uint8_t frame[FRAME_BYTES];
    const size_t n = packet_frame_bytes(&p);
    struct pcapng_packet out = {
        .at_ns = UINT64_C(1000) * c->at_us, .frame = frame, .frame_bytes = (uint32_t)n};

    memset(packet_build(&p, frame), c->fill, p.payload_bytes);
    packet_finish(frame, n);
    harm(c, frame, n);
    pcapng_packet(w, &out);
}

void captured_check(const struct captured *v, size_t n, const struct captured_known *known,
                    struct check *ret)
{
    struct check_known k = {.limits = known->limits};
    FILE *f = tmpfile();
    struct pcapng w;

    assert_non_null(f);
    pcapng_begin(&w, put, f, NULL, 0);
    assert_int_equal(pcapng_interface(&w, "if", "a tap"), 0);
    for (size_t i = 0; i < n; i++)
        write_frame(&w, &v[i]);
    if (known->is_complete)
        pcapng_dropped(&w, 0, UINT64_C(1000) * v[n - 1].at_us, 0);
    if (known->at)
        gid_from_ipv4(k.at.at[k.at.n_at++], known->at == 'a' ? ip_a : ip_b);
    rewind(f);
    assert_true(check_file(ret, f, &k));
    assert_true(ret->is_whole);
    fclose(f);
}

const char *captured_found(const struct check *c, char *buf, size_t cap)
{
    struct text t = text_on(buf, cap);

    for (uint32_t i = 0; i < c->found.n; i++)
        text_addf(&t, "%s%llu %s", i ? ", " : "", (unsigned long long)c->found.v[i].frame,
                  finding_rows[c->found.v[i].finding].name);
    return buf;
}

void captured_shows(const struct captured *v, size_t n, const char *expected)
{
    const struct captured_known nothing = {
        .limits = {EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN, EXACT_UNKNOWN}};
    char buf[1000];
    struct check c;

    captured_check(v, n, &nothing, &c);
    assert_string_equal(captured_found(&c, buf, sizeof(buf)), expected);
    check_done(&c);
}
