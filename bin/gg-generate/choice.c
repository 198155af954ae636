/* choice.c - which of several texts is likeliest to follow the prompt */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gg-generate/generate.h"

/* A choice with the prompt in front of it. */
struct scored {
    const struct choice *choice;
    int32_t *ids;
    size_t n;
    float *logprobs; /* scratch, of n */
    double sum;
};

/* ---- the option ---------------------------------------------------------- */

/* The byte that a backslash and `c` stand for. */
static char
escaped(char c)
{
    static const char from[] = ",\\nt", to[] = ",\\\n\t";
    const char *p = c ? strchr(from, c) : NULL;

    if (!p)
        cli_misuse("--choice: a backslash goes before a comma, a backslash, n "
                   "or t");
    return to[p - from];
}

void
choices_add(struct choices *c, const char *list)
{
    const char *p = list;

    for (bool more = true; more; p++) {
        struct choice *new;

        c->list = cli_alloc(c->list, c->n + 1, sizeof(*c->list));
        new = &c->list[c->n++];
        *new = (struct choice){ .text = cli_alloc(NULL, strlen(p) + 1, 1) };
        for (; *p && *p != ','; p++)
            new->text[new->len++] = *p == '\\' ? escaped(*++p) : *p;
        if (new->len == 0)
            cli_misuse("--choice: a choice is empty");
        more = *p == ',';
    }
}

void
choices_clear(struct choices *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->list[i].text);
    free(c->list);
    *c = (struct choices){ 0 };
}

/* ---- ids ----------------------------------------------------------------- */

/* The assistant's message is the choice, or goes on with it. */
static int32_t *
encode_answer(struct generate *g, const struct choice *choice, size_t *n)
{
    struct chat *chat = &g->chat;
    struct gg_message last = chat->messages[chat->n - 1];
    bool begun = last.role == GG_ROLE_ASSISTANT;
    struct buffer text = { 0 };
    int32_t *ids;

    if (begun)
        buffer_add(&text, last.content, last.len);
    buffer_add(&text, choice->text, choice->len);
    chat->n -= begun;
    chat_add(chat, GG_ROLE_ASSISTANT, text.p, text.len);
    ids = generate_chat(g, n);
    chat_truncate(chat, chat->n - 1);
    if (begun)
        chat->messages[chat->n++] = last;
    free(text.p);
    return ids;
}

static int32_t *
encode(struct generate *g, const struct choice *choice, size_t *n)
{
    struct buffer text = { 0 };
    int32_t *ids;

    if (g->o->chat)
        return encode_answer(g, choice, n);
    buffer_add(&text, g->prompt.p, g->prompt.len);
    buffer_add(&text, choice->text, choice->len);
    ids = generate_encode(g, text.p, text.len, n);
    free(text.p);
    return ids;
}

static size_t
common(const int32_t *a, size_t n, const struct scored *b)
{
    size_t i = 0;

    while (i < n && i < b->n && a[i] == b->ids[i])
        i++;
    return i;
}

/* All choices with the prompt; *head gets how many ids all of them and the
 * prompt, ids[0..n), begin with. */
static struct scored *
encode_all(struct generate *g, const int32_t *ids, size_t n, size_t *head)
{
    const struct choices *choices = &g->o->choices;
    struct scored *list = cli_alloc(NULL, choices->n, sizeof(*list));

    *head = n;
    for (size_t i = 0; i < choices->n; i++) {
        struct scored *s = &list[i];
        size_t alike;

        *s = (struct scored){ .choice = &choices->list[i] };
        s->ids = encode(g, s->choice, &s->n);
        s->logprobs = cli_alloc(NULL, s->n, sizeof(*s->logprobs));
        alike = common(ids, n, s);
        if (alike == s->n)
            cli_die("--choice: '%s' adds no token to the prompt",
                    s->choice->text);
        *head = alike < *head ? alike : *head;
    }
    if (*head == 0)
        cli_die("no token of the prompt stays as it is before the choices; "
                "--bos puts one in front");
    return list;
}

/* ---- scores -------------------------------------------------------------- */

static void
check_room(const struct generate *g, const struct scored *s)
{
    char text[256];

    if (s->n <= (size_t)gg_session_n_ctx(g->engine.session))
        return;
    engine_say_full(&g->engine, 0, s->n, text, sizeof(text));
    cli_die("%s", text);
}

/* Slot 0 holds the ids in front of the last one that all begin with, or
 * nothing; others get what it holds. */
static void
score_some(struct generate *g, struct scored *s, size_t n, size_t head)
{
    struct gg_session *session = g->engine.session;
    struct gg_chunk chunks[CHOICES_AT_ONCE];
    size_t held[CHOICES_AT_ONCE];
    struct gg_error err;

    for (size_t i = 0; i < n; i++) {
        int32_t slot = (int32_t)i, all = (int32_t)head - 1;

        held[i] = (size_t)(i ? gg_session_copy(session, slot, 0, all)
                             : gg_session_truncate(session, 0, all));
        chunks[i] = (struct gg_chunk){ .slot = slot,
                                       .ids = s[i].ids + held[i],
                                       .n = s[i].n - 1 - held[i],
                                       .logprobs = s[i].logprobs,
                                       .next = s[i].ids + s[i].n - 1 };
    }
    cli_check(gg_session_eval(session, chunks, n, &err), &err);
    for (size_t i = 0; i < n; i++)
        for (size_t k = head; k < s[i].n; k++)
            s[i].sum += (double)s[i].logprobs[k - 1 - held[i]];
}

static void
score_all(struct generate *g, struct scored *list, size_t n, size_t head)
{
    struct gg_chunk chunk = { .ids = list->ids, .n = head - 1 };
    size_t most = (size_t)g->engine.n_slots;
    struct gg_error err;

    if (head > 1)
        cli_check(gg_session_eval(g->engine.session, &chunk, 1, &err), &err);
    most = most < CHOICES_AT_ONCE ? most : CHOICES_AT_ONCE;
    for (size_t i = 0; i < n; i += most)
        score_some(g, list + i, n - i < most ? n - i : most, head);
}

/* ---- the answer ---------------------------------------------------------- */

/* The likeliest first; among equals the one that was named first. */
static int
compare(const void *x, const void *y)
{
    const struct scored *a = x, *b = y;

    if (a->sum != b->sum)
        return a->sum < b->sum ? 1 : -1;
    return a->choice < b->choice ? -1 : 1;
}

static void
put_scores(const struct scored *list, size_t n, size_t head)
{
    for (size_t i = 0; i < n; i++) {
        const struct choice *c = list[i].choice;
        char *shown = cli_alloc(NULL, c->len + 1, 5);

        printf("%.6f\t%zu\t%s\n", list[i].sum, list[i].n - head,
               gg_escape(shown, 5 * (c->len + 1), c->text, c->len));
        free(shown);
    }
}

void
generate_choice(struct generate *g)
{
    size_t n_prompt, head, n = g->o->choices.n;
    int32_t *ids = generate_prompt(g, &n_prompt);
    struct scored *list = encode_all(g, ids, n_prompt, &head);

    for (size_t i = 0; i < n; i++)
        check_room(g, &list[i]);
    score_all(g, list, n, head);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(list[i].sum))
            cli_die("the logits are not numbers");
    qsort(list, n, sizeof(*list), compare);
    if (g->o->scores)
        put_scores(list, n, head);
    else
        fwrite(list->choice->text, 1, list->choice->len, stdout);
    for (size_t i = 0; i < n; i++) {
        free(list[i].ids);
        free(list[i].logprobs);
    }
    free(list);
    free(ids);
}
