//// kernel, since 2.4
    ${declarator} {
        ${fallback}
        TORCH_LAZY_FN_COUNTER("lazy::");
        auto common_device = torch::lazy::GetBackendDevice(${devices});
        TORCH_INTERNAL_ASSERT(common_device);
        
        ${values}
        torch::lazy::NodePtr node = torch::lazy::ReuseNode<${node}>(${inputs});
        if (!node) {
            ${shapes}
            node = torch::lazy::MakeNode<${node}>(${inputs}, std::move(shapes));
            CacheNode(node);
        }
        
        ${result}
        return result;
    }

    
//// fallback, since 2.4

        if (force_eager_fallback(${symbol})) {
            return at::native::call_fallback_fn_symint<&ltc_eager_fallback, ${called}>::call(
                ${arguments}
            );
        }

//// operator, since 2.4
ATEN_OP(${name})
//// overload, since 2.4
ATEN_OP2(${name}, ${overload})
//// optional_scalar, since 2.4
auto node_${name} = ${name} ?
                std::make_optional(torch::lazy::LazyGraphExecutor::Get()->
                    GetIrValueForScalarFromCodegen(*${name}, *common_device)):
                ::std::nullopt;
//// scalar, since 2.4
auto node_${name} = torch::lazy::LazyGraphExecutor::Get()->
                            GetIrValueForScalarFromCodegen(${name}, *common_device);
//// tensors, since 2.4
auto lazy_${name}_tensorlist = torch::lazy::GetTensorList(${name});
//// tensor, since 2.4
LazyTensorPtr lazy_${name} = torch::lazy::GetLtcTensorOrCreateForWrappedNumber(${name}, *common_device);
//// optional_tensor, since 2.4
LazyTensorPtr lazy_${name} = torch::lazy::TryGetLtcTensor(${name}.value_or(at::Tensor()));
//// scalar_input, since 2.4
node_${name}
//// tensors_input, since 2.4
lazy_${name}_tensorlist
//// symint_input, since 2.4
GetSymIntValue(${name})
//// tensor_input, since 2.4
lazy_${name}->GetIrValue()
//// optional_symint_input, since 2.4
${name} ? std::make_optional(GetSymIntValue(*${name})) : ::std::nullopt
//// optional_tensor_input, since 2.4
lazy_${name} ? std::make_optional(lazy_${name}->GetIrValue()) : ::std::nullopt
//// symints_input, since 2.4
GetSymIntArrayRefValue(${name})
//// vector_input, since 2.4
std::vector<${element}>(${name}.begin(), ${name}.end())
//// optional_vector_input, since 2.4
torch::lazy::ToOptionalVector<${element}>(${name})
//// input, since 2.4
${name}
//// by_meta, since 2.4
        ${conversions}
        auto out_meta = ${function}(${arguments});
        ${shapes}
//// to_meta, since 2.4
auto ${name}_meta = to_meta(${name});
//// shape, since 2.4

std::vector<torch::lazy::Shape> shapes{torch::lazy::Shape(out_meta.scalar_type(), out_meta.sizes().vec())};
//// shapes, since 2.4
std::vector<torch::lazy::Shape> shapes{${each}};
//// shape_of_one, since 2.4
torch::lazy::Shape(std::get<${index}>(out_meta).scalar_type(), std::get<${index}>(out_meta).sizes().vec())
//// by_function, since 2.4

            auto shapes = torch::lazy::compute_shape_${kernel}(${arguments});
//// checked_shapes, since 2.4

            TORCH_INTERNAL_ASSERT(shapes.size() == ${count});
            if(torch::lazy::symbolicShapeEnabled()){
                std::vector<torch::jit::IValue> inputs = { ${arguments} };
                const char* schema_str = "${schema}";
                applySymbolicShapesOnLT(schema_str, inputs, shapes);
            }
        
//// shape_function, since 2.4
TORCH_API std::vector<torch::lazy::Shape> compute_shape_${kernel}(${parameters});
//// one_result, since 2.4
auto result = torch::lazy::CreateAtenFromLtcTensor(
                torch::lazy::LazyTensor::Create(std::move(node), *common_device));
//// results, since 2.4
std::vector<LazyTensorPtr> lazy_tensors;
        for (int i = 0; i < ${count}; i++) {
            lazy_tensors.push_back(torch::lazy::LazyTensor::Create(${value}(node, i), *common_device));
        }
        auto result = torch::lazy::TupleAtenFromLtcTensors<${count}>(lazy_tensors);
//// written, since 2.4
lazy_${name}->SetInPlaceIrValue(node);
        auto& result = ${name};
