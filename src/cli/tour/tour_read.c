/* SPDX-License-Identifier: MIT */
#include "cli/tour/tour.h"

#include <ctype.h>
#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "print/utf8.h"

#define INDENT 4u

/* Times of a reader: of reading, of looking at the output of a command, of thinking. */
#define WORDS_A_MINUTE      120u
#define SECONDS_OF_COMMAND  15u
#define SECONDS_OF_QUESTION 20u

/* The directive that the indented lines of the file belong to. */
enum tour_part { PART_NONE, PART_LAB, PART_TEXT, PART_REASON, PART_DO, PART_THEN };

/* The order of directives inside a screen. */
enum tour_rank { RANK_TEXT, RANK_ASK, RANK_ANSWER, RANK_DO, RANK_REFUSED, RANK_EXPECT, RANK_THEN };

struct tour_reader {
    struct tour *t;
    struct diag *d;
    size_t line; /* number of the current line, from 1 */
    enum tour_part part;
    enum tour_rank rank;
    tour_text *target;          /* of PART_TEXT, PART_REASON, PART_THEN */
    struct tour_screen *screen; /* NULL: before the first one */
};

/* The current line, or what is left of it. */
struct tour_words {
    const char *s;
    size_t at, len; /* in the file */
};

static bool fail(struct tour_reader *r, struct span at, const char *message, const char *remedy)
{
    diag_set(r->d, DIAG_SYNTAX, at, "%s", message);
    return diag_remedy(r->d, "%s", remedy);
}

static void skip_blanks(struct tour_words *w)
{
    while (w->len > 0 && w->s[0] == ' ') {
        w->s++;
        w->at++;
        w->len--;
    }
}

/* Returns the span of what is left, without the blanks before it. */
static struct span rest_of(const struct tour_words *w)
{
    struct tour_words rest = *w;

    skip_blanks(&rest);
    return (struct span){rest.at, rest.len};
}

static void advance(struct tour_words *w, size_t n)
{
    w->s += n;
    w->at += n;
    w->len -= n;
}

/* Takes the next word, which blanks end. */
static struct tour_words take_word(struct tour_words *w)
{
    struct tour_words one;

    skip_blanks(w);
    one = *w;
    for (one.len = 0; one.len < w->len && w->s[one.len] != ' ';)
        one.len++;
    advance(w, one.len);
    return one;
}

static bool word_is(const struct tour_words *w, const char *what)
{
    return w->len == strlen(what) && memcmp(w->s, what, w->len) == 0;
}

/* Takes a text in quotes, in which a quote is written \". */
static bool take_quoted(struct tour_reader *r, struct tour_words *w, const char *what,
                        const char **ret)
{
    char *out;
    size_t n = 0, i = 1;

    skip_blanks(w);
    if (w->len == 0 || w->s[0] != '"')
        return fail(r, rest_of(w), "a text in quotes is needed here", what);
    out = pool_alloc(&r->t->pool, w->len);
    for (; i < w->len && w->s[i] != '"'; i++) {
        if (w->s[i] == '\\' && i + 1 < w->len)
            i++;
        out[n++] = w->s[i];
    }
    if (i == w->len)
        return fail(r, rest_of(w), "the closing quote is missing", what);
    if (n == 0)
        return fail(r, rest_of(w), "this text is empty", what);
    advance(w, i + 1);
    *ret = out;
    return true;
}

static bool at_end(struct tour_reader *r, struct tour_words *w)
{
    skip_blanks(w);
    return w->len == 0 ||
           fail(r, rest_of(w), "nothing more is expected in this line", "begin a new line");
}

/* Returns true if the value of @e depends on the lab.  Depth is bounded by the parser. */
static bool asks_lab(const struct expr *e)
{
    if (!e)
        return false;
    if (e->kind == EXPR_PATH)
        return e->leads || e->leads_from_host || e->may_be_program || e->may_be_memory ||
               e->word == EXPR_WORD_TIME || e->word == EXPR_WORD_TICK;
    return e->kind == EXPR_COUNT || e->kind == EXPR_EVENT || asks_lab(e->a) || asks_lab(e->b);
}

/* Parses the rest of the line as an expression whose value the lab decides. */
static bool take_expr(struct tour_reader *r, struct tour_words *w, struct tour_expr *ret)
{
    skip_blanks(w);
    if (w->len == 0)
        return fail(r, rest_of(w), "an expression is missing", "\"explain expression\" has some");
    ret->text = pool_copy(&r->t->pool, w->s, w->len);
    ret->at = rest_of(w);
    ret->e = expr_parse(&r->t->pool, ret->text, ret->at, r->d);
    if (!ret->e || !expr_paths_lead(ret->e, ret->at, r->d))
        return false;
    if (expr_has_happening(ret->e))
        return fail(r, ret->at, "this event is over when the answer is needed",
                    "count(KIND) tells how often it has happened");
    return asks_lab(ret->e) || fail(r, ret->at, "the lab does not decide this",
                                    "compare a value of the lab: h1.qp.state, count(tx)");
}

/* --- Indented lines ----------------------------------------------------------------------------
 */

static bool add_command(struct tour_reader *r, const struct tour_words *w, struct tour_command *v,
                        size_t *n, size_t max)
{
    const char *indented;

    if (w->len == 0)
        return true;
    if (*n == max)
        return fail(r, rest_of(w), "too many commands", "make two screens of this one");
    indented = pool_copy(&r->t->pool, w->s - INDENT, w->len + INDENT);
    v[(*n)++] = (struct tour_command){indented + INDENT, indented, rest_of(w), r->line};
    return true;
}

/* Number of characters in the line. */
static size_t columns_of(const struct tour_words *w)
{
    size_t n = 0;

    for (size_t i = 0; i < w->len; i++)
        n += ((unsigned char)w->s[i] & 0xc0) != 0x80; /* not for the further bytes of one */
    return n;
}

static size_t n_lines(tour_text text)
{
    size_t n = 0;

    for (size_t i = 0; text[i]; i++)
        n += text[i] == '\n';
    return n;
}

/* Appends a line to a text. */
static bool add_text(struct tour_reader *r, const struct tour_words *w)
{
    const size_t before = strlen(*r->target);
    char *both;

    if (columns_of(w) > TOUR_TEXT_COLUMNS)
        return fail(r, rest_of(w), "this line of text is too long", "77 characters are the most");
    if (n_lines(*r->target) == TOUR_LINES)
        return fail(r, rest_of(w), "this text has more lines than a screen",
                    "make two screens of this one");
    both = pool_alloc(&r->t->pool, before + w->len + 2);

    memcpy(both, *r->target, before);
    memcpy(both + before, w->s, w->len);
    both[before + w->len] = '\n';
    *r->target = both;
    return true;
}

static bool read_indented(struct tour_reader *r, struct tour_words *w)
{
    switch (r->part) {
    case PART_NONE:
        break;
    case PART_LAB:
        return add_command(r, w, r->t->lab, &r->t->n_lab, TOUR_LAB_MAX);
    case PART_DO:
        return add_command(r, w, r->screen->commands, &r->screen->n_commands, TOUR_COMMANDS_MAX);
    case PART_TEXT:
    case PART_REASON:
    case PART_THEN:
        return add_text(r, w);
    }
    return w->len == 0 || fail(r, rest_of(w), "the line above takes no text",
                               "text belongs to screen, choice, number and then");
}

/* --- Directives --------------------------------------------------------------------------------
 */

static bool read_lesson(struct tour_reader *r, struct tour_words *w)
{
    const struct tour_words name = take_word(w);
    struct text t = text_on(r->t->name, sizeof(r->t->name));

    if (r->t->title)
        return fail(r, rest_of(&name), "a file has one lesson", "make another file");
    for (size_t i = 0; i < name.len; i++) {
        if (!islower((unsigned char)name.s[i]) && (i == 0 || !strchr("-0123456789", name.s[i])))
            return fail(r, rest_of(&name), "this is no name of a lesson",
                        "small letters, digits and dashes: keys, lost-packet");
    }
    text_addn(&t, name.s, name.len);
    if (name.len == 0 || t.cut)
        return fail(r, rest_of(&name), "a lesson needs a name, of 31 characters at most",
                    "lesson keys \"Keys\"");
    return take_quoted(r, w, "lesson keys \"Keys\"", &r->t->title) && at_end(r, w);
}

static bool read_lab(struct tour_reader *r, struct tour_words *w)
{
    if (r->screen || r->t->n_lab)
        return fail(r, rest_of(w), "lab stands once, before the first screen", "move it there");
    r->part = PART_LAB;
    return at_end(r, w);
}

static bool read_screen(struct tour_reader *r, struct tour_words *w)
{
    if (r->t->n_screens == TOUR_SCREENS_MAX)
        return fail(r, rest_of(w), "too many screens", "make two lessons of it");
    r->screen = &r->t->screens[r->t->n_screens++];
    *r->screen = (struct tour_screen){.text = "", .then = "", .reason = "", .at = rest_of(w)};
    r->rank = RANK_TEXT;
    r->part = PART_TEXT;
    r->target = &r->screen->text;
    return take_quoted(r, w, "screen \"Two hosts\"", &r->screen->title) && at_end(r, w);
}

static bool read_ask(struct tour_reader *r, struct tour_words *w)
{
    r->screen->ask_at = rest_of(w);
    return take_quoted(r, w, "ask \"How many packets?\"", &r->screen->ask) && at_end(r, w);
}

static bool read_choice(struct tour_reader *r, struct tour_words *w)
{
    static const char form[] = "choice \"one\" if count(tx) == 1";
    struct tour_screen *sc = r->screen;
    struct tour_choice *c = &sc->choices[sc->n_choices];
    struct tour_words word;

    if (!sc->ask)
        return fail(r, rest_of(w), "an ask must stand before it",
                    "ask \"How many packets?\", and then: choice \"one\" if count(tx) == 1");
    if (sc->number.text)
        return fail(r, rest_of(w), "a question has one number, or choices", form);
    if (sc->n_choices == TOUR_CHOICES_MAX)
        return fail(r, rest_of(w), "too many choices", "5 are enough");
    *c = (struct tour_choice){.at = rest_of(w), .text_below = ""};
    if (!take_quoted(r, w, form, &c->text))
        return false;
    word = take_word(w);
    if (!word_is(&word, "if"))
        return fail(r, rest_of(&word), "\"if\" and a condition are missing", form);
    sc->n_choices++;
    r->part = PART_REASON;
    r->target = &c->text_below;
    return take_expr(r, w, &c->holds);
}

/* Returns true if a number is all that is left of the line. */
static bool is_plain_number(const struct tour_words *w)
{
    const struct span rest = rest_of(w);
    const char *s = w->s + (rest.at - w->at);

    for (size_t i = 0; i < rest.len; i++) {
        if (!isalnum((unsigned char)s[i]))
            return false;
    }
    return rest.len > 0 && isdigit((unsigned char)s[0]);
}

static bool read_number(struct tour_reader *r, struct tour_words *w)
{
    struct tour_screen *sc = r->screen;

    if (!sc->ask)
        return fail(r, rest_of(w), "an ask must stand before it",
                    "ask \"How many packets?\", and then: number count(tx)");
    if (sc->n_choices || sc->number.text)
        return fail(r, rest_of(w), "a question has one number, or choices",
                    "ask \"How many packets?\", and then: number count(tx)");
    r->part = PART_REASON;
    r->target = &sc->reason;
    if (is_plain_number(w))
        return fail(r, rest_of(w), "the lab computes the answer: name a value of it",
                    "number count(tx)");
    if (!take_expr(r, w, &sc->number))
        return false;
    return sc->number.e->kind == EXPR_PATH || sc->number.e->kind == EXPR_COUNT ||
           fail(r, sc->number.at, "a number is one value of the lab, and no condition",
                "number count(tx, host==h1)");
}

static bool read_word(struct tour_reader *r, struct tour_words *w)
{
    r->screen->is_word = true;
    return read_number(r, w);
}

static bool read_do(struct tour_reader *r, struct tour_words *w)
{
    r->part = PART_DO;
    return at_end(r, w);
}

static bool read_refused(struct tour_reader *r, struct tour_words *w)
{
    if (r->screen->n_commands == 0)
        return fail(r, rest_of(w), "refused follows the commands of its screen", "do");
    return take_quoted(r, w, "refused \"needs RTS\"", &r->screen->refused) && at_end(r, w);
}

static bool read_expect(struct tour_reader *r, struct tour_words *w)
{
    if (r->screen->n_expects == TOUR_EXPECTS_MAX)
        return fail(r, rest_of(w), "too many expectations", "join them by \"and\"");
    return take_expr(r, w, &r->screen->expects[r->screen->n_expects++]);
}

static bool read_then(struct tour_reader *r, struct tour_words *w)
{
    r->part = PART_THEN;
    r->target = &r->screen->then;
    return at_end(r, w);
}

/* The directives of a screen; those with @many may be repeated. */
static const struct {
    const char *word;
    enum tour_rank rank;
    bool many;
    bool (*read)(struct tour_reader *r, struct tour_words *w);
} in_screens[] = {
    {"ask", RANK_ASK, false, read_ask},
    {"choice", RANK_ANSWER, true, read_choice},
    {"number", RANK_ANSWER, true, read_number},
    {"word", RANK_ANSWER, true, read_word},
    {"do", RANK_DO, false, read_do},
    {"refused", RANK_REFUSED, false, read_refused},
    {"expect", RANK_EXPECT, true, read_expect},
    {"then", RANK_THEN, false, read_then},
};

static bool read_in_screen(struct tour_reader *r, const struct tour_words *word,
                           struct tour_words *w)
{
    for (size_t i = 0; i < ARRAY_LEN(in_screens); i++) {
        if (!word_is(word, in_screens[i].word))
            continue;
        if (!r->screen)
            return fail(r, rest_of(word), "this belongs to a screen", "screen \"Two hosts\"");
        if (in_screens[i].rank < r->rank || (in_screens[i].rank == r->rank && !in_screens[i].many))
            return fail(
                r, rest_of(word), "this stands too late in its screen",
                "the order is: text, ask, choice, number or word, do, refused, expect, then");
        r->rank = in_screens[i].rank;
        r->part = PART_NONE;
        return in_screens[i].read(r, w);
    }
    return fail(
        r, rest_of(word), "a tour has no such line",
        "lesson, lab, screen, ask, choice, number, word, do, refused, expect, then; text and "
        "commands begin with four blanks");
}

static bool read_directive(struct tour_reader *r, struct tour_words *w)
{
    const struct tour_words word = take_word(w);

    if (word_is(&word, "lesson"))
        return read_lesson(r, w);
    if (!r->t->title)
        return fail(r, rest_of(&word), "a tour begins with its lesson", "lesson keys \"Keys\"");
    r->part = PART_NONE;
    if (word_is(&word, "lab"))
        return read_lab(r, w);
    if (word_is(&word, "screen"))
        return read_screen(r, w);
    return read_in_screen(r, &word, w);
}

/* Returns true if @sc is complete. */
static bool judge_screen(struct tour_reader *r, const struct tour_screen *sc)
{
    if (sc->ask && !sc->number.text && sc->n_choices < 2)
        return fail(r, sc->ask_at, "this question has no answers", "two choices, or a number");
    if (sc->n_expects && sc->n_commands == 0)
        return fail(r, sc->expects[0].at, "expect follows the commands of its screen", "do");
    return sc->text[0] || fail(r, sc->at, "this screen has no text", "say what it is about");
}

static bool read_line(struct tour_reader *r, const struct source *src, size_t at, size_t len)
{
    struct tour_words w = {src->text + at, at, len};

    while (w.len > 0 && w.s[w.len - 1] == ' ')
        w.len--;
    if (w.len > 0 && w.s[0] == '#')
        return true;
    if (w.len > 0 && w.s[0] != ' ')
        return read_directive(r, &w);
    for (size_t i = 0; i < INDENT && w.len > 0; i++) {
        if (w.s[0] != ' ')
            return fail(r, rest_of(&w), "a line that belongs to the one above has four blanks",
                        "indent it by four blanks");
        advance(&w, 1);
    }
    return read_indented(r, &w);
}

/* Removes the empty lines at the end of a text. */
static void trim(struct tour_reader *r, tour_text *text)
{
    size_t n = strlen(*text);

    while (n > 0 && (*text)[n - 1] == '\n')
        n--;
    if (n > 0)
        n++;
    *text = pool_copy(&r->t->pool, *text, n);
}

static void trim_screen(struct tour_reader *r, struct tour_screen *sc)
{
    trim(r, &sc->text);
    trim(r, &sc->then);
    trim(r, &sc->reason);
    for (size_t i = 0; i < sc->n_choices; i++)
        trim(r, &sc->choices[i].text_below);
}

bool tour_read(struct tour *ret, const struct source *src, struct diag *reterr)
{
    struct tour_reader r = {.t = ret, .d = reterr};
    size_t bad_at;
    const char *why = source_check_text(src, &bad_at);

    *ret = (struct tour){.src = *src};
    ret->screens = pool_alloc(&ret->pool, TOUR_SCREENS_MAX * sizeof(*ret->screens));
    if (why)
        return diag_set(reterr, DIAG_SYNTAX, (struct span){bad_at, 1}, "%s", why);
    for (size_t at = 0; at < src->len;) {
        const char *end = memchr(src->text + at, '\n', src->len - at);
        const size_t len = end ? (size_t)(end - src->text) - at : src->len - at;

        r.line++;
        if (!read_line(&r, src, at, len))
            return false;
        at += len + (end != NULL);
    }
    if (ret->n_screens == 0)
        return fail(&r, (struct span){src->len, 0}, "this lesson has no screen",
                    "lesson NAME \"TITLE\", and then: screen \"TITLE\"");
    for (size_t i = 0; i < ret->n_screens; i++) {
        trim_screen(&r, &ret->screens[i]);
        if (!judge_screen(&r, &ret->screens[i]))
            return false;
    }
    return true;
}

static unsigned n_words(tour_text text)
{
    unsigned n = 0;

    for (size_t i = 0; text[i]; i++)
        n += !isspace((unsigned char)text[i]) && (i == 0 || isspace((unsigned char)text[i - 1]));
    return n;
}

unsigned tour_minutes(const struct tour *t)
{
    unsigned n = 0, seconds = 0;

    for (size_t i = 0; i < t->n_screens; i++) {
        const struct tour_screen *sc = &t->screens[i];

        n += n_words(sc->text) + n_words(sc->then);
        seconds += (unsigned)sc->n_commands * SECONDS_OF_COMMAND;
        seconds += sc->ask ? SECONDS_OF_QUESTION : 0;
    }
    return (seconds + n * 60 / WORDS_A_MINUTE + 59) / 60;
}

void tour_done(struct tour *t)
{
    pool_free(&t->pool);
}

struct source tour_command_source(const struct tour *t, const struct tour_command *c)
{
    return (struct source){.name = t->src.name,
                           .text = c->indented,
                           .len = strlen(c->indented),
                           .lines_before = c->line - 1,
                           .home = t->src.home,
                           .of_lesson = true};
}

void tour_read_builtin(struct tour *ret, size_t i)
{
    const struct source src = source_of(tour_builtins[i].file, tour_builtins[i].text);
    struct diag d = {.kind = DIAG_NONE};
    const bool ok = tour_read(ret, &src, &d);

    RDL_ASSERT(ok);
}

const struct tour_builtin *quiz_find(const char *name, struct suggestion *near)
{
    for (size_t i = 0; i < n_quiz_builtins; i++) {
        if (strcmp(name, quiz_builtins[i].name) == 0)
            return &quiz_builtins[i];
        suggest_offer(near, quiz_builtins[i].name);
    }
    return NULL;
}
