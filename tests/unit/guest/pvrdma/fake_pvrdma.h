/* SPDX-License-Identifier: MIT */
/* A PVRDMA function of plain registers, whose answers a test chooses: which version and
 * capabilities there are, what ERR says, whether and how a command is answered.
 */
#ifndef TESTS_UNIT_GUEST_PVRDMA_FAKE_PVRDMA_H
#define TESTS_UNIT_GUEST_PVRDMA_FAKE_PVRDMA_H

#include "guest/slot.h"

#include "emu/facts/enum/pci_function.h"
#include "emu/facts/pvrdma/command.h"
#include "emu/facts/pvrdma/regs.h"
#include "emu/facts/pvrdma/ring.h"
#include "emu/guest/pvrdma/pvrdma.h"
#include "emu/trace/trace.h"
#include "guest/program.h"

#define FAKE_RAM_BYTES (16u << 20)
#define FAKE_WRITES    256u
#define FAKE_QPN       5u

struct fake_write {
    uint32_t bar, at, value;
};

struct fake {
    struct fake_slot slot; /* first: its functions take the whole for it */
    struct arena *arena;
    struct trace_sinks sinks;
    struct trace trace;
    struct ram ram;
    struct space space;
    struct dma_pool dma;
    struct verbs verbs;
    struct pvrdma_guest driver;
    uint32_t version, err;
    struct pv_caps caps;
    uint64_t region;
    bool late;                /* commands wait for fake_answer() */
    uint32_t answer_err;      /* of the next response */
    uint32_t ack_of;          /* command that the next response acknowledges; UINT32_MAX: its own */
    struct pv_request header; /* of the last command */
    struct fake_write written[FAKE_WRITES];
    uint32_t n_written;
};

static inline struct pv_dsr fake_region(const struct fake *f)
{
    struct pv_raw_dsr raw;
    struct pv_dsr dsr;

    assert_true(ram_read(&f->ram, f->region, &raw, sizeof(raw)));
    pv_dsr_get(&dsr, &raw);
    return dsr;
}

/* Writes the response to the last command. */
static inline void fake_answer(struct fake *f)
{
    const struct pv_dsr dsr = fake_region(f);
    const uint32_t cmd = f->ack_of == UINT32_MAX ? f->header.cmd : f->ack_of;
    const struct pv_response header = {
        .response = f->header.response, .ack = cmd | PV_ACK, .err = (uint8_t)f->answer_err};
    const struct pv_qp_made_v2 qp = {.qpn = FAKE_QPN, .handle = FAKE_QPN};
    const struct pv_cq_made cq = {.handle = 0, .cqe = 16};
    const struct pv_handle handle = {.handle = 3};
    uint8_t bytes[PV_RESPONSE_BYTES_MAX] = {0};

    pv_response_put((struct pv_raw_response *)bytes, &header);
    if (f->header.cmd == PV_CMD_CREATE_QP)
        pv_qp_made_v2_put((struct pv_raw_qp_made_v2 *)(bytes + PV_HEADER_BYTES), &qp);
    else if (f->header.cmd == PV_CMD_CREATE_CQ)
        pv_cq_made_put((struct pv_raw_cq_made *)(bytes + PV_HEADER_BYTES), &cq);
    else
        pv_handle_put((struct pv_raw_handle *)(bytes + PV_HEADER_BYTES), &handle);
    assert_true(ram_write(&f->ram, dsr.response_slot, bytes, sizeof(bytes)));
}

static inline void fake_interrupt(struct fake *f, uint32_t vector)
{
    pvrdma_driver.pci.interrupt(&f->driver, vector);
}

static inline void fake_request(struct fake *f)
{
    struct pv_raw_request raw;

    assert_true(ram_read(&f->ram, fake_region(f).command_slot, &raw, sizeof(raw)));
    pv_request_get(&f->header, &raw);
    if (!f->late && f->err == 0)
        fake_answer(f);
}

static inline void fake_share(struct fake *f)
{
    struct pv_raw_caps raw;

    pv_caps_put(&raw, &f->caps);
    assert_true(
        ram_write(&f->ram, f->region + offsetof(struct pv_raw_dsr, caps), &raw, sizeof(raw)));
}

static inline bool fake_find(const struct fake *f, uint64_t gpa, struct fake_write *ret)
{
    const struct pci_slot_function *fn = &f->slot.bus.functions[0];

    for (uint32_t bar = 0; bar < PCI_BARS; bar++) {
        if (fn->bar_bytes[bar] == 0 || gpa < fn->bar[bar] ||
            gpa >= fn->bar[bar] + fn->bar_bytes[bar])
            continue;
        *ret = (struct fake_write){.bar = bar, .at = (uint32_t)(gpa - fn->bar[bar])};
        return true;
    }
    return false;
}

static inline uint64_t fake_read(void *ctx, uint64_t gpa, uint32_t width)
{
    const struct fake *f = ctx;
    struct fake_write place;

    assert_true(width == 4 && fake_find(f, gpa, &place));
    if (place.bar != PV_BAR_REGS)
        return UINT32_MAX;
    return place.at == PVR_VERSION ? f->version : place.at == PVR_ERR ? f->err : 0;
}

static inline void fake_write(void *ctx, uint64_t gpa, uint32_t width, uint64_t value)
{
    struct fake *f = ctx;
    struct fake_write w;

    assert_true(width == 4 && fake_find(f, gpa, &w));
    w.value = (uint32_t)value;
    if (w.bar == PV_BAR_MSIX)
        return;
    assert_true(f->n_written < FAKE_WRITES);
    f->written[f->n_written++] = w;
    if (w.bar == PV_BAR_REGS && w.at == PVR_DSRLOW)
        f->region = w.value;
    if (w.bar == PV_BAR_REGS && w.at == PVR_DSRHIGH)
        fake_share(f);
    if (w.bar == PV_BAR_REGS && w.at == PVR_REQUEST)
        fake_request(f);
}

static const struct guest_bus fake_bus = {slot_config_read, slot_config_write, fake_read,
                                          fake_write};

static inline struct pv_caps fake_caps(void)
{
    return (struct pv_caps){.max_mr_size = 1u << 20,
                            .max_qp = 9,
                            .max_qp_wr = 64,
                            .max_sge = 4,
                            .max_sge_rd = 4,
                            .max_cq = 8,
                            .max_cqe = 64,
                            .max_srq = 2,
                            .max_srq_wr = 64,
                            .max_srq_sge = 4,
                            .max_uar = 512,
                            .max_pkeys = 1,
                            .phys_port_cnt = 1,
                            .gid_types = PV_GID_ROCE_V2,
                            .bmme_flags = 7,
                            .max_fast_reg_page_list_len = 16};
}

static inline struct fake *fake_new(void)
{
    struct fake *f = test_calloc(1, sizeof(*f));
    struct guest_pci pci;
    const struct verbs_config verbs = {
        .gid = {{[10] = 0xff, 0xff, 10, 0, 0, 1}, {0xfe, 0x80, [15] = 1}},
        .trace = &f->trace,
        .space = &f->space,
    };
    struct prng rng = prng_stream(1, 1);
    struct slot_function *fn;

    slot_init(&f->slot, &pci);
    f->slot.bus.bus = pci.bus = &fake_bus;
    fn = slot_add(&f->slot, 0, PCI_IDS(PV_PCI_VENDOR, PV_PCI_DEVICE));
    fn->bar_bytes[PV_BAR_REGS] = PV_REG_BYTES;
    fn->bar_bytes[PV_BAR_UAR] = PV_UAR_BYTES;
    fn->config[PCI_CAPABILITIES] = 0x40;
    slot_msix(fn, 0x40, 0);
    pci_scan(&f->slot.bus);
    f->arena = arena_new((size_t)1 << 30);
    assert_non_null(f->arena);
    f->trace.sinks = &f->sinks;
    assert_true(ram_init(&f->ram, f->arena, FAKE_RAM_BYTES));
    assert_true(space_init(&f->space, &f->ram, &rng));
    dma_init(&f->dma, &f->space);
    pci.function = FN_RDMA;
    pci.trace = &f->trace;
    pci.ram = &f->ram;
    pci.dma = &f->dma;
    verbs_init(&f->verbs, f->arena, &verbs, &pvrdma_verbs_ops, &f->driver);
    assert_true(pvrdma_driver.init(&f->driver, &f->verbs, f->arena, &pci));
    f->version = PV_VERSION_MOST;
    f->caps = fake_caps();
    f->ack_of = UINT32_MAX;
    return f;
}

static inline enum rdl_status fake_boot(struct fake *f)
{
    const enum rdl_status st = pvrdma_driver.pci.boot(&f->driver, &f->slot.bus.functions[0]);

    return st == RDL_OK ? pvrdma_driver.pci.start(&f->driver) : st;
}

static inline int fake_set_up(void **state)
{
    struct fake *f = fake_new();

    assert_int_equal(fake_boot(f), RDL_OK);
    assert_true(f->verbs.up);
    f->n_written = 0;
    *state = f;
    return 0;
}

static inline int fake_tear_down(void **state)
{
    struct fake *f = *state;

    arena_free(f->arena);
    test_free(f);
    return 0;
}

/* Answers the command under way by an interrupt. */
static inline void fake_done(struct fake *f)
{
    if (f->late)
        fake_answer(f);
    fake_interrupt(f, PV_VECTOR_RESPONSE);
}

#endif
