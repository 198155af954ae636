/* bits.h - where the formats keep the bits of value j
 *
 * The `put` functions add to what is there: clear the block first. */
#ifndef QUANT_BITS_H
#define QUANT_BITS_H

#include <stdint.h>
#include <string.h>

/* Runs of `run` values in run / 2 bytes: the low nibbles are the first half
 * of the run, the high ones the second. */
static inline int
quant_nibble_at(const uint8_t *p, int j, int run)
{
    int half = run / 2;

    return p[j / run * half + j % half] >> (j % run / half * 4) & 15;
}

static inline void
quant_nibble_put(uint8_t *p, int j, int run, int v)
{
    int half = run / 2;

    p[j / run * half + j % half] |= (uint8_t)((v & 15) << (j % run / half * 4));
}

/* A run of 32, by loops that compilers make vectors of. */
static inline void
quant_nibbles_unpack(const uint8_t *p, int8_t *q)
{
    uint8_t in[16];
    int8_t out[32];

    memcpy(in, p, sizeof(in));
    for (int j = 0; j < 16; j++)
        out[j] = in[j] & 15;
    for (int j = 0; j < 16; j++)
        out[j + 16] = (int8_t)(in[j] >> 4);
    memcpy(q, out, sizeof(out));
}

/* Overwrites p; q from 0 to 15, the bits above are dropped. */
static inline void
quant_nibbles_pack(const int8_t *q, uint8_t *p)
{
    uint8_t in[32], out[16];

    memcpy(in, q, sizeof(in));
    for (int j = 0; j < 16; j++)
        out[j] = (uint8_t)((in[j] & 15) | in[j + 16] << 4);
    memcpy(p, out, sizeof(out));
}

/* Runs of 128 values in 32 bytes: the lowest pairs of bits are the first 32
 * values of the run. */
static inline int
quant_2bit_at(const uint8_t *p, int j)
{
    return p[j / 128 * 32 + j % 32] >> (j % 128 / 32 * 2) & 3;
}

static inline void
quant_2bit_put(uint8_t *p, int j, int v)
{
    p[j / 128 * 32 + j % 32] |= (uint8_t)((v & 3) << (j % 128 / 32 * 2));
}

/* 256 values in 32 bytes: the lowest bits are the first 32 values. */
static inline int
quant_bit_plane_at(const uint8_t *p, int j)
{
    return p[j % 32] >> (j / 32) & 1;
}

static inline void
quant_bit_plane_put(uint8_t *p, int j, int v)
{
    p[j % 32] |= (uint8_t)((v & 1) << (j / 32));
}

/* Bits in the order of the values. */
static inline int
quant_bit_at(const uint8_t *p, int j)
{
    return p[j / 8] >> (j % 8) & 1;
}

static inline void
quant_bit_put(uint8_t *p, int j, int v)
{
    p[j / 8] |= (uint8_t)((v & 1) << (j % 8));
}

#endif
