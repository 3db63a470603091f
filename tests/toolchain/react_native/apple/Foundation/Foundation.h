// Of Apple's Foundation, what Objective-C++ files need that register a module when an app starts and read files.
#pragma once

#define nil nullptr

__attribute__((objc_root_class))
@interface NSObject
+ (void)load;
@end

@interface NSString : NSObject
@property(readonly) const char *UTF8String;
+ (instancetype)stringWithUTF8String:(const char *)text;
@end

@interface NSURL : NSObject
+ (instancetype)URLWithString:(NSString *)text;
+ (NSURL *)fileURLWithPath:(NSString *)path;
@end

typedef enum : long {
  NSProcessInfoThermalStateNominal,
  NSProcessInfoThermalStateFair,
  NSProcessInfoThermalStateSerious,
  NSProcessInfoThermalStateCritical
} NSProcessInfoThermalState;

@interface NSProcessInfo : NSObject
@property(class, readonly) NSProcessInfo *processInfo;
@property(readonly) NSProcessInfoThermalState thermalState;
@end

enum { NSFileReadNoSuchFileError = 260 };

@interface NSError : NSObject
@property(readonly) long code;
@property(readonly) NSString *localizedDescription;
@end

typedef enum : unsigned long { NSDataReadingMappedIfSafe = 1 } NSDataReadingOptions;

@interface NSData : NSObject
+ (instancetype)dataWithContentsOfURL:(NSURL *)url options:(NSDataReadingOptions)options error:(NSError **)error;
@end
