#include "MobpackOnnxRuntime.h"
