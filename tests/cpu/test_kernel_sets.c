/* test_kernel_sets.c - a set of kernels that --with-kernels=native does not
 * build, since a better one has kernels for all of its slots: nothing of it is
 * left in the better one's table */
#include <string.h>

#include "cpu/kernels.h"
#include "harness/tap.h"

/* As GG_CHECK_ISA in configure.ac has them. */
static const struct {
    const char *set, *better;
} pairs[] = {
    { "avx2", "avx512" },
    { "avxvnni", "avx512" },
    { "dotprod", "i8mm" },
};

/* Functions of a set that the better one's table has, but plain C's has not. */
static int
count_left(const struct cpu_kernels *set, const struct cpu_kernels *better)
{
    const struct cpu_kernels *plain = cpu_kernels_reference();
    int n = 0;

    for (size_t at = offsetof(struct cpu_kernels, mul_mat); at < sizeof(*set);
         at += sizeof(uintptr_t)) {
        uintptr_t a, b, c;

        memcpy(&a, (const char *)set + at, sizeof(a));
        memcpy(&b, (const char *)better + at, sizeof(b));
        memcpy(&c, (const char *)plain + at, sizeof(c));
        if (a == b && a != c && a > 1 << 16) /* no number */
            n++;
    }
    return n;
}

int
main(void)
{
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const struct cpu_kernels *set = cpu_kernels_named(pairs[i].set);
        const struct cpu_kernels *better = cpu_kernels_named(pairs[i].better);

        if (set && better)
            is(count_left(set, better), 0, pairs[i].set);
        else
            printf("# %s: not built, or not for this machine\n", pairs[i].set);
    }
    ok(cpu_kernels_named("c") == cpu_kernels_reference(), "plain C is there");
    return tap_done();
}
