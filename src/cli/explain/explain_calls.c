/* SPDX-License-Identifier: MIT */
#include "cli/explain/explain_calls.h"

#include <strings.h>

#include "cli/explain/explain.h"
#include "cli/explain/page.h"
#include "emu/base/assert.h"
#include "emu/base/text.h"
#include "print/show_text.h"

#define PROGRAM_COLUMN 24u
#define COMMAND_COLUMN 52u
#define STAGE_COLUMN   16u

static const char kernel_page[] = "kernel-calls", program_page[] = "program-calls";

/* "": there is none. */
static const struct call_row {
    const char *kernel, *program, *command, *text;
} calls[] = {
#define CALL(kernel, program, command, text) {kernel, program, command, text},
#define STAGE(subject, set_up, use, take_down)
#include "cli/explain/calls.def"
#undef STAGE
#undef CALL
};

static const struct {
    const char *subject, *parts[3];
} stages[] = {
#define CALL(kernel, program, command, text)
#define STAGE(subject, set_up, use, take_down) {subject, {set_up, use, take_down}},
#include "cli/explain/calls.def"
#undef STAGE
#undef CALL
};

static const char *or_none(const char *name)
{
    return name[0] ? name : "-";
}

static void print_kernel_calls(struct answer_page *out)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    page_thing(out, "%s", kernel_page);
    page_hanging(out, 2,
                 "Calls of the kernel, those of a program that do the same, and commands of the "
                 "lab; \"explain CALL\" tells the difference");
    text_add(&t, "  kernel");
    text_pad_to(&t, PROGRAM_COLUMN);
    text_add(&t, "program");
    text_pad_to(&t, COMMAND_COLUMN);
    page_line(out, "%scommand", buf);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        t = text_on(buf, sizeof(buf));
        text_addf(&t, "  %s", or_none(calls[i].kernel));
        text_pad_to(&t, PROGRAM_COLUMN);
        text_add(&t, or_none(calls[i].program));
        text_pad_to(&t, COMMAND_COLUMN);
        page_line(out, "%s%s", buf, or_none(calls[i].command));
    }
    page_see(out, "explain program-calls; help cm; help verbs");
}

static void print_program_calls(struct answer_page *out)
{
    static const char *const leads[] = {"set up", "use", "take down"};

    page_thing(out, "%s", program_page);
    page_hanging(out, 2, "Calls of a program with librdmacm and libibverbs, by when it needs them");
    for (size_t i = 0; i < ARRAY_LEN(stages); i++) {
        page_line(out, "  %s", stages[i].subject);
        for (size_t k = 0; k < ARRAY_LEN(leads); k++) {
            char lead[STAGE_COLUMN + 1];
            struct text t = text_on(lead, sizeof(lead));

            text_addf(&t, "    %s", leads[k]);
            if (stages[i].parts[k][0])
                page_wrap_behind(out, lead, STAGE_COLUMN, stages[i].parts[k]);
        }
    }
    page_wrap(out, 2, "What was set up is taken down in the reverse order.");
    page_see(out, "explain kernel-calls; help cm; help verbs");
}

/* Prints one row, for a call of a program that is no command of the lab. */
static void print_program_call(struct answer_page *out, const struct call_row *c)
{
    page_thing(out, "%s", c->program);
    page_line(out, "%s   call of a program", c->program);
    page_wrap(out, 2, c->text);
    page_see(out, "explain program-calls");
}

/* Prints one row, for a call of the kernel that is no command of the lab. */
static void print_call(struct answer_page *out, const struct call_row *c)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    page_thing(out, "%s", c->kernel);
    page_line(out, "%s   call of the kernel", c->kernel);
    if (c->program[0])
        text_addf(&t, "a program calls %s()", c->program);
    else
        text_add(&t, "a program has no such call");
    if (c->command[0])
        text_addf(&t, "; here: %s", c->command);
    page_wrap(out, 2, buf);
    if (c->text[0])
        page_wrap(out, 2, c->text);
    page_see(out, "explain kernel-calls");
}

bool explain_calls(struct answer_page *out, const char *word)
{
    if (explain_same(kernel_page, word)) {
        print_kernel_calls(out);
        return true;
    }
    if (explain_same(program_page, word)) {
        print_program_calls(out);
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        if (calls[i].kernel[0] && strcasecmp(calls[i].kernel, word) == 0) {
            print_call(out, &calls[i]);
            return true;
        }
        if (!calls[i].kernel[0] && !calls[i].command[0] &&
            strcasecmp(calls[i].program, word) == 0) {
            print_program_call(out, &calls[i]);
            return true;
        }
    }
    return false;
}

void explain_calls_each(void (*each)(void *ctx, const char *word), void *ctx)
{
    each(ctx, kernel_page);
    each(ctx, program_page);
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        if (calls[i].kernel[0])
            each(ctx, calls[i].kernel);
        else if (!calls[i].command[0])
            each(ctx, calls[i].program);
    }
}
