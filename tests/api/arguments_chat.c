/* arguments_chat.c - arguments of functions of conversations */
#include "api/arguments.h"

static bool
chat_at(void)
{
    return !gg_chat_at(SIZE_MAX) && !gg_chat_at(10000);
}

static bool
chat_name(void)
{
    return !gg_chat_name(NULL);
}

static bool
chat_find(void)
{
    return !gg_chat_find(NULL) && !gg_chat_find("");
}

static bool
chat_parse(void)
{
    struct gg_chat_template *t;

    return refused(gg_chat_parse(NULL, 1, &t, &err)) &&
           refused(gg_chat_parse("a", 1, NULL, &err)) &&
           gg_chat_parse("{{", 2, &t, &err) == GG_ERR_FORMAT;
}

static bool
chat_open(void)
{
    struct gg_chat_template *t;

    return refused(gg_chat_open(NULL, NULL, &t, &err)) &&
           refused(gg_chat_open(vocab, NULL, NULL, &err)) &&
           gg_chat_open(vocab, "none", &t, &err) == GG_ERR_UNSUPPORTED;
}

static bool
chat_takes_date(void)
{
    struct gg_chat_template *t = NULL, *u = NULL;
    bool good =
        gg_chat_parse("{{ strftime_now('%Y') }}", 24, &t, &err) == GG_OK &&
        gg_chat_parse("now", 3, &u, &err) == GG_OK && gg_chat_takes_date(t) &&
        !gg_chat_takes_date(u);

    gg_chat_free(t);
    gg_chat_free(u);
    return good && !gg_chat_takes_date(NULL);
}

static bool
chat_free(void)
{
    gg_chat_free(NULL);
    return true;
}

static bool
vocab_chat_source(void)
{
    n = 7;
    gg_vocab_chat_source(vocab, NULL, NULL);
    return !gg_vocab_chat_source(NULL, NULL, &n) && n == 0;
}

static bool
chat_encode(void)
{
    const struct gg_chat_template *t = gg_chat_at(0);
    struct gg_message m[] = { { GG_ROLE_USER, "a", 1 },
                              { (enum gg_role)99, "a", 1 },
                              { GG_ROLE_USER, NULL, 1 },
                              { GG_ROLE_USER, "a", 1 } };
    struct gg_encoded *e = &encoded;

    const struct gg_chat_params zero = { 0 }, one = { .first = 1 },
                                two = { .first = 2 },
                                most = { .first = SIZE_MAX },
                                reserved = { .reserved = { 1 } };

#define ENCODE(v, t, m, n, params, i, out)                                     \
    gg_chat_encode(v, t, m, n, &params, i, 4, out, &err)
    return refused(ENCODE(NULL, t, m, 1, zero, ids, e)) &&
           refused(ENCODE(vocab, NULL, m, 1, zero, ids, e)) &&
           refused(ENCODE(vocab, t, NULL, 1, zero, ids, e)) &&
           refused(ENCODE(vocab, t, m, 0, zero, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, two, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, most, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, reserved, ids, e)) &&
           refused(ENCODE(vocab, t, m, 2, zero, ids, e)) &&
           refused(ENCODE(vocab, t, m + 2, 1, zero, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, one, ids, e)) &&
           refused(ENCODE(vocab, t, m, 1, zero, NULL, e)) &&
           refused(ENCODE(vocab, t, m, 1, zero, ids, NULL));
#undef ENCODE
}

static bool
chat_render(void)
{
    const struct gg_message m = { GG_ROLE_USER, "a", 1 };
    struct gg_chat_template *t;
    char text[8];
    size_t len;
    bool good;

    if (gg_chat_parse("{{ messages[0].content }}", 25, &t, &err) != GG_OK)
        return false;
    good =
        refused(gg_chat_render(NULL, t, &m, 1, NULL, text, 8, &len, &err)) &&
        refused(
            gg_chat_render(vocab, NULL, &m, 1, NULL, text, 8, &len, &err)) &&
        refused(gg_chat_render(vocab, t, &m, 0, NULL, text, 8, &len, &err)) &&
        refused(gg_chat_render(vocab, t, &m, 1, NULL, NULL, 8, &len, &err)) &&
        refused(gg_chat_render(vocab, t, &m, 1, NULL, text, 8, NULL, &err)) &&
        gg_chat_render(vocab, gg_chat_at(0), &m, 1, NULL, text, 8, &len,
                       &err) == GG_ERR_UNSUPPORTED &&
        gg_chat_render(vocab, t, &m, 1, NULL, NULL, 0, &len, &err) == GG_OK &&
        len == 1;
    gg_chat_free(t);
    return good;
}

static bool
chat_reader_new(void)
{
    struct gg_chat_reader *r = NULL;

    return refused(gg_chat_reader_new(NULL, gg_chat_at(0), NULL, &r, &err)) &&
           refused(gg_chat_reader_new(vocab, NULL, NULL, &r, &err)) &&
           refused(
               gg_chat_reader_new(vocab, gg_chat_at(0), NULL, NULL, &err)) &&
           !r;
}

static bool
chat_reader_free(void)
{
    gg_chat_reader_free(NULL);
    return true;
}

static bool
chat_reader_thinks(void)
{
    return !gg_chat_reader_thinks(NULL);
}

static bool
chat_reasoning(void)
{
    return !gg_chat_reasoning(NULL, true) &&
           !gg_chat_reasoning(gg_chat_at(0), false);
}

static bool
chat_reads(void)
{
    return !gg_chat_reads(NULL, "a") && !gg_chat_reads(gg_chat_at(0), "a");
}

static bool
chat_calls_open(void)
{
    struct gg_chat_calls *c = NULL;

    return refused(gg_chat_calls_open(NULL, gg_chat_at(0), &c, &err)) &&
           refused(gg_chat_calls_open(vocab, NULL, &c, &err)) &&
           refused(gg_chat_calls_open(vocab, gg_chat_at(0), NULL, &err)) && !c;
}

static bool
chat_calls_free(void)
{
    gg_chat_calls_free(NULL);
    return true;
}

static bool
chat_calls_name(void)
{
    return !*gg_chat_calls_name(NULL);
}

static bool
chat_calls_read(void)
{
    struct gg_calls_read out;
    enum gg_status st =
        gg_chat_calls_read(NULL, NULL, "a", 1, NULL, 0, &out, &err);

    return st == GG_ERR_ARG || st == GG_ERR_UNSUPPORTED;
}

static bool
chat_calls_grammar(void)
{
    size_t size;
    enum gg_status st =
        gg_chat_calls_grammar(NULL, "[]", NULL, NULL, 0, &size, &err);

    return st == GG_ERR_ARG || st == GG_ERR_UNSUPPORTED;
}

const struct argument_test arguments_chat[] = {
    TEST(chat_at),          TEST(chat_name),          TEST(chat_find),
    TEST(chat_parse),       TEST(chat_open),          TEST(chat_takes_date),
    TEST(chat_free),        TEST(vocab_chat_source),  TEST(chat_encode),
    TEST(chat_render),      TEST(chat_reasoning),     TEST(chat_reads),
    TEST(chat_calls_open),  TEST(chat_calls_free),    TEST(chat_calls_name),
    TEST(chat_calls_read),  TEST(chat_calls_grammar), TEST(chat_reader_new),
    TEST(chat_reader_free), TEST(chat_reader_thinks), { .name = NULL },
};
