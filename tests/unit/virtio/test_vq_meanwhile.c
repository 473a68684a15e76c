/* SPDX-License-Identifier: MIT */
/* A device and a driver that run concurrently on foreign RAM, as with a virtual machine.  The
 * driver notifies only when it must, so a lost notification makes the device wait for ever.  Two
 * chains are returned at once, so the driver never sees the first without the second.
 */
#define _GNU_SOURCE /* for mmap */ /* NOLINT(bugprone-reserved-identifier): glibc's own name */
#include "testing.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "emu/base/cursor.h"
#include "emu/virtio/vq_device.h"

#define PAGES   4u
#define USED_AT 0x1000u /* what the device writes has a page of its own */
#define BUFFERS 0x2000u
#define SIZE    4u
#define RUN_MS  200u
#define LOST_MS 20000u /* so late is never, even on a machine that is busy */

struct fixture {
    uint8_t *memory;
    struct arena *arena;
    struct ram ram;
    struct vq vq;
    atomic_bool kicked, failed;
    _Atomic uint32_t n_all; /* chains that are offered, when no more come */
};

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* --- The driver ------------------------------------------------------------------------------- */

static uint16_t load(struct fixture *f, uint64_t gpa)
{
    return __atomic_load_n((uint16_t *)(void *)(f->memory + gpa), __ATOMIC_ACQUIRE);
}

static void store(struct fixture *f, uint64_t gpa, unsigned v)
{
    __atomic_store_n((uint16_t *)(void *)(f->memory + gpa), (uint16_t)v, __ATOMIC_RELEASE);
}

static void write_desc(struct fixture *f, uint32_t i, uint16_t id)
{
    uint8_t *d = f->memory + vring_desc_at(&f->vq.ring, i);

    st_le64(d, BUFFERS + 64 * i);
    st_le32(d + 8, 64);
    if (f->vq.ring.packed)
        st_le16(d + 12, id);
    else
        st_le16(d + 12, VRING_WRITE);
}

/* Chain number @n, from 0, and a notification if that is asked for. */
static void offer(struct fixture *f, uint32_t n)
{
    const struct vring *r = &f->vq.ring;
    const struct vring_pos at = {(uint16_t)(n % SIZE), n / SIZE % 2 == 0};
    bool wanted;

    write_desc(f, n % SIZE, (uint16_t)(n % SIZE));
    if (r->packed) {
        store(f, vring_desc_at(r, at.at) + 14,
              VRING_WRITE | (at.wrap ? VRING_PACKED_AVAIL : VRING_PACKED_USED));
        atomic_thread_fence(memory_order_seq_cst);
        wanted = vring_packed_passed(vring_event_pos(load(f, r->used)),
                                     vring_pos_after(at, 1, SIZE), 1, SIZE);
    } else {
        store(f, vring_avail_entry_at(r, (uint16_t)n), n % SIZE);
        store(f, vring_avail_idx_at(r), n + 1);
        atomic_thread_fence(memory_order_seq_cst);
        wanted = vring_need_event(load(f, vring_avail_event_at(r)), (uint16_t)(n + 1), (uint16_t)n);
    }
    if (wanted)
        atomic_store(&f->kicked, true);
}

/* Returns true if chain @n has come back. */
static bool is_back(struct fixture *f, uint32_t n)
{
    const struct vring *r = &f->vq.ring;
    const struct vring_pos at = {(uint16_t)(n % SIZE), n / SIZE % 2 == 0};
    const unsigned both = VRING_PACKED_AVAIL | VRING_PACKED_USED;

    if (r->packed)
        return (load(f, vring_desc_at(r, at.at) + 14) & both) == (at.wrap ? both : 0);
    return (uint16_t)(load(f, vring_used_idx_at(r)) - n) - 1u < SIZE;
}

/* What the device said of it: its bytes tell it from the one that was there before. */
static bool is_right(struct fixture *f, uint32_t n)
{
    const struct vring *r = &f->vq.ring;
    const uint8_t *at = f->memory + (r->packed ? vring_desc_at(r, n % SIZE) + 8
                                               : vring_used_entry_at(r, (uint16_t)n) + 4);
    const uint8_t *id = r->packed ? at + 4 : at - 4;

    return ld_le32(at) == 1 + n % 1000 && ld_le16(id) == n % SIZE;
}

static void *drive(void *arg)
{
    const uint64_t end = now_ms() + RUN_MS;
    struct fixture *f = arg;
    uint32_t n = 0;

    for (; now_ms() < end && !atomic_load(&f->failed); n += 2) {
        offer(f, n);
        offer(f, n + 1);
        while (!is_back(f, n) && !atomic_load(&f->failed))
            sched_yield();
        if (!is_back(f, n + 1) || !is_right(f, n) || !is_right(f, n + 1))
            atomic_store(&f->failed, true);
    }
    atomic_store(&f->n_all, n);
    atomic_store(&f->kicked, true);
    return NULL;
}

/* --- The device ------------------------------------------------------------------------------- */

static void await_kick(struct fixture *f)
{
    const uint64_t end = now_ms() + LOST_MS;

    while (!atomic_exchange(&f->kicked, false)) {
        if (now_ms() > end)
            atomic_store(&f->failed, true);
        if (atomic_load(&f->failed))
            return;
        sched_yield();
    }
}

static void serve(struct fixture *f)
{
    struct vq_used used[2];
    struct vq_chain c;
    uint32_t n = 0;

    while (n < atomic_load(&f->n_all) && !atomic_load(&f->failed)) {
        const enum vq_pop got = vq_pop(&f->vq, &f->ram, &c);

        if (got == VQ_EMPTY) {
            await_kick(f);
            continue;
        }
        if (got == VQ_BROKEN || c.head != n % SIZE) {
            atomic_store(&f->failed, true);
            break;
        }
        used[n % 2] = (struct vq_used){c.head, 1 + n % 1000};
        if (n++ % 2 == 1 && !vq_push_all(&f->vq, &f->ram, used, 2))
            atomic_store(&f->failed, true);
    }
}

static void start(struct fixture *f, bool packed)
{
    struct ram_region all = {0, PAGES * RAM_PAGE_BYTES, NULL, true};

    f->memory = mmap(NULL, all.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(f->memory != MAP_FAILED);
    all.at = f->memory;
    f->arena = arena_new((size_t)1 << 30);
    assert_true(ram_init_foreign(&f->ram, f->arena));
    ram_map(&f->ram, &all, 1);
    f->vq = (struct vq){.enabled = true, .event_idx = true};
    f->vq.ring = vring_place(0, SIZE, packed);
    f->vq.ring.used = USED_AT;
    assert_true(vq_set_up(&f->vq, f->arena));
    vq_started(&f->vq, &f->ram);
    atomic_store(&f->n_all, UINT32_MAX);
}

static void end(struct fixture *f)
{
    vq_done(&f->vq, f->arena);
    arena_free(f->arena);
    munmap(f->memory, PAGES * RAM_PAGE_BYTES);
    test_free(f);
}

static void no_notification_is_lost(bool packed)
{
    struct fixture *f = test_calloc(1, sizeof(*f));
    pthread_t driver;

    start(f, packed);
    assert_int_equal(pthread_create(&driver, NULL, drive, f), 0);
    serve(f);
    assert_int_equal(pthread_join(driver, NULL), 0);
    assert_false(atomic_load(&f->failed));
    assert_true(atomic_load(&f->n_all) > 0);
    end(f);
}

static void split_rings_lose_no_notification(void **state)
{
    (void)state;
    no_notification_is_lost(false);
}

static void packed_rings_lose_no_notification(void **state)
{
    (void)state;
    no_notification_is_lost(true);
}

static struct fixture *interrupted;

/* The device is about to write where it wants to be notified.  Before it can, there is a chain. */
static void on_write(int signal)
{
    (void)signal;
    offer(interrupted, 1);
    (void)mprotect(interrupted->memory + USED_AT, RAM_PAGE_BYTES, PROT_READ | PROT_WRITE);
}

/* The driver looked too early to know that it shall notify, so the device has to look again. */
static void a_chain_that_comes_while_the_device_asks_is_seen(void **state)
{
    const struct sigaction trap = {.sa_handler = on_write};
    struct sigaction before;
    struct vq_chain c;

    (void)state;
    for (unsigned packed = 0; packed < 2; packed++) {
        struct fixture *f = interrupted = test_calloc(1, sizeof(*f));

        start(f, packed);
        offer(f, 0);
        assert_int_equal(vq_pop(&f->vq, &f->ram, &c), VQ_GOT);
        atomic_store(&f->kicked, false);
        assert_int_equal(sigaction(SIGSEGV, &trap, &before), 0);
        assert_int_equal(mprotect(f->memory + USED_AT, RAM_PAGE_BYTES, PROT_READ), 0);
        assert_int_equal(vq_pop(&f->vq, &f->ram, &c), VQ_GOT);
        assert_int_equal(sigaction(SIGSEGV, &before, NULL), 0);
        assert_int_equal(c.head, 1);
        assert_false(atomic_load(&f->kicked));
        assert_int_equal(vq_pop(&f->vq, &f->ram, &c), VQ_EMPTY);
        end(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_that_comes_while_the_device_asks_is_seen),
        cmocka_unit_test(split_rings_lose_no_notification),
        cmocka_unit_test(packed_rings_lose_no_notification)};

    return cmocka_run_group_tests_name("vq_meanwhile", tests, NULL, NULL);
}
