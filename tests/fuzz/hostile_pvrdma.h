/* SPDX-License-Identifier: MIT */
/* A lab in which one host has a hostile driver of PVRDMA, for targets that are such a driver.
 *
 * Host h1 is hostile.  It boots normally and has an RC and a UD queue pair connected to h2, a
 * region, and the zone: pages of RAM in which random addresses often lie.  h2 and h3 send each
 * other messages.  There is one lab for each version of the device; an input starts at a checkpoint
 * of the lab that its first byte selects.
 *
 * pv_lab_end() checks what must hold for every input, whatever the driver of h1 did.  The messages
 * between h2 and h3 arrive.  No invariant of another host breaks, the objects of h1's device agree
 * with each other, no tick takes more requests than the rings have slots, and memory is bounded.  A
 * new driver that resets the device finds it as after power-on, and creates an object.
 */
#ifndef TESTS_FUZZ_HOSTILE_PVRDMA_H
#define TESTS_FUZZ_HOSTILE_PVRDMA_H

#include "emu/device/pvrdma/pvrdma.h"
#include "emu/lab/lab_state.h"
#include "fuzz.h"
#include "input.h"
#include "testbed/testbed.h"

#define PV_LABS       4u /* versions 17 to 20 */
#define PV_ZONE_PAGES 32u
#define PV_SERVICES   2u /* RC, UD */
#define PV_MESSAGES   3u /* each way, between h2 and h3 */

struct pv_lab {
    struct rdl_lab *lab;
    struct rdl_checkpoint *start;
    struct host *h1;
    rdl_host host;
    struct pvrdma *d;
    uint64_t zone;                         /* guest-physical address */
    struct testbed_side ours[PV_SERVICES]; /* of h1 */
    struct testbed_side peer[PV_SERVICES]; /* of h2, connected to @ours */
    struct testbed_side other[2];          /* of h2 and h3, connected to each other */
    size_t used_bytes;
};

/* Restores the lab number @which, modulo PV_LABS, and returns it.  The first call makes all. */
struct pv_lab *pv_lab_begin(unsigned which);

/* Checks what must hold for every input. */
void pv_lab_end(const struct pv_lab *h);

/* A number that is likely to be an address in the zone, a border, or small. */
uint64_t pv_lab_number(const struct pv_lab *h, struct input *in);

/* Writes to RAM of h1; addresses outside RAM are ignored. */
void pv_lab_poke(const struct pv_lab *h, uint64_t gpa, const void *bytes, size_t n);

/* Writes a register, or a doorbell, of h1's device; reads a register. */
void pv_lab_out(const struct pv_lab *h, enum pv_reg reg, uint32_t value);
void pv_lab_doorbell(const struct pv_lab *h, uint32_t offset, uint32_t value);
uint32_t pv_lab_in(const struct pv_lab *h, enum pv_reg reg);

/* Writes command @cmd with the body @body of @n bytes into the slot, if the device has one, and
 * has it executed.
 */
void pv_lab_command(const struct pv_lab *h, uint32_t cmd, const uint8_t *body, size_t n);

/* Lets a time pass that the input chooses, but at most a fixed number of ticks. */
void pv_lab_wait(const struct pv_lab *h, struct input *in);

/* Posts work as a correct driver would.  It may fail, because the driver's state may be corrupted.
 */
void pv_lab_post(const struct pv_lab *h, struct input *in);

#endif
