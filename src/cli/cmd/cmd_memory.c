/* SPDX-License-Identifier: MIT */
/* A program's own memory: write, read. */
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/commands.h"
#include "cli/session/places.h"
#include "cli/session/resolve.h"
#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/base/quantity.h"
#include "emu/base/text.h"

#define MEMORY_BYTES_MAX (64u << 20) /* in one command */
#define DUMP_LINE_BYTES  16u

static void fill_pattern(uint8_t *buf, size_t n, uint64_t seed)
{
    struct prng r = prng_stream(seed, 0);

    for (size_t i = 0; i < n; i++)
        buf[i] = (uint8_t)prng_next(&r);
}

/* Exactly one of the sources of bytes must be given. */
static bool one_source(struct session *s, const struct step *st)
{
    static const char *const keys[] = {"text", "hex", "fill", "pattern"};
    size_t n = 0;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        n += step_has(st, keys[i]);
    if (n == 1)
        return true;
    session_fail(s, st->at,
                 n ? "only one of text, hex=, fill= and pattern= can be written"
                   : "what shall be written?");
    return diag_remedy(&s->diag,
                       "write h1.mr[0] \"text\", or hex=, or mr[0:64] with fill= or pattern=");
}

/* @bytes are too many for one command. */
static bool too_many(struct session *s, const struct step *st, const char *param, uint64_t bytes)
{
    const char *text = step_text(st, param);
    char count[32];
    struct text t = text_on(count, sizeof(count));

    quantity_add(&t, QUANTITY_SIZE, bytes);
    session_fail(s, step_span(st, param, 0), "%s: %s bytes; one %s takes %um at most", text, count,
                 st->cmd->name, MEMORY_BYTES_MAX >> 20);
    return diag_remedy(&s->diag, "do it in parts: %.*s[0:%um], %.*s[%um:%um] and so on",
                       (int)strcspn(text, "["), text, MEMORY_BYTES_MAX >> 20,
                       (int)strcspn(text, "["), text, MEMORY_BYTES_MAX >> 20,
                       2 * (MEMORY_BYTES_MAX >> 20));
}

/* @n bytes at @m, which @param names, could not be read or written: @status says why. */
static bool memory_failed(struct session *s, const struct step *st, const char *param,
                          const struct memory *m, uint64_t n, enum rdl_status status)
{
    const char *text = step_text(st, param);
    const int name = (int)strcspn(text, "[");
    const struct span at = step_span(st, param, 0);

    if (status != RDL_ERR_FAULT || m->region_bytes == 0 || n == 0 ||
        (m->from < m->region_bytes && n <= m->region_bytes - m->from))
        return session_fail_status(s, at, text, status);
    session_fail(s, at, "%s: byte %llu is asked for, and %.*s has %llu bytes", text,
                 (unsigned long long)(m->from + n - 1), name, text,
                 (unsigned long long)m->region_bytes);
    return diag_remedy(&s->diag, "its last byte is %.*s[%llu]", name, text,
                       (unsigned long long)(m->region_bytes - 1));
}

bool run_write(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    const bool whole = step_has(st, "fill") || step_has(st, "pattern");
    const char *text = step_text(st, "text"), *hex = step_text(st, "hex");
    enum rdl_status status;
    struct memory m;
    uint64_t from;
    uint8_t *buf;
    size_t n;

    if (!one_source(s, st) || !resolve_memory(&in, st, "at", 0, &m, &s->diag))
        return false;
    if (whole && !m.has_bytes) {
        session_fail(s, step_span(st, "at", 0), "fill= and pattern= need to know how many bytes");
        return diag_remedy(&s->diag, "write a slice like mr[0:64]");
    }
    n = text ? strlen(text) : hex ? value_hex_bytes(hex, NULL) : (size_t)m.bytes;
    if (m.has_bytes && n > m.bytes)
        return session_fail(s, step_span(st, "at", 0), "%zu bytes do not fit into %llu", n,
                            (unsigned long long)m.bytes);
    if (n > MEMORY_BYTES_MAX)
        return too_many(s, st, "at", n);
    buf = malloc(n + 1);
    if (!buf)
        return session_fail_status(s, st->at, "write", RDL_ERR_NOMEM);
    if (text)
        memcpy(buf, text, n);
    else if (hex)
        value_hex_bytes(hex, buf);
    else if (step_has(st, "pattern"))
        fill_pattern(buf, n, step_number_or(st, "pattern", 0));
    else
        memset(buf, (int)step_number_or(st, "fill", 0), n);
    from = rdl_tick(s->lab);
    status = rdl_mem_write(s->lab, m.host, m.addr, buf, n);
    free(buf);
    if (status == RDL_OK)
        places_add(s, st->at, from);
    return status == RDL_OK || memory_failed(s, st, "at", &m, n, status);
}

static bool is_printable(const uint8_t *buf, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (buf[i] < 0x20 || buf[i] >= 0x7f)
            return false;
    }
    return n > 0;
}

/* Full lines that repeat the line before are told as one `*`, as hexdump does; not the last. */
static bool is_repetition(const uint8_t *buf, size_t n, size_t at)
{
    return at >= DUMP_LINE_BYTES && n - at > DUMP_LINE_BYTES &&
           memcmp(buf + at, buf + at - DUMP_LINE_BYTES, DUMP_LINE_BYTES) == 0;
}

static void dump(FILE *out, const uint8_t *buf, size_t n)
{
    for (size_t at = 0; at < n; at += DUMP_LINE_BYTES) {
        const size_t end = n - at < DUMP_LINE_BYTES ? n : at + DUMP_LINE_BYTES;

        if (is_repetition(buf, n, at)) {
            if (!is_repetition(buf, n, at - DUMP_LINE_BYTES))
                fputs("*\n", out);
            continue;
        }
        fprintf(out, "%04zx ", at);
        for (size_t i = at; i < at + DUMP_LINE_BYTES; i++) {
            if (i < end)
                fprintf(out, " %02x", buf[i]);
            else
                fputs("   ", out);
        }
        fputs("  ", out);
        for (size_t i = at; i < end; i++)
            fputc(buf[i] >= 0x20 && buf[i] < 0x7f ? buf[i] : '.', out);
        fputc('\n', out);
    }
}

bool run_read(struct session *s, const struct step *st)
{
    const struct scope in = session_scope(s);
    enum rdl_status status;
    struct memory m;
    uint8_t *buf;

    if (!resolve_memory(&in, st, "from", 0, &m, &s->diag))
        return false;
    if (m.bytes > MEMORY_BYTES_MAX)
        return too_many(s, st, "from", m.bytes);
    buf = malloc((size_t)m.bytes + 1);
    if (!buf)
        return session_fail_status(s, st->at, "read", RDL_ERR_NOMEM);
    status = rdl_mem_read(s->lab, m.host, m.addr, buf, (size_t)m.bytes);
    if (m.bytes == 0)
        session_say(s, "nothing: %s is 0 bytes long\n", step_text(st, "from"));
    else if (status == RDL_OK && is_printable(buf, (size_t)m.bytes))
        fprintf(s->config.out, "\"%.*s\"\n", (int)m.bytes, (const char *)buf);
    else if (status == RDL_OK)
        dump(s->config.out, buf, (size_t)m.bytes);
    free(buf);
    return status == RDL_OK || memory_failed(s, st, "from", &m, m.bytes, status);
}
