/* SPDX-License-Identifier: MIT */
#include "viz/cells.h"

#include <string.h>

static const char *const shade_codes[] = {
    [SHADE_NONE] = "\033[0m",       [SHADE_BOLD] = "\033[0;1m",    [SHADE_DIM] = "\033[0;90m",
    [SHADE_REQUEST] = "\033[0;36m", [SHADE_ANSWER] = "\033[0;32m", [SHADE_BAD] = "\033[0;31m",
    [SHADE_TIMER] = "\033[0;33m",   [SHADE_STATE] = "\033[0;35m",
};

const char *shade_code(enum shade shade)
{
    return shade_codes[shade];
}

static void put(const struct cells *c, const char *s)
{
    c->sink->put(c->sink->ctx, s, strlen(s));
}

static bool continues(char c)
{
    return ((unsigned char)c & 0xc0u) == 0x80u;
}

uint32_t cells_of(const char *s)
{
    uint32_t n = 0;

    for (; *s; s++)
        n += !continues(*s);
    return n;
}

/* Writes up to @n characters. */
static void draw(struct cells *c, uint32_t at, const char *s, uint32_t n, enum shade shade)
{
    for (; *s && n > 0 && at < c->width; n--) {
        size_t bytes = 1;

        while (bytes < CELL_BYTES - 1 && continues(s[bytes]))
            bytes++;
        memcpy(c->row[at].s, s, bytes);
        c->row[at].s[bytes] = '\0';
        c->row[at].shade = (uint8_t)shade;
        s += bytes;
        at++;
    }
}

void cells_draw(struct cells *c, uint32_t at, const char *s, enum shade shade)
{
    draw(c, at, s, UINT32_MAX, shade);
}

void cells_draw_within(struct cells *c, uint32_t from, uint32_t to, uint32_t at, const char *s,
                       enum shade shade)
{
    const uint32_t room = to > from ? to - from : 0;
    const uint32_t n = cells_of(s);

    if (room == 0)
        return;
    if (n > room) {
        draw(c, from, s, room, shade);
        draw(c, to - 1, "~", 1, shade);
        return;
    }
    if (at < from)
        at = from;
    if (at > to - n)
        at = to - n;
    if (at > from)
        draw(c, at - 1, " ", 1, shade);
    draw(c, at, s, n, shade);
    if (at + n < to)
        draw(c, at + n, " ", 1, shade);
}

void cells_fill(struct cells *c, uint32_t from, uint32_t to, const char *s, enum shade shade)
{
    for (uint32_t at = from; at < to; at++)
        draw(c, at, s, 1, shade);
}

static bool is_blank(const struct cell *c)
{
    return c->s[0] == '\0' || c->s[0] == ' ';
}

void cells_end_row(struct cells *c)
{
    uint32_t n = c->width;
    uint8_t shade = SHADE_NONE;

    while (n > 0 && is_blank(&c->row[n - 1]))
        n--;
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t wanted = is_blank(&c->row[i]) ? shade : c->row[i].shade;

        if (c->colour && wanted != shade)
            put(c, shade_codes[wanted]);
        shade = wanted;
        put(c, c->row[i].s[0] ? c->row[i].s : " ");
    }
    put(c, c->colour && shade != SHADE_NONE ? "\033[0m\n" : "\n");
    memset(c->row, 0, sizeof(c->row));
    c->n_rows++;
}
