/* options.c - the command line of gg-generate */
#include <config.h>

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "gg-generate/editor.h"
#include "gg-generate/media.h"
#include "gg-generate/options.h"

enum {
    MAX_BATCH = 1024,
    DEFAULT_BATCH = 8,
};

static const char usage[] = "Usage: gg-generate [OPTION]... [FILE]\n"
                            "Continue the text of FILE, or of standard input.\n"
                            "\n";

/* ---- values ---- */

static enum gg_status
add_stop(void *options, const struct cli_option *row, const char *value,
         struct gg_error *err)
{
    struct options *o = options;

    if (!*value)
        cli_misuse("--%s: the string is empty", row->name);
    if (!o->stop)
        cli_check(gg_stop_new(&o->stop, err), err);
    return gg_stop_add(o->stop, value, strlen(value), err);
}

static enum gg_status
add_choices(void *options, const struct cli_option *row, const char *value,
            struct gg_error *err)
{
    struct options *o = options;

    (void)row;
    return choices_add_list(&o->choices, value, err);
}

static enum gg_status
set_template(void *options, const struct cli_option *row, const char *value,
             struct gg_error *err)
{
    struct options *o = options;

    (void)row, (void)err;
    o->template = chat_template(value);
    return GG_OK;
}

static enum gg_status
set_budget(void *options, const struct cli_option *row, const char *value,
           struct gg_error *err)
{
    struct options *o = options;
    char name[CLI_OPTION_NAME];
    int64_t n = -1;
    enum gg_status st = cli_read_int(cli_option_name(row, name), value, -1,
                                     INT64_C(1) << 40, &n, err);

    o->reasoning.is_limited = n >= 0;
    o->reasoning.budget = n >= 0 ? (uint64_t)n : 0;
    return st;
}

static enum gg_status
set_show(void *options, const struct cli_option *row, const char *value,
         struct gg_error *err)
{
    struct options *o = options;
    bool hide = strcmp(value, "hide") == 0;
    char name[CLI_OPTION_NAME];
    int64_t fd = 0;
    enum gg_status st = GG_OK;

    if (!hide && strcmp(value, "show") != 0)
        st = cli_read_int(cli_option_name(row, name), value, 2, INT_MAX, &fd,
                          err);
    if (st == GG_OK && fd && fcntl((int)fd, F_GETFD) < 0)
        return cli_error(err, GG_ERR_ARG, "%s: %s is not open",
                         cli_option_name(row, name), value);
    o->show_reasoning = hide ? HIDE_REASONING : (int32_t)fd;
    return st;
}

static enum gg_status
set_bytes(void *options, const struct cli_option *row, const char *value,
          struct gg_error *err)
{
    static const char units[] = "KMG";
    struct options *o = options;
    size_t n = strlen(value);
    const char *unit = n > 1 ? strchr(units, value[n - 1]) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    char name[CLI_OPTION_NAME], *number = cli_copy(value, n - (unit != NULL));
    int64_t x = 0;
    enum gg_status st = cli_read_int(cli_option_name(row, name), number, 1,
                                     INT64_C(1) << (50 - shift), &x, err);

    free(number);
    o->cache_ram = (uint64_t)x << shift;
    return st;
}

/* ---- the table ---- */

#define AT(field) .at = offsetof(struct options, field)
#define RECORDS   "lines|null|jsonl"
#define CHATS     "chat|system|interactive|messages|template|jsonl"
#define NO_GAP    ": a conversation has no gap"
#define IN_JSON   ": --jsonl has calls of each record"
#define WAITS     ": the next line of a conversation waits for an answer"

/* clang-format off */
const struct cli_option generate_rows[] = {
    { "prompt", 'p', CLI_TEXT, "TEXT",
      "continue TEXT; with FILE (- for standard input), continue TEXT and then "
      "FILE; with records, put TEXT before each",
      AT(prompt), .shown = "-p" },
    { "file", 'f', CLI_TEXT, "FILE", "continue the text of FILE", AT(input) },
    { "marker", 0, CLI_TEXT, "STRING",
      "let STRING in prompts stand for the next image or sound (else all come "
      "first)", AT(marker), .only_with = "rows|image|audio", .not_with =
      "chat|system|interactive|messages|template" },
    { "suffix", 0, CLI_TEXT, "TEXT",
      "fill in the middle: write what stands between the prompt and TEXT",
      AT(suffix), .record = true, .not_with = "chat" NO_GAP "|system" NO_GAP
      "|interactive" NO_GAP "|messages" NO_GAP "|template" NO_GAP
      "|choice: what is to come is not chosen" },
    { "pooling", 0, CLI_WORD, "KIND",
      "pooling of the embeddings that records ask for: mean, last, cls "
      "(first), or model (the model's own, default)",
      AT(pooling), .values = "mean|last|cls|model",
      .only_with = "jsonl" },
    { .part = sampling_rows, AT(sampling) },
    { "bos", 0, CLI_CONST, NULL, NULL, AT(bos), BOS_FIRST },
    { "no-bos", 0, CLI_CONST, NULL,
      "put the vocabulary's BOS first, or nothing", AT(bos), BOS_NONE },
    { "echo", 0, CLI_FLAG, NULL, "write the prompt as well", AT(echo) },
    { "special", 0, CLI_WORD, "WHAT",
      "treat names of control tokens in texts: parse and write them, take them "
      "as text (default), or error", AT(special), .values = SPECIAL_WORDS },
    { "strict", 0, CLI_FLAG, NULL,
      "fail on a byte that has no token, as --special error does (else leave "
      "it out)", AT(strict) },
    { "raw", 0, CLI_FLAG, NULL,
      "write control characters unchanged to a terminal", AT(raw) },
    { "newline", 0, CLI_FLAG, NULL,
      "end the text with a newline, as on a terminal, unless it has one",
      AT(newline) },
    { "stop", 0, CLI_CALL, "STRING",
      "end before STRING; may be repeated", .set = add_stop,
      .record = true, .members = "stop_sequences" },
    { "draft", 0, CLI_TEXT, "MODEL",
      "speculative decoding: draft tokens with a smaller model, with the "
      "model's own MTP layers (mtp), or by lookup in the text (prompt); auto: "
      "with MTP layers if there are any (default); none",
      AT(draft), .values = "auto|none|mtp|prompt" },
    { "draft-table", 0, CLI_TEXT, "FILE",
      "with --draft prompt: look up in the texts of earlier jobs, too, which "
      "FILE keeps", AT(draft_table), .use = SANDBOX_UPDATE },
    { "choice", 0, CLI_CALL, "A,B,...",
      "write which of A, B, ... is likeliest to follow",
      .set = add_choices, .record = true,
      .not_with = "draft: nothing is drawn|draft-table" },
    { "scores", 0, CLI_FLAG, NULL,
      "with --choice: write a line for each choice, with its score", AT(scores),
      .only_with = "choice|jsonl" },
    { .help = "" },
    { "chat", 0, CLI_FLAG, NULL,
      "take the prompt as a message, and write the answer", AT(chat) },
    { "system", 0, CLI_TEXT, "TEXT", "system message before the prompt",
      AT(system) },
    { "interactive", 'i', CLI_FLAG, NULL,
      "answer each line of standard input", AT(interactive),
      .shown = "-i", .use = SANDBOX_TYPED,
      .not_with = "lines" WAITS "|null" WAITS "|jsonl" WAITS },
    { "commands", 0, CLI_FLAG, NULL,
      "with -i: accept /commands even if standard input is no terminal",
      AT(commands), .only_with = "interactive" },
    { "messages", 0, CLI_FLAG, NULL,
      "take the prompt as a conversation in JSON",
      AT(messages),
      .not_with = "jsonl: records have a member of that name" },
    { "template", 0, CLI_CALL, "NAME",
      "chat template instead of the model's: a name or a file; list: list the "
      "names",
      .set = set_template, .use = SANDBOX_READ, .opens = true,
      .values = "list", .list = chat_template_name },
    { "date", 0, CLI_CALL, "DATE", CHAT_DATE_HELP, AT(date),
      .set = chat_set_date, .only_with = CHATS },
    { "tools", 0, CLI_TEXT, "FILE",
      "functions that the model may call: a JSON array", AT(tools),
      .only_with = CHATS },
    { "tool-choice", 0, CLI_TEXT, "WORD",
      "let the model call tools: none, auto, required, or the name of one tool",
      AT(tool_choice), .values = "none|auto|required",
      .only_with = "tools|messages|jsonl" },
    { "tool-calls", 0, CLI_INT, "FD",
      "write tool calls to file descriptor FD, a line of JSON each",
      AT(tool_calls), 1,
      1024, .only_with = CHATS, .not_with =
      "lines" IN_JSON "|null" IN_JSON "|jsonl: answers have them as tool_calls"
    },
    { "template-arg", 0, CLI_CALL, "NAME=JSON",
      "give the chat template a variable; may be repeated",
      AT(reasoning.arguments), .set = reasoning_set_argument,
      .only_with = CHATS, .record = true, .members = "chat_template_kwargs" },
    { "reasoning", 0, CLI_WORD, "WHEN",
      "let the model think before it answers: on, off, or auto (as its "
      "template does, default)", AT(reasoning.mode),
      .values = "auto|on|off", .only_with = CHATS, .record = true,
      .members = "enable_thinking|reasoning_effort|thinking" },
    { "reasoning-budget", 0, CLI_CALL, "N",
      "end a thought after N tokens; -1: no limit (default)", .set = set_budget,
      .only_with = CHATS, .record = true,
      .members = "thinking_budget_tokens|thinking_token_budget|"
                 "reasoning_budget_tokens" },
    { "reasoning-budget-message", 0, CLI_TEXT, "TEXT",
      "text that ends a thought cut off by --reasoning-budget",
      AT(reasoning.message),
      .only_with = CHATS, .record = true },
    { "show-reasoning", 0, CLI_CALL, "WHERE",
      "show thoughts as the model writes them (default), hide them, or write "
      "them to file descriptor WHERE", .set = set_show,
      .values = "show|hide", .only_with = CHATS },
    { .help = "" },
    { "lines", 0, CLI_CONST, NULL,
      "answer each line of the input with a line", AT(form), FORM_LINES },
    { "null", '0', CLI_CONST, NULL,
      "answer each NUL-ended record with a NUL-ended one",
      AT(form), FORM_NULL, .shown = "-0" },
    { "numbered", 0, CLI_FLAG, NULL,
      "with these: records and answers begin with a number and a tab; in JSON "
      "they have a member number",
      AT(numbered), .only_with = RECORDS },
    { "jsonl", 0, CLI_CONST, NULL,
      "answer JSON objects, one per line, with members prompt or messages, and "
      "options; or the requests of OpenAI's batch files",
      AT(form), FORM_JSONL },
    { "batch", 0, CLI_INT, "N", "records to answer at once (8)", AT(n_batch),
      1, MAX_BATCH, .only_with = RECORDS },
    { "slots", 0, CLI_INT, "N",
      "sequences whose KV cache is kept for records that begin alike (as many "
      "as --batch)", AT(n_slots), 1, MAX_BATCH, .only_with = RECORDS },
    { "cache-ram", 0, CLI_CALL, "BYTES",
      "limit the memory of kept KV caches; K, M, G are powers of 1024",
      AT(cache_ram),
      .set = set_bytes, .only_with = RECORDS },
    { "unordered", 0, CLI_FLAG, NULL,
      "write answers as they are done, and read records meanwhile; see "
      "gg-stream(5)", AT(unordered), .only_with = "jsonl",
      .not_with = "resume: answers have the order of the input there" },
    { "heartbeat", 0, CLI_INT, "SECONDS",
      "write a heartbeat record every SECONDS",
      AT(heartbeat), 1, 86400, .only_with = "unordered" },
    { "drain", 0, CLI_INT, "SECONDS",
      "time that running answers have to end after SIGTERM (30)",
      AT(drain), 0, 86400,
      .only_with = "unordered" },
    { "shard", 0, CLI_CALL, "I/N", SHARD_HELP, AT(shard), .set = shard_set,
      .only_with = RECORDS },
    { "resume", 0, CLI_TEXT, "FILE",
      "append the missing answers to FILE", AT(resume), .use = SANDBOX_UPDATE,
      .only_with = RECORDS },
    { .help = "" },
    { .part = state_rows, AT(state) },
    { "output", 'o', CLI_TEXT, "FILE", "write to FILE", AT(output),
      .use = SANDBOX_WRITE, .shown = "-o", .not_with = "resume: it names the output" },
    { .part = media_file_rows, AT(files) },
    { .part = engine_rows, AT(engine) },
    { 0 },
};
/* clang-format on */

/* ---- what goes with what ---- */

static void
refuse_together(bool given, const char *option, const char *with,
                const char *why)
{
    if (given)
        cli_misuse("%s does not go with %s: %s", option, with, why);
}

static void
check_chat(const struct options *o)
{
    refuse_together(o->chat && o->echo, "--echo", "a conversation",
                    "its prompt is not only text");
    if (o->messages && o->system)
        cli_misuse(
            "--system does not go with --messages, which have their own");
    refuse_together(o->interactive && o->sampling.none, "-n 0", "-i",
                    "there would be no answers");
    if (o->interactive && o->input && strcmp(o->input, "-") == 0)
        cli_misuse("-i reads standard input line by line, not as a prompt");
}

static void
check_thoughts(const struct options *o)
{
    if (o->form != FORM_TEXT && o->show_reasoning > 0)
        cli_misuse("--show-reasoning: a file descriptor is for the thoughts "
                   "of one text");
}

void
generate_check_shard(const struct options *o, bool has_file)
{
    const struct sampling_options *s = &o->sampling;
    bool draws = s->params.temperature != 0 && !o->choices.n &&
                 (has_file || !file_sampling_may_say(s, "temp"));

    if (shard_is_part(&o->shard) && !s->has_seed &&
        (draws || o->form == FORM_JSONL))
        cli_misuse("--shard: -s must say the seed of the whole job");
}

/* Records that say where media stand take them in turn, all of them. */
static void
check_media(const struct options *o)
{
    bool part = shard_is_part(&o->shard) || o->resume;
    const char *with = o->engine.rows ? "--rows" : "an image or a sound";

    if (!o->engine.rows && o->files.n == 0)
        return;
    if (o->marker && !*o->marker)
        cli_misuse("--marker has no text");
    refuse_together(o->suffix != NULL, "--suffix", with,
                    "it has no place for them");
    refuse_together(part && (o->marker || o->form == FORM_JSONL),
                    o->resume ? "--resume" : "--shard", with,
                    "records take the media in turn");
}

static void
check_records(const struct options *o)
{
    static const char *const names[] = { "one text", "--lines", "-0",
                                         "--jsonl" };

    if (o->form == FORM_TEXT)
        return;
    refuse_together(o->prompt && o->messages, "-p", "--messages in records",
                    "they are JSON");
    refuse_together(o->sampling.none, "-n 0", names[o->form],
                    "nothing would be left");
    refuse_together(o->state.save != NULL,
                    o->state.maybe ? "--state" : "--save", names[o->form],
                    "a state here is that of one text");
#ifndef HAVE_JANSSON
    if (o->form == FORM_JSONL)
        cli_die("--jsonl: this gg-generate was built without Jansson, and "
                "reads no JSON");
#endif
}

static void
allow(const void *options)
{
    const struct options *o = options;

    engine_allow(&o->engine);
    media_files_allow(&o->files, o->engine.model, generate_takes_media(o));
    if (o->interactive)
        editor_allow();
}

void
generate_parse(int argc, char **argv, struct options *o)
{
    static const struct cli_tool tool = { usage, generate_rows, 26,
                                          .allow = allow };
    int first;

    *o = (struct options){ .engine = engine_options_default(),
                           .sampling = sampling_options_default(),
                           .pooling = POOL_AS_MODEL,
                           .drain = 30,
                           .n_batch = DEFAULT_BATCH };
    o->sampling.takes_none = true;
    first = cli_parse(argc, argv, &tool, o);
    cli_hint_file("; a text goes after -p, in quotes, a model after -m");
    if (first < argc)
        o->input = cli_one_file(argc, argv, first, o->input);
    o->chat =
        o->chat || o->system || o->interactive || o->messages || o->template;
    check_chat(o);
    check_records(o);
    refuse_together(o->sampling.ban && o->engine.shift, "--ban", "--shift",
                    "a place before a shift is not there again");
    generate_check_shard(o, false);
    check_media(o);
    check_thoughts(o);
    o->engine.shows_progress = o->form != FORM_TEXT;
}
