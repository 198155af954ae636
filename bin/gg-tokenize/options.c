/* options.c - the command line */
#include <config.h>

#include <stddef.h>
#include <stdlib.h>

#include "common/reasoning.h"
#include "common/options.h"
#include "gg-tokenize/tokenize.h"

static const char usage[] =
    "Usage: gg-tokenize [OPTION]... [FILE]\n"
    "Read a text and write its token ids as one line; with -d, read ids and\n"
    "write their text. Without FILE, or if FILE is -, read standard input.\n"
    "\n";

/* ---- values ---- */

/* The last of --bos and --no-bos counts. */
static enum gg_status
set_bos(void *options, const struct cli_option *row, const char *value,
        struct gg_error *err)
{
    struct arguments *a = options;

    (void)value, (void)err;
    a->bos = row->name[0] == 'b';
    a->options.no_bos = !a->bos;
    return GG_OK;
}

static enum gg_status
set_records(void *options, const struct cli_option *row, const char *value,
            struct gg_error *err)
{
    struct tokenize_options *o = &((struct arguments *)options)->options;

    (void)value, (void)err;
    o->records = true;
    o->end = row->letter == '0' ? '\0' : '\n';
    return GG_OK;
}

static enum gg_status
set_pairs(void *options, const struct cli_option *row, const char *value,
          struct gg_error *err)
{
    struct tokenize_options *o = &((struct arguments *)options)->options;

    (void)row, (void)value, (void)err;
    o->pairs = o->records = true;
    o->end = '\n';
    return GG_OK;
}

static enum gg_status
set_binary(void *options, const struct cli_option *row, const char *value,
           struct gg_error *err)
{
    struct arguments *a = options;
    int which = 0;
    enum gg_status st = cli_read_word(row, value, &which, err);

    a->options.binary = which ? 4 : 2;
    return st;
}

static enum gg_status
set_template(void *options, const struct cli_option *row, const char *value,
             struct gg_error *err)
{
    struct arguments *a = options;

    (void)row, (void)err;
    a->options.chat = chat_template(value);
    return GG_OK;
}

static enum gg_status
set_max_held(void *options, const struct cli_option *row, const char *value,
             struct gg_error *err)
{
    struct arguments *a = options;
    char name[CLI_OPTION_NAME];
    int64_t mib = 0;
    enum gg_status st = cli_read_int(cli_option_name(row, name), value, 1,
                                     INT32_MAX, &mib, err);

    a->options.max_held = (uint64_t)mib << 20;
    return st;
}

/* ---- the table ---- */

#define AT(field)  .at = offsetof(struct arguments, field)
#define OPT(field) .at = offsetof(struct arguments, options.field)

/* clang-format off */
static const struct cli_option rows[] = {
    { "decode", 'd', CLI_FLAG, NULL, "turn ids back into text", AT(decode),
      .shown = "-d" },
    { "bos", 0, CLI_CALL, NULL, NULL, .set = set_bos, .not_with = "decode" },
    { "eos", 0, CLI_FLAG, NULL,
      "put BOS before a text, EOS after it, whatever the model says", AT(eos),
      .not_with = "decode|chat" },
    { "no-bos", 0, CLI_CALL, NULL,
      "add no token; with -d: take the ids as the start of a text",
      .set = set_bos },
    { "special", 0, CLI_WORD, "WHAT",
      "treat names of control tokens in the text: parse them, take them as "
      "text (default), or error; with -d, parse writes them",
      OPT(special), .values = SPECIAL_WORDS },
    { "strict", 0, CLI_FLAG, NULL,
      "fail on a byte that has no token, as --special error does (else leave "
      "it out)", OPT(strict), .not_with = "decode" },
    { "tokenizer", 0, CLI_WORD, "WHICH",
      "greedy: the longest match, as in ggml's GPT-2 example; exact: the "
      "vocabulary's tokenizer (default)",
      OPT(tokenizer), .values = "exact|greedy" },
    { "lines", 0, CLI_CALL, NULL,
      "take each line of text as a numbered sequence",
      .set = set_records },
    { "null", '0', CLI_CALL, NULL,
      "take each NUL-ended record as a numbered sequence", .set = set_records },
    { "shard", 0, CLI_CALL, "I/N", SHARD_HELP, OPT(shard), .set = shard_set,
      .only_with = "lines|null|pairs|decode", .not_with = "budget" },
    { "fields", 0, CLI_FLAG, NULL,
      "with --lines: write a chunk for each field of a line", OPT(fields),
      .only_with = "lines", .not_with =
      "decode|chat|binary|pieces|offsets|max|budget" },
    { "pairs", 0, CLI_CALL, NULL,
      "for a reranker: take each line as a query, TAB, document, or a JSON "
      "object of both, and write a numbered sequence",
      .set = set_pairs, .not_with =
      "decode|chat|binary|pieces|offsets|budget|fields|escapes|null|prefix|"
      "prompt-name" },
    { "prefix", 0, CLI_TEXT, "TEXT", "put TEXT in front of each text",
      OPT(prefix), .not_with = "decode|chat|offsets|budget|prompt-name" },
    { "suffix", 0, CLI_TEXT, "TEXT",
      "fill in the middle: ask for the text between the input and TEXT",
      OPT(suffix), .not_with =
      "decode|chat|eos|offsets|fields|pairs|budget|max" },
    { "prompt-name", 0, CLI_TEXT, "NAME",
      "use the prompt NAME from config_sentence_transformers.json in the "
      "model's folder", AT(prompt), .not_with = "decode|chat|offsets|budget" },
    { "escapes", 0, CLI_FLAG, NULL,
      "with --lines: \\n, \\t, \\\\ in a line stand for newline, tab, "
      "backslash, as -d --lines writes them", OPT(escapes),
      .only_with = "lines", .not_with = "decode|chat|offsets" },
    { "rows", 0, CLI_TEXT, "FILE",
      "put the markers and rows of images and sounds from gg-encode before "
      "each text, or where", AT(rows), .use = SANDBOX_READ, .not_with =
      "binary|pieces|offsets|budget|pairs|fields|suffix|text|truncate" },
    { "marker", 0, CLI_TEXT, "STRING",
      "STRING stands for the next of them, in the order of all texts",
      OPT(marker), .only_with = "rows", .not_with = "decode|chat|escapes" },
    { .part = media_message_rows, AT(files) },
    { "max", 0, CLI_SIZE, "N",
      "at most N ids for each text; more ids are an error, or with",
      OPT(max), 1, INT32_MAX, .not_with = "decode" },
    { "truncate", 0, CLI_WORD, "SIDE", "cut them off at this side: left, right",
      OPT(truncate), TRUNCATE_LEFT, .values = "left|right",
      .only_with = "max", .not_with = "chat" },
    { "threads", 't', CLI_INT, "N", "threads for encoding (default 1)",
      OPT(threads), 1, 1024, .shown = "-t", .not_with = "decode" },
    { .help = "\nInstead of lines of ids:" },
    { "count", 0, CLI_FLAG, NULL, "the number of ids", OPT(count),
      .not_with = "decode|pieces|offsets" },
    { "pieces", 0, CLI_FLAG, NULL,
      "a line for each id, with its bytes", OPT(pieces),
      .not_with = "decode" },
    { "offsets", 0, CLI_FLAG, NULL,
      "a line for each id, with its bytes and their range in the text",
      OPT(offsets),
      .not_with = "decode|chat" },
    { "binary", 0, CLI_CALL, "TYPE",
      "ids as u16 or u32, little-endian; with -d: read them", .set = set_binary,
      .values = "u16|u32", .not_with = "count|pieces|offsets|budget" },
    { "budget", 0, CLI_SIZE, "N",
      "byte ranges of pieces of the text with at most N tokens, cut at line "
      "ends; with -0 the pieces", OPT(budget), 1, INT32_MAX / 64,
      .not_with = "decode|pieces|offsets|count|chat|max|lines" },
    { .help = "" },
    { "chat", 0, CLI_FLAG, NULL,
      "read messages, {\"role\": ..., \"content\": ...}, and write the ids "
      "that let the model answer", AT(chat) },
    { "template", 0, CLI_CALL, "NAME",
      "chat template instead of the model's: a name or a file; list: list the "
      "names",
      .set = set_template, .use = SANDBOX_READ, .opens = true,
      .values = "list", .list = chat_template_name,
      .only_with = "chat" },
    { "date", 0, CLI_CALL, "DATE", CHAT_DATE_HELP, OPT(chat_date),
      .set = chat_set_date, .only_with = "chat" },
    { "template-arg", 0, CLI_CALL, "NAME=JSON",
      "give the chat template a variable; may be repeated",
      OPT(chat_arguments), .set = reasoning_set_argument,
      .only_with = "chat" },
    { "text", 0, CLI_FLAG, NULL,
      "with --chat: write the text that the template makes, not its ids",
      AT(text), .only_with = "chat",
      .not_with = "lines|null|count|binary|max" },
    { "no-answer", 0, CLI_FLAG, NULL,
      "with --chat: no generation prompt", AT(no_answer),
      .only_with = "chat" },
    { "replace-invalid", 0, CLI_FLAG, NULL,
      "with -d: write U+FFFD for invalid UTF-8", OPT(clean) },
    { "raw", 0, CLI_FLAG, NULL,
      "with -d: write control characters unchanged to a terminal", OPT(raw) },
    { "newline", 0, CLI_FLAG, NULL,
      "with -d: end the text with a newline, unless it has one",
      OPT(newline) },
    { "max-held", 0, CLI_CALL, "MiB",
      "with -d: memory for open sequences (default 1024)",
      .set = set_max_held },
    { .help = "" },
    { "model", 'm', CLI_TEXT, "MODEL",
      "the model whose vocabulary is used", AT(model) },
    { "prompt", 'p', CLI_TEXT, "TEXT",
      "read TEXT instead of a file; with --chat, TEXT is a user's message",
      OPT(typed), .shown = "-p", .not_with =
      "decode|lines|null|pairs|budget|file" },
    { "file", 'f', CLI_TEXT, "FILE", "the same as FILE", AT(file) },
    { "output", 'o', CLI_TEXT, "FILE",
      "write to FILE instead of standard output", AT(output),
      .use = SANDBOX_WRITE },
    { "quiet", 'q', CLI_FLAG, NULL,
      "do not report which model is used when none is named",
      AT(options.quiet) },
    { "verbose", 'v', CLI_FLAG, NULL,
      "report on stderr what was read and written", OPT(verbose) },
    CLI_HELP_AND_VERSION,
    { 0 },
};
/* clang-format on */

/* ---- what depends on values ---- */

/* Two options that do not go together; the first was given if it is true. */
struct pair {
    bool first, second;
    const char *name, *with;
};

static void
check_arguments(const struct arguments *a)
{
    const struct tokenize_options *o = &a->options;
    const bool d = a->decode, special = o->special == SPECIAL_ERROR;
    const struct pair pairs[] = {
        { d, a->chat, "-d", "--chat" },
        { d, special, "--special error", "-d" },
        { d, o->tokenizer, "--tokenizer", "-d" },
        { d && o->binary, o->records, "--binary", "records" },
        { !d, o->clean, "--replace-invalid", "encoding" },
        { !d, o->raw, "--raw", "encoding" },
        { !d, o->newline, "--newline", "encoding" },
        { a->chat, o->special != SPECIAL_TEXT, "--special", "--chat" },
        { a->chat, o->tokenizer, "--tokenizer", "--chat" },
        { o->budget, o->tokenizer, "--tokenizer", "--budget" },
        { o->suffix, o->tokenizer, "--tokenizer", "--suffix" },
        { o->budget, o->threads > 1, "--budget", "-t" },
    };

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        if (pairs[i].first && pairs[i].second)
            cli_misuse("%s does not go with %s", pairs[i].name, pairs[i].with);
    if ((o->fields || o->escapes) && o->end != '\n')
        cli_misuse("%s goes with --lines only",
                   o->fields ? "--fields" : "--escapes");
}

/* Whether messages may bring media. Of records the line that names media would
 * come last, so that these are wanted by name. */
static bool
takes_media(const struct arguments *a)
{
    const struct media_files *f = &a->files;

    return a->chat && !a->rows && !a->text &&
           (!a->options.records || f->mmproj || f->folder);
}

static void
allow(const void *options)
{
    const struct arguments *a = options;

    media_files_allow(&a->files, a->model, takes_media(a));
}

static void
check_media_options(const struct arguments *a)
{
    const struct media_files *f = &a->files;

    if (!a->chat && (f->mmproj || f->folder || f->min_tokens || f->max_tokens))
        cli_misuse("--mmproj, --media-dir, --image-min-tokens and "
                   "--image-max-tokens go with --chat only");
    if (a->options.marker && !*a->options.marker)
        cli_misuse("--marker has no text");
}

void
parse_arguments(int argc, char **argv, struct arguments *a)
{
    static const struct cli_tool tool = {
        .usage = usage, .options = rows, .column = 23, .allow = allow
    };
    int first;

    *a = (struct arguments){ .options = { .end = '\n',
                                          .max_held = UINT64_C(1) << 30 } };
    first = cli_parse(argc, argv, &tool, a);
    cli_hint_file("; a text comes in a pipe: echo TEXT | gg-tokenize");
    if (first < argc)
        a->file = cli_one_file(argc, argv, first, a->file);
    if (a->options.typed && a->file)
        cli_misuse("-p TEXT and FILE are both the input");
    check_media_options(a);
    check_arguments(a);
    if (takes_media(a))
        a->options.intake =
            media_intake_new(&a->files, a->model, a->options.threads);
}
