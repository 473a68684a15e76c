/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include "captured.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/wire/checksum.h"
#include "emu/wire/icrc.h"
#include "emu/wire/packet.h"
#include "emu/wire/pcapng.h"

#define FRAME_BYTES 5000u
#define CUT_BYTES   40u

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
        .feth = {.placement = FETH_GLOBAL},
        .reth = {.va = c->va, .rkey = 7, .dma_bytes = c->dma_bytes ? c->dma_bytes : c->n},
        .atomic = {.va = c->va, .rkey = 7, .swap_add = 1},
        .aeth = {.syndrome = c->syndrome, .msn = c->msn},
        .atomic_ack = c->value,
        .payload_bytes = op_has_response(op) && op->kind != OPK_ATOMIC_WRITE ? 0 : c->n,
    };

    if (c->way == IN6 || c->way == IN6_MORE) {
        p.ip.version = 6;
        p.ip.id = 0;
        p.ip.src[0] = p.ip.dst[0] = 0xfd;
        p.ip.src[15] = c->from == 'a' ? 1 : 2;
        p.ip.dst[15] = c->from == 'a' ? 2 : 1;
        return p;
    }
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
    case RXES_ICRC:
        st_le32(frame + n - ICRC_BYTES, packet_icrc_of_rxe(frame, n - ICRC_BYTES));
        return;
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

/* Inserts @bytes at @at of the frame.  Returns its new length. */
static size_t insert(uint8_t *frame, size_t n, size_t at, const uint8_t *bytes, size_t more)
{
    assert_true(n + more <= FRAME_BYTES);
    memmove(frame + at + more, frame + at, n - at);
    memcpy(frame + at, bytes, more);
    return n + more;
}

static size_t with_options(uint8_t *frame, size_t n)
{
    static const uint8_t options[8] = {0x94, 4, 0, 0, 1, 1, 1, 0}; /* router alert, padding */
    uint8_t *ip = frame + ETH_BYTES;

    n = insert(frame, n, ETH_BYTES + IPV4_BYTES, options, sizeof(options));
    ip[0] = 0x47;
    st_be16(ip + 2, (uint16_t)(n - ETH_BYTES));
    st_be16(ip + 10, 0);
    st_be16(ip + 10, checksum_fold(checksum_add(0, ip, IPV4_BYTES + sizeof(options))));
    return n;
}

/* Adds hop-by-hop options and a segment list whose last segment is the destination so far. */
static size_t with_extensions(uint8_t *frame, size_t n)
{
    static const uint8_t segment[GID_BYTES] = {0xfd, 0x99, [15] = 1};
    uint8_t more[8 + 24] = {43, 0, 1, 4, 0, 0, 0, 0, /* hop-by-hop, 8 bytes; padding */
                            17, 2, 4, 1, 0, 0, 0, 0 /* 24 bytes; segments; 1 left */};
    uint8_t *ip = frame + ETH_BYTES;

    memcpy(more + 16, ip + 24, GID_BYTES);
    memcpy(ip + 24, segment, GID_BYTES); /* where it goes now */
    ip[6] = 0;
    st_be16(ip + 4, (uint16_t)(ld_be16(ip + 4) + sizeof(more)));
    return insert(frame, n, ETH_BYTES + IPV6_BYTES, more, sizeof(more));
}

/* Puts the frame into a UDP packet to @port, behind a header of @head. */
static size_t in_tunnel(uint8_t *frame, size_t n, uint16_t port, const uint8_t *head,
                        size_t head_bytes)
{
    const struct packet outer = {.ip = {.version = 4, .ttl = 9},
                                 .bth = {.opcode = OP_RC_SEND_ONLY}};
    uint8_t before[ETH_BYTES + IPV4_BYTES + UDP_BYTES + 16];
    struct packet_path path;
    const size_t bytes = ETH_BYTES + IPV4_BYTES + UDP_BYTES;
    struct packet p = outer;

    gid_from_ipv4(p.ip.src, (const uint8_t[4]){192, 168, 0, 1});
    gid_from_ipv4(p.ip.dst, (const uint8_t[4]){192, 168, 0, 2});
    path = packet_path_of(&p);
    memcpy(before, path.bytes, bytes);
    ipv4_set_payload(before + ETH_BYTES, (uint16_t)(UDP_BYTES + head_bytes + n));
    st_be16(before + ETH_BYTES + IPV4_BYTES + 2, port);
    st_be16(before + ETH_BYTES + IPV4_BYTES + 4, (uint16_t)(UDP_BYTES + head_bytes + n));
    memcpy(before + bytes, head, head_bytes);
    return insert(frame, n, 0, before, bytes + head_bytes);
}

static size_t pfc(const struct captured *c, uint8_t *frame)
{
    static const uint8_t head[ETH_BYTES + 4] = {1, 0x80, 0xc2, 0, 0, 1, [12] = 0x88, 8, 1, 1, 0, 8};

    memset(frame, 0, 60);
    memcpy(frame, head, sizeof(head));
    st_be16(frame + ETH_BYTES + 4 + 2 * 3, c->n ? 0xffff : 0);
    return 60;
}

/* Changes the frame to what is captured of it.  Returns its new length. */
static size_t on_its_way(const struct captured *c, uint8_t *frame, size_t n)
{
    static const uint8_t tag[4] = {0x81, 0, 0, 7}, tag2[4] = {0x88, 0xa8, 0xe0, 9},
                         vxlan[8] = {8, 0, 0, 0, 0, 0, 42, 0};
    static const uint8_t geneve[12] = {1, 0, 0x65, 0x58, 0, 0, 42, 0, 1, 2, 3, 0};

    switch (c->way) {
    case HOP:
        frame[6] ^= 1;
        frame[ETH_BYTES + 8]--;
        st_be16(frame + ETH_BYTES + 10, 0);
        st_be16(frame + ETH_BYTES + 10,
                checksum_fold(checksum_add(0, frame + ETH_BYTES, IPV4_BYTES)));
        return n;
    case TAGGED:
        return insert(frame, n, ETH_ETHERTYPE_AT, tag, sizeof(tag));
    case TAGGED2:
        n = insert(frame, n, ETH_ETHERTYPE_AT, tag, sizeof(tag));
        return insert(frame, n, ETH_ETHERTYPE_AT, tag2, sizeof(tag2));
    case VXLAN:
        return in_tunnel(frame, n, 4789, vxlan, sizeof(vxlan));
    case GENEVE:
        return in_tunnel(frame, n, 6081, geneve, sizeof(geneve));
    case OPTIONS:
        return with_options(frame, n);
    case IN6_MORE:
        return with_extensions(frame, n);
    case PFC:
        return pfc(c, frame);
    case ROCE_V1:
        st_be16(frame + ETH_ETHERTYPE_AT, 0x8915);
        return n;
    default:
        return n;
    }
}

static void write_frame(struct pcapng *w, const struct captured *c)
{
    const struct packet p = packet_of(c);
    uint8_t frame[FRAME_BYTES], *payload;
    size_t n = packet_frame_bytes(&p);
    struct pcapng_packet out = {.at_ns = UINT64_C(1000) * c->at_us,
                                .frame = frame,
                                .interface = c->port,
                                .direction = (enum pcapng_direction)c->going};

    payload = packet_build(&p, frame);
    memset(payload, c->fill, p.payload_bytes);
    if (c->mad)
        mad_build(c->mad, payload);
    else if (c->bytes)
        memcpy(payload, c->bytes, p.payload_bytes);
    packet_finish(frame, n);
    harm(c, frame, n);
    out.frame_bytes = (uint32_t)on_its_way(c, frame, n) - (c->harm == CUT ? CUT_BYTES : 0);
    pcapng_packet(w, &out);
}

/* Adds an interface of any link type, whose times are nanoseconds. */
static void write_interface(struct pcapng *w, uint32_t link)
{
    const uint8_t block[32] = {
        1,        0, 0, 0, 32, 0,        0, 0, (uint8_t)link, (uint8_t)(link >> 8),
        [16] = 9, 0, 1, 0, 9,  [28] = 32};

    w->put(w->ctx, block, sizeof(block));
    w->n_interfaces++;
}

void captured_check(const struct captured *v, size_t n, const struct captured_known *known,
                    struct check *ret)
{
    struct check_known k = {.limits = known->limits, .choice = known->choice};
    FILE *f = tmpfile();
    struct pcapng w;

    assert_non_null(f);
    pcapng_begin(&w, put, f, NULL, 0);
    assert_int_equal(pcapng_interface(&w, "if", "a tap"), 0);
    write_interface(&w, known->link ? known->link : 1);
    assert_int_equal(pcapng_interface(&w, PCAPNG_LOST, "lost"), 2);
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
