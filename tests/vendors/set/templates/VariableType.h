#pragma once
// ${generated_comment}
namespace accel::VariableType {
  ${declarations}
}
