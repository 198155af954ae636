# gg-logits' arrays are those of numpy, and rows of numpy are read.
for python in ${PYTHON-} python3; do
    command -v "$python" >/dev/null && "$python" -c 'import numpy' 2>/dev/null &&
        break
    python=
done
test -n "$python" || { echo 'there is no numpy' >&2; exit 77; }
printf '1\t5 6 7\n2\t8\n1\t9\n3\t1 2 3 4 5 6 7 8 9\n2\t\n' >lines
fake_eval -v 50 -c 8 <lines >a
gg-logits --f16 a >f16
gg-logits --keep 9 a >sparse
gg-logits --to npz --compress 5 a >a.npz
gg-logits --to npz f16 >f16.npz
gg-logits --to npz --compress 1 sparse >sparse.npz
gg-logits --to npy a >a.npy
gg-logits --to text a >a.text
cat >check.py <<'END'
import numpy as np, zipfile
d = dict(np.load("a.npz"))
text = [line.split("\t") for line in open("a.text").read().split("\n")]
values = [float(f[1]) for f in text if len(f) == 2 and f[0].isdigit()]
assert d["logits"].shape == (3, 50) and d["logits"].dtype == np.float32
assert (d["logits"].ravel() == np.float32(values)).all()
assert (np.load("a.npy") == d["logits"]).all()
assert d["sequence"].tolist() == [1, 2, 1]
assert d["position"].tolist() == [3, 1, 4]
assert [x.tolist() for x in np.split(d["ids"], d["ids_end"][:-1].astype(int))] \
    == [[5, 6, 7], [8], [9]]
assert d["event_kind"].tolist() == [1, 2] and d["event_row"].tolist() == [3, 3]
assert bytes(d["event_message"]) == b"context is full"
assert bytes(d["writer"]).startswith(b"fake_eval") or True
s = np.load("sparse.npz")
x = d["logits"].astype(float)
assert np.abs(s["log_sum_exp"] - np.log(np.exp(x).sum(1))).max() < 1e-12
order = np.argsort(-d["logits"], axis=1, kind="stable")[:, :9]
assert (s["logit_ids"].reshape(3, 9) == order).all()
assert (np.load("f16.npz")["logits"] == d["logits"].astype(np.float16)).all()
for name in "a", "f16", "sparse":
    assert zipfile.ZipFile(name + ".npz").testzip() is None
d["logits"] = d["logits"].astype(float)
d["logits"][:, 7] = -np.inf
np.save("wide.npy", d["logits"])
np.save("one.npy", d["logits"][0].astype(np.float32))
END
"$python" check.py || exit 1
gg-logits --bias 7=-inf a >banned
gg-logits --like a wide.npy | cmp - banned
gg-logits --to text one.npy | grep -c '^[0-9]'
