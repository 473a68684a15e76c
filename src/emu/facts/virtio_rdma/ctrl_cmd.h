/* SPDX-License-Identifier: MIT */
/* The commands of the control queue.  controls.def has a row for each command. */
#ifndef EMU_FACTS_VIRTIO_RDMA_CTRL_CMD_H
#define EMU_FACTS_VIRTIO_RDMA_CTRL_CMD_H

enum ctrl_cmd {
#define CONTROL(nm, name, number, ...) CMD_##nm = (number),
#include "emu/facts/controls.def"
#undef CONTROL
};

#endif
