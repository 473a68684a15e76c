/* SPDX-License-Identifier: MIT */
/* `rdmalab bench control`: what the control path costs at one end of a connection, for an ordinary
 * host, for a guest with a virtual function, and for a guest with a virtual RNIC.
 *
 * Everything is counted, nothing is timed by a clock: the same program prints the same numbers on
 * every machine.
 */
#ifndef BENCH_BENCH_CONTROL_H
#define BENCH_BENCH_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "rdmalab/lab.h"

/* STEP(NAME, text): the steps, in the order in which they are carried out. */
#define CONTROL_STEPS(STEP)                                                                        \
    STEP(PD, "alloc_pd")                                                                           \
    STEP(MR, "reg_mr")                                                                             \
    STEP(CQ, "create_cq")                                                                          \
    STEP(QP, "create_qp")                                                                          \
    STEP(AH, "create_ah")                                                                          \
    STEP(INIT, "modify_qp INIT")                                                                   \
    STEP(RTR, "modify_qp RTR")                                                                     \
    STEP(RTS, "modify_qp RTS")                                                                     \
    STEP(CM, "rdma_cm connection")                                                                 \
    STEP(CM_END, "its end")                                                                        \
    STEP(END, "destroy the rest")

enum control_step {
#define STEP(name, text) CONTROL_##name,
    CONTROL_STEPS(STEP)
#undef STEP
        CONTROL_STEP_COUNT
};

/* The place of the end. */
enum control_place { PLACE_HOST, PLACE_FUNCTION, PLACE_VRNIC, CONTROL_PLACES };

/* The costs of a step at this end. */
struct control_cost {
    uint64_t requests; /* that the device has executed */
    uint64_t accesses; /* of registers of the device, reads and writes */
    uint64_t maps;     /* times that the map unit has mapped a function, or taken it back */
    uint64_t lookups;  /* addresses that the control centre was asked for */
    uint64_t ns;       /* simulated time */
};

/* Carries out the steps on devices of type @device (enum device_type). */
RDL_MUST_CHECK enum rdl_status control_measure(uint32_t device, enum control_place place,
                                               struct control_cost ret[CONTROL_STEP_COUNT]);

/* Measures all places on both devices and prints the results: as JSON if @json, otherwise as text.
 * Returns 0, or 1 if a lab failed; then it has printed the reason.
 */
int bench_control(bool json);

#endif
