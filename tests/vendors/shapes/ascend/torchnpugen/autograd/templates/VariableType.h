// ${generated_comment}
${npu_variable_type}
