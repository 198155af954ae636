/* main.c - gg-tokenize: text to token ids, and back */
#include <config.h>

#include <string.h>

#include "common/reasoning.h"
#include "common/cli.h"
#include "common/reranker.h"
#include "gg-tokenize/pair.h"
#include "gg-tokenize/tokenize.h"

const char cli_name[] = "gg-tokenize";

/* Ends put around a text: the model's choice, unless an option chooses. */
static void
choose_ends(const struct gg_vocab *vocab, struct arguments *a,
            const char *model)
{
    struct tokenize_options *o = &a->options;

    if (a->bos && gg_vocab_bos(vocab) < 0)
        cli_die("%s: the vocabulary has no BOS token", model);
    if (a->eos && gg_vocab_eos(vocab) < 0)
        cli_die("%s: the vocabulary has no EOS token", model);
    o->bos = a->bos || (gg_vocab_add_bos(vocab) && !o->no_bos);
    o->eos = a->eos || (gg_vocab_add_eos(vocab) && !o->no_bos && !o->suffix);
    o->n_ends = o->eos + (o->eos && gg_vocab_decoder_start(vocab) >= 0);
    o->empty = a->bos || a->eos;
    if (!a->decode && o->max && o->max < (size_t)o->bos + o->n_ends)
        cli_misuse("--max %zu is no place for BOS and EOS", o->max);
    if (o->budget && o->budget <= (size_t)o->bos + o->n_ends)
        cli_misuse("--budget %zu has no place for a text", o->budget);
}

/* Ends the tool where --suffix has what it must not have. */
static void
check_suffix(const struct gg_vocab *vocab, const struct tokenize_options *o)
{
    size_t at;

    if (o->suffix && o->special == SPECIAL_ERROR &&
        gg_vocab_find_control(vocab, o->suffix, strlen(o->suffix), &at) >= 0)
        cli_die("--suffix has a control token at byte %zu", at);
}

static void
choose_chat(const struct gg_vocab *vocab, struct arguments *a,
            const char *model)
{
    struct tokenize_options *o = &a->options;
    struct gg_error err;

    if (!o->chat)
        o->chat = chat_template_open(vocab, model);
    if (o->verbose)
        cli_warn("%s: chat template %s", model, gg_chat_name(o->chat));
    if (!o->chat_date && gg_chat_takes_date(o->chat))
        shard_check_date(&o->shard);
    if (!o->chat_date)
        o->chat_date = chat_date();
    cli_check(reasoning_check_arguments(o->chat, o->chat_arguments, &err),
              &err);
    o->chat_flags =
        (a->no_answer ? 0 : GG_CHAT_ANSWER) | (a->bos ? GG_CHAT_BOS : 0) |
        (o->no_bos ? GG_CHAT_NO_BOS : 0) | (o->strict ? GG_CHAT_STRICT : 0);
}

/* The id of a row is none of a token. */
static void
read_media(const struct gg_vocab *vocab, struct arguments *a)
{
    struct tokenize_options *o = &a->options;
    struct media *m = media_read(a->rows, false);

    if (m->head.first < gg_vocab_size(vocab))
        cli_die("%s: its rows begin at id %ld, and the vocabulary has %ld "
                "tokens: they were made for another model",
                m->name, (long)m->head.first, (long)gg_vocab_size(vocab));
    if (o->verbose)
        media_describe(m);
    o->media = m;
    o->threads = 1; /* texts take their media in turn */
}

enum {
    MAX_TEXT = 1 << 28
}; /* bytes of a conversation */

/* The text that the template makes of the input. Returns the exit status. */
static int
write_text(const struct gg_vocab *vocab, const struct tokenize_options *o)
{
    unsigned plainer = 0;
    const struct gg_chat_params params = { .flags = o->chat_flags,
                                           .date = o->chat_date,
                                           .plainer = &plainer };
    struct chat chat = { 0 };
    struct gg_error err;
    size_t len, n = 0;
    char *json = NULL, *text = NULL;
    enum gg_status st = GG_OK;

    if (o->typed)
        chat_append(&chat, GG_ROLE_USER, o->typed, strlen(o->typed));
    else
        json = cli_read_all(o->fd, o->input, MAX_TEXT, &len);
    if (json)
        st = chat_read(&chat, o->chat, json, len, true, &err);

    if (st == GG_OK)
        st = reasoning_give_arguments(&chat, o->chat_arguments, &err);
    if (st == GG_OK)
        st = chat_rendered(vocab, o->chat, &chat, &params, &text, &n, &err);
    if (st != GG_OK)
        cli_die("%s: %s", o->input, err.message);
    if (o->verbose)
        chat_tell_plainer(o->input, plainer);
    if (n)
        fwrite(text, 1, n, stdout);
    chat_clear(&chat);
    free(json);
    free(text);
    return 0;
}

static int
convert(const struct gg_vocab *vocab, const struct arguments *a)
{
    const struct tokenize_options *o = &a->options;

    if (a->text)
        return write_text(vocab, o);

    if (a->decode)
        return tokenize_decode(vocab, o);
    return o->budget ? tokenize_budget(vocab, o) : tokenize_encode(vocab, o);
}

static int
run(struct arguments *a)
{
    struct tokenize_options *o = &a->options;
    const char *model = cli_model(a->model, a->options.quiet);
    struct gg_vocab *vocab;
    struct gg_error err;
    char *prompt = NULL;
    int status;

    o->fd = o->typed ? -1 : cli_open_input(a->file);
    o->input = o->typed ? "-p" : cli_input_name(a->file);
    cli_check(gg_vocab_open(model, &vocab, &err), &err);
    if (gg_vocab_note(vocab))
        cli_warn("%s: %s", model, gg_vocab_note(vocab));
    if (o->verbose)
        cli_warn("%s: %d tokens", model, (int)gg_vocab_size(vocab));
    if (o->pairs)
        reranker_check(model, false);
    choose_ends(vocab, a, model);
    check_suffix(vocab, o);
    if (a->prompt)
        o->prefix = prompt = prompt_read(model, a->prompt);
    if (a->rows)
        read_media(vocab, a);
    if (o->threads == 0 || o->intake) /* media come in turn */
        o->threads = 1;
    if (o->binary == 2 && gg_vocab_size(vocab) > 1 << 16)
        cli_die("%s: %d tokens do not fit into u16", model,
                (int)gg_vocab_size(vocab));
    if (a->chat)
        choose_chat(vocab, a, model);
    cli_output(a->output);
    if (o->binary && !a->decode)
        cli_refuse_terminal();
    status = convert(vocab, a);
    free(prompt);
    chat_template_clear(o->chat);
    free(o->chat_arguments);
    media_intake_free(o->intake);
    media_free(o->media);
    gg_vocab_free(vocab);
    return status;
}

int
main(int argc, char **argv)
{
    struct arguments a;

    cli_start();
    parse_arguments(argc, argv, &a);
    return cli_finish(run(&a));
}
