/* SPDX-License-Identifier: MIT */
/* Tests of citations: who sees verified and unverified ones. */
#include "testing.h"

#include "print/cite.h"

static void what_nobody_verified_is_for_who_asks(void **state)
{
    static const struct {
        const char *text, *want, *with_source;
    } rows[] = {
        {"", "", ""},
        {"so it is", "so it is", "so it is"},
        {"so it is  [IBTA1 9.4.1]", "so it is  [IBTA1 9.4.1]", "so it is  [IBTA1 9.4.1]"},
        {"so it is  [IBTA1 9.7.5]", "so it is", "so it is  [IBTA1 9.7.5 (unverified)]"},
        {"so it is  [IBTA1 9.7.5, C9-105]", "so it is",
         "so it is  [IBTA1 9.7.5 (unverified), C9-105]"},
        {"so it is  [IBTA1 C9-105; IBTA1 9.7.5]", "so it is",
         "so it is  [IBTA1 C9-105; IBTA1 9.7.5 (unverified)]"},
        {"so  [RoCEv2 A17.3.3] and so  [IBTA1 9.2]", "so and so  [IBTA1 9.2]",
         "so  [RoCEv2 A17.3.3 (unverified)] and so  [IBTA1 9.2]"},
        {"so  [IBTA1 9.2] and so  [IBTA1 10.6]", "so  [IBTA1 9.2] and so",
         "so  [IBTA1 9.2] and so  [IBTA1 10.6 (unverified)]"},
        {"[IBTA1 17.2.8]; frames of rxe", "frames of rxe",
         "[IBTA1 17.2.8 (unverified)]; frames of rxe"},
        {"frames of rxe; [IBTA1 9.4.1]", "frames of rxe; [IBTA1 9.4.1]",
         "frames of rxe; [IBTA1 9.4.1]"},
        /* Of another document. */
        {"[virtio 1.2, 9.7.5]", "[virtio 1.2, 9.7.5]", "[virtio 1.2, 9.7.5]"},
        {"[IBTA1 9.7.55]", "[IBTA1 9.7.55]", "[IBTA1 9.7.55]"}, /* not in citations.def */
        {"mr[0:64", "mr[0:64", "mr[0:64"},
        {"mr[0:64] and []", "mr[0:64] and []", "mr[0:64] and []"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char buf[128];
        struct text t = text_on(buf, sizeof(buf));

        cite_add(&t, rows[i].text, false);
        assert_string_equal(buf, rows[i].want);
        t = text_on(buf, sizeof(buf));
        cite_add(&t, rows[i].text, true);
        assert_string_equal(buf, rows[i].with_source);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_nobody_verified_is_for_who_asks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
