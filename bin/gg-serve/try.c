/* try.c - --translate: a translation, without a port and without an engine */
#include <config.h>

#include <unistd.h>

#include "common/cli.h"
#include "common/chat.h"
#include "gg-serve/translate.h"
#include "gg-serve/try.h"

#ifdef HAVE_JANSSON

enum {
    MAX_BODY = 32 << 20,
};

static char *
read_whole(const char *path, size_t *len)
{
    int fd = cli_open_input(path);
    char *text = cli_read_all(fd, cli_input_name(path), MAX_BODY, len);

    if (fd != STDIN_FILENO)
        close(fd);
    return text;
}

static const struct translate_api *
find_api(const char *name)
{
    const struct translate_api *api = translate_named(name);

    if (!api)
        cli_misuse("--translate: '%s' is no interface that is known", name);
    return api;
}

static void
print_buffer(struct buffer *out)
{
    if (out->len == 0)
        return;
    fwrite(out->p, 1, out->len, stdout);
    if (out->p[out->len - 1] != '\n')
        putchar('\n');
    out->len = 0;
}

/* Each line is a record. */
static enum translate_state
try_lines(struct translation *t, const char *text, const char *end)
{
    enum translate_state state = TRANSLATE_MORE;
    struct buffer out = { 0 };

    while (text < end && state == TRANSLATE_MORE) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));

        newline = newline ? newline : end;
        if (newline > text)
            state = translation_take(t, text, (size_t)(newline - text), &out);
        text = newline + 1;
    }
    print_buffer(&out);
    buffer_clear(&out);
    return state;
}

static bool
try_records(struct translation *t, const char *path)
{
    size_t len;
    char *text = read_whole(path, &len);
    enum translate_state state = try_lines(t, text, text + len);

    free(text);
    if (state == TRANSLATE_MORE)
        cli_warn("the records end before the answer does");
    return state == TRANSLATE_DONE;
}

/* Lines of names. */
static int
list_models(const char *file)
{
    struct translate_model *list = NULL;
    struct buffer out = { 0 };
    size_t len, n = 0;
    char *text = read_whole(file, &len);

    for (char *name = strtok(text, "\n"); name; name = strtok(NULL, "\n")) {
        list = cli_alloc(list, n + 1, sizeof(*list));
        list[n++] = (struct translate_model){ name, chat_date(), 0 };
    }
    translate_models(list, n, false, &out);
    print_buffer(&out);
    buffer_clear(&out);
    free(list);
    free(text);
    return 0;
}

static void
tell_warnings(const struct translation *t)
{
    const char *text;

    for (size_t i = 0; (text = translation_warning(t, i)); i++)
        cli_warn("%s", text);
    if (translation_status(t) != 200)
        cli_warn("status %d", translation_status(t));
}

static int
translate_request(const struct try_options *o, const char *file)
{
    const struct translate_with with = { .id = "r1",
                                         .unique = "1",
                                         .date = chat_date() };
    struct translation *t = translation_new(find_api(o->api), &with);
    struct buffer out = { 0 };
    size_t len;
    char *body = read_whole(file, &len);
    bool right = translation_read(t, o->type, body, len, &out);

    free(body);
    if (!o->answer || !right)
        print_buffer(&out);
    else
        right = try_records(t, o->answer);
    tell_warnings(t);
    buffer_clear(&out);
    translation_free(t);
    return right ? 0 : 1;
}

int
try_translate(const struct try_options *o, const char *file)
{
    if (strcmp(o->api, "models") == 0)
        return list_models(file);
    return translate_request(o, file);
}

#else

int
try_translate(const struct try_options *o, const char *file)
{
    (void)o, (void)file;
    cli_die("this gg-serve was built without Jansson, and reads no JSON");
}

#endif
