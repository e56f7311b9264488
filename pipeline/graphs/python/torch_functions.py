"""The functions and methods that PyTorch implements in Python, defined in terms of its operators.

Each is an expression in the language of graphs, over the function's parameters. Facts: torch/functional.py,
torch/nn/functional.py, torch/_tensor.py and python_variable_methods.cpp of the release. Deprecated parameters
(`size_average`, `reduce`) are left out. A condition is evaluated when the graph is read. Besides operators, expressions
may call `loss_reduction(text)`, which returns the operators' number for a reduction,
`batch_reduction(text)` and `batch_divisor(x, text)` for one that may be 'batchmean', `is_a(x, type)`,
`size_of(x, dim)`, `wrapped(index, size)` for an index that may count from the end, `tensor_of(data, dtype, device)`,
`broadcast(x, y)`, which returns its arguments if the set has no such operator, `repeated(x, count)`, which makes a list
of a number, `refused(problem, hint)`, and the functions of `local_functions.py`.
"""

# Functions that pass their parameters on to an operator of the same name, in order.
_PASSING = {
    "torch.ops.aten.glu": "input, dim=-1",
    "torch.ops.aten.linear": "input, weight, bias=None",
    "torch.layer_norm": "input, normalized_shape, weight=None, bias=None, eps=1e-05",
    "torch.rms_norm": "input, normalized_shape, weight=None, eps=None",
    "torch.group_norm": "input, num_groups, weight=None, bias=None, eps=1e-05",
    "torch.ops.aten.soft_margin_loss": "input, target, *, reduction='mean'",
    "torch.cosine_embedding_loss": "input1, input2, target, margin=0.0, *, reduction='mean'",
    "torch.margin_ranking_loss": "input1, input2, target, margin=0.0, *, reduction='mean'",
    "torch.hinge_embedding_loss": "input, target, margin=1.0, *, reduction='mean'",
    "torch.poisson_nll_loss": "input, target, log_input=True, full=False, *, eps=1e-08, reduction='mean'",
    "torch.ops.aten.multi_margin_loss": "input, target, p=1, margin=1.0, weight=None, *, reduction='mean'",
    "torch.ops.aten.multilabel_margin_loss": "input, target, *, reduction='mean'",
    "torch.triplet_margin_loss": "anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, *,"
    " reduction='mean'",
    "torch.ctc_loss": "log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean',"
    " zero_infinity=False",
    "torch.ops.aten.avg_pool2d": "input, kernel_size, stride=None, padding=0, ceil_mode=False,"
    " count_include_pad=True, divisor_override=None",
    "torch.ops.aten.adaptive_avg_pool2d": "input, output_size",
    "torch.ops.aten.pad": "input, pad, mode='constant', value=None",
}
# Those with `inplace=False` as a last parameter, which chooses the operator's in-place variant.
_IN_PLACE = {
    "torch.ops.aten.elu": "input, alpha=1.0",
    "torch.selu": "input",
    "torch.celu": "input, alpha=1.0",
    "torch.ops.aten.leaky_relu": "input, negative_slope=0.01",
    "torch.ops.aten.hardtanh": "input, min_val=-1.0, max_val=1.0",
    "torch.ops.aten.silu": "input",
    "torch.ops.aten.mish": "input",
    "torch.ops.aten.hardswish": "input",
    "torch.ops.aten.hardsigmoid": "input",
    "torch.rrelu": "input, lower=0.125, upper=0.3333333333333333, training=False",
    "torch.threshold": "input, threshold, value",
    "torch.dropout": "input, p=0.5, training=True",
    "torch.alpha_dropout": "input, p=0.5, training=False",
    "torch.feature_alpha_dropout": "input, p=0.5, training=False",
}
_GIVEN = {"reduction='mean'": "loss_reduction(reduction)", "stride=None": "[] if stride is None else stride"}


def _call(called: str, parameters: str) -> str:
    given = ", ".join(_GIVEN.get(each, each.partition("=")[0]) for each in parameters.split(", ") if each != "*")
    return f"{called}({given})"


def _in_place(called: str, parameters: str) -> str:
    changed, made = _call(f"{called}_", parameters), _call(called, parameters)
    return f"lambda {parameters}, inplace=False: {changed} if inplace else {made}"


_POOLED = "input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False"


def _max_pool(n: int) -> str:
    places = _call(f"torch.ops.aten.max_pool{n}d_with_indices", _POOLED)
    return f"lambda {_POOLED}, return_indices=False: {places} if return_indices else " + _call(
        f"torch.max_pool{n}d", _POOLED
    )


def _lp_pool(n: int) -> str:
    """The root of the sum of powers, for n dimensions."""
    pooled = f"torch.nn.functional.max_pool{n}d({{}}input.abs(), kernel_size, stride, 0, 1, ceil_mode)"
    count = "kernel_size" if n == 1 else f"{'*'.join(['kernel_size'] * n)} if is_a(kernel_size, 'int')"
    count += "" if n == 1 else " else " + " * ".join(f"kernel_size[{i}]" for i in range(n))
    return (
        "lambda input, norm_type, kernel_size, stride=None, ceil_mode=False:"
        f" {pooled.format('')} if norm_type == float('inf') else -{pooled.format('-')} if norm_type == -float('inf')"
        f" else _root(torch.ops.aten.avg_pool{n}d(input.pow(norm_type), kernel_size,"
        f" [] if stride is None else stride, 0, ceil_mode), {count}, norm_type)"
    )


FUNCTIONAL = {
    **{called.rpartition(".")[2]: f"lambda {given}: {_call(called, given)}" for called, given in _PASSING.items()},
    **{called.rpartition(".")[2]: _in_place(called, given) for called, given in _IN_PLACE.items()},
    "relu": "lambda input, inplace=False: input.relu_() if inplace else input.relu()",
    "relu6": "lambda input, inplace=False:"
    " torch.ops.aten.hardtanh_(input, 0, 6) if inplace else torch.ops.aten.hardtanh(input, 0, 6)",
    "logsigmoid": "lambda input: torch.ops.aten.log_sigmoid(input)",
    "softsign": "lambda input: input / (input.abs() + 1)",
    "tanhshrink": "lambda input: input - input.tanh()",
    "tanh": "lambda input: input.tanh()",
    "sigmoid": "lambda input: input.sigmoid()",
    "softmax": "lambda input, dim=None, _stacklevel=3, dtype=None: input.softmax(dim, dtype=dtype)",
    "log_softmax": "lambda input, dim=None, _stacklevel=3, dtype=None: input.log_softmax(dim, dtype=dtype)",
    "softmin": "lambda input, dim=None, _stacklevel=3, dtype=None: (-input).softmax(dim, dtype=dtype)",
    "embedding": "lambda input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,"
    " sparse=False: (None if max_norm is None"
    " else torch.embedding_renorm_(weight.detach(), input, max_norm, norm_type),"
    " torch.embedding(weight, input, -1 if padding_idx is None else wrapped(padding_idx, size_of(weight, 0)),"
    " scale_grad_by_freq, sparse))[1]",
    "batch_norm": "lambda input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1,"
    " eps=1e-05: torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)",
    "instance_norm": "lambda input, running_mean=None, running_var=None, weight=None, bias=None,"
    " use_input_stats=True, momentum=0.1, eps=1e-05:"
    " torch.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)",
    "normalize": "lambda input, p=2.0, dim=1, eps=1e-12:"
    " input / torch.linalg.vector_norm(input, p, dim, True).clamp_min(eps).expand_as(input)",
    "mse_loss": "lambda input, target, *, reduction='mean':"
    " torch.ops.aten.mse_loss(*broadcast(input, target), loss_reduction(reduction))",
    "l1_loss": "lambda input, target, *, reduction='mean':"
    " torch.ops.aten.l1_loss(*broadcast(input, target), loss_reduction(reduction))",
    "smooth_l1_loss": "lambda input, target, *, reduction='mean', beta=1.0:"
    " torch.ops.aten.smooth_l1_loss(*broadcast(input, target), loss_reduction(reduction), beta)",
    "huber_loss": "lambda input, target, reduction='mean', delta=1.0:"
    " torch.ops.aten.huber_loss(*broadcast(input, target), loss_reduction(reduction), delta)",
    "kl_div": "lambda input, target, *, reduction='mean', log_target=False:"
    " torch.kl_div(input, target, batch_reduction(reduction), log_target=log_target)"
    " / batch_divisor(input, reduction) if is_a(reduction, 'str')"
    " else torch.kl_div(input, target, 2, log_target=log_target) / input.shape[0] if reduction == 'batchmean'"
    " else torch.kl_div(input, target, loss_reduction(reduction), log_target=log_target)",
    "binary_cross_entropy": "lambda input, target, weight=None, *, reduction='mean':"
    " (torch.ops.aten._assert_tensor_metadata(target, input.shape),"
    " torch.ops.aten.binary_cross_entropy(input, target, weight, loss_reduction(reduction)))[1]",
    "binary_cross_entropy_with_logits": "lambda input, target, weight=None, *, reduction='mean', pos_weight=None:"
    " torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, loss_reduction(reduction))",
    "cross_entropy": "lambda input, target, weight=None, *, ignore_index=-100, reduction='mean', label_smoothing=0.0:"
    " torch.ops.aten.cross_entropy_loss("
    "input, target, weight, loss_reduction(reduction), ignore_index, label_smoothing)",
    "nll_loss": "lambda input, target, weight=None, *, ignore_index=-100, reduction='mean':"
    " torch.ops.aten.nll_loss_nd(input, target, weight, loss_reduction(reduction), ignore_index)",
    **{
        f"adaptive_max_pool{n}d": "lambda input, output_size, return_indices=False:"
        f" torch.ops.aten.adaptive_max_pool{n}d(input, output_size) if return_indices"
        f" else torch.ops.aten.adaptive_max_pool{n}d(input, output_size)[0]"
        for n in (1, 2, 3)
    },
    **{f"max_pool{n}d": _max_pool(n) for n in (1, 2, 3)},
    **{f"lp_pool{n}d": _lp_pool(n) for n in (1, 2, 3)},
    "fold": "lambda input, output_size, kernel_size, dilation=1, padding=0, stride=1:"
    " torch.ops.aten.col2im(input, output_size, kernel_size, dilation, padding, stride)",
    "grid_sample": "lambda input, grid, mode='bilinear', padding_mode='zeros', align_corners=None:"
    " torch.grid_sampler(input, grid, 0 if mode == 'bilinear' else 1 if mode == 'nearest' else 2 if mode == 'bicubic'"
    " else refused('an unknown mode', \"write 'bilinear', 'nearest' or 'bicubic'\"),"
    " 0 if padding_mode == 'zeros' else 1 if padding_mode == 'border' else 2 if padding_mode == 'reflection'"
    " else refused('an unknown padding mode', \"write 'zeros', 'border' or 'reflection'\"),"
    " False if align_corners is None else align_corners)",
    "affine_grid": "lambda theta, size, align_corners=None:"
    " torch.affine_grid_generator(theta, size, False if align_corners is None else align_corners)",
    "interpolate": "lambda input, size=None, scale_factor=None, mode='nearest', align_corners=None,"
    " recompute_scale_factor=None, antialias=False:"
    " refused('interpolate takes either a size or a scale factor', 'write one of them')"
    " if (size is None) == (scale_factor is None)"
    " else refused('align_corners is for linear and cubic modes', 'leave it out')"
    " if align_corners is not None and (mode == 'nearest' or mode == 'nearest-exact' or mode == 'area')"
    " else _scaled(input, size, scale_factor, mode, False if align_corners is None else align_corners,"
    " False if recompute_scale_factor is None else recompute_scale_factor, antialias, 1 if mode == 'linear'"
    " else 2 if mode == 'bilinear' or mode == 'bicubic' or mode == 'lanczos' else 3 if mode == 'trilinear'"
    " else refused('the number of dimensions of a tensor is known only when the graph runs',"
    " 'write one size, or one scale factor, for each dimension: scale_factor=(2.0, 2.0)')"
    " if is_number(size) or is_number(scale_factor) or is_a(size, 'int[]') or is_a(scale_factor, 'float[]')"
    " else len(scale_factor) if size is None else len(size))",
    "embedding_bag": "lambda input, weight, offsets=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,"
    " mode='mean', sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None:"
    " (None if per_sample_weights is None"
    " else torch.ops.aten._assert_tensor_metadata(per_sample_weights, input.shape),"
    " torch.ops.aten._assert_tensor_metadata(input, [size_of(input, 0)] if offsets is not None"
    " else [size_of(input, 0), size_of(input, 1)]),"
    " _bags(weight, input.reshape(-1), torch.arange(0, input.numel(), size_of(input, 1), dtype=input.dtype,"
    " device=input.device) if offsets is None else offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse,"
    " None if per_sample_weights is None else per_sample_weights.reshape(-1),"
    " offsets is not None and include_last_offset, padding_idx))[2]",
    "gaussian_nll_loss": "lambda input, target, var, full=False, eps=1e-06, reduction='mean':"
    " _reduced(_gaussian(input, target, _clamped(var * torch.ones_like(input) if is_a(var, 'float')"
    " else _variances(input, var), eps)) + (0.5 * math.log(2 * math.pi) if full else 0.0), reduction)",
    "gumbel_softmax": "lambda logits, tau=1, hard=False, eps=1e-10, dim=-1:"
    " _one_hot(_gumbel(logits, tau, dim), logits, dim) if hard else _gumbel(logits, tau, dim)",
    "local_response_norm": "lambda input, size, alpha=0.0001, beta=0.75, k=1.0:"
    " input / _neighbours(input.mul(input), size).view(input.shape).mul(alpha).add(k).pow(beta)",
    "multilabel_soft_margin_loss": "lambda input, target, weight=None, *, reduction='mean':"
    " _reduced(_weighted(_multilabel(input, target), weight).sum(-1) / size_of(input, -1), reduction)",
    "unfold": "lambda input, kernel_size, dilation=1, padding=0, stride=1:"
    " torch.ops.aten.im2col(input, kernel_size, dilation, padding, stride)",
}

_UNIQUE = (
    "return_inverse=False, return_counts=False, dim=None:"
    " torch.ops.aten.unique_consecutive({0}, return_inverse, return_counts, dim)[0]"
    " if not return_inverse and not return_counts"
    " else torch.ops.aten.unique_consecutive({0}, return_inverse, return_counts, dim)[:2] if not return_counts"
    " else torch.ops.aten.unique_consecutive({0}, return_inverse, return_counts, dim)[::2] if not return_inverse"
    " else torch.ops.aten.unique_consecutive({0}, return_inverse, return_counts, dim)"
)
_STFT = (
    "n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect', normalized=False,"
    " onesided=None, return_complex=None, align_to_window=None: torch.ops.aten.stft.center({0}, n_fft, hop_length,"
    " win_length, window, center, pad_mode, normalized, onesided, return_complex, align_to_window)"
)

TORCH = {
    **{
        f"atleast_{n}d": f"lambda first, *more: torch.ops.aten.atleast_{n}d(first) if len(more) == 0"
        f" else torch.ops.aten.atleast_{n}d.Sequence((first, *more))"
        for n in (1, 2, 3)
    },
    "cdist": "lambda x1, x2, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary':"
    " torch.ops.aten.cdist(x1, x2, p, None if compute_mode == 'use_mm_for_euclid_dist_if_necessary'"
    " else 1 if compute_mode == 'use_mm_for_euclid_dist'"
    " else 2 if compute_mode == 'donot_use_mm_for_euclid_dist' else compute_mode)",
    "chain_matmul": "lambda *matrices: torch.ops.aten.chain_matmul(matrices)",
    "stft": f"lambda input, {_STFT.format('input')}",
    "tensordot": "lambda a, b, dims=2: torch.ops.aten.tensordot(a, b, *("
    "dims if not is_a(dims, 'int') else ([], []) if dims == 0 else ([-1], [0]) if dims == 1"
    " else ([-2, -1], [0, 1]) if dims == 2 else ([-3, -2, -1], [0, 1, 2]) if dims == 3 else dims))",
    "unique_consecutive": f"lambda input, {_UNIQUE.format('input')}",
    "split": "lambda tensor, split_size_or_sections, dim=0: tensor.split(split_size_or_sections, dim)",
    "norm": "lambda input, p='fro', dim=None, keepdim=False, dtype=None: input.norm(p, dim, keepdim, dtype)",
    "einsum": "lambda equation, *operands: torch.ops.aten.einsum(equation, operands)",
    "broadcast_tensors": "lambda *tensors: torch.ops.aten.broadcast_tensors(tensors)",
    "block_diag": "lambda *tensors: torch.ops.aten.block_diag(tensors)",
    "cartesian_prod": "lambda *tensors: torch.ops.aten.cartesian_prod(tensors)",
    "meshgrid": "lambda *tensors, indexing='ij': torch.ops.aten.meshgrid.indexing(tensors, indexing=indexing)",
    "tensor": "lambda data, *, dtype=None, device=None: tensor_of(data, dtype, device)",
    "numel": "lambda input: input.numel()",
}

_CASTS = {"double": "float64", "float": "float32", "half": "float16", "bfloat16": "bfloat16", "bool": "bool"}
_CASTS |= {"long": "int64", "int": "int32", "short": "int16", "char": "int8", "byte": "uint8"}
METHODS = {
    "stft": f"lambda self, {_STFT.format('self')}",
    "unique_consecutive": f"lambda self, {_UNIQUE.format('self')}",
    "split": "lambda self, split_size, dim=0: torch.ops.aten.split.Tensor(self, split_size, dim)"
    " if is_a(split_size, 'int') else torch.ops.aten.split_with_sizes(self, split_size, dim)",
    "norm": "lambda self, p='fro', dim=None, keepdim=False, dtype=None:"
    " torch.linalg.vector_norm(self, 2 if p == 'fro' else p, dim, keepdim, dtype=dtype)",
    **{name: f"lambda self: torch.ops.aten.to.dtype(self, torch.{dtype})" for name, dtype in _CASTS.items()},
    "type": "lambda self, dtype: torch.ops.aten.to.dtype(self, dtype)",
    "to": "lambda self, first=None, second=None, *, dtype=None, device=None, non_blocking=False, copy=False,"
    " memory_format=None: torch.ops.aten.to.device(self, first.device, first.dtype, non_blocking, copy, memory_format)"
    " if is_a(first, 'Tensor') else torch.ops.aten.to.dtype(self, first, non_blocking, copy, memory_format)"
    " if is_a(first, 'ScalarType')"
    " else torch.ops.aten.to.device(self, first, second, non_blocking, copy, memory_format)"
    " if second is not None else torch.ops.aten.to.device(self, device, dtype, non_blocking, copy, memory_format)"
    " if dtype is not None and device is not None"
    " else torch.ops.aten.to.dtype(self, dtype, non_blocking, copy, memory_format) if dtype is not None"
    " else torch.ops.aten.to.dtype_layout(self, device=device if first is None else first, non_blocking=non_blocking,"
    " copy=copy, memory_format=memory_format)",
    "cpu": "lambda self: torch.ops.aten.to.dtype_layout(self, device='cpu')",
    "size": "lambda self, dim=None: self.shape if dim is None else size_of(self, dim)",
    "unflatten": "lambda self, dim, sizes: torch.ops.aten.unflatten.int(self, dim, sizes)",
}

# Functions that torch computes in Python from sizes or with random numbers: the hint on what to write instead.
_SAMPLES = (
    "write torch.ops.aten.fractional_max_pool{}d(x, kernel_size, output_size, samples)[0], samples being an input"
)
_OUTSIDE = "take gradients outside of the graph"
_CHECKPOINT = "call the function itself, and generate with memory=0.5: the backward computes values again"
_EXPORT = "export a model with it: torch.export keeps it in the .pt2"
REFUSED = {
    "torch.utils.checkpoint.checkpoint": _CHECKPOINT,
    "torch.utils.checkpoint.checkpoint_sequential": _CHECKPOINT,
    "torch.cond": _EXPORT,
    "torch.autograd.grad": _OUTSIDE,
    "torch.autograd.backward": _OUTSIDE,
    "torch.nn.functional.fractional_max_pool2d": _SAMPLES.format(2),
    "torch.nn.functional.fractional_max_pool3d": _SAMPLES.format(3),
    "torch.nn.functional.max_unpool2d": "write torch.ops.aten.max_unpool2d(x, indices, output_size)",
    "torch.nn.functional.max_unpool3d": "write torch.ops.aten.max_unpool3d(x, indices, output_size, stride, padding)",
}

# Methods without arguments that return numbers or shapes: `python::…`.
MEASURES = {
    "dim": "dim",
    "ndimension": "dim",
    "numel": "numel",
    "nelement": "numel",
    "storage_offset": "storage_offset",
    "stride": "strides",
}
