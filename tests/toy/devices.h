/* SPDX-License-Identifier: MIT */
#ifndef TESTS_TOY_DEVICES_H
#define TESTS_TOY_DEVICES_H

#include "emu/guest/machine/rdma_driver.h"
#include "emu/rnic/rdma_device_init.h"

rdma_device_init toy_new;
extern const struct rdma_driver toy_driver;

#endif
