"""Expressions for which the reader must resolve the same overloads as PyTorch.

`x` and `y` are tensors of (4, 6), `m` is (6, 6), `i` whole numbers, `b` a mask like `x`, `n` is 2, `s` is 0.5.
"""

OPERATORS = """
x + y; x + 1; 1 + x; x - y; x - 1.5; 2 - x; x * y; x * True; 3 * x; x / y; 2 / x; x // y; x // 2; 2 // x; x % y; x % 2
2 % x; x ** y; x ** 2; 2 ** x; x ** s; -x; abs(x); ~b; b & b; b | b; b ^ b; i & 1; i << 1; i >> 1; 1 << i; x @ y.t()
x == y; x == 1; x != y; x < y; x < 1; 1 < x; x >= 2; 0 >= x; x > y; x <= 0.5; x + s; x * n; n * x; s - x; x + n * s
x[0] * x.shape[1]
"""
SUBSCRIPTS = """
x[0]; x[-1]; x[0, 1]; x[1:]; x[:2]; x[::2]; x[1:3, 2]; x[:, 0]; x[..., 0]; x[0, ...]; x[None]; x[:, None]
x[..., None]; x[1:, ..., None]; x[None, ..., 0]; x[...]; x[:]; x[b]; x[i]; x[:, i]; x[1:, i]; x[i, 1:]; x[i, i]; x[n]
x[:n]; x[n:, -1]; x.unsqueeze(0)[..., 1:, None, 0]; x[0][1]; x[(0, 1)]; x[..., 1:3, 0:2]; x[:, :, None]
x.unsqueeze(1)[0, ..., 2]
"""
METHODS = """
x.add(y); x.add(1); x.add(y, alpha=2); x.sub(1, alpha=2); x.mul(2); x.div(y); x.div(2, rounding_mode='floor'); x.sum()
x.sum(0); x.sum(-1, True); x.sum((0, 1)); x.sum(dim=1, keepdim=True); x.sum(axis=0); x.sum(dtype=torch.float32)
x.mean(); x.mean(1); x.mean(dim=(0, 1)); x.std(); x.std(0); x.std(1, unbiased=False); x.var(dim=0, correction=0)
x.norm(); x.norm(dim=1); x.norm(1); x.norm(p=2, dim=0, keepdim=True); x.max(); x.max(1); x.max(dim=1, keepdim=True)
x.max(y); x.min(0); x.argmax(); x.argmax(1); x.cumsum(0); x.prod(); x.prod(1); x.all(); x.any(1); x.logsumexp(0)
x.logsumexp((0, 1)); x.softmax(1); x.log_softmax(-1); x.clamp(0, 1); x.clamp(min=0); x.clamp(max=y); x.clamp(min=y)
x.clamp_min(0.5); x.pow(2); x.pow(y); x.sqrt(); x.view(-1); x.view(6, 4); x.view((6, 4)); x.view(x.shape)
x.view(x.size(0), -1); x.view(-1, n); x.reshape(2, -1); x.reshape((24,)); x.permute(1, 0); x.permute((1, 0))
x.transpose(0, 1); x.t(); x.T; x.mT; x.H; x.flatten(); x.flatten(0, 1); x.squeeze(); x.squeeze(0); x.squeeze((0, 1))
x.unsqueeze(-1); x.expand(2, 4, 6); x.expand(2, -1, -1); x.expand_as(y); x.repeat(2, 1); x.repeat((2, 1))
x.tile(2, 2); x.flip(0); x.flip(0, 1); x.roll(1, 0); x.roll((1, 2), (0, 1)); x.split(2); x.split([1, 3])
x.split(2, dim=1); x.chunk(2); x.chunk(2, -1); x.unbind(); x.unbind(1); x.narrow(0, 1, 2); x.select(0, 1)
x.diagonal(); x.diagonal(1, 0, 1); x.unfold(0, 2, 1); x.unflatten(1, (2, 3)); x.tril(); x.triu(1)
x.gather(1, i.view(1, -1)); x.index_select(0, i); x.masked_fill(b, 0.5); x.masked_fill(b, y[0, 0]); x.where(b, y)
x.scatter_add(1, i.view(1, -1), y); x.index_add(0, i, y[:3]); x.to(torch.float32); x.to(y); x.to(dtype=torch.float16)
x.to('cpu'); x.double(); x.float(); x.long(); x.bool(); x.type_as(i); x.clone(); x.contiguous(); x.detach()
x.fill_diagonal_(0); x.new_zeros(2, 3); x.new_zeros((2, 3)); x.new_ones(n); x.new_full((2,), 3.0); x.mm(y.t())
x.matmul(y.t()); x.addmm(x, m); x.addcmul(x, y, value=2); x.lerp(y, 0.5); x.lerp(y, y); x.eq(y); x.eq(1); x.ge(0)
x.exp_(); x.add_(y); x.add_(1); x.mul_(n); x.div_(y); x.copy_(y); x.fill_(0.5); x.zero_(); x.clamp_(0, 1); x.pow_(2)
x.relu_(); x.t_(); x.unsqueeze_(0); x.squeeze_(); x.transpose_(0, 1); x.masked_fill_(b, 1.0); x.to('cpu', dtype=y.dtype)
x.index_put_((i,), y[:3]); x.sub_(y, alpha=s); x.topk(2); x.sort(); x.sort(dim=0, descending=True); x.median(1)
x.mode(); x.kthvalue(2); x.cummax(0); x.aminmax(); x.diff(); x.erf(); x.sigmoid_(); x.tanh(); x.rsqrt()
x.reciprocal(); x.square(); x.logical_not(); x.isnan(); x.nan_to_num(); x.sign(); x.maximum(y); x.minimum(y)
x.fmod(2); x.fmod(y); x.remainder(y); x.atan2(y); x[0].outer(y[0]); x[0].dot(y[0])
"""
FUNCTIONS = """
torch.add(x, y); torch.add(x, 1); torch.add(input=x, other=y); torch.sum(x); torch.sum(x, dim=1); torch.sum(x, 1)
torch.mean(x, 0); torch.exp(x); torch.relu(x); torch.sigmoid(x); torch.softmax(x, 1); torch.log_softmax(x, dim=1)
torch.cat([x, y]); torch.cat((x, y), 1); torch.cat([x, y], dim=-1); torch.stack([x, y]); torch.stack((x, y), dim=2)
torch.where(b, x, y); torch.where(b, x, 0.0); torch.where(b, 1.0, y); torch.matmul(x, y.t()); torch.mm(x, y.t())
torch.einsum('ij,kj->ik', x, y); torch.bmm(x[None], y.t()[None]); torch.zeros(2, 3); torch.zeros((2, 3))
torch.zeros([2, n], dtype=torch.float64); torch.ones(n); torch.full((2, 2), s); torch.full((2,), 3)
torch.zeros_like(x); torch.ones_like(x, dtype=torch.float32); torch.full_like(x, 2); torch.empty_like(x)
torch.rand_like(x); torch.arange(3); torch.arange(0, n); torch.arange(0, 1, 0.5); torch.arange(3, dtype=torch.float64)
torch.eye(3); torch.linspace(0, 1, 3); torch.max(x); torch.max(x, 1); torch.max(x, y); torch.min(x, dim=0)
torch.split(x, 2); torch.split(x, [1, 3], 0); torch.chunk(x, 2, 1); torch.unbind(x); torch.transpose(x, 0, 1)
torch.permute(x, (1, 0)); torch.reshape(x, (-1,)); torch.flatten(x); torch.flatten(x, 0); torch.squeeze(x)
torch.unsqueeze(x, 0); torch.clamp(x, 0, 1); torch.clamp(x, min=0); torch.pow(x, 2); torch.pow(2, x); torch.norm(x)
torch.norm(x, dim=1); torch.norm(x, p=1); torch.std(x, 0); torch.var(x, dim=0, unbiased=False); torch.tril(m)
torch.diag(m); torch.trace(m); torch.outer(x[0], y[0]); torch.dot(x[0], y[0]); torch.mv(m, x[0]); torch.addmm(x, x, m)
torch.addcmul(x, x, y, value=s); torch.linalg.norm(x); torch.linalg.vector_norm(x, dim=1); torch.linalg.inv(m)
torch.linalg.solve(m, y.t()); torch.special.erf(x); torch.special.expit(x); torch.fft.fft(x)
torch.broadcast_tensors(x, y[0]); torch.meshgrid(x[0], y[0], indexing='ij'); torch.tensor(2.0); torch.logsumexp(x, 0)
torch.cumsum(x, 1); torch.roll(x, 1, 0); torch.flip(x, (0,)); torch.gather(x, 1, i.view(1, -1)); torch.isnan(x)
torch.index_select(x, 0, i); torch.masked_fill(x, b, 0.0); torch.narrow(x, 0, 0, 2); torch.select(x, 0, 1)
torch.square(x); torch.clone(x); torch.baddbmm(x[None], x[None], m[None]); torch.cross(x[:, :3], y[:, :3])
torch.numel(x) * x; torch.nn.functional.relu(x); F.relu(x, inplace=True); F.gelu(x); F.gelu(x, approximate='tanh')
F.silu(x); F.elu(x); F.leaky_relu(x, 0.1); F.softplus(x); F.hardtanh(x); F.softmax(x, dim=1); F.log_softmax(x, -1)
F.linear(x, m); F.linear(x, m, y[0]); F.dropout(x, 0.5, True); F.layer_norm(x, [6]); F.layer_norm(x, (6,), y[0], y[1])
F.group_norm(x, 2); F.batch_norm(x, None, None, training=True); F.normalize(x)
F.batch_norm(x, y[0].clone(), y[1].clone(), y[2], y[3], True, 0.2, 1e-3); F.mse_loss(x, y)
F.mse_loss(x, y, reduction='sum'); F.l1_loss(x, y, reduction='none'); F.smooth_l1_loss(x, y)
F.huber_loss(x, y, delta=2.0); F.cross_entropy(x, i4); F.nll_loss(x, i4)
F.cross_entropy(x, i4, reduction='sum', label_smoothing=0.1); F.binary_cross_entropy_with_logits(x, y)
F.kl_div(x, y, reduction='batchmean'); F.embedding(i, x); F.one_hot(i, 6); F.pad(x, (1, 1))
F.pad(x, (1, 0), 'constant', 2.0); F.glu(x); F.logsigmoid(x); F.softsign(x); F.tanh(x)
F.conv1d(x[None], m.view(3, 4, 3)); F.conv2d(x[None, None], m[None, None, :2, :2], padding=1)
F.max_pool2d(x[None], 2); F.avg_pool2d(x[None], 2); F.adaptive_avg_pool2d(x[None], (2, 2))
F.max_pool1d(x[None], 2, stride=1); F.scaled_dot_product_attention(x[None], y[None], y[None])
F.scaled_dot_product_attention(x[None], y[None], y[None], is_causal=True); F.cosine_similarity(x, y)
F.pairwise_distance(x, y); F.selu(x); torch.ops.aten.add.Tensor(x, y); torch.ops.aten.add(x, y)
torch.ops.aten.sum.dim_IntList(x, [1], True); torch.ops.aten.relu.default(x)
"""
STATEMENTS = """
x += y; x -= 1; x *= y; x /= 2; x //= 2; x **= 2; x %= 3; x[0] += 1; x[0] = y[1]; x[0] = 2.0; x[1:, 0] = 3
x[..., 0] = y[..., 1]; x[b] = 0.5; x[i] = y[:3]; x[b] += 1; x[0].mul_(2); x[:] = y; x[...] = 1.0; i += 1; b &= b
x @= m
"""


def expressions() -> list[str]:
    """All expressions."""
    text = OPERATORS + SUBSCRIPTS + METHODS + FUNCTIONS
    return [part.strip() for line in text.splitlines() for part in line.split(";") if part.strip()]


def statements() -> list[str]:
    """All statements."""
    return [part.strip() for line in STATEMENTS.splitlines() for part in line.split(";") if part.strip()]


HEADER = """\
import torch
import torch.nn.functional as F
from torch import Tensor
"""
PARAMETERS = "x: Tensor, y: Tensor, m: Tensor, i: Tensor, i4: Tensor, b: Tensor, n: int, s: float"


def source() -> str:
    """A file with a function for each: `e0`, `e1`, …, `s0`, …"""
    functions = [f"def e{at}({PARAMETERS}):\n    return {text}\n" for at, text in enumerate(expressions())]
    functions += [f"def s{at}({PARAMETERS}):\n    {text}\n    return x\n" for at, text in enumerate(statements())]
    return "\n\n".join([HEADER, *functions])
