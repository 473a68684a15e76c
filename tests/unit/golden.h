/* SPDX-License-Identifier: MIT */
/* Expected texts in files.  A text of two lines or more that a test compares as a whole is a
 * section of TEST.golden, beside TEST.c:
 *
 *     === NAME
 *     the lines of the text
 *
 * GOLDEN_UPDATE=1 in the environment writes the file with the texts of this run, in the order of
 * their use; it is refused where CI is set.  Sections that no test has used are kept, behind the
 * others.  A section that is missing fails, and so does one that no test uses.
 */
#ifndef TESTS_UNIT_GOLDEN_H
#define TESTS_UNIT_GOLDEN_H

/* Fails if @text is not the section @name, and prints the lines that differ to stderr. */
#define assert_golden(name, text) golden_compare(__FILE__, name, text)

/* The same for the section @name of the golden file beside @test_c. */
void golden_compare(const char *test_c, const char *name, const char *text);

/* Fails if @text has not each of @words, which blanks separate, in their order: what must be in a
 * text whatever its wording.
 */
void assert_in_order(const char *text, const char *words);

/* Returns how often @text has @part. */
unsigned count_in(const char *text, const char *part);

/* The last test of each program that calls assert_golden(): fails if a section was not used.  With
 * GOLDEN_UPDATE it writes the file.
 */
void every_golden_text_is_used(void **state);

#endif
