/* tests.c - what stands after `is` */
#include <config.h>

#include <stdio.h>

#include "chat/builtin.h"
#include "chat/node.h"
#include "chat/text.h"

static bool
is_int(struct chat_value v)
{
    return v.type == CHAT_INT || (v.type == CHAT_LARGE && v.large->whole);
}

static bool
is_sequence(struct chat_value v)
{
    return chat_is_list(v) || v.type == CHAT_STRING || v.type == CHAT_DICT ||
           v.type == CHAT_UNDEFINED;
}

static bool
is_iterable(struct chat_value v)
{
    return is_sequence(v) || v.type == CHAT_LOOP;
}

/* Whether `find` knows the name that a value is. */
static bool
is_name(struct chat_value v, const struct chat_builtin *(*find)(const char *))
{
    char name[64];

    if (v.type != CHAT_STRING || v.string->n >= sizeof(name))
        return false;
    snprintf(name, sizeof(name), "%.*s", (int)v.string->n, v.string->s);
    return find(name) != NULL;
}

/* A test of the value alone. */
#define TEST(name, condition)                                                  \
    static struct chat_value name(struct chat_run *r, struct chat_value v,     \
                                  const struct chat_arguments *a)              \
    {                                                                          \
        (void)r, (void)a;                                                      \
        return chat_bool(condition);                                           \
    }

TEST(test_boolean, v.type == CHAT_BOOL)
TEST(test_callable, v.type == CHAT_FUNCTION)
TEST(test_defined, v.type != CHAT_UNDEFINED)
TEST(test_escaped, v.type == CHAT_STRING && v.string->markup)
TEST(test_false, v.type == CHAT_BOOL && !v.b)
TEST(test_float, chat_is_real(v) && !is_int(v))
TEST(test_integer, is_int(v))
TEST(test_iterable, is_iterable(v))
TEST(test_mapping, v.type == CHAT_DICT)
TEST(test_none, v.type == CHAT_NONE)
TEST(test_number, chat_is_number(v))
TEST(test_sequence, is_sequence(v))
TEST(test_string, v.type == CHAT_STRING)
TEST(test_true, v.type == CHAT_BOOL && v.b)
TEST(test_undefined, v.type == CHAT_UNDEFINED)
TEST(test_equal, chat_same(r, v, a->v[0]))
TEST(test_not_equal, !chat_same(r, v, a->v[0]))
TEST(test_less, chat_compare(r, '<', v, a->v[0]))
TEST(test_more, chat_compare(r, '>', v, a->v[0]))
TEST(test_at_least, chat_compare(r, CHAT_OP_AT_LEAST, v, a->v[0]))
TEST(test_at_most, chat_compare(r, CHAT_OP_AT_MOST, v, a->v[0]))
TEST(test_in, chat_compare(r, CHAT_OP_IN, v, a->v[0]))
TEST(test_filter, is_name(v, chat_filter))
TEST(test_test, is_name(v, chat_test))

static struct chat_value
test_same(struct chat_run *r, struct chat_value v,
          const struct chat_arguments *a)
{
    struct chat_value b = a->v[0];

    (void)r;
    if (v.type != b.type)
        return chat_bool(false);
    if (chat_is_list(v))
        return chat_bool(v.list == b.list);
    return chat_bool(v.type == CHAT_DICT ? v.dict == b.dict
                                         : chat_same(r, v, b));
}

static struct chat_value
remainder_is(struct chat_run *r, struct chat_value v, struct chat_value by,
             int64_t wanted)
{
    if (!chat_is_number(v))
        return chat_fail(r, "a %s has no remainder", chat_type_name(v));
    return chat_bool(
        chat_same(r, chat_operate(r, '%', v, by), chat_int(wanted)));
}

static struct chat_value
test_odd(struct chat_run *r, struct chat_value v,
         const struct chat_arguments *a)
{
    (void)a;
    return remainder_is(r, v, chat_int(2), 1);
}

static struct chat_value
test_even(struct chat_run *r, struct chat_value v,
          const struct chat_arguments *a)
{
    (void)a;
    return remainder_is(r, v, chat_int(2), 0);
}

static struct chat_value
test_divisible(struct chat_run *r, struct chat_value v,
               const struct chat_arguments *a)
{
    return remainder_is(r, v, a->v[0], 0);
}

/* Whether all letters, of which there must be one, are small or capital. */
static struct chat_value
has_case(struct chat_run *r, struct chat_value v, const char *method)
{
    const struct chat_builtin *b;
    const struct chat_value absent = { .type = CHAT_ABSENT };

    v = chat_str(r, v);
    b = chat_failed(r) ? NULL : chat_method(v, method);
    return b ? chat_call_simply(r, b, v, absent, absent) : v;
}

static struct chat_value
test_lower(struct chat_run *r, struct chat_value v,
           const struct chat_arguments *a)
{
    (void)a;
    return has_case(r, v, "islower");
}

static struct chat_value
test_upper(struct chat_run *r, struct chat_value v,
           const struct chat_arguments *a)
{
    (void)a;
    return has_case(r, v, "isupper");
}

const struct chat_builtin chat_tests[] = {
    { "!=", test_not_equal, "other" },
    { "<", test_less, "other" },
    { "<=", test_at_most, "other" },
    { "==", test_equal, "other" },
    { ">", test_more, "other" },
    { ">=", test_at_least, "other" },
    { "boolean", test_boolean, "" },
    { "callable", test_callable, "" },
    { "defined", test_defined, "" },
    { "divisibleby", test_divisible, "num" },
    { "eq", test_equal, "other" },
    { "equalto", test_equal, "other" },
    { "escaped", test_escaped, "" },
    { "even", test_even, "" },
    { "false", test_false, "" },
    { "filter", test_filter, "" },
    { "float", test_float, "" },
    { "ge", test_at_least, "other" },
    { "greaterthan", test_more, "other" },
    { "gt", test_more, "other" },
    { "in", test_in, "seq" },
    { "integer", test_integer, "" },
    { "iterable", test_iterable, "" },
    { "le", test_at_most, "other" },
    { "lessthan", test_less, "other" },
    { "lower", test_lower, "" },
    { "lt", test_less, "other" },
    { "mapping", test_mapping, "" },
    { "ne", test_not_equal, "other" },
    { "none", test_none, "" },
    { "number", test_number, "" },
    { "odd", test_odd, "" },
    { "sameas", test_same, "other" },
    { "sequence", test_sequence, "" },
    { "string", test_string, "" },
    { "test", test_test, "" },
    { "true", test_true, "" },
    { "undefined", test_undefined, "" },
    { "upper", test_upper, "" },
    { 0 },
};

const struct chat_builtin *
chat_test(const char *name)
{
    return chat_find_builtin(chat_tests, name);
}
