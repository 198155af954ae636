/* switches.h - what an instruction set may choose in the templates of
 * lib/cpu/gemm: every optional macro, and what holds without it
 *
 * Words that mean one thing in these templates:
 *
 *     lane       one row of weights, where VEC rows are multiplied at a time
 *     unit       32 consecutive values of a row or a column: COLUMN_BLOCK
 *     group      values that share a scale: 16 or 32
 *     chunk      units of a block whose codes share bytes, unpacked together
 *     word       four bytes of a row, in its lane
 *     code       an unsigned byte; a weight is scale * (code - offset) - min
 *     column     activations of one token, see column.h; or floats
 *     tile       rows x columns whose sums are in registers: a micro-kernel
 *     panel      columns of a tile's width, for all rows
 *     block      of a file's format; of floats, values that a cache holds
 *     strip      values of a row that L1 holds, in GEMV
 *     chain      products that are added in one lane before sums are rounded
 *                or widened
 *
 * GEMV has one column, a small batch as many as codes are multiplied with in
 * the registers where they were unpacked, GEMM more: for these, UNITS units of
 * some rows are unpacked to memory, and multiplied tile after tile.
 *
 * An instruction set's header defines these numbers for blocks of integers:
 *
 *     SIGNED_OFFSET         what makes signed bytes codes; 0: nothing
 *     DOT_CHAIN_WORDS(most) words of codes up to `most` (0: they are signed)
 *                           from v_dot_begin() to v_dot_end()
 *     CHAINS                1, or 2 where in GEMV a group of 32 has two chains
 *     SMALL_BATCH           columns of a small batch: 1, 4 or 8, fewer where
 *                           SMALL_BATCH_OF() says so
 *     VECS(most), COLS(most)    vectors of rows, and columns, of a tile
 *     MAX_VECS, TILE        the most vectors, and the largest product of both
 *     UNITS                 that are unpacked at a time for GEMM, at least 8
 *
 * and may define these switches; quant_products.h says what the functions are:
 *
 *     TILED                 TILED columns have their integer sums computed at
 *                           once, by tile registers, and never others: then it
 *                           has v_begin_tiles(), v_end_tiles(), v_sum_tile(),
 *                           v_less_offset(), v_let_tiles_read():
 *                           x86/amx_tiles.h
 *     SCALES_IN_INT16(f)    scales of format f that are integers are multiplied
 *                           with pairs of 16-bit sums, as a group's fit: then
 *                           v_subtract_int16_pairs()
 *     SUMS_IN_INT16(f)      sums of a group of format f, less the offset, fit
 *                           in pairs of 16 bits, and begin with the offset's
 *                           part: then v_sum_int16_pairs(),
 *                           v_add_int16_pairs(), v_scale_int16_pairs()
 *     SUMS_OF_TWO_WORDS(f)  at least sums of two words do, in GEMM: then
 *                           v_two_word_offsets()
 *     HAS_DOT8              GEMM multiplies two columns and eight bytes at
 *                           once: then v_dot8(), v_join_words(),
 *                           v_split_dot8()
 *     HAS_SIGNED_MAGNITUDES GEMM multiplies signed codes as magnitudes: then
 *                           v_split_signs(), v_add_signed()
 *     UNSIGNED_DOTS         v_dot4() takes codes up to 255
 *
 * for the IQ types, whose codes come from codebooks (unpack_codebook.h):
 *
 *     MASKED_BYTES          v_negate_where(), v_lower_where()
 *     ROW_WORDS             v_parity_bits(), v_widen(), v_narrow_halves()
 *     LOOKS_UP_TWO_WORDS    v_two_words(), v_join_two_words()
 *     HAS_CODEBOOK_GEMV     v_sums_of_four(), v_group_sums(): codebook_gemv.h
 *     UNPACK_CODEBOOK, DEFINE_GEMV, GEMV_OF, ORDER    codebook_types.h
 *
 * for weights of F32, F16 and BF16, and attention:
 *
 *     DOT_BF16              products of BF16 pairs: float_sums.h
 *     GEMV_ROW_BY_ROW       GEMV reads one row after the other, not a tile
 *     NEIGHBOURS_FIRST      v_add_lanes() adds neighbours first: vector.h
 *     HAS_STORE_SUMS_4X4    v_store_sums_4x4(): vector.h
 *
 * and those of prefetch.h. */
#ifndef CPU_GEMM_SWITCHES_H
#define CPU_GEMM_SWITCHES_H

#ifndef TILED
#define TILED            0
#define v_begin_tiles(n) ((void)0)
#define v_end_tiles()    ((void)0)
#endif

#ifndef SCALES_IN_INT16
#define SCALES_IN_INT16(f)           false
#define v_subtract_int16_pairs(w, n) (w)
#endif

#ifdef SUMS_IN_INT16
#define HAS_SUMS_IN_INT16
#else
#define SUMS_IN_INT16(f)     false
#define v_sum_int16_pairs(w) (w)
#endif

#ifndef SUMS_OF_TWO_WORDS
#define SUMS_OF_TWO_WORDS(f)             false
#define v_two_word_offsets(offset, n, q) ((vec_bits){ 0 })
#endif

#ifndef GEMV_ROW_BY_ROW
#define GEMV_ROW_BY_ROW false
#endif

#endif
