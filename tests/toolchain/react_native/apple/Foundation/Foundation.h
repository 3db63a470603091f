// Of Apple's Foundation, what Objective-C++ files need that register a module when an app starts and read files.
#pragma once

#define nil nullptr

__attribute__((objc_root_class))
@interface NSObject
+ (instancetype)alloc;
+ (void)load;
@end

@interface NSString : NSObject
@property(readonly) const char *UTF8String;
+ (instancetype)stringWithUTF8String:(const char *)text;
@end

@interface NSNumber : NSObject
+ (NSNumber *)numberWithBool:(bool)value;
@end

@class NSError;
extern NSString *const NSURLIsExcludedFromBackupKey;

@interface NSURL : NSObject
+ (instancetype)URLWithString:(NSString *)text;
+ (NSURL *)fileURLWithPath:(NSString *)path;
- (bool)setResourceValue:(id)value forKey:(NSString *)key error:(NSError **)error;
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

typedef unsigned long NSUInteger;
typedef struct { NSUInteger location; NSUInteger length; } NSRange;
NSRange NSMakeRange(NSUInteger location, NSUInteger length);

typedef NSUInteger NSDataBase64DecodingOptions;

@interface NSDictionary : NSObject
+ (instancetype)dictionaryWithObjects:(const id[])objects forKeys:(const id[])keys count:(NSUInteger)count;
@end

extern NSString *const NSFileProtectionKey;
extern NSString *const NSFileProtectionCompleteUntilFirstUserAuthentication;

@interface NSFileManager : NSObject
@property(class, readonly) NSFileManager *defaultManager;
- (bool)setAttributes:(NSDictionary *)attributes ofItemAtPath:(NSString *)path error:(NSError **)error;
@end

@interface NSData : NSObject
@property(readonly) NSUInteger length;
- (instancetype)initWithBase64EncodedString:(NSString *)text options:(NSDataBase64DecodingOptions)options;
- (NSData *)subdataWithRange:(NSRange)range;
+ (instancetype)dataWithContentsOfURL:(NSURL *)url options:(NSDataReadingOptions)options error:(NSError **)error;
@end
