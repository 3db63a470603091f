// Of Apple's UIKit, what tells whether a device is charging.
#pragma once

#import <Foundation/Foundation.h>

typedef enum : long {
  UIDeviceBatteryStateUnknown,
  UIDeviceBatteryStateUnplugged,
  UIDeviceBatteryStateCharging,
  UIDeviceBatteryStateFull
} UIDeviceBatteryState;

@interface UIDevice : NSObject
@property(class, readonly) UIDevice *currentDevice;
@property(getter=isBatteryMonitoringEnabled) bool batteryMonitoringEnabled;
@property(readonly) UIDeviceBatteryState batteryState;
@end
