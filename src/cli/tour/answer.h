/* SPDX-License-Identifier: MIT */
/* Answers to the questions of the tour, which the lab computes. */
#ifndef CLI_TOUR_ANSWER_H
#define CLI_TOUR_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/session/session.h"
#include "cli/tour/tour.h"

#define ANSWER_BYTES 256u

/* The right answer to a question. */
struct tour_answer {
    size_t choice;            /* index of the choice, if the question has choices */
    char value[ANSWER_BYTES]; /* otherwise the value: "3", "65.53us", "RTS" */
};

/* Computes the answer to the question of @sc in the present lab of @s.  Returns false, with the
 * error in @reterr, if it cannot be computed, or not exactly one choice is right.
 */
bool answer_find(const struct session *s, const struct tour_screen *sc, struct tour_answer *ret,
                 struct diag *reterr);

/* Reads what a reader typed, @typed, as an answer to @sc: the letter of a choice ("b", "b)") or the
 * beginning of its text, a number ("2", "two", "2 packets"), or a word.  Appends the answer to
 * @ret, in the form that answer_is_right() takes: the letter, the number, the word.  Returns false
 * if @typed is no answer.
 */
bool answer_read(const struct tour_screen *sc, const char *typed, struct text *ret);

/* Returns the index of the choice that @said, which answer_read() has found, stands for. */
size_t answer_choice(const char *said);

/* Appends what an answer to @sc looks like: "a, b or c", "a number", "a word". */
void answer_add_form(const struct tour_screen *sc, struct text *t);

/* Sets *@ret to true if @said is the right answer @right.  Returns false, with the error in
 * @reterr, if it cannot be compared.
 */
bool answer_is_right(const struct session *s, const struct tour_screen *sc, const char *said,
                     const struct tour_answer *right, bool *ret, struct diag *reterr);

/* Appends the facts of the lab that make the answer right: "the lab: h1.qp.state is ERR", "the lab
 * counts 3 packets sent: count(tx)".
 */
void answer_add_facts(const struct session *s, const struct tour_screen *sc,
                      const struct tour_answer *right, struct text *t);

/* Appends what the lab has in place of the condition @e, which does not hold: "it is 2". */
void answer_add_found(const struct session *s, const struct tour_expr *e, struct text *t);

/* Sets *@ret to the value of the condition @e.  Returns false with the error in @reterr. */
bool answer_holds(const struct session *s, const struct tour_expr *e, bool *ret,
                  struct diag *reterr);

/* Returns the letter of choice @i, from 0. */
char answer_letter(size_t i);

#endif
