/* fit_loops_set.h - all loops of fits, for one set of instructions: see
 * fit_loops.h */
#include "quant/fit_loops.h"
#include "quant/iq_loops.h"
#include "quant/groups8_loops.h"

static const struct quant_fit_loops LOOP(loops) = {
    .extreme = LOOP(extreme),
    .range = LOOP(range),
    .cut = LOOP(cut),
    .nearest_fp4 = LOOP(nearest_fp4),
    .round_all = LOOP(round_all),
    .round_bytes = LOOP(round_bytes),
    .sum_rounded = LOOP(sum_rounded),
    .sum_moments = LOOP(sum_moments),
    .spread = LOOP(spread),
    .sum_starts = LOOP(sum_starts),
    .sum_lines = LOOP(sum_lines),
    .sum_errors = LOOP(sum_errors),
    .sum_squares = LOOP(sum_squares),
    .round_group = LOOP(round_group),
    .best_entry = LOOP(best_entry),
    .fit_groups8 = LOOP(fit_groups8),
    .groups8_errors = LOOP(groups8_errors),
    .round_groups8 = LOOP(round_groups8),
};
