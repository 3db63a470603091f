# What CocoaPods and React Native's Podfile give a podspec: everything that it sets is written down.
require "json"

module Pod
  class Informative < StandardError; end

  class Config
    attr_accessor :installation_root

    def self.instance
      @instance ||= new
    end
  end

  class Spec
    ATTRIBUTES = %i[
      authors frameworks homepage libraries license name platforms private_header_files resource_bundles source
      source_files static_framework summary vendored_frameworks version
    ]
    attr_reader :set

    def initialize
      @set = {}
      yield self
      $made = self
    end

    def dependency(name, *requirements)
      (@set[:dependencies] ||= []) << [name, *requirements]
    end

    # CocoaPods has more; a podspec of ours that sets another one, or mistypes one of these, ends with an error.
    ATTRIBUTES.each do |name|
      define_method(:"#{name}=") { |*values| @set[name] = values.flatten(1) }
    end
  end
end

def install_modules_dependencies(spec)
  spec.dependency "React-Core"
end

# The files of the package and of the app, by path.
FILES = {}

class File
  class << self
    alias_method :real_read, :read
    alias_method :real_exist?, :exist?

    def read(path, ...) = FILES.fetch(path) { real_read(path, ...) }

    def exist?(path) = FILES.key?(path) || real_exist?(path)
  end
end

def evaluate(podspec, package, properties)
  FILES.replace({ "/package/package.json" => package })
  FILES["/app/ios/Podfile.properties.json"] = properties if properties
  Pod::Config.instance.installation_root = "/app/ios"
  $made = nil
  eval(podspec, TOPLEVEL_BINDING.dup, "/package/Package.podspec")
  $made.set
rescue Pod::Informative => told
  { told: told.message }
end
