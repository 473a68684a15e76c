/* SPDX-License-Identifier: MIT */
#ifndef TESTS_TOY_DEVICES_H
#define TESTS_TOY_DEVICES_H

#include "emu/device/rdma_device_new.h"
#include "emu/guest/machine/rdma_driver.h"

rdma_device_init toy_new;
extern const struct rdma_driver toy_driver;

#endif
