/* SPDX-License-Identifier: MIT */
/* Registers of a host's devices, in the hands of whoever types: reg_read, reg_write. */
#include "cli/cmd/commands.h"
#include "cli/cmd/verb.h"
#include "cli/session/resolve.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/pci.h"
#include "emu/facts/regs.h"
#include "rdmalab/pci.h"

/* Returns the place of the register that the step names. */
static struct rdl_pci_place place_of(const struct step *st)
{
    const uint32_t place = (uint32_t)step_number(st, "place");
    const uint32_t offset = place & ((1u << PLACE_SPACE_BIT) - 1);
    struct rdl_pci_place p = {
        .number = pci_number_of((enum pci_function)step_number(st, "function")),
        .offset = offset,
        .width = (uint32_t)step_number_or(st, "width", 0),
    };

    switch (place >> PLACE_SPACE_BIT) {
    case PLACE_CONFIG:
        p.space = RDL_PCI_CONFIG;
        break;
    case PLACE_REG:
        p.space = RDL_PCI_BAR0;
        if (offset == REG_NOTIFY) {
            p.offset += (uint32_t)step_number(st, "queue") * NOTIFY_MULTIPLIER;
            p.width = p.width ? p.width : 2;
        }
        break;
    default:
        p.space = RDL_PCI_BAR1;
        p.offset += (uint32_t)step_number(st, "vector") * MSIX_ENTRY_BYTES;
        break;
    }
    return p;
}

/* VECTOR_PENDING is in the array behind the table: the word that has the vector's bit. */
static bool find_pending(struct session *s, rdl_host host, const struct step *st,
                         struct rdl_pci_place *p)
{
    const struct rdl_pci_place where = {
        .number = p->number, .space = RDL_PCI_CONFIG, .offset = PCI_MSIX_PBA, .width = 4};
    uint64_t pba;

    if (step_number(st, "place") != PLACE(PLACE_VECTOR, MSIX_PENDING))
        return true;
    if (rdl_pci_peek(s->lab, host, &where, &pba) != RDL_OK)
        return false;
    p->offset =
        (uint32_t)(pba & ~(uint64_t)MSIX_BAR_MASK) + (uint32_t)step_number(st, "vector") / 32 * 4;
    return true;
}

static bool is_notify(const struct step *st)
{
    return step_number(st, "place") == PLACE(PLACE_REG, REG_NOTIFY);
}

static bool is_vector(const struct step *st)
{
    return step_number(st, "place") >> PLACE_SPACE_BIT == PLACE_VECTOR;
}

/* A queue or a vector is given for what there is one of for each, and for nothing else. */
static bool numbers_fit(struct session *s, const struct step *st)
{
    if (step_has(st, "queue") && !is_notify(st)) {
        session_fail(s, step_span(st, "queue", 0), "%s takes no queue", step_text(st, "place"));
        return diag_remedy(&s->diag, "what is of a queue is of the one in QUEUE_SELECT: write that "
                                     "first");
    }
    if (step_has(st, "vector") && !is_vector(st)) {
        session_fail(s, step_span(st, "vector", 0), "%s takes no vector", step_text(st, "place"));
        return diag_remedy(&s->diag, "VECTOR_ADDRESS, VECTOR_DATA and their like do");
    }
    return true;
}

static bool find(struct session *s, const struct step *st, struct home *ret_home,
                 struct rdl_pci_place *ret)
{
    if (!numbers_fit(s, st) || !verb_home(s, st, ret_home))
        return false;
    *ret = place_of(st);
    return find_pending(s, ret_home->host, st, ret);
}

static bool finish(struct session *s, const struct step *st, enum rdl_status status)
{
    if (status == RDL_ERR_INVAL && !step_has(st, "width")) {
        const char *what = is_notify(st) ? "queue" : "vector";

        session_fail(s, step_span(st, what, 0), "the function has no %s %llu: its BAR ends before",
                     what, (unsigned long long)step_number(st, what));
        return diag_remedy(&s->diag, "NUM_QUEUES and MSIX_CONTROL say how many it has");
    }
    if (status == RDL_ERR_INVAL) {
        session_fail(s, step_span(st, "place", 0), "%s cannot be accessed with this width",
                     step_text(st, "place"));
        return diag_remedy(&s->diag, "1, 2 or 4 bytes at a multiple of that, in a BAR also 8");
    }
    return status == RDL_OK ||
           session_fail_status(s, step_span(st, "place", 0), step_text(st, "place"), status);
}

bool run_reg_read(struct session *s, const struct step *st)
{
    struct rdl_pci_place place;
    struct home home;
    uint64_t value;

    if (!find(s, st, &home, &place) ||
        !finish(s, st, rdl_pci_read(s->lab, home.host, &place, &value)))
        return false;
    session_made(s, home.name, "%s 0x%llx", step_text(st, "place"), (unsigned long long)value);
    return true;
}

bool run_reg_write(struct session *s, const struct step *st)
{
    struct rdl_pci_place place;
    struct home home;

    return find(s, st, &home, &place) &&
           finish(s, st, rdl_pci_write(s->lab, home.host, &place, step_number(st, "value")));
}
