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

/* Returns true if @said, a word, has the form of an answer to @sc: a letter of a choice, a
 * number, or a word.  *@ret_choice is the index of the choice.
 */
bool answer_read(const struct tour_screen *sc, const char *said, size_t *ret_choice);

/* Sets *@ret to true if @said is the right answer @right.  Returns false, with the error in
 * @reterr, if it cannot be compared.
 */
bool answer_is_right(const struct session *s, const struct tour_screen *sc, const char *said,
                     const struct tour_answer *right, bool *ret, struct diag *reterr);

/* Appends the facts that make the answer right: "h1.qp.state == ERR", "count(tx) is 3". */
void answer_add_facts(const struct session *s, const struct tour_screen *sc,
                      const struct tour_answer *right, struct text *t);

/* Sets *@ret to the value of the condition @e.  Returns false with the error in @reterr. */
bool answer_holds(const struct session *s, const struct tour_expr *e, bool *ret,
                  struct diag *reterr);

/* Returns the letter of choice @i, from 0. */
char answer_letter(size_t i);

#endif
