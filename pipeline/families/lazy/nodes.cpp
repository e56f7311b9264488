//// symbol, since 2.4
at::aten::${operator}
//// symbol_by_name, since 2.4
c10::Symbol::fromQualString("aten::${operator}")
//// shapes, since 2.4
std::vector<torch::lazy::Shape>&& shapes
//// node, since 2.4
class ${name} : public TsNode {
 public:
  static torch::lazy::OpKind ClassOpKind() {
    return torch::lazy::OpKind(${kind});
  }

  ${name}(${parameters})
      : ${base}${initializers}
  {
    ${flags}
  }

  std::string ToString() const override {
    std::stringstream ss;
    ss << TsNode::ToString();
    ${shown}
    return ss.str();
  }

  ${create}

  ${reuse}

  ${lower}

  ${members}
  ${has_flags}

};


//// node, since 2.13
class ${name} : public TsNode {
 public:
  static torch::lazy::OpKind ClassOpKind() {
    return torch::lazy::OpKind(${kind});
  }

  ${name}(${parameters})
      : ${base}${initializers}
  {
    ${flags}
  }

  std::string ToString() const override {
    std::stringstream ss;
    ss << TsNode::ToString();
    ${shown}
    return std::move(ss).str();
  }

  ${create}

  ${reuse}

  ${lower}

  ${members}
  ${has_flags}

};


//// flag, since 2.4
has_${name} = !!${name};
//// has_flag, since 2.4
bool has_${name}: 1;
//// base, since 2.4
TsNode(
              ${name}::ClassOpKind(),
              OpList{${operands}},
              ${shape}
              /* num_outputs */ ${outputs},
              torch::lazy::MHash(${hashed}))
//// or_null, since 2.4
${name}.value_or(kNullValue)
//// shape_given, since 2.4
std::move(shapes),
//// shape_computed, since 2.4
compute_shape_${operator}(${arguments}),
//// shape_cached, since 2.4
[&](){ return compute_shape_${operator}(${arguments})[0]; },
//// initializer, since 2.4
,
        ${name}(${name})
//// optional_string_initializer, since 2.4
,
        ${name}(${name}.has_value() ? ::std::make_optional(std::string(*${name})) : ::std::nullopt)
//// shown, since 2.4
ss << ", ${name}=" << ${name};
//// optional_shown, since 2.4
if (${name}.has_value()) {
      ss << ", ${name}=" << ${value};
    } else {
      ss << ", ${name}=null";
    }
//// string_member, since 2.4
std::string ${name};
//// optional_string_member, since 2.4
::std::optional<std::string> ${name};
//// create_declared, since 2.4
static NodePtr Create(${parameters});
//// create, since 2.4
static NodePtr Create(${parameters}) {
    return ReuseOrMakeNode<${name}>(data);
  }
//// reuse_declared, since 2.4
bool CanBeReused(${parameters}) const;
//// reuse, since 2.4
bool CanBeReused(${parameters}) const {
    size_t i = 0;
    return (${compared});
  }
//// same_operand, since 2.4
operand(i++) == ${name}
//// same_optional_operand, since 2.4
nullable_operand(i++) == ${name}.value_or(kNullValue)
//// same_member, since 2.4
this->${name} == ${name}
//// same_optional_member, since 2.4
((!this->${name}&&!${name}) || (this->${name}&&${name} && *(this->${name}) == *${name}))
//// lower_declared, since 2.4

  torch::lazy::TSOpVector Lower(
      std::shared_ptr<torch::jit::GraphFunction> function,
      torch::lazy::TSLoweringContext* loctx) const override;
//// lower, since 2.4

  torch::lazy::TSOpVector Lower(
      std::shared_ptr<torch::jit::GraphFunction> function,
      torch::lazy::TSLoweringContext* loctx) const override {
        std::vector<torch::jit::NamedValue> arguments;
    std::vector<torch::jit::NamedValue> kwarguments;
    arguments.reserve(${count});
    kwarguments.reserve(${keyword_count});
    size_t i = 0;
    ${arguments}
    ${keyword_arguments}
    torch::lazy::TSOpVector ${operator}_out = torch::lazy::LowerTSBuiltin(function, op().op, arguments, kwarguments);
    TORCH_CHECK_EQ(${operator}_out.size(), ${outputs});

    return ${operator}_out;

  }
            
//// argument, since 2.4
arguments.emplace_back(${value});
//// keyword_argument, since 2.4
kwarguments.emplace_back(${value});
//// lowered, since 2.4
loctx->GetOutputOp(operand(i++))
//// optional_lowered, since 2.4
has_${name} ? loctx->GetOutputOp(operand(i++)) : nullptr
