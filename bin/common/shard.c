/* shard.c - --shard I/N: one of N parts of a job whose records have numbers */
#include <config.h>

#include "common/shard.h"

#include <stdlib.h>

#include "common/chat.h"

enum {
    MAX_SHARDS = 1 << 30,
};

static enum gg_status
refuse_shard(const char *value, struct gg_error *err)
{
    return cli_error(err, GG_ERR_ARG,
                     "--shard: '%s' is not I/N, part I of N parts: 1/8 to 8/8",
                     value);
}

enum gg_status
shard_set(void *options, const struct cli_option *row, const char *value,
          struct gg_error *err)
{
    struct shard *s = (struct shard *)((char *)options + row->at);
    const char *slash = strchr(value, '/');
    int64_t index, count;
    char text[16];

    if (!slash || (size_t)(slash - value) >= sizeof(text))
        return refuse_shard(value, err);
    snprintf(text, sizeof(text), "%.*s", (int)(slash - value), value);
    if (cli_read_int("", slash + 1, 1, MAX_SHARDS, &count, err) != GG_OK ||
        cli_read_int("", text, 1, count, &index, err) != GG_OK)
        return refuse_shard(value, err);
    *s = (struct shard){ (uint64_t)index, (uint64_t)count };
    return GG_OK;
}

void
shard_check(const struct shard *s, bool numbered, const char *name)
{
    if (shard_is_part(s) && !numbered)
        cli_die("%s: --shard tells records apart by their numbers, and the "
                "stream has none: see gg-tokenize --lines",
                name);
}

bool
shard_has_line(const struct shard *s, const struct gg_line *line,
               const char *name)
{
    shard_check(s, line->numbered, name);
    return shard_has(s, line->sequence);
}

void
shard_check_date(const struct shard *s)
{
    if (shard_is_part(s) && !chat_date_is_fixed())
        cli_misuse("--shard: the date must be that of the whole job: --date or "
                   "SOURCE_DATE_EPOCH says it");
}
