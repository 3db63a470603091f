// Registers the module when the app starts. Nothing is loaded before JavaScript asks for it.

#import <Foundation/Foundation.h>
#import <ReactCommon/CxxTurboModuleUtils.h>

#include <string>

#import "Heat.h"
#import "Protection.h"
#import "VisionModelsCxx.h"

namespace {

/// An app may ask for files that a locked device does not read; models are no secrets of its user.
void keepReadable(const std::string& path) {
  @autoreleasepool {
    NSString *place = [NSString stringWithUTF8String:path.c_str()];
    if (place == nil) return;
    NSDictionary *attributes = @{NSFileProtectionKey : NSFileProtectionCompleteUntilFirstUserAuthentication};
    [NSFileManager.defaultManager setAttributes:attributes ofItemAtPath:place error:nullptr];
  }
}

}  // namespace

@interface VisionModelsOnLoad : NSObject
@end

@implementation VisionModelsOnLoad

+ (void)load
{
  facebook::react::registerCxxModuleToGlobalModuleMap(
      std::string(facebook::react::VisionModelsCxx::kModuleName),
      [](std::shared_ptr<facebook::react::CallInvoker> invoker) {
        return std::make_shared<facebook::react::VisionModelsCxx>(std::move(invoker));
      });
  mobpack::visionmodelscxx::setHeatSource(
      [] { return NSProcessInfo.processInfo.thermalState >= NSProcessInfoThermalStateSerious; });
  mobpack::visionmodelscxx::setFileProtection(&keepReadable);
}

@end
