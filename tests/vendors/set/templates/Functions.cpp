#include "Functions.h"
// ${generated_comment}
${autograd_function_definitions}
