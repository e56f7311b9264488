// ${generated_comment}
#include "Functions.h"

${autograd_function_definitions}
