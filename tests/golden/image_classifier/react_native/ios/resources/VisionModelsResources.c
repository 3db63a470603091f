#include "VisionModelsResources.h"
