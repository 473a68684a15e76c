/* SPDX-License-Identifier: MIT */
/* Registers of a host's devices, in the hands of whoever types: reg_read, reg_write. */
#include "cli/cmd/commands.h"
#include "cli/cmd/verb.h"
#include "cli/session/resolve.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/regs.h"
#include "rdmalab/pci.h"

static bool is_notify(const struct step *st)
{
    return step_number(st, "place") == PLACE(PLACE_REG, REG_NOTIFY);
}

/* Finds the place in a BAR of what the capability's field @field locates: BAR and offset. */
static enum rdl_status locate(struct session *s, rdl_host host, enum pci_field field,
                              struct rdl_pci_place *p)
{
    struct rdl_pci_place where;
    enum rdl_status st = rdl_pci_field(s->lab, host, p->number, field, &where);
    uint64_t v;

    if (st == RDL_OK)
        st = rdl_pci_peek(s->lab, host, &where, &v);
    if (st != RDL_OK)
        return st;
    p->space = RDL_PCI_BAR0 + (enum rdl_pci_space)(v & MSIX_BAR_MASK);
    p->offset = (uint32_t)(v & ~(uint64_t)MSIX_BAR_MASK);
    return RDL_OK;
}

/* Finds the place of @field of an entry of the MSI-X table.  MSIX_PENDING is in the array of
 * pending bits: the word that has the vector's bit.
 */
static enum rdl_status find_vector(struct session *s, rdl_host host, const struct step *step,
                                   uint32_t field, struct rdl_pci_place *p)
{
    const bool pending = field == MSIX_PENDING;
    const uint32_t vector = (uint32_t)step_number(step, "vector");
    const enum rdl_status st = locate(s, host, pending ? PCI_MSIX_PBA : PCI_MSIX_TABLE, p);

    p->offset += pending ? vector / 32 * 4 : vector * MSIX_ENTRY_BYTES + field;
    return st;
}

/* Finds the register of virtio at @p->offset of its structures.  Another device has other ones. */
static enum rdl_status find_register(struct session *s, rdl_host host, const struct step *st,
                                     struct rdl_pci_place *p)
{
    struct rdl_pci_place of_virtio;

    if (p->offset == REG_NOTIFY)
        p->offset += (uint32_t)step_number(st, "queue") * NOTIFY_MULTIPLIER;
    return rdl_pci_field(s->lab, host, p->number, PCI_COMMON_CAP, &of_virtio);
}

/* Finds a register of PVRDMA, or a doorbell, which is in BAR @bar at @p->offset. */
static enum rdl_status find_pvrdma(struct session *s, rdl_host host, uint32_t bar,
                                   struct rdl_pci_place *p)
{
    struct rdl_pci_place id;
    enum rdl_status st = rdl_pci_field(s->lab, host, p->number, PCI_DEVICE_ID, &id);
    uint64_t device = 0;

    id.width = 2;
    if (st == RDL_OK)
        st = rdl_pci_peek(s->lab, host, &id, &device);
    if (st != RDL_OK)
        return st;
    p->space = RDL_PCI_BAR0 + (enum rdl_pci_space)bar;
    return device == PV_PCI_DEVICE ? RDL_OK : RDL_ERR_INVAL;
}

/* The number in the slot of the function that the step names. */
static uint32_t function_of(const struct step *st)
{
    if (step_has(st, "vf"))
        return PCI_VF_FIRST + (uint32_t)step_number(st, "vf");
    return pci_number_of((enum pci_function)step_number(st, "function"));
}

/* Finds the place of the register that the step names.  Returns an error of rdl_pci_field(). */
static enum rdl_status find_place(struct session *s, rdl_host host, const struct step *st,
                                  struct rdl_pci_place *ret)
{
    const uint32_t place = (uint32_t)step_number(st, "place"), space = place >> PLACE_SPACE_BIT,
                   which = place & ((1u << PLACE_SPACE_BIT) - 1);
    enum rdl_status status = RDL_OK;

    *ret =
        (struct rdl_pci_place){.number = function_of(st), .space = RDL_PCI_BAR0, .offset = which};
    if (space == PLACE_CONFIG)
        status = rdl_pci_field(s->lab, host, ret->number, which, ret);
    else if (space == PLACE_VECTOR)
        status = find_vector(s, host, st, which, ret);
    else if (space == PLACE_PVRDMA)
        status = find_pvrdma(s, host, PV_BAR_REGS, ret);
    else if (space == PLACE_DOORBELL)
        status = find_pvrdma(s, host, PV_BAR_UAR, ret);
    else
        status = find_register(s, host, st, ret);
    ret->width = (uint32_t)step_number_or(st, "width", is_notify(st) ? 2 : 0);
    return status;
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
    if (step_has(st, "vf") &&
        (uint32_t)step_number(st, "place") >> PLACE_SPACE_BIT != PLACE_CONFIG) {
        session_fail(s, step_span(st, "vf", 0), "%s is no field of configuration space",
                     step_text(st, "place"));
        return diag_remedy(&s->diag, "the registers of a virtual function are those of its guest");
    }
    return true;
}

static bool find(struct session *s, const struct step *st, struct home *ret_home,
                 struct rdl_pci_place *ret)
{
    enum rdl_status status;

    if (!numbers_fit(s, st) || !verb_home(s, st, ret_home))
        return false;
    status = find_place(s, ret_home->host, st, ret);
    if (status == RDL_OK)
        return true;
    if (status == RDL_ERR_NO_DEVICE && step_has(st, "vf")) {
        session_fail(s, step_span(st, "vf", 0), "%s has no VF %u now", ret_home->name,
                     (unsigned)step_number(st, "vf"));
        return diag_remedy(&s->diag,
                           "SRIOV_NUM_VFS and the bit ENABLE of SRIOV_CONTROL say which exist");
    }
    if (status == RDL_ERR_NO_DEVICE)
        return session_fail_status(s, step_span(st, "host", 0), ret_home->name, status);
    session_fail(s, step_span(st, "place", 0), "the function has no %s", step_text(st, "place"));
    return diag_remedy(&s->diag, "\"show %s.pci\" says what it has", ret_home->name);
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
