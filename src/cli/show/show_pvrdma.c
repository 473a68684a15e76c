/* SPDX-License-Identifier: MIT */
#include "cli/show/show_pvrdma.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/show/pv_ring.h"
#include "cli/show/show_columns.h"
#include "cli/show/show_dump.h"
#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/base/plural.h"
#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/pvrdma/ring.h"
#include "emu/facts/pvrdma/structs.h"
#include "emu/trace/event.h"
#include "print/show_text.h"

#define DOORBELLS_SHOWN_MAX 8u
#define PAGES_SHOWN_MAX     8u
#define RUN_SHOWN_MAX       8u /* slots in one state, one behind the other */

enum { COLUMN_SLOT = 11, COLUMN_VALUE = 23, COLUMN_NOTE = 32 };

static const char no_index[] = "no index of this ring: too large";

/* --- Rings ------------------------------------------------------------------------------------ */

static void print_pages(FILE *out, const struct pv_ring_view *v)
{
    char buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "0x%llx with the indices, then", (unsigned long long)pv_page_addr(v, 0));
    for (uint32_t i = 1; i < v->n_pages && i <= PAGES_SHOWN_MAX; i++) {
        text_addf(&t, " 0x%llx", (unsigned long long)pv_page_addr(v, i));
        text_add(&t, i == v->first_page && i > 1 ? " (slot 0)" : "");
    }
    if (v->n_pages > PAGES_SHOWN_MAX + 1)
        text_addf(&t, " and %u more", v->n_pages - 1 - PAGES_SHOWN_MAX);
    show_wrap_behind(out, "  pages", 11, buf);
}

static void print_index(FILE *out, const char *name, uint32_t index, const char *note)
{
    char buf[SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "  %s", name);
    text_pad_to(&t, COLUMN_VALUE);
    text_addf(&t, "%6u", index);
    text_pad_to(&t, COLUMN_NOTE);
    text_add(&t, note);
    show_line(out, &t);
}

static void print_indices(FILE *out, const struct pv_ring_view *v)
{
    const bool odd = !pv_idx_is_valid(v->of_device ? v->head : v->tail, v->slots);
    char note[SHOW_LINE_BYTES];
    struct text t = text_on(note, sizeof(note));

    text_addf(&t, "the %s's, modulo %u: slot %u", v->of_device ? "device" : "driver", 2 * v->slots,
              pv_idx_slot(v->tail, v->slots));
    print_index(out, "producer tail", v->tail, odd && !v->of_device ? no_index : note);
    t = text_on(note, sizeof(note));
    text_addf(&t, "the %s's: slot %u", v->of_device ? "driver" : "device",
              pv_idx_slot(v->head, v->slots));
    print_index(out, "consumer head", v->head, odd && v->of_device ? no_index : note);
    if (!v->of_device)
        print_index(out, "device has taken to", v->next, "the device's own index");
    if (v->broken)
        show_wrap(out, 2,
                  "The ring is BROKEN: the device found the producer's index wrong, and "
                  "takes nothing until the queue is reset.");
}

static void print_one(FILE *out, const struct pv_ring_view *v, uint32_t slot)
{
    char lead[SHOW_LINE_BYTES], buf[2 * SHOW_LINE_BYTES];
    struct text l = text_on(lead, sizeof(lead)), t = text_on(buf, sizeof(buf));

    text_addf(&l, "  slot %u", slot);
    text_pad_to(&l, COLUMN_SLOT);
    text_addf(&l, "%-9s0x%llx  ", pv_slot_state_text(pv_slot_state(v, slot)),
              (unsigned long long)pv_slot_addr(v, slot));
    pv_slot_add_text(&t, v, slot);
    show_wrap_behind(out, lead, COLUMN_SLOT, buf);
}

/* Prints the @n slots from @from on, which are in one state.  Of many the first ones and the last
 * one are printed.
 */
static void print_run(FILE *out, const struct pv_ring_view *v, uint32_t from, uint32_t n)
{
    const bool folds = n > RUN_SHOWN_MAX + 1; /* a line for one slot saves none */
    const uint32_t shown = folds ? RUN_SHOWN_MAX - 1 : n;
    char buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    for (uint32_t i = 0; i < shown; i++)
        print_one(out, v, from + i);
    if (!folds)
        return;
    text_addf(&t, "%u more that are %s; \"show ring %s csv\" prints all", n - shown - 1,
              pv_slot_state_text(pv_slot_state(v, from)), v->path);
    show_wrap_behind(out, "  ...      ", COLUMN_SLOT, buf);
    print_one(out, v, from + n - 1);
}

static void print_slots(FILE *out, const struct pv_ring_view *v)
{
    uint32_t n_free = 0;

    for (uint32_t from = 0, n; from < v->slots; from += n) {
        const enum pv_slot_state state = pv_slot_state(v, from);

        n = 1;
        while (from + n < v->slots && pv_slot_state(v, from + n) == state)
            n++;
        if (state == PV_SLOT_FREE)
            n_free += n;
        else
            print_run(out, v, from, n);
    }
    fprintf(out, "  free     %u of %u slot%s\n", n_free, v->slots, plural_s(v->slots));
}

static void rows_of_ring(FILE *out, const struct pv_ring_view *v, enum show_form form)
{
    struct rows r;

    rows_begin_table(&r, out, form, TABLE_RING);
    for (uint32_t i = 0; i < v->slots; i++) {
        const enum pv_slot_state state = pv_slot_state(v, i);
        char buf[2 * SHOW_LINE_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        if (state == PV_SLOT_FREE)
            continue;
        pv_slot_add_text(&t, v, i);
        rows_number(&r, i);
        rows_text(&r, pv_slot_state_text(state));
        rows_hex(&r, pv_slot_addr(v, i));
        rows_text(&r, buf);
    }
    rows_end(&r, NULL);
}

/* Splits "h1.qp.sq[2]" into the ring and the slot; a number that is too large is UINT32_MAX, which
 * no ring has.  Returns false if @path does not end with an index, or is the element of a list of
 * rings.
 */
static bool split_slot(const struct rdl_lab *lab, const char *path, char ret[TREE_PATH_BYTES],
                       uint32_t *ret_slot)
{
    const char *bracket = strrchr(path, '[');
    struct text t = text_on(ret, TREE_PATH_BYTES);
    unsigned long n;
    char *end;

    if (!bracket || !isdigit((unsigned char)bracket[1]) || tree_is(lab, path, NODE_ring))
        return false;
    n = strtoul(bracket + 1, &end, 10);
    if (strcmp(end, "]") != 0)
        return false;
    text_addn(&t, path, (size_t)(bracket - path));
    *ret_slot = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
    return true;
}

/* Prints one slot, byte by byte. */
static enum rdl_status print_slot(FILE *out, const struct pv_ring_view *v, uint32_t slot,
                                  enum show_form form)
{
    const struct rfc_sink people = {rfc_print_row, out};
    uint8_t buf[PV_SLOT_BYTES_MAX];
    struct rows r;
    const struct rfc_sink programs = {dump_add_row, &r};
    bool ok;

    if (slot >= v->slots)
        return RDL_ERR_NOT_FOUND;
    if (form == SHOW_TEXT) {
        fprintf(out, "%s slot %u, %s   %u bytes at 0x%llx\n", v->path, slot,
                pv_slot_state_text(pv_slot_state(v, slot)), v->slot_bytes,
                (unsigned long long)pv_slot_addr(v, slot));
        return pv_slot_dump(&people, v, slot, buf) ? RDL_OK : RDL_ERR_FAULT;
    }
    rows_begin_table(&r, out, form, TABLE_DUMP);
    ok = pv_slot_dump(&programs, v, slot, buf);
    rows_end(&r, NULL);
    return ok ? RDL_OK : RDL_ERR_FAULT;
}

static void print_ring(FILE *out, const struct pv_ring_view *v)
{
    fprintf(out, "%s   %u slot%s of %u bytes, each a %s\n", v->path, v->slots, plural_s(v->slots),
            v->slot_bytes, v->entry->name + strlen("pv_"));
    print_pages(out, v);
    print_indices(out, v);
    print_slots(out, v);
}

enum rdl_status show_ring(FILE *out, const struct rdl_lab *lab, const char *path,
                          enum show_form form, size_t *reterr_at)
{
    char ring[TREE_PATH_BYTES];
    struct pv_ring_view v;
    uint32_t slot;
    const bool one = split_slot(lab, path, ring, &slot);
    enum rdl_status st = pv_ring_view(lab, one ? ring : path, &v, reterr_at);

    if (st != RDL_OK)
        return st;
    if (one) {
        *reterr_at = strlen(ring);
        st = print_slot(out, &v, slot, form);
    } else if (form == SHOW_TEXT) {
        print_ring(out, &v);
    } else {
        rows_of_ring(out, &v, form);
    }
    pv_ring_view_done(&v);
    return st;
}

/* --- The shared region ------------------------------------------------------------------------ */

/* Finds the node dsr of @host, which may be that node itself. */
static enum rdl_status find_dsr(const struct rdl_lab *lab, const char *host,
                                char ret[TREE_PATH_BYTES], size_t *reterr_at)
{
    struct rdl_value v;
    const enum rdl_status st = rdl_inspect(lab, host, &v, reterr_at);

    if (st != RDL_OK)
        return st;
    *reterr_at = 0;
    if (tree_value_is(&v, NODE_dsr)) {
        memcpy(ret, host, strlen(host) + 1);
        return RDL_OK;
    }
    return tree_value_is(&v, NODE_host) && tree_child(lab, host, CHILD_host_dsr, ret)
               ? RDL_OK
               : RDL_ERR_INVAL;
}

/* Output of `show dsr`: to people or to programs. */
struct dsr_output {
    FILE *out;
    enum show_form form;
    struct rows rows;
    struct rfc_sink sink;
    const struct rdl_lab *lab;
    rdl_host host;
};

static void print_registers(FILE *out, const struct rdl_lab *lab, const char *dsr)
{
    char buf[2 * SHOW_LINE_BYTES];
    struct text t = text_on(buf, sizeof(buf));

    text_addf(&t, "%s   ", dsr);
    tree_add(&t, lab, dsr, LEAF_dsr_phase);
    text_addf(&t, ", version %llu of %llu%s",
              (unsigned long long)tree_number(lab, dsr, LEAF_dsr_version),
              (unsigned long long)tree_number(lab, dsr, LEAF_dsr_device_version),
              tree_number(lab, dsr, LEAF_dsr_unquiesced) ? ", network interface up" : "");
    show_line(out, &t);
    t = text_on(buf, sizeof(buf));
    text_addf(&t, "  registers: ERR %llu, ICR 0x%llx, IMR 0x%llx",
              (unsigned long long)tree_number(lab, dsr, LEAF_dsr_err),
              (unsigned long long)tree_number(lab, dsr, LEAF_dsr_icr),
              (unsigned long long)tree_number(lab, dsr, LEAF_dsr_imr));
    show_line(out, &t);
}

/* Reads @n bytes at @gpa; zeros if they are not in guest RAM. */
static void read_bytes(const struct dsr_output *o, uint64_t gpa, uint8_t *buf, size_t n)
{
    if (rdl_ram_read(o->lab, o->host, gpa, buf, n) != RDL_OK)
        memset(buf, 0, n);
}

static void dump_region(const struct dsr_output *o, uint64_t gpa)
{
    uint8_t buf[sizeof(struct pv_raw_dsr)];

    read_bytes(o, gpa, buf, sizeof(buf));
    if (o->form == SHOW_TEXT)
        fprintf(o->out, "  %zu bytes at 0x%llx\n", sizeof(buf), (unsigned long long)gpa);
    (void)rfc_dump(&o->sink, pv_struct_find("pv_dsr"), "", buf, sizeof(buf), 0);
}

/* Passes on the slot at @gpa: its header @head, and the body that command @cmd has. */
static void dump_slot(const struct dsr_output *o, uint64_t gpa, const char *what, const char *head,
                      const char *body)
{
    const struct row_struct *s = body ? pv_struct_find(body) : NULL;
    uint8_t buf[PV_REQUEST_BYTES_MAX];
    const size_t n = PV_HEADER_BYTES + (s ? s->bytes : 0);

    read_bytes(o, gpa, buf, n);
    if (o->form == SHOW_TEXT)
        fprintf(o->out, "  %s   %zu bytes at 0x%llx\n", what, n, (unsigned long long)gpa);
    (void)rfc_dump(&o->sink, pv_struct_find(head), "", buf, n, 0);
    if (s)
        (void)rfc_dump(&o->sink, s, "", buf, n, PV_HEADER_BYTES);
}

static void dump_commands(const struct dsr_output *o, uint64_t command, uint64_t response)
{
    const struct pv_command_info *info;
    uint8_t head[PV_HEADER_BYTES], answer[PV_HEADER_BYTES];
    uint32_t cmd;

    read_bytes(o, command, head, sizeof(head));
    read_bytes(o, response, answer, sizeof(answer));
    cmd = ld_le32(head + offsetof(struct pv_raw_request, cmd));
    info = pv_command_info(cmd);
    dump_slot(o, command, "command slot", "pv_request", info ? info->request : NULL);
    info = pv_command_info(ld_le32(answer + offsetof(struct pv_raw_response, ack)) & ~PV_ACK);
    if (answer[offsetof(struct pv_raw_response, err)] != 0)
        info = NULL; /* of a refusal there is only the header */
    dump_slot(o, response, "response slot", "pv_response", info ? info->response : NULL);
}

enum rdl_status show_dsr(FILE *out, const struct rdl_lab *lab, const char *host, bool commands,
                         enum show_form form, size_t *reterr_at)
{
    struct dsr_output o = {.out = out, .form = form, .lab = lab};
    char dsr[TREE_PATH_BYTES], name[RDL_NAME_BYTES];
    enum rdl_status st = find_dsr(lab, host, dsr, reterr_at);
    uint64_t at;

    if (st != RDL_OK)
        return st;
    tree_host_of(dsr, name);
    st = rdl_find_host(lab, name, &o.host);
    if (st != RDL_OK)
        return st;
    o.sink = form == SHOW_TEXT ? (struct rfc_sink){rfc_print_row, out}
                               : (struct rfc_sink){dump_add_row, &o.rows};
    at = tree_number(lab, dsr, LEAF_dsr_addr);
    if (form == SHOW_TEXT)
        print_registers(out, lab, dsr);
    if (!at)
        return RDL_ERR_NO_DEVICE;
    if (form != SHOW_TEXT)
        rows_begin_table(&o.rows, out, form, TABLE_DUMP);
    if (commands)
        dump_commands(&o, tree_number(lab, dsr, LEAF_dsr_command_slot),
                      tree_number(lab, dsr, LEAF_dsr_response_slot));
    else
        dump_region(&o, at);
    if (form != SHOW_TEXT)
        rows_end(&o.rows, NULL);
    return RDL_OK;
}

/* --- Doorbells -------------------------------------------------------------------------------- */

static void print_doorbells(FILE *out, const struct past *p, uint32_t host)
{
    const struct ev *last[DOORBELLS_SHOWN_MAX];
    uint32_t n = 0;

    for (size_t i = p->n; i > 0 && n < DOORBELLS_SHOWN_MAX; i--) {
        const struct ev *e = past_at(p, i - 1);

        if (e->kind == EV_doorbell && e->u.doorbell.host == host)
            last[n++] = e;
    }
    if (n == 0)
        show_wrap(out, 2, "No doorbell is recorded.");
    else
        fprintf(out, "  last doorbells\n");
    while (n > 0) {
        char buf[EV_TEXT_BYTES];
        struct text t = text_on(buf, sizeof(buf));

        text_add(&t, "    ");
        ev_add_id(&t, last[--n]->id);
        text_pad_to(&t, 12);
        ev_add_text(&t, last[n], p->names);
        show_line(out, &t);
    }
}

enum rdl_status show_uar(FILE *out, const struct rdl_lab *lab, const struct past *p,
                         const char *host, enum show_form form, size_t *reterr_at)
{
    char dsr[TREE_PATH_BYTES], name[RDL_NAME_BYTES], path[TREE_PATH_BYTES];
    const enum rdl_status st = find_dsr(lab, host, dsr, reterr_at);
    struct rows r;

    if (st != RDL_OK)
        return st;
    tree_host_of(dsr, name);
    rows_begin_table(&r, out, form, TABLE_UAR);
    for (uint32_t i = 0; i < PV_UAR_PAGES; i++) {
        if (!tree_element(lab, dsr, CHILD_dsr_uar, i, path))
            continue;
        rows_leaf(&r, lab, path, LEAF_uar_handle, QUANTITY_NUMBER);
        rows_leaf(&r, lab, path, LEAF_uar_page, QUANTITY_NUMBER);
        rows_leaf(&r, lab, path, LEAF_uar_addr, QUANTITY_NUMBER);
        rows_leaf(&r, lab, path, LEAF_uar_users, QUANTITY_NUMBER);
        rows_text(&r, i == 0 ? "the kernel" : "a program");
    }
    rows_end(&r, NULL);
    if (form == SHOW_TEXT)
        print_doorbells(out, p, ev_names_find_host(p->names, name));
    return RDL_OK;
}
