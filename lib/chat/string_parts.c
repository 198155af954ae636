/* string_parts.c - what strings can do: searching, and cutting in parts */
#include <config.h>

#include <string.h>

#include "chat/builtin.h"
#include "chat/case.h"
#include "chat/text.h"

/* ---- splitting ----------------------------------------------------------- */

static void
add_part(struct chat_run *r, struct chat_value out, const struct chat_string *s,
         size_t from, size_t to)
{
    struct chat_value part = chat_part(r, s, from, to - from);

    chat_run_add(r, out, part);
}

static size_t
skip_space(const struct chat_string *s, size_t at, bool space)
{
    while (at < s->n) {
        uint32_t c = 0;
        size_t n = chat_character(s, at, &c);

        if (chat_is_space(c) != space)
            break;
        at += n;
    }
    return at;
}

/* At white space, at most `most` times. */
static void
split_words(struct chat_run *r, struct chat_value out,
            const struct chat_string *s, size_t most)
{
    size_t at = skip_space(s, 0, true);

    while (at < s->n && !chat_failed(r)) {
        size_t end = most ? skip_space(s, at, false) : s->n;

        add_part(r, out, s, at, end);
        at = skip_space(s, end, true);
        most -= most > 0;
    }
}

static void
split_at(struct chat_run *r, struct chat_value out, const struct chat_string *s,
         const struct chat_string *by, size_t most)
{
    size_t at = 0, next;

    while (most-- && !chat_failed(r) &&
           (next = chat_find(r, s, at, by)) != SIZE_MAX) {
        add_part(r, out, s, at, next);
        at = next + by->n;
    }
    if (!chat_failed(r))
        add_part(r, out, s, at, s->n);
}

/* The start of the white space, or of what is none, that ends at `at`. */
static size_t
skip_space_before(const struct chat_string *s, size_t at, bool space)
{
    while (at > 0) {
        uint32_t c = 0;
        size_t n = chat_character_before(s, at, &c);

        if (chat_is_space(c) != space)
            break;
        at -= n;
    }
    return at;
}

/* Where `by` stands last in s[0..end), or SIZE_MAX. */
static size_t
find_last(struct chat_run *r, const struct chat_string *s, size_t end,
          const struct chat_string *by)
{
    if (by->n > end || by->n == 0)
        return by->n ? SIZE_MAX : end;
    for (size_t at = end - by->n + 1; at-- > 0 && !chat_failed(r);) {
        chat_take_steps(r, at % 16 == 0);
        if (s->s[at] != by->s[0])
            continue;
        chat_take_steps(r, by->n / 64 + (at % 4 == 0));
        if (memcmp(s->s + at, by->s, by->n) == 0)
            return at;
    }
    return SIZE_MAX;
}

static void
reverse(struct chat_list *list)
{
    for (size_t i = 0; i < list->n / 2; i++) {
        struct chat_value v = list->items[i];

        list->items[i] = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = v;
    }
}

/* At white space, from the end, at most `most` times. */
static void
split_words_from_end(struct chat_run *r, struct chat_value out,
                     const struct chat_string *s, size_t most)
{
    size_t end = skip_space_before(s, s->n, true);

    while (end > 0 && !chat_failed(r)) {
        size_t at = most ? skip_space_before(s, end, false) : 0;

        add_part(r, out, s, at, end);
        end = skip_space_before(s, at, true);
        most -= most > 0;
    }
    if (!chat_failed(r))
        reverse(out.list);
}

static void
split_from_end(struct chat_run *r, struct chat_value out,
               const struct chat_string *s, const struct chat_string *by,
               size_t most)
{
    size_t end = s->n, at;

    while (most-- && !chat_failed(r) &&
           (at = find_last(r, s, end, by)) != SIZE_MAX) {
        add_part(r, out, s, at + by->n, end);
        end = at;
    }
    if (chat_failed(r))
        return;
    add_part(r, out, s, 0, end);
    reverse(out.list);
}

/* The text to split at; NULL is white space. False: a failure. */
static bool
separator(struct chat_run *r, struct chat_value v,
          const struct chat_string **by)
{
    *by = NULL;
    if (v.type == CHAT_ABSENT || v.type == CHAT_NONE)
        return true;
    *by = chat_string_argument(r, v, NULL);
    if (*by && (*by)->n == 0)
        chat_fail(r, "nothing can be split at an empty text");
    return !chat_failed(r);
}

static size_t
most_splits(struct chat_run *r, struct chat_value v)
{
    int64_t n = chat_int_argument(r, v, -1);

    return n < 0 ? SIZE_MAX : (size_t)n;
}

/* How a string is cut at a separator, and at white space. */
typedef void (*split_fn)(struct chat_run *r, struct chat_value out,
                         const struct chat_string *s,
                         const struct chat_string *by, size_t most);
typedef void (*split_words_fn)(struct chat_run *r, struct chat_value out,
                               const struct chat_string *s, size_t most);

static struct chat_value
split(struct chat_run *r, struct chat_value self,
      const struct chat_arguments *a, split_fn at, split_words_fn words)
{
    struct chat_value out = chat_new_list(r, CHAT_LIST);
    size_t most = most_splits(r, a->v[1]);
    const struct chat_string *by;

    if (!separator(r, a->v[0], &by) || chat_failed(r))
        return chat_undefined(NULL);
    if (by)
        at(r, out, self.string, by, most);
    else
        words(r, out, self.string, most);
    return out;
}

static struct chat_value
method_split(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    return split(r, self, a, split_at, split_words);
}

static struct chat_value
method_rsplit(struct chat_run *r, struct chat_value self,
              const struct chat_arguments *a)
{
    return split(r, self, a, split_from_end, split_words_from_end);
}

/* The end of the line that begins at `at`, and where the next begins. */
static size_t
end_of_line(const struct chat_string *s, size_t at, size_t *next)
{
    for (; at < s->n; at++) {
        size_t n = s->s[at] == '\r' && at + 1 < s->n && s->s[at + 1] == '\n';

        if (strchr("\n\r\v\f\x1c\x1d\x1e", s->s[at]) && s->s[at]) {
            *next = at + 1 + n;
            return at;
        }
    }
    *next = at;
    return at;
}

static struct chat_value
method_splitlines(struct chat_run *r, struct chat_value self,
                  const struct chat_arguments *a)
{
    struct chat_value out = chat_new_list(r, CHAT_LIST);
    bool keep = chat_bool_argument(a->v[0], false);

    for (size_t at = 0, next; at < self.string->n && !chat_failed(r);
         at = next) {
        size_t end = end_of_line(self.string, at, &next);

        add_part(r, out, self.string, at, keep ? next : end);
    }
    return out;
}

static struct chat_value
partition(struct chat_run *r, struct chat_value self, struct chat_value by,
          bool last)
{
    const struct chat_string *s = self.string;
    const struct chat_string *sep = chat_string_argument(r, by, NULL);
    struct chat_value out = chat_new_list(r, CHAT_TUPLE);
    size_t at, end;

    if (chat_failed(r) || sep->n == 0)
        return chat_fail(r, "nothing can be split at an empty text");
    at = last ? find_last(r, s, s->n, sep) : chat_find(r, s, 0, sep);
    end = at == SIZE_MAX ? (last ? 0 : s->n) : at + sep->n;
    at = at == SIZE_MAX ? end : at;
    add_part(r, out, s, 0, at);
    add_part(r, out, s, at, end);
    add_part(r, out, s, end, s->n);
    return out;
}

static struct chat_value
method_partition(struct chat_run *r, struct chat_value self,
                 const struct chat_arguments *a)
{
    return partition(r, self, a->v[0], false);
}

static struct chat_value
method_rpartition(struct chat_run *r, struct chat_value self,
                  const struct chat_arguments *a)
{
    return partition(r, self, a->v[0], true);
}

/* ---- searching ----------------------------------------------------------- */

static bool
begins(struct chat_run *r, const struct chat_string *s,
       const struct chat_string *with)
{
    chat_take_steps(r, 1 + with->n / 64);
    return with->n <= s->n &&
           (with->n == 0 || memcmp(s->s, with->s, with->n) == 0);
}

static bool
ends(struct chat_run *r, const struct chat_string *s,
     const struct chat_string *with)
{
    chat_take_steps(r, 1 + with->n / 64);
    return with->n <= s->n && (with->n == 0 || memcmp(s->s + s->n - with->n,
                                                      with->s, with->n) == 0);
}

/* The searched text: the part between two arguments, as a slice has it. */
struct searched {
    struct chat_string s;
    const struct chat_string *what;
    int64_t from; /* characters in front of it */
    bool within;  /* the part begins within the text */
};

static int64_t
bound(struct chat_run *r, struct chat_value v, int64_t n, int64_t other)
{
    int64_t i = v.type == CHAT_NONE ? other : chat_int_argument(r, v, other);

    i = i >= 0 ? i : i < -n ? 0 : i + n;
    return i;
}

static struct searched
search(struct chat_run *r, struct chat_value self, const struct chat_value *v)
{
    struct searched x = { .s = *self.string, .within = true };
    int64_t n = (int64_t)chat_length(r, self.string), to;
    size_t at, end;

    x.from = bound(r, v[1], n, 0);
    to = bound(r, v[2], n, n);
    x.within = x.from <= n && x.from <= to;
    to = to > n ? n : to;
    if (!x.within || (x.from == 0 && to == n))
        return x;
    at = chat_offset(r, self.string, (size_t)x.from);
    end = chat_offset(r, self.string, (size_t)to);
    x.s = (struct chat_string){ .s = self.string->s + at, .n = end - at };
    return x;
}

/* search() for a text. */
static struct searched
search_text(struct chat_run *r, struct chat_value self,
            const struct chat_value *v)
{
    struct searched x = search(r, self, v);

    x.what = chat_string_argument(r, v[0], NULL);
    x.within = x.within && x.what;
    return x;
}

/* Whether it begins or ends with a text, or with one of a tuple. */
static struct chat_value
stands_at(struct chat_run *r, struct chat_value self,
          const struct chat_arguments *a,
          bool (*at)(struct chat_run *, const struct chat_string *,
                     const struct chat_string *))
{
    struct chat_value v = a->v[0];
    struct searched x = search(r, self, a->v);
    const struct chat_string *with;

    if (v.type == CHAT_TUPLE) {
        for (size_t i = 0; x.within && i < v.list->n; i++)
            if (v.list->items[i].type == CHAT_STRING &&
                at(r, &x.s, v.list->items[i].string))
                return chat_bool(true);
        return chat_bool(false);
    }
    with = chat_string_argument(r, v, NULL);
    return chat_bool(with && x.within && at(r, &x.s, with));
}

static struct chat_value
method_startswith(struct chat_run *r, struct chat_value self,
                  const struct chat_arguments *a)
{
    return stands_at(r, self, a, begins);
}

static struct chat_value
method_endswith(struct chat_run *r, struct chat_value self,
                const struct chat_arguments *a)
{
    return stands_at(r, self, a, ends);
}

/* The character where a text begins that was found; -1: nowhere. */
static struct chat_value
character_of(struct chat_run *r, const struct searched *x, size_t at)
{
    const struct chat_string before = { .s = x->s.s, .n = at };

    if (at == SIZE_MAX)
        return chat_int(-1);
    return chat_int(x->from + (int64_t)chat_length(r, &before));
}

static struct chat_value
method_find(struct chat_run *r, struct chat_value self,
            const struct chat_arguments *a)
{
    struct searched x = search_text(r, self, a->v);

    return character_of(r, &x,
                        x.within ? chat_find(r, &x.s, 0, x.what) : SIZE_MAX);
}

static struct chat_value
method_rfind(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    struct searched x = search_text(r, self, a->v);

    return character_of(
        r, &x, x.within ? find_last(r, &x.s, x.s.n, x.what) : SIZE_MAX);
}

static struct chat_value
found(struct chat_run *r, struct chat_value i)
{
    return i.i < 0 ? chat_fail(r, "substring not found") : i;
}

static struct chat_value
method_index(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    return found(r, method_find(r, self, a));
}

static struct chat_value
method_rindex(struct chat_run *r, struct chat_value self,
              const struct chat_arguments *a)
{
    return found(r, method_rfind(r, self, a));
}

static struct chat_value
method_count(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    struct searched x = search_text(r, self, a->v);
    int64_t n = 0;

    if (!x.within)
        return chat_int(0);
    if (x.what->n == 0)
        return chat_int((int64_t)chat_length(r, &x.s) + 1);
    for (size_t at = 0; (at = chat_find(r, &x.s, at, x.what)) != SIZE_MAX;
         at += x.what->n)
        n++;
    return chat_int(n);
}

static struct chat_value
method_removeprefix(struct chat_run *r, struct chat_value self,
                    const struct chat_arguments *a)
{
    const struct chat_string *s = self.string;
    const struct chat_string *cut = chat_string_argument(r, a->v[0], NULL);
    size_t n = cut && begins(r, s, cut) ? cut->n : 0;

    return chat_part(r, s, n, s->n - n);
}

static struct chat_value
method_removesuffix(struct chat_run *r, struct chat_value self,
                    const struct chat_arguments *a)
{
    const struct chat_string *s = self.string;
    const struct chat_string *cut = chat_string_argument(r, a->v[0], NULL);
    size_t n = cut && ends(r, s, cut) ? cut->n : 0;

    return chat_part(r, s, 0, s->n - n);
}

const struct chat_builtin chat_string_parts[] = {
    { "count", method_count, "sub,start,end" },
    { "endswith", method_endswith, "suffix,start,end" },
    { "find", method_find, "sub,start,end" },
    { "index", method_index, "sub,start,end" },
    { "partition", method_partition, "sep" },
    { "removeprefix", method_removeprefix, "prefix" },
    { "removesuffix", method_removesuffix, "suffix" },
    { "rfind", method_rfind, "sub,start,end" },
    { "rindex", method_rindex, "sub,start,end" },
    { "rpartition", method_rpartition, "sep" },
    { "rsplit", method_rsplit, "sep,maxsplit" },
    { "split", method_split, "sep,maxsplit" },
    { "splitlines", method_splitlines, "keepends" },
    { "startswith", method_startswith, "prefix,start,end" },
    { 0 },
};
