// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("test of virtio-rdma");
