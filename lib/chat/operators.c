/* operators.c - arithmetic and comparison as in Python */
#include <config.h>

#include <math.h>
#include <string.h>

#include "chat/builtin.h"
#include "chat/node.h"
#include "chat/text.h"

static const char *
sign_of(int op)
{
    static const char *const signs[] = {
        [CHAT_OP_FLOOR_DIVIDE - CHAT_OP_FLOOR_DIVIDE] = "//",
        [CHAT_OP_POWER - CHAT_OP_FLOOR_DIVIDE] = "**",
        [CHAT_OP_EQUAL - CHAT_OP_FLOOR_DIVIDE] = "==",
        [CHAT_OP_NOT_EQUAL - CHAT_OP_FLOOR_DIVIDE] = "!=",
        [CHAT_OP_AT_LEAST - CHAT_OP_FLOOR_DIVIDE] = ">=",
        [CHAT_OP_AT_MOST - CHAT_OP_FLOOR_DIVIDE] = "<=",
        [CHAT_OP_IN - CHAT_OP_FLOOR_DIVIDE] = "in",
        [CHAT_OP_NOT_IN - CHAT_OP_FLOOR_DIVIDE] = "not in",
    };

    switch (op) {
    case '+':
        return "+";
    case '-':
        return "-";
    case '*':
        return "*";
    case '/':
        return "/";
    case '%':
        return "%";
    case '<':
        return "<";
    case '>':
        return ">";
    default:
        return signs[op - CHAT_OP_FLOOR_DIVIDE];
    }
}

static struct chat_value
no_operator(struct chat_run *r, int op, struct chat_value a,
            struct chat_value b)
{
    if (a.type == CHAT_UNDEFINED || b.type == CHAT_UNDEFINED) {
        const char *name = a.type == CHAT_UNDEFINED ? a.name : b.name;

        return chat_fail(r, "%s is undefined, and no operand of %s",
                         name ? name : "a value", sign_of(op));
    }
    return chat_fail(r, "%s is not for a %s and a %s", sign_of(op),
                     chat_type_name(a), chat_type_name(b));
}

/* ---- numbers ------------------------------------------------------------- */

static struct chat_value
too_large(struct chat_run *r)
{
    return chat_fail(r, "a number is too large");
}

static struct chat_value
zero_division(struct chat_run *r)
{
    return chat_fail(r, "division by zero");
}

/* Rounded down, as Python divides. */
static int64_t
floor_divide(int64_t a, int64_t b)
{
    int64_t q = a / b;

    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static struct chat_value
power(struct chat_run *r, int64_t a, int64_t b)
{
    int64_t out = 1;

    if (b < 0)
        return a ? chat_float(pow((double)a, (double)b)) : zero_division(r);
    for (int64_t i = 0; i < b && out != 0; i++) {
        if (a == 1 || (i > 64 && a == -1))
            return chat_int(a == 1 || b % 2 == 0 ? 1 : -1);
        if (__builtin_mul_overflow(out, a, &out))
            return too_large(r);
    }
    return chat_int(out);
}

static struct chat_value
operate_ints(struct chat_run *r, int op, int64_t a, int64_t b)
{
    int64_t out = 0;
    bool over = false;

    if ((op == '/' || op == '%' || op == CHAT_OP_FLOOR_DIVIDE) && b == 0)
        return zero_division(r);
    if (op != '+' && op != '-' && b == -1 && a == INT64_MIN)
        return too_large(r);
    switch (op) {
    case '+':
        over = __builtin_add_overflow(a, b, &out);
        break;
    case '-':
        over = __builtin_sub_overflow(a, b, &out);
        break;
    case '*':
        over = __builtin_mul_overflow(a, b, &out);
        break;
    case '/':
        return chat_float((double)a / (double)b);
    case '%':
        out = a - b * floor_divide(a, b);
        break;
    case CHAT_OP_FLOOR_DIVIDE:
        out = floor_divide(a, b);
        break;
    default:
        return power(r, a, b);
    }
    return over ? too_large(r) : chat_int(out);
}

/* Python's: exact where the quotient is rounded up to an integer. */
static double
floor_quotient(double a, double b)
{
    double rest = fmod(a, b), q = (a - rest) / b, down;

    if (rest != 0 && (rest < 0) != (b < 0))
        q -= 1;
    down = floor(q);
    return q == 0 ? copysign(0, a / b) : q - down > 0.5 ? down + 1 : down;
}

static struct chat_value
float_power(struct chat_run *r, double a, double b)
{
    double p = pow(a, b);

    if (a == 0 && b < 0)
        return zero_division(r);
    if (isfinite(a) && isfinite(b) && !isfinite(p))
        return isnan(p) ? chat_fail(r, "a power is no real number")
                        : too_large(r);
    return chat_float(p);
}

static struct chat_value
operate_floats(struct chat_run *r, int op, double a, double b)
{
    double rest;

    if ((op == '/' || op == '%' || op == CHAT_OP_FLOOR_DIVIDE) && b == 0)
        return zero_division(r);
    switch (op) {
    case '+':
        return chat_float(a + b);
    case '-':
        return chat_float(a - b);
    case '*':
        return chat_float(a * b);
    case '/':
        return chat_float(a / b);
    case CHAT_OP_FLOOR_DIVIDE:
        return chat_float(floor_quotient(a, b));
    case '%':
        rest = fmod(a, b);
        if (rest == 0)
            return chat_float(copysign(0, b));
        return chat_float((rest < 0) != (b < 0) ? rest + b : rest);
    default:
        return float_power(r, a, b);
    }
}

static struct chat_value
operate_numbers(struct chat_run *r, int op, struct chat_value a,
                struct chat_value b)
{
    if (op == '%' || op == CHAT_OP_FLOOR_DIVIDE || op == CHAT_OP_POWER)
        chat_take_steps(r, 48); /* fmod() and pow() can take a microsecond */
    if (chat_is_real(a) || chat_is_real(b))
        return operate_floats(r, op, chat_number(a), chat_number(b));
    return operate_ints(r, op, a.type == CHAT_BOOL ? a.b : a.i,
                        b.type == CHAT_BOOL ? b.b : b.i);
}

/* ---- strings and lists --------------------------------------------------- */

static struct chat_value
add_strings(struct chat_run *r, struct chat_value a, struct chat_value b)
{
    bool markup = a.string->markup || b.string->markup;
    struct chat_value sum;

    if (markup) {
        a = chat_escape(r, a);
        b = chat_escape(r, b);
    }
    if (chat_failed(r))
        return a;
    sum = chat_concatenate(r, a.string, b.string);
    return markup && !chat_failed(r) ? chat_as_markup(r, sum.string) : sum;
}

static struct chat_value
repeat_string(struct chat_run *r, const struct chat_string *s, int64_t n)
{
    struct chat_builder b = { .r = r, .markup = s->markup };

    for (int64_t i = 0; i < n && s->n && !chat_failed(r); i++)
        chat_put_string(&b, s);
    return chat_built(&b);
}

static void
add_all(struct chat_run *r, struct chat_value out, const struct chat_list *list)
{
    for (size_t i = 0; i < list->n && !chat_failed(r); i++)
        chat_run_add(r, out, list->items[i]);
}

static struct chat_value
repeat_list(struct chat_run *r, struct chat_value v, int64_t n)
{
    struct chat_value out = chat_new_list(r, v.type);

    for (int64_t i = 0; i < n && v.list->n && !chat_failed(r); i++)
        add_all(r, out, v.list);
    return out;
}

static struct chat_value
join_lists(struct chat_run *r, struct chat_value a, struct chat_value b)
{
    struct chat_value out = chat_new_list(r, a.type);

    if (!chat_failed(r))
        add_all(r, out, a.list);
    if (!chat_failed(r))
        add_all(r, out, b.list);
    return out;
}

static bool
is_int(struct chat_value v)
{
    return v.type == CHAT_INT || v.type == CHAT_BOOL;
}

static struct chat_value
multiply(struct chat_run *r, struct chat_value a, struct chat_value b)
{
    struct chat_value what = is_int(a) ? b : a;
    int64_t n = is_int(a) ? chat_int_argument(r, a, 0) : 0;

    if (!is_int(a) && !is_int(b))
        return no_operator(r, '*', a, b);
    if (!is_int(a))
        n = chat_int_argument(r, b, 0);
    if (what.type == CHAT_STRING)
        return repeat_string(r, what.string, n);
    return chat_is_list(what) ? repeat_list(r, what, n)
                              : no_operator(r, '*', a, b);
}

struct chat_value
chat_operate(struct chat_run *r, int op, struct chat_value a,
             struct chat_value b)
{
    if (chat_is_number(a) && chat_is_number(b))
        return operate_numbers(r, op, a, b);
    if (op == '%' && a.type == CHAT_STRING)
        return chat_format_percent(r, a.string, b);
    if (op == '*')
        return multiply(r, a, b);
    if (op != '+' || a.type != b.type)
        return no_operator(r, op, a, b);
    if (a.type == CHAT_STRING)
        return add_strings(r, a, b);
    return chat_is_list(a) ? join_lists(r, a, b) : no_operator(r, op, a, b);
}

/* ---- comparison ---------------------------------------------------------- */

static bool
contains(struct chat_run *r, struct chat_value v, struct chat_value item)
{
    if (v.type == CHAT_STRING && item.type == CHAT_STRING)
        return chat_find(r, v.string, 0, item.string) != SIZE_MAX;
    if (v.type == CHAT_DICT)
        return chat_find_key(r, v.dict, item) != NULL;
    if (v.type == CHAT_UNDEFINED)
        return false;
    if (!chat_is_list(v)) {
        no_operator(r, CHAT_OP_IN, item, v);
        return false;
    }
    for (size_t i = 0; i < v.list->n && !chat_failed(r); i++)
        if (chat_same(r, v.list->items[i], item))
            return true;
    return false;
}

static int
order_strings(struct chat_run *r, const struct chat_string *a,
              const struct chat_string *b)
{
    size_t n = a->n < b->n ? a->n : b->n;
    int order = n ? memcmp(a->s, b->s, n) : 0;

    chat_take_steps(r, n / 64);
    return order ? order : (a->n > b->n) - (a->n < b->n);
}

/* Below, at or above zero, as a is; a failure where they have no order. */
static int
order(struct chat_run *r, int op, struct chat_value a, struct chat_value b)
{
    if (is_int(a) && is_int(b)) {
        int64_t x = a.type == CHAT_INT ? a.i : a.b;
        int64_t y = b.type == CHAT_INT ? b.i : b.b;

        return (x > y) - (x < y);
    }
    if (chat_is_number(a) && chat_is_number(b)) {
        double x = chat_number(a), y = chat_number(b);

        return (x > y) - (x < y);
    }
    if (a.type == CHAT_STRING && b.type == CHAT_STRING)
        return order_strings(r, a.string, b.string);
    if (!chat_is_list(a) || a.type != b.type) {
        no_operator(r, op, a, b);
        return 0;
    }
    for (size_t i = 0; i < a.list->n && i < b.list->n && !chat_failed(r); i++)
        if (!chat_same(r, a.list->items[i], b.list->items[i]))
            return order(r, op, a.list->items[i], b.list->items[i]);
    return (a.list->n > b.list->n) - (a.list->n < b.list->n);
}

bool
chat_compare(struct chat_run *r, int op, struct chat_value a,
             struct chat_value b)
{
    if (chat_failed(r))
        return false;
    switch (op) {
    case CHAT_OP_EQUAL:
        return chat_same(r, a, b);
    case CHAT_OP_NOT_EQUAL:
        return !chat_same(r, a, b);
    case CHAT_OP_IN:
        return contains(r, b, a);
    case CHAT_OP_NOT_IN:
        return !contains(r, b, a);
    case CHAT_OP_AT_LEAST:
        return order(r, op, a, b) >= 0;
    case CHAT_OP_AT_MOST:
        return order(r, op, a, b) <= 0;
    case '<':
        return order(r, op, a, b) < 0;
    default:
        return order(r, op, a, b) > 0;
    }
}
