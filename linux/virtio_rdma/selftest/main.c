// SPDX-License-Identifier: GPL-2.0
/*
 * A test of the driver virtio_rdma, by verbs of the kernel alone.
 *
 * Loading the module runs the test on the RDMA device of the interface
 * @netdev; loading fails if a case fails. With @peer, the address of another
 * host, and the number of a queue pair that waits there, the cases of one
 * connection run against that host: it needs 64 KiB of memory at @peer_addr
 * with the key @peer_key, and must send back nothing. Without a peer, both
 * ends are queue pairs of this device, and all cases run.
 */
#include "selftest.h"

#include <linux/inet.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <net/arp.h>
#include <rdma/ib_cache.h>

static char *netdev = "eth0";
module_param(netdev, charp, 0444);
MODULE_PARM_DESC(netdev, "interface whose RDMA device is tested (eth0)");
static char *peer;
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "IPv4 address of another host (none: this device)");
static uint peer_qpn, peer_key;
module_param(peer_qpn, uint, 0444);
MODULE_PARM_DESC(peer_qpn, "its queue pair");
module_param(peer_key, uint, 0444);
MODULE_PARM_DESC(peer_key, "rkey of its memory");
static unsigned long peer_addr;
module_param(peer_addr, ulong, 0444);
MODULE_PARM_DESC(peer_addr, "address of its memory");
static uint rounds = 20;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "how often objects are created and destroyed (20)");
static uint cases_max = UINT_MAX;
module_param(cases_max, uint, 0444);
MODULE_PARM_DESC(cases_max, "how many cases are run (all)");
static uint wait_ms = 10000;
module_param(wait_ms, uint, 0444);
MODULE_PARM_DESC(wait_ms, "milliseconds that a completion may take (10000)");

/* Finds the GID of an IPv4 address. */
static int find_gid(struct test *t)
{
	unsigned int i;

	for (i = 0; i < 16; i++) {
		const struct ib_gid_attr *gid = rdma_get_gid_attr(t->ib, 1, i);

		if (IS_ERR(gid))
			continue;
		if (ipv6_addr_v4mapped((struct in6_addr *)&gid->gid)) {
			t->gid = gid;
			return 0;
		}
		rdma_put_gid_attr(gid);
	}
	pr_err("there is no GID of an IPv4 address\n");
	return -EADDRNOTAVAIL;
}

/* Finds the address of the other end: consumers in the kernel bring its MAC. */
static int find_peer(struct test *t, struct net_device *ndev)
{
	struct neighbour *n;
	__be32 address;

	if (!peer) {
		t->dgid = t->gid->gid;
		memcpy(t->dmac, ndev->dev_addr, ETH_ALEN);
		return 0;
	}
	address = in_aton(peer);
	ipv6_addr_set_v4mapped(address, (struct in6_addr *)&t->dgid);
	n = neigh_lookup(&arp_tbl, &address, ndev);
	if (!n) {
		pr_err("no neighbour %s: ping it first\n", peer);
		return -EHOSTUNREACH;
	}
	neigh_ha_snapshot(t->dmac, n, ndev);
	neigh_release(n);
	return 0;
}

static int set_up(struct test *t)
{
	int err;

	t->name = "set up";
	t->dma = ib_dma_map_single(t->ib, t->buffer, BUFFER, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(t->ib, t->dma))
		return -ENOMEM;
	t->pd = ib_alloc_pd(t->ib, 0);
	if (IS_ERR(t->pd)) {
		err = PTR_ERR(t->pd);
		t->pd = NULL;
		return err;
	}
	if (peer) {
		t->remote_addr = peer_addr;
		t->rkey = peer_key;
		return open_end(t, &t->a, IB_QPT_RC, NULL) ?: connect_end(t, &t->a, peer_qpn);
	}
	err = open_pair(t, IB_QPT_RC, NULL);
	if (err)
		return err;
	t->mr = ib_alloc_mr(t->pd, IB_MR_TYPE_MEM_REG, HALF / PAGE_SIZE);
	if (IS_ERR(t->mr)) {
		err = PTR_ERR(t->mr);
		t->mr = NULL;
		return err;
	}
	err = fast_register(t, &t->b, t->mr, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			    IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC);
	t->remote_addr = t->mr->iova;
	t->rkey = t->mr->rkey;
	return err;
}

static void tear_down(struct test *t)
{
	close_pair(t);
	if (t->mr)
		ib_dereg_mr(t->mr);
	if (t->pd)
		ib_dealloc_pd(t->pd);
	if (!ib_dma_mapping_error(t->ib, t->dma))
		ib_dma_unmap_single(t->ib, t->dma, BUFFER, DMA_BIDIRECTIONAL);
}

static int run_all(struct test *t)
{
	int err = set_up(t), failed = 0;
	unsigned int i;

	if (err)
		pr_err("set up: FAILED: %d\n", err);
	for (i = 0; i < min(selftest_n_cases, cases_max) && !err; i++) {
		const struct selftest_case *c = &selftest_cases[i];

		if (c->both_ends && peer)
			continue;
		t->name = c->name;
		if (c->run(t)) {
			pr_err("%s: FAILED\n", t->name);
			failed++;
			break; /* the connection is of no use any more */
		}
		pr_info("%s: ok\n", t->name);
	}
	tear_down(t);
	return err ?: failed ? -EIO : 0;
}

static int __init selftest_init(void)
{
	struct net_device *ndev = dev_get_by_name(&init_net, netdev);
	struct test *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int err = -ENODEV;

	if (!ndev)
		pr_err("there is no interface %s\n", netdev);
	if (!ndev || !t)
		goto free;
	t->rounds = rounds;
	t->wait = max(msecs_to_jiffies(wait_ms), 1UL);
	t->ib = ib_device_get_by_netdev(ndev, RDMA_DRIVER_UNKNOWN);
	if (!t->ib) {
		pr_err("%s has no RDMA device\n", netdev);
		goto free;
	}
	err = find_gid(t);
	if (err)
		goto put;
	err = find_peer(t, ndev);
	t->buffer = (u8 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, get_order(BUFFER));
	if (!err)
		err = t->buffer ? run_all(t) : -ENOMEM;
	free_pages((unsigned long)t->buffer, get_order(BUFFER));
	rdma_put_gid_attr(t->gid);
put:
	ib_device_put(t->ib);
free:
	kfree(t);
	dev_put(ndev);
	return err;
}

static void __exit selftest_exit(void)
{
}

module_init(selftest_init);
module_exit(selftest_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Test of the driver virtio_rdma");
