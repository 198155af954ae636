/* train.h - gg-train's options, and its parts */
#ifndef TRAIN_TOOL_H
#define TRAIN_TOOL_H

#include <gg-train.h>

#include "common/buffer.h"
#include "common/options.h"
#include "common/ticker.h"

struct train_options_of_tool {
    struct gg_train_params params;
    const char *model, *output, *input, *held_out, *checkpoint, *log;
    int64_t save_every, evaluate_every, log_every;
    int32_t rank;
    bool all, jsonl, dry_run, quiet, verbose;
    const struct gg_chat_template *chat; /* NULL: the model's */
    int64_t date;
};

/* Ends the tool where they are misused. */
void
options_parse(int argc, char **argv, struct train_options_of_tool *o);

/* Adds all sequences of a file of ids, or of conversations; "-" and NULL are
 * standard input. Ends the tool where it cannot be read, or there are none. */
void
sequences_add(struct gg_train *train, enum gg_train_part part,
              const char *path, const struct train_options_of_tool *o);
void
conversations_add(struct gg_train *train, enum gg_train_part part,
                  const char *path, const struct train_options_of_tool *o);

/* ---- what is said on the way: report.c ---- */

struct report {
    const struct train_options_of_tool *o;
    struct ticker ticker;
    FILE *log;
    double loss, seconds; /* since the last line: sums of steps */
    int64_t start;        /* microseconds */
    uint64_t n_steps, n_targets;
};

void
report_start(struct report *r, const struct train_options_of_tool *o,
             bool resumed);
void
report_step(struct report *r, const struct gg_train_state *s,
            const struct gg_train_report *step);
void
report_held_out(struct report *r, int64_t step, double loss,
                uint64_t n_targets);
/* Ends the tool where the log could not be written. */
void
report_end(struct report *r);

/* --dry-run, on standard output. */
void
report_memory(const struct gg_train *train,
              const struct train_options_of_tool *o);

#endif
