/* profile_table.c - where the time went, as a table */
#include <config.h>

#include <inttypes.h>

#include "common/engine.h"

static double
ms(uint64_t ns)
{
    return (double)ns * 1e-6;
}

/* Billions a second; "-" where there were none. */
static void
print_rate(uint64_t n, uint64_t ns)
{
    if (n && ns)
        fprintf(stderr, "\t%.1f", (double)n / (double)ns);
    else
        fputs("\t-", stderr);
}

static void
print_row(const struct gg_profile_row *r, uint64_t total)
{
    static const char *const phases[] = { "prefill", "decode" };

    fprintf(stderr, "%s\t%s\t%" PRIu64 "\t%.3f\t%.1f", phases[r->phase],
            r->name, r->calls, ms(r->ns),
            total ? 100 * (double)r->ns / (double)total : 0);
    fprintf(stderr, "\t%.3f\t%.3f\t%.3f", ms(r->busy), ms(r->waiting),
            ms(r->idle));
    print_rate(r->bytes, r->ns);
    print_rate(r->ops, r->ns);
    fputc('\n', stderr);
}

/* A phase's total is its last row. */
void
profile_table_print(const struct gg_profile_row *rows, size_t n)
{
    uint64_t total[] = { 0, 0 };

    for (size_t i = 0; i < n; i++)
        total[rows[i].phase] = rows[i].ns;
    fputs("phase\twhat\tcalls\tms\tpercent\tbusy\twaiting\tidle\tGB/s\t"
          "GOP/s\n",
          stderr);
    for (size_t i = 0; i < n; i++)
        print_row(&rows[i], total[rows[i].phase]);
}
