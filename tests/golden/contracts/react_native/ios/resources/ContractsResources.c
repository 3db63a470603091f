#include "ContractsResources.h"
