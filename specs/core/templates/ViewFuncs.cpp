#include "ViewFuncs.h"

// ${generated_comment}

namespace torch::autograd::generated {

${view_func_definitions}

} // namespace torch::autograd::generated
