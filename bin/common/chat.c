/* chat.c - conversations, and the template that a tool uses for them */
#include <config.h>

#include "common/chat.h"
#include "common/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void
chat_append(struct chat *c, enum gg_role role, const char *text, size_t len)
{
    char *copy = cli_alloc(NULL, len, 1);

    if (len)
        memcpy(copy, text, len);
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 16;
        c->messages = cli_alloc(c->messages, c->cap, sizeof(*c->messages));
        c->json = cli_alloc(c->json, c->cap, sizeof(*c->json));
    }
    c->json[c->n] = NULL;
    c->messages[c->n++] = (struct gg_message){ role, copy, len };
}

/* More of the last message. */
static void
append_text(struct gg_message *m, const char *text, size_t len)
{
    char *all = cli_alloc((char *)m->content, m->len + len, 1);

    if (len)
        memcpy(all + m->len, text, len);
    m->content = all;
    m->len += len;
}

void
chat_answer(struct chat *c, const char *text, size_t len)
{
    if (c->n && c->messages[c->n - 1].role == GG_ROLE_ASSISTANT)
        append_text(&c->messages[c->n - 1], text, len);
    else
        chat_append(c, GG_ROLE_ASSISTANT, text, len);
}

void
chat_thought(struct chat *c, const char *text, size_t len)
{
    const struct gg_message *m = &c->messages[c->n - 1];
    struct buffer json = { 0 };

    buffer_format(&json, "{\"role\":\"assistant\",\"reasoning_content\":");
    cli_json_add(&json, text, len);
    buffer_format(&json, ",\"content\":");
    cli_json_add(&json, m->content ? m->content : "", m->len);
    buffer_add(&json, "}", 2);
    free(c->json[c->n - 1]);
    c->json[c->n - 1] = json.p;
}

void
chat_count_medium(struct chat *c, enum gg_media_kind kind, size_t i)
{
    size_t n = c->n_media + 1;

    c->media = cli_alloc(c->media, n, sizeof(*c->media));
    c->media_at = cli_alloc(c->media_at, n, sizeof(*c->media_at));
    c->media[n - 1] = (unsigned char)kind;
    c->media_at[n - 1] = i;
    c->n_media = n;
}

/* Those of messages from number n on. */
static void
move_media(struct chat *c, const struct chat *from, size_t n)
{
    for (size_t i = 0; i < from->n_media; i++)
        if (from->media_at[i] >= n)
            chat_count_medium(c, (enum gg_media_kind)from->media[i],
                              c->n + from->media_at[i] - n);
}

void
chat_move(struct chat *c, struct chat *from, size_t n)
{
    move_media(c, from, n);
    for (size_t i = n; i < from->n; i++) {
        const struct gg_message *m = &from->messages[i];

        chat_append(c, m->role, m->content, m->len);
        c->json[c->n - 1] = from->json[i];
        from->json[i] = NULL;
    }
    chat_truncate(from, n);
}

void
chat_write(const struct chat *c, struct buffer *out)
{
    static const char *const roles[] = { "system", "user", "assistant",
                                         "tool" };

    for (size_t i = 0; i < c->n; i++) {
        const struct gg_message *m = &c->messages[i];

        buffer_format(out, "%s\n", i ? "," : "[");
        if (c->json[i]) {
            buffer_add(out, c->json[i], strlen(c->json[i]));
            continue;
        }
        buffer_format(out, "{\"role\": \"%s\", \"content\": ", roles[m->role]);
        cli_json_add(out, m->content ? m->content : "", m->len);
        buffer_char(out, '}');
    }
    buffer_format(out, "%s]\n", c->n ? "\n" : "[");
}

bool
chat_is_written(int fd)
{
    static const char some[] = "[\n{\"", none[] = "[]\n";
    char head[sizeof(some) - 1];
    ssize_t n = read(fd, head, sizeof(head));

    return n == 0 ||
           (n == sizeof(some) - 1 && memcmp(head, some, (size_t)n) == 0) ||
           (n == sizeof(none) - 1 && memcmp(head, none, (size_t)n) == 0);
}

void
chat_truncate(struct chat *c, size_t n)
{
    while (c->n > n) {
        free((char *)c->messages[--c->n].content);
        free(c->json[c->n]);
    }
    while (c->n_media && c->media_at[c->n_media - 1] >= n)
        c->n_media--;
}

void
chat_clear(struct chat *c)
{
    chat_truncate(c, 0);
    free(c->messages);
    free(c->json);
    free(c->tools);
    free(c->arguments);
    free(c->media);
    free(c->media_at);
    *c = (struct chat){ 0 };
}

CLI_NORETURN static void
list(void)
{
    const struct gg_chat_template *t;

    for (size_t i = 0; (t = gg_chat_at(i)); i++)
        puts(gg_chat_name(t));
    exit(cli_finish(EXIT_SUCCESS));
}

const char *
chat_template_name(size_t i)
{
    const struct gg_chat_template *t = gg_chat_at(i);

    return t ? gg_chat_name(t) : NULL;
}

enum {
    MAX_TEMPLATE = 1 << 22, /* bytes */
    USUAL = 1024,           /* ids of a conversation: most are not written
                               out twice */
};

static const struct gg_chat_template *
parse_file(const char *path)
{
    struct gg_chat_template *t;
    struct gg_error err;
    int fd = cli_open_input(path);
    size_t n;
    char *text = cli_read_all(fd, path, MAX_TEMPLATE, &n);

    close(fd);
    if (gg_chat_parse(text, n, &t, &err) != GG_OK)
        cli_die("%s: %s", path, err.message);
    free(text);
    return t;
}

const struct gg_chat_template *
chat_template(const char *name)
{
    const struct gg_chat_template *t = gg_chat_find(name);

    if (!t && (strcmp(name, "list") == 0 || strcmp(name, "help") == 0))
        list();
    if (!t && access(name, F_OK) == 0)
        t = parse_file(name);
    if (!t)
        cli_misuse("--template: '%s' is neither known nor a file; --template "
                   "list shows what is known",
                   name);
    return t;
}

enum gg_status
chat_template_own(const struct gg_vocab *vocab,
                  const struct gg_chat_template **out, struct gg_error *err)
{
    struct gg_chat_template *t = NULL;
    enum gg_status st;

    if (!gg_vocab_chat_source(vocab, NULL, NULL))
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "the model has no chat template; --template NAME says "
                         "which to use");
    st = gg_chat_open(vocab, NULL, &t, err);
    if (st == GG_OK)
        *out = t;
    return st;
}

const struct gg_chat_template *
chat_template_open(const struct gg_vocab *vocab, const char *path)
{
    const struct gg_chat_template *t = NULL;
    struct gg_error err;
    enum gg_status st = chat_template_own(vocab, &t, &err);

    if (st != GG_OK)
        cli_die("%s: %s%s", path, err.message,
                st == GG_ERR_UNSUPPORTED ? ", --template list shows them" : "");
    return t;
}

bool
chat_is_known(const struct gg_chat_template *t)
{
    return gg_chat_find(gg_chat_name(t)) != NULL;
}

void
chat_template_clear(const struct gg_chat_template *t)
{
    gg_chat_free((struct gg_chat_template *)t);
}

void
chat_check(const struct gg_vocab *vocab,
           const struct gg_chat_template *template)
{
    static const struct gg_message messages[] = {
        { GG_ROLE_USER, NULL, 0 },
        { GG_ROLE_ASSISTANT, NULL, 0 },
        { GG_ROLE_USER, NULL, 0 },
    };
    struct gg_encoded none;
    struct gg_error err;

    cli_check(gg_chat_encode(vocab, template, messages, 3, NULL, NULL, 0, &none,
                             &err),
              &err);
}

/* The same parameters with what the conversation has beside texts. */
static enum gg_status
whole_params(const struct chat *c, const struct gg_chat_params *params,
             struct gg_chat_params *whole, struct gg_error *err)
{
    char *json = NULL;
    enum gg_status st = chat_messages_json(c, &json, err);

    *whole = *params;
    whole->messages = json;
    whole->flags |= c->n_media ? (unsigned)GG_CHAT_MEDIA : 0;
    whole->tools = c->tools;
    whole->arguments = c->arguments;
    return st;
}

void
chat_tell_plainer(const char *name, unsigned plainer)
{
    static const char *const what[] = { "parts of contents were joined",
                                        "contents of null became empty",
                                        "the developer became the system" };

    for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
        if (plainer >> i & 1)
            cli_warn("%s: %s, as the chat template "
                     "does not take them otherwise",
                     name, what[i]);
}

enum gg_status
chat_encode(const struct gg_vocab *vocab,
            const struct gg_chat_template *template, const struct chat *c,
            const struct gg_chat_params *params, int32_t **ids, size_t *cap,
            size_t *n, uint64_t *left_out, struct gg_error *err)
{
    struct gg_encoded made = { 0 };
    struct gg_chat_params whole;
    enum gg_status st = whole_params(c, params, &whole, err);

    if (*cap == 0)
        *ids = cli_alloc(*ids, *cap = USUAL, sizeof(**ids));
    while (st == GG_OK) {
        st = gg_chat_encode(vocab, template, c->messages, c->n, &whole, *ids,
                            *cap, &made, err);
        if (st != GG_OK || made.n <= *cap)
            break;
        *ids = cli_alloc(*ids, *cap = made.n, sizeof(**ids));
    }
    free((char *)whole.messages);
    if (st == GG_OK) {
        *n = made.n;
        *left_out += made.left_out;
    }
    return st;
}

enum gg_status
chat_rendered(const struct gg_vocab *vocab,
              const struct gg_chat_template *template, const struct chat *c,
              const struct gg_chat_params *params, char **text, size_t *n,
              struct gg_error *err)
{
    size_t len = 0, cap = 16 * USUAL;
    char *s = cli_alloc(NULL, cap, 1);
    struct gg_chat_params whole;
    enum gg_status st = whole_params(c, params, &whole, err);

    while (st == GG_OK) {
        st = gg_chat_render(vocab, template, c->messages, c->n, &whole, s, cap,
                            &len, err);
        if (st != GG_OK || len <= cap)
            break;
        s = cli_alloc(s, cap = len, 1);
    }
    free((char *)whole.messages);
    if (st == GG_OK) {
        *text = s;
        *n = len;
    } else {
        free(s);
    }
    return st;
}
