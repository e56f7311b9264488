"""Functions that only the expressions of `torch_functions.py` call: what several of them use, or what one uses twice.

Facts: torch/nn/functional.py of the release.
"""

from __future__ import annotations

_LINEAR = {
    ("bilinear", True): "_upsample_bilinear2d_aa",
    ("bicubic", True): "_upsample_bicubic2d_aa",
    ("lanczos", True): "_upsample_lanczos2d_aa",
    ("linear", False): "upsample_linear1d",
    ("bilinear", False): "upsample_bilinear2d",
    ("bicubic", False): "upsample_bicubic2d",
    ("trilinear", False): "upsample_trilinear3d",
}
_RESIZED = [
    *(
        f"torch.ops.aten.{operator}.vec(input, size, align_corners, scales)"
        f" if mode == '{mode}' and {'antialias' if antialias else 'not antialias'}"
        for (mode, antialias), operator in _LINEAR.items()
    ),
    *(
        f"refused('{problem}', 'write bilinear or bicubic, and a tensor of four dimensions') if {condition}"
        for problem, condition in (
            ("this mode has no antialias", "antialias"),
            ("lanczos is for antialias", "mode == 'lanczos'"),
        )
    ),
    *(
        f"torch.ops.aten.{operator}{n}d.vec(input, size, scales) if mode == '{mode}' and count == {n}"
        for mode, operator in (("nearest", "upsample_nearest"), ("nearest-exact", "_upsample_nearest_exact"))
        for n in (1, 2, 3)
    ),
    *(
        f"(torch.ops.aten._assert_tensor_metadata(input, [{', '.join(f'size_of(input, {i})' for i in range(n + 2))}]),"
        f" torch.ops.aten.adaptive_avg_pool{n}d(input, size))[1] if mode == 'area' and count == {n}"
        for n in (1, 2, 3)
    ),
]
_SIZES = {n: ", ".join(f"int(size_of(input, {i + 2}) * scales[{i}])" for i in range(n)) for n in (1, 2, 3)}

LOCAL = {
    "_root": "lambda sums, count, power: (sums.sign() * sums.abs().relu()).mul(count).pow(1.0 / power)",
    "_scaled": "lambda input, size, scale_factor, mode, align_corners, recomputed, antialias, count:"
    " refused('a size cannot be recomputed', 'leave out recompute_scale_factor') if recomputed and size is not None"
    " else _of_size(input, repeated(scale_factor, count), mode, align_corners, antialias, count)"
    " if recomputed or (size is None and mode == 'area')"
    " else _resized(input, repeated(size, count), repeated(scale_factor, count), mode, align_corners, antialias,"
    " count)",
    "_of_size": "lambda input, scales, mode, align_corners, antialias, count: _resized(input,"
    f" [{_SIZES[1]}] if count == 1 else [{_SIZES[2]}] if count == 2 else [{_SIZES[3]}],"
    " None, mode, align_corners, antialias, count)",
    "_resized": "lambda input, size, scales, mode, align_corners, antialias, count:"
    f" {' else '.join(_RESIZED)} else refused('an unknown mode, or number of dimensions', \"write mode='nearest'\")",
    "_bags": "lambda weight, indices, offsets, max_norm, norm_type, by_freq, mode, sparse, weights, last, padding_idx:"
    " refused('per_sample_weights are for the sum', \"write mode='sum'\") if weights is not None and mode != 'sum'"
    " else refused('this is not supported for the maximum', 'leave out scale_grad_by_freq and sparse')"
    " if mode == 'max' and (by_freq or sparse) else (None if max_norm is None"
    " else torch.embedding_renorm_(weight.detach(), indices, max_norm, norm_type),"
    " torch.ops.aten.embedding_bag.padding_idx(weight, indices, offsets, by_freq, 0 if mode == 'sum'"
    " else 1 if mode == 'mean' else 2 if mode == 'max' else refused('an unknown mode', \"write 'sum'\"), sparse,"
    " weights, last, padding_idx)[0])[1]",
    "_variances": "lambda input, var: (torch.ops.aten._assert_async.msg((var < 0).any().logical_not(),"
    " 'var has negative entry/entries'), var.view((var.shape + [1])[:input.dim()]))[1]",
    "_clamped": "lambda var, eps: _clamped_copy(var.clone(), eps)",
    "_clamped_copy": "lambda var, eps: (var.detach().clamp_(eps), var)[1]",
    "_gumbel": "lambda logits, tau, dim: ((logits + -torch.empty_like(logits, memory_format=torch.contiguous_format)"
    ".exponential_().log()) / tau).softmax(dim)",
    "_one_hot": "lambda soft, logits, dim: torch.zeros_like(logits, memory_format=torch.contiguous_format)"
    ".scatter_(dim, soft.max(dim, keepdim=True)[1], 1.0) - soft.detach() + soft",
    "_neighbours": "lambda squares, size: torch.ops.aten.avg_pool3d(torch.ops.aten.pad("
    "squares.view(squares.size(0), 1, squares.size(1), squares.size(2), -1),"
    " (0, 0, 0, 0, size // 2, (size - 1) // 2)), (size, 1, 1), 1)",
    "_multilabel": "lambda input, target: -(target * torch.ops.aten.log_sigmoid(input)"
    " + (1 - target) * torch.ops.aten.log_sigmoid(-input))",
    "_weighted": "lambda loss, weight: loss if weight is None else loss * weight",
    "_gaussian": "lambda input, target, var: 0.5 * (var.log() + (input - target) ** 2 / var)",
    # of a name known at run time only: exp(0) * (0 - -loss)
    "_reduced": "lambda loss, reduction: torch.kl_div(-loss, torch.zeros_like(loss), loss_reduction(reduction),"
    " log_target=True) if is_a(reduction, 'str')"
    " else loss.mean() if reduction == 'mean' else loss.sum() if reduction == 'sum'"
    " else loss if reduction == 'none' else refused('an unknown reduction', \"write 'none', 'mean' or 'sum'\")",
}
