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

/* Sequences that were added. */
struct added {
    uint64_t n, n_ids;
    uint64_t n_idle;     /* of them without a target, */
    uint64_t first_idle; /* and the first one's number, or line */
};

/* Adds all sequences of a file of ids, or of conversations; "-" and NULL are
 * standard input. Ends the tool where it cannot be read, or there are none. */
struct added
sequences_add(struct gg_train *train, enum gg_train_part part, const char *path,
              const struct train_options_of_tool *o);
struct added
conversations_add(struct gg_train *train, enum gg_train_part part,
                  const char *path, const struct train_options_of_tool *o);

/* Counts a sequence of n_ids ids and n_targets targets that `number` names. */
static inline void
added_count(struct added *a, uint64_t n_ids, uint64_t n_targets,
            uint64_t number)
{
    if (n_targets == 0 && (a->n_idle++ == 0 || number < a->first_idle))
        a->first_idle = number;
    a->n_ids += n_ids;
    a->n++;
}

/* ---- what is said on the way: report.c ---- */

struct report {
    const struct train_options_of_tool *o;
    struct ticker ticker;
    FILE *log;
    double loss, seconds; /* since the last line: sums of steps */
    int64_t start;        /* microseconds */
    uint64_t n_steps, n_targets;
};

/* How much there is to learn, and in how many steps. */
void
report_data(const struct gg_train *train, const struct added *a,
            const struct train_options_of_tool *o);
/* That some sequences of a file have no target, unless all have one. */
void
report_idle(const char *path, const struct added *a, bool jsonl);
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
