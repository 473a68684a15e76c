/* SPDX-License-Identifier: MIT */
/* The JSON Schema of scenarios.
 *
 * It describes what can be checked without a lab: keys, types, ranges, words.  Duplicate keys and
 * the grammar of expressions cannot be described; only json_read.c checks those.
 */
#include <string.h>

#include "cli/lang/json.h"
#include "cli/lang/words.h"
#include "print/print_json.h"

static void write_text_member(FILE *out, const char *key, const char *text)
{
    fprintf(out, ", \"%s\": ", key);
    print_json_string(out, text);
}

/* Words may be all in upper or all in lower case.  Numbers such as path MTUs may be JSON numbers.
 */
static void write_words(FILE *out, const struct enum_table *words)
{
    fputs("\"enum\": [", out);
    for (size_t i = 0; i < words->n_rows; i++) {
        const char *name = words->rows[i].name;
        char lower[VALUE_WORD_BYTES];

        if (words == &words_setting && words->rows[i].value != SET_LINK)
            continue; /* settings of the session are not part of a scenario */
        fputs(i ? ", " : "", out);
        if (name[strspn(name, "0123456789")] == '\0') {
            fprintf(out, "%s, \"%s\"", name, name);
            continue;
        }
        print_json_string(out, name);
        snprintf(lower, sizeof(lower), "%s", name);
        value_lower_case(lower);
        if (strcmp(lower, name) != 0)
            fprintf(out, ", \"%s\"", lower);
        if (words == &enum_access && strcmp(lower, words->rows[i].text) != 0)
            fprintf(out, ", \"%s\"", words->rows[i].text);
    }
    fputc(']', out);
}

/* Writes the type of one value, as members of a schema. */
static void write_plain_type(FILE *out, const struct param *p)
{
    const struct value_kind_info *k = &value_kinds[p->kind];

    if (p->words) {
        write_words(out, p->words);
        return;
    }
    if (k->number) {
        fprintf(out, "\"anyOf\": [{\"type\": \"integer\", \"minimum\": %llu",
                (unsigned long long)p->min);
        if (p->max)
            fprintf(out, ", \"maximum\": %llu", (unsigned long long)p->max);
        fputs("}, {", out);
    }
    fputs("\"type\": \"string\"", out);
    if (k->pattern)
        write_text_member(out, "pattern", k->pattern);
    if (k->number)
        fputs("}]", out);
}

/* Writes the type of a value or, since it may be in the block of a `foreach` or a macro, of a
 * variable.
 */
static void write_type(FILE *out, const struct param *p, bool header)
{
    if (header || (!p->words && !value_kinds[p->kind].pattern)) {
        write_plain_type(out, p);
        return;
    }
    fputs("\"anyOf\": [{", out);
    write_plain_type(out, p);
    fputs("}, {\"$ref\": \"#/$defs/variable\"}]", out);
}

static void write_property(FILE *out, const struct param *p, bool header)
{
    const bool list = param_is_list(p);

    fputc('{', out);
    if (list)
        fputs("\"type\": \"array\", \"items\": {", out);
    write_type(out, p, header);
    if (list)
        fputs(p->flags & P_REQUIRED ? "}, \"minItems\": 1" : "}", out);
    write_text_member(out, "description", p->help);
    if (p->standard)
        write_text_member(out, "default", p->standard);
    fputc('}', out);
}

static void write_flags(FILE *out, const struct cmd *cmd)
{
    bool any = false;

    for (size_t i = 0; i < cmd->n_params; i++) {
        if (cmd->params[i].kind != VAL_FLAG)
            continue;
        fputs(any ? ", "
                  : ",\n      \"flags\": {\"type\": \"array\", \"uniqueItems\": true, \"items\": "
                    "{\"enum\": [",
              out);
        print_json_string(out, cmd->params[i].name);
        any = true;
    }
    if (!any)
        return;
    fputs("]}, \"description\": ", out);
    /* The help of each flag, as one sentence. */
    fputc('"', out);
    for (size_t i = 0; i < cmd->n_params; i++) {
        if (cmd->params[i].kind == VAL_FLAG)
            fprintf(out, "%s: %s. ", cmd->params[i].name, cmd->params[i].help);
    }
    fputs("\"}", out);
}

/* Writes the parameters of an object like "limits". */
static void write_inner(FILE *out, const struct cmd *cmd, const char *outer, size_t outer_bytes)
{
    bool any = false;

    fprintf(out,
            "\"%.*s\": {\"type\": \"object\", \"additionalProperties\": false, \"properties\": {",
            (int)outer_bytes, outer);
    for (size_t i = 0; i < cmd->n_params; i++) {
        size_t n;
        const char *key = json_key(&cmd->params[i], &n);

        if (n != outer_bytes || memcmp(cmd->params[i].json, outer, n) != 0)
            continue;
        fprintf(out, "%s\"%s\": ", any ? ", " : "", key);
        write_property(out, &cmd->params[i], (cmd->flags & CMD_HEADER) != 0);
        any = true;
    }
    fputs("}}", out);
}

/* Writes all parameters except flags as properties, each after a comma. */
static void write_properties(FILE *out, const struct cmd *cmd)
{
    const char *last = NULL;
    size_t last_bytes = 0;

    for (size_t i = 0; i < cmd->n_params; i++) {
        const struct param *p = &cmd->params[i];
        size_t outer;
        const char *key = json_key(p, &outer);

        if (p->kind == VAL_FLAG || (p->flags & P_SESSION) ||
            (outer && outer == last_bytes && memcmp(last, p->json, outer) == 0))
            continue;
        fputs(",\n      ", out);
        if (outer) {
            write_inner(out, cmd, p->json, outer);
            last = p->json;
            last_bytes = outer;
            continue;
        }
        fprintf(out, "\"%s\": ", key);
        write_property(out, p, (cmd->flags & CMD_HEADER) != 0);
    }
}

/* Writes that one of the parameters with P_ONE_OF must be there. */
static void write_one_of(const struct cmd *cmd, FILE *out)
{
    bool any = false;

    for (size_t i = 0; i < cmd->n_params; i++) {
        if (!(cmd->params[i].flags & P_ONE_OF))
            continue;
        fprintf(out, "%s{\"required\": [\"%s\"]}", any ? ", " : ", \"anyOf\": [",
                cmd->params[i].name);
        any = true;
    }
    fputs(any ? "]" : "", out);
}

static void write_command(FILE *out, const struct cmd *cmd)
{
    fprintf(out, "    \"%s\": {\"type\": \"object\"", cmd->name);
    write_text_member(out, "description", cmd->summary);
    fprintf(out,
            ", \"additionalProperties\": false,\n     \"properties\": {\n      \"do\": {\"const\": "
            "\"%s\"}",
            cmd->name);
    write_properties(out, cmd);
    write_flags(out, cmd);
    if (cmd->flags & CMD_NAMES)
        fprintf(out,
                ",\n      \"as\": {\"anyOf\": [{\"type\": \"string\", \"pattern\": \"%s\"}, "
                "{\"$ref\": \"#/$defs/variable\"}], \"description\": "
                "\"the name of what is made\"}",
                value_kinds[VAL_NEW_NAME].pattern);
    if (cmd->flags & CMD_BLOCK)
        fputs(",\n      \"steps\": {\"type\": \"array\", \"items\": {\"$ref\": "
              "\"#/$defs/any_step\"}}",
              out);
    if (cmd == &cmd_table[CMD_if])
        fputs(",\n      \"else\": {\"type\": \"array\", \"items\": {\"$ref\": "
              "\"#/$defs/any_step\"}}",
              out);
    fputs("},\n     \"required\": [\"do\"", out);
    for (size_t i = 0; i < cmd->n_params; i++) {
        if ((cmd->params[i].flags & P_REQUIRED) && !cmd->params[i].after)
            fprintf(out, ", \"%s\"", cmd->params[i].name);
    }
    fputs(cmd->flags & CMD_BLOCK ? ", \"steps\"]" : "]", out);
    write_one_of(cmd, out);
    fputs("}", out);
}

static bool is_step(const struct cmd *cmd)
{
    return !(cmd->flags & (CMD_HEADER | CMD_PROMPT_ONLY));
}

/* "do" selects the schema of the other keys, so that an error message names the right command. */
static void write_step(FILE *out)
{
    bool any = false;

    fputs("    \"any_step\": {\"type\": \"object\", \"required\": [\"do\"],\n"
          "     \"properties\": {\"do\": {\"enum\": [",
          out);
    for (size_t i = 0; i < N_CMDS; i++) {
        if (!is_step(&cmd_table[i]))
            continue;
        fprintf(out, "%s\"%s\"", any ? ", " : "", cmd_table[i].name);
        any = true;
    }
    fputs("], \"description\": \"the command\"}},\n     \"allOf\": [", out);
    any = false;
    for (size_t i = 0; i < N_CMDS; i++) {
        const char *name = cmd_table[i].name;

        if (!is_step(&cmd_table[i]))
            continue;
        fprintf(out,
                "%s\n      {\"if\": {\"properties\": {\"do\": {\"const\": \"%s\"}}, \"required\": "
                "[\"do\"]}, "
                "\"then\": {\"$ref\": \"#/$defs/%s\"}}",
                any ? "," : "", name, name);
        any = true;
    }
    fputs("]}", out);
}

void json_write_schema(FILE *out)
{
    const struct cmd *scenario = &cmd_table[CMD_scenario];

    fputs("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
          "  \"$id\": \"https://rdmalab.invalid/schema/scenario-1.json\",\n"
          "  \"title\": \"rdmalab scenario\",\n"
          "  \"description\": \"Each step is the JSON form of one line; made from the command "
          "table.\",\n"
          "  \"type\": \"object\",\n  \"additionalProperties\": false,\n  \"required\": "
          "[\"steps\"],\n"
          "  \"properties\": {\n      \"steps\": {\"type\": \"array\", \"items\": {\"$ref\": "
          "\"#/$defs/any_step\"}}",
          out);
    write_properties(out, scenario);
    fputs(
        "\n  },\n  \"$defs\": {\n"
        "    \"variable\": {\"type\": \"string\", \"pattern\": \"[$]\", \"description\": \"with a "
        "variable, like $x, of the foreach or macro around it\"},\n",
        out);
    write_step(out);
    for (size_t i = 0; i < N_CMDS; i++) {
        if (!is_step(&cmd_table[i]))
            continue;
        fputs(",\n", out);
        write_command(out, &cmd_table[i]);
    }
    fputs("\n  }\n}\n", out);
}
