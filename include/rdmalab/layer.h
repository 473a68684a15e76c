/* SPDX-License-Identifier: MIT */
/* The virtual layer: virtual RNICs over a pool of virtual functions, and the control centre.
 *
 * A guest with a virtual RNIC (rdl_host_config.vrnic) has no function of its machine.  When its
 * first object of the device is created, the layer takes a function out of the pool of the machine,
 * and maps the virtual RNIC to it; when the last object is gone, the function goes back.  Nothing
 * of the layer is in the way of work requests, frames and completions.
 *
 * The addresses of such a guest are virtual: they stay, whichever function it has.  The control
 * centre knows which address on the wire each has at present.  The layer replaces them once: when a
 * queue pair moves to RTR, and when an address handle is created.
 *
 * The centre has groups.  Guests of one group may connect, guests of two only if a rule allows it.
 * Addresses of hosts without a virtual RNIC are not the centre's.  [decision 0069]
 */
#ifndef RDMALAB_LAYER_H
#define RDMALAB_LAYER_H

#include "rdmalab/lab.h"

#define RDL_GROUPS_MAX    64u /* groups are numbered from 1 */
#define RDL_VRNIC_VFS_MAX 8u  /* most functions of one virtual RNIC */

/* Time that a request waits for a function: default and maximum. */
#define RDL_POOL_WAIT_NS     UINT64_C(1000000000)
#define RDL_POOL_WAIT_MAX_NS UINT64_C(100000000000)

/* Allows or forbids connections between the groups @a and @b.  If they are forbidden, queue pairs
 * of virtual RNICs that are connected so move to ERR, with the asynchronous event QP_FATAL.
 *
 * Return: RDL_OK
 *	   RDL_ERR_INVAL  a group is not 1 .. RDL_GROUPS_MAX, or @a is @b
 */
RDL_MUST_CHECK enum rdl_status rdl_centre_rule(struct rdl_lab *lab, uint32_t a, uint32_t b,
                                               bool allow);

/* Returns true if guests of the groups @a and @b may connect. */
bool rdl_centre_allows(const struct rdl_lab *lab, uint32_t a, uint32_t b);

/* Moves the virtual RNIC of @guest, which has no object, to @machine: its next function is one of
 * that machine, with other addresses on the wire.  Its virtual addresses stay.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STALE      there is no such host
 *	   RDL_ERR_INVAL      @guest has no virtual RNIC
 *	   RDL_ERR_NOT_FOUND  @machine is no machine
 *	   RDL_ERR_BUSY       the virtual RNIC has objects
 */
RDL_MUST_CHECK enum rdl_status rdl_vrnic_move(struct rdl_lab *lab, rdl_host guest,
                                              rdl_host machine);

/* As rdl_host_address(), but with the address that frames of @host have: it differs if @host has a
 * virtual RNIC.  It is that of the function that queue pair @qpn of @host is on; 0: of its first
 * function.
 *
 * Return: RDL_OK, RDL_ERR_STALE, RDL_ERR_INVAL as there
 *	   RDL_ERR_STATE  the virtual RNIC has no function, and therefore no address on the wire
 */
RDL_MUST_CHECK enum rdl_status rdl_wire_address(const struct rdl_lab *lab, rdl_host host,
                                                uint32_t qpn, uint32_t index, uint8_t ret_gid[16],
                                                uint8_t ret_mac[6]);

/* Sets @ret_gid and @ret_mac to the address by which @from reaches @to: that on the wire, unless
 * @from has a virtual RNIC itself, whose layer replaces virtual addresses.  Returns as
 * rdl_wire_address().
 */
RDL_MUST_CHECK enum rdl_status rdl_peer_address(const struct rdl_lab *lab, rdl_host from,
                                                rdl_host to, uint32_t qpn, uint32_t index,
                                                uint8_t ret_gid[16], uint8_t ret_mac[6]);

#endif
