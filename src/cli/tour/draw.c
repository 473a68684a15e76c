/* SPDX-License-Identifier: MIT */
#include "cli/tour/draw.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lang/suggest.h"
#include "emu/base/assert.h"
#include "emu/base/prng.h"
#include "emu/base/quantity.h"
#include "process/must.h"

/* Streams of random numbers, so that a new `draw` changes no order of choices. */
enum { STREAM_VALUES, STREAM_SCREEN, STREAM_CHOICES };

/* A name and its value. */
struct drawn_value {
    char name[DRAW_BYTES], value[DRAW_BYTES];
};

struct drawer {
    struct drawn_value v[DRAW_NAMES_MAX];
    size_t n;
    struct prng random;
    struct diag *d;
    size_t at; /* of the present line in the text that is written */
};

static bool fail(const struct drawer *w, const char *message, const char *remedy)
{
    diag_set(w->d, DIAG_SYNTAX, (struct span){w->at, 0}, "%s", message);
    return diag_remedy(w->d, "%s", remedy);
}

/* --- Values ------------------------------------------------------------------------------------
 */

static size_t name_length(const char *s)
{
    size_t n = 0;

    while (isalnum((unsigned char)s[n]) || s[n] == '_')
        n++;
    return n;
}

static const struct drawn_value *find(const struct drawer *w, const char *name, size_t len)
{
    for (size_t i = 0; i < w->n; i++) {
        if (strlen(w->v[i].name) == len && memcmp(w->v[i].name, name, len) == 0)
            return &w->v[i];
    }
    return NULL;
}

/* Writes @line with the drawn values in place of their names.  Other names, such as those of
 * `foreach`, stay.
 */
static void put_line(const struct drawer *w, const char *line, size_t len, FILE *out)
{
    for (size_t i = 0; i < len;) {
        const size_t open = line[i] == '$' && i + 1 < len && line[i + 1] == '(';
        const char *name = line + i + 1 + open;
        const size_t n = line[i] == '$' ? name_length(name) : 0;
        const struct drawn_value *v = n > 0 && (!open || name[n] == ')') ? find(w, name, n) : NULL;

        if (v)
            fputs(v->value, out);
        else
            fputc(line[i], out);
        i += v ? 1 + n + 2 * open : 1;
    }
}

/* --- draw and let ------------------------------------------------------------------------------
 */

/* Takes the next word of the line at *@s: up to a blank, or in quotes.  Returns false, and leaves
 * *@s alone, at its end and at a word that is empty or too long.
 */
static bool take(const char **s, char ret[DRAW_BYTES])
{
    struct text t = text_on(ret, DRAW_BYTES);
    const char *from = *s + strspn(*s, " ");
    const bool quoted = *from == '"';
    size_t n;

    from += quoted;
    n = strcspn(from, quoted ? "\"" : " ");
    text_addn(&t, from, n);
    if (n == 0 || t.cut)
        return false;
    *s = from + n + (quoted && from[n] == '"');
    return true;
}

static bool is_over(const char *s)
{
    return s[strspn(s, " ")] == '\0';
}

/* Draws one of the words, or a number of the range, that @s has. */
static bool draw_value(struct drawer *w, const char *s, char ret[DRAW_BYTES])
{
    char words[DRAW_VALUES_MAX][DRAW_BYTES];
    struct text t = text_on(ret, DRAW_BYTES);
    const uint64_t random = prng_next(&w->random);
    uint64_t first, last;
    size_t n = 0;

    while (n < DRAW_VALUES_MAX && take(&s, words[n]))
        n++;
    if (n == 0 || !is_over(s))
        return fail(w, "draw takes a range or at most 32 words, of 63 bytes each", "draw n 2..5");
    if (n > 1 || quantity_parse_range(words[0], &first, &last) != NULL) {
        text_add(&t, words[random % n]);
        return n > 1 || fail(w, "there is only one word to draw", "draw mtu 256 512");
    }
    if (last <= first || last - first >= UINT32_MAX)
        return fail(w, "this range does not go from a smaller to a larger number", "draw n 2..5");
    text_addf(&t, "%" PRIu64, first + random % (last - first + 1));
    return true;
}

/* Computes @s, "7 + 3 - 1", from left to right. */
static bool compute(struct drawer *w, const char *s, char ret[DRAW_BYTES])
{
    static const char form[] = "let last $first + $n - 1";
    char word[DRAW_BYTES], op = '+';
    struct text t = text_on(ret, DRAW_BYTES);
    uint64_t sum = 0, v;

    while (take(&s, word)) {
        if (quantity_parse(QUANTITY_NUMBER, word, &v) != NULL)
            return fail(w, "a number is needed here", form);
        if ((op == '/' || op == '%') && v == 0)
            return fail(w, "this divides by 0", "draw another range");
        if (op == '-' && v > sum)
            return fail(w, "this is below 0", "draw another range");
        if ((op == '+' && v > UINT64_MAX - sum) || (op == '*' && v && sum > UINT64_MAX / v))
            return fail(w, "this is too large", "draw another range");
        sum = op == '+'   ? sum + v
              : op == '-' ? sum - v
              : op == '*' ? sum * v
              : op == '/' ? sum / v
                          : sum % v;
        op = '\0';
        if (!take(&s, word))
            break;
        if (strlen(word) != 1 || !strchr("+-*/%", word[0]))
            return fail(w, "one of + - * / % is needed here", form);
        op = word[0];
    }
    text_addf(&t, "%" PRIu64, sum);
    return (op == '\0' && is_over(s)) || fail(w, "a number is missing at the end", form);
}

/* Executes the line @line, which begins with `draw` or `let`. */
static bool note_value(struct drawer *w, const char *line, bool is_let)
{
    struct drawn_value *v = &w->v[w->n];
    const char *s = line + strcspn(line, " ");

    if (w->n == DRAW_NAMES_MAX)
        return fail(w, "too many names are drawn", "32 are the most");
    if (!take(&s, v->name) || name_length(v->name) != strlen(v->name))
        return fail(w, "a name is missing: letters and digits", "draw n 2..5");
    if (find(w, v->name, strlen(v->name)))
        return fail(w, "this name has a value already", "use another name");
    if (!(is_let ? compute(w, s, v->value) : draw_value(w, s, v->value)))
        return false;
    w->n++;
    return true;
}

/* Writes the file of the lesson with the drawn values to @out; `draw` and `let` become comments. */
static bool put_file(struct drawer *w, const struct source *file, FILE *out)
{
    for (const char *line = file->text; *line;) {
        const size_t len = strcspn(line, "\n");
        char *own = NULL;
        size_t n = 0;
        FILE *f = must_memstream(&own, &n);
        bool is_let, is_value, ok = true;

        put_line(w, line, len, f);
        must_memstream_end(f, &own);
        is_let = strncmp(own, "let ", 4) == 0;
        is_value = is_let || strncmp(own, "draw ", 5) == 0;
        w->at = (size_t)ftell(out);
        fprintf(out, is_value ? "# %s\n" : "%s\n", own);
        ok = !is_value || note_value(w, own, is_let);
        free(own);
        if (!ok)
            return false;
        line += len + (line[len] == '\n');
    }
    return true;
}

/* --- The problem -------------------------------------------------------------------------------
 */

/* Keeps one screen of the file, and shuffles its choices. */
static void choose(struct problem *p)
{
    struct prng random = prng_stream(p->seed, STREAM_SCREEN);
    struct tour *t = &p->tour;
    struct tour_screen *sc = &t->screens[0];

    *sc = t->screens[prng_below(&random, t->n_screens)];
    t->n_screens = 1;
    random = prng_stream(p->seed, STREAM_CHOICES);
    for (size_t i = sc->n_choices; i > 1; i--) {
        const size_t j = prng_below(&random, i);
        const struct tour_choice c = sc->choices[i - 1];

        sc->choices[i - 1] = sc->choices[j];
        sc->choices[j] = c;
    }
}

/* Returns the first $ of the text that a reader sees: a name there has no value.  NULL: none. */
static const char *unresolved(const struct tour_screen *sc)
{
    const char *const texts[] = {sc->title, sc->text, sc->ask, sc->then, sc->reason};
    const char *found = NULL;

    for (size_t i = 0; i < ARRAY_LEN(texts) && !found; i++)
        found = strchr(texts[i], '$');
    for (size_t i = 0; i < sc->n_choices && !found; i++) {
        found = strchr(sc->choices[i].text, '$');
        if (!found)
            found = strchr(sc->choices[i].text_below, '$');
    }
    return found;
}

/* Reports the name at @dollar, which has no value, where it stands first in the screen. */
static bool no_value(const struct drawer *w, const struct problem *p, const char *dollar)
{
    const size_t open = dollar[1] == '(';
    const size_t n = name_length(dollar + 1 + open);
    const char *screen = p->src.text + p->tour.screens[0].at.at, *there;
    char name[DRAW_BYTES], word[DRAW_BYTES + 2];
    struct text t = text_on(name, sizeof(name)), whole = text_on(word, sizeof(word));
    struct suggestion near;

    text_addn(&t, dollar + 1 + open, n);
    text_addn(&whole, dollar, 1 + open + n);
    there = strstr(screen, word);
    diag_set(w->d, DIAG_SYNTAX,
             (struct span){(size_t)((there ? there : screen) - p->src.text), strlen(word)},
             "the name \"%s\" in the text of this problem has no value", word);
    near = suggestion_for(name);
    for (size_t i = 0; i < w->n; i++)
        suggest_offer(&near, w->v[i].name);
    if (near.best)
        return diag_remedy(w->d, "did you mean \"$%s\"?", near.best);
    return diag_remedy(w->d, "draw it above: draw %s 2..5", n ? name : "n");
}

static bool judge(const struct drawer *w, const struct problem *p, struct diag *reterr)
{
    const struct tour_screen *sc = &p->tour.screens[0];

    if (!sc->ask || sc->n_commands == 0) {
        diag_set(reterr, DIAG_SYNTAX, sc->at, "a problem has a question and commands");
        return diag_remedy(reterr, "ask \"How many packets?\", and then: number count(tx), do");
    }
    if (unresolved(sc))
        return no_value(w, p, unresolved(sc));
    for (size_t i = 0; i < sc->n_choices; i++) {
        for (size_t j = 0; j < i; j++) {
            if (strcmp(sc->choices[i].text, sc->choices[j].text) != 0)
                continue;
            /* The later one in the file, whatever order the seed has drawn. */
            diag_set(reterr, DIAG_SYNTAX,
                     sc->choices[sc->choices[i].at.at > sc->choices[j].at.at ? i : j].at,
                     "two choices have the same text");
            return diag_remedy(reterr, "draw values that differ");
        }
    }
    return true;
}

bool problem_draw(struct problem *ret, const struct source *file, uint64_t seed,
                  struct diag *reterr)
{
    struct drawer w = {.random = prng_stream(seed, STREAM_VALUES), .d = reterr};
    char *text = NULL;
    size_t n = 0, bad_at;
    FILE *out = must_memstream(&text, &n);
    const char *why = source_check_text(file, &bad_at);
    bool ok;

    *ret = (struct problem){.seed = seed};
    if (why) { /* the text is kept for the place of the error */
        fwrite(file->text, 1, file->len, out);
        ok = diag_set(reterr, DIAG_SYNTAX, (struct span){bad_at, 1}, "%s", why);
    } else {
        ok = put_file(&w, file, out);
    }
    must_memstream_end(out, &text);
    ret->src = *file;
    ret->src.text = text;
    ret->src.len = n;
    if (!ok || !tour_read(&ret->tour, &ret->src, reterr))
        return false;
    ret->tour.is_problem = true;
    ret->tour.seed = seed;
    choose(ret);
    return judge(&w, ret, reterr);
}

void problem_done(struct problem *p)
{
    tour_done(&p->tour);
    free((char *)p->src.text);
    p->src.text = NULL;
}
