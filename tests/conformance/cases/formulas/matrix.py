"""Products of matrices. Their numbers are multiples of 1/8, so that sums are exact in any order."""
import numpy as np

from .core import Graph, Numbers, Tensor, case, formula, to_float, ulp


def depth(a, aTranspose=False, **_):
    return a.shape[0 if aTranspose else 1]


def gemm_tolerance(a, c=None, alpha=1.0, beta=1.0, **others):
    terms = depth(a, **others)
    extra = (alpha != 1) + (c is not None) + (beta != 1)
    return ulp(min(2 * terms + extra, 4 * terms))


@formula("gemm", tolerance=gemm_tolerance)
def gemm(a, b, c=None, alpha=1.0, beta=1.0, aTranspose=False, bTranspose=False):
    product = (a.a.T if aTranspose else a.a) @ (b.a.T if bTranspose else b.a)
    result = to_float(float(alpha), a.kind) * product
    if c is not None:
        result = result + to_float(float(beta), a.kind) * c.a
    return Tensor(a.kind, result)


@formula("matmul", tolerance=lambda a, b: ulp(2 * a.shape[-1]))
def matmul(a, b):
    return Tensor(a.kind, np.matmul(a.a, b.a))


def gemms():
    def add(label, kind="float32", m=3, k=4, n=5, c=None, positive=False, constant=(), **options):
        numbers = Numbers(f"gemm {label}")
        low = 0 if positive else -2
        def draw(name, shape):
            drawn = numbers.eighths(low, 2, kind, shape)
            return drawn.as_constant() if name in constant else drawn
        a = draw("a", (k, m) if options.get("aTranspose") else (m, k))
        b = draw("b", (n, k) if options.get("bTranspose") else (k, n))
        if c is not None:
            options["c"] = draw("c", c)
        case("gemm", f"{kind} {label}", a=a, b=b, **({"options": options} if options else {}))

    add("plain")
    add("half", "float16", 2, 5, 3)
    add("a transposed", aTranspose=True)
    add("b transposed", bTranspose=True)
    add("both transposed", aTranspose=True, bTranspose=True, m=2, k=3, n=7)
    add("both transposed", "float16", aTranspose=True, bTranspose=True, m=4, k=2, n=3)
    add("alpha", alpha=0.5)
    add("alpha that is no sum of halves", alpha=0.1, positive=True)
    add("beta without c", beta=3.0)
    for label, c in (("c of the result's shape", (3, 5)), ("c is a row", (1, 5)),
                     ("c is a column", (3, 1)), ("c of rank 1", (5,)), ("c is a scalar", ()),
                     ("c of one element", (1, 1))):
        add(label, c=c)
    add("c and beta", c=(3, 5), beta=-2.0)
    add("c and beta of 0", c=(3, 5), beta=0.0)
    add("alpha of 0", c=(5,), alpha=0.0)
    add("everything", m=4, k=3, n=2, c=(4, 1), alpha=0.25, beta=-0.5, aTranspose=True,
        bTranspose=True)
    add("everything", "float16", m=4, k=3, n=2, c=(2,), alpha=0.25, beta=-0.5, aTranspose=True)
    add("alpha and beta that are no sums of halves", m=2, k=3, n=4, c=(4,), alpha=0.3, beta=0.7,
        positive=True)
    add("b is constant", constant=("b",))
    add("b and c are constant", m=2, k=6, n=3, c=(3,), constant=("b", "c"), bTranspose=True)
    add("a is constant", constant=("a",))
    add("all are constant", c=(5,), constant=("a", "b", "c"))
    add("one row", m=1, k=9, n=4)
    add("one column", m=4, k=9, n=1)
    add("one product a number", m=3, k=1, n=2)
    add("beyond a block", m=1, k=17, n=17)
    numbers = Numbers("gemm square")
    same = numbers.eighths(-2, 2, "float32", (3, 3))
    graph = Graph("gemm", "float32 the same operand three times")
    graph.input("a", same)
    graph.output(graph.call("gemm", {"a": same, "b": same,
                                     "options": {"c": same, "bTranspose": True}}, "output"))


def matmuls():
    shapes = [
        ("rank 2", (3, 4), (4, 5)), ("a row by a column", (1, 7), (7, 1)),
        ("a column by a row", (4, 1), (1, 3)), ("rank 3", (2, 3, 4), (2, 4, 2)),
        ("a of rank 2", (3, 2), (4, 2, 3)), ("b of rank 2", (4, 2, 3), (3, 2)),
        ("a is spread", (1, 2, 3), (3, 3, 2)), ("b is spread", (3, 2, 3), (1, 3, 2)),
        ("both are spread", (2, 1, 2, 3), (3, 3, 2)), ("rank 4", (2, 2, 2, 3), (2, 2, 3, 1)),
        ("rank 8", (1, 2, 1, 1, 1, 1, 2, 3), (2, 1, 1, 1, 3, 2)),
        ("beyond a block", (3, 19), (19, 2)), ("a vector by many matrices", (1, 3), (3, 3, 4)),
    ]
    for i, (label, a, b) in enumerate(shapes):
        for kind in ("float32", "float16") if i in (0, 3, 5, 8) else ("float32",):
            numbers = Numbers(f"matmul {label}")
            case("matmul", f"{kind} {label}", a=numbers.eighths(-2, 2, kind, a),
                 b=numbers.eighths(-2, 2, kind, b))
    numbers = Numbers("matmul constants")
    case("matmul", "float32 b is constant", a=numbers.eighths(-2, 2, "float32", (2, 3, 4)),
         b=numbers.eighths(-2, 2, "float32", (4, 3)).as_constant())
    case("matmul", "float32 a is constant",
         a=numbers.eighths(-2, 2, "float32", (3, 4)).as_constant(),
         b=numbers.eighths(-2, 2, "float32", (2, 4, 1)))
    case("matmul", "float32 sums that are rounded", a=numbers.decimals(0, 2, "float32", (3, 6)),
         b=numbers.decimals(0, 2, "float32", (6, 2)))
    same = numbers.eighths(-2, 2, "float32", (2, 3, 3))
    case("matmul", "float32 the same operand twice", a=same, b=same)


def make():
    gemms()
    matmuls()
