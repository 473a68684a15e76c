/* SPDX-License-Identifier: MIT */
/* The program's own memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/fnv.h"
#include "emu/base/prng.h"
#include "peer.h"

#define NAP_US    100
#define GRH_BYTES 40u

/* The pattern of @seed is what the lab's `write pattern=` writes. */
bool is_pattern(const uint8_t *bytes, size_t n, uint64_t seed, size_t *reterr_at)
{
    struct prng r = prng_stream(seed, 0);

    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != (uint8_t)prng_next(&r)) {
            *reterr_at = i;
            return false;
        }
    }
    return true;
}

static bool is_filled(const uint8_t *bytes, size_t n, uint64_t with, size_t *reterr_at)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] != with) {
            *reterr_at = i;
            return false;
        }
    }
    return true;
}

/* The slice of the line, which must be in its region. */
static struct slice memory_of(struct peer *p)
{
    const char *rest;
    const struct slice s = to_slice(p, operand(p, 0), &rest);

    if (s.start + s.length > s.mr->memory + s.mr->length)
        fail(p, "%s is not all in its region", operand(p, 0));
    return s;
}

/* write SLICE pattern=SEED | fill=BYTE | number=N */
void do_write(struct peer *p)
{
    const struct slice s = memory_of(p);
    const uint64_t number = number_or(p, "number", 0);
    struct prng r = prng_stream(number_or(p, "pattern", 0), 0);

    if (peer_line_value(p->at, "pattern")) {
        for (size_t i = 0; i < s.length; i++)
            s.start[i] = (uint8_t)prng_next(&r);
    } else if (peer_line_value(p->at, "fill")) {
        memset(s.start, (int)number_or(p, "fill", 0), s.length);
    } else if (peer_line_value(p->at, "number") && s.length == sizeof(number)) {
        memcpy(s.start, &number, sizeof(number));
    } else {
        fail(p, "what shall be written?");
    }
}

/* The 40 bytes before a datagram: in IPv4 the last 20 of them are its header. */
static bool is_grh(const struct peer *p, const struct slice *s)
{
    const char *from = peer_line_value(p->at, "from"), *to = peer_line_value(p->at, "to");
    const union ibv_gid source = to_gid(p, from ? from : "peer.gid");
    const union ibv_gid destination = to_gid(p, to ? to : "gid");
    const size_t header = is_ipv4(&p->gid) ? 20 : 0, bytes = header ? 4 : 16;
    const uint8_t *address = s->start + (header ? 32 : 8);

    return s->length == GRH_BYTES && s->start[header] >> 4 == (header ? 4 : 6) &&
           memcmp(address, source.raw + 16 - bytes, bytes) == 0 &&
           memcmp(address + bytes, destination.raw + 16 - bytes, bytes) == 0;
}

/* Returns true if the memory has what the line says.  @ret_what: the word of the line that says
 * it.
 */
static bool is_right(struct peer *p, const char **ret_what, size_t *reterr_at)
{
    const struct slice s = memory_of(p);
    uint64_t number = 0;

    *reterr_at = 0;
    if (peer_line_value(p->at, "pattern")) {
        *ret_what = "pattern";
        return is_pattern(s.start, s.length, number_or(p, "pattern", 0), reterr_at);
    }
    if (peer_line_value(p->at, "fill")) {
        *ret_what = "fill";
        return is_filled(s.start, s.length, number_or(p, "fill", 0), reterr_at);
    }
    if (peer_line_value(p->at, "number") && s.length == sizeof(number)) {
        *ret_what = "number";
        memcpy(&number, s.start, sizeof(number));
        return number == number_or(p, "number", 0);
    }
    if (!peer_line_has(p->at, "grh"))
        fail(p, "what shall be there?");
    *ret_what = "grh";
    return is_grh(p, &s);
}

/* check SLICE pattern=SEED | fill=BYTE | number=N | grh [from=GID] [to=GID] */
void do_check(struct peer *p)
{
    const char *what = NULL;
    size_t at = 0;
    const bool right = is_right(p, &what, &at);
    const char *value = peer_line_value(p->at, what);

    printf("check %s%s%s: ", what, value ? "=" : "", value ? value : "");
    if (right)
        puts("right");
    else
        printf("wrong at byte %zu\n", at);
}

/* digest SLICE */
void do_digest(struct peer *p)
{
    const struct slice s = memory_of(p);

    printf("digest %s: 0x%016" PRIx64 "\n", operand(p, 0),
           fnv1a_64(FNV64_OF_NOTHING, s.start, s.length));
}

/* As check, but waits until it is right; prints nothing. */
void do_await(struct peer *p)
{
    const uint64_t until = now_ms() + WAIT_MS;
    const char *what;
    size_t at;

    while (!is_right(p, &what, &at)) {
        if (now_ms() > until)
            fail(p, "it does not become right");
        usleep(NAP_US);
    }
}

/* sleep MS */
void do_sleep(struct peer *p)
{
    usleep((useconds_t)to_number(p, operand(p, 0)) * 1000);
}
