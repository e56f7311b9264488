// All sources in one, for builds without a build system: torch's headers take most of the time.

#include "device.cpp"
#include "operators.cpp"

#include "Functions.cpp"

#include "ViewFuncs.cpp"

#include "RegisterPrivateUse1.cpp"

#include "ADInplaceOrViewType_0.cpp"
#include "VariableType_0.cpp"
