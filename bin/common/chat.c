/* chat.c - conversations, and the template that a tool uses for them */
#include <config.h>

#include "common/chat.h"
#include "common/json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* *whole gets `params` with all that the conversation has besides texts. */
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
