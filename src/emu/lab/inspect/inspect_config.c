/* SPDX-License-Identifier: MIT */
/* Inspect tree: the device configuration, decoded as a driver decodes it. */
#include <string.h>

#include "emu/base/cursor.h"
#include "emu/facts/rfc.h"
#include "emu/lab/inspect/inspect_nodes.h"
#include "emu/virtio/pci.h"

static void say_guid(struct visit *v, const uint8_t guid[8])
{
    char buf[24];
    struct text t = text_on(buf, sizeof(buf));

    for (unsigned i = 0; i < 8; i += 2)
        text_addf(&t, "%s%02x%02x", i ? ":" : "", guid[i], guid[i + 1]);
    inspect_text(v, LEAF_config_sys_image_guid, buf);
}

void visit_config(const struct inode *n, struct visit *v)
{
    struct rfc_config c;

    rfc_config_get(&c, (const struct raw_config *)host_virtio(n->host, FN_RDMA)->device_config);
#define SAY_NUMBER(f)                inspect_leaf(v, LEAF_config_##f, c.f);
#define SAY_HEX(f)                   inspect_leaf(v, LEAF_config_##f, c.f);
#define SAY_TEXT(f)                  say_guid(v, c.f);
#define CONFIG(f, form, means, kept) SAY_##form(f)
#include "emu/facts/virtio_rdma/config.def"
#undef CONFIG
}
