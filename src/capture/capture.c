/* SPDX-License-Identifier: MIT */
#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/text.h"
#include "emu/wire/pcapng.h"

#define NS              UINT64_C(1000000000)
#define PCAP_US         0xa1b2c3d4u
#define PCAP_NS         0xa1b23c4du
#define PCAP_HEAD_BYTES 24u
#define PCAP_ROW_BYTES  16u
#define NG_BYTE_ORDER   0x1a2b3c4du
#define NG_BLOCK_MAX    (16u * 1024 * 1024)
#define NG_LEAST_BYTES  12u /* type and both lengths */

enum ng_block {
    NG_INTERFACE = 1,
    NG_PACKET_OLD = 2,
    NG_SIMPLE = 3,
    NG_STATISTICS = 5,
    NG_ENHANCED = 6,
    NG_SECTION = 0x0a0d0d0a,
};
enum ng_option {
    OPT_END = 0,
    OPT_EPB_FLAGS = 2,
    OPT_IF_NAME = 2,
    OPT_IF_TSRESOL = 9,
    OPT_IF_TSOFFSET = 14,
    OPT_ISB_IFDROP = 5,
    OPT_ISB_OSDROP = 7,
};

static uint16_t u16(const struct capture *c, const uint8_t *b)
{
    return c->is_swapped ? ld_be16(b) : ld_le16(b);
}

static uint32_t u32(const struct capture *c, const uint8_t *b)
{
    return c->is_swapped ? ld_be32(b) : ld_le32(b);
}

static uint64_t u64(const struct capture *c, const uint8_t *b)
{
    return c->is_swapped ? ld_be(b, 8) : ld_le64(b);
}

static bool fail(struct capture *c, const char *why)
{
    struct text t = text_on(c->wrong, sizeof(c->wrong));

    text_addf(&t, "%s, at byte %llu", why, (unsigned long long)c->at);
    return false;
}

/* Ensures that c->block holds @n bytes. */
static bool reserve(struct capture *c, size_t n)
{
    uint8_t *more;

    if (n <= c->cap)
        return true;
    more = realloc(c->block, n);
    if (!more)
        return fail(c, "there is not enough memory for what is there");
    c->block = more;
    c->cap = n;
    return true;
}

/* Reads @n bytes to @to.  Returns false if the file ends before. */
static bool take(struct capture *c, void *to, size_t n)
{
    const size_t got = unpack_read(c->in, to, n);

    c->at += got;
    if (got < n)
        c->was_cut |= got > 0 || unpack_was_cut(c->in);
    return got == n;
}

/* The result where the file ends: an error if it could not be unpacked up to there. */
static enum capture_result end_of(struct capture *c)
{
    if (!unpack_wrong(c->in))
        return CAPTURE_END;
    fail(c, unpack_wrong(c->in));
    return CAPTURE_BAD;
}

/* --- pcapng ----------------------------------------------------------------------------------- */

static bool add_interface(struct capture *c, const struct capture_interface *i)
{
    struct capture_interface *more;

    if (c->n_interfaces == CAPTURE_INTERFACES_MAX)
        return fail(c, "the file has too many interfaces");
    more = realloc(c->interfaces, (c->n_interfaces + 1) * sizeof(*more));
    if (!more)
        return fail(c, "there is not enough memory for what is there");
    c->interfaces = more;
    c->interfaces[c->n_interfaces++] = *i;
    return true;
}

/* Returns the value of option @code in the @n bytes at @from.  Returns NULL if there is none of at
 * least @least bytes.
 */
static const uint8_t *option(const struct capture *c, const uint8_t *from, size_t n, uint16_t code,
                             size_t least)
{
    size_t at = 0;

    while (n - at >= 4) {
        const uint16_t is = u16(c, from + at), bytes = u16(c, from + at + 2);

        if (is == OPT_END || bytes > n - at - 4)
            return NULL;
        if (is == code && bytes >= least)
            return from + at + 4;
        at += 4 + ((size_t)bytes + 3) / 4 * 4;
        if (at > n)
            return NULL;
    }
    return NULL;
}

/* Ticks per second according to if_tsresol, a power of 10 or 2; 0: the number is too large. */
static uint64_t ticks_by(uint8_t code)
{
    const unsigned power = code & 0x7fu;
    uint64_t ticks = 1;

    if (code & 0x80)
        return power < 64 ? UINT64_C(1) << power : 0;
    for (unsigned i = 0; i < power; i++) {
        if (ticks > UINT64_MAX / 10)
            return 0;
        ticks *= 10;
    }
    return ticks;
}

static bool take_interface(struct capture *c, const uint8_t *body, size_t n)
{
    struct capture_interface i = {.ticks = 1000000};
    const uint8_t *o;

    if (n < 8)
        return fail(c, "the description of an interface is too short");
    i.link = u16(c, body);
    i.snaplen = u32(c, body + 4);
    o = option(c, body + 8, n - 8, OPT_IF_TSRESOL, 1);
    if (o)
        i.ticks = ticks_by(*o);
    if (i.ticks == 0)
        return fail(c, "an interface counts time in units that are too short");
    o = option(c, body + 8, n - 8, OPT_IF_TSOFFSET, 8);
    if (o)
        i.offset_seconds = (int64_t)u64(c, o);
    o = option(c, body + 8, n - 8, OPT_IF_NAME, strlen(PCAPNG_LOST));
    i.has_lost = o && u16(c, o - 2) == strlen(PCAPNG_LOST) &&
                 memcmp(o, PCAPNG_LOST, strlen(PCAPNG_LOST)) == 0;
    return add_interface(c, &i);
}

static uint64_t time_of(const struct capture_interface *i, uint64_t ticks)
{
    const uint64_t seconds = ticks / i->ticks, rest = ticks % i->ticks;
    const uint64_t ns = i->ticks <= UINT64_MAX / NS ? rest * NS / i->ticks : rest / (i->ticks / NS);

    return (seconds + (uint64_t)i->offset_seconds) * NS + ns;
}

/* Returns the unit of the times of @i in nanoseconds, 0: no more than one. */
static uint64_t clock_of(const struct capture_interface *i)
{
    return i->ticks >= NS ? 0 : (NS + i->ticks - 1) / i->ticks;
}

/* Reads an enhanced packet block, or an obsolete packet block if @is_old. */
static bool take_packet(struct capture *c, const uint8_t *body, size_t n, bool is_old,
                        struct capture_frame *ret)
{
    const size_t head = 20;
    const uint32_t number = n < head ? 0 : is_old ? u16(c, body) : u32(c, body);
    uint32_t bytes;
    size_t padded;
    const uint8_t *o;

    if (n < head)
        return fail(c, "a block with a frame is too short");
    if (number >= c->n_interfaces)
        return fail(c, "a frame is of an interface that was not described");
    bytes = u32(c, body + 12);
    if (bytes > n - head || bytes > CAPTURE_FRAME_MAX)
        return fail(c, "a frame is longer than its block");
    padded = ((size_t)bytes + 3) / 4 * 4;
    ret->link = c->interfaces[number].link;
    ret->interface = c->n_before + number;
    ret->is_lost = c->interfaces[number].has_lost;
    ret->clock_ns = clock_of(&c->interfaces[number]);
    ret->at_ns =
        time_of(&c->interfaces[number], (uint64_t)u32(c, body + 4) << 32 | u32(c, body + 8));
    ret->bytes = body + head;
    ret->n_bytes = bytes;
    ret->n_on_wire = u32(c, body + 16);
    if (padded <= n - head) {
        o = option(c, body + head + padded, n - head - padded, OPT_EPB_FLAGS, 4);
        ret->direction = o ? (enum capture_direction)(u32(c, o) & 3u) : CAPTURE_UNKNOWN;
    }
    return true;
}

static bool take_simple(struct capture *c, const uint8_t *body, size_t n, struct capture_frame *ret)
{
    if (n < 4)
        return fail(c, "a block with a frame is too short");
    if (c->n_interfaces == 0)
        return fail(c, "a frame is of an interface that was not described");
    ret->n_on_wire = u32(c, body);
    ret->n_bytes = (uint32_t)(n - 4);
    if (c->interfaces[0].snaplen && ret->n_bytes > c->interfaces[0].snaplen)
        ret->n_bytes = c->interfaces[0].snaplen;
    if (ret->n_bytes > ret->n_on_wire)
        ret->n_bytes = ret->n_on_wire; /* the rest is padding */
    if (ret->n_bytes > CAPTURE_FRAME_MAX)
        return fail(c, "a frame is longer than any");
    ret->link = c->interfaces[0].link;
    ret->interface = c->n_before;
    ret->bytes = body + 4;
    return true;
}

static void take_statistics(struct capture *c, const uint8_t *body, size_t n)
{
    static const uint16_t drops[] = {OPT_ISB_IFDROP, OPT_ISB_OSDROP};

    for (size_t i = 0; n >= 12 && i < ARRAY_LEN(drops); i++) {
        const uint8_t *o = option(c, body + 12, n - 12, drops[i], 8);

        c->tells_dropped |= o != NULL;
        c->dropped += o ? u64(c, o) : 0;
    }
}

/* Reads the rest of a section header; @head has its first 8 bytes.  It determines the byte order of
 * the blocks that follow.
 */
static bool take_section(struct capture *c, const uint8_t head[8])
{
    uint8_t order[4];
    uint32_t bytes;

    if (!take(c, order, sizeof(order)))
        return fail(c, "the file ends in its first block");
    if (ld_le32(order) == NG_BYTE_ORDER)
        c->is_swapped = false;
    else if (ld_be32(order) == NG_BYTE_ORDER)
        c->is_swapped = true;
    else
        return fail(c, "a section does not say in which order its bytes are");
    bytes = u32(c, head + 4);
    if (bytes < NG_LEAST_BYTES + 16 || bytes > NG_BLOCK_MAX || bytes % 4 != 0)
        return fail(c, "a block has an impossible length");
    if (!reserve(c, bytes))
        return false;
    if (!take(c, c->block, bytes - 12))
        return fail(c, "the file ends in its first block");
    c->n_before += c->n_interfaces;
    c->n_interfaces = 0;
    return true;
}

/* Reads the next block.  If the result is CAPTURE_FRAME, *@ret_type is its type and *@ret_n the
 * length of its body in c->block.
 */
static enum capture_result next_block(struct capture *c, uint32_t *ret_type, size_t *ret_n)
{
    uint8_t head[8];
    uint32_t bytes;

    if (!take(c, head, sizeof(head)))
        return end_of(c);
    *ret_n = 0;
    *ret_type = u32(c, head);
    if (ld_le32(head) == NG_SECTION) {
        *ret_type = NG_SECTION;
        return take_section(c, head) ? CAPTURE_FRAME : CAPTURE_BAD;
    }
    bytes = u32(c, head + 4);
    if (bytes < NG_LEAST_BYTES || bytes > NG_BLOCK_MAX || bytes % 4 != 0) {
        fail(c, "a block has an impossible length");
        return CAPTURE_BAD;
    }
    if (!reserve(c, bytes))
        return CAPTURE_BAD;
    if (!take(c, c->block, bytes - 8)) {
        c->was_cut = true;
        return end_of(c);
    }
    if (u32(c, c->block + bytes - 12) != bytes) {
        fail(c, "the two lengths of a block differ");
        return CAPTURE_BAD;
    }
    *ret_n = bytes - NG_LEAST_BYTES;
    return CAPTURE_FRAME;
}

static enum capture_result next_of_pcapng(struct capture *c, struct capture_frame *ret)
{
    enum capture_result result;
    uint32_t type;
    bool is_right = true, is_frame = false;
    size_t n;

    while (is_right && !is_frame) {
        result = next_block(c, &type, &n);
        if (result != CAPTURE_FRAME)
            return result;
        is_frame = type == NG_ENHANCED || type == NG_PACKET_OLD || type == NG_SIMPLE;
        if (type == NG_INTERFACE)
            is_right = take_interface(c, c->block, n);
        else if (type == NG_STATISTICS)
            take_statistics(c, c->block, n);
        else if (type == NG_SIMPLE)
            is_right = take_simple(c, c->block, n, ret);
        else if (is_frame)
            is_right = take_packet(c, c->block, n, type == NG_PACKET_OLD, ret);
    }
    return is_right ? CAPTURE_FRAME : CAPTURE_BAD;
}

/* --- pcap ------------------------------------------------------------------------------------- */

static bool take_pcap_head(struct capture *c, const uint8_t first[8])
{
    const bool is_ns = u32(c, first) == PCAP_NS;
    uint8_t rest[PCAP_HEAD_BYTES - 8];
    struct capture_interface i = {.ticks = is_ns ? NS : 1000000};

    if (!take(c, rest, sizeof(rest)))
        return fail(c, "the file ends in its header");
    i.link = u32(c, rest + 12) & 0xffffu; /* the upper half is the length of the FCS */
    return add_interface(c, &i);
}

static enum capture_result next_of_pcap(struct capture *c, struct capture_frame *ret)
{
    const struct capture_interface *i = &c->interfaces[0];
    uint8_t row[PCAP_ROW_BYTES];

    if (!take(c, row, sizeof(row)))
        return end_of(c);
    ret->n_bytes = u32(c, row + 8);
    ret->n_on_wire = u32(c, row + 12);
    ret->link = i->link;
    ret->clock_ns = clock_of(i);
    ret->at_ns = u32(c, row) * NS + u32(c, row + 4) * (NS / i->ticks);
    if (ret->n_bytes > CAPTURE_FRAME_MAX) {
        fail(c, "a frame is longer than any");
        return CAPTURE_BAD;
    }
    if (!reserve(c, ret->n_bytes + 1))
        return CAPTURE_BAD;
    if (!take(c, c->block, ret->n_bytes)) {
        c->was_cut = true;
        return end_of(c);
    }
    ret->bytes = c->block;
    return CAPTURE_FRAME;
}

/* --- Both formats ----------------------------------------------------------------------------- */

bool capture_begin(struct capture *c, FILE *f)
{
    uint8_t head[8];
    const char *packer;
    struct text t;

    memset(c, 0, sizeof(*c));
    c->in = unpack_new(f);
    if (!c->in)
        return fail(c, "there is not enough memory to read the file");
    if (!take(c, head, sizeof(head)))
        return fail(c, unpack_wrong(c->in) ? unpack_wrong(c->in)
                       : c->at             ? "this is no capture"
                                           : "the file is empty");
    c->is_pcapng = ld_le32(head) == NG_SECTION;
    if (c->is_pcapng)
        return take_section(c, head);
    c->is_swapped = ld_be32(head) == PCAP_US || ld_be32(head) == PCAP_NS;
    if (u32(c, head) == PCAP_US || u32(c, head) == PCAP_NS)
        return take_pcap_head(c, head);
    packer = unpack_other_packer(head, sizeof(head));
    if (!packer)
        return fail(c, "this is neither pcap nor pcapng");
    t = text_on(c->wrong, sizeof(c->wrong));
    text_addf(&t, "the file is packed by %s: unpack it first; only gzip is unpacked here", packer);
    return false;
}

void capture_done(struct capture *c)
{
    free(c->interfaces);
    free(c->block);
    unpack_free(c->in);
    c->in = NULL;
    c->interfaces = NULL;
    c->block = NULL;
}

enum capture_result capture_next(struct capture *c, struct capture_frame *ret)
{
    enum capture_result result;

    *ret = (struct capture_frame){.direction = CAPTURE_UNKNOWN};
    result = c->is_pcapng ? next_of_pcapng(c, ret) : next_of_pcap(c, ret);
    if (result == CAPTURE_FRAME)
        ret->number = ++c->n_frames;
    return result;
}
