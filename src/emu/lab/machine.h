/* SPDX-License-Identifier: MIT */
/* Machines, as the construction of hosts sees them. */
#ifndef EMU_LAB_MACHINE_H
#define EMU_LAB_MACHINE_H

#include "emu/lab/lab_state.h"
#include "rdmalab/machine.h"

/* Checks what @c says of a machine or a guest.  Returns RDL_OK or the error of rdl_host_add(). */
enum rdl_status machine_check(const struct lab_state *w, const struct rdl_host_config *c);

/* Returns the MAC that the administrator has set for the virtual function of guest @c, or NULL. */
const uint8_t *machine_mac(const struct lab_state *w, const struct rdl_host_config *c);

/* Joins the port of @h to the embedded switch that @c asks for; a machine gets a new one.  Returns
 * false if the arena is full.
 */
bool machine_join(struct lab_state *w, struct host *h, const struct rdl_host_config *c);

/* Sets *@ret to the router that guest @c asks for, which its machine gets with the first such
 * guest; to NULL if it asks for none.  Returns false if the arena is full.
 */
bool machine_router(struct lab_state *w, const struct rdl_host_config *c,
                    struct router_process **ret);

/* Takes the port of @h, which could not boot, from its machine. */
void machine_leave(struct host *h);

/* Completes the new host @h: a machine enables its virtual functions, a guest learns of its link.
 */
void machine_introduce(struct lab_state *w, struct host *h, const struct rdl_host_config *c);

/* Returns the number of virtual functions of the machine @m that exist now, the first ones.  A
 * device without SR-IOV has all of them.
 */
uint32_t machine_enabled_vfs(const struct host *m);

/* Returns true if @m is a machine with guests. */
bool machine_has_guests(const struct host *m);

#endif
