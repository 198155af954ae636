/* file_sampling.c - what the model's file says of sampling
 *
 * Keys of general.sampling are options of other names: a value that the command
 * line does not say is set as the option is, so that a record's member takes
 * its place as it takes the option's. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/sampling.h"

static const struct {
    const char *key, *option;
} keys[FILE_SAMPLING_KEYS] = {
    { "sequence", "samplers" },
    { "top_k", "top-k" },
    { "top_p", "top-p" },
    { "min_p", "min-p" },
    { "xtc_probability", "xtc-probability" },
    { "xtc_threshold", "xtc-threshold" },
    { "temp", "temp" },
    { "penalty_last_n", "repeat-last-n" },
    { "penalty_repeat", "repeat-penalty" },
    { "mirostat", "mirostat" },
    { "mirostat_tau", "mirostat-ent" },
    { "mirostat_eta", "mirostat-lr" },
};

/* ---- the line ---- */

/* A word of it, apart. */
struct pair {
    char key[32], value[FILE_SAMPLING_VALUE];
    size_t at; /* of the key, in the table */
};

/* False: there are no more; what is no key of ours is skipped. */
static bool
next_pair(const char **line, struct pair *p)
{
    while (*(*line += strspn(*line, " "))) {
        const char *word = *line;
        size_t n = strcspn(word, " "), key = strcspn(word, "= ");

        *line += n;
        if (key == n || key >= sizeof(p->key) || n - key > sizeof(p->value))
            continue;
        snprintf(p->key, sizeof(p->key), "%.*s", (int)key, word);
        snprintf(p->value, sizeof(p->value), "%.*s", (int)(n - key - 1),
                 word + key + 1);
        for (p->at = 0; p->at < FILE_SAMPLING_KEYS; p->at++)
            if (strcmp(keys[p->at].key, p->key) == 0)
                return true;
    }
    return false;
}

/* ---- values ---- */

static bool
is_said(const char *option)
{
    return cli_was_given(option) ||
           (strcmp(option, "temp") == 0 && cli_was_given("greedy"));
}

bool
file_sampling_may_say(const struct sampling_options *o, const char *option)
{
    return !o->file.is_left_out && !is_said(option);
}

static enum gg_status
try_stages(const char *stages, struct gg_error *err)
{
    struct gg_sampler_params p = { .stages = stages };
    struct gg_sampler *trial = NULL;
    enum gg_status st = gg_sampler_new(&p, &trial, err);

    gg_sampler_free(trial);
    return st;
}

static void
warn_unused(const char *from, const char *key, const char *part,
            const struct gg_error *err)
{
    if (from)
        cli_warn("%s: general.sampling.%s%s is not used: %s", from, key, part,
                 err->message);
}

/* Stages that are known act in their order; the names of others, as llama.cpp's
 * infill, get one warning. */
static enum gg_status
take_sequence(struct sampling_options *o, const char *value, const char *from,
              struct gg_error *err)
{
    struct buffer known = { 0 };
    struct gg_error first = { 0 };
    enum gg_status st;

    for (const char *p = value; *p; p += *p != '\0') {
        size_t n = strcspn(p, ";,"), used = known.len;
        char *name = cli_copy(p, n);

        if (try_stages(name, err) == GG_OK)
            buffer_format(&known, "%s%s", used ? ";" : "", name);
        else if (!*first.message)
            first = *err;
        free(name);
        p += n;
    }
    buffer_char(&known, '\0');
    st = known.len > 1 ? try_stages(known.p, err) : GG_ERR_ARG;
    if (st == GG_OK) {
        if (*first.message)
            warn_unused(from, "sequence", ": a stage", &first);
        snprintf(o->file.sequence, sizeof(o->file.sequence), "%s", known.p);
        o->params.stages = o->file.sequence;
    }
    buffer_clear(&known);
    return st;
}

static enum gg_status
take_value(struct sampling_options *o, const struct pair *p, const char *from,
           struct gg_error *err)
{
    const char *value = p->value;

    if (strcmp(p->key, "sequence") == 0)
        return take_sequence(o, value, from, err);
    if (strcmp(p->key, "top_k") == 0 && strcmp(value, "-1") == 0)
        value = "0"; /* all, as other programs say it */
    for (const struct cli_option *row = sampling_rows; row->name; row++)
        if (strcmp(row->name, keys[p->at].option) == 0)
            return cli_option_set(row, o, value, err);
    return GG_OK;
}

static void
take_pair(struct sampling_options *o, const struct pair *p, const char *from)
{
    struct gg_error err;

    if (is_said(keys[p->at].option)) {
        o->file.whose[p->at] = FILE_SAMPLING_OPTION;
        return;
    }
    if (take_value(o, p, from, &err) == GG_OK) {
        o->file.whose[p->at] = FILE_SAMPLING_FILE;
        return;
    }
    warn_unused(from, p->key, "", &err);
}

void
file_sampling_take(struct sampling_options *o, const char *line,
                   const char *from)
{
    struct pair p;

    if (!line || o->file.is_left_out)
        return;
    o->file.line = line;
    while (next_pair(&line, &p))
        take_pair(o, &p, from);
}

void
file_sampling_said(struct sampling_options *o, const char *option)
{
    option = strcmp(option, "greedy") == 0 ? "temp" : option;
    for (size_t i = 0; o->file.line && i < FILE_SAMPLING_KEYS; i++)
        if (strcmp(keys[i].option, option) == 0)
            o->file.whose[i] = FILE_SAMPLING_RECORD;
}

/* ---- whose value counts ---- */

void
file_sampling_list(const struct sampling_options *o,
                   void (*put)(void *data, const char *key, const char *value,
                               const char *whose),
                   void *data)
{
    static const char *const words[] = { "ours", "file", "option", "record" };
    const char *line = o->file.line ? o->file.line : "";
    struct pair p;

    while (next_pair(&line, &p))
        put(data, p.key, p.value, words[o->file.whose[p.at]]);
}

static void
add_shown(void *data, const char *key, const char *value, const char *whose)
{
    struct buffer *out = data;

    buffer_format(out, "%s%s=%s (%s)", out->len ? ", " : "", key, value, whose);
}

void
file_sampling_tell(const struct sampling_options *o)
{
    struct buffer out = { 0 };

    file_sampling_list(o, add_shown, &out);
    if (out.len)
        cli_warn("sampling of the file, and whose value counts: %.*s",
                 (int)out.len, out.p);
    buffer_clear(&out);
}
