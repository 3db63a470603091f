// Of Apple's Foundation, what an Objective-C++ file needs that registers a module when an app starts.
#pragma once

__attribute__((objc_root_class))
@interface NSObject
+ (void)load;
@end
