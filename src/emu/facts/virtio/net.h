/* SPDX-License-Identifier: MIT */
/* Constants of virtio-net without offloads, which its driver and its device share.
 * [virtio 1.2, 5.1]
 */
#ifndef EMU_FACTS_VIRTIO_NET_H
#define EMU_FACTS_VIRTIO_NET_H

/* Numbers of the virtqueues, and the number of virtqueues.  [virtio 1.2, 5.1.2] */
#define NET_QUEUE_RX 0u
#define NET_QUEUE_TX 1u
#define NET_QUEUES   2u

/* Offsets of fields in struct virtio_net_config, and its size.  [virtio 1.2, 5.1.4] */
#define NET_CONFIG_MAC    0u
#define NET_CONFIG_STATUS 6u  /* le16 */
#define NET_CONFIG_PAIRS  8u  /* le16: max_virtqueue_pairs */
#define NET_CONFIG_MTU    10u /* le16 */
#define NET_CONFIG_BYTES  12u

#define NET_STATUS_LINK_UP 1u

/* Offsets of fields in struct virtio_net_hdr, which precedes every frame, and its size: u8 flags,
 * u8 gso_type, le16 hdr_len, gso_size, csum_start, csum_offset, num_buffers.  Without offloads all
 * fields except num_buffers are 0.  [virtio 1.2, 5.1.6]
 */
#define NET_HDR_FLAGS       0u
#define NET_HDR_GSO_TYPE    1u
#define NET_HDR_NUM_BUFFERS 10u /* le16; received frame: number of buffers that it fills */
#define NET_HDR_BYTES       12u

#endif
