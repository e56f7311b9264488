#include "ViewFuncs.h"

#include "toy_kernels.h"
${ops_headers}

// ${generated_comment}

namespace torch::autograd::generated {

${view_func_definitions}

} // namespace torch::autograd::generated
