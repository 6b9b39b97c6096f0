"""The operator against torch.matmul, and all that PyTorch does with an operator beside calling it.

Runs where there are PyTorch, nvcc and ninja; what needs a Hopper GPU is skipped elsewhere.
"""
import os
import shutil

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch.utils import cpp_extension  # noqa: E402

if cpp_extension.CUDA_HOME is None:
    pytest.skip("no CUDA toolkit was found to build the operator with", allow_module_level=True)
if shutil.which("ninja") is None:
    pytest.skip("ninja, which builds PyTorch's extensions, was not found", allow_module_level=True)

import hopper_ladder  # noqa: E402

DEVICE = "cuda"
HAVE_HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
on_hopper = pytest.mark.skipif(not HAVE_HOPPER, reason="no Hopper GPU (compute capability 9.0)")

# torch.empty then fills its memory with NaN: what the operator does not write shows.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # torch.matmul asks for it then
torch.use_deterministic_algorithms(True)

# M, N, K: whole tiles and parts of one in every direction, C stored by TMA and (odd N) by threads,
# one block and many tiles for each.
SHAPES = [(1, 1, 8), (1, 4096, 512), (64, 256, 64), (128, 256, 64), (127, 255, 72), (129, 257, 8),
          (300, 1000, 136), (2048, 8, 4096), (513, 4099, 1000), (4000, 5000, 1000),
          (4096, 4096, 4096)]


@pytest.fixture(autouse=True)
def same_data_every_time():
    torch.manual_seed(1)


def whole_numbers(rows, columns):
    """Their products sum up without error, in any order."""
    return torch.randint(-3, 4, (rows, columns), device=DEVICE).half()


def in_wider_rows(matrix):
    """The same values as columns 8 and following of a wider matrix that is NaN otherwise."""
    rows, columns = matrix.shape
    wide = torch.full((rows, (columns + 7) // 8 * 8 + 16), float("nan"), dtype=matrix.dtype,
                      device=matrix.device)
    view = wide[:, 8:8 + columns]
    return view.copy_(matrix)


def product(a, b):
    return (a.double() @ b.double().t()).half()


def refusal(error, a, b):
    """The sentence that the operator refuses these operands with."""
    with pytest.raises(error) as caught:
        hopper_ladder.matmul(a, b)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


# --- what it computes ---


@on_hopper
@pytest.mark.parametrize("m, n, k", SHAPES)
def test_whole_numbers_bit_by_bit(m, n, k):
    a, b = whole_numbers(m, k), whole_numbers(n, k)
    assert torch.equal(hopper_ladder.matmul(a, b), product(a, b))


@on_hopper
@pytest.mark.parametrize("m, n, k", SHAPES)
def test_random_numbers_within_the_rounding_errors(m, n, k):
    a = torch.randn(m, k, device=DEVICE).half()
    b = torch.randn(n, k, device=DEVICE).half()
    expected = a.double() @ b.double().t()
    magnitude = a.double().abs() @ b.double().abs().t()
    # As harness/judge.h has it, with a reference that makes no error itself.
    bound = expected.abs() * 2**-11 + 2**-25 + ((k + 15) // 16 + 4) * 2**-23 * magnitude
    assert ((hopper_ladder.matmul(a, b).double() - expected).abs() <= bound).all()


@on_hopper
@pytest.mark.parametrize("m, n, k", [(0, 64, 64), (64, 0, 64), (0, 0, 0), (0, 64, 0)])
def test_empty_results(m, n, k):
    c = hopper_ladder.matmul(whole_numbers(m, k), whole_numbers(n, k))
    assert c.shape == (m, n) and c.dtype == torch.half


@on_hopper
def test_a_sum_of_nothing_is_zero():
    c = hopper_ladder.matmul(whole_numbers(100, 0), whole_numbers(60, 0))
    assert torch.equal(c, torch.zeros(100, 60, dtype=torch.half, device=DEVICE))


@on_hopper
def test_same_bits_every_time():
    a = torch.randn(1000, 1032, device=DEVICE).half()
    b = torch.randn(2000, 1032, device=DEVICE).half()
    first = hopper_ladder.matmul(a, b)
    assert all(torch.equal(hopper_ladder.matmul(a, b), first) for _ in range(100))


# --- operands that are views ---


@on_hopper
@pytest.mark.parametrize("m, n, k", [(127, 255, 72), (300, 1000, 133), (5, 3, 1)])
def test_views_with_wider_rows(m, n, k):
    a, b = whole_numbers(m, k), whole_numbers(n, k)
    c = hopper_ladder.matmul(in_wider_rows(a), in_wider_rows(b))
    assert torch.equal(c, product(a, b))


@on_hopper
def test_views_are_not_copied():
    a, b = in_wider_rows(whole_numbers(512, 1024)), in_wider_rows(whole_numbers(256, 1024))
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    c = hopper_ladder.matmul(a, b)
    assert torch.cuda.max_memory_allocated() - before == c.numel() * c.element_size()


@on_hopper
def test_strides_that_mean_nothing():
    row, column = whole_numbers(1, 65), whole_numbers(16, 8)
    row = row.as_strided((1, 65), (3, 1))
    assert torch.equal(hopper_ladder.matmul(row, row), product(row, row))
    column = column.as_strided((16, 1), (8, 5))
    assert torch.equal(hopper_ladder.matmul(column, column), product(column, column))


# --- what it refuses ---


def test_shapes_that_do_not_fit():
    a = torch.zeros(16, 64, dtype=torch.half)
    for x, y in [(a, a[:, :56]), (a[0], a), (a, a[None])]:
        sentence = refusal(ValueError, x, y)
        assert sentence == (f"A is {list(x.shape)}, B is {list(y.shape)}; the product is A · Bᵀ: "
                            "pass [M, K] and [N, K]")


def test_another_dtype():
    a = torch.zeros(16, 64, dtype=torch.half)
    assert refusal(TypeError, a.float(), a) == (
        "A: the dtype is Float; the ladder multiplies fp16: pass A.half()")
    assert refusal(TypeError, a, a.bfloat16()) == (
        "B: the dtype is BFloat16; the ladder multiplies fp16: pass B.half()")


def test_tensors_on_the_cpu():
    a = torch.zeros(16, 64, dtype=torch.half)
    assert refusal(ValueError, a, a) == (
        "A is on cpu, B on cpu; this operator runs on a Hopper GPU: move both to the same one")


@on_hopper
def test_tensors_on_two_devices():
    a = torch.zeros(16, 64, dtype=torch.half)
    assert "A is on cuda:0, B on cpu;" in refusal(ValueError, a.to(DEVICE), a)
    assert "A is on cpu, B on cuda:0;" in refusal(ValueError, a, a.to(DEVICE))


@on_hopper
def test_transposed_operands():
    a, transposed = whole_numbers(16, 64), whole_numbers(64, 16).t()
    assert refusal(ValueError, transposed, a) == (
        "A: the elements of a row are 16 apart; TMA needs them side by side (stride 1): pass "
        "A.contiguous()")
    assert "pass B.contiguous()" in refusal(ValueError, a, transposed)
    assert torch.equal(hopper_ladder.matmul(a, transposed.contiguous()), product(a, transposed))


@on_hopper
def test_rows_that_tma_cannot_address():
    a, b = whole_numbers(16, 65), in_wider_rows(whole_numbers(16, 65))
    assert refusal(ValueError, a, b) == (
        "A: row pitch is 130 bytes (lda = 65); TMA needs a multiple of 16: pad lda to 72")
    padded = torch.nn.functional.pad(a, (0, -65 % 8))[:, :65]  # the way out that README.md gives
    assert torch.equal(hopper_ladder.matmul(padded, b), product(a, b))
    a, wide = whole_numbers(16, 64), whole_numbers(16, 72)
    view = wide[:, 1:65]
    assert "B: the address is 2 bytes past a multiple of 16" in refusal(ValueError, a, view)
    assert torch.equal(hopper_ladder.matmul(a, view.clone()), product(a, view))
    view = wide[:1].expand(16, 72)
    assert "A: lda = 0 is less than the row length" in refusal(ValueError, view, wide)


# --- gradients ---


@on_hopper
@pytest.mark.parametrize("m, n, k", [(64, 256, 64), (127, 255, 72), (3, 5, 8)])
def test_gradients(m, n, k):
    a, b = whole_numbers(m, k).requires_grad_(), whole_numbers(n, k).requires_grad_()
    grad_c = whole_numbers(m, n)
    hopper_ladder.matmul(a, b).backward(grad_c)
    assert torch.equal(a.grad, product(grad_c, b.detach().t()))
    assert torch.equal(b.grad, product(grad_c.t(), a.detach().t()))


@on_hopper
def test_gradients_of_a_sum_and_of_one_operand():
    a, b = whole_numbers(100, 64), whole_numbers(60, 64).requires_grad_()
    hopper_ladder.matmul(a, b).sum().backward()  # the incoming gradient has strides of 0
    assert a.grad is None
    assert torch.equal(b.grad, a.double().sum(0).half().expand(60, 64))


# --- what else PyTorch does with an operator ---


@pytest.mark.parametrize("device", ["cuda", "meta"])
def test_fake_tensors(device):
    with torch._subclasses.fake_tensor.FakeTensorMode():
        a = torch.empty(5, 64, dtype=torch.half, device=device)
        b = torch.empty(7, 72, dtype=torch.half, device=device)
        c = hopper_ladder.matmul(a, b[:, :64])
        assert c.shape == (5, 7) and c.stride() == (7, 1)
        assert c.dtype == torch.half and c.device.type == device
        assert refusal(ValueError, a, b) == (
            "A is [5, 64], B is [7, 72]; the product is A · Bᵀ: pass [M, K] and [N, K]")


@on_hopper
@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("view", [lambda matrix: matrix, in_wider_rows])
def test_opcheck(view, requires_grad):
    a = view(whole_numbers(127, 64)).requires_grad_(requires_grad)
    b = view(whole_numbers(63, 64)).requires_grad_(requires_grad)
    torch.library.opcheck(torch.ops.hopper_ladder.matmul.default, (a, b))


@on_hopper
@pytest.mark.parametrize("dynamic", [False, True])
def test_compile(dynamic):
    def layer(x, weight):
        return torch.relu(hopper_ladder.matmul(x * 2, weight)) + 1

    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True, dynamic=dynamic)
    weight = whole_numbers(136, 64)
    for m in (5, 127, 300):
        results, gradients = [], []
        x = whole_numbers(m, 64)
        for function in (layer, compiled):
            leaf, leaf_weight = x.clone().requires_grad_(), weight.clone().requires_grad_()
            results.append(function(leaf, leaf_weight))
            results[-1].sum().backward()
            gradients.append((leaf.grad, leaf_weight.grad))
        assert torch.equal(*results)
        assert all(torch.equal(*pair) for pair in zip(*gradients))


@on_hopper
def test_runs_on_the_current_stream():
    source, b = whole_numbers(512, 512), whole_numbers(256, 512)
    a = torch.full_like(source, float("nan"))
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)  # cycles; another stream would not wait so long
        a.copy_(source)
        c = hopper_ladder.matmul(a, b)
        a.fill_(float("nan"))
    side.synchronize()
    assert torch.equal(c, product(source, b))


@on_hopper
@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="one GPU only")
def test_runs_on_the_operands_device():
    with torch.cuda.device(1):
        a, b = whole_numbers(300, 136), whole_numbers(100, 136)
    with torch.cuda.device(0):
        c = hopper_ladder.matmul(a, b)
        assert torch.cuda.current_device() == 0
    assert c.device == a.device
    assert torch.equal(c, product(a, b))


@on_hopper
@pytest.mark.parametrize("k", [64, 0])
def test_cuda_graph(k):
    a, b = whole_numbers(300, k), whole_numbers(100, k)
    hopper_ladder.matmul(a, b)  # what the first call loads is not to be captured
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        c = hopper_ladder.matmul(a, b)
    for _ in range(3):
        a.copy_(whole_numbers(300, k))
        graph.replay()
        assert torch.equal(c, product(a, b))
