/* fuzz_answer.c - answers in parts: whatever a model writes, and however it is
 * cut into pieces, the parts are the same, and all of it is in them
 *
 * A byte that chooses the form, one that says how long pieces are, and the
 * answer, in which 1 and 2 stand around control tokens. */
#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "chat/answer.h"
#include "fuzz.h"

const char fuzz_name[] = "answer";

enum {
    MOST = 1 << 16, /* bytes */
    N_MARKS = 8,
};

static void
check(bool right)
{
    if (!right)
        abort();
}

struct form {
    struct chat_thoughts thoughts;
    bool control; /* marks are control tokens, but for what is no bracket */
};

static const struct form forms[] = {
    { { "<think>", "</think>", NULL, NULL, NULL, NULL }, false },
    { { "[THINK]", "[/THINK]", NULL, NULL, NULL, NULL }, true },
    { { "<c>thought", "<c/>", NULL, NULL, NULL, NULL }, true },
    { { "<c>a<m>", "<e>", "<c>f<m>", "<m>", "<e>", "<s>assistant" }, true },
};

static void
add_mark(struct gg_chat_reader *r, enum chat_mark_kind kind, const char *s,
         bool control, bool first)
{
    struct chat_reader_mark *m = &r->marks[r->n_marks];
    bool in = false;

    if (!s)
        return;
    *m = (struct chat_reader_mark){
        .kind = kind, .s = (char *)s, .n = strlen(s), .first = first
    };
    m->control = calloc(m->n, sizeof(*m->control));
    for (size_t i = 0; i < m->n; i++) {
        in = in || strchr("<[", s[i]);
        m->control[i] = control && in;
        in = in && !strchr(">]", s[i]);
    }
    r->n_marks++;
}

static void
open_reader(struct gg_chat_reader *r, struct chat_reader_mark *marks,
            const struct form *f)
{
    const struct chat_thoughts *t = &f->thoughts;

    *r = (struct gg_chat_reader){ .thoughts = t, .marks = marks };
    add_mark(r, CHAT_MARK_OPEN, t->open, f->control, false);
    add_mark(r, CHAT_MARK_CLOSE, t->close, f->control, false);
    add_mark(r, CHAT_MARK_TEXT, t->text, f->control, false);
    add_mark(r, CHAT_MARK_TEXT, t->other, f->control, false);
    add_mark(r, CHAT_MARK_END, t->end, f->control, false);
    add_mark(r, CHAT_MARK_START, t->start, f->control, false);
    add_mark(r, CHAT_MARK_CALL, "<call>", f->control, !f->control);
    add_mark(r, CHAT_MARK_STOP, "<done>", f->control, false);
}

struct parts {
    char *all[GG_PART_ALL + 1];
    size_t n[GG_PART_ALL + 1], total;
};

static bool
put(void *data, enum gg_part part, const char *p, size_t n, bool control)
{
    struct parts *out = data;

    (void)control;
    check(out->total + n <= MOST);
    memcpy(out->all[part] + out->n[part], p, n);
    out->n[part] += n;
    out->total += n;
    return true;
}

/* Bytes up to the next 1, or to the 2 after one. */
static size_t
piece(const char *p, size_t n, size_t most, bool *control)
{
    const char *end;

    *control = *p == 1;
    end = memchr(p + 1, *control ? 2 : 1, n - 1);
    if (*control)
        return end ? (size_t)(end - p) + 1 : n;
    n = end ? (size_t)(end - p) : n;
    return n < most ? n : most;
}

static void
read_answer(const struct gg_chat_reader *r, const char *p, size_t n,
            size_t most, struct parts *out)
{
    struct chat_answer a = { 0 };

    for (int i = 0; i <= GG_PART_ALL; i++)
        out->all[i] = malloc(MOST);
    check(chat_answer_begin(&a, r, NULL, 0, NULL) == GG_OK);
    while (n > 0) {
        bool control;
        size_t len = piece(p, n, most, &control);
        size_t skip = control, last = control && p[len - 1] == 2 && len > 1;

        check(chat_answer_add(&a, p + skip, len - skip - last, control, put,
                              out));
        p += len;
        n -= len;
    }
    check(chat_answer_end(&a, put, out));
    check(a.ended || a.n == 0);
    chat_answer_clear(&a);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chat_reader_mark marks[N_MARKS];
    struct gg_chat_reader r;
    struct parts a = { 0 }, b = { 0 };

    if (size < 2 || size > MOST)
        return 0;
    open_reader(&r, marks, &forms[data[0] % 4]);
    read_answer(&r, (const char *)data + 2, size - 2, 1, &a);
    read_answer(&r, (const char *)data + 2, size - 2, 2 + data[1], &b);
    for (int i = 0; i <= GG_PART_ALL; i++) {
        check(a.n[i] == b.n[i] && !memcmp(a.all[i], b.all[i], a.n[i]));
        free(a.all[i]);
        free(b.all[i]);
    }
    for (size_t i = 0; i < r.n_marks; i++)
        free(r.marks[i].control);
    return 0;
}

uint8_t *
fuzz_corpus(size_t i, size_t *size)
{
    static const char *const all[] = {
        "0\n <think>\na </thi\n</think>\n b <think> <call>{}",
        "1 a [THINK] \1[THINK]\2a\n\1[/THINK]\2 b \1<call>\2{}\1<done>\2c",
        "2 \1<c>\2thought\na \1<c/>\2 b\1<c>\2though",
        ("3 \1<s>\2assistant\1<c>\2a\1<m>\2b\1<e>\2\1<s>\2assistant\1<c>\2f"
         "\1<m>\2 c \1<e>\2"),
        "0\x05<call>{}",
    };
    uint8_t *data;

    if (i >= sizeof(all) / sizeof(*all))
        return NULL;
    *size = strlen(all[i]);
    data = malloc(*size);
    check(data != NULL);
    memcpy(data, all[i], *size);
    return data;
}
