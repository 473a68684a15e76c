/* SPDX-License-Identifier: MIT */
/* The input of a program that was built without a line editor. */
#include <stddef.h>

#include "cli/app/line_plain.h"
#include "process/signals.h"

static struct session *session;

void line_input_open(struct session *s)
{
    session = s;
}

void line_input_use(struct session *s)
{
    session = s;
}

void line_input_close(void)
{
}

void line_input_remember(const char *text)
{
    (void)text;
}

char *line_input_read(const struct line_asked *asked, bool *ret_fresh)
{
    char *text = NULL;

    *ret_fresh = false;
    signals_at_prompt(true);
    (void)line_plain_read(session, asked, NULL, &text, ret_fresh);
    signals_at_prompt(false);
    return text;
}

const char *line_input_name(void)
{
    return "none";
}
