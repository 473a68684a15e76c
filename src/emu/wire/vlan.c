/* SPDX-License-Identifier: MIT */
#include "emu/wire/vlan.h"

#include <string.h>

#include "emu/base/assert.h"

size_t vlan_push(uint8_t *frame, size_t len, uint16_t tci)
{
    RDL_ASSERT(len >= ETH_BYTES);
    memmove(frame + ETH_ETHERTYPE_AT + VLAN_TAG_BYTES, frame + ETH_ETHERTYPE_AT,
            len - ETH_ETHERTYPE_AT);
    st_be16(frame + ETH_ETHERTYPE_AT, ETHERTYPE_VLAN);
    st_be16(frame + VLAN_TCI_AT, tci);
    return len + VLAN_TAG_BYTES;
}

size_t vlan_pop(uint8_t *frame, size_t len)
{
    RDL_ASSERT(vlan_is_tagged(frame, len));
    len -= VLAN_TAG_BYTES;
    memmove(frame + ETH_ETHERTYPE_AT, frame + ETH_ETHERTYPE_AT + VLAN_TAG_BYTES,
            len - ETH_ETHERTYPE_AT);
    return len;
}
