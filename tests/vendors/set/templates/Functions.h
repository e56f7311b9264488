#pragma once
// ${generated_comment}
${autograd_function_declarations}
