/* SPDX-License-Identifier: MIT */
/* The costs of the control path: what the virtual layer adds, and the table of the book. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench_control.h"
#include "emu/facts/enum/device_type.h"

static const uint32_t devices[] = {DEVICE_virtio, DEVICE_pvrdma};

static void measure(uint32_t device, enum control_place place,
                    struct control_cost ret[CONTROL_STEP_COUNT])
{
    assert_int_equal(control_measure(device, place, ret), RDL_OK);
}

/* Requests, accesses and time are those of an ordinary host. */
static void the_layer_adds_no_request_and_no_access(void **state)
{
    (void)state;
    for (size_t d = 0; d < ARRAY_LEN(devices); d++) {
        struct control_cost host[CONTROL_STEP_COUNT], guest[CONTROL_STEP_COUNT];

        measure(devices[d], PLACE_HOST, host);
        for (uint32_t p = PLACE_FUNCTION; p < CONTROL_PLACES; p++) {
            measure(devices[d], (enum control_place)p, guest);
            for (uint32_t i = 0; i < CONTROL_STEP_COUNT; i++) {
                assert_int_equal(guest[i].requests, host[i].requests);
                assert_int_equal(guest[i].accesses, host[i].accesses);
                assert_int_equal(guest[i].ns, host[i].ns);
            }
        }
        for (uint32_t i = 0; i < CONTROL_STEP_COUNT; i++)
            assert_true(host[i].accesses > 0 || i == CONTROL_AH);
    }
}

/* A function is mapped by the first object and taken back with the last one.  An address is looked
 * up once where it is needed: in an address handle, at RTR, and in each message of the kernel's
 * connection manager: REQ and RTU, and DREQ at the end.
 */
static void the_layer_maps_once_and_looks_each_address_up_once(void **state)
{
    (void)state;
    for (size_t d = 0; d < ARRAY_LEN(devices); d++) {
        struct control_cost c[CONTROL_STEP_COUNT];

        for (uint32_t p = 0; p < PLACE_VRNIC; p++) {
            measure(devices[d], (enum control_place)p, c);
            for (uint32_t i = 0; i < CONTROL_STEP_COUNT; i++)
                assert_int_equal(c[i].maps + c[i].lookups, 0);
        }
        measure(devices[d], PLACE_VRNIC, c);
        for (uint32_t i = 0; i < CONTROL_STEP_COUNT; i++) {
            const bool maps = i == CONTROL_PD || i == CONTROL_END;

            assert_int_equal(c[i].maps, maps);
            if (i != CONTROL_CM && i != CONTROL_CM_END)
                assert_int_equal(c[i].lookups, i == CONTROL_AH || i == CONTROL_RTR);
        }
        assert_int_equal(c[CONTROL_CM].lookups, 3);
        assert_int_equal(c[CONTROL_CM_END].lookups, 1);
    }
}

static void each_object_takes_one_request(void **state)
{
    (void)state;
    for (size_t d = 0; d < ARRAY_LEN(devices); d++) {
        struct control_cost c[CONTROL_STEP_COUNT];

        measure(devices[d], PLACE_VRNIC, c);
        for (uint32_t i = CONTROL_PD; i < CONTROL_CM; i++)
            assert_int_equal(c[i].requests, i == CONTROL_AH ? 0 : 1);
    }
}

#define NUMBERS (2u * CONTROL_PLACES + 2) /* of a line of the table */

/* Reads the numbers of the line of @step in the table behind @f.  Returns false at its end. */
static bool find_line(FILE *f, const char *step, unsigned ret[NUMBERS])
{
    char line[256];

    while (fgets(line, sizeof(line), f)) {
        char *at = line + strlen(step);

        if (strncmp(line, step, strlen(step)) != 0 || *at != ' ')
            continue;
        for (unsigned i = 0; i < NUMBERS; i++)
            ret[i] = (unsigned)strtoul(at, &at, 10);
        return true;
    }
    return false;
}

/* The table in the chapter on virtual RNICs has what is measured here. */
static void the_book_has_these_numbers(void **state)
{
    static const char *const steps[] = {
#define STEP(name, text) text,
        CONTROL_STEPS(STEP)
#undef STEP
    };
    const char *tests = getenv("UNIT_TESTS");
    char path[512];
    FILE *f;

    (void)state;
    assert_non_null(tests);
    snprintf(path, sizeof(path), "%s/../../book/unirdma.md", tests);
    f = fopen(path, "r");
    assert_non_null(f);
    for (size_t d = 0; d < ARRAY_LEN(devices); d++) {
        struct control_cost c[CONTROL_PLACES][CONTROL_STEP_COUNT];

        for (uint32_t p = 0; p < CONTROL_PLACES; p++)
            measure(devices[d], (enum control_place)p, c[p]);
        for (uint32_t i = 0; i < CONTROL_STEP_COUNT; i++) {
            unsigned in_book[NUMBERS];

            assert_true(find_line(f, steps[i], in_book));
            for (uint32_t p = 0; p < CONTROL_PLACES; p++) {
                assert_int_equal(in_book[2 * p], c[p][i].requests);
                assert_int_equal(in_book[2 * p + 1], c[p][i].accesses);
            }
            assert_int_equal(in_book[NUMBERS - 2], c[PLACE_VRNIC][i].maps);
            assert_int_equal(in_book[NUMBERS - 1], c[PLACE_VRNIC][i].lookups);
        }
    }
    fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layer_adds_no_request_and_no_access),
        cmocka_unit_test(the_layer_maps_once_and_looks_each_address_up_once),
        cmocka_unit_test(each_object_takes_one_request),
        cmocka_unit_test(the_book_has_these_numbers),
    };

    return cmocka_run_group_tests_name("control", tests, NULL, NULL);
}
