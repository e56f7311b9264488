// The C++ of one ViewFunc. Each section is one piece of text; a piece has one section for each release that changed it.
//// include, since 2.4
#include <${header}>
//// declaration, since 2.4
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

//// constructor, since 2.4
${view_func}(${parameters}) ${initializers}
{};
virtual ~${view_func}() override {};
//// constructor, since 2.6
${view_func}(${parameters}) ${initializers}
{}
virtual ~${view_func}() override = default;
//// clone_and_set, since 2.4
virtual std::unique_ptr<ViewFunc> clone_and_set(
    std::optional<std::vector<c10::SymInt>> = c10::nullopt,
    std::optional<std::vector<at::Tensor>> = c10::nullopt) const override;
//// clone_and_set, since 2.5
virtual std::unique_ptr<ViewFunc> clone_and_set(
    std::optional<std::vector<c10::SymInt>> = ::std::nullopt,
    std::optional<std::vector<at::Tensor>> = ::std::nullopt) const override;
//// definition, since 2.4
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

//// get_one, since 2.4
${held}.push_back(${name});
//// get_list, since 2.4
${held}.insert(${held}.end(), ${name}.begin(), ${name}.end());
//// get_optional, since 2.4
if(${name}.has_value()) ${held}.insert(${held}.end(), *(${name}));
//// set_one, since 2.4
${name} = ${held}[i];
//// set_list, since 2.4
std::copy(${held}.begin() + i, ${held}.begin() + i + ${name}.size(), ${name}.begin());
//// set_optional, since 2.4
if(${name}.has_value()) ${name} = ${held}[i];
