#pragma once

namespace folly {
class dynamic {};
}
