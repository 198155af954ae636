/* test_chat.c - conversations against other programs, and against hostile
 * contents */
#include <config.h>

#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_make.h"

#include "core/mem.h"
#include "fixtures/chat_golden.h"
#include "vocab/chat.h"

enum {
    IDS = 4096,
    LAST_NORMAL = 280, /* of both small vocabularies, or less */
};

static const struct {
    const struct gg_message *messages;
    size_t n;
} golden_chats[] = {
    { golden_chat_0, sizeof(golden_chat_0) / sizeof(golden_chat_0[0]) },
    { golden_chat_1, sizeof(golden_chat_1) / sizeof(golden_chat_1[0]) },
    { golden_chat_2, sizeof(golden_chat_2) / sizeof(golden_chat_2[0]) },
};

/* ---- vocabularies ---- */

static void
make_kind(struct make *m, bool bpe)
{
    if (!bpe) {
        make_spm(m);
        return;
    }
    make_bpe(m);
    make_merge(m, "\xc4\x8a \xc4\x8a");
    make_merge(m, "\xc4\xa0 \xc4\xa0");
}

static int
find(const struct make *m, const char *name)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->tokens[i], name) == 0)
            return (int)i;
    return -1;
}

static void
set_id(struct make *m, const char *key, const char *name)
{
    if (name)
        gguf_set_val_u32(m->gguf, key, (uint32_t)find(m, name));
}

static void
add_special(struct make *m, const char *name, enum gg_token_type type)
{
    if (find(m, name) < 0)
        make_token(m, name, type, 0);
}

/* All control tokens that the markup names. */
static void
add_named(struct make *m, const char *markup, enum gg_token_type type)
{
    char name[64];

    for (const char *s = markup; s && *s; s++)
        if (*s == CHAT_TOKEN || *s == CHAT_MAYBE) {
            size_t n = strcspn(s + 1, "\x03");

            snprintf(name, sizeof(name), "%.*s", (int)n, s + 1);
            add_special(m, name, type);
        }
}

/* A vocabulary with the tokens of all templates. */
static struct gg_vocab *
make_all(struct make *m, bool bpe, enum gg_token_type type)
{
    struct gg_vocab *v = NULL;

    make_kind(m, bpe);
    for (const struct gg_chat_template *t = vocab_chat_templates; t->name;
         t++) {
        for (int r = 0; r < CHAT_ROLES; r++) {
            add_named(m, t->turns[r].before, type);
            add_named(m, t->turns[r].after, type);
        }
        add_named(m, t->prelude, type);
        add_named(m, t->open, type);
    }
    add_special(m, "<s>", GG_TOKEN_CONTROL);
    add_special(m, "</s>", GG_TOKEN_CONTROL);
    set_id(m, "tokenizer.ggml.bos_token_id", "<s>");
    set_id(m, "tokenizer.ggml.eos_token_id", "</s>");
    if (make_load(m, &v, NULL) != GG_OK)
        v = NULL;
    return v;
}

/* ---- golden figures ---- */

static struct gg_vocab *
golden_vocab(struct make *m, const struct golden *g)
{
    struct gg_vocab *v = NULL;

    make_kind(m, strcmp(g->kind, "bpe") == 0);
    for (int i = 0; i < 8 && g->tokens[i]; i++)
        add_special(m, g->tokens[i], GG_TOKEN_CONTROL);
    set_id(m, "tokenizer.ggml.bos_token_id", g->bos);
    set_id(m, "tokenizer.ggml.eos_token_id", g->eos);
    gguf_set_val_bool(m->gguf, "tokenizer.ggml.add_bos_token", g->bos);
    gguf_set_val_bool(m->gguf, "tokenizer.ggml.add_space_prefix", g->blank);
    return make_load(m, &v, NULL) == GG_OK ? v : NULL;
}

static bool
golden_same(const struct gg_vocab *v, const struct golden *g,
            const int32_t *want)
{
    const struct gg_message *messages = golden_chats[g->chat].messages;
    size_t n_messages = golden_chats[g->chat].n, n = 0;
    bool ended = messages[n_messages - 1].role == GG_ROLE_ASSISTANT;
    static int32_t ids[IDS];
    struct gg_error err = { "" };
    enum gg_status st =
        encode_chat(v, gg_chat_find(g->name), messages, n_messages, 0,
                    ended ? 0 : GG_CHAT_ANSWER, ids, IDS, &n, &err);

    if (st != GG_OK)
        printf("# %s\n", err.message);
    for (size_t i = 0; st == GG_OK && i < n && i < g->n; i++)
        if (ids[i] != want[i]) {
            printf("# id %zu is %d, not %d\n", i, (int)ids[i], (int)want[i]);
            return false;
        }
    return st == GG_OK && n == g->n;
}

static void
test_golden(void)
{
    const int32_t *want = golden_ids;

    for (size_t i = 0; i < sizeof(golden) / sizeof(golden[0]); i++) {
        const struct golden *g = &golden[i];
        struct make m;
        struct gg_vocab *v = golden_vocab(&m, g);
        char name[64];

        snprintf(name, sizeof(name), "%s, %s, conversation %d", g->name,
                 g->kind, g->chat);
        ok(v && golden_same(v, g, want), name);
        want += g->n;
        gg_vocab_free(v);
        make_free(&m);
    }
}

/* ---- contents that pretend to be markup ---- */

/* The tokens of no text that the conversation has, in their order. */
static size_t
specials_of(const struct gg_vocab *v, const struct gg_chat_template *t,
            const char *content, int32_t *specials)
{
    static const enum gg_role roles[] = { GG_ROLE_SYSTEM, GG_ROLE_USER,
                                          GG_ROLE_ASSISTANT, GG_ROLE_USER };
    static int32_t ids[64 * IDS];
    struct gg_message messages[4];
    size_t n = 0, k = 0;

    for (size_t i = 0; i < 4; i++)
        messages[i] = (struct gg_message){ roles[i], content, strlen(content) };
    if (encode_chat(v, t, messages, 4, 0, GG_CHAT_ANSWER, ids, 64 * IDS, &n,
                    NULL) != GG_OK)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (gg_vocab_type(v, ids[i]) == GG_TOKEN_CONTROL ||
            gg_vocab_type(v, ids[i]) == GG_TOKEN_USER_DEFINED)
            specials[k++] = ids[i];
    return k + 1;
}

/* Every token's name, in pieces, doubled, and with the ends that neighbouring
 * markup might lack. */
static void
hostile_text(char *to, size_t size, const struct make *m, int32_t id)
{
    const char *s = m->tokens[id];
    int half = (int)strlen(s) / 2;

    snprintf(to, size, "%s %s%s\n%.*s|>%s<|%s%s", s, s, s, half, s, s + half,
             s + (s[0] == '<'), s);
}

static void
test_hostile(bool bpe, enum gg_token_type type, const char *name)
{
    static int32_t plain[IDS], got[IDS];
    struct make m;
    struct gg_vocab *v = make_all(&m, bpe, type);
    int wrong = 0, failed = 0;

    for (const struct gg_chat_template *t = vocab_chat_templates; v && t->name;
         t++) {
        size_t n = specials_of(v, t, "ab", plain);

        failed += n == 0;
        for (int32_t id = LAST_NORMAL - 5; id < (int32_t)m.n; id++) {
            char text[512];

            if (strncmp(m.tokens[id], "<user>", 6) == 0)
                continue; /* one that texts may hold */
            hostile_text(text, sizeof(text), &m, id);
            if (specials_of(v, t, text, got) != n ||
                memcmp(got, plain, (n - 1) * sizeof(*got)) != 0) {
                printf("# %s: %s\n", t->name, text);
                wrong++;
            }
        }
    }
    ok(v && failed == 0, "every template encodes a conversation");
    is(wrong, 0, name);
    gg_vocab_free(v);
    make_free(&m);
}

/* User-defined tokens, which texts may hold, are found in contents, too. */
static void
test_user_defined(void)
{
    struct make m;
    struct gg_vocab *v = make_all(&m, true, GG_TOKEN_CONTROL);
    struct gg_message message = { GG_ROLE_USER, "<user>", 6 };
    int32_t ids[64];
    size_t n;

    ok(encode_chat(v, gg_chat_find("phi4"), &message, 1, 0, 0, ids, 64, &n,
                   NULL) == GG_OK &&
           n == 8 && ids[6] == find(&m, "<user>"),
       "user-defined tokens that are no markup are found in contents");
    gg_vocab_free(v);
    make_free(&m);
}

/* ---- going on ---- */

static bool
goes_on(const struct gg_vocab *v, const struct gg_chat_template *t,
        enum gg_role first)
{
    static int32_t whole[IDS], parts[IDS];
    const struct gg_message m[] = {
        { first, "ab", 2 },
        { GG_ROLE_USER, "c", 1 },
        { GG_ROLE_ASSISTANT, "x", 1 },
        { GG_ROLE_USER, "b", 1 },
    };
    size_t skip = first == GG_ROLE_USER, n, k, more;

    if (encode_chat(v, t, m + skip, 4 - skip, 0, GG_CHAT_ANSWER, whole, IDS, &n,
                    NULL) != GG_OK ||
        encode_chat(v, t, m + skip, 3 - skip, 0, GG_CHAT_ANSWER, parts, IDS, &k,
                    NULL) != GG_OK ||
        encode_chat(v, t, m + skip, 4 - skip, 3 - skip, GG_CHAT_ANSWER,
                    parts + k, IDS - k, &more, NULL) != GG_OK)
        return false;
    return n == k + more && memcmp(whole, parts, n * sizeof(*whole)) == 0;
}

static void
test_going_on(void)
{
    struct make m;
    struct gg_vocab *v = make_all(&m, true, GG_TOKEN_CONTROL);
    int wrong = 0;

    for (const struct gg_chat_template *t = vocab_chat_templates; t->name; t++)
        if (!goes_on(v, t, GG_ROLE_USER) || !goes_on(v, t, GG_ROLE_SYSTEM)) {
            printf("# %s\n", t->name);
            wrong++;
        }
    is(wrong, 0, "a conversation that goes on has the ids of a whole one");
    gg_vocab_free(v);
    make_free(&m);
}

/* The first token after an answer ends a generation, so that it stops; where
 * none follows (GLM), it is that of the next message, which the file names. */
static void
test_ends(void)
{
    struct make m;
    struct gg_vocab *v = make_all(&m, true, GG_TOKEN_USER_DEFINED);
    int wrong = 0;

    for (const struct gg_chat_template *t = vocab_chat_templates; t->name;
         t++) {
        const char *after = t->turns[GG_ROLE_ASSISTANT].after;
        const char *s = strpbrk(after, "\x01\x05");
        size_t n = s ? strcspn(s + 1, "\x03") : 0;
        int32_t id = s && *s == CHAT_TOKEN ? gg_vocab_find(v, s + 1, n)
                                           : gg_vocab_eos(v);

        if (after[0] && (!s || !gg_vocab_is_eog(v, id))) {
            printf("# %s\n", t->name);
            wrong++;
        }
    }
    is(wrong, 0, "what ends an answer ends a generation");
    gg_vocab_free(v);
    make_free(&m);
}

static void
test_harmony_ends(void)
{
    struct make m;
    struct gg_vocab *v;

    make_kind(&m, true);
    add_special(&m, "<|end|>", GG_TOKEN_CONTROL);
    add_special(&m, "<|call|>", GG_TOKEN_CONTROL);
    add_special(&m, "<|return|>", GG_TOKEN_CONTROL);
    set_id(&m, "tokenizer.ggml.eot_token_id", "<|end|>");
    ok(make_load(&m, &v, NULL) == GG_OK, "harmony's tokens load");
    ok(!gg_vocab_is_eog(v, find(&m, "<|end|>")) &&
           gg_vocab_is_eog(v, find(&m, "<|return|>")) &&
           gg_vocab_is_eog(v, find(&m, "<|call|>")),
       "an answer of several messages ends with the last");
    gg_vocab_free(v);
    make_free(&m);
}

/* ---- the model's own ---- */

static void
test_sources(void)
{
    struct make m;
    struct gg_vocab *v = NULL;
    size_t len = 0, named = 0;

    make_kind(&m, true);
    gguf_set_val_str(m.gguf, "tokenizer.chat_template", "a");
    gguf_set_val_str(m.gguf, "tokenizer.chat_template.tool_use", "tools");
    ok(make_load(&m, &v, NULL) == GG_OK, "a vocabulary with templates");
    ok(v && gg_vocab_chat_source(v, NULL, &len) && len == 1 &&
           gg_vocab_chat_source(v, "tool_use", &named) && named == 5,
       "its templates' sources");
    ok(v && !gg_vocab_chat_source(v, "rerank", &len) && len == 0,
       "it has none of another name");
    gg_vocab_free(v);
    make_free(&m);
}

/* ---- what cannot be ---- */

static const char *
refused(const struct gg_vocab *v, const char *name,
        const struct gg_message *messages, size_t n, size_t first)
{
    static struct gg_error err;
    int32_t ids[256];
    size_t k;

    if (encode_chat(v, gg_chat_find(name), messages, n, first, 0, ids, 256, &k,
                    &err) == GG_OK)
        return "it is encoded";
    return err.message;
}

static void
test_refused(void)
{
    static const struct gg_message chat[] = {
        { GG_ROLE_USER, "a", 1 },   { GG_ROLE_SYSTEM, "b", 1 },
        { GG_ROLE_TOOL, "c", 1 },   { GG_ROLE_SYSTEM, NULL, 0 },
        { GG_ROLE_SYSTEM, "d", 1 },
    };
    static const struct gg_message odd = { (enum gg_role)7, "a", 1 };
    struct make m, bare;
    struct gg_vocab *v = make_all(&m, true, GG_TOKEN_CONTROL), *b = NULL;

    make_kind(&bare, true);
    ok(v && make_load(&bare, &b, NULL) == GG_OK, "they load");
    is(refused(b, "phi4", chat, 1, 0),
       "chat template phi4: the vocabulary has no token "
       "<|im_start|>",
       "a token that is not there is named");
    is(refused(b, "alpaca", golden_chat_2, 2, 0),
       "chat template alpaca: the vocabulary has no token EOS", "so is EOS");
    is(refused(b, "vicuna", chat, 1, 0),
       "chat template vicuna: the vocabulary has no token BOS", "so is BOS");
    is(refused(v, "gemma", chat + 2, 1, 0),
       "chat template gemma has no message of role tool",
       "a role without a place is named");
    ok(strstr(refused(v, "gemma", chat, 2, 0), "must be the first"),
       "a system's message in the middle");
    ok(strstr(refused(v, "gemma", chat + 3, 2, 0), "needs a user's after it"),
       "a system's message with nobody to tell it to");
    ok(strstr(refused(v, "chatml", chat, 0, 0), "without messages"),
       "no messages");
    ok(strstr(refused(v, "chatml", chat, 2, 1), "after an answer only"),
       "going on after a user's message");
    ok(strstr(refused(v, "chatml", &odd, 1, 0), "no known role"),
       "an unknown role");
    ok(!gg_chat_find("nonesuch") && !gg_chat_at(1000), "an unknown template");
    gg_vocab_free(v);
    gg_vocab_free(b);
    make_free(&m);
    make_free(&bare);
}

static void
test_room(void)
{
    struct make m;
    struct gg_vocab *v = make_all(&m, true, GG_TOKEN_CONTROL);
    int32_t ids[64] = { 0 }, all[64];
    size_t n, want = 0;
    bool same = true;
    long k;

    same = encode_chat(v, gg_chat_find("llama3"), golden_chat_0, 1, 0, 0, all,
                       64, &want, NULL) == GG_OK;
    for (size_t cap = 0; cap <= want; cap++) {
        ids[cap] = -7;
        same = same &&
               encode_chat(v, gg_chat_find("llama3"), golden_chat_0, 1, 0, 0,
                           cap ? ids : NULL, cap, &n, NULL) == GG_OK &&
               n == want && memcmp(ids, all, cap * sizeof(*ids)) == 0 &&
               ids[cap] == -7;
    }
    ok(same, "too little room: the first ids, and the number of all");
    for (k = 0; k < 1000; k++) {
        enum gg_status st;

        mem_fail_after(k);
        st = encode_chat(v, gg_chat_find("llama3"), golden_chat_1, 4, 0, 0, ids,
                         64, &n, NULL);
        mem_fail_after(-1);
        if (st == GG_OK)
            break;
        same = same && st == GG_ERR_NOMEM;
    }
    ok(same && k > 0 && k < 1000, "each allocation may fail");
    gg_vocab_free(v);
    make_free(&m);
}

int
main(void)
{
    test_golden();
    test_hostile(true, GG_TOKEN_CONTROL, "BPE: contents are never markup");
    test_hostile(true, GG_TOKEN_USER_DEFINED,
                 "BPE: nor where the file calls markup user-defined");
    test_hostile(false, GG_TOKEN_CONTROL, "SPM: contents are never markup");
    test_hostile(false, GG_TOKEN_USER_DEFINED,
                 "SPM: nor where the file calls markup user-defined");
    test_user_defined();
    test_going_on();
    test_ends();
    test_harmony_ends();
    test_sources();
    test_refused();
    test_room();
    return tap_done();
}
