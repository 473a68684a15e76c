/* SPDX-License-Identifier: MIT */
/* Expands `foreach` blocks and macro calls.
 *
 * A *variable* is written $NAME or $(NAME), inside the block of a `foreach` or of a macro.  A value
 * with a variable is stored as it was typed.  Expanding copies the block and replaces each variable
 * by its text; only then is the value checked.  This happens twice: when the statement is read, to
 * find errors before anything runs, and when it runs.
 *
 * A macro sees only its own parameters, and calls only macros that are defined before it.  So no
 * macro can call itself.
 */
#ifndef CLI_LANG_EXPAND_H
#define CLI_LANG_EXPAND_H

#include "cli/lang/script.h"

#define FOREACH_ROUNDS_MAX 10000u  /* most values of one `foreach` */
#define MACRO_PARAMS_MAX   32u     /* most parameters of one macro */
#define EXPAND_STEPS_MAX   100000u /* most commands from one line; a `repeat` block counts once */

/* A list of variables: those of a block, then, by @outer, those of the blocks around it. */
struct var {
    const struct var *outer;
    const char *name;
    const char *text; /* text that replaces the variable; NULL: not known yet */
};

/* Returns true if @text contains a $NAME or $(NAME). */
bool vars_in(const char *text);

/* Returns true if all variables in @text, which stands at @at, are in the list @known.  Otherwise
 * returns false, and the error in @d names the first variable that is not.
 */
bool vars_check(const struct var *known, const char *text, struct span at, struct diag *d);

/* --- foreach ---------------------------------------------------------------------------------- */

/* Iterates over the values of a `foreach`, which are plain values, and ranges A..B that count up or
 * down.
 */
struct rounds {
    const struct arg *in; /* the values as written */
    size_t i;             /* index of the next value or range in @in */
    bool range;           /* @i is a range that has begun: its values @next to @last remain */
    uint64_t next, last;
};

/* Returns an iterator that is before the first value of the `foreach` @st. */
struct rounds rounds_of(const struct step *st);

/* Returns the next value as text.  A value of a range is allocated in @p; any other text belongs to
 * the step.  Returns NULL after the last value.
 */
const char *rounds_next(struct rounds *r, struct pool *p);

/* Returns the number of values of the `foreach` @st, or FOREACH_ROUNDS_MAX + 1 if there are more
 * than the maximum.
 */
size_t rounds_count(const struct step *st);

/* Checks a `foreach`: its variable must be a valid name that no variable of @outer has, and its
 * values may use only variables of @outer.  Returns false with the error in @d.
 */
bool foreach_check(const struct step *st, const struct var *outer, struct diag *d);

/* Copies @st without its block into @p, with only the values that @r has not returned yet. */
struct step *rounds_rest(const struct rounds *r, const struct step *st, struct pool *p);

/* --- Macros ----------------------------------------------------------------------------------- */

/* Returns the macro called @name.  Returns NULL if @list (which may be NULL) has none. */
const struct macro *macro_find(const struct macros *list, const char *name);

/* Adds the macro that the `macro` command @def defines.  @def and @src must live as long as @p. */
void macro_put(struct macros *list, struct pool *p, const struct step *def,
               const struct source *src);

/* Checks the name and the parameters of the macro that @def defines.  *@ret is the list of its
 * parameters as variables without text, in @p.  Returns false with the error in @d.
 */
bool macro_check(const struct step *def, struct pool *p, const struct var **ret, struct diag *d);

/* Assigns the arguments of the call @st, or default values, to the parameters of @m.  *@ret is the
 * list of variables, in @p.  Returns false, with a message in @d, if arguments are missing, unknown
 * or given twice.
 */
bool macro_bind(const struct macro *m, const struct step *st, struct pool *p,
                const struct var **ret, struct diag *d);

/* Returns the macro that the `call` @st names: one of @own, the macros that the script defines, or
 * else of @known, the others that it may call.  Either may be NULL.  Returns NULL, with a message
 * in @d, if neither has it.
 */
const struct macro *macro_called(const struct macros *own, const struct macros *known,
                                 const struct step *st, struct diag *d);

/* --- Expanding -------------------------------------------------------------------------------- */

/* Copies the list that begins with @first into @p and replaces the variables @vars in the copy.
 * *@ret is the first step of the copy.  Variables of blocks inside the list stay.  Returns false,
 * with a message in @d, if a value is invalid after the replacement.
 */
bool expand_steps(const struct step *first, const struct var *vars, struct pool *p,
                  struct step **ret, struct diag *d);

/* Expands a copy of @st, with all macros that it calls, to find errors before anything runs.  @st
 * must be outside of all blocks and in the pool of @s.  A macro that @st defines is added to
 * @s->macros.  Returns false with the error in @d.
 */
bool expand_whole(struct script *s, const struct step *st, struct diag *d);

#endif
