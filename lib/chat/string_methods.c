/* string_methods.c - what strings can do: case, white space, changes */
#include <config.h>

#include <string.h>

#include "chat/builtin.h"
#include "chat/case.h"
#include "chat/text.h"
#include "core/case.h"

/* ---- white space and case ------------------------------------------------ */

/* `chars` None or absent: white space. */
static struct chat_value
strip(struct chat_run *r, struct chat_value self, struct chat_value chars,
      unsigned sides)
{
    const struct chat_string *set = NULL;

    if (chars.type != CHAT_ABSENT && chars.type != CHAT_NONE) {
        set = chat_string_argument(r, chars, NULL);
        if (!set)
            return chat_undefined(NULL);
    }
    return chat_strip(r, self.string, set, sides);
}

static struct chat_value
method_strip(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    return strip(r, self, a->v[0], CHAT_LEFT | CHAT_RIGHT);
}

static struct chat_value
method_lstrip(struct chat_run *r, struct chat_value self,
              const struct chat_arguments *a)
{
    return strip(r, self, a->v[0], CHAT_LEFT);
}

static struct chat_value
method_rstrip(struct chat_run *r, struct chat_value self,
              const struct chat_arguments *a)
{
    return strip(r, self, a->v[0], CHAT_RIGHT);
}

static struct chat_value
method_upper(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    (void)a;
    return chat_change_case(r, self.string, CHAT_CASE_UPPER);
}

static struct chat_value
method_lower(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    (void)a;
    return chat_change_case(r, self.string, CHAT_CASE_LOWER);
}

static struct chat_value
method_title(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    (void)a;
    return chat_change_case(r, self.string, CHAT_CASE_TITLE);
}

static struct chat_value
method_capitalize(struct chat_run *r, struct chat_value self,
                  const struct chat_arguments *a)
{
    (void)a;
    return chat_change_case(r, self.string, CHAT_CASE_CAPITAL);
}

static struct chat_value
method_swapcase(struct chat_run *r, struct chat_value self,
                const struct chat_arguments *a)
{
    (void)a;
    return chat_change_case(r, self.string, CHAT_CASE_SWAP);
}

/* ---- changing ------------------------------------------------------------ */

/* "" stands between all characters, and around them. */
static struct chat_value
put_between(struct chat_run *r, const struct chat_string *s,
            const struct chat_string *new, int64_t most)
{
    struct chat_builder b = { .r = r };
    size_t at = 0;

    for (; !chat_failed(r) && at <= s->n && most != 0; most--) {
        size_t n = at < s->n ? chat_character(s, at, NULL) : 1;

        chat_put_string(&b, new);
        if (at < s->n)
            chat_put_part(&b, s, at, n);
        at += n;
    }
    if (at < s->n)
        chat_put_part(&b, s, at, s->n - at);
    return chat_built(&b);
}

static struct chat_value
method_replace(struct chat_run *r, struct chat_value self,
               const struct chat_arguments *a)
{
    const struct chat_string *s = self.string;
    const struct chat_string *old = chat_string_argument(r, a->v[0], NULL);
    const struct chat_string *new = chat_string_argument(r, a->v[1], NULL);
    int64_t most =
        a->v[2].type == CHAT_NONE ? -1 : chat_int_argument(r, a->v[2], -1);
    struct chat_builder b = { .r = r };
    size_t at = 0, next;

    if (chat_failed(r))
        return chat_undefined(NULL);
    if (old->n == 0)
        return put_between(r, s, new, most);
    while (!chat_failed(r) && most-- != 0 &&
           (next = chat_find(r, s, at, old)) != SIZE_MAX) {
        chat_put_part(&b, s, at, next - at);
        chat_put_string(&b, new);
        at = next + old->n;
    }
    chat_put_part(&b, s, at, s->n - at);
    return chat_built(&b);
}

static struct chat_value
method_join(struct chat_run *r, struct chat_value self,
            const struct chat_arguments *a)
{
    struct chat_value list = chat_iterate(r, a->v[0]);
    struct chat_builder b = { .r = r };

    for (size_t i = 0; !chat_failed(r) && i < list.list->n; i++) {
        if (list.list->items[i].type != CHAT_STRING)
            return chat_fail(r, "join: item %zu is a %s, not a str", i,
                             chat_type_name(list.list->items[i]));
        chat_take_steps(r, 1);
        if (i)
            chat_put_string(&b, self.string);
        chat_put_string(&b, list.list->items[i].string);
    }
    return chat_built(&b);
}

static void
put_fill(struct chat_builder *b, const struct chat_string *fill, int64_t n)
{
    for (; n > 0 && !chat_failed(b->r); n--)
        chat_put_string(b, fill);
}

/* Pads to a width in characters, with blanks or others at the sides. */
static struct chat_value
pad(struct chat_run *r, struct chat_value self, const struct chat_arguments *a,
    unsigned sides)
{
    const struct chat_string *fill = chat_string_argument(r, a->v[1], " ");
    int64_t width = chat_int_argument(r, a->v[0], 0);
    int64_t n = width - (int64_t)chat_length(r, self.string);
    int64_t left = sides == CHAT_LEFT    ? n
                   : sides == CHAT_RIGHT ? 0
                                         : n / 2 + (n & width & 1);
    struct chat_builder b = { .r = r };

    if (fill && chat_length(r, fill) != 1)
        chat_fail(r, "what fills is not one character");
    n = n < 0 ? 0 : n;
    left = left < 0 ? 0 : left;
    put_fill(&b, fill, left);
    chat_put_string(&b, self.string);
    put_fill(&b, fill, n - left);
    return chat_built(&b);
}

static struct chat_value
method_ljust(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    return pad(r, self, a, CHAT_RIGHT);
}

static struct chat_value
method_rjust(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    return pad(r, self, a, CHAT_LEFT);
}

static struct chat_value
method_center(struct chat_run *r, struct chat_value self,
              const struct chat_arguments *a)
{
    return pad(r, self, a, CHAT_LEFT | CHAT_RIGHT);
}

static struct chat_value
method_zfill(struct chat_run *r, struct chat_value self,
             const struct chat_arguments *a)
{
    const struct chat_string *s = self.string;
    int64_t n = chat_int_argument(r, a->v[0], 0) - (int64_t)chat_length(r, s);
    size_t sign = s->n && (s->s[0] == '-' || s->s[0] == '+');
    const struct chat_string zero = { .s = "0", .n = 1, .origin = CHAT_TEXT };
    struct chat_builder b = { .r = r };

    chat_put_part(&b, s, 0, sign);
    put_fill(&b, &zero, n);
    chat_put_part(&b, s, sign, s->n - sign);
    return chat_built(&b);
}

static struct chat_value
method_format(struct chat_run *r, struct chat_value self,
              const struct chat_arguments *a)
{
    return chat_format_braces(r, self.string, a);
}

/* ---- kinds of characters ------------------------------------------------- */

/* Letters by their case, and all beyond ASCII that is no white space. */
static bool
is_letter(uint32_t c)
{
    return (c | 32) - 'a' < 26u || (c >= 0x80 && !chat_is_space(c));
}

static bool
is_digit(uint32_t c)
{
    return c - '0' < 10u;
}

static bool
is_letter_or_digit(uint32_t c)
{
    return is_letter(c) || is_digit(c);
}

static struct chat_value
all_are(const struct chat_string *s, bool (*is)(uint32_t c))
{
    bool all = s->n > 0;

    for (size_t at = 0; all && at < s->n;) {
        uint32_t c = 0;

        at += chat_character(s, at, &c);
        all = is(c);
    }
    return chat_bool(all);
}

/* Whether all letters with two forms, at least one, have this one. */
static struct chat_value
all_have(const struct chat_string *s, uint32_t (*form)(uint32_t c))
{
    bool some = false;

    for (size_t at = 0; at < s->n;) {
        uint32_t c = 0;

        at += chat_character(s, at, &c);
        if (form(c) != c)
            return chat_bool(false);
        some = some || core_upper(c) != c || core_lower(c) != c;
    }
    return chat_bool(some);
}

static bool
is_ascii(const struct chat_string *s)
{
    for (size_t i = 0; i < s->n; i++)
        if ((unsigned char)s->s[i] >= 0x80)
            return false;
    return true;
}

/* Whether words begin with a capital, and have no other; there must be one. */
static struct chat_value
is_title(const struct chat_string *s)
{
    bool some = false, within = false;

    for (size_t at = 0; at < s->n;) {
        uint32_t c = 0;
        bool small, capital;

        at += chat_character(s, at, &c);
        small = core_upper(c) != c;
        capital = core_lower(c) != c;
        if (within ? capital : small)
            return chat_bool(false);
        within = small || capital;
        some = some || within;
    }
    return chat_bool(some);
}

#define KIND(name, result)                                                     \
    static struct chat_value name(struct chat_run *r, struct chat_value self,  \
                                  const struct chat_arguments *a)              \
    {                                                                          \
        (void)a;                                                               \
        chat_take_steps(r, self.string->n); /* looks for each letter */        \
        return result;                                                         \
    }

KIND(method_isspace, all_are(self.string, chat_is_space))
KIND(method_isalpha, all_are(self.string, is_letter))
KIND(method_isdigit, all_are(self.string, is_digit))
KIND(method_isalnum, all_are(self.string, is_letter_or_digit))
KIND(method_isascii, chat_bool(is_ascii(self.string)))
KIND(method_istitle, is_title(self.string))
KIND(method_isupper, all_have(self.string, core_upper))
KIND(method_islower, all_have(self.string, core_lower))

const struct chat_builtin chat_string_methods[] = {
    { "capitalize", method_capitalize, "" },
    { "casefold", method_lower, "" },
    { "center", method_center, "width,fillchar" },
    { "format", method_format, NULL },
    { "isalnum", method_isalnum, "" },
    { "isalpha", method_isalpha, "" },
    { "isascii", method_isascii, "" },
    { "isdecimal", method_isdigit, "" },
    { "isdigit", method_isdigit, "" },
    { "islower", method_islower, "" },
    { "isnumeric", method_isdigit, "" },
    { "isspace", method_isspace, "" },
    { "istitle", method_istitle, "" },
    { "isupper", method_isupper, "" },
    { "join", method_join, "iterable" },
    { "ljust", method_ljust, "width,fillchar" },
    { "lower", method_lower, "" },
    { "lstrip", method_lstrip, "chars" },
    { "replace", method_replace, "old,new,count" },
    { "rjust", method_rjust, "width,fillchar" },
    { "rstrip", method_rstrip, "chars" },
    { "strip", method_strip, "chars" },
    { "swapcase", method_swapcase, "" },
    { "title", method_title, "" },
    { "upper", method_upper, "" },
    { "zfill", method_zfill, "width" },
    { 0 },
};
