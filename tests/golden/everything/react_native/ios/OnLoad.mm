// Registers the module when the app starts. Nothing is loaded before JavaScript asks for it.

#import <Foundation/Foundation.h>
#import <ReactCommon/CxxTurboModuleUtils.h>

#import "EverythingCxx.h"

@interface EverythingOnLoad : NSObject
@end

@implementation EverythingOnLoad

+ (void)load
{
  facebook::react::registerCxxModuleToGlobalModuleMap(
      std::string(facebook::react::EverythingCxx::kModuleName),
      [](std::shared_ptr<facebook::react::CallInvoker> invoker) {
        return std::make_shared<facebook::react::EverythingCxx>(std::move(invoker));
      });
}

@end
