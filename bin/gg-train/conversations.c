/* conversations.c - conversations become sequences, of which answers count
 *
 * A conversation is encoded as a whole. An answer is what the encoding up to
 * it, with itself, has behind that of what was before, where it is begun. */
#include <config.h>

#include <inttypes.h>
#include <unistd.h>

#include "common/chat.h"
#include "gg-train/train.h"

enum {
    MAX_BYTES = 1 << 30, /* of a file */
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
encode(const struct encoding *e, const struct chat *c, size_t n, bool answer,
       struct encoded *out, struct gg_error *err)
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
 */
static enum gg_status
check_before(const struct encoding *e, const struct chat *c, size_t m,
             const struct encoded *all, struct gg_error *err)
{
    struct encoded before = { 0 };
    enum gg_status st = encode(e, c, m, false, &before, err);

    if (st == GG_OK && shared(&before, all) < before.n)
        st = cli_error(err, GG_ERR_UNSUPPORTED,
                       "message %zu: the template writes what was before "
                       "otherwise once there is more",
                       m + 1);
    free(before.ids);
    return st;
}

/* Marks the ids of message m in `all`, unless it was left out. */
static enum gg_status
mark(const struct encoding *e, const struct chat *c, size_t m,
     const struct encoded *all, bool *counts, struct gg_error *err)
{
    struct encoded before = { 0 }, with = { 0 };
    enum gg_status st = encode(e, c, m, true, &before, err);

    if (st == GG_OK)
        st = encode(e, c, m + 1, false, &with, err);
    if (st == GG_OK && shared(&before, all) < before.n)
        st = m > 0 ? check_before(e, c, m, all, err) : GG_OK;
    else if (st == GG_OK)
        for (size_t i = before.n; i < shared(&with, all); i++)
            counts[i] = true;
    free(before.ids);
    free(with.ids);
    return st;
}

static enum gg_status
add_chat(struct gg_train *train, enum gg_train_part part,
         const struct encoding *e, const struct chat *c, struct gg_error *err)
{
    struct encoded all = { 0 };
    bool *counts = NULL;
    enum gg_status st = encode(e, c, c->n, false, &all, err);

    if (st == GG_OK) {
        counts = cli_alloc(NULL, all.n + 1, sizeof(*counts));
        memset(counts, 0, (all.n + 1) * sizeof(*counts));
    }
    for (size_t m = 0; m < c->n && st == GG_OK; m++)
        if (c->messages[m].role == GG_ROLE_ASSISTANT)
            st = mark(e, c, m, &all, counts, err);
    if (st == GG_OK)
        st = gg_train_add(train, part, all.ids, counts, all.n, err);
    free(all.ids);
    free(counts);
    return st;
}

static bool
is_blank(const char *text, size_t n)
{
    return strspn(text, " \t\r\n") >= n;
}

/* Returns how many there were. */
static uint64_t
add_lines(struct gg_train *train, enum gg_train_part part,
          const struct encoding *e, const char *text, size_t len,
          const char *name)
{
    uint64_t n = 0, number = 0;
    struct gg_error err;

    for (const char *line = text, *end; line < text + len; line = end + 1) {
        struct chat c = { 0 };
        enum gg_status st;

        end = memchr(line, '\n', (size_t)(text + len - line));
        end = end ? end : text + len;
        number++;
        if (is_blank(line, (size_t)(end - line)))
            continue;
        st = chat_read(&c, e->chat, line, (size_t)(end - line), false, &err);
        if (st == GG_OK)
            st = add_chat(train, part, e, &c, &err);
        if (st != GG_OK)
            cli_die("%s: line %" PRIu64 ": %s", name, number, err.message);
        chat_clear(&c);
        n++;
    }
    return n;
}

void
conversations_add(struct gg_train *train, enum gg_train_part part,
                  const char *path, const struct train_options_of_tool *o)
{
    const char *name = cli_input_name(path);
    struct encoding e = { gg_train_vocab(train), o->chat, o->date };
    int fd = cli_open_input(path);
    size_t len;
    char *text = cli_read_all(fd, name, MAX_BYTES, &len);

    if (!e.chat)
        e.chat = chat_template_open(e.vocab, o->model);
    if (e.date == 0)
        e.date = chat_date();
    if (add_lines(train, part, &e, text, len, name) == 0)
        cli_die("%s: no conversations", name);
    if (e.chat != o->chat)
        chat_template_clear(e.chat);
    free(text);
    close(fd);
}
