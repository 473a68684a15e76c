/* SPDX-License-Identifier: MIT */
/* Replacements for libFuzzer's functions, called by code whose comparisons it must not see; see
 * meson.build.
 */
#define UNCOUNTED(what)                                                                            \
    void uncounted_##what(void);                                                                   \
    __attribute__((no_sanitize("coverage"))) void uncounted_##what(void)                           \
    {                                                                                              \
    }

UNCOUNTED(pc_indir)
UNCOUNTED(switch)
UNCOUNTED(cmp1)
UNCOUNTED(cmp2)
UNCOUNTED(cmp4)
UNCOUNTED(cmp8)
UNCOUNTED(const_cmp1)
UNCOUNTED(const_cmp2)
UNCOUNTED(const_cmp4)
UNCOUNTED(const_cmp8)
