# --every: the records of a line are those of its ids in lines of their own.
make_model llama-q4_0 model.gguf || exit 99
export GG_MODEL=model.gguf
seq 1 90 | tr '\n' ' ' >ids && echo >>ids
tr ' ' '\n' <ids | grep . >each
same() { gg-eval "$@" each >want && gg-eval --every "$@" ids | cmp - want; }
same && same --f16 && same --keep 3 && same --top 2 && same -t 3
printf '1\t5 6 7\n2\t8 9\n1\t3\n1\t\n' >numbered
printf '1\t5\n1\t6\n1\t7\n2\t8\n2\t9\n1\t3\n1\t\n' >want
gg-eval --every --top 1 numbered | sort >a
gg-eval --top 1 want | sort | cmp - a
gg-eval --every ids >a && gg-logits --diff a a | tail -n 1
