/* test_half.c - half floats against arithmetic that knows no bit patterns
 *
 * The truth is IEEE 754's definition, computed in double with ldexp() and
 * rint(): exact, as a double holds every value in question. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "core/half.h"
#include "harness/tap.h"

struct format {
    int mantissa, emin, emax; /* 2^emin: the least normal number */
};

static const struct format half = { 10, -14, 15 }, bf16 = { 7, -126, 127 };

static double
value(const struct format *f, uint32_t bits)
{
    uint32_t m = bits & ((1u << f->mantissa) - 1);
    uint32_t exponents = (uint32_t)(f->emax - f->emin) + 2;
    uint32_t e = bits >> f->mantissa & exponents;
    double x;

    if (e == exponents)
        x = m ? NAN : INFINITY;
    else if (e == 0)
        x = ldexp(m, f->emin - f->mantissa);
    else
        x = ldexp(m + ldexp(1, f->mantissa),
                  f->emin + (int)e - 1 - f->mantissa);
    return bits & 0x8000 ? -x : x;
}

/* The value of the format that is nearest to x; of two, the even one. */
static double
nearest(const struct format *f, double x)
{
    double step, rounded;
    int e;

    if (x == 0 || !isfinite(x))
        return x;
    frexp(x, &e); /* |x| is in [2^(e-1), 2^e) */
    if (e - 1 < f->emin)
        e = f->emin + 1;
    step = ldexp(1, e - 1 - f->mantissa);
    rounded = rint(x / step) * step;
    if (fabs(rounded) >= ldexp(1, f->emax + 1))
        return copysign(INFINITY, x);
    return rounded;
}

static bool
same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

typedef float (*widen_fn)(uint16_t);
typedef uint16_t (*narrow_fn)(float);

static void
test_widening(const struct format *f, widen_fn widen, const char *name)
{
    int wrong = 0;

    for (uint32_t u = 0; u < 65536; u++)
        if (!same(widen((uint16_t)u), value(f, u)) && wrong++ < 5)
            printf("# %04x: %a, not %a\n", u, widen((uint16_t)u), value(f, u));
    is(wrong, 0, name);
}

static int
narrows_wrongly(const struct format *f, widen_fn widen, narrow_fn narrow,
                float x)
{
    double got = widen(narrow(x)), want = nearest(f, x);

    if (same(got, want))
        return 0;
    printf("# %a: %a, not %a\n", x, got, want);
    return 1;
}

/* At each value, half-way to the next, and one float to both sides. */
static void
test_narrowing(const struct format *f, widen_fn widen, narrow_fn narrow,
               const char *name)
{
    int wrong = 0;

    for (uint32_t u = 0; u < 65535 && wrong < 10; u++) {
        float x = (float)value(f, u), y = (float)value(f, u + 1);
        float middle = (float)((double)x / 2 + (double)y / 2);
        float near[] = { x, middle };

        for (size_t i = 0; i < 2 && isfinite(near[i]); i++) {
            wrong += narrows_wrongly(f, widen, narrow, near[i]);
            wrong += narrows_wrongly(f, widen, narrow,
                                     nextafterf(near[i], INFINITY));
            wrong += narrows_wrongly(f, widen, narrow,
                                     nextafterf(near[i], -INFINITY));
        }
    }
    is(wrong, 0, name);
}

static void
test_any(const struct format *f, widen_fn widen, narrow_fn narrow,
         const char *name)
{
    uint32_t bits = 1;
    int wrong = 0;

    for (int i = 0; i < 1000000 && wrong < 10; i++) {
        bits = bits * 1664525 + 1013904223;
        wrong += narrows_wrongly(f, widen, narrow, core_bits_float(bits));
    }
    is(wrong, 0, name);
}

/* Numbers come back; a NaN stays one, of its sign. */
static void
test_there_and_back(widen_fn widen, narrow_fn narrow, const char *name)
{
    int wrong = 0;

    for (uint32_t u = 0; u < 65536; u++) {
        float x = widen((uint16_t)u);
        uint16_t v = narrow(x);

        wrong += isnan(x) ? !isnan(widen(v)) || ((u ^ v) & 0x8000) : u != v;
    }
    is(wrong, 0, name);
}

static void
test_limits(void)
{
    ok(half_from_float(65519.996f) == 0x7bff &&
           half_from_float(65520.0f) == 0x7c00 &&
           half_from_float(-1e30f) == 0xfc00,
       "halves end at 65504, rounding at 65520");
    ok(half_from_float(0x1p-25f) == 0 &&
           half_from_float(nextafterf(0x1p-25f, 1)) == 1 &&
           half_from_float(-0x1p-26f) == 0x8000,
       "and begin at 2^-24");
    ok(isnan(half_to_float(half_from_float(core_bits_float(0x7f800001)))) &&
           isnan(core_bf16_to_float(
               core_bf16_from_float(core_bits_float(0x7f800001)))),
       "a NaN whose bits are all cut off is still one");
    is(core_bf16_from_float(0x1.fffffep127f), 0x7f80,
       "bf16 rounds to infinity");
}

#ifdef __FLT16_MAX__
static void
test_compiler(void)
{
    uint32_t bits = 7;
    int wrong = 0;

    for (int i = 0; i < 1000000; i++) {
        float x;
        _Float16 h;

        bits = bits * 1664525 + 1013904223;
        x = core_bits_float(bits);
        h = (_Float16)x;
        wrong += !same(half_to_float(half_from_float(x)), (float)h);
    }
    is(wrong, 0, "the compiler's own half floats agree");
}
#else
static void
test_compiler(void)
{
    puts("# this compiler has no half floats of its own");
}
#endif

int
main(void)
{
    test_widening(&half, half_to_float, "all halves widen exactly");
    test_widening(&bf16, core_bf16_to_float, "all bf16 widen exactly");
    test_narrowing(&half, half_to_float, half_from_float,
                   "floats near a half, or between two, round to even");
    test_narrowing(&bf16, core_bf16_to_float, core_bf16_from_float,
                   "floats near a bf16, or between two, round to even");
    test_any(&half, half_to_float, half_from_float, "any float to half");
    test_any(&bf16, core_bf16_to_float, core_bf16_from_float,
             "any float to bf16");
    test_there_and_back(half_to_float, half_from_float, "halves come back");
    test_there_and_back(core_bf16_to_float, core_bf16_from_float,
                        "bf16 come back");
    test_limits();
    test_compiler();
    return tap_done();
}
