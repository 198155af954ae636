# gg-eval --classify: labels of texts and of tokens, as transformers' pipelines
# give them in float64 for the folders of two cases of golden_folders.py.
mkdir none && gg-convert none x 2>&1 | grep 'without Jansson' >&2 && exit 77
rmdir none
for name in tokens labels; do
    make_case "$top_srcdir/tests/fixtures/families/bert-$name.case" \
        scratch.gguf $name && gg-convert $name $name.gguf || exit 99
done
status() { echo "status $?"; }
classify() { gg-eval --cache-type f32 --classify "$@"; }
printf 'The cat sat on the mat.\nunable,  running?\nThe R\303\251sum\303\251 of' >in
printf ' a quick brown (fox), 9 cats!\nMat ran.\n' >>in

# The third column may differ in its last digit; the first line that differs.
near() {
    paste "$1" - | awk -F '\t' -v name="$1" '
        { n = NF / 2; d = $3 - $(n + 3); same = NF % 2 == 0 && d < 3e-6 && d > -3e-6
          for (i = 1; i <= n; i++) same = same && (i == 3 || $i == $(n + i))
          if (!same && !bad++) print name ": " $0 }
        END { print name, NR, bad ? "differs" : "as transformers" }'
}

# ---- spans of tokens, as aggregation_strategy "simple" makes them
cat >spans <<'END'
1	LOC	0.710386	0	3	The
1	LOC	0.793760	4	7	cat
1	LOC	0.854366	12	14	on
1	LOC	0.817884	15	18	the
1	LOC	0.555183	22	23	.
2	LOC	0.967352	0	2	un
2	PER	0.632470	9	12	run
3	LOC	0.514591	0	3	The
3	LOC	0.584174	4	5	R
3	LOC	0.597542	7	8	s
3	LOC	0.483670	8	9	u
3	LOC	0.565104	9	10	m
3	LOC	0.951494	13	14	o
3	LOC	0.585836	14	15	f
3	LOC	0.924262	16	19	a q
3	PER	0.404063	19	20	u
3	LOC	0.706046	20	21	i
3	PER	0.438698	21	22	c
3	LOC	0.964952	25	26	r
3	PER	0.633540	26	27	o
3	PER	0.617120	27	28	w
3	LOC	0.720275	28	31	n (
3	LOC	0.625547	31	32	f
3	LOC	0.824734	32	34	ox
3	LOC	0.420102	35	36	,
3	LOC	0.814280	37	38	9
3	LOC	0.529361	39	44	cats!
4	PER	0.542477	0	3	Mat
4	LOC	0.853304	4	5	r
4	LOC	0.974231	5	6	a
4	PER	0.619444	6	7	n
4	LOC	0.897551	7	8	.
END
classify -m tokens in | near spans
cat >each <<'END'
1	B-LOC	0.710386	0	3	The
1	B-LOC	0.793760	4	7	cat
1	O	0.758890	8	11	sat
1	B-LOC	0.854366	12	14	on
1	B-LOC	0.817884	15	18	the
1	O	0.637937	19	22	mat
1	B-LOC	0.555183	22	23	.
2	B-LOC	0.967352	0	2	un
2	O	0.553462	2	6	able
2	O	0.962327	6	7	,
2	B-PER	0.632470	9	12	run
2	O	0.529976	12	16	ning
2	O	0.831200	16	17	?
3	I-LOC	0.514591	0	3	The
3	B-LOC	0.584174	4	5	R
3	O	0.922408	5	7	é
3	B-LOC	0.597542	7	8	s
3	B-LOC	0.483670	8	9	u
3	B-LOC	0.565104	9	10	m
3	O	0.956708	10	12	é
3	B-LOC	0.951494	13	14	o
3	B-LOC	0.585836	14	15	f
3	B-LOC	0.944118	16	17	a
3	I-LOC	0.904407	18	19	q
3	I-PER	0.404063	19	20	u
3	B-LOC	0.706046	20	21	i
3	B-PER	0.438698	21	22	c
3	O	0.596990	22	23	k
3	O	0.811764	24	25	b
3	B-LOC	0.964952	25	26	r
3	I-PER	0.633540	26	27	o
3	B-PER	0.617120	27	28	w
3	I-LOC	0.725759	28	29	n
3	I-LOC	0.714791	30	31	(
3	B-LOC	0.625547	31	32	f
3	B-LOC	0.975290	32	33	o
3	I-LOC	0.674178	33	34	x
3	O	0.395207	34	35	)
3	I-LOC	0.420102	35	36	,
3	B-LOC	0.814280	37	38	9
3	B-LOC	0.429381	39	42	cat
3	I-LOC	0.539214	42	43	s
3	I-LOC	0.619489	43	44	!
4	B-PER	0.542477	0	3	Mat
4	B-LOC	0.853304	4	5	r
4	B-LOC	0.974231	5	6	a
4	B-PER	0.619444	6	7	n
4	B-LOC	0.897551	7	8	.
END
classify -m tokens --label-tokens in | near each
classify -m tokens.gguf in >out
classify -m tokens in | cmp - out
classify -m tokens --batch 1 in | cmp - out
# A line alone; places of ids, among which [CLS] is the first.
sed -n 2p in | classify -m tokens | cut -f 2,4-
sed -n 2p in | gg-tokenize -m tokens.gguf --lines |
    classify -m tokens --ids | cut -f 2,4-
sed -n 4p in | classify -m tokens --json | sed 's/\(0\.[0-9]\{4\}\)[0-9]*/\1/g'
echo | classify -m tokens --json
sed -n 2p in | classify -m tokens --label-tokens --all-labels | head -5 |
    cut -f 2,4-

# ---- labels of texts: several are right, by sigmoid
cat >all <<'END'
1	rage	0.540220
1	fear	0.314849
1	joy	0.268440
2	rage	0.513115
2	fear	0.325728
2	joy	0.182999
3	rage	0.814341
3	joy	0.474166
3	fear	0.209120
4	fear	0.524815
4	rage	0.431623
4	joy	0.292807
END
classify -m labels --all-labels in | near all
classify -m labels in | cut -f 1,2
classify -m labels.gguf --json in | head -1 | sed 's/\(0\.[0-9]\{4\}\)[0-9]*/\1/g'
gg-tokenize -m labels.gguf --lines in |
    classify -m labels --ids --all-labels | near all
# A pair, as --rank reads it; a line that is none.
printf 'the cat\tsat on\nthe cat\n' >pair
classify -m labels --pairs --all-labels pair >out
status
awk -F '\t' '{ $3 = NF > 2 ? sprintf("%.4f", $3) : ""; print }' out
head -1 pair | gg-tokenize -m labels.gguf --pairs |
    classify -m labels --ids --all-labels | cut -f 2- >by_ids
classify -m labels --pairs --all-labels pair 2>err | head -3 | cut -f 2- | cmp - by_ids

# ---- what the file says counts: the head's activation, the problem
key() { gg-convert --set "bert.classifier.$1" labels.gguf changed.gguf; }
key activation=relu && classify -m changed.gguf --all-labels in | near all | tail -1
key problem_type=single_label_classification
classify -m changed.gguf --all-labels in | head -3 |
    awk '{ s += $3 } END { printf "%.4f\n", s }'
key problem_type=regression && classify -m changed.gguf --all-labels in | head -3 |
    awk '{ p = 1 / (1 + exp(-$3)); print $2, (p > 0 && p < 1) }'
for bad in problem_type=other activation=other; do
    key $bad && classify -m changed.gguf in
    status
done
gg-inspect -k bert.classifier.output_labels labels.gguf
gg-inspect -k bert.classifier.pooling_type tokens.gguf

# ---- what does not go
make_model bert-f32 bert.gguf || exit 99
for args in '-m bert.gguf' '-m labels --label-tokens' '-m tokens --pairs' \
    '-m tokens --all-labels' '-m tokens -c 8'; do
    # shellcheck disable=SC2086 # several words
    classify $args in >out
    status
done
cut -f 1,2 out | head -2
gg-eval -m labels --all-labels in
status

echo '2 9 10 3' | gg-eval -m tokens.gguf --rank
status
printf '' | classify -m labels
status
