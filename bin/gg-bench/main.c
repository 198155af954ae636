/* main.c - gg-bench: how fast models are, and how fast they could be */
#include <config.h>

#include <stdlib.h>

#include "gg-bench/bench.h"

const char cli_name[] = "gg-bench";

int
main(int argc, char **argv)
{
    struct bench_options o;
    struct bench b;

    cli_start();
    bench_parse(argc, argv, &o);
    if (o.bounds) {
        bench_report_bounds(&o);
        return cli_finish(EXIT_SUCCESS);
    }
    bench_plan(&b, &o);
    bench_run(&b);
    bench_report(&b);
    bench_free(&b);
    return cli_finish(EXIT_SUCCESS);
}
