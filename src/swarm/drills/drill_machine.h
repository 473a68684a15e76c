/* SPDX-License-Identifier: MIT */
/* The drill of a machine: the interface between its files.
 *
 * Functions that return bool return false if the drill failed, unless their comment says otherwise.
 */
#ifndef SWARM_DRILLS_DRILL_MACHINE_H
#define SWARM_DRILLS_DRILL_MACHINE_H

#include "emu/facts/pci.h"
#include "rdmalab/vm.h"
#include "swarm/drills/drill.h"

#define MACHINE_PAGE      4096u
#define MACHINE_PAGES     24u /* pages of memory that the machine has */
#define MACHINE_CHUNKS    4u  /* most regions that it is mapped in */
#define MACHINE_FUNCTIONS 2u
#define MACHINE_NET       0u /* virtio-net, the function that the drill drives */
#define MACHINE_RDMA      1u /* virtio-rdma */
#define MACHINE_NOWHERE   UINT64_MAX
#define MACHINE_CHAINS    8u    /* most chains of a step; each has at most two descriptors */
#define MACHINE_QUEUE     1024u /* bytes at the start of the first chunk for the receive queue */
#define MACHINE_VECTORS   8u    /* vectors of a function that the drill uses, the first ones */
#define MACHINE_MESSAGES  64u   /* most interrupts of a step */

/* The model of an entry of an MSI-X table. */
struct machine_vector {
    uint64_t address;
    uint32_t data;
    bool masked, pending;
};

/* The model of a PCI function. */
struct machine_function {
    uint64_t possible; /* features that it offers with nothing switched off */
    uint64_t offered;  /* features that it offers from its next reset on */
    uint32_t command;  /* set of enum pci_command_bit */
    uint32_t bar[2], bar_bytes[2];
    uint8_t interrupt_line, cache_line;
    bool msix, msix_masked;
    uint32_t n_vectors; /* in its table, of which the drill uses at most MACHINE_VECTORS */
    struct machine_vector vectors[MACHINE_VECTORS];
    uint32_t isr;                      /* interrupt status of virtio */
    uint32_t config_vector, rx_vector; /* number of a vector, or VIRTIO_NO_VECTOR */
};

/* An MSI-X message. */
struct machine_message {
    uint32_t function, data;
    uint64_t address;
};

/* The model of a fault of the receive queue of virtio-net. */
struct machine_fault {
    bool is_there;
    rdl_fault fault;
    uint32_t kind;       /* FLT_LOST_INTERRUPT .. FLT_SPURIOUS */
    uint32_t nth, left;  /* RDL_ANY left: all */
    uint32_t chance_ppm; /* 0: it hits all; otherwise the events tell which */
    uint32_t id;         /* SPURIOUS: of the chain */
    uint64_t time_ns;
    uint32_t seen, hits; /* in all steps */
    uint32_t step_hits;  /* hits of this step */
    uint64_t from;       /* number of events before this step */
    bool is_stuck;       /* it has stopped the queue */
};

/* A part of the machine's memory, from one guest-physical page on. */
struct machine_chunk {
    uint64_t gpa;
    uint32_t first, pages; /* first page in machine.memory, and number of pages */
    bool writable;
};

struct machine {
    rdl_host host;
    uint8_t mac[6];
    rdl_link link;
    rdl_port port;
    bool link_is_up;
    struct machine_function f[MACHINE_FUNCTIONS];
    uint32_t n_chunks;
    struct machine_chunk chunks[MACHINE_CHUNKS];
    /* The bytes that the machine and the devices have written, and those that must be there. */
    uint8_t memory[MACHINE_PAGES * MACHINE_PAGE], model[MACHINE_PAGES * MACHINE_PAGE];
    /* The driver of virtio-net, and its receive queue. */
    bool is_driven, is_broken;
    bool merges, resets;        /* MRG_RXBUF, RING_RESET was accepted */
    uint64_t desc, avail, used; /* guest-physical addresses of the parts of the queue */
    uint32_t size;              /* entries of the queue */
    uint16_t avail_idx, used_idx;
    struct machine_fault fault;
    uint32_t n_expected, n_got; /* messages of this step; n_got may exceed the array */
    struct machine_message expected[MACHINE_MESSAGES], got[MACHINE_MESSAGES];
};

struct machine *machine_of(struct drill *d);

/* --- Accesses (drill_machine_pci.c) ----------------------------------------------------------- */

/* Read and write configuration space.  @at: offset in bytes.  @width: 1, 2 or 4 bytes. */
uint32_t machine_config(struct drill *d, uint32_t function, uint32_t at, uint32_t width);
void machine_config_put(struct drill *d, uint32_t function, uint32_t at, uint32_t width,
                        uint32_t v);

/* Read and write @bar, at its address or through the window in configuration space.  @at: offset in
 * bytes.  @width: 1, 2, 4 or 8 bytes.
 */
uint64_t machine_bar(struct drill *d, uint32_t function, uint32_t bar, uint32_t at, uint32_t width);
void machine_bar_put(struct drill *d, uint32_t function, uint32_t bar, uint32_t at, uint32_t width,
                     uint64_t v);

/* Read and write a register of virtio.  @at: its offset in BAR 0, in bytes. */
uint64_t machine_reg(struct drill *d, uint32_t function, uint32_t at, uint32_t width);
void machine_reg_put(struct drill *d, uint32_t function, uint32_t at, uint32_t width, uint64_t v);

/* --- Memory (drill_machine_memory.c) ---------------------------------------------------------- */

/* Draws where the chunks of memory lie.  The first one is writable. */
void machine_draw_chunks(struct drill *d);

/* Maps the chunks. */
bool machine_map(struct drill *d);

/* Returns true if all of the @bytes from @gpa on are in chunks, and may be written if @write. */
bool machine_has_memory(const struct machine *m, uint64_t gpa, uint64_t bytes, bool write);

/* machine_model_put() is the model of a write by a device.  machine_cpu_put() is a write by the
 * machine's processor.  All of it must be there.
 */
void machine_model_put(struct machine *m, uint64_t gpa, const void *bytes, uint64_t n);
void machine_cpu_put(struct machine *m, uint64_t gpa, const void *bytes, uint64_t n);

/* Takes over what the device has said about kicks, which it may do at any time. */
void machine_learn_flags(struct machine *m);

/* Checks that the memory is as the model of it. */
bool machine_memory_holds(struct drill *d);

/* --- Driver and frames (drill_machine.c, drill_machine_frames.c) ------------------------------ */

/* Takes virtio-net from reset to DRIVER_OK. */
void machine_drive(struct drill *d);

/* Steps: resets the receive queue and sets it up anew; lets a frame arrive. */
void machine_reset_queue(struct drill *d);
void machine_receive(struct drill *d);

/* --- The model of a function (drill_machine_pci.c) -------------------------------------------- */

/* Applies power-on to the model @f.  Keeps possible, offered, bar_bytes and n_vectors. */
void machine_power_on(struct machine_function *f);

/* Applies a device reset to the model @f: ISR status, vector numbers and pending bits. */
void machine_device_reset(struct machine_function *f);

/* The model of an interrupt of @function: of the configuration, or of the receive queue. */
void machine_raise_config(struct drill *d, uint32_t function);
void machine_raise_rx(struct drill *d, uint32_t function);

/* Enables what a driver needs: memory space and bus mastering, and BARs at random addresses. */
bool machine_enable(struct drill *d, uint32_t function);

/* Take a step each: registers of configuration space, the command register, MSI-X. */
void machine_change_config(struct drill *d);
void machine_change_command(struct drill *d);
void machine_change_vector(struct drill *d);
void machine_change_msix(struct drill *d);

/* --- Events and faults of the receive queue (drill_machine_faults.c) -------------------------- */

/* Checks that the events since number @from tell of @n used elements, each with its own index. */
bool machine_check_used(struct drill *d, uint64_t from, uint32_t n);

/* A step: clears the fault that is there, or orders one. */
void machine_change_fault(struct drill *d);

/* Begins a step in which the fault may hit. */
void machine_fault_begin(struct drill *d);

/* The model of an occasion of a fault of @kind at the receive queue.  Returns true if it is hit.
 * Call it after the device has acted, in the order of the occasions.
 */
bool machine_fault_hits(struct drill *d, uint32_t kind);

/* Checks what the events and the tree tell of the fault. */
bool machine_check_fault(struct drill *d);

/* drill_machine_pci.c: checks that exactly the expected messages of this step have arrived, and
 * forgets them.  Then compares the interrupt state of one random function with its model; sometimes
 * reads, and so clears, its ISR status.
 */
bool machine_check_interrupts(struct drill *d);

#endif
