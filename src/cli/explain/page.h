/* SPDX-License-Identifier: MIT */
/* The answer of `explain`: the things that a word means, each with its lines.
 *
 * The functions that know a word add things to a page.  page_print() prints as much as fits on one
 * screen, and adapts the lines to try to the lab where the reader stands.
 */
#ifndef CLI_EXPLAIN_PAGE_H
#define CLI_EXPLAIN_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct rdl_lab;

#define PAGE_SCREEN_LINES 24u /* printed unless the reader asks for more */
#define PAGE_COLUMNS_MAX  3u  /* columns of a table behind its labels */

enum page_part {
    PAGE_FIRST,  /* what fits on one screen; things that do not fit are named */
    PAGE_FIELDS, /* all things that were begun by page_fields() */
    PAGE_ALL
};

struct page_row;

struct answer_page {
    struct page_row *v;
    size_t n, room;
    size_t n_things;
};

/* page_done() frees what a page has. */
void page_init(struct answer_page *p);
void page_done(struct answer_page *p);

/* Begins the next thing.  `explain ASK` must print this thing alone, or first.  page_fields() is
 * for values, fields and structures.  page_meaning() is for the plain meaning of a word: the first
 * screen names the other things and does not print them.
 */
void page_thing(struct answer_page *p, const char *ask, ...) __attribute__((format(printf, 2, 3)));
void page_fields(struct answer_page *p, const char *ask, ...) __attribute__((format(printf, 2, 3)));
void page_meaning(struct answer_page *p, const char *word);

/* Returns true if page_fields() was called. */
bool page_has_fields(const struct answer_page *p);

/* Add a line that is not wrapped. */
void page_line(struct answer_page *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add a paragraph, printed by the function of print/show_text.h that has the same name. */
void page_wrap(struct answer_page *p, unsigned indent, const char *s);
void page_wrap_behind(struct answer_page *p, const char *lead, unsigned indent, const char *s);
void page_hanging(struct answer_page *p, unsigned indent, const char *s);

/* Adds a row of a table with @n columns behind @label, at most PAGE_COLUMNS_MAX. */
void page_columns(struct answer_page *p, const char *label, const char *const *cells, size_t n);

/* The same with citations; see print/cite.h. */
void page_cite(struct answer_page *p, unsigned indent, const char *s, bool source);
void page_cite_behind(struct answer_page *p, const char *lead, unsigned indent, const char *s,
                      bool source);

/* Adds commands to try, with "; " between them. */
void page_see(struct answer_page *p, const char *see);

/* Adds an example that works in an empty lab, after the lines of examples_before[] (lang/table.h)
 * for @before, an enum before.  In a lab with hosts it is printed as page_see() does.
 */
void page_example(struct answer_page *p, uint32_t before, const char *example);

/* Prints @part of a page.  @lab: where the reader stands, NULL: outside a lab.  Commands to try are
 * adapted to it (see_here.h), but @lab_known false prints them as they are.
 */
void page_print(FILE *out, const struct answer_page *p, enum page_part part,
                const struct rdl_lab *lab, bool lab_known);

#endif
