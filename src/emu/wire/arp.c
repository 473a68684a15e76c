/* SPDX-License-Identifier: MIT */
#include "emu/wire/arp.h"

#include "emu/base/assert.h"
#include "emu/wire/eth.h"

#define HARDWARE_ETHERNET 1u
#define IPV4_ADDR_BYTES   4u
#define OPERATION_REQUEST 1u
#define OPERATION_REPLY   2u

/* byte 0-1: hardware type | 2-3: protocol type | 4: length of a MAC | 5: length of an address
 * byte 6-7: operation | 8-13: sender MAC | 14-17: sender | 18-23: target MAC | 24-27: target
 */
enum drop_reason arp_parse(struct arp *out, struct rd_cur *in)
{
    const uint16_t hardware = (uint16_t)rd_be(in, 2);
    const uint16_t protocol = (uint16_t)rd_be(in, 2);
    const uint8_t mac_bytes = (uint8_t)rd_be(in, 1);
    const uint8_t addr_bytes = (uint8_t)rd_be(in, 1);
    const uint16_t operation = (uint16_t)rd_be(in, 2);
    struct arp h = {.reply = operation == OPERATION_REPLY};
    uint8_t sender[IPV4_ADDR_BYTES], target[IPV4_ADDR_BYTES];

    rd_bytes(in, h.sender_mac, MAC_BYTES);
    rd_bytes(in, sender, sizeof(sender));
    rd_bytes(in, h.target_mac, MAC_BYTES);
    rd_bytes(in, target, sizeof(target));
    if (in->bad || hardware != HARDWARE_ETHERNET || protocol != ETHERTYPE_IPV4 ||
        mac_bytes != MAC_BYTES || addr_bytes != IPV4_ADDR_BYTES)
        return DROP_BAD_ARP;
    if ((operation != OPERATION_REQUEST && operation != OPERATION_REPLY) ||
        (h.sender_mac[0] & MAC_GROUP_BIT))
        return DROP_BAD_ARP;
    gid_from_ipv4(h.sender, sender);
    gid_from_ipv4(h.target, target);
    *out = h;
    return DROP_NONE;
}

void arp_build(const struct arp *h, struct wr_cur *out)
{
    RDL_ASSERT(gid_is_ipv4(h->sender) && gid_is_ipv4(h->target));
    wr_be(out, 2, HARDWARE_ETHERNET);
    wr_be(out, 2, ETHERTYPE_IPV4);
    wr_be(out, 1, MAC_BYTES);
    wr_be(out, 1, IPV4_ADDR_BYTES);
    wr_be(out, 2, h->reply ? OPERATION_REPLY : OPERATION_REQUEST);
    wr_bytes(out, h->sender_mac, MAC_BYTES);
    wr_bytes(out, h->sender + GID_IPV4_AT, IPV4_ADDR_BYTES);
    wr_bytes(out, h->target_mac, MAC_BYTES);
    wr_bytes(out, h->target + GID_IPV4_AT, IPV4_ADDR_BYTES);
}
