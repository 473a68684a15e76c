/* SPDX-License-Identifier: MIT */
#include "cli/timeline/timeline_frames.h"

#include <stdlib.h>
#include <string.h>

#include "cli/show/packet_rows.h"
#include "cli/timeline/timeline_put.h"
#include "process/must.h"

#define RUN_MAX    255u /* bytes in one part of a pair */
#define SAME_LEAST 3u   /* equal bytes that end a run of different ones: a pair takes two */

/* Rows and bytes of a packet.  Bytes that are left out are not in @bytes. */
struct timeline_packet {
    struct packet_row *rows;
    size_t n_rows, cap_rows;
    uint8_t *bytes;
    size_t n_bytes;
    size_t at, left; /* @left bytes at @at are left out */
};

static void keep_row(void *ctx, const struct packet_row *row)
{
    struct timeline_packet *p = ctx;

    p->rows = must_grow(p->rows, p->n_rows, &p->cap_rows, sizeof(*p->rows));
    p->rows[p->n_rows++] = *row;
}

static struct timeline_packet pick(const uint8_t *bytes, size_t n, uint32_t field_bytes)
{
    struct timeline_packet p = {.at = n};

    packet_rows(bytes, n, keep_row, &p);
    for (size_t i = 0; i < p.n_rows; i++) {
        const struct packet_row *r = &p.rows[i];

        if (p.left == 0 && r->bytes > field_bytes) {
            p.at = r->offset + field_bytes;
            p.left = r->bytes - field_bytes;
        }
    }
    p.n_bytes = n - p.left;
    p.bytes = must_malloc(p.n_bytes + 1);
    memcpy(p.bytes, bytes, p.at);
    memcpy(p.bytes + p.at, bytes + p.at + p.left, p.n_bytes - p.at);
    return p;
}

static void drop(struct timeline_packet *p)
{
    free(p->rows);
    free(p->bytes);
}

static bool is_of_kind(const struct timeline_packet *a, const struct timeline_packet *b)
{
    if (a->n_rows != b->n_rows)
        return false;
    for (size_t i = 0; i < a->n_rows; i++) {
        if (a->rows[i].mask != b->rows[i].mask || strcmp(a->rows[i].name, b->rows[i].name) != 0 ||
            strcmp(a->rows[i].header, b->rows[i].header) != 0)
            return false;
    }
    return true;
}

static size_t word(struct timeline_frames *f, const char *s)
{
    for (size_t i = 0; i < f->n_words; i++) {
        if (strcmp(f->words[i], s) == 0)
            return i;
    }
    f->words = must_grow(f->words, f->n_words, &f->cap_words, sizeof(*f->words));
    f->words[f->n_words] = s;
    return f->n_words++;
}

/* Returns the number of the kind of @p, which may be a new one, whose last packet is empty. */
static size_t kind_of(struct timeline_frames *f, const struct timeline_packet *p)
{
    struct timeline_packet *k;

    for (size_t i = 0; i < f->n_kinds; i++) {
        if (is_of_kind(&f->kinds[i], p))
            return i;
    }
    f->kinds = must_grow(f->kinds, f->n_kinds, &f->cap_kinds, sizeof(*f->kinds));
    k = &f->kinds[f->n_kinds];
    *k = (struct timeline_packet){.n_rows = p->n_rows};
    k->rows = must_malloc((p->n_rows + 1) * sizeof(*p->rows));
    for (size_t i = 0; i < p->n_rows; i++) {
        k->rows[i] = p->rows[i];
        k->rows[i].offset = k->rows[i].bytes = 0;
        k->rows[i].value[0] = '\0';
    }
    return f->n_kinds++;
}

static bool is_same(const struct timeline_packet *a, const struct timeline_packet *b, size_t i)
{
    return i < a->n_bytes && i < b->n_bytes && a->bytes[i] == b->bytes[i];
}

/* Returns the number of bytes from @at on, RUN_MAX at most, that are the same in both. */
static size_t same_from(const struct timeline_packet *before, const struct timeline_packet *p,
                        size_t at)
{
    size_t n = 0;

    while (n < RUN_MAX && is_same(before, p, at + n))
        n++;
    return n;
}

/* Returns the number of bytes from @at on, RUN_MAX at most, up to the next that are the same. */
static size_t other_from(const struct timeline_packet *before, const struct timeline_packet *p,
                         size_t at)
{
    size_t n = 0;

    while (n < RUN_MAX && at + n < p->n_bytes && same_from(before, p, at + n) < SAME_LEAST)
        n++;
    return n;
}

static void put_bytes(FILE *out, const struct timeline_packet *before,
                      const struct timeline_packet *p)
{
    /* Each pair but the last has SAME_LEAST bytes that are not written, or RUN_MAX others. */
    uint8_t *coded = must_malloc(3 + 2 * p->n_bytes + 4), *at = coded;

    *at++ = (uint8_t)(p->n_bytes >> 16);
    *at++ = (uint8_t)(p->n_bytes >> 8);
    *at++ = (uint8_t)p->n_bytes;
    for (size_t i = 0; i < p->n_bytes;) {
        const size_t same = same_from(before, p, i);
        const size_t other = other_from(before, p, i + same);

        if (i + same == p->n_bytes)
            break;
        *at++ = (uint8_t)same;
        *at++ = (uint8_t)other;
        memcpy(at, p->bytes + i + same, other);
        at += other;
        i += same + other;
    }
    put_base64(out, coded, (size_t)(at - coded));
    free(coded);
}

static void put_values(FILE *out, const struct timeline_packet *before,
                       const struct timeline_packet *p)
{
    bool begun = false;

    fputs(",[", out);
    for (size_t i = 0; i < p->n_rows; i++) {
        if (strcmp(before->rows[i].value, p->rows[i].value) == 0)
            continue;
        fprintf(out, "%s%zu,", begun ? "," : "", i);
        put_string(out, p->rows[i].value);
        begun = true;
    }
    fputc(']', out);
}

static void put_places(FILE *out, const struct timeline_packet *before,
                       const struct timeline_packet *p)
{
    bool begun = false;

    for (size_t i = 0; i < p->n_rows; i++) {
        const struct packet_row *a = &before->rows[i], *b = &p->rows[i];

        if (a->offset == b->offset && a->bytes == b->bytes)
            continue;
        fprintf(out, "%s%zu,%zu,%zu", begun ? "," : ",[", i, b->offset, b->bytes);
        begun = true;
    }
    if (begun)
        fputc(']', out);
    else if (p->left)
        fputs(",[]", out);
    if (p->left)
        fprintf(out, ",%zu,%zu", p->at, p->left);
}

void timeline_frames_begin(struct timeline_frames *f, FILE *out, uint32_t n_packets)
{
    *f = (struct timeline_frames){.out = out,
                                  .field_bytes = n_packets > TIMELINE_FRAMES_MANY
                                                     ? TIMELINE_FIELD_BYTES_MANY
                                                     : TIMELINE_FIELD_BYTES};
    fputs("\"frames\":[", out);
}

uint32_t timeline_frame_put(struct timeline_frames *f, const uint8_t *bytes, size_t n)
{
    struct timeline_packet p = pick(bytes, n, f->field_bytes);
    const size_t kind = kind_of(f, &p);
    struct timeline_packet *last = &f->kinds[kind];

    fprintf(f->out, "%s\n[%zu,", f->n ? "," : "", kind);
    put_bytes(f->out, last, &p);
    put_values(f->out, last, &p);
    put_places(f->out, last, &p);
    fputc(']', f->out);
    drop(last);
    *last = p;
    f->n_cut += p.left > 0;
    return f->n++;
}

void timeline_frames_end(struct timeline_frames *f)
{
    fputs("],\n\"formats\":[", f->out);
    for (size_t k = 0; k < f->n_kinds; k++) {
        const struct timeline_packet *p = &f->kinds[k];

        fputs(k ? ",\n[" : "\n[", f->out);
        for (size_t i = 0; i < p->n_rows; i++) {
            const size_t header = word(f, p->rows[i].header);
            const size_t name = word(f, p->rows[i].name);

            fprintf(f->out, "%s%zu,%zu,%u", i ? "," : "", header, name, p->rows[i].mask);
        }
        fputc(']', f->out);
    }
    fputs("],\n\"words\":[", f->out);
    for (size_t i = 0; i < f->n_words; i++) {
        fputs(i ? "," : "", f->out);
        put_string(f->out, f->words[i]);
    }
    fputs("],\n", f->out);
    for (size_t k = 0; k < f->n_kinds; k++)
        drop(&f->kinds[k]);
    free(f->kinds);
    free(f->words);
}
