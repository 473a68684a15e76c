/* SPDX-License-Identifier: MIT */
/* Writes one step per line, with keys in the order of the command table: equal scripts give equal
 * bytes.
 */
#include <string.h>

#include "cli/lang/json.h"
#include "cli/lang/json_parts.h"
#include "print/print_json.h"

#define INDENT 2u

static void write_scalar(FILE *out, const struct param *p, const char *text)
{
    if ((value_kinds[p->kind].number || p->kind == VAL_WORD) && value_is_plain_integer(text))
        fputs(text, out);
    else
        print_json_string(out, text);
}

static void write_argument(FILE *out, const struct param *p, const struct arg *a)
{
    if (!param_is_list(p)) {
        write_scalar(out, p, a->v[0].text);
        return;
    }
    fputc('[', out);
    for (size_t i = 0; i < a->n; i++) {
        if (i)
            fputs(", ", out);
        write_scalar(out, p, a->v[i].text);
    }
    fputc(']', out);
}

static void write_flags(FILE *out, const struct step *st)
{
    bool any = false;

    for (size_t i = 0; i < st->cmd->n_params; i++) {
        if (st->cmd->params[i].kind != VAL_FLAG || st->args[i].n == 0)
            continue;
        fputs(any ? ", " : ", \"flags\": [", out);
        print_json_string(out, st->cmd->params[i].name);
        any = true;
    }
    if (any)
        fputc(']', out);
}

static void write_steps(FILE *out, const struct step *first, size_t depth);

static void write_step(FILE *out, const struct step *st, size_t depth)
{
    fputs("{\"do\": ", out);
    print_json_string(out, st->cmd->name);
    for (size_t i = 0; i < st->cmd->n_params; i++) {
        const struct param *p = &st->cmd->params[i];

        if (p->kind == VAL_FLAG || st->args[i].n == 0)
            continue;
        fprintf(out, ", \"%s\": ", p->json ? p->json : p->name);
        write_argument(out, p, &st->args[i]);
    }
    write_flags(out, st);
    if (st->as.text) {
        fputs(", \"as\": ", out);
        print_json_string(out, st->as.text);
    }
    if (st->cmd->flags & CMD_BLOCK) {
        fputs(", \"steps\": ", out);
        write_steps(out, st->body, depth + 1);
    }
    if (st->other) {
        fputs(", \"else\": ", out);
        write_steps(out, st->other, depth + 1);
    }
    fputc('}', out);
}

/* Depth is bounded by SCRIPT_DEPTH_MAX. */
static void write_steps(FILE *out, const struct step *first, size_t depth)
{
    fputc('[', out);
    for (const struct step *st = first; st; st = st->next) {
        fprintf(out, "\n%*s", (int)((depth + 1) * INDENT), "");
        write_step(out, st, depth);
        if (st->next)
            fputc(',', out);
    }
    if (first)
        fprintf(out, "\n%*s", (int)(depth * INDENT), "");
    fputc(']', out);
}

void json_write_step(FILE *out, const struct step *st, size_t depth)
{
    write_step(out, st, depth);
}

/* The table has the members of an object like "limits" next to each other. */
void json_write_header(FILE *out, const struct step *header, const char *lead, bool *begun)
{
    const struct cmd *cmd = &cmd_table[CMD_scenario];
    const char *open = NULL; /* the object that is open */
    size_t open_bytes = 0;

    for (size_t i = 0; header && i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];
        size_t outer;
        const char *key = json_key(p, &outer);

        if (strcmp(p->name, "schema") == 0 || header->args[i].n == 0)
            continue;
        if (open && (outer != open_bytes || memcmp(open, p->json, outer) != 0)) {
            fputc('}', out);
            open = NULL;
        }
        if (open)
            fputs(", ", out);
        else
            fprintf(out, "%s\n%s", *begun ? "," : "", lead);
        if (outer && !open) {
            fprintf(out, "\"%.*s\": {", (int)outer, p->json);
            open = p->json;
            open_bytes = outer;
        }
        fprintf(out, "\"%s\": ", key);
        write_argument(out, p, &header->args[i]);
        *begun = true;
    }
    if (open)
        fputc('}', out);
}

void json_write_script_for(FILE *out, const struct script *s, const char *schema)
{
    const char *given = s->header ? step_text(s->header, "schema") : NULL;
    bool begun = given || schema;

    fputc('{', out);
    if (begun) {
        fprintf(out, "\n%*s\"$schema\": ", (int)INDENT, "");
        print_json_string(out, given ? given : schema);
    }
    json_write_header(out, s->header, "  ", &begun);
    fprintf(out, "%s\n%*s\"steps\": ", begun ? "," : "", (int)INDENT, "");
    write_steps(out, s->first, 1);
    fputs("\n}\n", out);
}

void json_write_script(FILE *out, const struct script *s)
{
    json_write_script_for(out, s, NULL);
}
