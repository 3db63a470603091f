require "json"

package = JSON.parse(File.read(File.join(__dir__, "package.json")))

# An app says in ios/Podfile.properties.json where its models are: "package" (here), "app" (in a folder of its own)
# or "none" (they are downloaded).
properties_file = File.join(Pod::Config.instance.installation_root.to_s, "Podfile.properties.json")
properties = File.exist?(properties_file) ? JSON.parse(File.read(properties_file)) : {}
models = properties.fetch("mobpack.VisionModels.models", "package")
unless ["package", "app", "none"].include?(models)
  raise Pod::Informative, "#{properties_file}: mobpack.VisionModels.models must be package, app or none, not #{models}"
end

Pod::Spec.new do |s|
  s.name = "VisionModels"
  s.version = package["version"]
  s.summary = package["description"]
  s.license = package["license"]
  # CocoaPods refuses a podspec without these.
  s.homepage = "https://onnxruntime.ai"
  s.authors = package["name"]
  s.source = { :path => "." }
  s.platforms = { :ios => "15.1" }
  # ONNX Runtime is linked into what the pod becomes; a dynamic framework could not share it with other pods.
  s.static_framework = true

  s.source_files = "ios/*.mm", "cpp/**/*.{h,cpp}"
  # Other pods have files of the same names.
  s.private_header_files = "cpp/**/*.h"
  # The App Store asks why code looks at times of files: `pod install` of React Native tells it for the app.
  bundles = { "VisionModelsPrivacy" => ["ios/PrivacyInfo.xcprivacy"] }
  bundles["VisionModelsModels"] = ["models/{both,ios}/mobpack/VisionModels/*"] if models == "package"
  s.resource_bundles = bundles

  # One app holds one ONNX Runtime: every file of this package loads in these, and another pod may choose. CocoaPods'
  # own list is closed for new versions; ios/onnxruntime-c.podspec.json is for a Podfile that takes one from its address.
  s.dependency "onnxruntime-c", ">= 1.29.0", "< 2"
  s.frameworks = "Security"

  install_modules_dependencies(s)
end
