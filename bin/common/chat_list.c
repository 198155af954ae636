/* chat_list.c - conversations: lists of messages */
#include <config.h>

#include "common/chat_parts.h"
#include "common/json.h"
#include "common/media_intake.h"

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
chat_insert_medium(struct chat *c, size_t at, const struct media_place *place)
{
    size_t n = c->n_media - at;

    c->media = cli_alloc(c->media, c->n_media + 1, sizeof(*c->media));
    if (n)
        memmove(c->media + at + 1, c->media + at, n * sizeof(*c->media));
    c->media[at] = *place;
    c->n_media++;
    if (place->own)
        media_intake_hold(c->intake, place->item);
}

size_t
chat_count_job_media(const struct chat *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->n_media; i++)
        n += !c->media[i].own;
    return n;
}

static void
drop_last_medium(struct chat *c)
{
    const struct media_place *place = &c->media[--c->n_media];

    if (place->own)
        media_intake_release(c->intake, place->item);
}

/* Media of messages from number n on; and what takes more of them. */
static void
move_media(struct chat *c, const struct chat *from, size_t n)
{
    c->takes_media = from->takes_media;
    c->has_job_media = from->has_job_media;
    c->intake = from->intake;
    c->next_medium = from->next_medium;
    for (size_t i = 0; i < from->n_media; i++) {
        struct media_place place = from->media[i];

        if (place.message < n)
            continue;
        place.message += c->n - n;
        chat_insert_medium(c, c->n_media, &place);
    }
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

const char *
chat_role_name(enum gg_role role)
{
    static const char *const roles[] = { "system", "user", "assistant",
                                         "tool" };

    return roles[role];
}

void
chat_write(const struct chat *c, struct buffer *out)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct gg_message *m = &c->messages[i];

        buffer_format(out, "%s\n", i ? "," : "[");
        if (c->json[i]) {
            buffer_add(out, c->json[i], strlen(c->json[i]));
            continue;
        }
        buffer_format(
            out, "{\"role\": \"%s\", \"content\": ", chat_role_name(m->role));
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
    while (c->n_media && c->media[c->n_media - 1].message >= n)
        drop_last_medium(c);
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
    *c = (struct chat){ 0 };
}
