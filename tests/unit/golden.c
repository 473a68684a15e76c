/* SPDX-License-Identifier: MIT */
/* Reads, compares and writes the golden file of one test program, which is why its state is static.
 */
#include "golden.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"

#define SECTIONS_MAX 256u
#define CELLS_MAX    4000000u /* of the table that aligns two texts */
#define CONTEXT      3u       /* equal lines around those that differ */
#define HEAD         "=== "
#define CUT          "\\ no newline at the end\n"

struct section {
    char *name;
    char *wanted;    /* NULL if the file has no such section */
    char *got;       /* NULL until a test uses it */
    unsigned use_no; /* 1 for the first that is used */
};

static struct {
    char path[1024];    /* empty until the file is read */
    const char *test_c; /* the test whose file it is, as the compiler calls it */
    struct section v[SECTIONS_MAX];
    size_t n;
    unsigned n_used;
} golden;

static bool updates(void)
{
    if (!getenv("GOLDEN_UPDATE"))
        return false;
    if (getenv("CI"))
        fail_msg("GOLDEN_UPDATE is refused because the environment variable CI is set");
    return true;
}

static char *copy_of(const char *s, size_t n)
{
    char *copy = strndup(s, n);

    assert_non_null(copy);
    return copy;
}

/* --- The file --------------------------------------------------------------------------------- */

/* The golden file of a test, from the name that the compiler knows it by.  Meson says where
 * tests/unit is; a test that is started by hand is started in the directory above it.
 */
static void find_file(const char *test_c)
{
    const char *root = getenv("UNIT_TESTS"), *inside = strstr(test_c, "tests/unit/");
    int n;

    assert_non_null(inside);
    inside += strlen("tests/unit/");
    n = snprintf(golden.path, sizeof(golden.path), "%s/%.*s.golden", root ? root : "tests/unit",
                 (int)strcspn(inside, "."), inside);
    assert_true(n > 0 && (size_t)n < sizeof(golden.path));
}

static struct section *add(const char *name, size_t n)
{
    struct section *s = &golden.v[golden.n];

    assert_true(golden.n < SECTIONS_MAX);
    *s = (struct section){.name = copy_of(name, n)};
    golden.n++;
    return s;
}

static struct section *find(const char *name)
{
    for (size_t i = 0; i < golden.n; i++) {
        if (strcmp(golden.v[i].name, name) == 0)
            return &golden.v[i];
    }
    return NULL;
}

/* The end of the section that begins at @s: the next head, or the end of the file. */
static const char *section_end(const char *s)
{
    while (*s && strncmp(s, HEAD, strlen(HEAD)) != 0) {
        s += strcspn(s, "\n");
        s += *s == '\n';
    }
    return s;
}

static void parse(const char *s)
{
    if (*s && section_end(s) != s)
        fail_msg("%s does not begin with \"" HEAD "NAME\"", golden.path);
    while (*s) {
        const char *name = s + strlen(HEAD), *text = name + strcspn(name, "\n");
        struct section *section;
        size_t n;

        assert_int_equal(*text, '\n');
        section = add(name, (size_t)(text - name));
        if (find(section->name) != section)
            fail_msg("%s has two sections %s", golden.path, section->name);
        s = section_end(++text);
        n = (size_t)(s - text);
        if (n > strlen(CUT) && strncmp(s - strlen(CUT), CUT, strlen(CUT)) == 0)
            n -= strlen(CUT) + 1;
        section->wanted = copy_of(text, n);
    }
}

static void read_file(const char *test_c)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f;

    find_file(test_c);
    golden.test_c = test_c;
    f = fopen(golden.path, "rb");
    if (!f)
        return; /* then each section is missing */
    if (getdelim(&text, &size, '\0', f) >= 0)
        parse(text);
    free(text);
    fclose(f);
}

static void write_section(FILE *f, const struct section *s, const char *text)
{
    const size_t n = strlen(text);

    fprintf(f, HEAD "%s\n%s%s", s->name, text, n == 0 || text[n - 1] == '\n' ? "" : "\n" CUT);
}

/* Sections that no test has used come last: perhaps a test failed before it came to them. */
static void write_file(void)
{
    FILE *f = golden.n_used ? fopen(golden.path, "wb") : NULL;

    if (!f)
        fail_msg("%s cannot be written", golden.path);
    for (unsigned use_no = 1; use_no <= golden.n_used; use_no++) {
        for (size_t i = 0; i < golden.n; i++) {
            if (golden.v[i].use_no == use_no)
                write_section(f, &golden.v[i], golden.v[i].got);
        }
    }
    for (size_t i = 0; i < golden.n; i++) {
        if (golden.v[i].use_no == 0)
            write_section(f, &golden.v[i], golden.v[i].wanted);
    }
    assert_int_equal(fclose(f), 0);
}

static void forget_all(void)
{
    for (size_t i = 0; i < golden.n; i++) {
        free(golden.v[i].name);
        free(golden.v[i].wanted);
        free(golden.v[i].got);
    }
    memset(&golden, 0, sizeof(golden));
}

/* --- What differs ----------------------------------------------------------------------------- */

/* A text as lines, which end at the next one's beginning. */
struct lines {
    const char **v; /* n + 1 */
    size_t n;
};

static struct lines lines_of(const char *s)
{
    struct lines l = {calloc(strlen(s) + 1, sizeof(*l.v)), 0};

    assert_non_null(l.v);
    for (; *s; s += *s == '\n') {
        l.v[l.n++] = s;
        s += strcspn(s, "\n");
    }
    l.v[l.n] = s;
    return l;
}

static int length(const struct lines *l, size_t i)
{
    const int n = (int)(l->v[i + 1] - l->v[i]);

    return n > 0 && l->v[i][n - 1] == '\n' ? n - 1 : n;
}

static bool same(const struct lines *a, size_t i, const struct lines *b, size_t k)
{
    const size_t n = (size_t)(a->v[i + 1] - a->v[i]);

    return n == (size_t)(b->v[k + 1] - b->v[k]) && memcmp(a->v[i], b->v[k], n) == 0;
}

/* How many lines a common subsequence of @a from i on and @b from k on has, at i * (b->n + 1) + k.
 * All are 0 if that would take too much.
 */
static unsigned short *common(const struct lines *a, const struct lines *b)
{
    const size_t row = b->n + 1, cells = (a->n + 1) * row;
    const bool fits = cells <= CELLS_MAX && a->n <= 0xffff;
    unsigned short *t = calloc(fits ? cells : 1, sizeof(*t));

    assert_non_null(t);
    for (size_t i = a->n; fits && i-- > 0;) {
        for (size_t k = b->n; k-- > 0;) {
            const unsigned short down = t[(i + 1) * row + k], right = t[i * row + k + 1];

            if (same(a, i, b, k))
                t[i * row + k] = (unsigned short)(t[(i + 1) * row + k + 1] + 1);
            else
                t[i * row + k] = down > right ? down : right;
        }
    }
    if (fits)
        return t;
    free(t);
    return NULL;
}

/* Prints "-" before what only @a has, "+" before what only @b has; of equal lines those beside. */
static void print_difference(const struct lines *a, const struct lines *b)
{
    unsigned short *t = common(a, b);
    size_t equal = CONTEXT, i = 0, k = 0; /* equal: lines since the last that differs */

    while (i < a->n || k < b->n) {
        const size_t row = b->n + 1;

        if (i < a->n && k < b->n && same(a, i, b, k)) {
            if (equal++ < CONTEXT)
                fprintf(stderr, "  %.*s\n", length(a, i), a->v[i]);
            i++;
            k++;
            continue;
        }
        if (equal > CONTEXT) {
            const size_t before = equal > 2 * CONTEXT ? CONTEXT : equal - CONTEXT;

            fprintf(stderr, "@@ line %zu\n", i + 1);
            for (size_t n = i > before ? before : i; n > 0; n--)
                fprintf(stderr, "  %.*s\n", length(a, i - n), a->v[i - n]);
        }
        equal = 0;
        if (i < a->n && (k == b->n || !t || t[(i + 1) * row + k] >= t[i * row + k + 1])) {
            fprintf(stderr, "- %.*s\n", length(a, i), a->v[i]);
            i++;
        } else {
            fprintf(stderr, "+ %.*s\n", length(b, k), b->v[k]);
            k++;
        }
    }
    free(t);
}

static void tell_difference(const struct section *s, const char *text)
{
    const struct lines a = lines_of(s->wanted), b = lines_of(text);

    fprintf(stderr, "--- %s, section %s\n+++ printed\n", golden.path, s->name);
    print_difference(&a, &b);
    free(a.v);
    free(b.v);
}

/* --- Tests ------------------------------------------------------------------------------------ */

void golden_compare(const char *test_c, const char *name, const char *text)
{
    const bool update = updates();
    struct section *s;

    if (!golden.path[0])
        read_file(test_c);
    if (strcmp(golden.test_c, test_c) != 0)
        fail_msg("a program has one golden file, but %s and %s compare texts", golden.test_c,
                 test_c);
    if (*section_end(text) || strstr(text, CUT))
        fail_msg("%s: a line of the text is one that the file itself needs", name);
    s = find(name);
    if (!s)
        s = add(name, strlen(name));
    if (s->use_no == 0) {
        s->use_no = ++golden.n_used;
        s->got = copy_of(text, strlen(text));
    } else if (update && strcmp(s->got, text) != 0) {
        fail_msg("the section %s is compared with two texts", name);
    }
    if (update)
        return;
    if (!s->wanted)
        fail_msg("%s has no section %s: GOLDEN_UPDATE=1 writes it", golden.path, name);
    if (strcmp(s->wanted, text) != 0) {
        tell_difference(s, text);
        fail_msg("the section %s of %s is not what was printed", name, golden.path);
    }
}

void assert_in_order(const char *text, const char *words)
{
    const char *at = text;

    while (*words) {
        const size_t n = strcspn(words, " ");
        const char *word = words;

        words += n + (words[n] == ' ');
        while (*at && strncmp(at, word, n) != 0)
            at++;
        if (!*at) {
            fprintf(stderr, "%s", text);
            fail_msg("no \"%.*s\" in its place", (int)n, word);
        }
        at += n;
    }
}

unsigned count_in(const char *text, const char *part)
{
    unsigned n = 0;

    for (text = strstr(text, part); text; text = strstr(text + 1, part))
        n++;
    return n;
}

void every_golden_text_is_used(void **state)
{
    unsigned n_unused = 0;

    (void)state;
    for (size_t i = 0; i < golden.n; i++) {
        if (golden.v[i].use_no == 0) {
            fprintf(stderr, "%s: no test used the section %s\n", golden.path, golden.v[i].name);
            n_unused++;
        }
    }
    if (updates()) {
        write_file();
        n_unused = 0;
    }
    forget_all();
    assert_int_equal(n_unused, 0);
}
