/* SPDX-License-Identifier: MIT */
/* A word is looked up in all tables.  If it has several meanings, such as a status and a state, all
 * are printed.
 */
#include "cli/explain/explain.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "cli/explain/c_names.h"
#include "cli/explain/c_structs.h"
#include "cli/explain/explain_behaviour.h"
#include "cli/explain/explain_calls.h"
#include "cli/explain/explain_layout.h"
#include "cli/explain/explain_leaf.h"
#include "cli/explain/explain_profiles.h"
#include "cli/explain/explain_row.h"
#include "cli/explain/meaning.h"
#include "cli/explain/page.h"
#include "cli/explain/rfc_dump.h"
#include "cli/lang/values.h"
#include "emu/base/assert.h"
#include "emu/base/plural.h"
#include "emu/facts/aeth.h"
#include "emu/facts/enum/key_state.h"
#include "emu/facts/enum/wc_status.h"
#include "emu/facts/findings.h"
#include "emu/facts/post.h"
#include "emu/facts/qp_fsm.h"
#include "emu/trace/kind.h"
#include "emu/trace/schema.h"
#include "print/cite.h"
#include "print/show_text.h"
#include "rdmalab/status.h"

#define STRUCTURES_TOLD_MAX 6u  /* structures listed for a field */
#define FIELD_TEXT_COLUMN   46u /* column of a field's meaning */
#define FINDING_COLUMN      15u /* column of the explanation of a finding */
#define SUBJECT_COLUMN      15u /* column of a subject's words */

static const struct {
    const char *word, *text, *see;
} words[] = {
#define SUBJECT(what, list)
#define NOTE(table, text, see)
#define WORD(word, text, see) {#word, text, see},
#define SAME(word, as)
#include "cli/explain/explain.def"
#undef SAME
#undef WORD
#undef NOTE
#undef SUBJECT
};

static const struct {
    const struct enum_table *table;
    const char *text, *see;
} notes[] = {
#define SUBJECT(what, list)
#define NOTE(table, text, see) {&enum_##table, text, see},
#define WORD(word, text, see)
#define SAME(word, as)
#include "cli/explain/explain.def"
#undef SAME
#undef WORD
#undef NOTE
#undef SUBJECT
};

static const struct {
    const char *what, *list;
} subjects[] = {
#define SUBJECT(what, list) {what, list},
#define NOTE(table, text, see)
#define WORD(word, text, see)
#define SAME(word, as)
#include "cli/explain/explain.def"
#undef SAME
#undef WORD
#undef NOTE
#undef SUBJECT
};

static const struct {
    const char *word, *as;
} same_words[] = {
#define SUBJECT(what, list)
#define NOTE(table, text, see)
#define WORD(word, text, see)
#define SAME(word, as) {#word, as},
#include "cli/explain/explain.def"
#undef SAME
#undef WORD
#undef NOTE
#undef SUBJECT
};

const struct row_struct *explain_structure_at(size_t i)
{
    static const char *const names[] = {
#define S(name, list) #name,
        RFC_STRUCTS(S)
#undef S
    };

    return i < ARRAY_LEN(names) ? rfc_find(names[i]) : NULL;
}

static int folded(char c)
{
    return c == '-' || c == '.' || c == ' ' ? '_' : tolower((unsigned char)c);
}

bool explain_same(const char *a, const char *b)
{
    while (*a && folded(*a) == folded(*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

/* Returns the index of the row of explain.def for @word, or -1. */
static int find_word(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (explain_same(words[i].word, word))
            return (int)i;
    }
    return -1;
}

/* Returns the index of the note on @table.  Every table has one. */
static size_t find_note(const struct enum_table *table)
{
    size_t i = 0;

    while (notes[i].table != table) {
        i++;
        RDL_ASSERT(i < ARRAY_LEN(notes));
    }
    return i;
}

/* Appends the names of the attributes in @set: "pkey_index, port". */
static void add_attributes(struct text *t, unsigned set)
{
    bool first = true;

    for (size_t i = 0; i < enum_qp_attr.n_rows; i++) {
        if (!(set & enum_qp_attr.rows[i].value))
            continue;
        text_addf(t, "%s%s", first ? "" : ", ", enum_qp_attr.rows[i].text);
        first = false;
    }
    if (first)
        text_add(t, "nothing");
}

/* Prints for each state what may be posted in it, by the rules of the verbs. */
static void print_posts(struct answer_page *out)
{
    page_line(out, "The states of a queue pair, and what may be posted in each");
    for (size_t i = 0; i < enum_qp_state.n_rows; i++) {
        const struct enum_row *row = &enum_qp_state.rows[i];
        const bool recvs = post_state_takes_recvs(row->value);
        char lead[64];
        struct text l = text_on(lead, sizeof(lead));

        text_addf(&l, "  %-5s  %s", row->name,
                  post_state_takes_sends(row->value) ? "sends, receives"
                  : recvs                            ? "receives"
                                                     : "nothing");
        page_wrap_behind(out, lead, 26, row->text);
    }
}

/* Prints the state graph, from the rows that driver and device check. */
static void print_states(struct answer_page *out)
{
    page_thing(out, "qp-states");
    print_posts(out);
    page_hanging(out, 2, "What modify_qp must give for each move");
    for (size_t i = 0; i < n_qp_edges; i++) {
        const struct qp_edge *e = &qp_edges[i];
        char lead[64], buf[SHOW_LINE_BYTES];
        struct text l = text_on(lead, sizeof(lead)), t = text_on(buf, sizeof(buf));

        if (i == 0 || e->type != e[-1].type)
            page_line(out, "  %s, %s:", enum_name(&enum_qp_type, e->type),
                      enum_by_value(&enum_qp_type, e->type)->text);
        text_addf(&l, "  %s -> %s", enum_name(&enum_qp_state, e->from),
                  enum_name(&enum_qp_state, e->to));
        text_add(&t, "needs ");
        add_attributes(&t, e->need);
        if (e->may) {
            text_add(&t, "; may have ");
            add_attributes(&t, e->may);
        }
        page_wrap_behind(out, lead, 18, buf);
    }
    page_line(out, "  All of them:");
    page_wrap_behind(out, "  any -> RESET", 18,
                     "needs nothing; queues are emptied without completions");
    page_wrap_behind(out, "  any -> ERR", 18, "needs nothing; everything posted is flushed");
    page_see(out, "connect h1.qp h2.qp; show qp h1.qp");
}

/* Appends the number of @row in the base that packets, registers and programs use. */
static void add_number(struct text *t, const struct enum_table *table, const struct enum_row *row)
{
    const bool decimal = row->value < 10 || table == &enum_wc_status || table == &enum_rule ||
                         table == &enum_refusal || table == &enum_drop || table == &enum_feature ||
                         table == &enum_async_event;
    const enum syndrome kind = (enum syndrome)row->value;

    /* These have numbers only to order them. */
    if (table == &enum_behaviour || table == &enum_finding)
        return;
    if (table != &enum_syndrome)
        text_addf(t, decimal ? " %u" : " 0x%x", row->value);
    else if (kind == SYN_ACK || kind == SYN_RNR_NAK)
        text_addf(t, " 0x%02x to 0x%02x", aeth_pack(kind, 0), aeth_pack(kind, 31));
    else if (kind != SYN_NONE && kind != SYN_NAK_RESERVED)
        text_addf(t, " 0x%02x", aeth_pack(kind, 0));
}

bool explain_has_scenario(const struct enum_table *table, const struct enum_row *row)
{
    if (table == &enum_wc_status)
        return row->value != WCS_SUCCESS && !strstr(row->text, "never seen here");
    return table == &enum_async_event && !strstr(row->text, "never raised here");
}

/* Prints why a finding comes about, what follows from it, and what to look at next. */
static void print_finding(struct answer_page *out, const struct finding_row *row)
{
    page_wrap_behind(out, "  cause        ", FINDING_COLUMN, row->cause);
    page_wrap_behind(out, "  consequence  ", FINDING_COLUMN, row->effect);
    page_wrap_behind(out, "  next         ", FINDING_COLUMN, row->next);
}

/* @word: index of its row of explain.def, which belongs to the first meaning of a word; -1: none.
 */
static void print_row(struct answer_page *out, const struct enum_table *table,
                      const struct enum_row *row, int word, bool source)
{
    const size_t note = find_note(table);
    char head[SHOW_LINE_BYTES], see[SHOW_LINE_BYTES], in_c[64];
    struct text t = text_on(head, sizeof(head)), s = text_on(see, sizeof(see));
    struct text n = text_on(in_c, sizeof(in_c));

    text_addf(&t, "%s   %s", row->name, table->what);
    add_number(&t, table, row);
    if (c_name_add(&n, table, row))
        text_addf(&t, ", in C %s", in_c);
    page_thing(out, "%s %s", table->name, row->name);
    page_hanging(out, 2, head);
    page_cite(out, 2, row->text, source);
    if (word >= 0 && words[word].text[0])
        page_cite(out, 2, words[word].text, source);
    if (table == &enum_behaviour)
        explain_behaviour(out, row, source);
    if (table == &enum_finding)
        print_finding(out, &finding_rows[row->value]);
    page_cite(out, 2, notes[note].text, source);
    text_add(&s, word >= 0 ? words[word].see : notes[note].see);
    if (explain_has_scenario(table, row))
        text_addf(&s, "%sscenarios %s", s.len ? "; " : "", row->name);
    page_see(out, see);
}

void explain_row(struct answer_page *out, const struct enum_table *table,
                 const struct enum_row *row, bool source)
{
    print_row(out, table, row, find_word(row->name), source);
}

/* Prints all words of an enumeration. */
static void print_table(struct answer_page *out, const struct enum_table *table, bool source)
{
    const size_t note = find_note(table);

    page_thing(out, "%s values", table->name);
    page_line(out, "%s   %s, one of", table->name, table->what);
    for (size_t i = 0; i < table->n_rows; i++)
        page_cite_behind(out, table->rows[i].name, 32, table->rows[i].text, source);
    page_cite(out, 2, notes[note].text, source);
    page_see(out, notes[note].see);
}

/* Prints every enumeration called @word, and every row with that name.  Returns their number. */
static unsigned explain_enums(struct answer_page *out, const char *word, bool source)
{
    int text = find_word(word);
    unsigned n = 0;

    for (const struct enum_table *const *t = enum_tables; *t; t++) {
        for (size_t i = 0; i < (*t)->n_rows; i++) {
            if (!explain_same((*t)->rows[i].name, word))
                continue;
            print_row(out, *t, &(*t)->rows[i], text, source);
            text = -1;
            n++;
        }
        if (explain_same((*t)->name, word)) {
            print_table(out, *t, source);
            n++;
        }
    }
    return n;
}

/* Prints a word that is in no enumeration. */
static bool explain_concept(struct answer_page *out, const char *word, bool source)
{
    const int i = find_word(word);

    if (i < 0)
        return false;
    page_thing(out, "%s", words[i].word);
    page_line(out, "%s", words[i].word);
    page_cite(out, 2, words[i].text, source);
    page_see(out, words[i].see);
    return true;
}

static bool explain_status(struct answer_page *out, const char *word)
{
    for (unsigned i = 0; i < RDL_STATUS_COUNT; i++) {
        const enum rdl_status st = (enum rdl_status)i;
        const char *name = rdl_status_name(st);

        if (!explain_same(name, word) &&
            !(strncmp(word, "RDL_", 4) == 0 && explain_same(name, word + 4)))
            continue;
        page_thing(out, "RDL_%s", name);
        page_line(out, "%s   answer of a command or call", name);
        page_wrap(out, 2, rdl_status_str(st));
        if (rdl_status_remedy(st)[0])
            page_wrap_behind(out, "  remedy: ", 10, rdl_status_remedy(st));
        page_see(out, "explain error; help refused");
        return true;
    }
    return false;
}

static void print_structure(struct answer_page *out, const struct row_struct *s)
{
    page_fields(out, "struct %s", s->name);
    page_line(out, "%s   structure of the virtio-rdma RFC, %zu bytes", s->name, s->bytes);
    for (size_t i = 0; i < s->n_fields; i++) {
        const struct row_field *f = &s->fields[i];
        char lead[64];
        struct text t = text_on(lead, sizeof(lead));

        text_addf(&t, "  %4u  %-26s %3u byte%s ", f->offset, f->name, f->bytes,
                  f->bytes == 1 ? "  " : "s ");
        page_wrap_behind(out, lead, FIELD_TEXT_COLUMN, f->text);
    }
}

/* Returns true if @word is "FIELD" or "STRUCTURE.FIELD". */
static bool is_field(const struct row_struct *s, const char *field, const char *word)
{
    const size_t n = strlen(s->name);

    if (strcmp(field, "reserved") == 0)
        return false;
    return explain_same(field, word) || (strncasecmp(s->name, word, n) == 0 && word[n] == '.' &&
                                         explain_same(field, word + n + 1));
}

/* Prints a structure of the RFC, or the structures that contain a field. */
bool explain_structure(struct answer_page *out, const char *word)
{
    const struct row_struct *s;
    char line[SHOW_LINE_BYTES];
    struct text t;
    unsigned n = 0;

    for (size_t i = 0; (s = explain_structure_at(i)) != NULL; i++) {
        if (explain_same(s->name, word)) {
            print_structure(out, s);
            n++;
        }
        for (size_t k = 0; k < s->n_fields && n < STRUCTURES_TOLD_MAX; k++) {
            const struct row_field *f = &s->fields[k];

            if (!is_field(s, f->name, word))
                continue;
            t = text_on(line, sizeof(line));
            text_addf(&t, "%s   field of %s, %u byte%s at offset %u: %s", f->name, s->name,
                      f->bytes, plural_s(f->bytes), f->offset, f->text);
            page_fields(out, "%s.%s", s->name, f->name);
            page_hanging(out, 2, line);
            n++;
        }
    }
    return n > 0;
}

bool explain_event(struct answer_page *out, const char *word)
{
    for (unsigned i = 0; i < EV_COUNT; i++) {
        const struct ev_schema *s = ev_schema((enum ev_kind)i);
        char buf[SHOW_LINE_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        if (!explain_same(s->name, word))
            continue;
        text_add(&t, "fields: ");
        for (size_t k = 0; k < s->n_fields; k++)
            text_addf(&t, "%s%s", k ? ", " : "", s->fields[k].name);
        page_fields(out, "event %s", s->name);
        page_line(out, "%s   kind of event", s->name);
        page_wrap(out, 2, buf);
        t = text_on(buf, sizeof(buf));
        text_addf(&t, "show events kinds=%s; expect count(%s) > 0", s->name, s->name);
        page_see(out, buf);
        return true;
    }
    return false;
}

/* Prints a difference between the profiles. */
static bool explain_difference(struct answer_page *out, const char *word, bool source)
{
    for (unsigned i = 0; i < TRAIT_COUNT; i++) {
        if (explain_same(trait_rows[i].name, word)) {
            page_thing(out, "%s", trait_rows[i].name);
            explain_trait(out, (enum trait)i, source);
            return true;
        }
    }
    return false;
}

/* Prints a field of frames, or all of them.  These names are words of commands, and most of them
 * mean something else, too; so they are searched last.
 */
static bool explain_frame_field(struct answer_page *out, const char *word, bool source)
{
    const struct enum_row *row = enum_by_name(&enum_wire_field, word);
    char name[VALUE_WORD_BYTES];

    if (row) {
        value_field_text(row, name);
        page_fields(out, "%s", name);
        page_line(out, "%s   %s", name, enum_wire_field.what);
        page_cite(out, 2, row->text, source);
    } else if (explain_same(enum_wire_field.name, word)) {
        page_fields(out, "%s", enum_wire_field.name);
        page_line(out, "%s   %s, one of", enum_wire_field.name, enum_wire_field.what);
        for (size_t i = 0; i < enum_wire_field.n_rows; i++) {
            value_field_text(&enum_wire_field.rows[i], name);
            page_cite_behind(out, name, 32, enum_wire_field.rows[i].text, source);
        }
    } else {
        return false;
    }
    page_see(out, "help forge; help corrupt; explain where");
    return true;
}

const char *explain_proper(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(same_words); i++) {
        if (explain_same(same_words[i].word, word))
            return same_words[i].as;
    }
    return word;
}

bool explain_gist(struct text *t, const char *word)
{
    const struct meaning_row *meaning = meaning_of(word);
    const int i = find_word(word);

    if (meaning)
        text_add(t, meaning->text);
    else if (i >= 0 && words[i].text[0])
        cite_add(t, words[i].text, false);
    for (const struct enum_table *const *e = enum_tables; t->len == 0 && *e; e++) {
        const struct enum_row *row = enum_by_name(*e, word);

        if (row)
            cite_add(t, row->text, false);
    }
    return t->len > 0;
}

bool explain_on_page(struct answer_page *out, const char *word, bool source)
{
    const char *const asked = word;
    bool known = explain_meaning(out, word);

    word = explain_proper(word);
    if (explain_same(word, "profiles")) {
        page_thing(out, "profiles");
        explain_profiles(out, source);
        return true;
    }
    if (explain_same(word, "qp-states")) {
        print_states(out);
        return true;
    }
    known = known || explain_meaning(out, word);
    known |= explain_enums(out, word, source) > 0 || explain_concept(out, word, source);
    if (word != asked) /* a synonym does not hide a row of this name */
        known |= explain_enums(out, asked, source) > 0;
    known |= explain_status(out, word);
    known |= explain_event(out, word);
    known |= explain_structure(out, word);
    known |= explain_difference(out, word, source);
    known |= explain_layout(out, word);
    known |= explain_calls(out, word);
    known |= explain_c_struct(out, word);
    known |= explain_leaf(out, word);
    known |= explain_node(out, word);
    return known || explain_frame_field(out, word, source) || explain_part(out, word) ||
           explain_c_member(out, word);
}

bool explain(FILE *out, const char *word, bool source)
{
    struct answer_page p;
    bool known;

    page_init(&p);
    known = explain_on_page(&p, word, source);
    page_print(out, &p, PAGE_ALL, NULL, false);
    page_done(&p);
    return known;
}

bool explain_values(struct answer_page *out, const char *word, bool source)
{
    for (const struct enum_table *const *t = enum_tables; *t; t++) {
        if (explain_same((*t)->name, word)) {
            print_table(out, *t, source);
            return true;
        }
    }
    return false;
}

void explain_subjects(FILE *out)
{
    fputs("Words to begin with, by subject; \"explain WORD\" tells what one means\n", out);
    for (size_t i = 0; i < ARRAY_LEN(subjects); i++) {
        char lead[SUBJECT_COLUMN + 1];
        struct text t = text_on(lead, sizeof(lead));

        text_addf(&t, "  %s", subjects[i].what);
        show_wrap_behind(out, lead, SUBJECT_COLUMN, subjects[i].list);
    }
    show_wrap(
        out, 0,
        "Also every command, kind of event, opcode, rule, register, structure of the RFC, and "
        "value that \"show\" prints");
}

void explain_each(void (*each)(void *ctx, const char *word), void *ctx)
{
    const struct row_struct *s;

    explain_meaning_each(each, ctx);
    each(ctx, "qp-states");
    each(ctx, "profiles");
    for (unsigned i = 0; i < TRAIT_COUNT; i++)
        each(ctx, trait_rows[i].name);
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        each(ctx, words[i].word);
    for (size_t i = 0; i < ARRAY_LEN(same_words); i++)
        each(ctx, same_words[i].word);
    for (const struct enum_table *const *t = enum_tables; *t; t++) {
        each(ctx, (*t)->name);
        for (size_t i = 0; i < (*t)->n_rows; i++)
            each(ctx, (*t)->rows[i].name);
    }
    for (unsigned i = 0; i < RDL_STATUS_COUNT; i++)
        each(ctx, rdl_status_name((enum rdl_status)i));
    for (unsigned i = 0; i < EV_COUNT; i++)
        each(ctx, ev_schema((enum ev_kind)i)->name);
    for (size_t i = 0; (s = explain_structure_at(i)) != NULL; i++) {
        each(ctx, s->name);
        for (size_t k = 0; k < s->n_fields; k++) {
            if (strcmp(s->fields[k].name, "reserved") != 0)
                each(ctx, s->fields[k].name);
        }
    }
    explain_layout_each(each, ctx);
    explain_calls_each(each, ctx);
    explain_leaf_each(each, ctx);
    explain_c_struct_each(each, ctx);
}

void explain_each_text(explain_text *each, void *ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        each(ctx, "word", words[i].word, words[i].text);
    explain_meaning_each_text(each, ctx);
    for (const struct enum_table *const *t = enum_tables; *t; t++) {
        for (size_t i = 0; i < (*t)->n_rows; i++)
            each(ctx, (*t)->what, (*t)->rows[i].name, (*t)->rows[i].text);
    }
    for (unsigned i = 0; i < RDL_STATUS_COUNT; i++)
        each(ctx, "status", rdl_status_name((enum rdl_status)i),
             rdl_status_str((enum rdl_status)i));
    for (unsigned i = 0; i < EV_COUNT; i++)
        each(ctx, "event", ev_schema((enum ev_kind)i)->name, "");
}
