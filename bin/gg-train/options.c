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
    { "output", 'o', CLI_TEXT, "FILE", "the adapter, or the model, that is "
      "written", AT(output), .use = SANDBOX_WRITE },
    { "file", 'f', CLI_TEXT, "FILE", "read the sequences from FILE",
      AT(input) },
    { "jsonl", 0, CLI_FLAG, NULL,
      "FILE has conversations in JSON, a line each; only what the assistant "
      "says is learnt", AT(jsonl) },
    { "template", 0, CLI_CALL, "NAME",
      "with --jsonl: the chat template, if not the model's, or a file; list: "
      "all", .set = set_train_template, .use = SANDBOX_READ,
      .opens = true, .values = "list", .list = chat_template_name,
      .only_with = "jsonl" },
    { "date", 0, CLI_CALL, "DATE", "with --jsonl: " CHAT_DATE_HELP, AT(date),
      .set = chat_set_date, .only_with = "jsonl" },
    { "held-out", 0, CLI_TEXT, "FILE",
      "sequences of the same kind that are not learnt: tell their loss",
      AT(held_out) },
    { .help = "\nWhat is trained:\n" },
    { "rank", 'r', CLI_INT, "N", "an adapter (LoRA) of this rank (16)",
      AT(rank), 1, 4096 },
    { "alpha", 0, CLI_DOUBLE, "X",
      "its scale, times its rank (twice the rank)", AT(params.alpha), 1e-6,
      1e6, .not_with = "all: an adapter has it" },
    { "targets", 0, CLI_TEXT, "PARTS",
      "matrices that it is for: parts of their names, by commas, such as "
      "attn_q,attn_v (all of the blocks)", AT(params.targets),
      .not_with = "all: an adapter has them" },
    { "all", 0, CLI_FLAG, NULL, "all weights, in place of an adapter",
      AT(all), .not_with = "rank: an adapter has it" },
    { "init", 0, CLI_FLAG, NULL,
      "with --all: draw all weights anew, whatever the model was",
      AT(params.init), .only_with = "all" },
    { .help = "\nSteps:\n" },
    { "context", 'c', CLI_INT, "N",
      "ids of a row that sequences are packed in; longer ones are cut (512)",
      AT(params.n_ctx), 2, 1 << 20 },
    { "batch", 'b', CLI_INT, "N", "rows of a step (8)", AT(params.batch), 1,
      65536 },
    { "at-once", 0, CLI_INT, "N",
      "rows of them that are computed together (1)", AT(params.at_once), 1,
      65536 },
    { "epochs", 0, CLI_DOUBLE, "X", "see all sequences X times (1)",
      AT(params.epochs), 1e-6, 1e9 },
    { "steps", 0, CLI_INT64, "N", "steps, in place of epochs",
      AT(params.n_steps), 1, 1e15 },
    { "in-order", 0, CLI_FLAG, NULL, "do not shuffle the sequences",
      AT(params.in_order) },
    { "seed", 's', CLI_CALL, "N", "of all that is drawn (1)",
      .set = set_seed },
    { .help = "\nThe optimiser:\n" },
    { "optimizer", 0, CLI_WORD, "NAME",
      "adamw (default), or muon for the matrices of the blocks",
      AT(params.optimizer), .values = "adamw|muon" },
    { "rate", 'l', CLI_DOUBLE, "X",
      "learning rate (2e-4; with --all 1e-4)", AT(params.rate), 1e-12, 1e3,
      .aliases = "learning-rate" },
    { "matrix-rate", 0, CLI_DOUBLE, "X", "that of muon (0.02)",
      AT(params.matrix_rate), 1e-12, 1e3 },
    { "schedule", 0, CLI_WORD, "NAME",
      "how the rate falls: cosine (default), linear, or constant: not",
      AT(params.schedule), .values = "cosine|linear|constant" },
    { "warm-up", 0, CLI_INT64, "N", "first steps, in which it rises (0)",
      AT(params.warm_up), 0, 1e15 },
    { "fall", 0, CLI_INT64, "N", "last steps, in which it falls (all others)",
      AT(params.fall), 1, 1e15 },
    { "least-rate", 0, CLI_DOUBLE, "P",
      "what it falls to, as a part of the rate (0)", AT(params.least_rate),
      0, 1 },
    { "beta1", 0, CLI_DOUBLE, "X", "of AdamW (0.9)", AT(params.beta1), 1e-9,
      0.999999 },
    { "beta2", 0, CLI_DOUBLE, "X", "of AdamW (0.999)", AT(params.beta2), 1e-9,
      0.99999999 },
    { "epsilon", 0, CLI_DOUBLE, "X", "of AdamW (1e-8)", AT(params.epsilon),
      1e-30, 1 },
    { "decay", 0, CLI_DOUBLE, "X", "of the weights of matrices (0)",
      AT(params.decay), 0, 1e3, .aliases = "weight-decay" },
    { "clip", 0, CLI_DOUBLE, "X",
      "norm of the gradient at most (1); -1: any", AT(params.clip), -1, 1e9 },
    { .help = "\nThe run:\n" },
    { "checkpoint", 0, CLI_TEXT, "FILE",
      "go on from FILE, if it is there, and write it on the way",
      AT(checkpoint), .use = SANDBOX_UPDATE },
    { "save-every", 0, CLI_INT64, "N", "steps between two checkpoints (100)",
      AT(save_every), 1, 1e15, .only_with = "checkpoint" },
    { "evaluate-every", 0, CLI_INT64, "N",
      "steps between two losses of --held-out (only the end's)",
      AT(evaluate_every), 1, 1e15, .only_with = "held-out" },
    { "memory-limit", 0, CLI_CALL, "SIZE",
      "activations take no more, such as 2G: they are computed twice where "
      "that is less than all take", .set = set_limit },
    { "dry-run", 0, CLI_FLAG, NULL, "say what it would take, and end",
      AT(dry_run) },
    { "log", 0, CLI_TEXT, "FILE", "write each step to FILE, a line of JSON",
      AT(log), .use = SANDBOX_UPDATE },
    { "log-every", 0, CLI_INT64, "N",
      "steps between two lines on standard error (10)", AT(log_every), 1,
      1e15 },
    { "threads", 't', CLI_INT, "N",
      "threads (default: one for each processor)", AT(params.n_threads), 1,
      MAX_THREADS },
    { "quiet", 'q', CLI_FLAG, NULL, "say nothing of the steps", AT(quiet) },
    { "verbose", 'v', CLI_FLAG, NULL, "say what is trained, and by how much "
      "memory", AT(verbose) },
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
