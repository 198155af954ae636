/* options.c - the command line of gg-eval */
#include <config.h>

#include <stddef.h>

#include "gg-eval/options.h"

enum {
    DEFAULT_SLOTS = 8,
    DEFAULT_BATCH = 8,
    MAX_SLOTS = 65536,
    MAX_TOP = 1 << 24,
    WINDOW = 512, /* ids of a window */
};

static const char usage[] =
    "Usage: gg-eval [OPTION]... [FILE]\n"
    "Evaluate each line of token ids and write the logits of the next token.\n"
    "\n";

static enum gg_status
set_embed(void *options, const struct cli_option *row, const char *value,
          struct gg_error *err)
{
    struct options *o = options;

    o->embed.wanted = true;
    return cli_read_word(row, value, &o->embed.kind, err);
}

/* ---- the table ---- */

#define AT(field) .at = offsetof(struct options, field)
#define STATE     "load|save|state"

/* Options of the output, most of which exclude each other. */
/* clang-format off */
static const struct cli_option rows[] = {
    { "top", 0, CLI_SIZE, "K", "write text: the K likeliest next tokens",
      AT(output.top), 1, MAX_TOP,
      .not_with = "score|embed|perplexity|imatrix|watch|graph" },
    { "keep", 0, CLI_SIZE, "K", "write only the K highest logits of a record",
      AT(output.keep), 1, MAX_TOP,
      .not_with = "top|score|embed|perplexity|imatrix|watch|graph|f16" },
    { "every", 0, CLI_FLAG, NULL,
      "write a record for each id of a line, not only for the last",
      AT(evaluate.every),
      .not_with = "score|embed|perplexity|imatrix|watch|graph" },
    { "f16", 0, CLI_FLAG, NULL, "write logits in half precision", AT(f16),
      .not_with = "top|score|perplexity|imatrix|watch|graph" },
    { "score", 0, CLI_FLAG, NULL,
      "write text: the log-likelihood of each line's ids", AT(output.score),
      .not_with = "embed|perplexity|imatrix|watch|graph|" STATE },
    { "greedy", 0, CLI_FLAG, NULL,
      "with --score: add whether each id is the likeliest: 1 or 0",
      AT(evaluate.greedy),
      .only_with = "score" },
    { "embed", 0, CLI_CALL, "KIND",
      "write an embedding of each line's text; KIND is the pooling: mean, "
      "last, cls (first), model (the model's own), or tokens (one embedding "
      "per id)",
      .set = set_embed, .values = "mean|last|cls|model|tokens",
      .not_with = "perplexity|imatrix|graph|shift|" STATE },
    { "no-normalize", 0, CLI_FLAG, NULL,
      "do not normalize embeddings to length 1", AT(embed.as_is),
      .only_with = "embed" },
    { "dims", 0, CLI_INT, "N", "write the first N values of embeddings",
      AT(embed.dims), 1, 1 << 20, .only_with = "embed" },
    { "rank", 0, CLI_FLAG, NULL,
      "write text: the score of each line's pair, as gg-tokenize --pairs "
      "writes it",
      AT(embed.rank),
      .not_with = "top|keep|f16|score|embed|perplexity|imatrix|watch|graph|"
                  "shift|" STATE },
    { "sigmoid", 0, CLI_FLAG, NULL, "write probabilities instead of scores",
      AT(embed.sigmoid), .only_with = "rank" },
    { "classify", 0, CLI_FLAG, NULL,
      "write text: the label that the model's classifier gives each line of "
      "text, or its spans", AT(classify.wanted),
      .not_with = "top|keep|every|f16|score|embed|rank|perplexity|"
                  "multiple-choice|imatrix|watch|graph|rows|shift|shard|" STATE },
    { "pairs", 0, CLI_FLAG, NULL, "read two texts per line, separated by a TAB",
      AT(classify.pairs), .only_with = "classify", .not_with = "ids" },
    { "ids", 0, CLI_FLAG, NULL, "read token ids from gg-tokenize",
      AT(classify.ids), .only_with = "classify" },
    { "all-labels", 0, CLI_FLAG, NULL, "write all labels, the likeliest first",
      AT(classify.all), .only_with = "classify" },
    { "label-tokens", 0, CLI_FLAG, NULL,
      "write the labels of tokens, not of spans", AT(classify.tokens),
      .only_with = "classify" },
    { "perplexity", 0, CLI_FLAG, NULL,
      "write text: the perplexity of the ids", AT(perplexity.wanted),
      .not_with = "imatrix|watch|graph|shift|" STATE },
    { "stride", 0, CLI_INT, "N",
      "start a window every N ids, and score its last N ids",
      AT(perplexity.stride), 1, 1 << 30, .only_with = "perplexity" },
    { "windows", 0, CLI_INT64, "N", "evaluate only the first N windows (all)",
      AT(perplexity.windows), 1, 0x1p40, .only_with = "perplexity" },
    { "multiple-choice", 0, CLI_FLAG, NULL,
      "write text: how often the likeliest answer to a question is right; each "
      "line is a question in JSON", AT(quiz.wanted),
      .not_with = "top|keep|every|f16|score|embed|rank|perplexity|imatrix|"
                  "watch|graph|rows|shift|shard|" STATE },
    { "json", 0, CLI_FLAG, NULL,
      "with --multiple-choice or --classify: write JSON", AT(json),
      .only_with = "multiple-choice|classify" },
    { "imatrix", 0, CLI_TEXT, "FILE",
      "write the importance matrix of the ids to FILE, for gg-quantize",
      AT(imatrix), .use = SANDBOX_WRITE, .not_with = "watch|graph|shift|" STATE },
    { "watch", 0, CLI_TEXT, "GLOB",
      "write statistics of computed tensors whose names match GLOB",
      AT(watch.pattern),
      .not_with = "graph|" STATE },
    { "watch-dir", 0, CLI_TEXT, "DIR",
      "with --watch: save the tensors in DIR, for NumPy",
      AT(watch.folder), .use = SANDBOX_ARRAYS, .only_with = "watch" },
    { "graph", 0, CLI_TEXT, "FILE", "write the compute graph to FILE, for dot",
      AT(watch.graph), .use = SANDBOX_WRITE, .not_with = STATE },
    { "batch", 0, CLI_INT, "N", "numbered sequences in one batch (8)",
      AT(evaluate.n_lines), 1, MAX_SLOTS },
    { "slots", 0, CLI_INT, "N", "numbered sequences in the KV cache (8)",
      AT(n_slots), 1, MAX_SLOTS },
    { "remember", 0, CLI_INT64, "N",
      "ids to keep for evaluating sequences without a slot again (4194304)",
      AT(evaluate.remember), 0, 0x1p40 },
    { "encoder-ids", 0, CLI_INT, "N",
      "give the encoder the first N ids of a sequence (else up to the "
      "decoder's start)",
      AT(engine.n_encoder_ids), 1, ENGINE_MAX_BATCH },
    { "shard", 0, CLI_CALL, "I/N", SHARD_HELP, AT(evaluate.shard),
      .set = shard_set, .not_with = "perplexity|imatrix" },
    { .part = state_rows, AT(state) },
    { "file", 'f', CLI_TEXT, "FILE", "read token ids from FILE", AT(input) },
    { "output", 'o', CLI_TEXT, "FILE", "write to FILE", AT(output_path),
      .use = SANDBOX_WRITE, .shown = "-o", .not_with = "imatrix|graph" },
    { .part = engine_rows, AT(engine) },
    { 0 },
};
/* clang-format on */

/* ---- what follows from them ---- */

/* Each line of a batch has a slot; windows of a text come one after another in
 * one. */
static void
settle_slots(struct options *o)
{
    int32_t *slots = &o->n_slots, *lines = &o->evaluate.n_lines;

    if (o->mode == EVAL_PERPLEXITY || o->mode == EVAL_IMATRIX) {
        o->engine.max_ctx = WINDOW;
        *slots = 1;
        return;
    }
    if (*slots == 0)
        *slots = *lines > DEFAULT_SLOTS ? *lines : DEFAULT_SLOTS;
    if (*lines == 0)
        *lines = *slots < DEFAULT_BATCH ? *slots : DEFAULT_BATCH;
    if (*slots < *lines)
        *slots = *lines;
}

static enum eval_mode
mode_of(const struct options *o)
{
    return o->perplexity.wanted               ? EVAL_PERPLEXITY
           : o->quiz.wanted                   ? EVAL_QUIZ
           : o->classify.wanted               ? EVAL_CLASSIFY
           : o->imatrix                       ? EVAL_IMATRIX
           : o->embed.wanted || o->embed.rank ? EVAL_EMBED
                                              : EVAL_RECORDS;
}

/* Other modes evaluate all ids: what is computed of them is the result. */
static void
allow(const void *options)
{
    const struct options *o = options;

    engine_allow(&o->engine);
    if (mode_of(o) == EVAL_RECORDS && !o->output.score && !o->watch.pattern &&
        !o->watch.graph)
        prefix_cache_prepare(&o->engine);
}

void
eval_parse(int argc, char **argv, struct options *o)
{
    static const struct cli_tool tool = { usage, rows, 26, .allow = allow };
    int first;

    *o = (struct options){ .engine = engine_options_default(),
                           .evaluate.remember = 1 << 22 };
    first = cli_parse(argc, argv, &tool, o);
    cli_hint_file("; ids of a text: echo TEXT | gg-tokenize | gg-eval");
    if (first < argc)
        o->input = cli_one_file(argc, argv, first, o->input);
    o->mode = mode_of(o);
    o->engine.shows_progress =
        o->perplexity.wanted || o->imatrix || o->quiz.wanted;
    o->evaluate.score = o->output.score;
    o->engine.score = o->output.score && !o->evaluate.greedy;
    o->output.embed = o->embed.wanted || o->embed.rank;
    o->output.rank = o->embed.rank;
    o->quiz.json = o->classify.json = o->json;
    o->embed.shard = o->evaluate.shard;
    o->output.dims = o->embed.dims;
    o->output.none = o->watch.pattern || o->watch.graph;
    o->output.encoding = o->output.keep ? GG_ENCODING_SPARSE
                         : o->f16       ? GG_ENCODING_F16
                                        : GG_ENCODING_F32;
    o->writes_text = o->output.top || o->output.score || o->output.rank ||
                     o->output.none || o->perplexity.wanted || o->quiz.wanted ||
                     o->classify.wanted;
    if (o->imatrix || o->watch.graph)
        o->output_path = o->imatrix ? o->imatrix : o->watch.graph;
    settle_slots(o);
}
