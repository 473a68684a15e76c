/* SPDX-License-Identifier: MIT */
#include "emu/wire/pcapng.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"

enum block_type {
    BLOCK_SECTION = 0x0a0d0d0a,
    BLOCK_INTERFACE = 1,
    BLOCK_NAMES = 4,
    BLOCK_STATISTICS = 5,
    BLOCK_PACKET = 6
};

enum option_code {
    OPT_END = 0,
    OPT_COMMENT = 1,
    SHB_USERAPPL = 4,
    IF_NAME = 2,
    IF_DESCRIPTION = 3,
    IF_TSRESOL = 9,
    EPB_FLAGS = 2,
    ISB_IFDROP = 5
};

enum name_record { NAMES_END = 0, NAMES_IPV4 = 1, NAMES_IPV6 = 2 };

#define BYTE_ORDER_MAGIC   0x1a2b3c4du
#define VERSION_MAJOR      1u
#define VERSION_MINOR      0u
#define SECTION_BYTES_NONE UINT64_MAX /* unknown: skip block by block */
#define LINKTYPE_ETHERNET  1u
#define TSRESOL_NS         9u /* 10^-9 s */

#define BLOCK_FRAME_BYTES 12u /* block type and length; length again at the end */
#define TLV_BYTES         4u  /* code and length of an option or name record */
#define TEXT_MAX          UINT16_MAX

#define SECTION_OPTIONS_AT 24u /* of the options in the section block */

static void put_u16(struct pcapng *w, uint32_t v)
{
    uint8_t b[2];

    st_le16(b, (uint16_t)v);
    w->put(w->ctx, b, sizeof(b));
}

static void put_u32(struct pcapng *w, uint32_t v)
{
    uint8_t b[4];

    st_le32(b, v);
    w->put(w->ctx, b, sizeof(b));
}

static void put_u64(struct pcapng *w, uint64_t v)
{
    uint8_t b[8];

    st_le64(b, v);
    w->put(w->ctx, b, sizeof(b));
}

static size_t round_up4(size_t n)
{
    return (n + 3) & ~(size_t)3;
}

/* Writes @n bytes, padded with zeros to a multiple of four. */
static void put_padded(struct pcapng *w, const void *bytes, size_t n)
{
    static const uint8_t zeros[3];

    w->put(w->ctx, bytes, n);
    w->put(w->ctx, zeros, round_up4(n) - n);
}

static size_t text_bytes(const char *s)
{
    const size_t n = strlen(s);

    return n < TEXT_MAX ? n : TEXT_MAX;
}

/* Each X_bytes() returns the number of bytes that put_X() writes. */
static size_t option_bytes(size_t value_bytes)
{
    return TLV_BYTES + round_up4(value_bytes);
}

static void put_option(struct pcapng *w, enum option_code code, const void *value, size_t n)
{
    put_u16(w, code);
    put_u16(w, (uint32_t)n);
    put_padded(w, value, n);
}

static void put_text_option(struct pcapng *w, enum option_code code, const char *s)
{
    put_option(w, code, s, text_bytes(s));
}

static size_t comments_bytes(const char *const *comments, size_t n)
{
    size_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += option_bytes(text_bytes(comments[i]));
    return sum;
}

static void put_comments(struct pcapng *w, const char *const *comments, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_text_option(w, OPT_COMMENT, comments[i]);
}

static void put_option_end(struct pcapng *w)
{
    put_u32(w, OPT_END);
}

/* Starts a block with @body_bytes of body.  Returns the argument for put_block_end(). */
static uint32_t put_block_start(struct pcapng *w, enum block_type type, size_t body_bytes)
{
    const uint32_t bytes = (uint32_t)(BLOCK_FRAME_BYTES + body_bytes);

    put_u32(w, type);
    put_u32(w, bytes);
    return bytes;
}

static void put_block_end(struct pcapng *w, uint32_t block_bytes)
{
    put_u32(w, block_bytes);
}

void pcapng_begin(struct pcapng *w, void (*put)(void *ctx, const void *bytes, size_t n), void *ctx,
                  const char *const *comments, size_t n_comments)
{
    static const char application[] = PCAPNG_APPLICATION;
    const size_t body =
        16 + comments_bytes(comments, n_comments) + option_bytes(strlen(application)) + TLV_BYTES;
    uint32_t block;

    *w = (struct pcapng){.put = put, .ctx = ctx};
    block = put_block_start(w, BLOCK_SECTION, body);
    put_u32(w, BYTE_ORDER_MAGIC);
    put_u16(w, VERSION_MAJOR);
    put_u16(w, VERSION_MINOR);
    put_u64(w, SECTION_BYTES_NONE);
    put_comments(w, comments, n_comments);
    put_text_option(w, SHB_USERAPPL, application);
    put_option_end(w);
    put_block_end(w, block);
}

bool pcapng_is_ours(const uint8_t *begin, size_t n)
{
    static const char application[] = PCAPNG_APPLICATION;
    const size_t last = option_bytes(strlen(application)) + TLV_BYTES, end_bytes = 4;
    size_t at = SECTION_OPTIONS_AT, end;

    if (n < SECTION_OPTIONS_AT + last + end_bytes || ld_le32(begin) != BLOCK_SECTION ||
        ld_le32(begin + 8) != BYTE_ORDER_MAGIC || ld_le16(begin + 12) != VERSION_MAJOR ||
        ld_le16(begin + 14) != VERSION_MINOR || ld_le64(begin + 16) != SECTION_BYTES_NONE ||
        ld_le32(begin + 4) > n || ld_le32(begin + 4) < SECTION_OPTIONS_AT + last + end_bytes)
        return false;
    end = ld_le32(begin + 4) - end_bytes - last;
    while (at < end && ld_le16(begin + at) == OPT_COMMENT)
        at += option_bytes(ld_le16(begin + at + 2));
    return at == end && ld_le16(begin + at) == SHB_USERAPPL &&
           ld_le16(begin + at + 2) == strlen(application) &&
           memcmp(begin + at + TLV_BYTES, application, strlen(application)) == 0 &&
           ld_le32(begin + end + last - TLV_BYTES) == OPT_END &&
           ld_le32(begin + end + last) == ld_le32(begin + 4);
}

uint32_t pcapng_interface(struct pcapng *w, const char *name, const char *description)
{
    static const uint8_t tsresol = TSRESOL_NS;
    const size_t body = 8 + option_bytes(text_bytes(name)) + option_bytes(text_bytes(description)) +
                        option_bytes(sizeof(tsresol)) + TLV_BYTES;
    const uint32_t block = put_block_start(w, BLOCK_INTERFACE, body);

    put_u16(w, LINKTYPE_ETHERNET);
    put_u16(w, 0);
    put_u32(w, 0); /* snap length: none */
    put_text_option(w, IF_NAME, name);
    put_text_option(w, IF_DESCRIPTION, description);
    put_option(w, IF_TSRESOL, &tsresol, sizeof(tsresol));
    put_option_end(w);
    put_block_end(w, block);
    return w->n_interfaces++;
}

/* Length of the value of a name record: address, name and NUL. */
static size_t host_bytes(const struct pcapng_host *h)
{
    return (gid_is_ipv4(h->gid) ? 4 : GID_BYTES) + strlen(h->name) + 1;
}

static void put_host(struct pcapng *w, const struct pcapng_host *h)
{
    static const uint8_t zeros[3];
    const bool ipv4 = gid_is_ipv4(h->gid);
    const size_t n = host_bytes(h);

    RDL_ASSERT(n <= TEXT_MAX);
    put_u16(w, ipv4 ? NAMES_IPV4 : NAMES_IPV6);
    put_u16(w, (uint32_t)n);
    if (ipv4)
        w->put(w->ctx, h->gid + GID_IPV4_AT, 4);
    else
        w->put(w->ctx, h->gid, GID_BYTES);
    w->put(w->ctx, h->name, strlen(h->name) + 1);
    w->put(w->ctx, zeros, round_up4(n) - n);
}

void pcapng_hosts(struct pcapng *w, const struct pcapng_host *hosts, size_t n)
{
    size_t body = TLV_BYTES;
    uint32_t block;

    for (size_t i = 0; i < n; i++)
        body += option_bytes(host_bytes(&hosts[i]));
    block = put_block_start(w, BLOCK_NAMES, body);
    for (size_t i = 0; i < n; i++)
        put_host(w, &hosts[i]);
    put_u32(w, NAMES_END);
    put_block_end(w, block);
}

void pcapng_packet(struct pcapng *w, const struct pcapng_packet *p)
{
    const size_t body = 20 + round_up4(p->frame_bytes) + option_bytes(4) +
                        comments_bytes(p->comments, p->n_comments) + TLV_BYTES;
    uint8_t flags[4];
    uint32_t block;

    RDL_ASSERT(p->interface < w->n_interfaces);
    st_le32(flags, p->direction);
    block = put_block_start(w, BLOCK_PACKET, body);
    put_u32(w, p->interface);
    put_u32(w, (uint32_t)(p->at_ns >> 32));
    put_u32(w, (uint32_t)p->at_ns);
    put_u32(w, p->frame_bytes); /* captured */
    put_u32(w, p->frame_bytes); /* on the wire */
    put_padded(w, p->frame, p->frame_bytes);
    put_option(w, EPB_FLAGS, flags, sizeof(flags));
    put_comments(w, p->comments, p->n_comments);
    put_option_end(w);
    put_block_end(w, block);
}

void pcapng_dropped(struct pcapng *w, uint32_t interface, uint64_t at_ns, uint64_t n)
{
    const uint32_t block = put_block_start(w, BLOCK_STATISTICS, 12 + option_bytes(8) + TLV_BYTES);
    uint8_t dropped[8];

    RDL_ASSERT(interface < w->n_interfaces);
    st_le64(dropped, n);
    put_u32(w, interface);
    put_u32(w, (uint32_t)(at_ns >> 32));
    put_u32(w, (uint32_t)at_ns);
    put_option(w, ISB_IFDROP, dropped, sizeof(dropped));
    put_option_end(w);
    put_block_end(w, block);
}
