// The C++ of one ViewFunc. families/sections.py explains the notation.
//// include
#include <${header}>
//// declaration
#define ${macro}
struct ${view_func} : public torch::autograd::ViewFunc {
  ${constructor}
  virtual std::vector<c10::SymInt> get_symints() const override;
  virtual size_t num_symints() const override;
  virtual std::vector<at::Tensor> get_tensors() const override;
  virtual size_t num_tensors() const override;
  virtual at::Tensor operator()(const at::Tensor&) const override;
  ${clone_and_set}

protected:
  virtual void set_symints(std::vector<c10::SymInt>) override;
  virtual void set_tensors(std::vector<at::Tensor>) override;

private:
  ${members}
};

//// constructor
${view_func}(${parameters}) ${initializers}
//<2.6 {};
//<2.6 virtual ~${view_func}() override {};
//>=2.6 {}
//>=2.6 virtual ~${view_func}() override = default;
//// clone_and_set
virtual std::unique_ptr<ViewFunc> clone_and_set(
//<2.5     std::optional<std::vector<c10::SymInt>> = c10::nullopt,
//<2.5     std::optional<std::vector<at::Tensor>> = c10::nullopt) const override;
//>=2.5     std::optional<std::vector<c10::SymInt>> = ::std::nullopt,
//>=2.5     std::optional<std::vector<at::Tensor>> = ::std::nullopt) const override;
//// definition
std::vector<c10::SymInt> ${view_func}::get_symints() const {
  ${get_symints}
}

size_t ${view_func}::num_symints() const {
  return static_cast<size_t>(${num_symints});
}

void ${view_func}::set_symints(std::vector<c10::SymInt> symints) {
  TORCH_INTERNAL_ASSERT(symints.size() == num_symints());
  ${set_symints}
}

std::vector<at::Tensor> ${view_func}::get_tensors() const {
  ${get_tensors}
}

size_t ${view_func}::num_tensors() const {
  return static_cast<size_t>(${num_tensors});
}

void ${view_func}::set_tensors(std::vector<at::Tensor> tensors) {
  TORCH_INTERNAL_ASSERT(tensors.size() == num_tensors());
  ${set_tensors}
}

at::Tensor ${view_func}::operator()(const at::Tensor& input_base) const {
  return at::_ops::${struct}::call(input_base${,arguments})${index};
}

std::unique_ptr<ViewFunc> ${view_func}::clone_and_set(
    std::optional<std::vector<c10::SymInt>> symints,
    std::optional<std::vector<at::Tensor>> tensors) const {
  auto output = std::make_unique<${view_func}>(${clone_arguments});
  if (symints.has_value()) {
    output->set_symints(std::move(*(symints)));
  }
  if (tensors.has_value()) {
    output->set_tensors(std::move(*(tensors)));
  }
  return output;
}

//// get_one
${held}.push_back(${name});
//// get_list
${held}.insert(${held}.end(), ${name}.begin(), ${name}.end());
//// get_optional
if(${name}.has_value()) ${held}.insert(${held}.end(), *(${name}));
//// set_one
${name} = ${held}[i];
//// set_list
std::copy(${held}.begin() + i, ${held}.begin() + i + ${name}.size(), ${name}.begin());
//// set_optional
if(${name}.has_value()) ${name} = ${held}[i];
