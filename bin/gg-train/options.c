/* options.c - the table of gg-train's options */
#include <config.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/chat.h"
#include "gg-train/train.h"

static const char usage[] =
    "Usage: gg-train [OPTION]... [FILE]\n"
    "Train an adapter, or all weights of a model, with sequences of token "
    "ids,\n"
    "as gg-tokenize --lines writes them, or with conversations in JSON.\n"
    "\n";

enum {
    MAX_THREADS = 1024,
    RANK = 16,
};

/* "2G", "500M" or bytes. */
static enum gg_status
set_limit(void *options, const struct cli_option *row, const char *value,
          struct gg_error *err)
{
    struct train_options_of_tool *o = options;
    size_t n = strspn(value, "0123456789");
    int shift = value[n] == 'G' ? 30 : value[n] == 'M' ? 20 : 0;
    unsigned long long size = strtoull(value, NULL, 10);

    if (n == 0 || n > 15 || size == 0 || (shift && value[n + 1]) ||
        (!shift && value[n]))
        return cli_error(err, GG_ERR_ARG,
                         "--%s: '%s' is no size such as 2G, 500M or 1000000",
                         row->name, value);
    o->params.memory_limit = (uint64_t)size << shift;
    return GG_OK;
}

static enum gg_status
set_train_template(void *options, const struct cli_option *row,
                   const char *value, struct gg_error *err)
{
    struct train_options_of_tool *o = options;

    (void)row, (void)err;
    chat_template_clear(o->chat);
    o->chat = chat_template(value);
    return GG_OK;
}

static enum gg_status
set_seed(void *options, const struct cli_option *row, const char *value,
         struct gg_error *err)
{
    struct train_options_of_tool *o = options;

    return cli_read_u64(row->name, value, &o->params.seed, err);
}

#define AT(field) .at = offsetof(struct train_options_of_tool, field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "model", 'm', CLI_TEXT, "MODEL",
      "the model (else $GG_MODEL, else the demo model)", AT(model) },
    { "output", 'o', CLI_TEXT, "FILE",
      "write the adapter or the model to FILE",
      AT(output), .use = SANDBOX_WRITE },
    { "file", 'f', CLI_TEXT, "FILE", "read the sequences from FILE",
      AT(input) },
    { "jsonl", 0, CLI_FLAG, NULL,
      "read conversations in JSON, one per line; only the assistant's messages "
      "are learnt", AT(jsonl) },
    { "template", 0, CLI_CALL, "NAME",
      "with --jsonl: chat template instead of the model's: a name or a file; "
      "list: list the names", .set = set_train_template, .use = SANDBOX_READ,
      .opens = true, .values = "list", .list = chat_template_name,
      .only_with = "jsonl" },
    { "date", 0, CLI_CALL, "DATE", "with --jsonl: " CHAT_DATE_HELP, AT(date),
      .set = chat_set_date, .only_with = "jsonl" },
    { "held-out", 0, CLI_TEXT, "FILE",
      "report the loss of the sequences in FILE, which are not learnt",
      AT(held_out) },
    { .help = "\nWeights to train:\n" },
    { "rank", 'r', CLI_INT, "N", "train an adapter (LoRA) of rank N (16)",
      AT(rank), 1, 4096 },
    { "alpha", 0, CLI_DOUBLE, "X",
      "scale of the adapter, times its rank (twice the rank)",
      AT(params.alpha), 1e-6,
      1e6, .not_with = "all: an adapter has it" },
    { "targets", 0, CLI_TEXT, "PARTS",
      "matrices to adapt: parts of their names, separated by commas, such as "
      "attn_q,attn_v (all of the blocks)", AT(params.targets),
      .not_with = "all: an adapter has them" },
    { "all", 0, CLI_FLAG, NULL, "train all weights instead of an adapter",
      AT(all), .not_with = "rank: an adapter has it" },
    { "init", 0, CLI_FLAG, NULL,
      "with --all: draw all weights anew, whatever the model was",
      AT(params.init), .only_with = "all" },
    { .help = "\nSteps:\n" },
    { "context", 'c', CLI_INT, "N",
      "length in ids of the rows that sequences are packed in; longer "
      "sequences are cut (512)",
      AT(params.n_ctx), 2, 1 << 20 },
    { "batch", 'b', CLI_INT, "N", "rows per step (8)", AT(params.batch), 1,
      65536 },
    { "at-once", 0, CLI_INT, "N",
      "rows computed together (1)", AT(params.at_once), 1,
      65536 },
    { "epochs", 0, CLI_DOUBLE, "X", "train on all sequences X times (1)",
      AT(params.epochs), 1e-6, 1e9 },
    { "steps", 0, CLI_INT64, "N", "number of steps, instead of epochs",
      AT(params.n_steps), 1, 1e15 },
    { "in-order", 0, CLI_FLAG, NULL, "do not shuffle the sequences",
      AT(params.in_order) },
    { "seed", 's', CLI_CALL, "N", "seed of the random numbers (1)",
      .set = set_seed },
    { .help = "\nThe optimiser:\n" },
    { "optimizer", 0, CLI_WORD, "NAME",
      "adamw (default), or muon for the matrices of the blocks",
      AT(params.optimizer), .values = "adamw|muon" },
    { "rate", 'l', CLI_DOUBLE, "X",
      "learning rate (2e-4; with --all 1e-4)", AT(params.rate), 1e-12, 1e3,
      .aliases = "learning-rate" },
    { "matrix-rate", 0, CLI_DOUBLE, "X", "learning rate of muon (0.02)",
      AT(params.matrix_rate), 1e-12, 1e3 },
    { "schedule", 0, CLI_WORD, "NAME",
      "decay of the learning rate: cosine (default), linear, or constant "
      "(none)",
      AT(params.schedule), .values = "cosine|linear|constant" },
    { "warm-up", 0, CLI_INT64, "N",
      "number of first steps in which the rate rises (0)",
      AT(params.warm_up), 0, 1e15 },
    { "fall", 0, CLI_INT64, "N",
      "number of last steps in which the rate falls (all others)",
      AT(params.fall), 1, 1e15 },
    { "least-rate", 0, CLI_DOUBLE, "P",
      "final learning rate, as a fraction of --rate (0)", AT(params.least_rate),
      0, 1 },
    { "beta1", 0, CLI_DOUBLE, "X",
      "beta1 of AdamW (0.9)", AT(params.beta1), 1e-9,
      0.999999 },
    { "beta2", 0, CLI_DOUBLE, "X",
      "beta2 of AdamW (0.999)", AT(params.beta2), 1e-9,
      0.99999999 },
    { "epsilon", 0, CLI_DOUBLE, "X",
      "epsilon of AdamW (1e-8)", AT(params.epsilon),
      1e-30, 1 },
    { "decay", 0, CLI_DOUBLE, "X", "weight decay of matrices (0)",
      AT(params.decay), 0, 1e3, .aliases = "weight-decay" },
    { "clip", 0, CLI_DOUBLE, "X",
      "maximum norm of the gradient (1); -1: no limit",
      AT(params.clip), -1, 1e9 },
    { .help = "\nThe run:\n" },
    { "checkpoint", 0, CLI_TEXT, "FILE",
      "continue from FILE if it exists, and write it during training",
      AT(checkpoint), .use = SANDBOX_UPDATE },
    { "save-every", 0, CLI_INT64, "N", "steps between two checkpoints (100)",
      AT(save_every), 1, 1e15, .only_with = "checkpoint" },
    { "evaluate-every", 0, CLI_INT64, "N",
      "steps between two losses of --held-out (only at the end)",
      AT(evaluate_every), 1, 1e15, .only_with = "held-out" },
    { "memory-limit", 0, CLI_CALL, "SIZE",
      "limit the memory of activations, such as 2G, by computing them twice "
      "where they do not fit", .set = set_limit },
    { "dry-run", 0, CLI_FLAG, NULL,
      "report the memory that training would take, and end",
      AT(dry_run) },
    { "log", 0, CLI_TEXT, "FILE", "write each step to FILE, a line of JSON",
      AT(log), .use = SANDBOX_UPDATE },
    { "log-every", 0, CLI_INT64, "N",
      "steps between two lines on standard error (10)", AT(log_every), 1,
      1e15 },
    { "threads", 't', CLI_INT, "N",
      "threads (default: one for each processor)", AT(params.n_threads), 1,
      MAX_THREADS },
    { "quiet", 'q', CLI_FLAG, NULL, "report no steps", AT(quiet) },
    { "verbose", 'v', CLI_FLAG, NULL,
      "report the tensors trained and the memory needed", AT(verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

void
options_parse(int argc, char **argv, struct train_options_of_tool *o)
{
    static const struct cli_tool tool = { .usage = usage,
                                          .options = rows,
                                          .column = 23 };
    int first;

    *o = (struct train_options_of_tool){
        .params = { .seed = 1 },
        .save_every = 100,
        .log_every = 10,
        .rank = RANK,
    };
    first = cli_parse(argc, argv, &tool, o);
    cli_hint_file("; ids of texts: gg-tokenize --lines --eos | gg-train");
    if (first < argc)
        o->input = cli_one_file(argc, argv, first, o->input);
    if (!o->output && !o->dry_run)
        cli_misuse("-o FILE is needed: what is written?");
    o->params.rank = o->all ? 0 : o->rank;
    o->params.measure = o->dry_run;
}
