/* conversations.c - conversations become sequences, of which answers count
 *
 * A conversation is encoded as a whole. An answer begins where the prompt of
 * the messages before it ends, or where the conversation parts from that
 * prompt: a prompt may open reasoning that the conversation has not. It ends
 * where the encoding up to it, with itself, ends. */
#include <config.h>

#include <inttypes.h>
#include <unistd.h>

#include "common/chat.h"
#include "common/records/reader.h"
#include "gg-train/train.h"

enum {
    MAX_BYTES = 1 << 30, /* of a conversation */
};

struct encoded {
    int32_t *ids;
    size_t n, cap;
};

struct encoding {
    const struct gg_vocab *vocab;
    const struct gg_chat_template *chat;
    int64_t date;
};

/* The first n messages, or, with `answer`, up to where the next one begins. */
static enum gg_status
encode_some(const struct encoding *e, const struct chat *c, size_t n,
            bool answer, struct encoded *out, struct gg_error *err)
{
    struct chat part = *c;
    struct gg_chat_params params = { .flags = answer ? GG_CHAT_ANSWER : 0,
                                     .date = e->date };
    char *json = NULL;
    uint64_t left_out = 0;
    enum gg_status st;

    part.n = n;
    params.tools = c->tools;
    params.arguments = c->arguments;
    st = chat_messages_json(&part, &json, err);
    params.messages = json;
    out->n = 0;
    if (st == GG_OK)
        st = chat_encode(e->vocab, e->chat, &part, &params, &out->ids,
                         &out->cap, &out->n, &left_out, err);
    free(json);
    return st;
}

static size_t
shared(const struct encoded *a, const struct encoded *b)
{
    size_t n = 0;

    while (n < a->n && n < b->n && a->ids[n] == b->ids[n])
        n++;
    return n;
}

/* Whether all of the first m messages' ids begin those of `all`: a template
 * that writes them otherwise once more has been said has no place for answers.
 * *n: how many they are. */
static enum gg_status
check_before(const struct encoding *e, const struct chat *c, size_t m,
             const struct encoded *all, size_t *n, struct gg_error *err)
{
    struct encoded before = { 0 };
    enum gg_status st = GG_OK;

    if (m > 0)
        st = encode_some(e, c, m, false, &before, err);
    if (st == GG_OK && shared(&before, all) < before.n)
        st = cli_error(err, GG_ERR_UNSUPPORTED,
                       "message %zu: the template writes what was before "
                       "otherwise once there is more",
                       m + 1);
    *n = before.n;
    free(before.ids);
    return st;
}

/* Where the answer of message m begins in `all`. */
static enum gg_status
find_answer(const struct encoding *e, const struct chat *c, size_t m,
            const struct encoded *all, size_t *first, struct gg_error *err)
{
    struct encoded prompt = { 0 };
    size_t least = 0;
    enum gg_status st = encode_some(e, c, m, true, &prompt, err);

    *first = shared(&prompt, all);
    if (st == GG_OK && *first < prompt.n)
        st = check_before(e, c, m, all, &least, err);
    *first = *first < least ? least : *first;
    free(prompt.ids);
    return st;
}

/* Marks the ids of message m in `all`, unless it was left out. */
static enum gg_status
mark(const struct encoding *e, const struct chat *c, size_t m,
     const struct encoded *all, bool *counts, struct gg_error *err)
{
    struct encoded with = { 0 };
    size_t first;
    enum gg_status st = find_answer(e, c, m, all, &first, err);

    if (st == GG_OK)
        st = encode_some(e, c, m + 1, false, &with, err);
    if (st == GG_OK)
        for (size_t i = first; i < shared(&with, all); i++)
            counts[i] = true;
    free(with.ids);
    return st;
}

static uint64_t
count_targets(const bool *counts, size_t n)
{
    uint64_t targets = 0;

    for (size_t i = 1; i < n; i++)
        targets += counts[i];
    return targets;
}

static enum gg_status
add_chat(struct gg_train *train, enum gg_train_part part,
         const struct encoding *e, const struct chat *c, uint64_t line,
         struct added *added, struct gg_error *err)
{
    struct encoded all = { 0 };
    bool *counts = NULL;
    enum gg_status st = encode_some(e, c, c->n, false, &all, err);

    if (st == GG_OK) {
        counts = cli_alloc(NULL, all.n + 1, sizeof(*counts));
        memset(counts, 0, (all.n + 1) * sizeof(*counts));
    }
    for (size_t m = 0; m < c->n && st == GG_OK; m++)
        if (c->messages[m].role == GG_ROLE_ASSISTANT)
            st = mark(e, c, m, &all, counts, err);
    if (st == GG_OK)
        st = gg_train_add(train, part, all.ids, counts, all.n, err);
    if (st == GG_OK)
        added_count(added, all.n, count_targets(counts, all.n), line);
    free(all.ids);
    free(counts);
    return st;
}

static void
add_line(struct gg_train *train, enum gg_train_part part,
         const struct encoding *e, const struct reader *in, const char *line,
         size_t len, struct added *added)
{
    struct chat c = { 0 };
    struct gg_error err;
    enum gg_status st;

    if (in->too_long)
        cli_too_long(in->name, in->what, in->max);
    st = chat_read(&c, e->chat, line, len, false, &err);
    if (st == GG_OK)
        st = add_chat(train, part, e, &c, in->n_records, added, &err);
    if (st != GG_OK)
        cli_die("%s: line %" PRIu64 ": %s", in->name, in->n_records,
                err.message);
    chat_clear(&c);
}

static struct added
add_lines(struct gg_train *train, enum gg_train_part part,
          const struct encoding *e, int fd, const char *name)
{
    struct reader in = { .fd = fd,
                         .name = name,
                         .end = '\n',
                         .what = "a conversation",
                         .max = MAX_BYTES,
                         .max_lost = MAX_BYTES,
                         .skip_blank = true };
    struct added added = { 0 };
    enum reader_state state;
    const char *line;
    size_t len;

    while ((state = reader_next(&in, true, &line, &len)) == READER_RECORD)
        add_line(train, part, e, &in, line, len, &added);
    if (state == READER_WAITS)
        cli_raise(cli_signal());
    reader_clear(&in);
    return added;
}

struct added
conversations_add(struct gg_train *train, enum gg_train_part part,
                  const char *path, const struct train_options_of_tool *o)
{
    const char *name = cli_input_name(path);
    struct encoding e = { gg_train_vocab(train), o->chat, o->date };
    int fd = cli_open_input(path);
    struct added added;

    if (!e.chat)
        e.chat = chat_template_open(e.vocab, o->model);
    if (e.date == 0)
        e.date = chat_date();
    added = add_lines(train, part, &e, fd, name);
    if (added.n == 0)
        cli_die("%s: no conversations", name);
    if (e.chat != o->chat)
        chat_template_clear(e.chat);
    close(fd);
    return added;
}
