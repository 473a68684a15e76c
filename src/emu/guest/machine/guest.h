/* SPDX-License-Identifier: MIT */
/* One guest: its memory, the drivers of its PCI functions, its verbs and its IP stack.
 *
 * Like a real kernel, the guest knows only what it reads from registers, rings, responses and
 * frames.  It shares no state with the device models.  guest/verbs/verbs.h and guest/ip/net.h
 * declare what a guest can do.
 *
 * The machine does not know which RDMA device it has: guest_config.rdma is the driver.  Without a
 * driver, or without a function for it, verbs.up stays false and the verbs refuse all requests.
 */
#ifndef EMU_GUEST_GUEST_H
#define EMU_GUEST_GUEST_H

#include "emu/base/prng.h"
#include "emu/facts/enum/pci_function.h"
#include "emu/guest/ip/net.h"
#include "emu/guest/machine/cm_agent.h"
#include "emu/guest/machine/rdma_driver.h"
#include "emu/guest/pci/iov.h"
#include "emu/guest/verbs/verbs.h"

struct guest_config {
    uint32_t host;    /* host number for events */
    uint32_t profile; /* enum profile */
    uint8_t mac[MAC_BYTES];
    uint8_t gid[GUEST_GIDS][GID_BYTES]; /* entries 0 and 1 of the GID table */
    const struct guest_bus *bus;        /* the bus of the guest's PCI slot */
    void *bus_ctx;
    bool use_line; /* use INTx even if the device has MSI-X */
    bool iov;      /* the kernel supports SR-IOV: it looks for functions with virtual functions */
    const struct rdma_driver *rdma; /* driver of the RDMA device; NULL: none is loaded */
    /* Bytes of each of virtio-net's receive buffers; 0: each holds a whole frame. */
    uint32_t rx_buffer;
    struct sim *sim;             /* schedules the timers of the IP stack */
    struct directory *directory; /* addresses that are never resolved over the link; NULL: none */
    struct trace *trace;
    struct ram *ram;
    const struct verbs_layer *layer; /* between its verbs and its device; NULL: none */
    void *layer_ctx;
    struct prng cm_rng; /* for the connection manager: its IDs, PSNs and ports */
};

/* A part of the kernel that uses verbs and rdma_cm as programs do, and is told what happens.  Only
 * cq_event() may call the verbs.
 */
struct guest_module {
    void (*cq_event)(void *ctx, struct guest_cq *cq, bool armed); /* verbs_config.kernel_event() */
    void (*cm_event)(void *ctx, struct cma_channel *channel);     /* an event is queued there */
    void (*answered)(void *ctx); /* a control request of the host is answered */
    void *ctx;
};

/* A loaded driver of one function.  Once the guest has booted, only bound drivers are called. */
struct guest_driver {
    const struct pci_driver *ops;
    void *state;                           /* argument of ops */
    const struct pci_slot_function *found; /* the function it is bound to; NULL: none */
};

struct guest {
    struct guest_config config;
    struct pci_bus slot;
    struct guest_iov iov; /* its function with SR-IOV; iov.at 0: none */
    bool iov_waits;       /* virtual functions were enabled or disabled: SIM_IOV ends the wait */
    bool line_is_off;     /* INTx is masked: it was asserted and no driver claimed it */
    struct space space;
    struct dma_pool dma;
    struct verbs verbs;                /* verbs.driver is the state of the driver config.rdma */
    struct guest_net net;              /* driver of virtio-net, and the IP stack */
    const struct guest_module *module; /* NULL: none is loaded */
    struct cm_agent cm;                /* not started before the first call of a program to it */
    struct guest_driver drivers[PCI_FUNCTIONS_MAX]; /* in the order in which they boot */
    uint32_t n_drivers;
};

/* Initialises a guest that is not booted.  @g must not move afterwards.  @rng scatters its pages in
 * RAM.  Returns false when the arena is full.
 */
bool guest_init(struct guest *g, struct arena *a, const struct guest_config *config,
                struct prng *rng);

/* Initialises a host without a guest: only its addresses are valid, and no other function may be
 * called on it but guest_irqs().
 */
void guest_init_absent(struct guest *g, struct arena *a, const struct guest_config *config);

/* Loads a further driver into a guest that is not booted: @ops, which is called with @state, for
 * one more function.  A guest with several functions of one kind loads their driver as often, each
 * time with another state; the driver of an RDMA device has verbs of its own then (verbs_init()).
 * Returns false if PCI_FUNCTIONS_MAX drivers are loaded already.
 */
bool guest_load(struct guest *g, const struct pci_driver *ops, void *state);

/* Finds the functions of the slot, and boots the driver of each function that has one.  Then starts
 * these drivers; that of the RDMA device sets g->verbs.up when its boot requests are answered.
 * Returns RDL_OK, or an error of a driver's boot() or start().
 */
RDL_MUST_CHECK enum rdl_status guest_boot(struct guest *g);

/* Sets the number of virtual functions, as a write of sriov_numvfs in Linux does.  VFs may be
 * accessed 100 ms after they are enabled: SIM_IOV is scheduled, and guest_iov_timer() adds them.
 * After they are disabled it is 1 s.  With @wait false the guest adds them at once, as it does when
 * it boots, which takes no time in a lab.
 *
 * Return: RDL_OK               also if there are @n VFs already
 *	   RDL_ERR_UNSUPPORTED  no function has SR-IOV, or its driver does not support it (ENOENT)
 *	   RDL_ERR_LIMIT        @n exceeds the VFs that the function can have (ERANGE)
 *	   RDL_ERR_BUSY         there are VFs, and @n is not 0; or the guest still waits (EBUSY)
 *	   RDL_ERR_NOMEM        there is no room for the BARs of the VFs (ENOMEM)
 *	   RDL_ERR_DEVICE       the function contradicts itself (EIO)
 */
RDL_MUST_CHECK enum rdl_status guest_iov_set(struct guest *g, uint32_t n, bool wait);

/* Ends the wait of guest_iov_set(). */
void guest_iov_timer(struct guest *g);

/* Handles an MSI-X message, with which a function wrote @data to @address: calls the interrupt
 * handler of the function's driver.  Ignores messages of other functions.
 */
void guest_message(struct guest *g, uint64_t address, uint32_t data);

/* Handles INTx, which all functions share and which is asserted and not masked: calls the interrupt
 * handlers of the functions that raised it.  If no driver claims the interrupt, masks INTx for good
 * so that it does not interrupt for ever, and returns false.
 */
bool guest_line(struct guest *g);

/* Returns the number of interrupts that all drivers have handled. */
uint64_t guest_irqs(const struct guest *g);

#endif
