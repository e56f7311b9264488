//// kernel
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

    
//// fallback

        if (force_eager_fallback(${symbol})) {
            return at::native::call_fallback_fn_symint<&ltc_eager_fallback, ${called}>::call(
                ${arguments}
            );
        }

//// operator
ATEN_OP(${name})
//// overload
ATEN_OP2(${name}, ${overload})
//// optional_scalar
auto node_${name} = ${name} ?
                std::make_optional(torch::lazy::LazyGraphExecutor::Get()->
                    GetIrValueForScalarFromCodegen(*${name}, *common_device)):
                ::std::nullopt;
//// scalar
auto node_${name} = torch::lazy::LazyGraphExecutor::Get()->
                            GetIrValueForScalarFromCodegen(${name}, *common_device);
//// tensors
auto lazy_${name}_tensorlist = torch::lazy::GetTensorList(${name});
//// tensor
LazyTensorPtr lazy_${name} = torch::lazy::GetLtcTensorOrCreateForWrappedNumber(${name}, *common_device);
//// optional_tensor
LazyTensorPtr lazy_${name} = torch::lazy::TryGetLtcTensor(${name}.value_or(at::Tensor()));
//// scalar_input
node_${name}
//// tensors_input
lazy_${name}_tensorlist
//// symint_input
GetSymIntValue(${name})
//// tensor_input
lazy_${name}->GetIrValue()
//// optional_symint_input
${name} ? std::make_optional(GetSymIntValue(*${name})) : ::std::nullopt
//// optional_tensor_input
lazy_${name} ? std::make_optional(lazy_${name}->GetIrValue()) : ::std::nullopt
//// symints_input
GetSymIntArrayRefValue(${name})
//// vector_input
std::vector<${element}>(${name}.begin(), ${name}.end())
//// optional_vector_input
torch::lazy::ToOptionalVector<${element}>(${name})
//// input
${name}
//// by_meta
        ${conversions}
        auto out_meta = ${function}(${arguments});
        ${shapes}
//// to_meta
auto ${name}_meta = to_meta(${name});
//// shape

std::vector<torch::lazy::Shape> shapes{torch::lazy::Shape(out_meta.scalar_type(), out_meta.sizes().vec())};
//// shapes
std::vector<torch::lazy::Shape> shapes{${each}};
//// shape_of_one
torch::lazy::Shape(std::get<${index}>(out_meta).scalar_type(), std::get<${index}>(out_meta).sizes().vec())
//// by_function

            auto shapes = torch::lazy::compute_shape_${kernel}(${arguments});
//// checked_shapes

            TORCH_INTERNAL_ASSERT(shapes.size() == ${count});
            if(torch::lazy::symbolicShapeEnabled()){
                std::vector<torch::jit::IValue> inputs = { ${arguments} };
                const char* schema_str = "${schema}";
                applySymbolicShapesOnLT(schema_str, inputs, shapes);
            }
        
//// shape_function
TORCH_API std::vector<torch::lazy::Shape> compute_shape_${kernel}(${parameters});
//// one_result
auto result = torch::lazy::CreateAtenFromLtcTensor(
                torch::lazy::LazyTensor::Create(std::move(node), *common_device));
//// results
std::vector<LazyTensorPtr> lazy_tensors;
        for (int i = 0; i < ${count}; i++) {
            lazy_tensors.push_back(torch::lazy::LazyTensor::Create(${value}(node, i), *common_device));
        }
        auto result = torch::lazy::TupleAtenFromLtcTensors<${count}>(lazy_tensors);
//// written
lazy_${name}->SetInPlaceIrValue(node);
        auto& result = ${name};
