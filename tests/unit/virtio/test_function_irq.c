/* SPDX-License-Identifier: MIT */
/* The PCI function: MSI-X, INTx, bus mastering. */
#include "function_rig.h"

#include "emu/base/prng.h"

static void a_vector_that_is_masked_is_pending_until_it_is_not(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    vector_put(f, 33, MSIX_ADDRESS, MSI_ADDRESS | 3);
    vector_put(f, 33, MSIX_ADDRESS_HIGH, 1);
    vector_put(f, 33, MSIX_DATA, 0x55);
    fn_raise(&f->dev.fn, 33, 4);
    fn_raise(&f->dev.fn, 33, 2);
    assert_int_equal(f->events[EV_irq_held], 2);
    assert_int_equal(f->last.u.irq_held.by, HELD_VECTOR);
    run(f);
    assert_int_equal(f->n_irq, 0);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0x800, 8), (uint64_t)1 << 33);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0x804, 4), 2);

    vector_put(f, 33, MSIX_CONTROL, 0);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0x804, 4), 0);
    run(f);
    assert_int_equal(f->n_irq, 1); /* one, however often it was raised */
    assert_true(f->message.address == (((uint64_t)1 << 32) | MSI_ADDRESS));
    assert_int_equal(f->message.data, 0x55);
    assert_int_equal(f->irq.vector, 33);
    assert_int_equal(f->irq.queue, 2);
}

static void the_mask_of_the_function_holds_all_vectors(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    use_vector(f, 0);
    use_vector(f, 1);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE | MSIX_FUNCTION_MASK);
    fn_raise(&f->dev.fn, 0, 0);
    fn_raise(&f->dev.fn, 1, VIRTIO_IRQ_CONFIG);
    assert_int_equal(f->last.u.irq_held.by, HELD_FUNCTION);
    vector_put(f, 0, MSIX_CONTROL, 1);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    run(f);
    assert_int_equal(f->n_irq, 1); /* the other is masked itself */
    assert_int_equal(f->irq.queue, VIRTIO_IRQ_CONFIG);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0x800, 4), 1);
}

static void without_bus_mastering_no_message_leaves(void **state)
{
    struct fixture *f = *state;

    use_vector(f, 5);
    fn_raise(&f->dev.fn, 5, 1);
    assert_int_equal(f->last.u.irq_held.by, HELD_BUS_MASTER);
    run(f);
    assert_int_equal(f->n_irq, 0);
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    run(f);
    assert_int_equal(f->n_irq, 1);
    assert_int_equal(f->message.data, 0x45);
}

/* What cannot be sent is a bit, so that it takes no memory however long that lasts. */
static void what_is_held_for_long_is_one_bit(void **state)
{
    struct fixture *f = *state;
    size_t bytes;

    use_vector(f, 5);
    fn_raise(&f->dev.fn, 5, 1);
    bytes = arena_live_bytes(f->dev.fn.arena);
    for (uint32_t i = 0; i < 100000; i++)
        fn_raise(&f->dev.fn, 5, 1);
    assert_int_equal(f->dev.fn.n_pending, 1);
    assert_int_equal(f->dev.fn.sent_cap, 0);
    assert_int_equal(arena_live_bytes(f->dev.fn.arena), bytes);
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    run(f);
    assert_int_equal(f->n_irq, 1);
    assert_int_equal(f->dev.fn.n_pending, 0);
}

/* A device that was reset has nothing to say [virtio 1.2, 2.4], but its vectors are the bus's. */
static void a_reset_of_the_device_forgets_what_is_pending(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    use_vector(f, 5);
    fn_raise(&f->dev.fn, 5, 1); /* on its way */
    vector_put(f, 5, MSIX_CONTROL, 1);
    fn_raise(&f->dev.fn, 5, 1); /* held */
    fn_bar_write(&f->dev.fn, VIRTIO_BAR, BAR_COMMON + REG_DEVICE_STATUS, 1, 0);
    assert_int_equal(f->dev.fn.n_pending, 0);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0x800, 4), 0);
    vector_put(f, 5, MSIX_CONTROL, 0);
    run(f);
    assert_int_equal(f->n_irq, 1);
    assert_int_equal(f->message.data, 0x45);
    fn_raise(&f->dev.fn, 5, 1);
    run(f);
    assert_int_equal(f->n_irq, 2);
}

/* Each message is what the table said when it was raised, also if many are on their way. */
static void a_message_on_its_way_does_not_change(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    use_vector(f, 7);
    for (uint32_t i = 0; i < 100; i++) {
        vector_put(f, 7, MSIX_DATA, i);
        fn_raise(&f->dev.fn, 7, 0);
    }
    vector_put(f, 7, MSIX_CONTROL, 1);
    for (uint32_t i = 0; i < 100; i++) {
        sim_dispatch(&f->rig.sim);
        assert_int_equal(f->n_irq, i + 1);
        assert_int_equal(f->message.data, i);
    }
    const uint32_t places = f->dev.fn.sent_cap;

    vector_put(f, 7, MSIX_CONTROL, 0);
    for (uint32_t i = 0; i < 1000; i++) { /* their places are used again */
        fn_raise(&f->dev.fn, 7, 0);
        sim_dispatch(&f->rig.sim);
    }
    assert_int_equal(f->dev.fn.sent_cap, places);
}

static void a_vector_that_does_not_exist_is_silent(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    fn_raise(&f->dev.fn, N_VECTORS, 0);
    fn_raise(&f->dev.fn, VIRTIO_NO_VECTOR, 0);
    run(f);
    assert_int_equal(f->n_irq + f->events[EV_irq_held] + f->dev.isr, 0);
}

static void without_msix_the_line_is_high_until_the_isr_is_read(void **state)
{
    struct fixture *f = *state;

    fn_raise(&f->dev.fn, VIRTIO_NO_VECTOR, 1);
    fn_raise(&f->dev.fn, VIRTIO_NO_VECTOR, 2); /* it is high already */
    assert_true(fn_line_is_high(&f->dev.fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), 0x0018);
    run(f);
    assert_int_equal(f->n_line, 1);
    assert_true(fn_line_is_high(&f->dev.fn)); /* a level: nobody has asked why */
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR, BAR_ISR, 1), VIRTIO_ISR_QUEUE);
    assert_false(fn_line_is_high(&f->dev.fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), 0x0010);

    f->dev.status |= VS_DRIVER_OK;
    virtio_config_changed(&f->dev);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR, BAR_ISR, 1), VIRTIO_ISR_CONFIG);
    run(f);
    assert_int_equal(f->n_line, 1); /* it was low again when it arrived */
}

static void the_line_stays_low_while_it_is_disabled(void **state)
{
    struct fixture *f = *state;

    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_INTX_OFF);
    fn_raise(&f->dev.fn, VIRTIO_NO_VECTOR, 1);
    assert_false(fn_line_is_high(&f->dev.fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), 0x0018); /* the status does not care */
    run(f);
    assert_int_equal(f->n_line, 0);
    cfg_put(f, PCI_COMMAND, 2, 0);
    run(f);
    assert_int_equal(f->n_line, 1);
    cfg_put(f, PCI_MSIX_CONTROL, 2, MSIX_ENABLE);
    assert_false(fn_line_is_high(&f->dev.fn));
    assert_int_equal(cfg(f, PCI_STATUS, 2), 0x0010);
}

static void a_kick_without_bus_mastering_is_done_when_it_comes(void **state)
{
    struct fixture *f = *state;

    drive(f);
    assert_false(virtio_running(&f->dev));
    put_reg(f, (enum reg)(BAR_NOTIFY + 2 * NOTIFY_MULTIPLIER), 2, 2);
    put_reg(f, (enum reg)(BAR_NOTIFY + 2 * NOTIFY_MULTIPLIER), 2, 2);
    put_reg(f, (enum reg)(BAR_NOTIFY + 1 * NOTIFY_MULTIPLIER), 2, 1); /* not enabled */
    assert_int_equal(f->n_notify, 0);
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    assert_true(virtio_running(&f->dev));
    assert_int_equal(f->n_notify, 1);
    assert_int_equal(f->last_queue, 2);
    assert_int_equal(f->n_mastering, 1);
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    assert_int_equal(f->n_mastering, 1); /* it was on */

    cfg_put(f, PCI_COMMAND, 2, 0);
    put_reg(f, (enum reg)(BAR_NOTIFY + 2 * NOTIFY_MULTIPLIER), 2, 2);
    put_reg(f, REG_DEVICE_STATUS, 1, 0); /* forgets it */
    cfg_put(f, PCI_COMMAND, 2, PCI_CMD_MASTER);
    assert_int_equal(f->n_notify, 1);
}

static void the_msix_table_is_words_of_four_bytes(void **state)
{
    struct fixture *f = *state;

    assert_null(f->dev.fn.vectors); /* made at first use */
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, MSIX_CONTROL, 4), 1);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0, 8), 0);
    assert_null(f->dev.fn.vectors);
    fn_bar_write(&f->dev.fn, VIRTIO_BAR_MSIX, MSIX_ENTRY_BYTES, 8, 0x1122334455667788u);
    assert_non_null(f->dev.fn.vectors);
    assert_true(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, MSIX_ENTRY_BYTES, 8) ==
                0x1122334455667788u);
    fn_bar_write(&f->dev.fn, VIRTIO_BAR_MSIX, MSIX_ENTRY_BYTES, 2, 0xffff);
    fn_bar_write(&f->dev.fn, VIRTIO_BAR_MSIX, MSIX_ENTRY_BYTES + 2, 4, 0xffff);
    fn_bar_write(&f->dev.fn, VIRTIO_BAR_MSIX, N_VECTORS * MSIX_ENTRY_BYTES, 4, 0xffff);
    fn_bar_write(&f->dev.fn, VIRTIO_BAR_MSIX, 0x800, 4, 0xffff); /* pending bits are the device's */
    fn_bar_write(&f->dev.fn, 2, 0, 4, 0xffff);
    assert_true(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, MSIX_ENTRY_BYTES, 8) ==
                0x1122334455667788u);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, MSIX_ENTRY_BYTES, 1), 0);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0x800, 4), 0);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0xffc, 4), 0);
    assert_int_equal(fn_bar_read(&f->dev.fn, VIRTIO_BAR_MSIX, 0x7ffffff8, 8), 0);
    assert_int_equal(fn_bar_read(&f->dev.fn, 2, 0, 4), 0);
}

/* Whatever is accessed, the function keeps its invariants. */
static void random_accesses_leave_a_function_in_order(void **state)
{
    struct fixture *f = *state;
    struct prng rng = prng_stream(7, 7);

    for (uint32_t i = 0; i < 200000; i++) {
        const uint64_t r = prng_next(&rng);
        const uint32_t width = 1u << (r & 3), at = (uint32_t)(r >> 8);
        const uint32_t bar = (uint32_t)(r >> 4 & 1), value = (uint32_t)prng_next(&rng);

        switch (r >> 60 & 7) {
        case 0:
            cfg(f, at % 0x110, width);
            break;
        case 1:
        case 2:
            cfg_put(f, at % 0x110, width, value);
            break;
        case 3:
            fn_bar_read(&f->dev.fn, bar, at % 0x20000, width);
            break;
        case 4:
            fn_bar_write(&f->dev.fn, bar, at % 0x1000, width, value);
            break;
        case 5:
            fn_raise(&f->dev.fn, value % (N_VECTORS + 2), value >> 8 & 7);
            break;
        case 6:
            run(f);
            break;
        default:
            if (value % 4096 == 0)
                fn_reset(&f->dev.fn);
        }
        uint32_t n = 0;

        for (uint32_t k = 0; f->dev.fn.vectors && k < N_VECTORS; k++) {
            const struct fn_vector *v = &f->dev.fn.vectors[k];

            n += v->pending;
            if (v->pending && f->dev.fn.msix_enabled)
                assert_true(v->masked || f->dev.fn.msix_masked ||
                            !(f->dev.fn.command & PCI_CMD_MASTER));
        }
        assert_int_equal(n, f->dev.fn.n_pending);
        assert_true(f->dev.bus_master == ((f->dev.fn.command & PCI_CMD_MASTER) != 0));
    }
    assert_true(f->n_irq > 100 && f->n_line > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(a_vector_that_is_masked_is_pending_until_it_is_not),
        T(the_mask_of_the_function_holds_all_vectors),
        T(without_bus_mastering_no_message_leaves),
        T(what_is_held_for_long_is_one_bit),
        T(a_reset_of_the_device_forgets_what_is_pending),
        T(a_message_on_its_way_does_not_change),
        T(a_vector_that_does_not_exist_is_silent),
        T(without_msix_the_line_is_high_until_the_isr_is_read),
        T(the_line_stays_low_while_it_is_disabled),
        T(a_kick_without_bus_mastering_is_done_when_it_comes),
        T(the_msix_table_is_words_of_four_bytes),
        T(random_accesses_leave_a_function_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
