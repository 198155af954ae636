/* test_gguf_get.c - typed getters take what fits, and name what does not */
#include <math.h>
#include <string.h>

#include "gguf/reader.h"
#include "harness/tap.h"

static struct gguf_context *g;
static struct gg_error err;

static bool
says(const char *message)
{
    if (strcmp(err.message, message) == 0)
        return true;
    printf("# said: %s\n", err.message);
    return false;
}

static void
fill(void)
{
    g = gguf_init_empty();
    gguf_set_val_u8(g, "u8", 200);
    gguf_set_val_i8(g, "i8", -100);
    gguf_set_val_u16(g, "u16", 60000);
    gguf_set_val_i16(g, "i16", -30000);
    gguf_set_val_u32(g, "u32", UINT32_MAX);
    gguf_set_val_i32(g, "i32", INT32_MIN);
    gguf_set_val_u64(g, "u64", UINT64_MAX);
    gguf_set_val_i64(g, "i64", INT64_MIN);
    gguf_set_val_i64(g, "i64.small", 5);
    gguf_set_val_f32(g, "f32", 0.5f);
    gguf_set_val_f64(g, "f64", 0.25);
    gguf_set_val_f64(g, "f64.huge", 1e300);
    gguf_set_val_f32(g, "f32.nan", NAN);
    gguf_set_val_f32(g, "f32.inf", INFINITY);
    gguf_set_val_bool(g, "bool", true);
    gguf_set_bytes(g, "str", "a\0b", 3);
    gguf_set_arr_data(g, "arr.f32", GGUF_TYPE_FLOAT32, (float[]){ 1, 2 }, 2);
    gguf_set_arr_data(g, "arr.i32", GGUF_TYPE_INT32, (int32_t[]){ 1, -2 }, 2);
    gguf_set_arr_str(g, "arr.str", (const char *[]){ "x", "yz" }, 2);
    gguf_set_val_u32(g, "bad\33[31m", 1);
}

static bool
u32_is(const char *key, uint32_t want)
{
    uint32_t v = 42;

    return gguf_get_u32(g, key, &v, &err) == GG_OK && v == want;
}

static bool
u32_fails(const char *key)
{
    uint32_t v = 42;

    return gguf_get_u32(g, key, &v, &err) == GG_ERR_FORMAT && v == 42 &&
           gguf_opt_u32(g, key, &v, &err) == GG_ERR_FORMAT && v == 42;
}

static void
test_integers(void)
{
    int32_t i = 0;
    uint64_t u = 0;

    ok(u32_is("u8", 200) && u32_is("u16", 60000) && u32_is("u32", UINT32_MAX) &&
           u32_is("i64.small", 5),
       "an integer of any type that fits");
    ok(u32_fails("i8") && says("i8: -100 is out of range"), "a negative one");
    ok(u32_fails("u64") && says("u64: 18446744073709551615 is out of range"),
       "one that is too large");
    ok(u32_fails("i64") && says("i64: -9223372036854775808 is out of range"),
       "the lowest of all");
    ok(u32_fails("f32") && says("f32: f32 found where an integer is needed"),
       "a float is no integer");
    ok(u32_fails("bool") && u32_fails("str"), "nor is a bool or a string");
    ok(u32_fails("arr.i32") &&
           says("arr.i32: an array of i32 found where an integer is needed"),
       "nor an array");
    ok(gguf_get_i32(g, "i32", &i, &err) == GG_OK && i == INT32_MIN &&
           gguf_get_i32(g, "i8", &i, &err) == GG_OK && i == -100 &&
           gguf_get_i32(g, "u32", &i, &err) == GG_ERR_FORMAT && i == -100,
       "i32");
    ok(gguf_get_u64(g, "u64", &u, &err) == GG_OK && u == UINT64_MAX &&
           gguf_get_u64(g, "i16", &u, &err) == GG_ERR_FORMAT,
       "u64");
}

static void
test_others(void)
{
    float f = 0;
    double d = 0;
    bool b = false;
    struct gguf_str s = { 0 };

    ok(gguf_get_f32(g, "f32", &f, &err) == GG_OK && f == 0.5f &&
           gguf_get_f32(g, "f64", &f, &err) == GG_OK && f == 0.25f,
       "f32");
    ok(gguf_get_f32(g, "f32.nan", &f, &err) == GG_ERR_FORMAT &&
           gguf_get_f32(g, "f64.huge", &f, &err) == GG_ERR_FORMAT &&
           gguf_get_f32(g, "f32.inf", &f, &err) == GG_ERR_FORMAT &&
           says("f32.inf: not a finite number") && f == 0.25f,
       "which is finite");
    is(gguf_get_f32(g, "u32", &f, &err), GG_ERR_FORMAT, "and no integer");
    ok(gguf_get_f64(g, "f32", &d, &err) == GG_OK && d == 0.5 &&
           gguf_get_f64(g, "f64.huge", &d, &err) == GG_OK && d == 1e300 &&
           gguf_get_f64(g, "f32.nan", &d, &err) == GG_ERR_FORMAT,
       "f64");
    ok(gguf_get_bool(g, "bool", &b, &err) == GG_OK && b &&
           gguf_get_bool(g, "u8", &b, &err) == GG_ERR_FORMAT,
       "bool");
    ok(gguf_get_str(g, "str", &s, &err) == GG_OK && s.n == 3 &&
           memcmp(s.s, "a\0b", 3) == 0 &&
           gguf_get_str(g, "arr.str", &s, &err) == GG_ERR_FORMAT && s.n == 3,
       "str");
}

static void
test_arrays(void)
{
    struct gguf_array a = { 0 };

    ok(gguf_get_array(g, "arr.f32", GGUF_TYPE_FLOAT32, &a, &err) == GG_OK &&
           a.n == 2 && gguf_array_f32(&a, 1) == 2,
       "an array of floats");
    ok(gguf_get_array(g, "arr.i32", GGUF_TYPE_INT32, &a, &err) == GG_OK &&
           gguf_array_i32(&a, 1) == -2,
       "of integers");
    ok(gguf_get_array(g, "arr.str", GGUF_TYPE_STRING, &a, &err) == GG_OK &&
           a.n == 2 && a.strings[1].n == 2 && a.strings[1].s[0] == 'y',
       "of strings");
    ok(gguf_get_array(g, "arr.i32", GGUF_TYPE_UINT32, &a, &err) ==
               GG_ERR_FORMAT &&
           says("arr.i32: an array of i32 found where an array of u32 is "
                "needed"),
       "the element type must be right");
    is(gguf_get_array(g, "u32", GGUF_TYPE_UINT32, &a, &err), GG_ERR_FORMAT,
       "a number is no array");
    ok(gguf_get_array_n(g, "arr.f32", GGUF_TYPE_FLOAT32, 3, &a, &err) ==
               GG_ERR_FORMAT &&
           says("arr.f32: 2 elements found where 3 are needed"),
       "the count must be right");
    is(gguf_get_array_n(g, "arr.f32", GGUF_TYPE_FLOAT32, 2, &a, &err), GG_OK,
       "and may be");
}

static void
test_missing(void)
{
    uint32_t v = 42;
    struct gguf_array a = { .n = 42 };

    ok(gguf_get_u32(g, "no", &v, &err) == GG_ERR_FORMAT && v == 42 &&
           says("no: the file has no such key, which a model must have: "
                "convert it again, or add the key with gg-convert"),
       "a missing key is an error");
    ok(gguf_opt_u32(g, "no", &v, &err) == GG_OK && v == 42 &&
           gguf_opt_array(g, "no", GGUF_TYPE_STRING, &a, &err) == GG_OK &&
           a.n == 42,
       "or not, and the default stays");
    ok(gguf_bad_value(g, "bad\33[31m", &err, "%d is odd", 1) == GG_ERR_FORMAT &&
           says("bad\\x1b[31m: 1 is odd"),
       "names are shown escaped");
    ok(gguf_get_u32(g, "no", &v, NULL) == GG_ERR_FORMAT,
       "without a place for the message");
}

int
main(void)
{
    fill();
    test_integers();
    test_others();
    test_arrays();
    test_missing();
    gguf_free(g);
    return tap_done();
}
