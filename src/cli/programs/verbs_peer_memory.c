/* SPDX-License-Identifier: MIT */
/* Commands that access the program's own memory. */
#include <inttypes.h>
#include <string.h>

#include "cli/programs/verbs_peer_internal.h"
#include "emu/base/fnv.h"
#include "emu/base/prng.h"
#include "emu/wire/grh.h"

#define NUMBER_BYTES 8u

/* Kind of content that a line specifies. */
enum content { PATTERN, FILL, NUMBER, GRH, NOTHING };

static const char *const content_words[] = {"pattern", "fill", "number", "grh"};

/* Generates bytes of one kind of content, in order. */
struct content_source {
    enum content content;
    struct prng prng;
    uint64_t value; /* FILL, NUMBER */
    uint64_t at;
};

static uint8_t next_byte(struct content_source *s)
{
    const uint64_t at = s->at++;

    switch (s->content) {
    case PATTERN: /* the same as the lab's `write pattern=` */
        return (uint8_t)prng_next(&s->prng);
    case NUMBER:
        return (uint8_t)(s->value >> 8 * (at % NUMBER_BYTES));
    default:
        return (uint8_t)s->value;
    }
}

/* Generates the next @n bytes. */
static void next_bytes(struct content_source *s, uint8_t *out, size_t n)
{
    if (s->content == FILL) {
        memset(out, (int)s->value, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = next_byte(s);
}

static struct content_source source_of(enum content content, uint64_t value)
{
    return (struct content_source){
        .content = content, .prng = prng_stream(value, 0), .value = value};
}

/* Reads the slice of the line, which must be inside its region. */
static struct vp_slice memory_of(struct verbs_peer *p)
{
    const char *rest;
    const struct vp_slice s = vp_slice(p, vp_operand(p, 0), &rest);

    if (s.mr && s.addr + s.length > s.mr->addr + s.mr->length)
        vp_fail(p, "%s is not all in its region", vp_operand(p, 0));
    return s;
}

static enum content content_of(struct verbs_peer *p, uint64_t bytes)
{
    if (vp_value(p, "pattern"))
        return PATTERN;
    if (vp_value(p, "fill"))
        return FILL;
    if (vp_value(p, "number") && bytes == NUMBER_BYTES)
        return NUMBER;
    return vp_flag(p, "grh") ? GRH : NOTHING;
}

/* write SLICE pattern=SEED | fill=BYTE | number=N */
enum vp_end vp_write(struct verbs_peer *p)
{
    const struct vp_slice s = memory_of(p);
    const enum content c = content_of(p, s.length);
    struct content_source from;

    if (c >= GRH) {
        vp_fail(p, "what shall be written?");
        return VP_NEXT;
    }
    from = source_of(c, vp_number(p, content_words[c], 0));
    for (uint64_t done = 0; done < s.length && !vp_failed(p);) {
        const uint64_t left = s.length - done;
        const size_t n = left < sizeof(p->chunk) ? (size_t)left : sizeof(p->chunk);
        enum rdl_status st;

        next_bytes(&from, p->chunk, n);
        st = rdl_mem_write(p->lab, p->config.host, s.addr + done, p->chunk, n);
        if (st != RDL_OK)
            vp_fail(p, "%s", rdl_status_str(st));
        done += n;
    }
    return VP_NEXT;
}

/* Returns true if the @bytes bytes from @addr on are those of @want.  Otherwise *@reterr_at is the
 * offset of the first wrong byte.
 */
static bool is_source(struct verbs_peer *p, uint64_t addr, uint64_t bytes,
                      struct content_source want, uint64_t *reterr_at)
{
    for (uint64_t done = 0; done < bytes;) {
        const uint64_t left = bytes - done;
        const size_t n = left < sizeof(p->chunk) ? (size_t)left : sizeof(p->chunk);

        if (rdl_mem_read(p->lab, p->config.host, addr + done, p->chunk, n) != RDL_OK) {
            vp_fail(p, "the memory cannot be read");
            return false;
        }
        for (size_t i = 0; i < n; i++, done++) {
            if (p->chunk[i] != next_byte(&want)) {
                *reterr_at = done;
                return false;
            }
        }
    }
    return true;
}

bool vp_is_pattern(struct verbs_peer *p, uint64_t addr, uint64_t n, uint64_t seed,
                   uint64_t *reterr_at)
{
    return is_source(p, addr, n, source_of(PATTERN, seed), reterr_at);
}

/* Checks the GRH area before a datagram. */
static bool is_grh(struct verbs_peer *p, const struct vp_slice *s)
{
    const char *from = vp_value(p, "from"), *to = vp_value(p, "to");
    uint8_t source[GID_BYTES] = {0}, destination[GID_BYTES] = {0}, area[GRH_BYTES];
    struct grh g;

    vp_gid(p, from ? from : "peer.gid", source);
    vp_gid(p, to ? to : "gid", destination);
    return s->length == sizeof(area) &&
           rdl_mem_read(p->lab, p->config.host, s->addr, area, sizeof(area)) == RDL_OK &&
           grh_parse(&g, area) && memcmp(g.src, source, GID_BYTES) == 0 &&
           memcmp(g.dst, destination, GID_BYTES) == 0;
}

/* Returns true if the memory has the content that the line specifies.  @ret_content is the kind of
 * content.
 */
static bool is_right(struct verbs_peer *p, enum content *ret_content, uint64_t *reterr_at)
{
    const struct vp_slice s = memory_of(p);
    const enum content c = content_of(p, s.length);
    bool right;

    *ret_content = c;
    *reterr_at = 0;
    if (c == NOTHING)
        vp_fail(p, "what shall be there?");
    if (c == NOTHING || vp_failed(p))
        return false;
    if (c == GRH)
        return is_grh(p, &s);
    right =
        is_source(p, s.addr, s.length, source_of(c, vp_number(p, content_words[c], 0)), reterr_at);
    if (c == NUMBER) /* right or wrong as a whole */
        *reterr_at = 0;
    return right;
}

/* check SLICE pattern=SEED | fill=BYTE | number=N | grh [from=GID] [to=GID] */
enum vp_end vp_check(struct verbs_peer *p)
{
    enum content c;
    uint64_t at;
    const bool right = is_right(p, &c, &at);
    const char *value;

    if (c == NOTHING || vp_failed(p))
        return VP_NEXT;
    value = vp_value(p, content_words[c]);
    fprintf(p->out, "check %s%s%s: ", content_words[c], value ? "=" : "", value ? value : "");
    if (right)
        fputs("right\n", p->out);
    else
        fprintf(p->out, "wrong at byte %" PRIu64 "\n", at);
    return VP_NEXT;
}

/* digest SLICE */
enum vp_end vp_digest(struct verbs_peer *p)
{
    const struct vp_slice s = memory_of(p);
    uint64_t hash = FNV64_OF_NOTHING;

    for (uint64_t done = 0; done < s.length && !vp_failed(p);) {
        const uint64_t left = s.length - done;
        const size_t n = left < sizeof(p->chunk) ? (size_t)left : sizeof(p->chunk);

        if (rdl_mem_read(p->lab, p->config.host, s.addr + done, p->chunk, n) != RDL_OK)
            vp_fail(p, "the memory cannot be read");
        hash = fnv1a_64(hash, p->chunk, n);
        done += n;
    }
    if (!vp_failed(p))
        fprintf(p->out, "digest %s: 0x%016" PRIx64 "\n", vp_operand(p, 0), hash);
    return VP_NEXT;
}

/* Like check, but waits until the content is right, and prints nothing. */
enum vp_end vp_await(struct verbs_peer *p)
{
    enum content c;
    uint64_t at;

    if (is_right(p, &c, &at))
        return VP_NEXT;
    if (p->now_ns - p->since_ns > VP_WAIT_NS)
        vp_fail(p, "it does not become right");
    return VP_LATER;
}
