// Registers the module when the app starts. Nothing is loaded before JavaScript asks for it.

#import <Foundation/Foundation.h>
#import <ReactCommon/CxxTurboModuleUtils.h>

#import "CpuAloneCxx.h"

@interface CpuAloneOnLoad : NSObject
@end

@implementation CpuAloneOnLoad

+ (void)load
{
  facebook::react::registerCxxModuleToGlobalModuleMap(
      std::string(facebook::react::CpuAloneCxx::kModuleName),
      [](std::shared_ptr<facebook::react::CallInvoker> invoker) {
        return std::make_shared<facebook::react::CpuAloneCxx>(std::move(invoker));
      });
}

@end
