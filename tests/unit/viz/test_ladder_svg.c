/* SPDX-License-Identifier: MIT */
#include "testing.h"

#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "traces.h"
#include "viz/svg.h"

static struct collected picture(const char *name)
{
    struct ladder *l = trace_ladder(name, NULL);
    struct collected c;
    const struct viz_sink sink = collect(&c);

    assert_int_equal(ladder_svg(l, &sink), RDL_OK);
    ladder_free(l);
    return c;
}

/* Skips the tag at @s and keeps @depth; NULL if the tag is malformed. */
static const char *skip_tag(const char *s, int *depth)
{
    const bool closes = s[1] == '/';
    bool quoted = false;

    for (s++; *s && (quoted || *s != '>'); s++) {
        if (*s == '"')
            quoted = !quoted;
        else if (*s == '<')
            return NULL;
    }
    if (!*s)
        return NULL;
    if (closes)
        --*depth;
    else if (s[-1] != '/')
        ++*depth;
    return s + 1;
}

static bool is_entity(const char *s)
{
    static const char *const known[] = {"&amp;", "&lt;", "&gt;", "&quot;"};

    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (strncmp(s, known[i], strlen(known[i])) == 0)
            return true;
    }
    return false;
}

static bool well_formed(const char *s)
{
    int depth = 0;

    /* The mark is the only comment. */
    if (strncmp(s, LADDER_SVG_MARK, strlen(LADDER_SVG_MARK)) != 0)
        return false;
    s += strlen(LADDER_SVG_MARK);
    while (*s) {
        if (strncmp(s, "<!--", 4) == 0)
            return false;
        if (*s == '<') {
            s = skip_tag(s, &depth);
            if (!s || depth < 0)
                return false;
        } else if (*s == '&' && !is_entity(s)) {
            return false;
        } else {
            s++;
        }
    }
    return depth == 0;
}

static void every_picture_is_well_formed(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_trace_cases; i++) {
        const struct collected c = picture(trace_cases[i].name);

        if (!well_formed(c.s))
            fail_msg("%s is not well-formed", trace_cases[i].name);
        assert_int_equal(strlen(c.s), c.n);
        free(c.s);
    }
}

static void the_same_events_give_the_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_trace_cases; i++) {
        const struct collected a = picture(trace_cases[i].name);
        const struct collected b = picture(trace_cases[i].name);

        assert_string_equal(a.s, b.s);
        free(a.s);
        free(b.s);
    }
}

static void ids_name_events_and_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_trace_cases; i++) {
        const struct collected c = picture(trace_cases[i].name);

        for (const char *id = strstr(c.s, " id=\""); id; id = strstr(id + 1, " id=\"")) {
            const size_t n = (size_t)(strchr(id + 5, '"') + 1 - id);

            for (const char *other = strstr(id + 1, " id=\""); other;
                 other = strstr(other + 1, " id=\"")) {
                if (strncmp(id, other, n) == 0)
                    fail_msg("%s: twice %.*s", trace_cases[i].name, (int)n, id);
            }
        }
        free(c.s);
    }
}

static void a_packet_can_be_found_and_explained(void **state)
{
    const struct collected c = picture("lost_request");

    (void)state;
    /* class, end and tooltip of the first transmission */
    assert_non_null(strstr(c.s, "class=\"tx\" data-end=\"e"));
    assert_non_null(strstr(c.s, "tx         RC_SEND_ONLY psn=100 ackreq -&gt; h2.qp</title>"));
    assert_non_null(strstr(c.s, "class=\"tone-request again\""));
    assert_non_null(strstr(c.s, "class=\"cross tone-bad\""));
    free(c.s);
}

/* A double line and a diamond, and a style that other pictures do not have. */
static void an_injected_packet_has_a_look_of_its_own(void **state)
{
    struct collected c = picture("injected");

    (void)state;
    assert_int_equal(count_in(c.s, "class=\"tone-request injected\""), 2);
    assert_int_equal(count_in(c.s, "class=\"tone-answer injected\""), 3);
    assert_int_equal(count_in(c.s, "class=\"inside\""), 5);
    assert_int_equal(count_in(c.s, "class=\"origin "), 5);
    assert_int_equal(count_in(c.s, "class=\"tone-request\""), 1); /* that of the queue pair */
    assert_int_equal(count_in(c.s, "class=\"tone-request copy\""), 1);
    free(c.s);
    c = picture("duplicate");
    assert_null(strstr(c.s, "injected"));
    free(c.s);
}

static void names_are_escaped(void **state)
{
    const struct collected c = picture("refused");

    (void)state;
    assert_non_null(strstr(c.s, "&lt;q&amp;&quot;&gt;: post SEND"));
    assert_null(strstr(c.s, "<q"));
    free(c.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_picture_is_well_formed),
        cmocka_unit_test(the_same_events_give_the_same_bytes),
        cmocka_unit_test(ids_name_events_and_are_unique),
        cmocka_unit_test(a_packet_can_be_found_and_explained),
        cmocka_unit_test(an_injected_packet_has_a_look_of_its_own),
        cmocka_unit_test(names_are_escaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
