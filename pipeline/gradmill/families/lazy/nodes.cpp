//// symbol
at::aten::${operator}
//// symbol_by_name
c10::Symbol::fromQualString("aten::${operator}")
//// shapes
std::vector<torch::lazy::Shape>&& shapes
//// node
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
//<2.13     return ss.str();
//>=2.13     return std::move(ss).str();
  }

  ${create}

  ${reuse}

  ${lower}

  ${members}
  ${has_flags}

};


//// flag
has_${name} = !!${name};
//// has_flag
bool has_${name}: 1;
//// base
TsNode(
              ${name}::ClassOpKind(),
              OpList{${operands}},
              ${shape}
              /* num_outputs */ ${outputs},
              torch::lazy::MHash(${hashed}))
//// or_null
${name}.value_or(kNullValue)
//// ShapePrecompute
std::move(shapes),
//// ShapeCompute
compute_shape_${operator}(${arguments}),
//// ShapeCache
[&](){ return compute_shape_${operator}(${arguments})[0]; },
//// initializer
,
        ${name}(${name})
//// optional_string_initializer
,
        ${name}(${name}.has_value() ? ::std::make_optional(std::string(*${name})) : ::std::nullopt)
//// shown
ss << ", ${name}=" << ${name};
//// optional_shown
if (${name}.has_value()) {
      ss << ", ${name}=" << ${value};
    } else {
      ss << ", ${name}=null";
    }
//// string_member
std::string ${name};
//// optional_string_member
::std::optional<std::string> ${name};
//// CreateFnDeclOnly
static NodePtr Create(${parameters});
//// CreateFn
static NodePtr Create(${parameters}) {
    return ReuseOrMakeNode<${name}>(data);
  }
//// CanBeReusedDeclOnly
bool CanBeReused(${parameters}) const;
//// CanBeReused
bool CanBeReused(${parameters}) const {
    size_t i = 0;
    return (${compared});
  }
//// same_operand
operand(i++) == ${name}
//// same_optional_operand
nullable_operand(i++) == ${name}.value_or(kNullValue)
//// same_member
this->${name} == ${name}
//// same_optional_member
((!this->${name}&&!${name}) || (this->${name}&&${name} && *(this->${name}) == *${name}))
//// LowerDeclOnly

  torch::lazy::TSOpVector Lower(
      std::shared_ptr<torch::jit::GraphFunction> function,
      torch::lazy::TSLoweringContext* loctx) const override;
//// Lower

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
            
//// argument
arguments.emplace_back(${value});
//// keyword_argument
kwarguments.emplace_back(${value});
//// lowered
loctx->GetOutputOp(operand(i++))
//// optional_lowered
has_${name} ? loctx->GetOutputOp(operand(i++)) : nullptr
