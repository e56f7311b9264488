#pragma once

// What the formulas of the base call.

at::Tensor unsort(const at::Tensor& grad, const at::Tensor& indices, int64_t dim, c10::SymIntArrayRef sizes);
at::Tensor join_chunks(const variable_list& grads, const c10::SymInt& size, c10::SymIntArrayRef sizes);
std::vector<at::Tensor> cat_backward(
    const at::Tensor& grad,
    const std::vector<std::vector<c10::SymInt>>& sizes,
    int64_t dim);
at::Tensor chosen_backward(const at::Tensor& grad, const at::Tensor& self, bool exact = false);
