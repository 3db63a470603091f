// Registers the module when the app starts. Nothing is loaded before JavaScript asks for it.

#import <Foundation/Foundation.h>
#import <ReactCommon/CxxTurboModuleUtils.h>

#import "Heat.h"
#import "VisionModelsCxx.h"

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
}

@end
