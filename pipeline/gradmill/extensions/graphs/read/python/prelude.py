"""The functions and methods that PyTorch implements in Python, defined in terms of its operators.

Each is in the language of graphs; an `if` is decided when the graph is read. Facts: torch/functional.py,
torch/nn/functional.py, torch/_tensor.py and python_variable_methods.cpp of the release. Deprecated parameters
(`size_average`, `reduce`) are left out. Nothing here runs: `names.py` reads it. Besides operators and each other,
functions call `loss_reduction(text)`, which returns the operators' number for a reduction, `batch_reduction(text)` and
`batch_divisor(x, text)` for one that may be 'batchmean', `is_a(x, type)`, `is_number(x)`, `is_variable(text)`,
`size_of(x, dim)`, `wrapped(index, size)` for an index that may count from the end, `tensor_of(data, dtype, device)`,
`broadcast(x, y)`, which returns its arguments if the set has no such operator, `repeated(x, count)`, which makes a list
of a number, `resized(name, …)`, which calls the operator that a text has the name of, in parts, and
`refused(problem, hint)`. A function with `Nd` in its name is one for each of `1d`, `2d` and `3d`.
"""

# mypy: ignore-errors
# ruff: noqa: F821


class functional:
    """torch.nn.functional"""

    def soft_margin_loss(input, target, *, reduction="mean"):
        return torch.ops.aten.soft_margin_loss(input, target, loss_reduction(reduction))

    def cosine_embedding_loss(input1, input2, target, margin=0.0, *, reduction="mean"):
        return torch.cosine_embedding_loss(input1, input2, target, margin, loss_reduction(reduction))

    def margin_ranking_loss(input1, input2, target, margin=0.0, *, reduction="mean"):
        return torch.margin_ranking_loss(input1, input2, target, margin, loss_reduction(reduction))

    def hinge_embedding_loss(input, target, margin=1.0, *, reduction="mean"):
        return torch.hinge_embedding_loss(input, target, margin, loss_reduction(reduction))

    def poisson_nll_loss(input, target, log_input=True, full=False, *, eps=1e-08, reduction="mean"):
        return torch.poisson_nll_loss(input, target, log_input, full, eps, loss_reduction(reduction))

    def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, *, reduction="mean"):
        return torch.ops.aten.multi_margin_loss(input, target, p, margin, weight, loss_reduction(reduction))

    def multilabel_margin_loss(input, target, *, reduction="mean"):
        return torch.ops.aten.multilabel_margin_loss(input, target, loss_reduction(reduction))

    def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, *, reduction="mean"):
        return torch.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, loss_reduction(reduction))

    def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
        return torch.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, blank, loss_reduction(reduction), zero_infinity
        )

    def avg_pool2d(
        input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None
    ):
        stride = [] if stride is None else stride
        return torch.ops.aten.avg_pool2d(
            input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )

    def elu(input, alpha=1.0, inplace=False):
        return torch.ops.aten.elu_(input, alpha) if inplace else torch.ops.aten.elu(input, alpha)

    def selu(input, inplace=False):
        return torch.selu_(input) if inplace else torch.selu(input)

    def celu(input, alpha=1.0, inplace=False):
        return torch.celu_(input, alpha) if inplace else torch.celu(input, alpha)

    def leaky_relu(input, negative_slope=0.01, inplace=False):
        if inplace:
            return torch.ops.aten.leaky_relu_(input, negative_slope)
        return torch.ops.aten.leaky_relu(input, negative_slope)

    def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
        if inplace:
            return torch.ops.aten.hardtanh_(input, min_val, max_val)
        return torch.ops.aten.hardtanh(input, min_val, max_val)

    def silu(input, inplace=False):
        return torch.ops.aten.silu_(input) if inplace else torch.ops.aten.silu(input)

    def mish(input, inplace=False):
        return torch.ops.aten.mish_(input) if inplace else torch.ops.aten.mish(input)

    def hardswish(input, inplace=False):
        return torch.ops.aten.hardswish_(input) if inplace else torch.ops.aten.hardswish(input)

    def hardsigmoid(input, inplace=False):
        return torch.ops.aten.hardsigmoid_(input) if inplace else torch.ops.aten.hardsigmoid(input)

    def rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False):
        return torch.rrelu_(input, lower, upper, training) if inplace else torch.rrelu(input, lower, upper, training)

    def threshold(input, threshold, value, inplace=False):
        return torch.threshold_(input, threshold, value) if inplace else torch.threshold(input, threshold, value)

    def dropout(input, p=0.5, training=True, inplace=False):
        return torch.dropout_(input, p, training) if inplace else torch.dropout(input, p, training)

    def alpha_dropout(input, p=0.5, training=False, inplace=False):
        return torch.alpha_dropout_(input, p, training) if inplace else torch.alpha_dropout(input, p, training)

    def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
        if inplace:
            return torch.feature_alpha_dropout_(input, p, training)
        return torch.feature_alpha_dropout(input, p, training)

    def relu(input, inplace=False):
        return input.relu_() if inplace else input.relu()

    def relu6(input, inplace=False):
        return torch.ops.aten.hardtanh_(input, 0, 6) if inplace else torch.ops.aten.hardtanh(input, 0, 6)

    def logsigmoid(input):
        return torch.ops.aten.log_sigmoid(input)

    def softsign(input):
        return input / (input.abs() + 1)

    def tanhshrink(input):
        return input - input.tanh()

    def softmax(input, dim=None, _stacklevel=3, dtype=None):
        return input.softmax(dim, dtype=dtype)

    def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
        return input.log_softmax(dim, dtype=dtype)

    def softmin(input, dim=None, _stacklevel=3, dtype=None):
        return (-input).softmax(dim, dtype=dtype)

    def embedding(
        input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
    ):
        if max_norm is not None:
            torch.embedding_renorm_(weight.detach(), input, max_norm, norm_type)
        padding = -1 if padding_idx is None else wrapped(padding_idx, size_of(weight, 0))
        rows = torch.embedding(weight, input, padding, scale_grad_by_freq, sparse)
        return rows

    def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
        return torch.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, True)

    def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
        return torch.layer_norm(input, normalized_shape, weight, bias, eps)

    def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
        return torch.group_norm(input, num_groups, weight, bias, eps)

    def instance_norm(
        input,
        running_mean=None,
        running_var=None,
        weight=None,
        bias=None,
        use_input_stats=True,
        momentum=0.1,
        eps=1e-05,
    ):
        return torch.instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, True)

    def normalize(input, p=2.0, dim=1, eps=1e-12):
        return input / torch.linalg.vector_norm(input, p, dim, True).clamp_min(eps).expand_as(input)

    def mse_loss(input, target, *, reduction="mean"):
        return torch.ops.aten.mse_loss(*broadcast(input, target), loss_reduction(reduction))

    def l1_loss(input, target, *, reduction="mean"):
        return torch.ops.aten.l1_loss(*broadcast(input, target), loss_reduction(reduction))

    def smooth_l1_loss(input, target, *, reduction="mean", beta=1.0):
        return torch.ops.aten.smooth_l1_loss(*broadcast(input, target), loss_reduction(reduction), beta)

    def huber_loss(input, target, reduction="mean", delta=1.0):
        return torch.ops.aten.huber_loss(*broadcast(input, target), loss_reduction(reduction), delta)

    def kl_div(input, target, *, reduction="mean", log_target=False):
        loss = torch.kl_div(input, target, batch_reduction(reduction), log_target=log_target)
        if is_variable(reduction) or reduction == "batchmean":
            return loss / batch_divisor(input, reduction)
        return loss

    def binary_cross_entropy(input, target, weight=None, *, reduction="mean"):
        torch.ops.aten._assert_tensor_metadata(target, input.shape)
        loss = torch.ops.aten.binary_cross_entropy(input, target, weight, loss_reduction(reduction))
        return loss

    def binary_cross_entropy_with_logits(input, target, weight=None, *, reduction="mean", pos_weight=None):
        return torch.binary_cross_entropy_with_logits(input, target, weight, pos_weight, loss_reduction(reduction))

    def cross_entropy(input, target, weight=None, *, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        return torch.ops.aten.cross_entropy_loss(
            input, target, weight, loss_reduction(reduction), ignore_index, label_smoothing
        )

    def nll_loss(input, target, weight=None, *, ignore_index=-100, reduction="mean"):
        return torch.ops.aten.nll_loss_nd(input, target, weight, loss_reduction(reduction), ignore_index)

    def adaptive_max_poolNd(input, output_size, return_indices=False):
        if return_indices:
            return torch.ops.aten.adaptive_max_poolNd(input, output_size)
        return torch.ops.aten.adaptive_max_poolNd(input, output_size)[0]

    def max_poolNd(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
        stride = [] if stride is None else stride
        if return_indices:
            return torch.ops.aten.max_poolNd_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
        return torch.max_poolNd(input, kernel_size, stride, padding, dilation, ceil_mode)

    def lp_poolNd(input, norm_type, kernel_size, stride=None, ceil_mode=False):
        if norm_type == float("inf"):
            return torch.nn.functional.max_poolNd(input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        if norm_type == -float("inf"):
            return -torch.nn.functional.max_poolNd(-input.abs(), kernel_size, stride, 0, 1, ceil_mode)
        stride = [] if stride is None else stride
        means = torch.ops.aten.avg_poolNd(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
        return _rootNd(means, kernel_size, norm_type)

    def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
        return torch.ops.aten.col2im(input, output_size, kernel_size, dilation, padding, stride)

    def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
        hint = "write 'bilinear', 'nearest' or 'bicubic'"
        number = _number(mode, "bilinear", "nearest", "bicubic", "an unknown mode", hint)
        hint = "write 'zeros', 'border' or 'reflection'"
        padding = _number(padding_mode, "zeros", "border", "reflection", "an unknown padding mode", hint)
        return torch.grid_sampler(input, grid, number, padding, False if align_corners is None else align_corners)

    def affine_grid(theta, size, align_corners=None):
        return torch.affine_grid_generator(theta, size, False if align_corners is None else align_corners)

    def interpolate(
        input,
        size=None,
        scale_factor=None,
        mode="nearest",
        align_corners=None,
        recompute_scale_factor=None,
        antialias=False,
    ):
        if (size is None) == (scale_factor is None):
            refused("interpolate takes either a size or a scale factor", "write one of them")
        if align_corners is not None and (mode == "nearest" or mode == "nearest-exact" or mode == "area"):
            refused("align_corners is for linear and cubic modes", "leave it out")
        if mode == "linear":
            count = 1
        elif mode == "bilinear" or mode == "bicubic" or mode == "lanczos":
            count = 2
        elif mode == "trilinear":
            count = 3
        elif is_number(size) or is_number(scale_factor) or is_a(size, "int[]") or is_a(scale_factor, "float[]"):
            refused(
                "the number of dimensions of a tensor is known only when the graph runs",
                "write one size, or one scale factor, for each dimension: scale_factor=(2.0, 2.0)",
            )
        else:
            count = len(scale_factor) if size is None else len(size)
        aligned = False if align_corners is None else align_corners
        recomputed = False if recompute_scale_factor is None else recompute_scale_factor
        if recomputed and size is not None:
            refused("a size cannot be recomputed", "leave out recompute_scale_factor")
        if not recomputed and (size is not None or mode != "area"):
            sizes = repeated(size, count)
            return _resized(input, sizes, repeated(scale_factor, count), mode, aligned, antialias, count)
        scales = repeated(scale_factor, count)
        if count == 1:
            sizes = [int(size_of(input, 2) * scales[0])]
        elif count == 2:
            sizes = [int(size_of(input, 2) * scales[0]), int(size_of(input, 3) * scales[1])]
        else:
            first = int(size_of(input, 2) * scales[0])
            sizes = [first, int(size_of(input, 3) * scales[1]), int(size_of(input, 4) * scales[2])]
        return _resized(input, sizes, None, mode, aligned, antialias, count)

    def embedding_bag(
        input,
        weight,
        offsets=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        per_sample_weights=None,
        include_last_offset=False,
        padding_idx=None,
    ):
        if per_sample_weights is not None:
            torch.ops.aten._assert_tensor_metadata(per_sample_weights, input.shape)
        last = offsets is not None and include_last_offset
        sizes = [size_of(input, 0)] if offsets is not None else [size_of(input, 0), size_of(input, 1)]
        torch.ops.aten._assert_tensor_metadata(input, sizes)
        indices = input.reshape(-1)
        if offsets is None:
            offsets = torch.arange(0, input.numel(), size_of(input, 1), dtype=input.dtype, device=input.device)
        weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
        if weights is not None and mode != "sum":
            refused("per_sample_weights are for the sum", "write mode='sum'")
        if mode == "max" and (scale_grad_by_freq or sparse):
            refused("this is not supported for the maximum", "leave out scale_grad_by_freq and sparse")
        if max_norm is not None:
            torch.embedding_renorm_(weight.detach(), indices, max_norm, norm_type)
        number = _number(mode, "sum", "mean", "max", "an unknown mode", "write 'sum'")
        bags = torch.ops.aten.embedding_bag.padding_idx(
            weight, indices, offsets, scale_grad_by_freq, number, sparse, weights, last, padding_idx
        )
        return bags[0]

    def gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction="mean"):
        if is_a(var, "float"):
            var = var * torch.ones_like(input)
        else:
            torch.ops.aten._assert_async.msg((var < 0).any().logical_not(), "var has negative entry/entries")
            var = var.view([*var.shape, 1][: input.dim()])
        var = var.clone()
        var.detach().clamp_(eps)
        constant = 0.5 * math.log(2 * math.pi) if full else 0.0
        return _reduced(_gaussian(input, target, var) + constant, reduction)

    def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
        return _one_hot(_gumbel(logits, tau, dim), logits, dim) if hard else _gumbel(logits, tau, dim)

    def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
        return input / _neighbours(input.mul(input), size).view(input.shape).mul(alpha).add(k).pow(beta)

    def multilabel_soft_margin_loss(input, target, weight=None, *, reduction="mean"):
        return _reduced(_weighted(_multilabel(input, target), weight).sum(-1) / size_of(input, -1), reduction)

    def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
        return torch.ops.aten.im2col(input, kernel_size, dilation, padding, stride)


class torch_:
    """torch"""

    def atleast_Nd(first, *more):
        if len(more) == 0:
            return torch.ops.aten.atleast_Nd(first)
        return torch.ops.aten.atleast_Nd.Sequence((first, *more))

    def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
        if compute_mode == "use_mm_for_euclid_dist_if_necessary":
            compute_mode = None
        elif compute_mode == "use_mm_for_euclid_dist":
            compute_mode = 1
        elif compute_mode == "donot_use_mm_for_euclid_dist":
            compute_mode = 2
        return torch.ops.aten.cdist(x1, x2, p, compute_mode)

    def chain_matmul(*matrices):
        return torch.ops.aten.chain_matmul(matrices)

    def stft(
        input,
        n_fft,
        hop_length=None,
        win_length=None,
        window=None,
        center=True,
        pad_mode="reflect",
        normalized=False,
        onesided=None,
        return_complex=None,
        align_to_window=None,
    ):
        return torch.ops.aten.stft.center(
            input,
            n_fft,
            hop_length,
            win_length,
            window,
            center,
            pad_mode,
            normalized,
            onesided,
            return_complex,
            align_to_window,
        )

    def tensordot(a, b, dims=2):
        if is_a(dims, "int"):
            if dims == 0:
                dims = ([], [])
            elif dims == 1:
                dims = ([-1], [0])
            elif dims == 2:
                dims = ([-2, -1], [0, 1])
            elif dims == 3:
                dims = ([-3, -2, -1], [0, 1, 2])
        return torch.ops.aten.tensordot(a, b, *dims)

    def unique_consecutive(input, return_inverse=False, return_counts=False, dim=None):
        if not return_inverse and not return_counts:
            return torch.ops.aten.unique_consecutive(input, return_inverse, return_counts, dim)[0]
        if not return_counts:
            return torch.ops.aten.unique_consecutive(input, return_inverse, return_counts, dim)[:2]
        if not return_inverse:
            return torch.ops.aten.unique_consecutive(input, return_inverse, return_counts, dim)[::2]
        return torch.ops.aten.unique_consecutive(input, return_inverse, return_counts, dim)

    def split(tensor, split_size_or_sections, dim=0):
        return tensor.split(split_size_or_sections, dim)

    def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
        return input.norm(p, dim, keepdim, dtype)

    def einsum(equation, *operands):
        return torch.ops.aten.einsum(equation, operands)

    def broadcast_tensors(*tensors):
        return torch.ops.aten.broadcast_tensors(tensors)

    def block_diag(*tensors):
        return torch.ops.aten.block_diag(tensors)

    def cartesian_prod(*tensors):
        return torch.ops.aten.cartesian_prod(tensors)

    def meshgrid(*tensors, indexing="ij"):
        return torch.ops.aten.meshgrid.indexing(tensors, indexing=indexing)

    def tensor(data, *, dtype=None, device=None):
        return tensor_of(data, dtype, device)

    def numel(input):
        return input.numel()


class Tensor:
    """torch.Tensor"""

    stft = torch_.stft
    unique_consecutive = torch_.unique_consecutive

    def split(self, split_size, dim=0):
        if is_a(split_size, "int"):
            return torch.ops.aten.split.Tensor(self, split_size, dim)
        return torch.ops.aten.split_with_sizes(self, split_size, dim)

    def norm(self, p="fro", dim=None, keepdim=False, dtype=None):
        return torch.linalg.vector_norm(self, 2 if p == "fro" else p, dim, keepdim, dtype=dtype)

    def type(self, dtype):
        return torch.ops.aten.to.dtype(self, dtype)

    def to(
        self, first=None, second=None, *, dtype=None, device=None, non_blocking=False, copy=False, memory_format=None
    ):
        if is_a(first, "Tensor"):
            return torch.ops.aten.to.device(self, first.device, first.dtype, non_blocking, copy, memory_format)
        if is_a(first, "ScalarType"):
            return torch.ops.aten.to.dtype(self, first, non_blocking, copy, memory_format)
        device = device if first is None else first
        dtype = dtype if second is None else second
        if dtype is not None and device is not None:
            return torch.ops.aten.to.device(self, device, dtype, non_blocking, copy, memory_format)
        if dtype is not None:
            return torch.ops.aten.to.dtype(self, dtype, non_blocking, copy, memory_format)
        return torch.ops.aten.to.dtype_layout(
            self, device=device, non_blocking=non_blocking, copy=copy, memory_format=memory_format
        )

    def cpu(self):
        return torch.ops.aten.to.dtype_layout(self, device="cpu")

    def size(self, dim=None):
        return self.shape if dim is None else size_of(self, dim)

    def unflatten(self, dim, sizes):
        return torch.ops.aten.unflatten.int(self, dim, sizes)


# ---- what several functions use, or one within an expression


def _number(mode, first, second, third, problem, hint):
    if mode == first:
        return 0
    if mode == second:
        return 1
    return 2 if mode == third else refused(problem, hint)


def _root1d(sums, count, power):
    return (sums.sign() * sums.abs().relu()).mul(count).pow(1.0 / power)


def _root2d(sums, size, power):
    return _root1d(sums, size * size if is_a(size, "int") else size[0] * size[1], power)


def _root3d(sums, size, power):
    return _root1d(sums, size * size * size if is_a(size, "int") else size[0] * size[1] * size[2], power)


def _resized(input, size, scales, mode, align_corners, antialias, count):
    if antialias and (mode == "bilinear" or mode == "bicubic" or mode == "lanczos"):
        return resized(["_upsample_", mode, "2d_aa"], input, size, align_corners, scales)
    if antialias:
        return refused("this mode has no antialias", "write bilinear or bicubic, and a tensor of four dimensions")
    if mode == "lanczos":
        return refused("lanczos is for antialias", "write bilinear or bicubic, and a tensor of four dimensions")
    if mode == "linear" or mode == "bilinear" or mode == "bicubic" or mode == "trilinear":
        return resized(["upsample_", mode, count, "d"], input, size, align_corners, scales)
    if mode == "nearest" and count > 0 and count < 4:
        return resized(["upsample_nearest", count, "d"], input, size, scales)
    if mode == "nearest-exact" and count > 0 and count < 4:
        return resized(["_upsample_nearest_exact", count, "d"], input, size, scales)
    if mode == "area" and count == 1:
        torch.ops.aten._assert_tensor_metadata(input, [size_of(input, 0), size_of(input, 1), size_of(input, 2)])
        means = torch.ops.aten.adaptive_avg_pool1d(input, size)
        return means
    if mode == "area" and count == 2:
        torch.ops.aten._assert_tensor_metadata(
            input, [size_of(input, 0), size_of(input, 1), size_of(input, 2), size_of(input, 3)]
        )
        means = torch.ops.aten.adaptive_avg_pool2d(input, size)
        return means
    if mode == "area" and count == 3:
        torch.ops.aten._assert_tensor_metadata(
            input, [size_of(input, 0), size_of(input, 1), size_of(input, 2), size_of(input, 3), size_of(input, 4)]
        )
        means = torch.ops.aten.adaptive_avg_pool3d(input, size)
        return means
    return refused("an unknown mode, or number of dimensions", "write mode='nearest'")


def _reduced(loss, reduction):
    if is_variable(reduction):
        return torch.kl_div(-loss, torch.zeros_like(loss), loss_reduction(reduction), log_target=True)
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    return loss if reduction == "none" else refused("an unknown reduction", "write 'none', 'mean' or 'sum'")


def _gumbel(logits, tau, dim):
    return (
        (logits + -torch.empty_like(logits, memory_format=torch.contiguous_format).exponential_().log()) / tau
    ).softmax(dim)


def _one_hot(soft, logits, dim):
    return (
        torch.zeros_like(logits, memory_format=torch.contiguous_format).scatter_(
            dim, soft.max(dim, keepdim=True)[1], 1.0
        )
        - soft.detach()
        + soft
    )


def _neighbours(squares, size):
    return torch.ops.aten.avg_pool3d(
        torch.ops.aten.pad(
            squares.view(squares.size(0), 1, squares.size(1), squares.size(2), -1),
            (0, 0, 0, 0, size // 2, (size - 1) // 2),
        ),
        (size, 1, 1),
        1,
    )


def _multilabel(input, target):
    return -(target * torch.ops.aten.log_sigmoid(input) + (1 - target) * torch.ops.aten.log_sigmoid(-input))


def _weighted(loss, weight):
    return loss if weight is None else loss * weight


def _gaussian(input, target, var):
    return 0.5 * (var.log() + (input - target) ** 2 / var)
