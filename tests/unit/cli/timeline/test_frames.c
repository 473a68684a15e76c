/* SPDX-License-Identifier: MIT */
/* Tests of the packets of a timeline: the page gets back each byte, and each field as `show packet`
 * has it.  The decoder here does what data.js does.
 */
#include "testing.h"

#include <cjson/cJSON.h>

#include "cli/printed.h"
#include "cli/show/packet_rows.h"
#include "cli/timeline/timeline_frames.h"
#include "emu/base/prng.h"

#define FRAME_MAX 1200u
#define ROWS_MAX  128u
#define N_FRAMES  300u

/* RC_SEND_ONLY to QPN 17; its payload begins at 54. */
static const uint8_t send_only[] = {
    0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00,
    0x45, 0x00, 0x00, 0x38, 0x12, 0x34, 0x40, 0x00, 0x40, 0x11, 0x14, 0x7f, 0x0a, 0x00,
    0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, 0xc1, 0x23, 0x12, 0xb7, 0x00, 0x24, 0x00, 0x00,
    0x04, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x11, 0x80, 0x12, 0x34, 0x56,
};

struct frame {
    uint8_t bytes[FRAME_MAX];
    size_t n;
};

/* A packet as a reader of the page has it. */
struct decoded {
    uint8_t bytes[FRAME_MAX];
    size_t n, at, left;
    size_t offsets[ROWS_MAX], sizes[ROWS_MAX];
    const char *values[ROWS_MAX];
};

/* Draws a frame with that header and a payload of @n bytes. */
static struct frame draw_send(struct prng *prng, size_t n)
{
    struct frame f = {.n = sizeof(send_only) + n + 4};
    const size_t ip_bytes = f.n - 14, udp_bytes = f.n - 34;

    memcpy(f.bytes, send_only, sizeof(send_only));
    f.bytes[16] = (uint8_t)(ip_bytes >> 8);
    f.bytes[17] = (uint8_t)ip_bytes;
    f.bytes[38] = (uint8_t)(udp_bytes >> 8);
    f.bytes[39] = (uint8_t)udp_bytes;
    f.bytes[42] = prng_below(prng, 4) ? 0x04 : 0x00;
    f.bytes[53] = (uint8_t)prng_next(prng);
    for (size_t i = sizeof(send_only); i < f.n; i++)
        f.bytes[i] = (uint8_t)(prng_below(prng, 3) ? 0 : i);
    return f;
}

static struct frame draw_frame(struct prng *prng)
{
    const size_t payload = 4 * (size_t)prng_below(prng, 280);
    struct frame f = {.n = prng_below(prng, 80)};

    if (prng_below(prng, 4))
        return draw_send(prng, payload);
    for (size_t i = 0; i < f.n; i++)
        f.bytes[i] = (uint8_t)prng_next(prng);
    return f;
}

static size_t take_base64(const char *s, uint8_t *ret)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint32_t bits = 0, n_bits = 0;
    size_t n = 0;

    for (; *s && *s != '='; s++) {
        const char *digit = strchr(digits, *s);

        assert_non_null(digit);
        bits = bits << 6 | (uint32_t)(digit - digits);
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            ret[n++] = (uint8_t)(bits >> n_bits);
        }
    }
    return n;
}

static void take_bytes(struct decoded *d, const char *text)
{
    static uint8_t coded[3 * FRAME_MAX];
    const size_t n = take_base64(text, coded);
    size_t to = 0;

    d->n = (size_t)coded[0] << 16 | (size_t)coded[1] << 8 | coded[2];
    assert_true(n >= 3 && d->n <= FRAME_MAX);
    for (size_t at = 3; at < n;) {
        to += coded[at++];
        for (size_t left = coded[at++]; left > 0; left--)
            d->bytes[to++] = coded[at++];
    }
    assert_true(to <= d->n);
}

static size_t number_at(const cJSON *array, int i)
{
    const cJSON *item = cJSON_GetArrayItem(array, i);

    assert_true(cJSON_IsNumber(item));
    return (size_t)item->valuedouble;
}

/* Makes of @d, the packet before of the kind, the packet @json. */
static void decode(struct decoded *d, const cJSON *json)
{
    const cJSON *values = cJSON_GetArrayItem(json, 2), *places = cJSON_GetArrayItem(json, 3);

    take_bytes(d, cJSON_GetArrayItem(json, 1)->valuestring);
    for (int i = 0; i + 1 < cJSON_GetArraySize(values); i += 2)
        d->values[number_at(values, i)] = cJSON_GetArrayItem(values, i + 1)->valuestring;
    for (int i = 0; i + 2 < cJSON_GetArraySize(places); i += 3) {
        d->offsets[number_at(places, i)] = number_at(places, i + 1);
        d->sizes[number_at(places, i)] = number_at(places, i + 2);
    }
    d->at = d->left = 0;
    if (cJSON_GetArraySize(json) > 4) {
        d->at = number_at(json, 4);
        d->left = number_at(json, 5);
    }
}

struct compared {
    const struct decoded *d;
    const cJSON *format, *words;
    int i;
};

static void assert_row(void *ctx, const struct packet_row *row)
{
    struct compared *c = ctx;
    const int i = c->i++;

    assert_string_equal(cJSON_GetArrayItem(c->words, (int)number_at(c->format, 3 * i))->valuestring,
                        row->header);
    assert_string_equal(
        cJSON_GetArrayItem(c->words, (int)number_at(c->format, 3 * i + 1))->valuestring, row->name);
    assert_int_equal(number_at(c->format, 3 * i + 2), row->mask);
    assert_string_equal(c->d->values[i], row->value);
    assert_int_equal(c->d->offsets[i], row->offset);
    assert_int_equal(c->d->sizes[i], row->bytes);
}

static void assert_is(const struct decoded *d, const struct frame *f, uint32_t field_bytes)
{
    const size_t cut = d->left ? d->at : f->n;

    assert_int_equal(d->n + d->left, f->n);
    assert_memory_equal(d->bytes, f->bytes, cut);
    assert_memory_equal(d->bytes + cut, f->bytes + cut + d->left, d->n - cut);
    assert_true(f->n > field_bytes || d->left == 0);
}

/* Writes @n frames, and reads them back. */
static void write_and_read(const struct frame *frames, size_t n, uint32_t n_packets)
{
    static struct decoded kinds[N_FRAMES];
    struct timeline_frames out;
    struct printed p;
    cJSON *json;

    memset(kinds, 0, sizeof(kinds));
    fputc('{', printed_begin(&p)->out);
    timeline_frames_begin(&out, p.out, n_packets);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(timeline_frame_put(&out, frames[i].bytes, frames[i].n), i);
    timeline_frames_end(&out);
    fputs("\"end\":0}", p.out);
    json = cJSON_Parse(printed_text(&p));
    assert_non_null(json);
    for (size_t i = 0; i < n; i++) {
        const cJSON *item = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "frames"), (int)i);
        const size_t kind = number_at(item, 0);
        struct compared c = {&kinds[kind],
                             cJSON_GetArrayItem(cJSON_GetObjectItem(json, "formats"), (int)kind),
                             cJSON_GetObjectItem(json, "words"), 0};

        decode(&kinds[kind], item);
        assert_is(&kinds[kind], &frames[i], out.field_bytes);
        packet_rows(frames[i].bytes, frames[i].n, assert_row, &c);
        assert_int_equal(3 * c.i, cJSON_GetArraySize(c.format));
    }
    cJSON_Delete(json);
    printed_end(&p);
}

static void each_packet_is_read_back_as_it_was(void **state)
{
    static struct frame frames[N_FRAMES];
    struct prng prng = prng_stream(1, 0);

    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i < N_FRAMES; i++)
            frames[i] = draw_frame(&prng);
        write_and_read(frames, N_FRAMES, round % 2 ? N_FRAMES : TIMELINE_FRAMES_MANY + 1);
    }
}

/* Lengths of equal and different parts where their coding changes. */
static void runs_of_every_length_are_read_back(void **state)
{
    static const size_t lengths[] = {0, 1, 2, 3, 4, 254, 255, 256, 257, 510, 511};
    static struct frame frames[2];

    (void)state;
    for (size_t a = 0; a < ARRAY_LEN(lengths); a++) {
        for (size_t b = 0; b < ARRAY_LEN(lengths); b++) {
            frames[0] = (struct frame){.n = lengths[a] + lengths[b]};
            frames[1] = frames[0];
            memset(frames[1].bytes + lengths[a], 1, lengths[b]);
            write_and_read(frames, 2, 2);
        }
    }
}

static void what_is_left_out_is_counted(void **state)
{
    struct prng prng = prng_stream(1, 0);
    const struct frame whole = draw_send(&prng, TIMELINE_FIELD_BYTES);
    const struct frame longer = draw_send(&prng, TIMELINE_FIELD_BYTES + 1);
    struct timeline_frames out;
    struct printed p;

    (void)state;
    timeline_frames_begin(&out, printed_begin(&p)->out, 2);
    (void)timeline_frame_put(&out, whole.bytes, whole.n);
    assert_int_equal(out.n_cut, 0);
    (void)timeline_frame_put(&out, longer.bytes, longer.n);
    assert_int_equal(out.n_cut, 1);
    timeline_frames_end(&out);
    assert_prints(&p, ",310,1]");
    printed_end(&p);
}

/* Packets of one kind that differ by little are written as what differs. */
static void alike_packets_take_little(void **state)
{
    struct prng prng = prng_stream(1, 0);
    struct frame f = draw_send(&prng, 200);
    struct timeline_frames out;
    struct printed p;
    size_t before;

    (void)state;
    timeline_frames_begin(&out, printed_begin(&p)->out, 2);
    (void)timeline_frame_put(&out, f.bytes, f.n);
    before = strlen(printed_text(&p));
    f.bytes[53]++;
    (void)timeline_frame_put(&out, f.bytes, f.n);
    assert_in_range(strlen(printed_text(&p)) - before, 10, 120);
    timeline_frames_end(&out);
    printed_end(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_packet_is_read_back_as_it_was),
        cmocka_unit_test(runs_of_every_length_are_read_back),
        cmocka_unit_test(what_is_left_out_is_counted),
        cmocka_unit_test(alike_packets_take_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
