/* SPDX-License-Identifier: MIT */
#include "tree/tree_json.h"

#include "print/print_json.h"
#include "tree/tree.h"

#define JSON_DEPTH_MAX 12u /* deeper than the inspect tree */

/* Prints one leaf. */
static void print_value(FILE *out, const struct rdl_value *v)
{
    switch (v->type) {
    case RDL_FLAG:
        fputs(v->number ? "true" : "false", out);
        break;
    case RDL_NUMBER:
    case RDL_HEX:
    case RDL_TIME:
    case RDL_SIZE:
    case RDL_RATE:
        if (v->type == RDL_TIME && v->number == RDL_NEVER)
            fputs("null", out);
        else
            print_json_number(out, v->number);
        break;
    case RDL_NODE:
    case RDL_WORD:
    case RDL_TEXT:
        print_json_string(out, v->text);
        break;
    }
}

/* Prints a node and everything below it.  The recursion depth is that of the lab, not of any input.
 */
static enum rdl_status dump(FILE *out, const struct rdl_lab *lab, const char *path, bool list,
                            bool tool_names, unsigned depth)
{
    struct tree_list children;
    size_t at;
    enum rdl_status st = tree_children(lab, path, &children, &at);

    fputc(list ? '[' : '{', out);
    for (size_t i = 0; i < children.n && st == RDL_OK; i++) {
        const struct tree_child *c = &children.v[i];
        char sub[TREE_PATH_BYTES];
        struct text t = text_on(sub, sizeof(sub));

        if (i)
            fputc(',', out);
        if (!list) {
            print_json_string(out, tool_names ? tree_child_name(c) : c->key);
            fputc(':', out);
        }
        tree_join(&t, path, c->key);
        if (c->value.type != RDL_NODE || depth == JSON_DEPTH_MAX)
            print_value(out, &c->value);
        else
            st = dump(out, lab, sub, tree_value_is(&c->value, NODE_list), tool_names, depth + 1);
    }
    fputc(list ? ']' : '}', out);
    tree_done(&children);
    return st;
}

enum rdl_status show_json(FILE *out, const struct rdl_lab *lab, const char *path, bool tool_names,
                          size_t *reterr_at)
{
    struct rdl_value v = {.type = RDL_NODE};
    enum rdl_status st = path[0] ? rdl_inspect(lab, path, &v, reterr_at) : RDL_OK;

    if (st != RDL_OK)
        return st;
    if (v.type == RDL_NODE)
        st = dump(out, lab, path, tree_value_is(&v, NODE_list), tool_names, 0);
    else
        print_value(out, &v);
    return st;
}
