/* SPDX-License-Identifier: MIT */
#include "tree/tree_pci.h"

#include <string.h>

#include "emu/base/assert.h"
#include "emu/base/cursor.h"
#include "emu/facts/enum/pci_field.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/facts/virtio/pci.h"
#include "print/show_text.h"
#include "rdmalab/pci.h"
#include "tree/tree.h"

#define FIELD_INDENT   33u
#define FIELD_NAME     6u
#define BYTES_PER_LINE 16u
#define FIELDS_HEAD    "\n  at  field               value\n"

/* The configuration space of a function, 256 or 4,096 bytes, also of a virtual one. */
struct config {
    const struct rdl_lab *lab;
    rdl_host host;
    uint32_t number;
    uint32_t n; /* bytes in @b */
    uint8_t b[PCI_CONFIG_BYTES_EXPRESS];
};

/* Bytes beyond the end are all ones, as for a driver. */
static uint32_t byte(const struct config *c, uint32_t at)
{
    return at < c->n ? c->b[at] : 0xff;
}

static uint32_t word(const struct config *c, uint32_t at)
{
    return byte(c, at) | byte(c, at + 1) << 8;
}

static uint32_t dword(const struct config *c, uint32_t at)
{
    return word(c, at) | word(c, at + 2) << 16;
}

/* Reads the configuration space of function @number of the host in @path, which must exist. Returns
 * false if the host does not have the function.
 */
static bool read_config(const struct rdl_lab *lab, const char *path, uint32_t number,
                        struct config *ret)
{
    char name[RDL_NAME_BYTES];
    bool known;

    tree_host_of(path, name);
    *ret = (struct config){.lab = lab, .number = number};
    known = rdl_find_host(lab, name, &ret->host) == RDL_OK;
    RDL_ASSERT(known);
    for (; ret->n < PCI_CONFIG_BYTES_EXPRESS; ret->n++) {
        const struct rdl_pci_place place = {
            .number = number, .space = RDL_PCI_CONFIG, .offset = ret->n, .width = 1};
        uint64_t v;

        if (rdl_pci_peek(lab, ret->host, &place, &v) != RDL_OK)
            break;
        ret->b[ret->n] = (uint8_t)v;
    }
    return ret->n > 0;
}

static char sign_of(uint32_t bits, uint32_t mask)
{
    return bits & mask ? '+' : '-';
}

static char sign(uint32_t bits, unsigned bit)
{
    return sign_of(bits, 1u << bit);
}

static void print_command(FILE *out, uint32_t c)
{
    static const char *const names[] = {"I/O",     "Mem",      "BusMaster", "SpecCycle",
                                        "MemWINV", "VGASnoop", "ParErr",    "Stepping",
                                        "SERR",    "FastB2B",  "DisINTx"};

    fputs("\tControl:", out);
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        fprintf(out, " %s%c", names[i], sign(c, i));
    fputc('\n', out);
}

static void print_status(FILE *out, uint32_t s)
{
    fprintf(out,
            "\tStatus: Cap%c 66MHz%c UDF%c FastB2B%c ParErr%c DEVSEL=fast >TAbort%c <TAbort%c "
            "<MAbort%c >SERR%c <PERR%c INTx%c\n",
            sign(s, 4), sign(s, 5), sign(s, 6), sign(s, 7), sign(s, 8), sign(s, 11), sign(s, 12),
            sign(s, 13), sign(s, 14), sign(s, 15), sign(s, 3));
}

static void print_regions(FILE *out, const struct config *c)
{
    const bool on = (word(c, PCI_COMMAND) & PCI_CMD_MEMORY) != 0;

    for (uint32_t i = 0; i < PCI_BARS; i++) {
        const uint32_t bar = dword(c, PCI_BAR0 + 4 * i);

        if (bar != 0)
            fprintf(out, "\tRegion %u: Memory at %08x (32-bit, non-prefetchable)%s\n", i,
                    bar & ~PCI_BAR_LOW_BITS, on ? "" : " [disabled]");
    }
}

static void print_virtio(FILE *out, const struct config *c, uint32_t at)
{
    static const char *const names[] = {[VIRTIO_CAP_COMMON] = "CommonCfg",
                                        [VIRTIO_CAP_NOTIFY] = "Notify",
                                        [VIRTIO_CAP_ISR] = "ISR",
                                        [VIRTIO_CAP_DEVICE] = "DeviceCfg"};
    const uint32_t type = byte(c, at + VIRTIO_AT_TYPE);
    const bool known = type >= VIRTIO_CAP_COMMON && type <= VIRTIO_CAP_DEVICE;

    fprintf(out, "Vendor Specific Information: VirtIO: %s\n", known ? names[type] : "<unknown>");
    fprintf(out, "\t\tBAR=%u offset=%08x size=%08x", byte(c, at + VIRTIO_AT_BAR),
            dword(c, at + VIRTIO_AT_OFFSET), dword(c, at + VIRTIO_AT_LENGTH));
    if (type == VIRTIO_CAP_NOTIFY)
        fprintf(out, " multiplier=%08x", dword(c, at + VIRTIO_AT_MULTIPLIER));
    fputc('\n', out);
}

static void print_msix(FILE *out, const struct config *c, uint32_t at)
{
    const uint32_t control = word(c, at + MSIX_AT_CONTROL), table = dword(c, at + MSIX_AT_TABLE),
                   pba = dword(c, at + MSIX_AT_PBA);

    fprintf(out, "MSI-X: Enable%c Count=%u Masked%c\n", sign(control, 15),
            (control & MSIX_SIZE_MASK) + 1, sign(control, 14));
    fprintf(out, "\t\tVector table: BAR=%u offset=%08x\n", table & MSIX_BAR_MASK,
            table & ~MSIX_BAR_MASK);
    fprintf(out, "\t\tPBA: BAR=%u offset=%08x\n", pba & MSIX_BAR_MASK, pba & ~MSIX_BAR_MASK);
}

static void print_express(FILE *out, const struct config *c, uint32_t at)
{
    const uint32_t flags = word(c, at + EXPRESS_AT_FLAGS), caps = dword(c, at + EXPRESS_AT_CAPS),
                   control = word(c, at + EXPRESS_AT_CONTROL),
                   type = flags >> EXPRESS_TYPE_BIT & EXPRESS_TYPE_MASK;

    fprintf(out, "Express (v%u) ", flags & ((1u << EXPRESS_TYPE_BIT) - 1));
    if (type == EXPRESS_INTEGRATED)
        fputs("Root Complex Integrated Endpoint\n", out);
    else
        fprintf(out, "type %u\n", type);
    fprintf(out, "\t\tDevCap: RBE%c FLReset%c\n", sign_of(caps, EXPRESS_CAPS_ROLE),
            sign_of(caps, EXPRESS_CAPS_RESET));
    fprintf(out, "\t\tDevCtl: RlxdOrd%c NoSnoop%c\n", sign_of(control, EXPRESS_CONTROL_RELAXED),
            sign_of(control, EXPRESS_CONTROL_NO_SNOOP));
}

static void print_capability(FILE *out, const struct config *c, uint32_t at)
{
    if (byte(c, at) == PCI_CAP_ID_MSIX)
        print_msix(out, c, at);
    else if (byte(c, at) == PCI_CAP_ID_EXPRESS)
        print_express(out, c, at);
    else if (byte(c, at) == PCI_CAP_ID_VENDOR && word(c, PCI_VENDOR_ID) == PCI_VENDOR_VIRTIO)
        print_virtio(out, c, at);
    else
        fprintf(out, "ID %02x\n", byte(c, at));
}

static void print_capabilities(FILE *out, const struct config *c)
{
    uint32_t at = byte(c, PCI_CAPABILITIES) & ~PCI_CAP_POINTER_LOW;

    for (uint32_t n = 0; at != 0 && n < PCI_CAPS_MAX; n++) {
        fprintf(out, "\tCapabilities: [%02x] ", at);
        print_capability(out, c, at);
        at = byte(c, at + PCI_AT_NEXT) & ~PCI_CAP_POINTER_LOW;
    }
}

/* Offset of the extended capability @id, or 0 if there is none. */
static uint32_t find_extended(const struct config *c, uint32_t id)
{
    uint32_t at = PCI_EXT_FIRST;

    for (uint32_t n = 0; at >= PCI_EXT_FIRST && at < c->n && n < PCI_EXT_CAPS_MAX; n++) {
        if ((dword(c, at) & PCI_EXT_ID_MASK) == id)
            return at;
        at = dword(c, at) >> PCI_EXT_NEXT_BIT;
    }
    return 0;
}

static void print_vf_bars(FILE *out, const struct config *c, uint32_t at)
{
    for (uint32_t i = 0; i < PCI_BARS; i++) {
        const uint32_t bar = dword(c, at + SRIOV_AT_BAR0 + 4 * i);

        if (bar != 0)
            fprintf(out, "\t\tRegion %u: Memory at %08x (32-bit, non-prefetchable)\n", i,
                    bar & ~PCI_BAR_LOW_BITS);
    }
}

static void print_sriov(FILE *out, const struct config *c, uint32_t at)
{
    const uint32_t control = word(c, at + SRIOV_AT_CONTROL), caps = dword(c, at + SRIOV_AT_CAPS),
                   migration = dword(c, at + SRIOV_AT_MIGRATION);

    fprintf(out, "\tCapabilities: [%03x v%u] Single Root I/O Virtualization (SR-IOV)\n", at,
            dword(c, at) >> PCI_EXT_VERSION_BIT & 0xfu);
    fprintf(out, "\t\tIOVCap:\tMigration%c 10BitTagReq%c Interrupt Message Number: %03x\n",
            sign(caps, 0), sign(caps, 2), caps >> 21);
    fprintf(out,
            "\t\tIOVCtl:\tEnable%c Migration%c Interrupt%c MSE%c ARIHierarchy%c 10BitTagReq%c\n",
            sign_of(control, SRIOV_ENABLE), sign_of(control, SRIOV_MIGRATE),
            sign_of(control, SRIOV_MIGRATE_IRQ), sign_of(control, SRIOV_MEMORY),
            sign_of(control, SRIOV_ARI), sign(control, 5));
    fprintf(out, "\t\tIOVSta:\tMigration%c\n", sign(word(c, at + SRIOV_AT_STATUS), 0));
    fprintf(out,
            "\t\tInitial VFs: %u, Total VFs: %u, Number of VFs: %u, Function Dependency Link: "
            "%02x\n",
            word(c, at + SRIOV_AT_INITIAL_VFS), word(c, at + SRIOV_AT_TOTAL_VFS),
            word(c, at + SRIOV_AT_NUM_VFS), byte(c, at + SRIOV_AT_LINK));
    fprintf(out, "\t\tVF offset: %u, stride: %u, Device ID: %04x\n",
            word(c, at + SRIOV_AT_FIRST_OFFSET), word(c, at + SRIOV_AT_STRIDE),
            word(c, at + SRIOV_AT_VF_DEVICE_ID));
    fprintf(out, "\t\tSupported Page Size: %08x, System Page Size: %08x\n",
            dword(c, at + SRIOV_AT_PAGES), dword(c, at + SRIOV_AT_PAGE));
    print_vf_bars(out, c, at);
    fprintf(out, "\t\tVF Migration: offset: %08x, BIR: %u\n", migration & ~MSIX_BAR_MASK,
            migration & MSIX_BAR_MASK);
}

/* Prints the first 256 bytes, as "lspci -xxx" does, and the SR-IOV capability behind them. */
static void print_bytes(FILE *out, const struct config *c)
{
    const uint32_t at = find_extended(c, PCI_EXT_ID_SRIOV);

    for (uint32_t i = 0; i < (at ? at + SRIOV_CAP_BYTES : PCI_CONFIG_BYTES); i++) {
        if (i % BYTES_PER_LINE == 0)
            fprintf(out, "%02x:", i);
        fprintf(out, " %02x", byte(c, i));
        if (i % BYTES_PER_LINE == BYTES_PER_LINE - 1)
            fputc('\n', out);
    }
}

/* Prints the function in the order of lspci. */
static void print_function(FILE *out, const struct config *c)
{
    const uint32_t line = byte(c, PCI_INTERRUPT_LINE), pin = byte(c, PCI_INTERRUPT_PIN),
                   rid = PCI_SLOT_RID + c->number, sriov = find_extended(c, PCI_EXT_ID_SRIOV);

    fprintf(out, PCI_RID_BDF " %04x: %04x:%04x (rev %02x)\n", PCI_RID_BDF_ARGS(rid),
            word(c, PCI_CLASS_CODE + 1), word(c, PCI_VENDOR_ID), word(c, PCI_DEVICE_ID),
            byte(c, PCI_REVISION_ID));
    fprintf(out, "\tSubsystem: %04x:%04x\n", word(c, PCI_SUBSYSTEM_VENDOR_ID),
            word(c, PCI_SUBSYSTEM_ID));
    print_command(out, word(c, PCI_COMMAND));
    print_status(out, word(c, PCI_STATUS));
    if (word(c, PCI_COMMAND) & PCI_CMD_MASTER) {
        fprintf(out, "\tLatency: %u", byte(c, PCI_LATENCY_TIMER));
        if (byte(c, PCI_CACHE_LINE_SIZE))
            fprintf(out, ", Cache Line Size: %u bytes", 4 * byte(c, PCI_CACHE_LINE_SIZE));
        fputc('\n', out);
    }
    if (pin != 0)
        fprintf(out, "\tInterrupt: pin %c routed to IRQ %u\n", 'A' + (int)pin - 1, line);
    print_regions(out, c);
    print_capabilities(out, c);
    if (sriov)
        print_sriov(out, c, sriov);
    print_bytes(out, c);
}

/* Appends the names and texts of the bits in @set. */
static void add_bits(struct text *t, const struct enum_table *table, uint32_t set)
{
    for (size_t i = 0; i < table->n_rows; i++) {
        if (set & table->rows[i].value)
            text_addf(t, "; %s: %s", table->rows[i].name, table->rows[i].text);
    }
}

/* Prints the field of @row if the function has it. */
static void print_field(FILE *out, const struct config *c, const struct enum_row *row)
{
    const uint32_t n = pci_field_bytes(row->value);
    char lead[64], about[SHOW_LINE_BYTES];
    struct text l = text_on(lead, sizeof(lead)), t = text_on(about, sizeof(about));
    struct rdl_pci_place at;
    uint32_t v = 0;

    if (rdl_pci_field(c->lab, c->host, c->number, row->value, &at) != RDL_OK)
        return;
    for (uint32_t i = 0; i < n; i++)
        v |= byte(c, at.offset + i) << (8 * i);
    text_addf(&l, "  %02x", at.offset);
    while (l.len < FIELD_NAME)
        text_add(&l, " ");
    text_addf(&l, "%-19s %0*x", row->name, 2 * (int)n, v);
    while (l.len < FIELD_INDENT + 2)
        text_add(&l, " ");
    text_add(&t, row->text);
    if (row->value == PCI_COMMAND)
        add_bits(&t, &enum_pci_command, v);
    if (row->value == PCI_STATUS)
        add_bits(&t, &enum_pci_status, v);
    if (row->value == PCI_SRIOV_CONTROL)
        add_bits(&t, &enum_sriov_control, v);
    show_wrap_behind(out, lead, FIELD_INDENT + 2, about);
}

/* Prints the function, and each of its fields with an explanation. */
static void print_page(FILE *out, const struct config *c)
{
    print_function(out, c);
    fputs(FIELDS_HEAD, out);
    for (size_t i = 0; i < enum_pci_field.n_rows; i++)
        print_field(out, c, &enum_pci_field.rows[i]);
}

static uint32_t number_of(const struct rdl_lab *lab, const char *path)
{
    const uint64_t id = tree_number(lab, path, LEAF_pci_function_device_id);

    return pci_number_of(id == PCI_DEVICE_BASE + VIRTIO_ID_NET ? FN_NET : FN_RDMA);
}

/* Prints a line about the virtual function @vf at @path. */
static void print_vf(FILE *out, const struct rdl_lab *lab, const char *path, uint64_t vf)
{
    const uint32_t rid = (uint32_t)tree_number(lab, path, LEAF_virtual_function_rid);
    char name[SHOW_LINE_BYTES];
    struct text guest = text_on(name, sizeof(name));

    tree_add(&guest, lab, path, LEAF_virtual_function_guest);
    fprintf(out, PCI_RID_BDF " VF %-3u BusMaster%c MSI-X: Enable%c Masked%c  guest: %s\n",
            PCI_RID_BDF_ARGS(rid), (unsigned)vf,
            tree_number(lab, path, LEAF_virtual_function_master) ? '+' : '-',
            tree_number(lab, path, LEAF_virtual_function_msix_enabled) ? '+' : '-',
            tree_number(lab, path, LEAF_virtual_function_msix_masked) ? '+' : '-', name);
}

/* Prints a line for each virtual function of the slot at @path. */
static void print_vfs(FILE *out, const struct rdl_lab *lab, const char *path)
{
    char rdma[TREE_PATH_BYTES], sriov[TREE_PATH_BYTES], vf[TREE_PATH_BYTES];
    uint64_t n = 0;

    if (!tree_child(lab, path, CHILD_pci_rdma, rdma) ||
        !tree_child(lab, rdma, CHILD_pci_function_sriov, sriov))
        return;
    for (; tree_element(lab, sriov, CHILD_sriov_vf, n, vf); n++)
        print_vf(out, lab, vf, n);
    if (n > 0)
        fprintf(out, "\nOne of these: show %s.vf[0]\n", sriov);
}

void tree_pci_vf(FILE *out, const struct rdl_lab *lab, const char *path)
{
    const uint64_t rid = tree_number(lab, path, LEAF_virtual_function_rid);
    struct config c;
    const bool there = read_config(lab, path, (uint32_t)rid - PCI_SLOT_RID, &c);

    RDL_ASSERT(there);
    print_page(out, &c);
}

void tree_pci_slot(FILE *out, const struct rdl_lab *lab, const char *path)
{
    bool there[HOST_FUNCTIONS];
    struct config c;

    for (uint32_t number = 0; number < HOST_FUNCTIONS; number++) {
        there[number] = read_config(lab, path, number, &c);
        if (!there[number])
            continue;
        print_function(out, &c);
        fputc('\n', out);
    }
    print_vfs(out, lab, path);
    if (there[pci_number_of(FN_RDMA)])
        fprintf(out, "Field by field: show %s.rdma, show %s.net\n", path, path);
    else
        fprintf(out, "Field by field: show %s.net\n", path);
}

void tree_pci_function(FILE *out, const struct rdl_lab *lab, const char *path)
{
    struct config c;
    const bool there = read_config(lab, path, number_of(lab, path), &c);

    RDL_ASSERT(there);
    print_page(out, &c);
}
