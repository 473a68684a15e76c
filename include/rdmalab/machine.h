/* SPDX-License-Identifier: MIT */
/* Machines: hosts whose adapter several guests share.
 *
 * rdl_host_config.vfs makes a host a *machine*.  Its adapter has one Ethernet port, the physical
 * function (PF) that the machine itself drives, and up to @vfs virtual functions (VFs), which
 * guests use.  An embedded switch joins them: it passes frames between the functions, and to and
 * from the cable.  rdl_host_config.on and .vf give a host the port of a VF: it is a *guest* of the
 * machine, and in all else a host like any other.  rdl_host_config.shared gives it a share of the
 * machine's own port instead.  [decisions 0066 and 0070]
 *
 * With rdl_host_config.shortcut messages of connections (RC and UC) between functions of the
 * machine are copied from one guest's memory into the other's: by the rules of the transport, but
 * without frames, so that faults of frames and captures do not meet them.  [decision 0074]
 */
#ifndef RDMALAB_MACHINE_H
#define RDMALAB_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmalab/lab.h"

/* Unit of `ip link` for rates, in bit/s. */
#define RDL_VF_RATE_UNIT UINT64_C(1000000)

/* Settings of a virtual function by its machine's administrator: `ip link set DEV vf N ...`. */
struct rdl_vf_settings {
    uint8_t mac[6];      /* its MAC; all 0: that of its guest */
    uint32_t state;      /* enum vf_state */
    uint64_t max_tx_bps; /* most that it sends, in bit/s; 0: no limit */
    uint64_t min_tx_bps; /* rate in bit/s up to which it goes first; 0: no guarantee */
    uint32_t vlan;       /* VLAN of its tags, see rdl_host_config.vlan; 0: its guest's */
    uint32_t qos;        /* priority in these tags */
    bool spoofchk;       /* frames with another source MAC are dropped */
    bool trust;          /* its guest may choose a MAC other than @mac */
};

/* Reads or changes the settings of virtual function @vf of @machine.  A new VF has spoofchk, and
 * nothing else.
 *
 * Return: RDL_OK
 *	   RDL_ERR_STALE      there is no such host
 *	   RDL_ERR_NOT_FOUND  the host is no machine, or has no such VF
 *	   RDL_ERR_INVAL      a MAC is of a group, a state is unknown, the maximum is below the
 *	                      minimum, a VLAN or a priority does not exist
 *	   RDL_ERR_LIMIT      the cable does not carry the guarantees of all VFs.  Only a larger
 *	                      @min_tx_bps is refused for that; a slower cable changes no setting
 */
RDL_MUST_CHECK enum rdl_status rdl_vf_get(const struct rdl_lab *lab, rdl_host machine, uint32_t vf,
                                          struct rdl_vf_settings *ret);
RDL_MUST_CHECK enum rdl_status rdl_vf_set(struct rdl_lab *lab, rdl_host machine, uint32_t vf,
                                          const struct rdl_vf_settings *to);

#endif
